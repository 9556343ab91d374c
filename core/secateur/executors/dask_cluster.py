"""A cluster of Dask's distributed scheduler that takes tasks, in `executor.py`'s words (extra `[cluster]`).

    with closing(connected("tls://host:8786")) as cluster:
        for number, outcome in cluster.run(tasks): ...

Which worker does what is decided as in a pool of processes; Dask carries tasks there and results back, and says which
workers are alive. No connection leaves this machine without encryption and certificates on both sides, workers that
would answer otherwise are refused, and nothing is waited for without an end. A worker is sent pickles of functions by
name and of their arguments.
"""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Collection, Mapping
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any

from secateur.distributions import list_dependencies, source_digest, version_of
from secateur.errors import SecateurError, UsageError, shown
from secateur.executors.addresses import ClusterAddress, check_contacts
from secateur.executors.kept import let_go
from secateur.executors.pool import LAST_SECONDS, Worker, WorkerEnded, WorkerPool
from secateur.executors.pool_worker import answered
from secateur.version import __version__

if TYPE_CHECKING:
    from distributed import Client

CONNECT_SECONDS = 10
"""Until a scheduler that does not answer, or a cluster without workers, is given up."""

LOOK_SECONDS = 1.0
"""Between two looks at which workers are alive."""

LOST_SECONDS = 30
"""Until a cluster whose workers are all gone is given up: Dask's own watchers start others in a few."""

ATTEMPTS = 4
"""Workers that a task may cost."""

PAGE = "docs/cluster.md"

CLUSTER_LOST = "CLUSTER_LOST"

_served = ""
"""In a worker: the connection whose things are kept."""


def connected(address: ClusterAddress) -> DaskCluster:
    """A cluster, when all that it consists of may be used.

    Raises:
        SecateurError: the extra is missing; nothing answers there in time; it has no workers; a worker is not reached
            safely, or is not as this process is.
    """
    try:
        import distributed
    except ImportError as error:
        said = "--on needs the extra cluster, which is not installed"
        raise SecateurError(said, hint="pip install 'secateur[cluster]'", code="EXTRA_MISSING") from error
    _quieted()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of versions, which we look at ourselves
            client = distributed.Client(
                address.text,
                security=_security(address),
                timeout=CONNECT_SECONDS,
                set_as_default=False,
                name="secateur",
            )
    except (OSError, RuntimeError, ValueError, ImportError) as error:
        raise _unreachable(address, error) from error
    try:
        return DaskCluster(client, address)
    except BaseException:
        with suppress(Exception):
            client.close(timeout=1)
        raise


class DaskCluster(WorkerPool):
    """See the module docstring. Raises SecateurError: a part of the cluster may not be used."""

    def __init__(self, client: Client, address: ClusterAddress) -> None:
        super().__init__(ATTEMPTS)
        self.client = client
        self.name = os.urandom(8).hex()
        self.numbers = count()
        self._address = address
        self._looking = threading.RLock()
        self._seen: list[str] = []  # workers that were alive at the last look
        self._looked = 0.0
        self._checked: set[str] = set()
        self._used: dict[_DaskWorker, str] = {}
        self._alone_since: float | None = None
        try:
            client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        except TimeoutError as error:
            raise SecateurError(
                f"the cluster at {address.text} has no workers",
                hint=f"start some: dask worker {address.text} --nthreads 1; {PAGE} says how",
                code="NO_WORKERS",
            ) from error
        self._check(self.live())

    @property
    def workers(self) -> int:
        """As `Executor.workers`."""
        return max(1, len(self.live()))

    def _open_worker(self) -> Worker:
        return _DaskWorker(self)

    def close(self) -> None:
        """As `Executor.close`: workers close what they opened for us, and go on."""
        super().close()
        with suppress(Exception):
            self.client.close(timeout=1)

    def live(self) -> list[str]:
        """The addresses of the workers that are alive. Raises SecateurError: the scheduler, or every worker, is
        lost."""
        with self._looking:
            now = time.monotonic()
            if now - self._looked > LOOK_SECONDS:
                self._seen, self._looked = sorted(self._identity()["workers"]), now
                self._alone_since = None if self._seen else self._alone_since or now
            if self._alone_since is not None and now - self._alone_since > LOST_SECONDS:
                raise self._lost("all of its workers are gone")
            return self._seen

    def claim(self, worker: _DaskWorker) -> str:
        """The address of a worker that has no thread here yet; "" for none. Raises SecateurError: it may not be
        used."""
        with self._looking:
            self._used.pop(worker, None)
            free = [address for address in self.live() if address not in self._used.values()]
            if not free:
                return ""
            self._check(free[:1])
            self._used[worker] = free[0]
            return free[0]

    def _check(self, addresses: Collection[str]) -> None:
        """Checks workers, and the scheduler. Raises SecateurError, which names the worker."""
        new = [address for address in addresses if address not in self._checked]
        if not new:
            return
        info = self._identity()
        workers = {address: worker for address, worker in info["workers"].items() if address in new}
        contacts = {"its scheduler": str(info["address"])}
        for address, worker in workers.items():
            contacts[f"worker {worker['name']}"] = address
            contacts[f"the nanny of worker {worker['name']}"] = worker.get("nanny") or address
        check_contacts(contacts, PAGE)
        for address, worker in workers.items():
            if worker["nthreads"] != 1:
                raise SecateurError(
                    f"worker {address} has {worker['nthreads']} threads",
                    hint="start it with --nthreads 1, and more of them: --nworkers auto",
                    code="CLUSTER_WORKER",
                )
        described_there = self._ask(
            lambda: self.client.run(described, workers=list(workers), on_error="return"), "its workers do not answer"
        )
        for address, there in described_there.items():
            _check_described(address, there)
        self._checked.update(workers)

    def _identity(self) -> Mapping[str, Any]:
        """The facts that the scheduler gives of itself and its workers. Raises SecateurError: it does not answer."""
        if self.client.status != "running":
            raise self._lost("the connection to its scheduler is lost")
        return self._ask(lambda: self.client.scheduler.identity(n_workers=-1), "its scheduler does not answer")

    def _ask(self, question: Any, failure: str) -> Mapping[str, Any]:
        """The answer to a question that Dask's own thread puts."""

        async def asked() -> Any:
            return await question()

        try:
            answer: Mapping[str, Any] = self.client.sync(asked, callback_timeout=CONNECT_SECONDS)
        except (OSError, TimeoutError, AttributeError, RuntimeError) as error:
            raise self._lost(failure) from error
        return answer

    def _lost(self, why: str) -> SecateurError:
        self.hurried = True
        return SecateurError(
            f"the cluster at {self._address.text} was lost: {why}",
            hint="look at what its scheduler and workers print, and run the command again: what is indexed is kept",
            code=CLUSTER_LOST,
        )


class _DaskWorker:
    """A worker of a cluster, as `Worker`; one that has died is replaced by one that has come since."""

    def __init__(self, cluster: DaskCluster) -> None:
        self._cluster = cluster
        self._future: Any = None
        self.name = cluster.claim(self)

    def ready(self) -> bool:
        if self.name not in self._cluster.live():
            self.name = self._cluster.claim(self)
        return bool(self.name)

    def ask(self, message: bytes) -> bytes:
        from distributed import CancelledError, KilledWorker

        self._future = self._submit(worked, message)
        while True:
            try:
                outcome: bytes = self._future.result(timeout=LOOK_SECONDS)
                return outcome
            except (CancelledError, KilledWorker) as error:
                self._cluster.live()
                raise WorkerEnded from error
            except (TimeoutError, OSError):  # of the connection: what the task raised is in its outcome
                if self.name not in self._cluster.live():
                    self.interrupt()
                    raise WorkerEnded from None

    def interrupt(self) -> None:
        """A task that is worked at goes to its end there, and nobody waits for it."""
        with suppress(Exception):
            self._future.cancel()

    def close(self, *, at_once: bool) -> None:
        if not self.name:
            return
        with suppress(Exception):
            end = self._submit(ended_for)
            if at_once:
                from distributed import fire_and_forget

                fire_and_forget(end)
            else:
                end.result(timeout=LAST_SECONDS)

    def _submit(self, function: Any, *more: bytes) -> Any:
        cluster = self._cluster
        key = f"secateur-{cluster.name}-{next(cluster.numbers)}"
        return cluster.client.submit(function, cluster.name, *more, key=key, workers=[self.name], pure=False)


# --- in a worker ------------------------------------------------------------------------------------------------------


def worked(connection: str, message: bytes) -> bytes:
    """The outcome of a task. What is kept for tasks of another connection is let go of: it may be of another day."""
    global _served
    if connection != _served:
        let_go()
        _served = connection
    return answered(message)


def ended_for(connection: str) -> None:
    """Lets go of what is kept for a connection."""
    if connection == _served:
        let_go()


def described() -> list[str]:
    """Names and versions of what answers rest on, in this process."""
    dask = [f"{name} {version_of(name) or 'missing'}" for name in ("dask", "distributed")]
    return [f"secateur {__version__} {source_digest()}", *list_dependencies(), *dask]


# --- connecting -------------------------------------------------------------------------------------------------------


def _check_described(address: str, there: Any) -> None:
    hint = f"install the same on all machines: pip freeze there and here; {PAGE}"
    if isinstance(there, BaseException):
        said = f"worker {address} cannot run secateur: {type(there).__name__}: {there}"
        raise SecateurError(said, hint=hint, code="CLUSTER_WORKER")
    here = described()
    if there != here:
        more, less = sorted(set(there) - set(here)), sorted(set(here) - set(there))
        said = f"worker {address} is not as this process is: it has {shown(', '.join(more) or 'less')}"
        raise SecateurError(f"{said}; here: {shown(', '.join(less) or 'less')}", hint=hint, code="CLUSTER_WORKER")


def _security(address: ClusterAddress) -> Any:
    """Dask's own settings of certificates, which must be there where the address is encrypted."""
    from distributed.security import Security

    if not address.encrypted:
        return Security()
    found = Security(require_encryption=True)
    needed = {"CA_FILE": found.tls_ca_file, "CLIENT__CERT": found.tls_client_cert, "CLIENT__KEY": found.tls_client_key}
    wrong = []
    for name, path in needed.items():
        try:
            with open(path, "rb"):  # noqa: PTH123 - what Dask will open, by the same words
                pass
        except (OSError, TypeError, ValueError):
            wrong.append(
                f"DASK_DISTRIBUTED__COMM__TLS__{name}: " + (f"cannot read {shown(path)}" if path else "not set")
            )
    if wrong:
        raise UsageError(
            f"{address.text} needs certificates: {'; '.join(wrong)}",
            hint=f"name the files of the authority, the certificate and its key; {PAGE} says how they are made",
        )
    return found


def _unreachable(address: ClusterAddress, error: BaseException) -> SecateurError:
    while error.__cause__ is not None:
        error = error.__cause__
    return SecateurError(
        f"cannot reach the cluster at {address.text}: {shown(str(error) or type(error).__name__)}",
        hint=f"start it: dask scheduler; with tls:// all certificates must come from one authority; {PAGE} says how",
        code="CLUSTER_UNREACHABLE",
    )


def _quieted() -> None:
    """Has Dask print nothing: what goes wrong is an error of ours."""
    import logging

    for name in ["distributed", "tornado", "asyncio", *logging.root.manager.loggerDict]:
        if name.partition(".")[0] in ("distributed", "tornado", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
