"""Where messages may go: not to addresses that only a machine inside a network should reach.

A name may lead anywhere, and elsewhere from one moment to the next; so the address is looked at
again when a message is sent, and the connection goes to the very address that was looked at.
"""

from __future__ import annotations

import ipaddress
import re
import socket
import time
from urllib.parse import urlsplit

from patientbandits.live.errors import RefusedError
from patientbandits.live.names import printable_text

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

NUMBER = re.compile(r"(0[xX][0-9a-fA-F]*|[0-9]+)\.?")
"""the last part of a host that is an IPv4 address in one of its many spellings"""

NAT64 = ipaddress.ip_network("64:ff9b::/96")
METADATA = (ipaddress.ip_address("fd00:ec2::254"), ipaddress.ip_address("168.63.129.16"))
"""addresses at which a cloud's machines ask for their credentials, beside the link-local ones"""


def webhook_url(url: str, anywhere: bool) -> str:
    """The url, if a message may be sent there.

    It must be https, or on this machine; ``anywhere`` allows http and private networks, too.
    """
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
    address = parsed(host)
    if address is None and NUMBER.fullmatch(host.rpartition(".")[2] or host):
        raise RefusedError(f"webhook: url must have an address like 192.0.2.1; got url={url!r}.")
    if address is not None:
        reason = refusal(address, is_this_machine(host), anywhere)
        if reason is not None:
            raise RefusedError(f"webhook: url must not be {reason}; got url={url!r:.200}.")
    return url


def is_this_machine(host: str) -> bool:
    address = parsed(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def parsed(host: str) -> Address | None:
    """The address that a host is, if it is not a name: the IPv4 address that IPv6 leads to."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in NAT64:
        return ipaddress.IPv4Address(address.packed[-4:])
    return address.ipv4_mapped or address.sixtofour or address


def refusal(address: Address, this_machine: bool, anywhere: bool) -> str | None:
    """Why nothing is sent there; ``this_machine``: it was asked for by name."""
    if address.is_link_local or address in METADATA:
        return "link-local, or where a cloud keeps credentials"
    if address.is_multicast or address.is_unspecified:
        return "an address of nobody"
    if address.is_loopback and not (this_machine or anywhere):
        return "a name that leads to this machine"
    if not (address.is_global or address.is_loopback or anywhere):
        return "in a private network, unless serve --webhooks-anywhere allows it"
    return None


def connect(host: str, port: int, anywhere: bool, deadline: float) -> socket.socket:
    """A connection to one of the host's addresses; OSError if none is allowed or answers."""
    error = OSError("no address is allowed")
    for _, _, _, _, place in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        text = str(place[0])
        address = parsed(text)
        if address is None or refusal(address, is_this_machine(host), anywhere):
            continue
        try:
            left = max(deadline - time.monotonic(), 0.001)
            return socket.create_connection((text, port), timeout=left)
        except OSError as failure:
            error = failure
    raise error
