"""Runs git so that nothing in the repository it reads can start a program, reach the network, or keep us waiting for ever.

A repository's own configuration, attributes and hooks can name commands. Every way known is closed three times: an empty
environment, configuration given on the command line (it outranks the repository's), and a short list of commands that read
objects and the index but never convert, diff or refresh files of the work tree. Each process has a deadline and runs in
a session of its own, so that the deadline ends its children too.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from secateur.errors import RepositoryError

QUERY_SECONDS = 20.0
"""Deadline of a command whose answer is small."""

LISTING_SECONDS = 60.0
"""Deadline of a command that lists files or commits or reads objects of a whole tree."""

_LINGER_SECONDS = 1.0  # for our helper threads, should a child of git keep a pipe open
_COMPLAINT_BYTES = 4096  # of what git says on stderr
_SYSTEM_PATH = "/usr/bin:/bin"

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
    "diff.relative=false",
    "protocol.allow=never",
    "credential.helper=",
    "safe.bareRepository=explicit",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
)


def find_git(search_path: str, *, outside: Path) -> str | None:
    """Absolute path of git on `search_path` (a PATH variable), None when there is none.

    Relative and empty entries, the current directory, and folders inside `outside` (the repository) are passed over, so a
    repository cannot bring its own git.
    """
    here = os.path.realpath(os.curdir)
    for entry in search_path.split(os.pathsep):
        found = shutil.which("git", path=entry) if Path(entry).is_absolute() else None
        if found is None or os.path.realpath(entry) == here:
            continue
        if not any(Path(os.path.realpath(place)).is_relative_to(outside) for place in (entry, found)):
            return found
    return None


def command_line(binary: str, repository: Path, arguments: Sequence[str]) -> list[str]:
    """The hardened command for `git ARGUMENTS`. `repository` is the folder trusted by exactly its path."""
    settings = [part for setting in (*_CONFIGURATION, f"safe.directory={repository}") for part in ("-c", setting)]
    return [binary, "--no-pager", "--literal-pathspecs", "--no-replace-objects", *settings, *arguments]


def environment(binary: str) -> dict[str, str]:
    """The whole environment of a git process: nothing of ours is inherited."""
    return {"PATH": f"{Path(binary).parent}:{_SYSTEM_PATH}", **_ENVIRONMENT}


@contextmanager
def running(
    command: Sequence[str], *, env: dict[str, str], cwd: Path, feed: Sequence[bytes] = (), seconds: float, accept: tuple[int, ...] = (0,)
) -> Iterator[IO[bytes]]:
    """Runs a git command in the folder `cwd` and hands out its standard output, to be read to the end.

    `feed` is written to its standard input. Leaving the block early kills it. Raises RepositoryError when git cannot be
    started, ends with a status that is not in `accept`, or is not done after `seconds`.
    """
    try:
        process = subprocess.Popen(command, env=env, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    except (OSError, ValueError) as error:
        raise RepositoryError(f"git could not be started in {cwd}: {error}", hint="Check the git installation and the folder.") from error
    assert process.stdin and process.stdout and process.stderr
    late = threading.Event()

    def expire() -> None:
        late.set()
        _kill(process)

    complaint: list[bytes] = []
    deadline = threading.Timer(seconds, expire)
    helpers = [threading.Thread(target=_write_all, args=(process.stdin, feed)), threading.Thread(target=_read_start, args=(process.stderr, complaint))]
    for thread in (deadline, *helpers):
        thread.daemon = True
        thread.start()
    try:
        yield process.stdout
        status = process.wait()
    finally:
        deadline.cancel()
        _kill(process)
        process.stdout.close()
        process.wait()
        for thread in helpers:
            thread.join(_LINGER_SECONDS)
    if late.is_set():
        raise RepositoryError(f"git was not done after {seconds:g} seconds in {cwd}", hint="Is the repository damaged, or on a slow disk?", code="GIT_TIMEOUT")
    if status not in accept:
        said = b"".join(complaint).decode("utf-8", "replace").strip().partition("\n")[0] or f"exit status {status}"
        raise RepositoryError(f"git failed in {cwd}: {said}", hint="Is this a complete, undamaged git repository?", code="GIT_FAILED")


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)


def _write_all(pipe: IO[bytes], feed: Sequence[bytes]) -> None:
    with suppress(OSError):  # git is gone: its exit code tells the story
        pipe.writelines(feed)
    with suppress(OSError):
        pipe.close()


def _read_start(pipe: IO[bytes], into: list[bytes]) -> None:
    """Keeps the first bytes and throws the rest away, so that a talkative git never blocks on a full pipe."""
    with pipe:
        into.append(pipe.read(_COMPLAINT_BYTES))
        while pipe.read(1 << 16):
            pass
