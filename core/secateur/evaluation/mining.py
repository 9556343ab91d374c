"""Judged cases from the history of a repository: what a commit says -> the functions it changed, asked at its parent.

    history = opened_history(Path("flask"), settings)
    mined = mine(history, most=100)
    mined.cases     # the newest, oldest first: a message, the parent, the ids that the index there gives the functions
    mined.left_out  # how many commits were no cases, by reason

The commit's own message is no part of what is searched: the index of the parent knows the history up to there. The
older cases are for fitting weights (`training`), the newer ones for reporting (`held_out`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from secateur.errors import RepositoryError, SecateurError, shown
from secateur.evaluation.commit_messages import is_release, is_revert, query_of
from secateur.index.facts.snapshot import symbol_ids
from secateur.kinds.diff.changes import Change, Treatment
from secateur.kinds.diff.diff_parser import parse_diff
from secateur.languages import traits_of
from secateur.languages.syntax.file_flags import UNINDEXED, classify
from secateur.languages.syntax.fragments import language_of, parse_file
from secateur.model import Fragment, FragmentKind
from secateur.progress import Progress, unreported
from secateur.redaction import redact_typed
from secateur.scenarios.scenario import FORMAT, PartName, Scenario
from secateur.settings import Settings
from secateur.sources.git import Git
from secateur.sources.git_log import LoggedCommit
from secateur.sources.location import NoGit
from secateur.sources.open import SourceOpener, open_source

MOST_CASES = 100
"""Cases that are drawn where no number is named: enough for intervals of about a tenth."""

MOST_COMMITS = 20_000
"""Commits that are looked at, the newest."""

MOST_FILES = 8
"""Files of code that a commit may change; of more it is a mass edit, about which a message says little."""

MOST_PATHS = 40
"""Files of any kind that a commit may change."""

MOST_FUNCTIONS = 10
MOST_LINES = 300
"""Functions and lines of code that a commit may change."""

TRAINING_SHARE = 0.6
"""Of the cases, the oldest: what is left still has intervals of some use."""

GRADE = 3
"""Of a function that the commit changed."""

_HEAD_BYTES = 65_536
_OTHER = frozenset({"test", "documentation", "example", "vendored", "generated"}) | UNINDEXED
_FUNCTIONS = (FragmentKind.FUNCTION, FragmentKind.METHOD)


class NoCase(StrEnum):
    """The reasons for which a commit is no case."""

    MERGE = "merges"
    FIRST = "first commits, which have no parent"
    REVERT = "reverts"
    RELEASE = "changes of versions"
    MASS_EDIT = "mass edits"
    OTHER_FILES = "change no code, or tests and documents alone"
    SAYS_NOTHING = "messages that say nothing to look for"
    NO_FUNCTION = "change no function that was there before"
    SAID_BEFORE = "say what a newer case says"
    UNREADABLE = "cannot be read"


@dataclass(frozen=True, slots=True)
class MinedCase:
    """A commit that is a case."""

    commit: str
    time: int  # committer date
    parent: str
    query: str
    ids: tuple[str, ...]  # of the functions it changed, as the parent's index names them
    part: PartName = ""

    @property
    def subject(self) -> str:
        """The first line of the query."""
        return self.query.partition("\n")[0]

    def scenario(self, path: str) -> Scenario:
        """The case as a scenario whose repository lies at `path` from the root that holds it."""
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
    """Cases, and what became of the other commits; filled while it is looked for them."""

    looked_at: int = 0
    left_out: Counter[NoCase] = field(default_factory=Counter)
    found: list[MinedCase] = field(default_factory=list)  # the newest first

    @property
    def cases(self) -> list[MinedCase]:
        """The cases by time, with their parts."""
        ordered = sorted(self.found, key=lambda case: (case.time, case.commit))
        training = round(TRAINING_SHARE * len(ordered))
        return [
            replace(case, part="training" if number < training else "held_out") for number, case in enumerate(ordered)
        ]


@dataclass(frozen=True)
class RepositoryHistory:
    """A repository whose commits are looked at."""

    git: Git
    root: Path
    settings: Settings

    def commits(self, rev: str) -> Iterator[LoggedCommit]:
        """The newest commits up to a revision; raises RepositoryError."""
        return self.git.log(self.git.resolve(rev), limit=MOST_COMMITS)

    def changes(self, commit: LoggedCommit) -> tuple[Change, ...]:
        """The changes of a commit to its files of code. Raises SecateurError."""
        paths = [path for path in commit.paths if is_code(path)]
        return parse_diff(self.git.diff(commit.parents[0], commit.id, context=0, paths=paths)).changes

    def contents(self, commit: str, paths: list[str]) -> Mapping[str, bytes]:
        """The files of a commit as its index reads them; one that it does not index is missing."""
        source = SourceOpener(self.root, commit, self.settings.index)()
        return {path: data for path, data in source.read(paths) if data is not None}


def opened_history(path: Path, settings: Settings) -> RepositoryHistory:
    """The history of the repository that holds a folder.

    Raises:
        RepositoryError: it has none, or it may not be read.
    """
    try:
        source = open_source(path, "HEAD", trust=settings.index.trust_git_dir)
    except RepositoryError as error:
        if error.code not in NoGit.__members__:
            raise
        said = f"{shown(path)} has no history to draw cases from: {NoGit[error.code].value}"
        raise RepositoryError(said, hint="name a folder of a git repository", code=error.code) from error
    git = Git.discover(source.root or path, trust=settings.index.trust_git_dir)
    assert isinstance(git, Git)  # or the source could not have been opened
    return RepositoryHistory(git, git.root, settings)


def mine(
    history: RepositoryHistory,
    most: int = MOST_CASES,
    rev: str = "HEAD",
    progress: Progress = unreported,
    into: Mined | None = None,
) -> Mined:
    """The newest commits that are cases. The same repository gives the same cases.

    Args:
        most: cases.
        into: is filled, so that an interruption keeps what was found.

    Raises:
        RepositoryError: the history cannot be read.
    """
    mined = Mined() if into is None else into
    said: set[str] = set()
    for commit in history.commits(rev):
        if len(mined.found) >= most:
            break
        progress("mining", len(mined.found), most)
        mined.looked_at += 1
        case = mined_case(history, commit, said)
        if isinstance(case, NoCase):
            mined.left_out[case] += 1
        else:
            said.add(_same(case.query))
            mined.found.append(case)
    return mined


def mined_case(history: RepositoryHistory, commit: LoggedCommit, said: set[str]) -> MinedCase | NoCase:
    """The case of a commit, or why it is none. What costs nothing is asked first."""
    query = redact_typed(query_of(commit.message), history.settings.redaction)
    why = _refused(commit, query, said)
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


def _refused(commit: LoggedCommit, query: str, said: set[str]) -> NoCase | None:
    code = sum(is_code(path) for path in commit.paths)
    checks = (
        (len(commit.parents) > 1, NoCase.MERGE),
        (not commit.parents, NoCase.FIRST),
        (is_revert(commit.message), NoCase.REVERT),
        (is_release(commit.message), NoCase.RELEASE),
        (not code, NoCase.OTHER_FILES),
        (code > MOST_FILES or len(commit.paths) > MOST_PATHS, NoCase.MASS_EDIT),
        (not query, NoCase.SAYS_NOTHING),
        (_same(query) in said, NoCase.SAID_BEFORE),
    )
    return next((why for holds, why in checks if holds), None)


def changed_functions(history: RepositoryHistory, parent: str, changes: tuple[Change, ...]) -> tuple[str, ...]:
    """Ids of the functions of a commit's parent whose lines are changed, or between whose lines something is put."""
    old = {
        change.old_path: change
        for change in changes
        if change.treatment in (Treatment.MODIFIED, Treatment.RENAMED, Treatment.DELETED) and is_code(change.old_path)
    }
    found: list[str] = []
    for path, data in history.contents(parent, list(old)).items() if old else ():
        if classify(path, data[:_HEAD_BYTES]) & _OTHER:
            continue
        fragments = parse_file(path, data).fragments
        touched = list(_touched(old[path]))
        found += [
            id_
            for id_, fragment in zip(symbol_ids(path, fragments), fragments, strict=True)
            if fragment.kind in _FUNCTIONS and any(_holds(fragment, *lines) for lines in touched)
        ]
    return tuple(found)


def _touched(change: Change) -> Iterator[tuple[int, int, bool]]:
    """(first line, last line, whether something is only put in behind it) of each hunk, on the old side."""
    for patch in change.patches:
        for hunk in patch.hunks:
            first, count = hunk.old[0]
            yield first, first + max(count, 1) - 1, not count


def _holds(fragment: Fragment, first: int, last: int, inserted: bool) -> bool:
    end = fragment.line_end - 1 if inserted else fragment.line_end
    return first <= end and last >= fragment.line_start


def is_code(path: str) -> bool:
    """Tells whether a path is that of code that is no test, document, example, and not others' or a program's."""
    return traits_of(language_of(path, b"")).grammar is not None and not classify(path, b"") & _OTHER


def _same(query: str) -> str:
    return " ".join(query.lower().split())
