"""Webhooks: alerts sent to other programs, signed as the Standard Webhooks specification says.

    webhook-id          the message's, the same however often it is sent
    webhook-timestamp   seconds since 1970 of this attempt
    webhook-signature   v1,base64(HMAC-SHA256(secret, id.timestamp.body))

A message is delivered when it is answered with 2xx; otherwise it is retried with exponential
backoff. It is marked as delivered after the answer, so it is delivered at least once. Redirects are
not followed.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import http.client
import queue
import secrets
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from patientbandits.live.commands import Journal
from patientbandits.live.errors import NotFoundError, RefusedError
from patientbandits.live.monitoring.addresses import connect, webhook_url
from patientbandits.live.monitoring.findings import ALERT_KINDS
from patientbandits.live.storage import queries
from patientbandits.live.times import SECOND, iso_text

SECRET_PREFIX = "whsec_"
SECRET_BYTES = 32
PORTS = {"https": http.client.HTTPS_PORT, "http": http.client.HTTP_PORT}
SEND_SECONDS = 5.0
"""for a whole delivery: its connection, the message and the answer"""

LOOK_SECONDS = 0.1
"""between looks whether the service stops"""

FIRST_WAIT = 1.0
LONGEST_RETRY = 6 * 3600.0
"""seconds between retries: 1, 2, 4, ... 6 hours"""

MOST_ATTEMPTS = 24
"""about three days"""

MOST_WEBHOOKS = 20


class Webhook(NamedTuple):
    id: str
    url: str
    secret: str
    kinds: str
    """separated by blanks; all if empty"""
    created: int
    removed: int | None

    def plain(self) -> dict[str, Any]:
        """Plain data for users, without the secret."""
        return {
            "id": self.id,
            "url": self.url,
            "kinds": self.kinds.split() or list(ALERT_KINDS),
            "created": iso_text(self.created),
        }


class Delivery(NamedTuple):
    """A message that is due."""

    webhook: str
    message: str
    body: str
    attempts: int
    url: str
    secret: str


class Attempt(NamedTuple):
    delivery: Delivery
    good: bool
    time: int


def add_webhook(
    journal: Journal, url: str, kinds: Iterable[str] = (), anywhere: bool = False
) -> tuple[Webhook, str]:
    """(the webhook, its secret, which is shown only now)"""
    subscribed = list(kinds)
    unknown = [kind for kind in subscribed if kind not in ALERT_KINDS]
    if unknown:
        raise RefusedError(
            f"webhook: kinds must be among {', '.join(ALERT_KINDS)}; got {unknown!r:.200}."
        )
    secret = SECRET_PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()
    webhook = Webhook(
        id=secrets.token_hex(6),
        url=webhook_url(url, anywhere),
        secret=secret,
        kinds=" ".join(subscribed),
        created=journal.now(),
        removed=None,
    )

    def add() -> None:
        if len(journal.store.rows(queries.WEBHOOKS)) >= MOST_WEBHOOKS:
            raise RefusedError(f"webhook: at most {MOST_WEBHOOKS} webhooks are allowed.")
        journal.store.many(queries.ADD_WEBHOOK, [webhook[:-1]])

    journal.alone(add)
    return webhook, secret


def all_webhooks(journal: Journal) -> list[Webhook]:
    with journal.store.reading() as reader:
        return [Webhook(*row) for row in reader.rows(queries.WEBHOOKS)]


def remove_webhook(journal: Journal, id: str) -> None:
    if all(webhook.id != id for webhook in all_webhooks(journal)):
        raise NotFoundError(f"webhook: no webhook has this id; got id={id!r:.100}.")
    now = journal.now()
    journal.alone(lambda: journal.store.many(queries.REMOVE_WEBHOOK, [(now, id)]))


def signature(secret: str, message: str, timestamp: int, body: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    content = f"{message}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.digest(key, content, hashlib.sha256)).decode()


def send_message(delivery: Delivery, timestamp: int, anywhere: bool = False) -> bool:
    """Send it once, within `SEND_SECONDS` in all: whether it was answered with 2xx."""
    deadline = time.monotonic() + SEND_SECONDS
    parts = urlsplit(delivery.url)
    host = parts.hostname or ""
    secure = parts.scheme == "https"
    body = delivery.body.encode()
    headers = {
        "content-type": "application/json",
        "user-agent": "patientbandits",
        "webhook-id": delivery.message,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": signature(delivery.secret, delivery.message, timestamp, body),
    }
    target = parts.path or "/"
    if parts.query:
        target = f"{target}?{parts.query}"
    try:
        plain = connect(host, parts.port or PORTS[parts.scheme], anywhere, deadline)
        # a time-out counts from the last byte that came, and a receiver may send one now and then
        timer = threading.Timer(deadline - time.monotonic(), cut, [plain])
        timer.daemon = True
        timer.start()
        try:
            good = post(plain, host, secure, parts.port, target, body, headers)
            return good and time.monotonic() < deadline  # else the answer may be cut
        finally:
            timer.cancel()
    except (OSError, ValueError, http.client.HTTPException):
        return False


def cut(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def post(
    plain: socket.socket,
    host: str,
    secure: bool,
    port: int | None,
    target: str,
    body: bytes,
    headers: dict[str, str],
) -> bool:
    """Post over this connection, and close it."""
    with contextlib.ExitStack() as stack:
        stack.callback(plain.close)
        if secure:
            context = ssl.create_default_context()
            plain = stack.enter_context(context.wrap_socket(plain, server_hostname=host))
            connection: http.client.HTTPConnection = http.client.HTTPSConnection(host, port)
        else:
            connection = http.client.HTTPConnection(host, port)
        connection.sock = plain
        connection.request("POST", target, body, headers)
        return 200 <= connection.getresponse().status < 300


def retry_delay(attempts: int) -> float:
    return min(FIRST_WAIT * 2.0**attempts, LONGEST_RETRY)


def deliver_due(
    journal: Journal, anywhere: bool = False, stopping: threading.Event | None = None
) -> int:
    """Send the messages that are due, to all receivers side by side: how many were delivered.

    What has no answer when ``stopping`` is set, or in time, is sent again some day.
    """
    with journal.store.reading() as reader:
        rows = reader.rows(queries.DUE, journal.now(), MOST_ATTEMPTS)
    by_webhook: dict[str, list[Delivery]] = {}
    for row in rows:
        delivery = Delivery(*row)
        by_webhook.setdefault(delivery.webhook, []).append(delivery)
    attempts: queue.SimpleQueue[Attempt | None] = queue.SimpleQueue()
    for deliveries in by_webhook.values():
        work = (deliveries, journal.now, anywhere, attempts)
        threading.Thread(target=send_all, args=work, name="webhook", daemon=True).start()
    busy = len(by_webhook)
    deadline = time.monotonic() + SEND_SECONDS + 1.0
    delivered = 0
    while busy and time.monotonic() < deadline and not (stopping and stopping.is_set()):
        try:
            attempt = attempts.get(timeout=LOOK_SECONDS)
        except queue.Empty:
            continue
        if attempt is None:
            busy -= 1
            continue
        journal.alone(partial(note_attempt, journal, *attempt))
        delivered += attempt.good
    return delivered


def send_all(
    deliveries: Sequence[Delivery],
    now: Callable[[], int],
    anywhere: bool,
    attempts: queue.SimpleQueue[Attempt | None],
) -> None:
    """Send messages to one receiver until one is not taken; None ends the attempts."""
    for delivery in deliveries:
        moment = now()
        good = send_message(delivery, moment // SECOND, anywhere)
        attempts.put(Attempt(delivery, good, moment))
        if not good:
            break
    attempts.put(None)


def note_attempt(journal: Journal, delivery: Delivery, good: bool, now: int) -> None:
    """Within a transaction: mark the message as delivered, or schedule the retry."""
    key = (delivery.webhook, delivery.message)
    if good:
        journal.store.many(queries.DELIVERED, [(now, *key)])
        return
    due = now + int(retry_delay(delivery.attempts) * SECOND)
    journal.store.many(queries.TRY_AGAIN, [(due, *key)])
