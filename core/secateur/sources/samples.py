"""Sample repositories: small real projects that ship as data, with a history that is rebuilt on first use.

    root = materialise("orders", cache_dir)     # cache_dir/samples/<digest>/orders: a git repository to play with

A sample is a folder of plain files and `NAME.history.jsonl`, one commit a line (written by `sample_repos/record.py`,
which describes the format). Dates and authors are part of the data, so the commit ids are the same on every machine.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from secateur.directories import data_dir
from secateur.errors import RepositoryError, reason_of
from secateur.sources.confined import confined
from secateur.sources.process import PATIENCE, command_line, environment, find_git, running

HISTORY_SUFFIX = ".history.jsonl"
LAYOUT_VERSION = b"1"
"""Changes when the same history would make another folder."""

_DIGEST_DIGITS = 12
_PLAIN = "100644"
_CONFIG = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n"


def folder() -> Path:
    """The folder of the samples: in the package as installed, or in a checkout. Raises RepositoryError when they were
    not shipped."""
    place = data_dir("sample_repos")
    if place.is_dir():
        return place
    raise RepositoryError(
        "the sample repositories are not installed",
        hint="Install the published package or work from a checkout.",
        code="NO_SAMPLES",
    )


def names(samples: Path | None = None) -> list[str]:
    """The samples there are, by name. `samples`: another folder of samples."""
    return sorted(path.name.removesuffix(HISTORY_SUFFIX) for path in (samples or folder()).glob(f"*{HISTORY_SUFFIX}"))


def path_of(text: str, cache_dir: Path) -> Path:
    """The folder meant by `text`: a path, or `sample:NAME` or `sample:NAME/FOLDER` for a sample, which is unpacked into
    the cache on first use.

    Raises RepositoryError: unknown sample, no such folder in it, the cache cannot be written.
    """
    prefix, colon, place = text.partition(":")
    if prefix != "sample" or not colon:
        return Path(text)
    name, _, inside = place.partition("/")
    root = materialise(name, cache_dir)
    wanted = root.joinpath(*(part for part in inside.split("/") if part not in ("", ".")))
    if not _is_folder_in(wanted, root):
        known = (
            ", ".join(sorted(path.name for path in root.iterdir() if path.is_dir() and not path.name.startswith(".")))
            or "none"
        )
        raise RepositoryError(
            f"no folder {inside!r} in the sample {name}", hint=f"Folders at its top: {known}.", code="NO_SUCH_FOLDER"
        )
    return wanted


def _is_folder_in(path: Path, root: Path) -> bool:
    try:
        return confined(str(path.relative_to(root)), root).is_dir()
    except (OSError, ValueError):  # it leads out, or is a name that no system takes
        return False


def materialise(
    name: str, cache_dir: Path, *, samples: Path | None = None, environ: Mapping[str, str] = os.environ
) -> Path:
    """A working copy of a sample below `cache_dir`, made on first use; later calls return the same folder as the user
    left it.

    With git it is a repository with the sample's whole history, its files tracked and unchanged; without, plain files.
    Any number of processes may ask at the same time. Raises RepositoryError: unknown sample, the cache cannot be
    written.
    """
    samples = samples or folder()
    if name not in names(samples):
        raise RepositoryError(
            f"no sample named {name!r}",
            hint=f"There are: {', '.join(names(samples)) or 'none'}.",
            code="NO_SUCH_SAMPLE",
        )
    history = (samples / f"{name}{HISTORY_SUFFIX}").read_bytes()
    git = find_git(environ.get("PATH", ""), outside=cache_dir.resolve())
    digest = sha256(LAYOUT_VERSION + (b"git" if git else b"plain") + history).hexdigest()[:_DIGEST_DIGITS]
    place = cache_dir / "samples" / digest
    if (place / name).is_dir():
        return place / name
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix="new-", dir=place.parent))
    except OSError as error:
        raise _unwritable_cache(place.parent, error) from error
    try:
        commits = [json.loads(line) for line in history.split(b"\n") if line]
        files, stream = _replay(commits)
        _write_files(scratch / name, files)
        if git:
            _make_repository(scratch / name, stream, git)
        scratch.rename(place)
    except OSError as error:
        if not (place / name).is_dir():  # otherwise another process was first
            raise _unwritable_cache(place.parent, error) from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return place / name


def _unwritable_cache(folder: Path, error: OSError) -> RepositoryError:
    said = f"cannot write to {folder}: {reason_of(error)}"
    return RepositoryError(said, hint="Set SECATEUR_CACHE_DIR to a folder you can write to.", code="CACHE_NOT_WRITABLE")


def _replay(commits: list[dict[str, Any]]) -> tuple[dict[str, tuple[str, str]], list[bytes]]:
    """Play the history: (mode, text) per path at its end, and the whole of it as input of `git fast-import`."""
    files: dict[str, tuple[str, str]] = {}
    stream: list[bytes] = []
    for commit in commits:
        who = f"{commit['author']} {commit['date']}"
        stream.append(f"commit refs/heads/main\nauthor {who}\ncommitter {who}\n".encode())
        stream.append(_data(commit["message"]))
        for path, edits in commit["edits"].items():
            if edits is None:
                del files[path]
                stream.append(f"D {_quoted(path)}\n".encode())
                continue
            text = _edited(files.get(path, ("", ""))[1], edits)
            mode = commit.get("modes", {}).get(path, _PLAIN)
            files[path] = (mode, text)
            stream += [f"M {mode} inline {_quoted(path)}\n".encode(), _data(text)]
    return files, [*stream, b"done\n"]


def _edited(text: str, edits: list[tuple[int, int, str]]) -> str:
    """`text` with line ranges replaced; lines end after each newline character."""
    lines = text.split("\n")
    lines = [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    for start, end, replacement in reversed(edits):
        lines[start:end] = [replacement]
    return "".join(lines)


def _data(text: str) -> bytes:
    content = text.encode()
    return b"data %d\n%b\n" % (len(content), content)


def _quoted(path: str) -> str:
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _write_files(root: Path, files: dict[str, tuple[str, str]]) -> None:
    root.mkdir()
    for path, (mode, text) in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())
        if mode != _PLAIN:
            target.chmod(0o755)


def _make_repository(root: Path, stream: list[bytes], git: str) -> None:
    """Make a folder of files a repository with that history, by hand as far as possible: `git init` would copy the
    user's templates."""
    git_dir = root / ".git"
    for part in ("objects", "refs", "info"):
        (git_dir / part).mkdir(parents=True)
    (git_dir / "HEAD").write_text("ref: refs/heads/main\n", encoding="ascii")
    (git_dir / "config").write_text(_CONFIG, encoding="ascii")
    for arguments, feed in (
        (("-c", "fastimport.unpackLimit=0", "fast-import", "--quiet", "--done"), stream),
        (("read-tree", "HEAD"), []),
    ):
        command = command_line(git, root, [f"--git-dir={git_dir}", f"--work-tree={root}", *arguments])
        with running(command, env=environment(git), cwd=root, feed=feed, seconds=PATIENCE.listing) as output:
            output.read()
