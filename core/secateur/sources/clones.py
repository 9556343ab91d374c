"""Clones of remote repositories in the user's cache: bare, complete unless asked otherwise, fetched again on request.

    folder = clone_of(address, cache_dir, FetchOptions())    # cache_dir/clones/flask-1f0c…/flask
    clone_at(folder)                                         # Clone(url=…, fetched=…, shallow=False)

A clone is a repository without a work tree, made by hand: no template, no hook, no remote, and only four lines of
configuration, all of them ours. It is fetched into a temporary folder and renamed, so it is complete or missing. One
process writes at a time, and the next one removes what a killed process left behind."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path

from msgspec import structs

from secateur.errors import RepositoryError
from secateur.progress import Progress
from secateur.sources.cache_folders import hold_folder, remove_folder, unwritable_cache
from secateur.sources.clone_record import RECORD, Clone, clone_at
from secateur.sources.fetch_process import FAILED, fetch
from secateur.sources.git_addresses import FetchOptions, GitAddress
from secateur.sources.process import PATIENCE, command_line, environment, find_git, run_git

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
    """Fetches all branches and tags, or with `shallow` only the newest commit, and records the time."""
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
