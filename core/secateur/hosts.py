"""Hosts by their names and addresses, without asking anybody."""

from __future__ import annotations

import ipaddress


def is_this_machine(host: str) -> bool:
    """Tells whether a name or address of a host is that of this machine, whoever resolves it."""
    try:
        return host.lower() == "localhost" or ipaddress.ip_address(host.strip("[]").partition("%")[0]).is_loopback
    except ValueError:
        return False
