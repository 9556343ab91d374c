"""The flags that say where work is done: in how many processes of this machine, or on a cluster."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager

from secateur.cli.command_parser import ON
from secateur.errors import UsageError
from secateur.executors.executor import Executor

_PROCESSES = re.compile(r"processes:(\d{1,4})")


def on_argument(parser: argparse._ActionsContainer) -> None:
    """Adds the flag of commands whose work can be done on a cluster."""
    parser.add_argument("--on", metavar="ADDRESS", help=ON)


def workers_arguments(parser: argparse._ActionsContainer) -> None:
    """Adds the flags of commands that can have workers read and search a workspace."""
    group = parser.add_argument_group("with --workspace, where others do the work (docs/cluster.md)")
    on_argument(group)
    group.add_argument(
        "--store",
        metavar="PLACE",
        help="with --on: the folder, or the URL, where all workers find what is indexed (default: in the cache folder,"
        " which workers of one machine share)",
    )


@contextmanager
def workers_of(options: argparse.Namespace) -> Iterator[Executor | None]:
    """The workers that a call of a command with `workers_arguments` names, which are let go of; None for none.

    Raises:
        UsageError: a store is named, and no workers.
        SecateurError: the cluster cannot be used.
    """
    if getattr(options, "on", None) is None:
        if getattr(options, "store", None) is not None:
            raise UsageError("--store goes with --on", hint="leave it out, or name workers: --on processes:4")
        yield None
        return
    with closing(open_executor(options.on)) as executor:
        yield executor


def open_executor(address: str) -> Executor:
    """The executor at an address, to be closed: `processes:4` of this machine, or a cluster at `tcp://127.0.0.1:8786`
    or `tls://host:8786`.

    Raises:
        UsageError: it is no address, or not a safe one.
        SecateurError: as `connect`.
    """
    matched = _PROCESSES.fullmatch(address)
    if matched is None:
        from secateur.executors.dask_cluster import parse_address

        where = parse_address(address)
        from secateur.executors.dask_cluster import connect

        return connect(where)
    from secateur.executors.pool import MOST_PROCESSES, ProcessPool

    processes = int(matched[1])
    if not 1 <= processes <= MOST_PROCESSES:
        raise UsageError(f"--on {address} is not allowed", hint=f"from processes:1 to processes:{MOST_PROCESSES}")
    return ProcessPool(processes, os.environ)
