"""Finds what changed in a repository between two commits, in the index, or on disk: a diff, and the facts of its files
that the rules need.

    comparison = Comparison(Path("orders"), ComparedStates(base="main"))
    diff = comparison.read(load(None, committed=comparison.settings).settings.chunking, redactor)

git reads the repository without running anything of it (`sources.process`); files on disk are read here. The base is
the merge base. The files that decide what is left out and which rules hold — `secateur.toml`, `.gitattributes`,
`CLAUDE.md` — are read as they were at the base, so that a change cannot hide itself.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from secateur.errors import RepositoryError, UsageError, bare_repository, unreadable_folder
from secateur.kinds.diff.changes import NOT_IN_CLONE, SUBMODULE, Change, Diff, Patch, Treatment
from secateur.kinds.diff.chunk_text import RULES_CHANGED, SKILL_FILE, settings_notice
from secateur.kinds.diff.diff_parser import parse_diff
from secateur.kinds.diff.measured_diff import Compared, RepositoryFacts
from secateur.kinds.diff.skip_rules import FILE as ATTRIBUTES_FILE
from secateur.kinds.diff.skip_rules import GENERATED, MAX_FILE_BYTES, VENDORED, Attributes, verdict_by_path
from secateur.kinds.diff.temporary_objects import FilesOnDisk, Listing, TemporaryObjects
from secateur.model import Notice
from secateur.redaction import Redactor
from secateur.render.page import count_noun
from secateur.settings import Chunking, Committed
from secateur.sources.committed import read_settings_at
from secateur.sources.files import path_bytes, path_text
from secateur.sources.git import DIFF_ID_DIGITS, GITLINK, SYMBOLIC_LINK, UNTRACKED, Git, TreeEntry
from secateur.sources.process import TIMEOUT
from secateur.sources.provenance import ForeignRepository

# Candidates for the main branch: the first that shares a commit with the compared branch and does not contain it.
MAIN_BRANCHES = (
    "refs/remotes/origin/HEAD",
    "refs/remotes/origin/main",
    "refs/remotes/origin/master",
    "refs/heads/main",
    "refs/heads/master",
)

RULES_FILES = "CLAUDE.md", "AGENTS.md"  # at the repository's top; read as they were before the change
READ_BYTES = 64 << 20  # bytes of contents that are read to find functions; further files are cut between hunks
UNREAD = "unread_files"  # code of the notice that files on disk were not looked at
RULES_BYTES = 1 << 20  # largest file of project rules or attributes that is read
_EMPTY_TREE = {
    40: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    64: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
_SHORT = 10


@dataclass(frozen=True, slots=True)
class ComparedStates:
    """The states to compare. By default the branch with its start on the main branch; on the main branch itself the
    files on disk with HEAD."""

    base: str | None = None
    head: str | None = None
    staged: bool = False
    worktree: bool = False
    untracked: bool = False


@dataclass(frozen=True, slots=True)
class RepositoryDiff:
    """A diff with the facts that its repository adds."""

    diff: Diff
    known: dict[str, RepositoryFacts]
    rules: str  # the project's, "" for none
    compared: Compared
    notices: tuple[Notice, ...]
    has_skill: bool = False  # whether SKILL.md exists at the top before or after the change


def _open_repository(folder: Path, trust: bool) -> Git:
    try:
        if not folder.is_dir():
            raise unreadable_folder(folder)
        git = Git.discover(folder, trust=trust)
    except OSError as error:
        raise unreadable_folder(folder, error) from error
    if not isinstance(git, Git):
        hint = git.hint if isinstance(git, ForeignRepository) else "Name a repository, or give a diff with --diff FILE."
        raise RepositoryError(f"there is nothing to compare in {folder}: {git.value}", hint=hint, code=git.name)
    return git


class Comparison:
    """One comparison below a folder, step by step: which two states, the settings at the base, the changes. Paths are
    relative to the folder. `trust` as for `Git.discover`.

    Raises:
        UsageError: flags that contradict each other.
        RepositoryError: no repository, no such revision, no common ancestor, git failed.
    """

    def __init__(self, folder: Path, asked: ComparedStates, *, trust: bool = False) -> None:
        if asked.head is not None and (asked.staged or asked.worktree or asked.untracked):
            raise UsageError(
                "--head names a revision; --staged, --worktree and --untracked compare what is not committed",
                hint="leave one of them out",
            )
        if asked.staged and (asked.worktree or asked.untracked):
            raise UsageError("--staged and --worktree are two different states", hint="leave one of them out")
        self._git = _open_repository(folder, trust)
        self._asked = asked
        self._notices: list[Notice] = []
        self._base, self._head, self._what = self._sides()
        self._empty = _EMPTY_TREE.get(len(self._base or self._head or ""), _EMPTY_TREE[40])

    @cached_property
    def settings(self) -> Committed:
        """The repository's own settings as they were at the base: `load(..., committed=comparison.settings)`."""
        return read_settings_at(self._git, self._base, self._entries)

    def read(self, settings: Chunking, redactor: Redactor) -> RepositoryDiff:
        """Reads the changes and the repository's facts about them, without credentials. Raises RepositoryError: git
        failed."""
        git, base, head = self._git, self._base, self._head
        first = len(self._notices)
        with TemporaryObjects(git, digits=len(base or head or git.head() or "")) as objects:
            if head is not None:
                trees = self._before, self._tree(head)
            else:
                trees = self._uncommitted_trees(objects, _list_ids(self._entries))
            if git.prefix:
                self._note("only_below", f"Only changes below {git.prefix} are included.")
            diff = self._diff(objects, trees, settings.context_lines, redactor)
            texts = self._texts()
            rules = self._rules(texts, {path for change in diff.changes for path in (change.path, change.old_path)})
            attributes = Attributes({path: text for path, text in texts.items() if path.endswith(ATTRIBUTES_FILE)})
            known = self._collect_facts(objects.git, diff, attributes)
        settings_edit = settings_notice(self.settings, diff, {path: fact.content for path, fact in known.items()})
        notices = (*self._notices, settings_edit) if settings_edit else tuple(self._notices)
        del self._notices[first:]  # notices about the two states stay for the next call
        has_skill = any(entry.path == SKILL_FILE for entry in self._entries) or SKILL_FILE in known
        return RepositoryDiff(
            diff, known, rules, Compared(self._what, base or "", head or "", git.root.name), notices, has_skill
        )

    @cached_property
    def _before(self) -> str:
        return self._tree(self._base)

    @cached_property
    def _entries(self) -> list[TreeEntry]:
        return self._git.ls_tree(self._base) if self._before != self._empty and self._base else []

    # --- which two states ---------------------------------------------------------------------------------------------

    def _sides(self) -> tuple[str | None, str | None, str]:
        git, asked = self._git, self._asked
        here = git.head()
        if asked.staged or asked.worktree or asked.untracked or (here is None and asked.head is None):
            self._require_files()
            base = here if asked.base is None else self._merge_base(asked.base, git.resolve("HEAD"))
            what = "the index" if asked.staged else "the files on disk"
            if base is None:
                return base, None, f"{what} against nothing: there is no commit yet"
            start = f"the merge base of {asked.base} and HEAD" if asked.base else "HEAD"
            return base, None, f"{what} against {start} ({base[:_SHORT]})"
        name = asked.head or "HEAD"
        head = git.resolve(name)
        if asked.base is not None:
            base = self._merge_base(asked.base, head)
            return base, head, f"{asked.base}...{name} (from {base[:_SHORT]} to {head[:_SHORT]})"
        if (left_main := self._start(head)) is not None:
            base, branch = left_main
            return base, head, f"{branch}...{name} (commits from {base[:_SHORT]} to {head[:_SHORT]})"
        if asked.head is None:
            self._require_files()
            if git.shallow():
                self._note(
                    "shallow_clone",
                    "This clone is shallow and lacks the start of the branch. Fetch more history, or name --base.",
                )
            return here, None, f"the files on disk against HEAD ({(here or '')[:_SHORT]})"
        with suppress(RepositoryError):
            base = git.resolve(f"{head}^")
            return base, head, f"{name} against the commit before it ({base[:_SHORT]})"
        return None, head, f"{name} against nothing: it is the first commit"

    def _require_files(self) -> None:
        if self._git.is_bare:
            raise bare_repository(self._git.root, "Name two revisions with --base and --head.")

    def _merge_base(self, rev: str, head: str) -> str:
        if (base := self._git.merge_base(self._git.resolve(rev), head)) is None:
            raise RepositoryError(
                f"{rev} and {head[:_SHORT]} have no commit in common in {self._git.root}",
                hint="Name another base. In a shallow clone fetch more of the history.",
                code="NO_MERGE_BASE",
            )
        return base

    def _start(self, head: str) -> tuple[str, str] | None:
        """The commit at which `head` left the main branch, and that branch's name; None if there is no such branch, or
        it contains `head`."""
        for name in MAIN_BRANCHES:
            with suppress(RepositoryError):
                base = self._git.merge_base(self._git.resolve(name), head)
                if base is not None and base != head:
                    return base, name.removeprefix("refs/remotes/").removeprefix("refs/heads/")
        return None

    def _tree(self, commit: str | None) -> str:
        if commit is None:
            return self._empty
        try:
            return self._git.tree(commit)
        except RepositoryError as error:
            if error.code != "UNKNOWN_REVISION" or not self._git.prefix:
                raise
            return self._empty

    # --- what is not committed ----------------------------------------------------------------------------------------

    def _uncommitted_trees(self, objects: TemporaryObjects, before: Listing) -> tuple[str, str]:
        entries = self._git.list_tracked() if self._asked.staged else self._list_files()
        untracked = [entry for entry in entries if entry.mode == UNTRACKED]
        tracked = [entry for entry in entries if entry.mode != UNTRACKED and (entry.mode != GITLINK or entry.oid)]
        if untracked and not self._asked.untracked:
            ones = count_noun(len(untracked), "file that git does not track is", "files that git does not track are")
            files = f"{ones} not included (the first is {untracked[0].path})."
            self._note("untracked_files", f"{files} --untracked takes them in.")
        if unmerged := self._git.list_unmerged():
            sides = "one side of each is compared" if self._asked.staged else "both sides are in what is compared"
            files = count_noun(len(unmerged), "file is", "files are")
            self._note("unmerged", f"{files} in conflict (the first is {unmerged[0]}): {sides}.")
        if self._asked.staged:
            after = _list_ids(tracked)
        else:
            wanted = tracked + (untracked if self._asked.untracked else [])
            after, unread = FilesOnDisk(self._git, objects).listing(wanted)
            if unread:
                lost = count_noun(len(unread), "file could not be read and counts", "files could not be read and count")
                self._note(UNREAD, f"{lost} as unchanged (the first is {unread[0]}).")
        return _make_trees(objects, before, after, _changed_paths(before, after))

    def _list_files(self) -> list[TreeEntry]:
        """Lists the files that git tracks and the untracked ones that it does not ignore. If the ignore rules take too
        long and untracked files are not asked for, only the tracked ones."""
        try:
            return self._git.ls_files()
        except RepositoryError as error:
            if error.code != TIMEOUT or self._asked.untracked:
                raise
            self._note("untracked_unknown", f"Files that git does not track were not looked for: {error.message}")
            return self._git.list_tracked()

    # --- the diff -----------------------------------------------------------------------------------------------------

    def _diff(self, objects: TemporaryObjects, trees: tuple[str, str], context: int, redactor: Redactor) -> Diff:
        missing: dict[bytes, Change] = {}
        try:
            raw = objects.git.diff(*trees, context=context)
        except RepositoryError as error:
            before, after = (_list_ids(objects.git.ls_tree(tree)) for tree in trees)
            changed = _changed_paths(before, after)
            sides = {path: [listing[path] for listing in (before, after) if path in listing] for path in changed}
            blobs = [oid for path in changed for mode, oid in sides[path] if mode != GITLINK]
            absent = {oid for oid, size in zip(blobs, objects.git.sizes(blobs), strict=True) if size is None}
            if not absent:
                raise
            for path in changed:
                if any(oid in absent for _, oid in sides[path]):
                    name, then, now = path_text(path), before.get(path), after.get(path)
                    treatment = Treatment.ADDED if then is None else Treatment.DELETED
                    treatment = Treatment.MODIFIED if then is not None and now is not None else treatment
                    old, new = (side[1][:DIFF_ID_DIGITS] if side else "" for side in (then, now))
                    patch = Patch(0, name, name, treatment, f"diff --git a/{name} b/{name}\n", old_id=old, new_id=new)
                    missing[path] = Change((replace(patch, fault=NOT_IN_CLONE),))
            kept = [path for path in changed if path not in missing]
            raw = objects.git.diff(*_make_trees(objects, before, after, kept), context=context)
            lost, where = count_noun(len(absent), "object is", "objects are"), "repository"
            fetches = f"The repository is damaged ({error.message})."
            if self._git.is_partial:
                command = " ".join(("git diff --shortstat", *filter(None, (self._base, self._head))))
                where, fetches = "partial clone", f"`{command}` fetches what is missing."
            sentence = f"{lost} missing in this {where}"
            self._note("missing_objects", f"{sentence}: the files that need them are left out. {fetches}")
        diff = parse_diff(redactor.data(raw))
        if not missing:
            return diff
        changes = sorted((*diff.changes, *missing.values()), key=lambda change: path_bytes(change.path))
        return replace(diff, changes=tuple(changes))

    # --- what is known of the files -----------------------------------------------------------------------------------

    def _texts(self) -> dict[str, bytes]:
        wanted = [
            entry
            for entry in self._entries
            if entry.mode not in (GITLINK, SYMBOLIC_LINK)
            and (entry.path in RULES_FILES or entry.path.rpartition("/")[2] == ATTRIBUTES_FILE)
        ]
        contents = self._git.blobs([entry.oid for entry in wanted], max_bytes=RULES_BYTES) if wanted else iter(())
        return {entry.path: content for entry, content in zip(wanted, contents, strict=True) if content is not None}

    def _rules(self, texts: dict[str, bytes], changed: set[str]) -> str:
        names_by_text: dict[str, str] = {}
        for name in RULES_FILES:
            if name in texts:
                names_by_text.setdefault(texts[name].decode("utf-8", "replace").removeprefix("\ufeff").strip(), name)
        if touched := sorted(changed.intersection(RULES_FILES)):
            self._note(
                RULES_CHANGED, f"{', '.join(touched)} changes here. The chunks have the rules from before the change."
            )
        return "\n\n".join(text for text in names_by_text if text)

    def _collect_facts(self, git: Git, diff: Diff, attributes: Attributes) -> dict[str, RepositoryFacts]:
        changes = [change for change in diff.changes if _blob_of(change)]
        oids = [_blob_of(change) for change in changes]
        sizes = list(git.sizes(oids)) if oids else []
        wanted, total = [], 0
        for index, (change, size) in enumerate(zip(changes, sizes, strict=True)):
            if (
                size is not None
                and size < MAX_FILE_BYTES
                and total + size <= READ_BYTES
                and verdict_by_path(change.path) is None
                and not change.binary
            ):
                wanted.append(index)
                total += size
        blobs = git.blobs([oids[index] for index in wanted], max_bytes=MAX_FILE_BYTES) if wanted else ()
        contents = dict(zip(wanted, blobs, strict=True))
        read = {change.path: (contents.get(index), sizes[index]) for index, change in enumerate(changes)}
        known = {}
        for change in diff.changes:
            marks = attributes.says(change.path, GENERATED), attributes.says(change.path, VENDORED)
            known[change.path] = RepositoryFacts(*read.get(change.path, (None, None)), *marks)
        return known

    def _note(self, code: str, message: str) -> None:
        self._notices.append(Notice(code, message))


def _list_ids(entries: Sequence[TreeEntry]) -> Listing:
    return {path_bytes(entry.path): (entry.mode, entry.oid) for entry in entries}


def _changed_paths(before: Listing, after: Listing) -> list[bytes]:
    return sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))


def _make_trees(objects: TemporaryObjects, before: Listing, after: Listing, paths: Sequence[bytes]) -> tuple[str, str]:
    old, new = ({path: listing[path] for path in paths if path in listing} for listing in (before, after))
    return objects.tree(old), objects.tree(new)


def _blob_of(change: Change) -> str:
    patch = change.patches[-1]
    if SUBMODULE in patch.modes:
        return ""
    return patch.old_id if patch.treatment is Treatment.DELETED else patch.new_id
