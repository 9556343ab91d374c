"""Sample repositories: small real projects that ship as data, with a history that is rebuilt on first use.

    root = materialise("orders", cache_dir)     # cache_dir/samples/<digest>/orders: a git repository to try things on

A sample is a folder of plain files and `NAME.history.jsonl`, one commit per line (written by `sample_repos/record.py`,
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
from secateur.errors import RepositoryError
from secateur.sources.clones import unwritable_cache
from secateur.sources.files import confine_path
from secateur.sources.process import PATIENCE, command_line, environment, find_git, run_git

HISTORY_SUFFIX = ".history.jsonl"
LAYOUT_VERSION = b"1"  # changes when the same history would be unpacked to another folder
_DIGEST_DIGITS = 12
_PLAIN = "100644"
_CONFIG = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n"


def folder() -> Path:
    """Returns the folder of the samples, in the installed package or in a checkout. Raises RepositoryError if they were
    not shipped."""
    samples_folder = data_dir("sample_repos")
    if samples_folder.is_dir():
        return samples_folder
    hint = "Install the published package or work from a checkout."
    raise RepositoryError("the sample repositories are not installed", hint=hint, code="NO_SAMPLES")


def sample_names(samples: Path | None = None) -> list[str]:
    """Returns the names of the samples, sorted. `samples`: another folder of samples."""
    return sorted(path.name.removesuffix(HISTORY_SUFFIX) for path in (samples or folder()).glob(f"*{HISTORY_SUFFIX}"))


def name_of(path: str, cache_dir: Path) -> str:
    """Returns the `sample:NAME/…` of a path in the working copy of a sample; any other text as it is."""
    unpacked = cache_dir / "samples"
    if not path.startswith(str(unpacked)):
        return path
    _, name, *inside = (*Path(path).relative_to(unpacked).parts, "", "")
    return "/".join(part for part in (f"sample:{name}", *inside) if part) if name in sample_names() else path


def path_of(text: str, cache_dir: Path) -> Path:
    """Returns the folder that `text` means: a path, or `sample:NAME` or `sample:NAME/FOLDER`, which is unpacked into
    the cache on first use.

    Raises RepositoryError: unknown sample, no such folder in it, the cache cannot be written.
    """
    prefix, colon, sample_path = text.partition(":")
    if prefix != "sample" or not colon:
        return Path(text)
    name, _, inside = sample_path.partition("/")
    root = materialise(name, cache_dir)
    wanted = root.joinpath(*(part for part in inside.split("/") if part not in ("", ".")))
    if not _is_folder_in(wanted, root):
        known = sorted(path.name for path in root.iterdir() if path.is_dir() and not path.name.startswith("."))
        hint = f"Folders at its top: {', '.join(known) or 'none'}."
        raise RepositoryError(f"no folder {inside!r} in the sample {name}", hint=hint, code="NO_SUCH_FOLDER")
    return wanted


def _is_folder_in(path: Path, root: Path) -> bool:
    try:
        return confine_path(str(path.relative_to(root)), root).is_dir()
    except (OSError, ValueError):  # it leads out, or is an invalid name
        return False


def materialise(
    name: str, cache_dir: Path, *, samples: Path | None = None, environ: Mapping[str, str] = os.environ
) -> Path:
    """Returns a working copy of a sample below `cache_dir`, made on first use; later calls return the same folder as
    the user left it.

    With git it is a repository with the sample's whole history and unchanged tracked files; without git, plain files.
    Several processes may call this at the same time. Raises RepositoryError: unknown sample, the cache cannot be
    written.
    """
    samples = samples or folder()
    if name not in sample_names(samples):
        hint = f"There are: {', '.join(sample_names(samples)) or 'none'}."
        raise RepositoryError(f"no sample named {name!r}", hint=hint, code="NO_SUCH_SAMPLE")
    history = (samples / f"{name}{HISTORY_SUFFIX}").read_bytes()
    git = find_git(environ.get("PATH", ""), outside=cache_dir.resolve())
    digest = sha256(LAYOUT_VERSION + (b"git" if git else b"plain") + history).hexdigest()[:_DIGEST_DIGITS]
    home = cache_dir / "samples" / digest
    if (home / name).is_dir():
        return home / name
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix="new-", dir=home.parent))
    except OSError as error:
        raise unwritable_cache(home.parent, error) from error
    try:
        files, stream = _replay([json.loads(line) for line in history.split(b"\n") if line])
        root = scratch / name
        root.mkdir()
        for path, (mode, text) in files.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text.encode())
            if mode != _PLAIN:
                target.chmod(0o755)
        if git:
            _make_repository(scratch / name, stream, git)
        scratch.rename(home)
    except OSError as error:
        if not (home / name).is_dir():  # otherwise another process was first
            raise unwritable_cache(home.parent, error) from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return home / name


def _replay(commits: list[dict[str, Any]]) -> tuple[dict[str, tuple[str, str]], list[bytes]]:
    """Replays the history. Returns (mode, text) per path at its end, and the input for `git fast-import`."""
    files: dict[str, tuple[str, str]] = {}
    stream: list[bytes] = []
    for commit in commits:
        who = f"{commit['author']} {commit['date']}"
        stream.append(f"commit refs/heads/main\nauthor {who}\ncommitter {who}\n".encode())
        stream.append(_data(commit["message"]))
        for path, edits in commit["edits"].items():
            if edits is None:
                del files[path]
                stream.append(f"D {_quote_path(path)}\n".encode())
                continue
            lines = files.get(path, ("", ""))[1].split("\n")
            lines = [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
            for start, end, replacement in reversed(edits):
                lines[start:end] = [replacement]
            text = "".join(lines)
            mode = commit.get("modes", {}).get(path, _PLAIN)
            files[path] = (mode, text)
            stream += [f"M {mode} inline {_quote_path(path)}\n".encode(), _data(text)]
    return files, [*stream, b"done\n"]


def _data(text: str) -> bytes:
    content = text.encode()
    return b"data %d\n%b\n" % (len(content), content)


def _quote_path(path: str) -> str:
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _make_repository(root: Path, stream: list[bytes], git: str) -> None:
    """Turns a folder of files into a repository with that history, mostly by hand: `git init` would copy the user's
    templates."""
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
        with run_git(command, env=environment(git), cwd=root, feed=feed, seconds=PATIENCE.listing) as output:
            output.read()
