"""Opens what `--on ADDRESS` names: processes of this machine, or a cluster."""

from __future__ import annotations

import os
import re

from secateur.errors import UsageError
from secateur.executors.executor import Executor

_PROCESSES = re.compile(r"processes:(\d{1,4})")


def open_executor(address: str) -> Executor:
    """The executor at an address, to be closed: `processes:4` of this machine, or a cluster at `tcp://127.0.0.1:8786`
    or `tls://host:8786`.

    Raises:
        UsageError: it is no address, or not a safe one.
        SecateurError: as `connect`.
    """
    matched = _PROCESSES.fullmatch(address)
    if matched is None:
        from secateur.executors.dask_cluster import connect

        return connect(address)
    from secateur.executors.pool import MOST_PROCESSES, ProcessPool

    processes = int(matched[1])
    if not 1 <= processes <= MOST_PROCESSES:
        raise UsageError(f"--on {address} is not allowed", hint=f"from processes:1 to processes:{MOST_PROCESSES}")
    return ProcessPool(processes, os.environ)
