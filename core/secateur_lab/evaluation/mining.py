"""Mines judged cases from the history of a repository: a commit's message as query, the functions it changed as answer.

    history = opened_history(Path("flask"), settings)
    mined = mine(history, most=100)
    mined.cases     # the newest, sorted by time: a message, the parent, the ids of the functions in the parent's index
    mined.left_out  # how many commits were skipped, by reason

A case is asked at the parent, so its own message is not in the searched history. Older cases are for fitting weights
(`training`), newer ones for reporting (`held_out`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from secateur.commit_messages import is_release, is_revert, query_of
from secateur.errors import RepositoryError, SecateurError, shown
from secateur.index.facts.snapshot import symbol_ids
from secateur.kinds.diff.changes import Change, Treatment
from secateur.kinds.diff.diff_parser import parse_diff
from secateur.languages import traits_of
from secateur.languages.syntax.file_flags import UNINDEXED, classify
from secateur.languages.syntax.fragments import language_of, parse_file
from secateur.model import Fragment, FragmentKind
from secateur.progress import Progress, unreported
from secateur.redaction import redact_typed
from secateur.settings import Settings
from secateur.sources.git import Git
from secateur.sources.git_log import LoggedCommit
from secateur.sources.location import NoGit
from secateur.sources.open import SourceOpener, open_source

from secateur_lab.scenarios.scenario import FORMAT, PartName, Scenario

MOST_CASES = 100
"""Cases that are mined by default: enough for intervals of about a tenth."""

MOST_COMMITS = 20_000
"""Most commits that are examined, newest first."""

MOST_FILES = 8
"""Most code files in a commit; with more it is a mass edit, about which its message says little."""

MOST_PATHS = 40
"""Most files of any kind in a commit."""

MOST_FUNCTIONS = 10
MOST_LINES = 300
"""Most functions and lines of code that a commit may change."""

TRAINING_SHARE = 0.6
"""Share of the oldest cases; the rest still gives useful intervals."""

GRADE = 3
"""Grade of a function that the commit changed."""

_HEAD_BYTES = 65_536
_OTHER = frozenset({"test", "documentation", "example", "vendored", "generated"}) | UNINDEXED
_FUNCTIONS = (FragmentKind.FUNCTION, FragmentKind.METHOD)


class NoCase(StrEnum):
    """The reasons why a commit is skipped."""

    MERGE = "merges"
    FIRST = "first commits, which have no parent"
    REVERT = "reverts"
    RELEASE = "changes of versions"
    MASS_EDIT = "mass edits"
    OTHER_FILES = "change no code, or only tests and documents"
    SAYS_NOTHING = "messages with nothing to search for"
    NO_FUNCTION = "change no function that existed before"
    SAID_BEFORE = "have the message of a newer case"
    UNREADABLE = "cannot be read"


@dataclass(frozen=True, slots=True)
class MinedCase:
    """A commit that became a case."""

    commit: str
    time: int  # committer date
    parent: str
    query: str
    ids: tuple[str, ...]  # of the functions it changed, in the parent's index
    part: PartName = ""

    @property
    def subject(self) -> str:
        """The first line of the query."""
        return self.query.partition("\n")[0]

    def scenario(self, path: str) -> Scenario:
        """Returns the case as a scenario; `path` is that of its repository, relative to the root that holds it."""
        return Scenario(
            FORMAT,
            "search",
            about=f"{self.commit[:10]}: {self.subject}",
            part=self.part,
            input={"query": self.query, "path": path, "rev": self.parent},
            judged=dict.fromkeys(self.ids, GRADE),
        )


@dataclass
class Mined:
    """Cases, and counts of the other commits; filled during the search."""

    looked_at: int = 0
    left_out: Counter[NoCase] = field(default_factory=Counter)
    found: list[MinedCase] = field(default_factory=list)  # the newest first

    @property
    def cases(self) -> list[MinedCase]:
        """The cases by time, with their parts."""
        ordered = sorted(self.found, key=lambda case: (case.time, case.commit))
        training = round(TRAINING_SHARE * len(ordered))
        return [
            replace(case, part="training" if index < training else "held_out") for index, case in enumerate(ordered)
        ]


@dataclass(frozen=True)
class RepositoryHistory:
    """A repository whose commits are examined."""

    git: Git
    root: Path
    settings: Settings

    def commits(self, rev: str) -> Iterator[LoggedCommit]:
        """Yields the newest commits up to a revision; raises RepositoryError."""
        return self.git.log(self.git.resolve(rev), limit=MOST_COMMITS)

    def changes(self, commit: LoggedCommit) -> tuple[Change, ...]:
        """Returns the changes of a commit to its code files. Raises SecateurError."""
        paths = [path for path in commit.paths if is_code(path)]
        return parse_diff(self.git.diff(commit.parents[0], commit.id, context=0, paths=paths)).changes

    def contents(self, commit: str, paths: list[str]) -> Mapping[str, bytes]:
        """Returns the files of a commit as its index reads them, without those that it does not index."""
        source = SourceOpener(self.root, commit, self.settings.index)()
        return {path: data for path, data in source.read(paths) if data is not None}


def open_history(path: Path, settings: Settings) -> RepositoryHistory:
    """Opens the history of the repository that holds a folder.

    Raises:
        RepositoryError: it has no history, or it may not be read.
    """
    try:
        source = open_source(path, "HEAD", trust=settings.index.trust_git_dir)
    except RepositoryError as error:
        if error.code not in NoGit.__members__:
            raise
        message = f"{shown(path)} has no history to mine cases from: {NoGit[error.code].value}"
        raise RepositoryError(message, hint="name a folder of a git repository", code=error.code) from error
    git = Git.discover(source.root or path, trust=settings.index.trust_git_dir)
    assert isinstance(git, Git)  # otherwise the source could not have been opened
    return RepositoryHistory(git, git.root, settings)


def mine(
    history: RepositoryHistory,
    most: int = MOST_CASES,
    rev: str = "HEAD",
    progress: Progress = unreported,
    into: Mined | None = None,
) -> Mined:
    """Mines the newest commits for cases. The same repository gives the same cases.

    Args:
        most: number of cases.
        into: is filled, so that an interruption keeps the cases found so far.

    Raises:
        RepositoryError: the history cannot be read.
    """
    mined = Mined() if into is None else into
    seen_queries: set[str] = set()
    for commit in history.commits(rev):
        if len(mined.found) >= most:
            break
        progress("mining", len(mined.found), most)
        mined.looked_at += 1
        case = build_case(history, commit, seen_queries)
        if isinstance(case, NoCase):
            mined.left_out[case] += 1
        else:
            seen_queries.add(_normalize(case.query))
            mined.found.append(case)
    return mined


def build_case(history: RepositoryHistory, commit: LoggedCommit, seen_queries: set[str]) -> MinedCase | NoCase:
    """Builds a case from a commit, or returns why it is skipped. Cheap checks run first."""
    query = redact_typed(query_of(commit.message), history.settings.redaction)
    why = _skip_reason(commit, query, seen_queries)
    if why is not None:
        return why
    try:
        changes = history.changes(commit)
        if sum(change.added + change.removed for change in changes) > MOST_LINES:
            return NoCase.MASS_EDIT
        ids = changed_functions(history, commit.parents[0], changes)
    except SecateurError as error:
        if isinstance(error, RepositoryError) and error.code == "GIT_TIMEOUT":
            raise
        return NoCase.UNREADABLE
    if not ids:
        return NoCase.NO_FUNCTION
    if len(ids) > MOST_FUNCTIONS:
        return NoCase.MASS_EDIT
    return MinedCase(commit.id, commit.time, commit.parents[0], query, ids)


def _skip_reason(commit: LoggedCommit, query: str, seen_queries: set[str]) -> NoCase | None:
    code = sum(is_code(path) for path in commit.paths)
    checks = (
        (len(commit.parents) > 1, NoCase.MERGE),
        (not commit.parents, NoCase.FIRST),
        (is_revert(commit.message), NoCase.REVERT),
        (is_release(commit.message), NoCase.RELEASE),
        (not code, NoCase.OTHER_FILES),
        (code > MOST_FILES or len(commit.paths) > MOST_PATHS, NoCase.MASS_EDIT),
        (not query, NoCase.SAYS_NOTHING),
        (_normalize(query) in seen_queries, NoCase.SAID_BEFORE),
    )
    return next((why for holds, why in checks if holds), None)


def changed_functions(history: RepositoryHistory, parent: str, changes: tuple[Change, ...]) -> tuple[str, ...]:
    """Returns the ids of a commit's functions, as of its parent, in which lines were changed or added."""
    old = {
        change.old_path: change
        for change in changes
        if change.treatment in (Treatment.MODIFIED, Treatment.RENAMED, Treatment.DELETED) and is_code(change.old_path)
    }
    ids: list[str] = []
    for path, data in history.contents(parent, list(old)).items() if old else ():
        if classify(path, data[:_HEAD_BYTES]) & _OTHER:
            continue
        fragments = parse_file(path, data).fragments
        touched = list(_touched_lines(old[path]))
        ids += [
            id_
            for id_, fragment in zip(symbol_ids(path, fragments), fragments, strict=True)
            if fragment.kind in _FUNCTIONS and any(_holds(fragment, *lines) for lines in touched)
        ]
    return tuple(ids)


def _touched_lines(change: Change) -> Iterator[tuple[int, int, bool]]:
    """Yields (first line, last line, whether text was only added after it) of each hunk, on the old side."""
    for patch in change.patches:
        for hunk in patch.hunks:
            first, count = hunk.old[0]
            yield first, first + max(count, 1) - 1, not count


def _holds(fragment: Fragment, first: int, last: int, inserted: bool) -> bool:
    end = fragment.line_end - 1 if inserted else fragment.line_end
    return first <= end and last >= fragment.line_start


def is_code(path: str) -> bool:
    """Tells whether a path is that of code, except tests, documents, examples, vendored and generated code."""
    return traits_of(language_of(path, b"")).grammar is not None and not classify(path, b"") & _OTHER


def _normalize(query: str) -> str:
    return " ".join(query.lower().split())
