"""Which names are this machine's own."""

from __future__ import annotations

import ipaddress


def loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def local(host: bytes) -> bool:
    """Whether a Host header names this machine: a page from elsewhere could have a name of its own lead here."""
    name = (
        host.decode("latin-1").rpartition(":")[0]
        if host[-1:] != b"]" and b":" in host
        else host.decode("latin-1")
    )
    return loopback(name.strip("[]"))
