"""Recognises the names and addresses of this machine, without asking a resolver."""

import ipaddress


def is_this_machine(host: str) -> bool:
    """Tells whether a host's name or address always means this machine."""
    try:
        return host.lower() == "localhost" or ipaddress.ip_address(host.strip("[]").partition("%")[0]).is_loopback
    except ValueError:
        return False
