"""Reads and checks addresses of clusters: an address on another machine must be encrypted."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from secateur.errors import SecateurError, UsageError, shown, without_password
from secateur.hosts import is_this_machine

_ADDRESS = re.compile(r"(tcp|tls)://(\[[0-9A-Fa-f:.%]+\]|[A-Za-z0-9_.-]+):(\d{1,5})")

MOST_PORT = 65_535

UNSAFE = "CLUSTER_UNSAFE"


class ClusterAddress(Struct, frozen=True):
    """The address of a scheduler, `tcp://127.0.0.1:8786` or `tls://host:8786`."""

    text: str
    encrypted: bool


def parse_address(text: str) -> ClusterAddress:
    """Parses an address.

    Raises:
        UsageError: the text is not an address, or the address leads to another machine without encryption.
    """
    match = _ADDRESS.fullmatch(text)
    if match is None or not 1 <= int(match[3]) <= MOST_PORT:
        raise UsageError(
            f"--on {shown(without_password(text))} is no address of a cluster",
            hint="tcp://127.0.0.1:8786 on this machine, tls://host:8786 beyond it; processes:4 without a cluster",
        )
    if match[1] == "tcp" and not is_this_machine(match[2]):
        raise UsageError(
            f"--on {shown(without_password(text))} is not encrypted, and leads beyond this machine",
            hint="start the cluster with certificates and name it tls://; docs/cluster.md says how",
            code=UNSAFE,
        )
    return ClusterAddress(text, match[1] == "tls")


def check_contacts(contacts: Mapping[str, str], page: str) -> None:
    """Checks that every part of a cluster listens with encryption, or on this machine alone.

    Raises:
        SecateurError: others in the network could talk to a part without a certificate.
    """
    for name, address in contacts.items():
        scheme, _, rest = address.partition("://")
        if scheme != "tls" and not (scheme == "tcp" and is_this_machine(rest.rpartition(":")[0])):
            raise SecateurError(
                f"the cluster is open to the network: {name} listens on {shown(address)} without encryption",
                hint=f"on one machine start it with --host 127.0.0.1, on several with certificates; {page} says how",
                code=UNSAFE,
            )
