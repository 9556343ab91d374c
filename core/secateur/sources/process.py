"""Runs git so that nothing in the repository that it reads can start a program, reach the network, or make it wait for
ever.

A repository's own configuration, attributes and hooks can name commands. Every known way is closed three times: by an
empty environment, by configuration on the command line (it outranks the repository's), and by a short list of commands
that read objects and the index but never convert, diff or refresh files of the work tree. Each process has a deadline
that also ends its children, and ends when this process does.

A repository can also name files that keep git waiting: a pipe behind `include.path`, among the refs or the objects.
Every system lets a process open such a file and wait for ever, so a git that prints nothing and computes nothing is
ended too.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, cast

from msgspec import Struct

from secateur.errors import RepositoryError
from secateur.system.processes import SYSTEM_FOLDERS, Child


class Patience(Struct, frozen=True):
    """The number of seconds to wait for git. Only waiting counts, not the time that the reader of its output takes."""

    idle: float = 2.0  # for a git that neither prints nor computes: it may wait for something that never comes
    query: float = 2.5  # for a small answer from a few files
    untracked: float = 2.5  # for listing files that no ignore rule matches; some rules would take years
    listing: float = 60.0  # for commands that read many commits or objects


# Even a repository that plays every trick costs only one small answer or the ignore rules, and one idle wait: less than
# 5 seconds.
PATIENCE = Patience()

TIMEOUT = "GIT_TIMEOUT"  # code of the error that git took too long
_LOOK_SECONDS = 0.1  # between two looks at what git is doing
_LINGER_SECONDS = 1.0  # for our helper threads, in case a child of git keeps a pipe open
_COMPLAINT_BYTES = 4096  # of git's stderr

_ENVIRONMENT = {
    "HOME": "/nonexistent",
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ALLOW_PROTOCOL": "none",  # decisive: `protocol.allow` alone loses to `protocol.<name>.allow` of the repository
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_ATTR_NOSYSTEM": "1",
}

_CONFIGURATION = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.sshCommand=/bin/false",
    "core.gitProxy=/bin/false",
    "core.askPass=/bin/false",
    "core.editor=/bin/false",
    "core.alternateRefsCommand=/bin/false",
    "core.pager=cat",
    "gpg.program=/bin/false",
    "gpg.ssh.program=/bin/false",
    "gpg.x509.program=/bin/false",
    "log.showSignature=false",
    "log.mailmap=false",
    "core.quotePath=false",
    "diff.relative=false",
    "protocol.allow=never",
    "credential.helper=",
    "safe.bareRepository=explicit",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    # git maps whole packs into memory otherwise: 300 MB for a log of 62,000 commits, and 120 MB with these
    "core.packedGitWindowSize=1m",
    "core.packedGitLimit=32m",
    "core.deltaBaseCacheLimit=48m",
)


def find_git(search_path: str, *, outside: Path) -> str | None:
    """Returns the absolute path of git on `search_path` (a PATH variable); None if it is not there.

    Relative and empty entries, the current directory, and folders inside `outside` (the repository) are ignored, so a
    repository cannot bring its own git.
    """
    try:
        here = os.path.realpath(os.curdir)
    except OSError:  # the working folder is gone: nothing lies in it
        here = ""
    for entry in search_path.split(os.pathsep):
        program = shutil.which("git", path=entry) if Path(entry).is_absolute() else None
        if program is None or os.path.realpath(entry) == here:
            continue
        if not any(Path(os.path.realpath(path)).is_relative_to(outside) for path in (entry, program)):
            return program
    return None


def command_line(binary: str, repository: Path, arguments: Sequence[str]) -> list[str]:
    """Returns the hardened command for `git ARGUMENTS`. git trusts only the folder `repository`."""
    trusted = f"safe.directory={repository.as_posix()}"
    settings = [part for setting in (*_CONFIGURATION, trusted) for part in ("-c", setting)]
    return [binary, "--no-pager", "--literal-pathspecs", "--no-replace-objects", *settings, *arguments]


def environment(binary: str) -> dict[str, str]:
    """Returns the whole environment of a git process: it inherits nothing from ours."""
    return {"PATH": os.pathsep.join((str(Path(binary).parent), *SYSTEM_FOLDERS)), **_ENVIRONMENT}


@contextmanager
def run_git(
    command: Sequence[str],
    *,
    env: dict[str, str],
    cwd: Path,
    feed: Sequence[bytes] = (),
    seconds: float,
    idle: float = PATIENCE.idle,
    accept: tuple[int, ...] = (0,),
) -> Iterator[IO[bytes]]:
    """Runs a git command in the folder `cwd` and hands out its standard output, to be read to the end.

    `feed` is written to its standard input. Leaving the block early kills it. Raises RepositoryError if git cannot be
    started, ends with a status that is not in `accept`, takes longer than `seconds`, or does nothing for `idle` seconds
    (code TIMEOUT).
    """
    try:
        process = Child(
            command, env=env, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, group=True
        )
    except (OSError, ValueError) as error:
        hint = "Check the git installation and the folder."
        raise RepositoryError(f"git could not be started in {cwd}: {error}", hint=hint) from error
    assert process.stdin and process.stdout and process.stderr
    output = _Awaited(cast("Any", process.stdout).raw)
    watch = _Watch(process, output, seconds, idle)
    errors: list[bytes] = []
    writer = threading.Thread(target=_write_all, args=(process.stdin, feed))
    threads = (watch, writer, threading.Thread(target=_read_start, args=(process.stderr, errors)))
    for thread in threads:
        thread.daemon = True
        thread.start()
    try:
        yield io.BufferedReader(output)
        with output.mark_awaited():
            status = process.wait()
    finally:
        watch.done.set()
        process.end_group()
        process.stdout.close()
        process.wait()
        for thread in threads:
            thread.join(_LINGER_SECONDS)
    if watch.verdict:
        hint = "Is the repository damaged, or on a slow disk?"
        raise RepositoryError(f"{watch.verdict} in {cwd}", hint=hint, code=TIMEOUT)
    if status not in accept:
        messages = b"".join(errors).decode("utf-8", "replace").strip().split("\n")
        told = next((line for line in messages if not line.startswith("warning: ")), messages[0])
        reason, hint = told or f"exit status {status}", "Is this a complete, undamaged git repository?"
        raise RepositoryError(f"git failed in {cwd}: {reason}", hint=hint, code="GIT_FAILED")


class _Awaited(io.RawIOBase):
    def __init__(self, raw: io.RawIOBase) -> None:
        self._raw = raw
        self.is_awaited = False
        self.reads = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        with self.mark_awaited():
            read: int | None = cast("Any", self._raw).readinto(buffer)
        self.reads += 1
        return read

    @contextmanager
    def mark_awaited(self) -> Iterator[None]:
        self.is_awaited = True
        try:
            yield
        finally:
            self.is_awaited = False


class _Watch(threading.Thread):
    """Ends a process that takes too long; `verdict` then says why. It counts its own checks, because a clock can
    jump."""

    def __init__(self, process: Child, output: _Awaited, seconds: float, idle: float) -> None:
        super().__init__(name="secateur-git-watch")
        self._process, self._output, self._seconds, self._idle = process, output, seconds, idle
        self.done = threading.Event()
        self.verdict = ""

    def run(self) -> None:
        look = min(_LOOK_SECONDS, self._idle / 4, self._seconds / 4)
        waited = idle = 0.0
        before: object = None
        while not self.done.wait(look):
            if not self._output.is_awaited:
                idle = 0.0
                continue
            now = self._output.reads, self._process.work()
            waited += look
            idle = idle + look if now == before else 0.0
            before = now
            if idle >= self._idle:
                why = "it waits for a pipe or a lock that the repository names"
                self.verdict = f"git did nothing for {self._idle:g} seconds ({why})"
            elif waited >= self._seconds:
                self.verdict = f"git was not finished after {self._seconds:g} seconds"
            if self.verdict:
                self._process.end_group()
                return


def _write_all(pipe: IO[bytes], feed: Sequence[bytes]) -> None:
    with suppress(OSError):  # git has ended; its exit code says why
        pipe.writelines(feed)
    with suppress(OSError):
        pipe.close()


def _read_start(pipe: IO[bytes], into: list[bytes]) -> None:
    """Keeps the first bytes and discards the rest, so that git never blocks on a full pipe."""
    with pipe:
        into.append(pipe.read(_COMPLAINT_BYTES))
        while pipe.read(1 << 16):
            pass
