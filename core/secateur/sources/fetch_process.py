"""Runs `git fetch`, the only command that may use a protocol, into a bare repository in the cache.

That repository has no hook, no remote and only our configuration. git gets the environment of `process.environment`,
which forbids what a repository could ask for, with one exception: the protocol of the address. The user is never asked
for anything: there is no terminal, no credential helper and no password program. For ssh, the user's own key agent,
configuration and `GIT_SSH_COMMAND` are used; for https, their proxies and certificates."""

from __future__ import annotations

import os
import queue
import re
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from secateur.errors import RepositoryError
from secateur.progress import Progress
from secateur.sources.git_addresses import GitAddress
from secateur.sources.process import command_line, environment
from secateur.system.processes import Child
from secateur.terminal import clip, visible

FAILED = "FETCH_FAILED"
TOO_LARGE = "FETCH_TOO_LARGE"
TOO_LONG = "FETCH_TIMEOUT"

MOST_BYTES = 8_000 * 10**6  # largest repository that is fetched: the largest public ones have some 5 GB
MOST_SECONDS = 3_600  # after which fetching is given up: 8 GB at 20 megabits a second
IDLE_SECONDS = 120  # without any data: a server packs a large repository for a minute before the first byte

_LOOK_SECONDS = 0.2  # between two looks at size, time and Ctrl-C
_ANSWER_BYTES = 1 << 12  # the last bytes of git's output
_PIECE_BYTES = 1 << 12
_MESSAGE_CELLS = 300
_REPEATED_LINES = 2  # number of git's last lines that an error repeats

_CONFIGURATION = (
    "fetch.unpackLimit=1",  # one pack, whose growth can be measured, and no million files
    "fetch.fsckObjects=false",  # many old repositories have flaws that git ignores when reading, as secateur does
    "fetch.writeCommitGraph=false",
    "transfer.bundleURI=false",
    "transfer.credentialsInUrl=die",
    "http.followRedirects=initial",  # a renamed repository; to the same protocol alone
    "http.sslVerify=true",
)
# Variables of the user that a protocol needs.
_USER_VARIABLES = {
    "https": (
        *("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"),
        *("GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE"),
    ),
    "ssh": (
        *("HOME", "USERPROFILE", "PATH", "USER", "LOGNAME", "SSH_AUTH_SOCK"),
        *("GIT_SSH_COMMAND", "GIT_SSH", "GIT_SSH_VARIANT"),
    ),
}

_SSH = "ssh -oBatchMode=yes -oConnectTimeout=20"

_STEP = re.compile(r"(Receiving objects|Resolving deltas|Counting objects|Compressing objects):\s+\d+% \((\d+)/(\d+)\)")
_PHASES = {"Receiving objects": "fetching", "Resolving deltas": "unpacking"}
_NO_NEWS = re.compile(
    r"remote:.*|.*\d% \(\d+/\d+\).*|From .*|\s*[*+!-]? ?\[.*|Please make sure .*|and the repository .*"
)
_CREDENTIALS = re.compile(r"(?<=//)[^/@\s]*@")

_HINTS = (
    (
        ("could not read username", "authentication failed", "permission denied", "403", "401"),
        "secateur asks for no password and reads no stored one: use an ssh URL with a key in your agent, or clone it"
        " yourself and name the folder",
    ),
    (("host key verification failed",), "connect once with ssh to accept the key of the host, then call again"),
    (("certificate",), "GIT_SSL_CAINFO names a file of certificates that you trust beside those of the system"),
    (("could not resolve", "unable to access", "timed out", "refused"), "check the address and the network"),
    (("dubious ownership",), "the repository belongs to another user: clone it yourself and name the folder"),
)


def fetch(
    binary: str,
    git_dir: Path,
    address: GitAddress,
    words: Sequence[str],
    refs: Sequence[str],
    progress: Progress,
    environ: Mapping[str, str],
) -> None:
    """Fetches refs into a bare repository in the cache.

    Args:
        words: flags of `git fetch`.
        refs: `+FROM:TO`.
        progress: is called several times a second, and may raise to end the work.

    Raises:
        RepositoryError: git failed (`FETCH_FAILED`), or a limit is reached.
    """
    settings = [part for setting in _CONFIGURATION for part in ("-c", setting)]
    shape = ["--progress", "--force", "--no-tags", "--no-recurse-submodules", "--no-auto-maintenance"]
    shape += ["--no-write-fetch-head", "--update-shallow", "--no-show-forced-updates", *words]
    arguments = [*settings, f"--git-dir={git_dir}", "fetch", *shape, "--", address.url, *refs]
    command = command_line(binary, git_dir, arguments)
    own = {name: environ[name] for name in _USER_VARIABLES.get(address.scheme, ()) if name in environ}
    if address.scheme == "ssh" and not own.keys() & {"GIT_SSH_COMMAND", "GIT_SSH"}:
        own["GIT_SSH_COMMAND"] = _SSH
    try:
        process = Child(
            command,
            env=environment(binary) | own | {"GIT_ALLOW_PROTOCOL": address.scheme},
            cwd=git_dir,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            group=True,  # no terminal to ask on
        )
    except (OSError, ValueError) as error:
        raise RepositoryError(
            f"git could not be started in {git_dir}: {error}", hint="Check the git installation.", code=FAILED
        ) from error
    try:
        output = _wait_for_git(process, git_dir, address, progress)
    finally:
        process.end_group()
        process.wait()
    if process.returncode:
        raise _make_error(address, output, process.returncode)


def _wait_for_git(process: subprocess.Popen[bytes], git_dir: Path, address: GitAddress, progress: Progress) -> str:
    assert process.stderr is not None
    pieces: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(process.stderr, pieces), daemon=True).start()
    begun = heard = time.monotonic()
    tail, size, step = b"", 0, ("connecting", 0, 0)
    ended = False
    while not ended:
        ended = process.poll() is not None  # output written until then is read once more
        now = time.monotonic()
        with suppress(queue.Empty):
            piece = pieces.get(timeout=_LOOK_SECONDS)
            heard = now
            while True:
                tail = (tail + piece)[-_ANSWER_BYTES:]
                piece = pieces.get_nowait()
        step = _find_step(tail) or step
        progress(*step)
        grown = 0
        with suppress(OSError), os.scandir(git_dir / "objects" / "pack") as entries:
            for entry in entries:
                with suppress(OSError):  # renamed meanwhile
                    grown += entry.stat(follow_symlinks=False).st_size
        heard = now if grown != size else heard
        size = grown
        if size > MOST_BYTES:
            message = f"{visible(address.url)} is larger than {MOST_BYTES // 10**6:,} MB"
            hint = "--shallow fetches the newest commit alone; or fetch it with git and name the folder"
            raise RepositoryError(message, hint=hint, code=TOO_LARGE)
        if now - begun > MOST_SECONDS or now - heard > IDLE_SECONDS:
            idle = now - begun <= MOST_SECONDS
            what = f"nothing arrived for {IDLE_SECONDS}" if idle else f"it was not complete after {MOST_SECONDS:,}"
            message = f"{visible(address.url)} was not fetched: {what} seconds"
            hint = "check the network; or fetch it with git and name the folder"
            raise RepositoryError(message, hint=hint, code=TOO_LONG)
    return tail.decode("utf-8", "replace")


def _read(pipe: IO[bytes], into: queue.SimpleQueue[bytes]) -> None:
    with suppress(OSError, ValueError), pipe:
        while piece := os.read(pipe.fileno(), _PIECE_BYTES):
            into.put(piece)


def _find_step(tail: bytes) -> tuple[str, int, int] | None:
    if not (steps := _STEP.findall(tail.decode("utf-8", "replace"))):
        return None
    what, done, total = steps[-1]
    return _PHASES.get(what, "preparing"), int(done[:12]), int(total[:12])


def _make_error(address: GitAddress, output: str, code: int) -> RepositoryError:
    """Returns the error for git's output. The output may hold text from the server, so it is escaped, cut, and stripped
    of credentials before an @."""
    lines = [line.strip() for line in re.split(r"[\r\n]+", output) if line.strip() and not _NO_NEWS.fullmatch(line)]
    words = "; ".join(line.removeprefix("fatal: ") for line in lines[-_REPEATED_LINES:]) or f"git ended with {code}"
    words = clip(visible(_CREDENTIALS.sub("", words)), _MESSAGE_CELLS)
    lowered = output.lower()
    hint = next((hint for signs, hint in _HINTS if any(sign in lowered for sign in signs)), "check the address")
    return RepositoryError(f"{visible(address.url)} cannot be fetched: {words}", hint=hint, code=FAILED)
