"""Reads a git repository that may be hostile: which files it has, their contents at a commit, its history.

git is told both the folder of the repository (see `location.py`) and the work tree, so that its configuration cannot
point elsewhere. See `process.py` for how git is run. Commands used: `rev-parse`,
`merge-base`, `rev-list`, `log`, `diff-tree`, `ls-files`, `ls-tree`, `cat-file`; used like this, none of them converts,
compares or refreshes files of the work tree.

Parses the output of `git log -z --name-only` into commits. Streamed: a history may be long.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from msgspec import Struct

from secateur.errors import RepositoryError
from secateur.sources.files import path_bytes, path_text
from secateur.sources.process import PATIENCE, TIMEOUT, Patience, command_line, environment, find_git, run_git
from secateur.sources.provenance import (
    HEAD,
    ForeignRepository,
    Location,
    NoGit,
    common_folder,
    head_commit,
    is_remnant,
    locate,
    small_file,
)

# Most commits read from a history, in two seconds. Older ones add nothing to hotspots, given their half-life.
HISTORY_LIMIT = 50_000

GITLINK = 0o160000
SYMBOLIC_LINK = 0o120000
UNTRACKED = 0  # `TreeEntry.mode` of a file that is not in the index
FETCH_ALL = "This is a partial clone, and nothing is fetched: `git fetch --refetch --no-filter` fetches all."

# Digits of a blob's id in a diff (more only if they would be ambiguous): full ids are a third of the tokens of a small
# patch.
DIFF_ID_DIGITS = 10

_PLAIN_DIFF = ("--no-ext-diff", "--no-textconv", "--no-color", "-O/dev/null")
_PLAIN_LOG = (*_PLAIN_DIFF, "--no-show-signature", "--no-notes", "--encoding=UTF-8")

_SHA256_DIGITS = 64
_SHA256_CONFIG = "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectFormat = sha256\n"

_OBJECT_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_ANSWER_BYTES = 1 << 16  # an id, a date
_LISTING_BYTES = 1 << 29  # three million paths of 170 bytes

SHALLOW_BYTES = 1 << 20  # twenty thousand commits without parents
_CHUNK_BYTES = 1 << 20

# Error messages of repositories that kept git waiting too long in this run: they are not tried again. Keys: the folder,
# and whether only the listing of untracked files waited, which depends on ignore rules anywhere in the tree. Our own
# walk can replace that listing.
_GIVEN_UP: dict[tuple[Path, bool], str] = {}

_TIMES: dict[str, int] = {}  # date by full commit id: the id identifies the commit in every repository


class TreeEntry(Struct, frozen=True):
    """A path of the index or of a commit, relative to the opened folder."""

    path: str
    mode: int  # 0o100644, 0o100755, SYMBOLIC_LINK, GITLINK; UNTRACKED
    oid: str  # "" for untracked files


class Git:
    """Hardened read access to one repository, seen from one folder of it.

        git = Git.discover(Path("orders/src"))
        if isinstance(git, Git):
            for commit in git.history(git.resolve("HEAD"), limit=100): ...

    All paths, in and out, are relative to the opened folder. Every method raises RepositoryError when git fails or is
    too slow.
    """

    def __init__(self, binary: str, location: Location, root: Path, *, patience: Patience = PATIENCE) -> None:
        self.git_dir = location.git_dir
        self.top = location.top
        self.root = root.resolve()
        relative = self.root.relative_to(self.top).as_posix() if self.top else "."
        self.prefix = "" if relative == "." else relative + "/"
        self._binary = binary
        self._patience = patience

    @classmethod
    def discover(
        cls,
        folder: Path,
        *,
        environ: Mapping[str, str] = os.environ,
        patience: Patience = PATIENCE,
        trust: bool = False,
    ) -> Git | NoGit | ForeignRepository:
        """Returns the repository that contains `folder`, or the reason why none can be read. Runs nothing.

        `trust`: also accepts a repository that is elsewhere, or borrows objects from elsewhere.
        """
        if (location := locate(folder)) is None:
            return NoGit.BROKEN_REPOSITORY if is_remnant(folder / ".git") else NoGit.NO_REPOSITORY
        elsewhere = "" if trust else location.find_foreign()
        if elsewhere:
            return ForeignRepository(f"its git repository is not read, because {elsewhere}")
        binary = find_git(environ.get("PATH", ""), outside=location.top or location.git_dir)
        return cls(binary, location, folder, patience=patience) if binary else NoGit.NO_BINARY

    @property
    def is_bare(self) -> bool:
        """Tells whether the repository has no work tree."""
        return self.top is None

    def head(self) -> str | None:
        """Returns the id of the current commit; None before the first one."""
        return self._find_object("HEAD^{commit}")

    def resolve(self, rev: str) -> str:
        """Returns the id of the commit that `rev` (branch, tag, id, `HEAD~3`, ...) names. Raises a RepositoryError that
        names the revision."""
        detail = ""
        commit = None
        if rev and not rev.startswith("-") and "\0" not in rev:
            try:
                commit = self._find_object(rev + "^{commit}")
            except RepositoryError as error:
                if error.code == TIMEOUT:
                    raise
                detail = f" ({error.message})"
        if commit is None:
            hint = "Name a branch, a tag or a commit id of that repository."
            if self.shallow():
                hint = "This clone is shallow, as clones in CI often are"
                hint += ": fetch more of its history, or name a commit that it has."
            raise RepositoryError(f"no commit {rev!r} in {self.root}{detail}", hint=hint, code="UNKNOWN_REVISION")
        return commit

    def commit_time(self, commit: str) -> int:
        """Returns the committer date of a commit, in seconds since 1970."""
        if commit not in _TIMES:
            answer = self._read_answer("log", "--max-count=1", *_PLAIN_LOG, "--format=%ct", commit, "--")
            if not answer.isdigit():
                message = f"commit {commit} has no readable date in {self.root}"
                raise RepositoryError(message, hint="Is the repository damaged?", code="GIT_FAILED")
            if not _OBJECT_ID.fullmatch(commit):
                return int(answer)
            _TIMES[commit] = int(answer)
        return _TIMES[commit]

    def ls_files(self) -> list[TreeEntry]:
        """Returns tracked files, also deleted ones, and untracked files that are not ignored, in path order.

        A nested repository is one entry of mode GITLINK.
        """
        entries: dict[str, TreeEntry] = {}
        others = []
        shape = ("-z", "-t", "--stage", "--cached", "--others", "--exclude-standard")
        for record in self._read_records("ls-files", *shape, untracked=True):
            if record.startswith(b"? "):
                others.append(path_text(record[2:]))
            else:
                entry = _parse_entry(record[2:])
                entries[entry.path] = entry  # the stages of an unmerged path are one file
        for path in others:
            entry = TreeEntry(path.rstrip("/"), GITLINK if path.endswith("/") else UNTRACKED, "")
            entries.setdefault(entry.path, entry)
        return _sort_by_path(entries.values())

    def list_tracked(self) -> list[TreeEntry]:
        """Returns the files of the index, in path order."""
        listed = map(_parse_entry, self._read_records("ls-files", "-z", "--cached", "--stage"))
        return _sort_by_path({entry.path: entry for entry in listed}.values())

    def list_unmerged(self) -> list[str]:
        """Returns the files of the index that a merge left in conflict, sorted."""
        listed = map(_parse_entry, self._read_records("ls-files", "-z", "--unmerged"))
        return sorted({entry.path for entry in listed})

    def list_absent(self) -> frozenset[str]:
        """Returns the files of the index that a sparse checkout leaves out of the work tree."""
        listed = self._read_records("ls-files", "-z", "-t", "--cached")
        return frozenset(path_text(record[2:]) for record in listed if record.startswith(b"S "))

    def tree(self, commit: str) -> str:
        """Returns the id of the opened folder's tree in a commit. Raises RepositoryError if the commit lacks that
        folder."""
        if (tree := self._find_object(f"{commit}:{self.prefix.rstrip('/')}")) is None:
            message = f"commit {commit[:10]} has no folder {self.prefix!r}"
            raise RepositoryError(message, hint="Open the repository's top folder.", code="UNKNOWN_REVISION")
        return tree

    def ls_tree(self, commit: str) -> list[TreeEntry]:
        """Returns the files of a commit below the opened folder, in path order. Raises RepositoryError if the commit
        lacks that folder."""
        listed = self._read_records("ls-tree", "-r", "-z", "--full-tree", self.tree(commit))
        return _sort_by_path(_parse_entry(record, 2) for record in listed)

    def sizes(self, oids: Sequence[str]) -> Iterator[int | None]:
        """Yields the size of each object in bytes, in order; None for a missing one."""
        with self._cat_file("--batch-check=%(objectsize)", oids) as output:
            for line in output:
                yield int(line) if line.strip().isdigit() else None

    def blobs(self, oids: Sequence[str], *, max_bytes: int) -> Iterator[bytes | None]:
        """Yields the content of each blob, in order, through one process; None for one that is missing, not a blob, or
        larger than `max_bytes`."""
        with self._cat_file("--batch=%(objecttype) %(objectsize)", oids) as output:
            for line in output:
                kind, _, size = line.strip().partition(b" ")
                if not size.isdigit():
                    yield None
                    continue
                length = int(size)
                wanted = kind == b"blob" and length <= max_bytes
                content = output.read(length) if wanted else None
                while not wanted and length > 0 and (piece := output.read(min(length, _CHUNK_BYTES))):
                    length -= len(piece)
                if output.read(1) != b"\n":  # git was cut off; leaving the block says why
                    break
                yield content if kind == b"blob" else None

    def history(
        self, commit: str, *, limit: int = HISTORY_LIMIT, since: str = "", path: str = ""
    ) -> Iterator[HistoryCommit]:
        """Yields the last `limit` commits that led to `commit`, without merges, newest first, with the paths that each
        changed; streamed.

        `since`: a commit that is left out together with all that led to it; `path`: only commits that changed this file
        below the opened folder.
        """
        return self._log_commits("--no-merges", HISTORY_FORMAT, commit, limit, since, path)

    def log(self, commit: str, *, limit: int = HISTORY_LIMIT) -> Iterator[HistoryCommit]:
        """Yields the last `limit` commits that led to `commit`, merges among them, newest first, with their messages;
        streamed."""
        return self._log_commits("", LOG_FORMAT, commit, limit)

    def _log_commits(
        self, merges: str, form: str, commit: str, limit: int, since: str = "", path: str = ""
    ) -> Iterator[HistoryCommit]:
        """Yields commits; `form` is a format of `git_log`. With `path`, git is given less time."""
        relative, below = (["--relative"], ["."]) if self.prefix else ([], [])
        seconds = self._patience.query if path else None
        below = [path] if path else below  # taken literally, as every path is
        shape = ["-z", "--name-only", "--no-renames", *filter(None, [merges]), f"--max-count={limit}", *relative, form]
        revisions = [commit, f"^{since}"] if since else [commit]
        with self._run("log", *shape, *_PLAIN_LOG, *revisions, "--", *below, seconds=seconds) as output:
            yield from commits_of(output)

    def merge_base(self, first: str, second: str) -> str | None:
        """Returns the best common ancestor of two commits; None when they share no history."""
        answer = self._read_answer("merge-base", first, second, seconds=self._patience.listing)
        return answer if _OBJECT_ID.fullmatch(answer) else None

    def is_linear(self, base: str, head: str) -> bool:
        """Tells whether no merge lies between a commit and one that came from it."""
        range_ = (head, f"^{base}", "--")
        return not self._read_answer("rev-list", "--merges", "--max-count=1", *range_, seconds=self._patience.listing)

    def shallow(self) -> bytes:
        """Returns the file in which git records where the history of a shallow clone ends; b"" for a full clone."""
        return small_file(common_folder(self.git_dir) / "shallow", SHALLOW_BYTES)

    @property
    def is_partial(self) -> bool:
        """Tells whether this is a partial clone, which has only some of its objects."""
        return any((common_folder(self.git_dir) / "objects/pack").glob("*.promisor"))

    def names_still(self, rev: str, commit: str) -> bool:
        """Tells whether a revision still names a commit. Runs git only if the files do not answer it."""
        return (rev == HEAD and head_commit(self.git_dir) == commit) or self.resolve(rev) == commit

    def diff(self, base: str, head: str, *, context: int = 3, paths: Sequence[str] = ()) -> bytes:
        """Returns the unified diff of two commits (or trees) below the opened folder, with `a/` and `b/`, and renames
        detected.

        Commits only: a diff with the work tree would run the filters that a repository configures. `context`: unchanged
        lines around a change; `paths`: limits the diff to these files.
        """
        shape = ["-r", "-p", f"--unified={context}", "--find-renames", f"--abbrev={DIFF_ID_DIGITS}"]
        shape += ["--src-prefix=a/", "--dst-prefix=b/", "--submodule=short"]
        relative, below = (["--relative"], ["."]) if self.prefix else ([], [])
        wanted = paths or below
        with self._run("diff-tree", *shape, *relative, *_PLAIN_DIFF, base, head, "--", *wanted) as output:
            return _read_all(output, _LISTING_BYTES, self.root)

    @contextmanager
    def _cat_file(self, form: str, oids: Sequence[str]) -> Iterator[IO[bytes]]:
        """Runs `cat-file`. In a partial clone git stops at the first missing object, so it runs in an empty
        repository that borrows the objects: there git only reports a missing object."""
        with ExitStack() as stack:
            git = self
            if self.is_partial:
                folder = Path(stack.enter_context(TemporaryDirectory(prefix="secateur-")))
                for part in ("objects/info", "refs"):
                    (folder / part).mkdir(parents=True)
                (folder / "HEAD").write_text("ref: refs/heads/none\n", encoding="ascii")
                (folder / "objects/info/alternates").write_bytes(
                    path_bytes((common_folder(self.git_dir).resolve() / "objects").as_posix()) + b"\n"
                )
                if oids and len(oids[0]) == _SHA256_DIGITS:
                    (folder / "config").write_text(_SHA256_CONFIG, encoding="ascii")
                git = Git(self._binary, Location(folder, None), folder, patience=self._patience)
            yield stack.enter_context(
                git._run("cat-file", form, "--buffer", feed=[oid.encode("ascii") + b"\n" for oid in oids])
            )

    # --- running git --------------------------------------------------------------------------------------------------

    @contextmanager
    def _run(
        self,
        *arguments: str,
        feed: Sequence[bytes] = (),
        seconds: float | None = None,
        accept: tuple[int, ...] = (0,),
        untracked: bool = False,
    ) -> Iterator[IO[bytes]]:
        """Runs a command, unless this repository kept git waiting before. The listing of `untracked` files is recorded
        separately."""
        given_up = _GIVEN_UP.get((self.git_dir, untracked)) or _GIVEN_UP.get((self.git_dir, False))
        if given_up:
            raise RepositoryError(
                f"{given_up}; it is not asked again", hint="Is the repository damaged, or on a slow disk?", code=TIMEOUT
            )
        where = [f"--git-dir={self.git_dir}", *([f"--work-tree={self.top}"] if self.top else [])]
        command = command_line(self._binary, self.top or self.git_dir, [*where, *arguments])
        env, cwd, idle = environment(self._binary), self.root, self._patience.idle
        seconds = seconds or self._patience.listing
        try:
            with run_git(command, env=env, cwd=cwd, feed=feed, seconds=seconds, idle=idle, accept=accept) as output:
                yield output
        except RepositoryError as error:
            if error.code == TIMEOUT:
                _GIVEN_UP[self.git_dir, untracked] = error.message
            elif self.is_partial:
                error.message += " (a partial clone)"
                error.args = (error.message,)
                error.hint = FETCH_ALL
            raise

    def _read_answer(self, *arguments: str, seconds: float | None = None) -> str:
        with self._run(*arguments, seconds=seconds or self._patience.query, accept=(0, 1)) as output:
            return _read_all(output, _ANSWER_BYTES, self.root).decode("utf-8", "replace").strip()

    def _read_records(self, *arguments: str, untracked: bool = False) -> list[bytes]:
        seconds = self._patience.untracked if untracked else None
        with self._run(*arguments, untracked=untracked, seconds=seconds) as output:
            return _read_all(output, _LISTING_BYTES, self.root).split(b"\0")[:-1]

    def _find_object(self, name: str) -> str | None:
        answer = self._read_answer("rev-parse", "--verify", "--quiet", name)
        return answer if _OBJECT_ID.fullmatch(answer) else None


def _parse_entry(record: bytes, oid_field: int = 1) -> TreeEntry:
    """Parses `MODE OID STAGE<tab>PATH` of the index, or `MODE KIND OID<tab>PATH` of a tree."""
    head, _, path = record.partition(b"\t")
    fields = head.decode("ascii").split(" ")
    return TreeEntry(path_text(path), int(fields[0], 8), fields[oid_field])


def _sort_by_path(entries: Iterable[TreeEntry]) -> list[TreeEntry]:
    return sorted(entries, key=lambda entry: path_bytes(entry.path))


def _read_all(output: IO[bytes], limit: int, folder: Path) -> bytes:
    content = output.read(limit + 1)
    if len(content) > limit:
        message = f"git printed more than {limit:,} bytes in {folder}"
        raise RepositoryError(message, hint="Open a smaller folder of that repository.", code="GIT_FAILED")
    return content


HISTORY_FORMAT = "--format=/%H%x00%ct%x00%P%x00%s"  # no path starts with `/`, so it marks where a commit starts
LOG_FORMAT = "--format=/%H%x00%ct%x00%P%x00%B"
HEAD_FIELDS = 4


class HistoryCommit(Struct, frozen=True):
    """One commit, and the files it changed below the opened folder; a merge has no files."""

    id: str
    time: int  # committer date, seconds since 1970
    parents: tuple[str, ...]
    message: str  # the whole, or its subject alone: what was asked for
    paths: tuple[str, ...]

    @property
    def subject(self) -> str:
        """The first line of the message."""
        return self.message.partition("\n")[0]


def commits_of(output: IO[bytes]) -> Iterator[HistoryCommit]:
    """Yields the commits of HISTORY_FORMAT or LOG_FORMAT."""
    head: list[bytes] = []
    paths: list[bytes] = []
    for field in _read_fields(output):
        if len(head) == HEAD_FIELDS and field.startswith(b"/"):
            yield _parse_commit(head, paths)
            head, paths = [], []
        if len(head) < HEAD_FIELDS:
            head.append(field)
        else:
            paths.append(field if paths else field.removeprefix(b"\n"))
    if len(head) == HEAD_FIELDS:
        yield _parse_commit(head, paths)


def _parse_commit(head: list[bytes], paths: list[bytes]) -> HistoryCommit:
    commit, time, parents, message = head
    return HistoryCommit(
        id=commit[1:].decode("ascii"),
        time=int(time) if time.isdigit() else 0,
        parents=tuple(parents.decode("ascii").split()),
        message=message.decode("utf-8", "replace"),
        paths=tuple(path_text(path) for path in paths),
    )


def _read_fields(output: IO[bytes]) -> Iterator[bytes]:
    rest = b""
    while chunk := output.read(_CHUNK_BYTES):
        *whole, rest = (rest + chunk).split(b"\0")
        yield from whole
