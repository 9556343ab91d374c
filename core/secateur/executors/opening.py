"""Opens the executor that an address names."""

from __future__ import annotations

import re
from collections.abc import Mapping

from secateur.errors import UsageError
from secateur.executors.cluster_address import parse_address
from secateur.executors.executor import Executor
from secateur.executors.pool import MOST_PROCESSES, ProcessPool

_PROCESSES = re.compile(r"processes:(\d{1,4})")


def open_executor(address: str, environ: Mapping[str, str], flag: str = "--on") -> Executor:
    """The executor at an address, to be closed: `processes:4` of this machine, or a cluster at `tcp://127.0.0.1:8786`
    or `tls://host:8786`.

    Args:
        environ: of the processes of this machine; workers of a cluster have their own.
        flag: what named the address.

    Raises:
        UsageError: it is no address, or not a safe one.
        SecateurError: as `connected`.
    """
    found = _PROCESSES.fullmatch(address)
    if found is None:
        where = parse_address(address, flag)
        from secateur.executors.dask_cluster import connected

        return connected(where)
    number = int(found[1])
    if not 1 <= number <= MOST_PROCESSES:
        raise UsageError(f"{flag} {address} is not allowed", hint=f"from processes:1 to processes:{MOST_PROCESSES}")
    return ProcessPool(number, environ)
