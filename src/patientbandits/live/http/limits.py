"""How often somebody may ask: a key, an address, a unit, and how many units pages may bring."""

from __future__ import annotations

import ipaddress
import math
import time
from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Any, NamedTuple

from patientbandits.errors import InputError, positive
from patientbandits.live.http.messages import ProblemError, Request
from patientbandits.live.monitoring import Finding
from patientbandits.live.operations import Key

MOST_NAMES = 10_000
"""keys, addresses or units whose buckets are kept"""

MOST_UNITS = 100_000
"""units that are known to have come"""

ALERT_SECONDS = 600.0
"""after units were refused, the alert lasts at least as long"""

IPV6_PREFIX = 64
"""bits of an address that belong to one customer"""

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class RateOptions(NamedTuple):
    key: float | None = None
    """items per second and key"""
    address: float | None = None
    """items per second and address"""
    unit: float | None = None
    """questions per minute and unit"""
    new_units: float | None = None
    """units per minute that keys of pages may bring"""
    proxies: tuple[str, ...] = ()
    """addresses and networks whose X-Forwarded-For is believed"""


class Bucket(NamedTuple):
    """Tokens that were left at a time."""

    tokens: float
    time: float


class Limit:
    """At most ``rate`` tokens per ``period`` seconds and name.

    A bucket fills at this rate, and holds one period's worth, but at least one token.
    """

    def __init__(
        self, rate: float | None, words: str, period: float, clock: Callable[[], float]
    ) -> None:
        self._rate = math.inf if rate is None else rate / period
        self._most = max(rate or 0.0, 1.0)
        self._words = words.format(rate or 0.0)
        self._clock = clock
        self._buckets: dict[Hashable, Bucket] = {}

    def take(self, name: Hashable, tokens: int = 1) -> None:
        """Take tokens, or refuse.

        What needs more than a bucket holds waits until it is full, and the rest is paid for
        afterwards.
        """
        needed = min(tokens, self._most)
        tokens_there = self._tokens(name)
        if tokens_there < needed:
            wait = math.ceil((needed - tokens_there) / self._rate)
            raise ProblemError(429, "rate", self._words, ((b"retry-after", b"%d" % wait),))
        self._set(name, tokens_there - tokens)

    def take_up_to(self, name: Hashable, tokens: int) -> int:
        """Take as many tokens as there are; how many they were."""
        tokens_there = self._tokens(name)
        if tokens_there < tokens:
            tokens = max(int(tokens_there), 0)
        self._set(name, tokens_there - tokens)
        return tokens

    def _tokens(self, name: Hashable) -> float:
        if self._rate == math.inf:
            return math.inf
        now = self._clock()
        before = self._buckets.get(name, Bucket(self._most, now))
        return min(before.tokens + (now - before.time) * self._rate, self._most)

    def _set(self, name: Hashable, tokens: float) -> None:
        if self._rate == math.inf:
            return
        self._buckets.pop(name, None)
        self._buckets[name] = Bucket(tokens, self._clock())
        if len(self._buckets) > MOST_NAMES:
            del self._buckets[next(iter(self._buckets))]


class RecentUnits:
    """The units that came last."""

    def __init__(self) -> None:
        self._hashes: dict[int, None] = {}

    def __contains__(self, unit: str) -> bool:
        return hash(unit) in self._hashes

    def add(self, unit: str) -> None:
        hashed = hash(unit)
        self._hashes.pop(hashed, None)
        self._hashes[hashed] = None
        if len(self._hashes) > MOST_UNITS:
            del self._hashes[next(iter(self._hashes))]


class Limits:
    """All limits of a service."""

    def __init__(self, options: RateOptions, clock: Callable[[], float] = time.monotonic) -> None:
        def limit(rate: float | None, words: str, period: float = 1.0) -> Limit:
            return Limit(rate, words, period, clock)

        self._keys = limit(options.key, "at most {:g} requests per second.")
        self._addresses = limit(options.address, "at most {:g} requests per second and address.")
        self._units = limit(options.unit, "at most {:g} requests per minute and unit.", 60.0)
        self._new_units = limit(options.new_units, "at most {:g} new units per minute.", 60.0)
        self._options = options
        self._clock = clock
        self._proxies = [checked_network(proxy) for proxy in options.proxies]
        self._known = RecentUnits()
        self._refused: dict[str, float] = {}
        """when new units were last refused, by experiment; "": flags of all"""

    def admit(self, request: Request) -> None:
        """Count a request of the address that it is from, whatever its key."""
        if self._options.address is not None:
            self._addresses.take(self.address(request))

    def take(self, key: Key | None, tokens: int = 1) -> None:
        self._keys.take(key and key.id, tokens)

    def take_more(self, key: Key | None, tokens: int) -> None:
        """Take tokens for a request beside the one that it has taken, or give that back."""
        try:
            self.take(key, tokens)
        except ProblemError:
            self.take(key, -1)
            raise

    def items(self, request: Request, number: int) -> int:
        """How many items of a batch may be carried out, beside the one that is paid for."""
        number = self._keys.take_up_to(request.key and request.key.id, number)
        if self._options.address is not None:
            number = self._addresses.take_up_to(self.address(request), number)
        return number

    def take_unit(self, request: Request, unit: str | None, experiment: str = "") -> None:
        """Count a question about a unit; None: one without a name, and therefore new."""
        if unit is not None:
            self._units.take(unit)
        if self._options.new_units is None or not (request.key and request.key.for_pages):
            return
        if unit is None or unit not in self._known:
            try:
                self._new_units.take("")
            except ProblemError:
                self._refused[experiment] = self._clock()
                raise
        if unit is not None:
            self._known.add(unit)

    def findings(self, experiment: str) -> list[Finding]:
        """That units of an experiment were refused lately."""
        last = max(self._refused.get(name, -math.inf) for name in (experiment, ""))
        if self._clock() - last > ALERT_SECONDS:
            return []
        most = self._options.new_units
        words = f"new units are refused: pages bring more than {most:g} per minute"
        return [Finding("crowd", "", words, {"most": most})]

    def address(self, request: Request) -> str:
        """Where a request is from, as far as the proxies say."""
        forwarded = request.headers.get(b"x-forwarded-for", b"").decode("latin-1")
        hops = [hop.strip() for hop in forwarded.split(",") if hop.strip()]
        address = request.connection.address
        while hops and self._is_proxy(address):
            address = hops.pop()
        return customer(address)

    def _is_proxy(self, text: str) -> bool:
        address = parsed_address(text)
        return address is not None and any(address in network for network in self._proxies)


def check_rates(options: RateOptions) -> None:
    rates: dict[str, Any] = options._asdict()
    for proxy in rates.pop("proxies"):
        checked_network(proxy)
    for name, rate in rates.items():
        if rate is not None:
            positive("serve", "rate" if name == "key" else name, rate)


def checked_network(text: str) -> Network:
    try:
        return ipaddress.ip_network(text)
    except ValueError as error:
        raise InputError(f"serve: a proxy must be an address or a network; {error}.") from None


@lru_cache(maxsize=1000)
def parsed_address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def customer(text: str) -> str:
    """The address, or the network that an IPv6 address is one of many in."""
    address = parsed_address(text)
    if address is None or address.version == 4:
        return str(address or text)
    return str(ipaddress.ip_network((address, IPV6_PREFIX), strict=False))
