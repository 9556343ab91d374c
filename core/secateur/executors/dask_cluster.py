"""A cluster of Dask's distributed scheduler that takes tasks, in `executor.py`'s words (extra `[cluster]`).

    with closing(connected("tls://host:8786")) as cluster:
        for number, outcome in cluster.run(tasks): ...

Placement, retries and what becomes of the tasks of a dead worker are Dask's. What is ours: no connection beyond this
machine without encryption and certificates on both sides, workers that would answer otherwise are refused, tasks of a
home have a worker that they prefer, and nothing is waited for without an end. A worker is sent pickles of functions by
name and of their arguments.
"""

from __future__ import annotations

import os
import pickle
import queue
import time
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar

from secateur.distributions import installed, source_digest, version_of
from secateur.errors import SecateurError, UsageError, shown
from secateur.executors.cluster_address import ClusterAddress, check_contacts
from secateur.executors.executor import Task, TaskOutcome, ended_error, unexpected
from secateur.executors.kept import let_go
from secateur.executors.pool_worker import answered
from secateur.version import __version__

if TYPE_CHECKING:
    from distributed import Client

T = TypeVar("T")

CONNECT_SECONDS = 10
"""Until a scheduler that does not answer, or a cluster without workers, is given up."""

LOOK_SECONDS = 2.0
"""Between two looks whether there still are workers, while nothing comes."""

FRESH_SECONDS = 1.0
"""Time for which the list of workers is taken to hold."""

LOST_SECONDS = 30
"""Until a cluster whose workers are all gone is given up: Dask's own watchers start others in a few."""

FETCH_SECONDS = 5
"""Until a result that a worker has is asked for anew; twice as long the next time."""

ATTEMPTS = 4

LAST_SECONDS = 30
"""Time that workers have to close what they opened for us."""

PAGE = "docs/cluster.md"

CLUSTER_LOST = "CLUSTER_LOST"

_LOGGERS = ("distributed", "distributed.client", "distributed.comm", "distributed.core", "tornado", "asyncio")

Done = queue.SimpleQueue[tuple[int, Any]]
"""Futures of Dask that ended, with the numbers of their tasks."""

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
    cluster = DaskCluster(client, address)
    try:
        cluster.check()
    except BaseException:
        cluster.abandon()
        raise
    return cluster


class DaskCluster:
    """See the module docstring."""

    def __init__(self, client: Client, address: ClusterAddress) -> None:
        self._client = client
        self._address = address
        self._name = os.urandom(8).hex()
        self._workers: list[str] = []
        self._seen: list[str] = []
        self._looked = 0.0
        self._alone_since: float | None = None
        self._numbers = count()
        self._hurried = False

    @property
    def workers(self) -> int:
        """As `Executor.workers`."""
        return max(1, len(self._workers))

    def run(self, tasks: Sequence[Task[T]]) -> Generator[tuple[int, TaskOutcome[T]]]:
        """As `Executor.run`. A task that is worked at goes to its end, also where nobody waits any more.

        Raises:
            SecateurError: the scheduler, or every worker, is lost.
        """
        followers: dict[int, list[int]] = {}
        for number, task in enumerate(tasks):
            if task.after is not None:
                followers.setdefault(task.after, []).append(number)
        done: Done = queue.SimpleQueue()
        places = self._places(tasks)
        under_way: dict[int, Any] = {}
        attempts: Counter[int] = Counter()

        def submit(number: int) -> None:
            task = tasks[number]
            try:
                message = pickle.dumps((task.function, task.argument))
            except Exception as error:
                message = pickle.dumps((_raised, unexpected(error)))
            future = self._client.submit(
                worked,
                self._name,
                message,
                key=f"secateur-{self._name}-{next(self._numbers)}",
                workers=places[number],
                allow_other_workers=bool(places[number]),
                pure=False,
            )
            under_way[number] = future
            future.add_done_callback(lambda future: done.put((number, future)))

        try:
            for number, task in enumerate(tasks):
                if task.after is None:
                    submit(number)
            while under_way:
                ended = self._finished(done)
                for number in [] if ended else self._stranded(under_way, places):
                    places[number] = None
                    submit(number)
                for number, future in ended:
                    if number not in under_way or under_way[number] is not future:
                        continue  # given to another since
                    if future.status in ("pending", "lost"):  # the worker that had the result is gone
                        submit(number)
                        continue
                    outcome = self._outcome(future, FETCH_SECONDS * 2 ** attempts[number])
                    if outcome is None and attempts[number] < ATTEMPTS:
                        attempts[number] += 1
                        submit(number)
                        continue
                    if outcome is None:
                        raise self._lost("it gives no results")
                    del under_way[number]
                    yield number, outcome
                    for follower in followers.get(number, ()):
                        submit(follower)
        finally:
            if under_way:
                self._hurried = True
                with suppress(Exception):
                    self._client.cancel(list(under_way.values()), asynchronous=False)

    def close(self) -> None:
        """As `Executor.close`: workers close what they opened for us, and go on."""
        with suppress(Exception):
            ends = [
                self._client.submit(
                    ended_for, self._name, workers=[worker], pure=False, key=f"end-{self._name}-{worker}"
                )
                for worker in self._live()
            ]
            if self._hurried:
                from distributed import fire_and_forget

                fire_and_forget(ends)
            else:
                for end in ends:
                    end.result(timeout=LAST_SECONDS)
        self.abandon()

    def abandon(self) -> None:
        """Close the connection alone."""
        with suppress(Exception):
            self._client.close(timeout=1)

    def check(self) -> None:
        """Check all that the cluster consists of. Raises SecateurError, which names the worker."""
        try:
            self._client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        except TimeoutError as error:
            raise SecateurError(
                f"the cluster at {self._address.text} has no workers",
                hint=f"start some: dask worker {self._address.text} --nthreads 1; {PAGE} says how",
                code="NO_WORKERS",
            ) from error
        info = self._identity()
        contacts = {"its scheduler": str(info["address"])}
        for address, worker in info["workers"].items():
            contacts[f"worker {worker['name']}"] = address
            contacts[f"the nanny of worker {worker['name']}"] = worker.get("nanny") or address
        check_contacts(contacts, PAGE)
        for address, worker in info["workers"].items():
            if worker["nthreads"] != 1:
                raise SecateurError(
                    f"worker {address} has {worker['nthreads']} threads",
                    hint="start it with --nthreads 1, and more of them: --nworkers auto",
                    code="CLUSTER_WORKER",
                )
        found = self._asked(described)
        for address, there in found.items():
            _check_described(address, there)
        self._workers = sorted(found)

    def _asked(self, question: Callable[[], Any]) -> Mapping[str, Any]:
        """Answers of all workers, by address; also where they are at something."""

        async def asked() -> Any:
            return await self._client.run(question, on_error="return")

        try:
            answers: Mapping[str, Any] = self._client.sync(asked, callback_timeout=CONNECT_SECONDS)
        except (TimeoutError, OSError) as error:
            raise SecateurError(
                f"workers of {self._address.text} do not answer",
                hint="look at what they print, and start those anew that hang",
                code=CLUSTER_LOST,
            ) from error
        return answers

    def _identity(self) -> Mapping[str, Any]:
        """The facts that the scheduler gives of itself and its workers. Raises SecateurError: it does not answer."""
        found: Mapping[str, Any] = self._of_scheduler(lambda scheduler: scheduler.identity(n_workers=-1))
        return found

    def _lately_live(self) -> list[str]:
        """The workers as of a moment ago: preferring one that has died since costs nothing, and asking every time does
        where runs are short."""
        now = time.monotonic()
        if now - self._looked > FRESH_SECONDS or not self._seen:
            self._seen, self._looked = self._live(), now
        return self._seen

    def _live(self) -> list[str]:
        return sorted(self._identity()["workers"])

    def _of_scheduler(self, question: Callable[[Any], Any]) -> Any:
        async def asked() -> Any:
            return await question(self._client.scheduler)

        try:
            return self._client.sync(asked, callback_timeout=CONNECT_SECONDS)
        except (OSError, TimeoutError, AttributeError, RuntimeError) as error:
            raise self._lost("its scheduler does not answer") from error

    def _places(self, tasks: Sequence[Task[Any]]) -> list[list[str] | None]:
        """The worker that each task prefers: that which its home prefers, until it has its fair share of all tasks."""
        workers = self._lately_live()
        fair = -(-len(tasks) // max(1, len(workers)))
        ranks = {home: ranked(home, workers) for home in {task.home for task in tasks}}
        given: Counter[str] = Counter()
        places: list[list[str] | None] = []
        for task in tasks:
            place = next((worker for worker in ranks[task.home] if given[worker] < fair), None)
            given.update([place] if place else [])
            places.append([place] if place and task.home else None)
        return places

    def _stranded(self, under_way: Mapping[int, Any], places: Sequence[list[str] | None]) -> list[int]:
        """Tasks that Dask gives to nobody: those of a worker that died when there was no other wait for it to return,
        whatever others come."""
        live = set(self._live())
        of_dead = [number for number in under_way if (place := places[number]) and place[0] not in live]
        if not of_dead or not live:
            return []
        at = {key for keys in self._of_scheduler(lambda it: it.processing(workers=None)).values() for key in keys}
        return [number for number in of_dead if under_way[number].key not in at and not under_way[number].done()]

    def _finished(self, done: Done) -> list[tuple[int, Any]]:
        """The tasks that ended since; none where nothing came for a while. Raises SecateurError: no more will."""
        with suppress(queue.Empty):
            found = [done.get(timeout=LOOK_SECONDS)]
            while not done.empty():
                found.append(done.get_nowait())
            return found
        self._check_connection()
        now = time.monotonic()
        self._alone_since = None if self._live() else self._alone_since or now
        if self._alone_since is not None and now - self._alone_since > LOST_SECONDS:
            raise self._lost("all of its workers are gone")
        return []

    def _outcome(self, future: Any, seconds: float) -> TaskOutcome[Any] | None:
        """The outcome; None where the worker that had it died before it was handed over, and Dask cannot tell."""
        from distributed import CancelledError, KilledWorker

        try:
            found = future.result(timeout=seconds)
        except KilledWorker:
            return TaskOutcome(None, ended_error())
        except (CancelledError, TimeoutError, OSError):  # of the connection: what the task raised is in its outcome
            self._check_connection()
            return None
        except Exception as error:
            return TaskOutcome(None, unexpected(error))
        if found is None:  # of a worker that came later, and is not as we are
            raise self._lost("a worker of another version joined it")
        outcome: TaskOutcome[Any] = pickle.loads(found)
        return outcome

    def _check_connection(self) -> None:
        if self._client.status != "running":
            raise self._lost("the connection to its scheduler is lost")

    def _lost(self, why: str) -> SecateurError:
        self._hurried = True
        return SecateurError(
            f"the cluster at {self._address.text} was lost: {why}",
            hint="look at what its scheduler and workers print, and run the command again: what is indexed is kept",
            code=CLUSTER_LOST,
        )


def ranked(home: str, workers: Sequence[str]) -> list[str]:
    """Workers in the order in which a home prefers them. It is another for each home, and a worker that comes or goes
    moves few of them."""
    return sorted(workers, key=lambda worker: blake2b(f"{home}\0{worker}".encode("utf-8", "surrogatepass")).digest())


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
    return [f"secateur {__version__} {source_digest()}", *installed(), *dask]


def _raised(error: SecateurError) -> None:
    raise error


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
    needed = {
        "DASK_DISTRIBUTED__COMM__TLS__CA_FILE": found.tls_ca_file,
        "DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT": found.tls_client_cert,
        "DASK_DISTRIBUTED__COMM__TLS__CLIENT__KEY": found.tls_client_key,
    }
    missing = [name for name, value in needed.items() if not value]
    if missing:
        said = f"{address.text} needs certificates: {', '.join(missing)} "
        raise UsageError(
            said + ("is not set" if len(missing) == 1 else "are not set"),
            hint=f"name the files of the authority, the certificate and its key; {PAGE} says how they are made",
        )
    for name, value in needed.items():
        try:
            with open(value, "rb"):  # noqa: PTH123 - what Dask will open, by the same words
                pass
        except (OSError, TypeError, ValueError) as error:
            said = f"{name}: cannot read {shown(str(value))}"
            raise UsageError(said, hint="check the path and its permissions") from error
    return found


def _unreachable(address: ClusterAddress, error: Exception) -> SecateurError:
    said, why = str(error), error.__cause__
    while why is not None:
        said, why = f"{said} {why}", why.__cause__
    if "ssl" in said.lower() or "certificate" in said.lower() or "handshake" in said.lower():
        hint = f"all certificates must come from one authority, and the scheduler must be started with tls://; {PAGE}"
        reason = "its certificate, or ours, is not accepted"
    else:
        reason, hint = "nothing answers there", f"start it: dask scheduler; {PAGE} says how"
    return SecateurError(f"cannot reach the cluster at {address.text}: {reason}", hint=hint, code="CLUSTER_UNREACHABLE")


def _quieted() -> None:
    """Has Dask print nothing: what goes wrong is an error of ours."""
    import logging

    for name in [*_LOGGERS, *(name for name in logging.root.manager.loggerDict if name.startswith("distributed"))]:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
