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
import hashlib
import hmac
import http.client
import ipaddress
import secrets
import ssl
from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from patientbandits.live.commands import Journal
from patientbandits.live.errors import NotFoundError, RefusedError
from patientbandits.live.monitoring.findings import ALERT_KINDS
from patientbandits.live.names import printable_text
from patientbandits.live.storage import queries
from patientbandits.live.times import SECOND, iso_text

SECRET_PREFIX = "whsec_"
SECRET_BYTES = 32
SEND_SECONDS = 10.0
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


def webhook_url(url: str, anywhere: bool) -> str:
    """The url, if it is https or on this machine; ``anywhere`` allows http elsewhere too."""
    printable_text("webhook: url", url)
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError as error:
        raise RefusedError(f"webhook: url must be an address; {error}.") from None
    if parts.scheme not in ("http", "https") or not host or parts.username is not None:
        raise RefusedError(f"webhook: url must be https://host/...; got url={url!r:.200}.")
    if parts.scheme == "http" and not anywhere and not is_this_machine(host):
        raise RefusedError(
            f"webhook: url must be https, or on this machine, unless http is allowed; got {url!r}."
        )
    if is_link_local(host):
        raise RefusedError(f"webhook: url must not be link-local; got url={url!r:.200}.")
    return url


def is_link_local(host: str) -> bool:
    """Tell whether it is an address at which a cloud's machines ask for their credentials."""
    address = address_of(host.partition("%")[0])
    mapped = getattr(address, "ipv4_mapped", None)
    return getattr(mapped or address, "is_link_local", False)


def is_this_machine(host: str) -> bool:
    return host == "localhost" or getattr(address_of(host), "is_loopback", False)


def address_of(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address that the host is; None: it is a name."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


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


def send_message(delivery: Delivery, timestamp: int) -> bool:
    """Send it once: whether it was answered with 2xx."""
    parts = urlsplit(delivery.url)
    body = delivery.body.encode()
    host = parts.hostname or ""
    if parts.scheme == "https":
        connection: http.client.HTTPConnection = http.client.HTTPSConnection(
            host, parts.port, timeout=SEND_SECONDS, context=ssl.create_default_context()
        )
    else:
        connection = http.client.HTTPConnection(host, parts.port, timeout=SEND_SECONDS)
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
        connection.connect()
        if is_link_local(connection.sock.getpeername()[0]):  # DNS may resolve to anything
            return False
        connection.request("POST", target, body, headers)
        return 200 <= connection.getresponse().status < 300
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def retry_delay(attempts: int) -> float:
    return min(FIRST_WAIT * 2.0**attempts, LONGEST_RETRY)


def deliver_due(journal: Journal) -> int:
    """Send the messages that are due: how many were delivered."""
    with journal.store.reading() as reader:
        rows = reader.rows(queries.DUE, journal.now(), MOST_ATTEMPTS)
    delivered = 0
    for row in rows:
        delivery = Delivery(*row)
        now = journal.now()
        good = send_message(delivery, now // SECOND)
        journal.alone(partial(note_attempt, journal, delivery, good, now))
        delivered += good
    return delivered


def note_attempt(journal: Journal, delivery: Delivery, good: bool, now: int) -> None:
    """Within a transaction: mark the message as delivered, or schedule the retry."""
    key = (delivery.webhook, delivery.message)
    if good:
        journal.store.many(queries.DELIVERED, [(now, *key)])
        return
    due = now + int(retry_delay(delivery.attempts) * SECOND)
    journal.store.many(queries.TRY_AGAIN, [(due, *key)])
