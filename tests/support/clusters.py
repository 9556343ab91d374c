"""Clusters of Dask on the loopback interface, with workers that tests kill."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from distributed import Client
from distributed.security import Security
from secateur.system.processes import Child
from support.processes import environment

AUTHORITY = """
openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -subj /CN=authority -keyout ca.key -out ca.pem
openssl req -newkey rsa:2048 -nodes -subj /CN=secateur -keyout key.pem -out cert.csr
openssl x509 -req -in cert.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 3650 -out cert.pem
"""
"""The commands of docs/reference/cluster.md."""


@dataclass
class TestedCluster:
    """A scheduler and its workers."""

    __test__ = False

    address: str
    scheduler: Child
    workers: list[Child]


def certificates(folder: Path) -> dict[str, str]:
    """Makes an authority and a certificate; returns the variables that name them."""
    folder.mkdir()
    for line in AUTHORITY.strip().splitlines():
        subprocess.run(line.split(), cwd=folder, check=True, capture_output=True)
    kept = {"CA_FILE": "ca.pem"}
    for role in ("CLIENT", "WORKER", "SCHEDULER"):
        kept |= {f"{role}__CERT": "cert.pem", f"{role}__KEY": "key.pem"}
    return {f"DASK_DISTRIBUTED__COMM__TLS__{name}": str(folder / file) for name, file in kept.items()}


@contextmanager
def cluster(
    folder: Path, workers: int, environ: Mapping[str, str] | None = None, *, threads: int = 1, tls: bool = False
) -> Iterator[TestedCluster]:
    """Started processes, all of which end with the block. `environ`: beside what this process has."""
    folder.mkdir()
    file = folder / "scheduler.json"
    env = environment() | dict(environ or {})
    common = ["--no-dashboard", "--protocol", "tls" if tls else "tcp", "--host", "127.0.0.1"]
    started: list[Child] = []

    def start(name: str, *words: str) -> Child:
        command = [sys.executable, "-m", f"distributed.cli.dask_{name}", *words, *common]
        none = subprocess.DEVNULL
        started.append(Child(command, stdin=none, stdout=none, stderr=none, env=env, cwd=folder, group=True))
        return started[-1]

    try:
        scheduler = start("scheduler", "--port", "0", "--scheduler-file", str(file))
        words = ["--nthreads", str(threads), "--memory-limit", "0", "--local-directory", str(folder)]
        running = [start("worker", "--scheduler-file", str(file), *words) for _ in range(workers)]
        certified = {name.rpartition("TLS__")[2]: value for name, value in env.items() if "__COMM__TLS__" in name}
        safe = Security(
            tls_ca_file=certified.get("CA_FILE"),
            tls_client_cert=certified.get("CLIENT__CERT"),
            tls_client_key=certified.get("CLIENT__KEY"),
        )
        security = safe if tls else None
        with Client(scheduler_file=str(file), security=security, timeout=60, set_as_default=False) as client:
            client.wait_for_workers(workers, timeout=60) if workers else None
            address = client.scheduler.address
        yield TestedCluster(address, scheduler, running)
    finally:
        for process in started:
            process.end_group()
            process.wait()
