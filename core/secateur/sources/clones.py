"""Clones of remote repositories in the user's cache: bare, complete unless asked otherwise, fetched again on request.

    folder = clone_of(address, cache_dir, FetchOptions())    # cache_dir/clones/flask-1f0c…/flask
    clone_at(folder)                                         # Clone(url=…, fetched=…, shallow=False)

A clone is a repository without a work tree, made by hand: no template, no hook, no remote, and only four lines of
configuration, all of them ours. It is fetched into a temporary folder and renamed, so it is complete or missing. One
process writes at a time, and the next one removes what a killed process left behind.

Runs `git fetch`, the only command that may use a protocol, into a bare repository in the cache.

That repository has no hook, no remote and only our configuration. git gets the environment of `process.environment`,
which forbids what a repository could ask for, with one exception: the protocol of the address. The user is never asked
for anything: there is no terminal, no credential helper and no password program. For ssh, the user's own key agent,
configuration and `GIT_SSH_COMMAND` are used; for https, their proxies and certificates.

Folders of the cache that one process at a time writes: a lock beside each, and the error if it cannot be written.
"""

from __future__ import annotations

import json
import os
import queue
import re
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import IO

from msgspec import structs

from secateur.errors import RepositoryError, reason_of, shown
from secateur.progress import Progress, unreported
from secateur.sources.git_addresses import FetchOptions, GitAddress
from secateur.sources.process import PATIENCE, command_line, environment, find_git, run_git
from secateur.sources.provenance import RECORD, Clone, clone_at
from secateur.system.files import open_lock, try_lock
from secateur.system.processes import Child
from secateur.terminal import clip, visible

_LOCK_LOOK_SECONDS = 0.1


@contextmanager
def hold_folder(folder: Path, progress: Progress = unreported) -> Iterator[None]:
    """Lets one process at a time write a folder; all, if the file system has no locks. Raises OSError.

    Waiting has no time limit, and Ctrl-C ends it. `progress` is called meanwhile, and may raise. The file of the lock
    is never removed: two processes could then hold one lock.
    """
    handle = open_lock(folder.with_name(folder.name + ".lock"))
    try:
        with suppress(OSError):
            while not try_lock(handle):
                progress("waiting for another process", 0, 0)
                time.sleep(_LOCK_LOOK_SECONDS)
        yield
    finally:
        os.close(handle)


def remove_folder(folder: Path) -> int:
    """Removes a folder and returns how many bytes its files held; 0 if there is none. Raises OSError."""
    if not folder.is_dir():
        return 0
    with hold_folder(folder):
        size = sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())
        shutil.rmtree(folder)
    return size


def unwritable_cache(folder: Path, error: OSError) -> RepositoryError:
    """Returns the error for a folder of the cache that cannot be written."""
    hint = "Set SECATEUR_CACHE_DIR to a folder you can write to."
    return RepositoryError(f"cannot write to {shown(folder)}: {reason_of(error)}", hint=hint, code="CACHE_NOT_WRITABLE")


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


NOT_FETCHED = "NOT_FETCHED"

_FOLDER = "clones"
_UNFINISHED = ".new"  # no name begins with a dot
_DIGEST_BYTES = 8
_CONFIG = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n"
_DEFAULT = "refs/secateur/default"
_BRANCHES = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
_MAIN = ("main", "master")  # branches preferred as HEAD when several point to the commit of the remote HEAD


def clone_folder(address: GitAddress, cache_dir: Path) -> Path:
    """Returns the folder for a clone of an address, which may not exist yet."""
    digest = blake2b(address.url.encode(), digest_size=_DIGEST_BYTES).hexdigest()
    return cache_dir / _FOLDER / f"{address.name}-{digest}" / address.name


def clone_of(address: GitAddress, cache_dir: Path, options: FetchOptions | None) -> Path:
    """Returns the folder of a clone. Fetches it first if it is not in the cache or is to be refreshed.

    Args:
        options: None: nothing may be fetched.

    Raises:
        RepositoryError: there is no clone and nothing may be fetched (`NOT_FETCHED`); git is missing or failed; a limit
            is reached; the cache cannot be written.
    """
    folder = clone_folder(address, cache_dir)
    is_there = clone_at(folder) is not None
    if options is None and not is_there:
        message = f"{address.url} is not fetched here"
        raise RepositoryError(message, hint="secateur index URL fetches it", code=NOT_FETCHED)
    if options is None or (is_there and (not options.refresh or address.url in options.refreshed)):
        return folder
    if (binary := find_git(options.environ.get("PATH", ""), outside=cache_dir.resolve())) is None:
        message = f"{address.url} cannot be fetched: git was not found on the PATH"
        raise RepositoryError(message, hint="install git, or name a folder", code=FAILED)
    asked = time.time()
    try:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with options.open_progress() as progress, hold_folder(folder.parent, progress):
            if (clone := clone_at(folder)) is None:
                _fetch_new(binary, folder, address, options, progress)
            elif options.refresh and clone.fetched < asked:  # no other process fetched it meanwhile
                _fetch_again(binary, folder, address, options, progress)
    except OSError as error:
        raise unwritable_cache(folder.parent, error) from error
    options.refreshed.add(address.url)
    return folder


def remove_clone(address: GitAddress, cache_dir: Path) -> int:
    """Removes a clone and returns how many bytes it held. Raises OSError."""
    return remove_folder(clone_folder(address, cache_dir).parent)


def _fetch_new(binary: str, folder: Path, address: GitAddress, options: FetchOptions, progress: Progress) -> None:
    unfinished = folder.with_name(_UNFINISHED)
    shutil.rmtree(unfinished, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)  # not a clone of ours: it was damaged
    try:
        for part in ("objects/pack", "refs", "info"):
            (unfinished / part).mkdir(parents=True)
        (unfinished / "HEAD").write_text("ref: refs/heads/main\n", encoding="ascii")
        (unfinished / "config").write_text(_CONFIG, encoding="ascii")
        _fetch(binary, unfinished, address, options, progress, shallow=options.shallow)
        unfinished.rename(folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _fetch_again(binary: str, folder: Path, address: GitAddress, options: FetchOptions, progress: Progress) -> None:
    """Fetches what is new. The rest of a shallow clone's history is fetched too, unless it is to stay shallow."""
    try:
        _fetch(binary, folder, address, options, progress, shallow=options.shallow and (folder / "shallow").exists())
    except RepositoryError as error:
        clone = clone_at(folder)
        kept = f"; without --refresh the clone of {clone.when} is read" if clone else ""
        raise RepositoryError(error.message, hint=error.hint + kept, code=error.code) from error
    finally:
        for left in (*(folder / "objects" / "pack").glob("tmp_*"), *folder.rglob("*.lock")):
            left.unlink(missing_ok=True)  # left by a git that was killed: no other process writes here now


def _fetch(
    binary: str, git_dir: Path, address: GitAddress, options: FetchOptions, progress: Progress, *, shallow: bool
) -> None:
    rest = (binary, git_dir, address)
    fetched = int(time.time())
    if shallow:
        fetch(*rest, ["--depth=1"], [f"+HEAD:{_DEFAULT}"], progress, options.environ)
    else:
        words = ["--prune", *(["--unshallow"] if (git_dir / "shallow").exists() else [])]
        try:
            fetch(*rest, words, [*_BRANCHES, f"+HEAD:{_DEFAULT}"], progress, options.environ)
        except RepositoryError as error:
            if "remote ref HEAD" not in error.message:
                raise
            fetch(*rest, words, _BRANCHES, progress, options.environ)  # its HEAD names no commit
    _read_answer(binary, git_dir, "pack-refs", "--all")
    _set_head(binary, git_dir)
    record = Clone(address.url, fetched, shallow and (git_dir / "shallow").exists())
    with _replace_file(git_dir / RECORD) as file:
        file.write_text(json.dumps(structs.asdict(record)) + "\n", encoding="utf-8")


def _set_head(binary: str, git_dir: Path) -> None:
    """Sets HEAD as the remote has it: to the branch at that commit, or else to the commit. Raises RepositoryError: the
    repository has no commit."""
    tips: dict[str, str] = {}
    for line in _read_answer(binary, git_dir, "for-each-ref", "--format=%(objectname) %(refname)").splitlines():
        oid, _, name = line.partition(" ")
        tips[name] = oid
    if not tips:
        raise RepositoryError("the repository is empty", hint="it has no commit to read", code=FAILED)
    prefix = "refs/heads/"
    default = tips.get(_DEFAULT)
    heads = {name.removeprefix(prefix): oid for name, oid in tips.items() if name.startswith(prefix)}
    alike = [name for name, oid in heads.items() if default in (None, oid)]
    chosen = next((name for name in (*_MAIN, *sorted(alike)) if name in alike), None)
    with _replace_file(git_dir / "HEAD") as file:
        file.write_text(f"ref: {prefix}{chosen}\n" if chosen else f"{default or min(tips.values())}\n", "utf-8")


def _read_answer(binary: str, git_dir: Path, *words: str) -> str:
    command = command_line(binary, git_dir, [f"--git-dir={git_dir}", *words])
    with run_git(command, env=environment(binary), cwd=git_dir, seconds=PATIENCE.listing) as output:
        return output.read().decode("utf-8", "surrogateescape")


@contextmanager
def _replace_file(path: Path) -> Iterator[Path]:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".lock")
    os.close(handle)
    try:
        yield Path(name)
        Path(name).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise
