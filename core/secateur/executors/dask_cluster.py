"""A cluster of Dask's distributed scheduler, which is an `Executor` (extra `[cluster]`).

    with closing(connect("tls://host:8786")) as cluster:
        for number, outcome in cluster.map(measured, cases): ...

Dask places items, moves them to idle workers, and tries those again whose worker died. Connections to other machines
are encrypted and need certificates on both sides. Workers with other versions are refused. Every wait has an end. A
worker receives pickles of function names and arguments.
"""

from __future__ import annotations

import os
import pickle
import queue
import re
import time
import warnings
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar

from secateur.distributions import list_dependencies, source_digest, version_of
from secateur.errors import SecateurError, UsageError, shown, without_password
from secateur.executors.executor import (
    TaskOutcome,
    answer_task,
    close_kept,
    ended_error,
    firsts_of_homes,
    wrap_unexpected,
)
from secateur.executors.pool import LAST_SECONDS, wait_for_next
from secateur.hosts import is_this_machine
from secateur.version import __version__

if TYPE_CHECKING:
    from distributed import Client

T = TypeVar("T")

_ADDRESS = re.compile(r"(tcp|tls)://(\[[0-9A-Fa-f:.%]+\]|[A-Za-z0-9_.-]+):(\d{1,5})")

MOST_PORT = 65_535

UNSAFE = "CLUSTER_UNSAFE"
PAGE = "docs/reference/cluster.md"


def check_address(text: str) -> None:
    """Checks the address of a scheduler, `tcp://127.0.0.1:8786` or `tls://host:8786`. Raises UsageError: the text is
    not an address, or the address leads to another machine without encryption."""
    if (match := _ADDRESS.fullmatch(text)) is None or not 1 <= int(match[3]) <= MOST_PORT:
        raise UsageError(
            f"--on {shown(without_password(text))} is not the address of a cluster",
            hint="tcp://127.0.0.1:8786 on this machine, tls://host:8786 beyond it; processes:4 without a cluster",
        )
    if match[1] == "tcp" and not is_this_machine(match[2]):
        raise UsageError(
            f"--on {shown(without_password(text))} is not encrypted, and leads beyond this machine",
            hint=f"start the cluster with certificates and name it tls://; {PAGE} says how",
            code=UNSAFE,
        )


def check_contacts(contacts: Mapping[str, str]) -> None:
    """Checks that every part of a cluster listens with encryption, or on this machine alone. Raises SecateurError:
    others in the network could talk to a part without a certificate."""
    for name, address in contacts.items():
        scheme, _, rest = address.partition("://")
        if scheme != "tls" and not (scheme == "tcp" and is_this_machine(rest.rpartition(":")[0])):
            raise SecateurError(
                f"the cluster is open to the network: {name} listens on {shown(address)} without encryption",
                hint=f"on one machine start it with --host 127.0.0.1, on several with certificates; {PAGE} says how",
                code=UNSAFE,
            )


CONNECT_SECONDS = 10  # the time that a scheduler may take to answer, and that a cluster may take to have a worker
LOOK_SECONDS = 1.0  # seconds between two checks which workers are alive
LOST_SECONDS = 30  # the time that a cluster may be without workers. Dask's nannies restart workers in a few seconds.

CLUSTER_LOST = "CLUSTER_LOST"

_served = ""  # in a worker: the connection that the kept things belong to


def connect(address: str) -> DaskCluster:
    """Connects to a cluster and checks it. Raises SecateurError: like `check_address`; the extra is missing, the
    scheduler does not answer in time, there are no workers, or a worker has an unsafe address or other versions than
    this process."""
    check_address(address)
    try:
        import distributed
    except ImportError as error:
        raise SecateurError.missing_extra("--on", "cluster") from error
    import logging

    for name in ["distributed", "tornado", "asyncio", *logging.root.manager.loggerDict]:
        if name.partition(".")[0] in ("distributed", "tornado", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)  # we raise errors instead
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings about versions, which we check ourselves
            client = distributed.Client(
                address, security=_security(address), timeout=CONNECT_SECONDS, set_as_default=False, name="secateur"
            )
    except (OSError, RuntimeError, ValueError, ImportError) as error:
        cause: BaseException = error
        while cause.__cause__ is not None:
            cause = cause.__cause__
        raise SecateurError(
            f"cannot reach the cluster at {address}: {shown(str(cause) or type(cause).__name__)}",
            hint="start it: dask scheduler; with tls:// all certificates must come from one authority;"
            f" {PAGE} says how",
            code="CLUSTER_UNREACHABLE",
        ) from error
    try:
        return DaskCluster(client, address)
    except BaseException:
        with suppress(Exception):
            client.close(timeout=1)
        raise


class DaskCluster:
    """See the module docstring. Raises SecateurError: a part of the cluster is unsafe or has other versions."""

    def __init__(self, client: Client, address: str) -> None:
        self.client = client
        self._name = os.urandom(8).hex()
        self._numbers = count()
        self._address = address
        self._hurried = False  # closing waits for nobody
        self._seen: list[str] = []  # workers that were alive at the last check
        self._looked = 0.0
        self._checked: set[str] = set()
        self._alone_since: float | None = None
        try:
            client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        except TimeoutError as error:
            raise SecateurError(
                f"the cluster at {address} has no workers",
                hint=f"start some: dask worker {address} --nthreads 1; {PAGE} says how",
                code="NO_WORKERS",
            ) from error
        self._check(self.live())

    @property
    def workers(self) -> int:
        """See `Executor.workers`."""
        return max(1, len(self.live()))

    def map(
        self, function: Callable[[Any], T], items: Sequence[Any], homes: Sequence[str] = ()
    ) -> Generator[tuple[int, TaskOutcome[T]]]:
        """See `Executor.map`. Dask prefers the worker that has the outcome of the first item of a home."""
        from distributed import CancelledError, KilledWorker

        self._look()
        done: queue.SimpleQueue[int] = queue.SimpleQueue()
        futures: dict[int, Any] = {}
        messages: list[bytes] = []
        waits, left = firsts_of_homes(len(items), homes), set(range(len(items)))

        def submit(number: int, after: int | None) -> None:
            given = self._name, _hash_versions(), messages[number], futures.get(after) if after is not None else None
            futures[number] = self._submit(run_task, *given)
            futures[number].add_done_callback(lambda _: done.put(number))

        try:
            for number, item in enumerate(items):
                try:
                    messages.append(pickle.dumps((function, item)))
                except Exception as error:  # the item cannot be pickled
                    messages.append(b"")
                    left.remove(number)
                    yield number, TaskOutcome(None, wrap_unexpected(error))
                    continue
                submit(number, waits[number])
            while left:
                number = wait_for_next(done, self._look)
                try:
                    answer: bytes = futures[number].result(timeout=CONNECT_SECONDS)
                    outcome: TaskOutcome[T] = pickle.loads(answer) if answer else self._refuse()
                except KilledWorker as error:
                    if error.task != futures[number].key:  # the first item of its home
                        submit(number, None)
                        continue
                    outcome = TaskOutcome(None, ended_error())
                # of the connection: an error of the item is its outcome
                except (CancelledError, TimeoutError, OSError):
                    self._look(at_once=True)
                    submit(number, None)
                    continue
                left.remove(number)
                yield number, outcome
        finally:
            self._hurried |= bool(left)
            with suppress(Exception):
                self.client.cancel([*futures.values()])

    def close(self) -> None:
        """See `Executor.close`: the workers close the files of this connection, and keep running."""
        from distributed import fire_and_forget

        with suppress(Exception):
            for end in [self._submit(end_connection, self._name, workers=[address]) for address in self.live()]:
                fire_and_forget(end) if self._hurried else end.result(timeout=LAST_SECONDS)
        with suppress(Exception):
            self.client.close(timeout=1)

    def _submit(self, function: Any, *arguments: Any, **words: Any) -> Any:
        return self.client.submit(
            function, *arguments, key=f"secateur-{self._name}-{next(self._numbers)}", pure=False, **words
        )

    def _look(self, *, at_once: bool = False) -> None:
        """Checks that the cluster is alive, and the workers that are new. Raises SecateurError."""
        if at_once:
            self._looked = 0.0
        self._check(self.live())

    def _refuse(self) -> Any:
        """Raises SecateurError: a worker has other versions than this process."""
        self._checked.clear()
        self._look(at_once=True)
        raise SecateurError(
            "a worker differs from this process",
            hint=f"install the same on all machines; {PAGE}",
            code="CLUSTER_WORKER",
        )

    def live(self) -> list[str]:
        """Returns the addresses of the workers that are alive. Raises SecateurError: the scheduler or all workers are
        lost."""
        now = time.monotonic()
        if self.client.status != "running":
            raise self._report_loss("the connection to its scheduler is lost")
        if now - self._looked > LOOK_SECONDS:
            self._seen, self._looked = sorted(self._identity()["workers"]), now
            self._alone_since = None if self._seen else self._alone_since or now
        if self._alone_since is not None and now - self._alone_since > LOST_SECONDS:
            raise self._report_loss("all of its workers are gone")
        return self._seen

    def _check(self, addresses: Collection[str]) -> None:
        if not (new := [address for address in addresses if address not in self._checked]):
            return
        info = self._identity()
        workers = {address: worker for address, worker in info["workers"].items() if address in new}
        contacts = {"its scheduler": str(info["address"])}
        for address, worker in workers.items():
            contacts[f"worker {worker['name']}"] = address
            contacts[f"the nanny of worker {worker['name']}"] = worker.get("nanny") or address
        check_contacts(contacts)
        for address, worker in workers.items():
            if worker["nthreads"] != 1:
                raise SecateurError(
                    f"worker {address} has {worker['nthreads']} threads",
                    hint="start it with --nthreads 1, and more of them: --nworkers auto",
                    code="CLUSTER_WORKER",
                )
        versions = self._ask(
            lambda: self.client.run(list_versions, workers=list(workers), on_error="return"),
            "its workers do not answer",
        )
        for address, there in versions.items():
            if not isinstance(there, OSError):  # else it died while it was asked
                hint = f"install the same on all machines: pip freeze there and here; {PAGE}"
                if isinstance(there, BaseException):
                    problem = f"worker {address} cannot run secateur: {type(there).__name__}: {there}"
                    raise SecateurError(problem, hint=hint, code="CLUSTER_WORKER")
                here = list_versions()
                if there != here:
                    more, less = sorted(set(there) - set(here)), sorted(set(here) - set(there))
                    problem = f"worker {address} differs from this process: it has {shown(', '.join(more) or 'less')}"
                    raise SecateurError(
                        f"{problem}; here: {shown(', '.join(less) or 'less')}", hint=hint, code="CLUSTER_WORKER"
                    )
                self._checked.add(address)

    def _identity(self) -> Mapping[str, Any]:
        return self._ask(lambda: self.client.scheduler.identity(n_workers=-1), "its scheduler does not answer")

    def _ask(self, question: Any, failure: str) -> Mapping[str, Any]:
        async def ask() -> Any:
            return await question()

        try:
            answer: Mapping[str, Any] = self.client.sync(ask, callback_timeout=CONNECT_SECONDS)
        except (OSError, TimeoutError, AttributeError, RuntimeError) as error:
            raise self._report_loss(failure) from error
        return answer

    def _report_loss(self, why: str) -> SecateurError:
        self._hurried = True
        return SecateurError(
            f"the cluster at {self._address} was lost: {why}",
            hint="look at what its scheduler and workers print, and run the command again: what is indexed is kept",
            code=CLUSTER_LOST,
        )


# --- in a worker ------------------------------------------------------------------------------------------------------


def run_task(connection: str, versions: str, message: bytes, _after: bytes | None) -> bytes:
    """Runs a task; returns nothing if this worker has other versions than the process that asks. Closes everything that
    was kept for another connection, which may be out of date. `_after`: the outcome that it waited for."""
    global _served
    if versions != _hash_versions():
        return b""
    if connection != _served:
        close_kept()
        _served = connection
    return answer_task(message)


def end_connection(connection: str) -> None:
    """Closes everything that is kept for a connection."""
    if connection == _served:
        close_kept()


def list_versions() -> list[str]:
    """Lists the names and versions of the packages in this process that answers depend on."""
    dask = [f"{name} {version_of(name) or 'missing'}" for name in ("dask", "distributed")]
    return [f"secateur {__version__} {source_digest()}", *list_dependencies(), *dask]


@cache
def _hash_versions() -> str:
    return blake2b("\n".join(list_versions()).encode(), digest_size=16).hexdigest()


# --- connecting -------------------------------------------------------------------------------------------------------


def _security(address: str) -> Any:
    """Returns Dask's settings of certificates. Raises UsageError: the address is encrypted and a file is missing."""
    from distributed.security import Security

    if not address.startswith("tls:"):
        return Security()
    security = Security(require_encryption=True)
    files = {
        "CA_FILE": security.tls_ca_file,
        "CLIENT__CERT": security.tls_client_cert,
        "CLIENT__KEY": security.tls_client_key,
    }
    problems = []
    for name, path in files.items():
        try:
            with open(path, "rb"):  # noqa: PTH123 - opened the way Dask will open it
                pass
        except (OSError, TypeError, ValueError):
            why = f"cannot read {shown(path)}" if path else "not set"
            problems.append(f"DASK_DISTRIBUTED__COMM__TLS__{name}: {why}")
    if problems:
        raise UsageError(
            f"{address} needs certificates: {'; '.join(problems)}",
            hint=f"name the files of the authority, the certificate and its key; {PAGE} says how they are made",
        )
    return security
