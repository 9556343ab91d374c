"""Judged cases: scenarios with a `[judged]` table, written by a person or by `secateur mine`.

Mines judged cases from the history of a repository: a commit's message as query, the functions it changed as answer.

    history = RepositoryHistory.open(Path("flask"), settings)
    mined = mine(history, most=100)
    mined.cases     # the newest, sorted by time: a message, the parent, the ids of the functions in the parent's index
    mined.left_out  # how many commits were skipped, by reason

A case is asked at the parent, so its own message is not in the searched history. Older cases are for fitting weights
(`training`), newer ones for reporting (`held_out`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from secateur import (
    ErrorDetails,
    HistoryCommit,
    Kind,
    Progress,
    RepositoryError,
    RepositoryHistory,
    SecateurError,
    Shape,
    unreported,
)

from secateur_lab.scenarios.location import SAMPLE, find_scenarios, root_of
from secateur_lab.scenarios.running import check_scenario_inputs
from secateur_lab.scenarios.scenario import FORMAT, PartName, Scenario, read_scenario

# A set of cases: one part, or all. A case without a part belongs to every set.
CaseSet = Literal["held_out", "training", "all"]

NOT_A_CASE = "CASE"  # code of the error about a scenario that cannot be measured


@dataclass(frozen=True)
class JudgedCase:
    """One query with its judgements.

    case = read_case(Path("cases/0001-ab12cd34ef.scenario.toml"))
    case.judged     # {"shop/money.py::Money.round": 3}
    """

    path: Path
    name: str  # for reports
    repository: str  # for reports; cases of one repository are resampled together
    root: Path  # its paths are relative to this
    scenario: Scenario

    @property
    def about(self) -> str:
        """The text beside its name in a report: the scenario's own description, or else its query."""
        return self.scenario.about or " ".join(str(self.scenario.input.get("query", "")).split())

    @property
    def part(self) -> PartName:
        """Its part: "training", "held_out", or "" for neither."""
        return self.scenario.part

    @property
    def judged(self) -> Mapping[str, int]:
        """Grade by id."""
        return self.scenario.judged

    @cached_property
    def asked(self) -> tuple[Kind[Any, Any], dict[str, Any]]:
        """The kind and its inputs; raises SecateurError if they are wrong."""
        return check_scenario_inputs(self.scenario, self.root)

    def closed(self) -> JudgedCase:
        """Returns the same case without cached values."""
        return replace(self)


class LeftOutShape(Shape, frozen=True):
    """One case that cannot be measured."""

    case: str
    error: ErrorDetails


@dataclass(frozen=True)
class LeftOut:
    """A case that cannot be measured, and why."""

    name: str
    error: SecateurError


def read_case(path: Path, base: Path | None = None, *, unjudged: bool = False) -> JudgedCase | None:
    """Reads the case of a scenario's file; None if no grade is above 0.

    Args:
        base: the folder that was named; its name and that of its repository are relative to it.
        unjudged: a scenario without a grade is a case too.

    Raises:
        SecateurError: like `read_scenario`.
    """
    scenario = read_scenario(path)
    if not unjudged and not any(grade > 0 for grade in scenario.judged.values()):
        return None
    root = root_of(path)
    return JudgedCase(path, _below(path, base), _repository(scenario, root, base), root, scenario)


def read_cases(paths: Sequence[Path], *, unjudged: bool = False) -> tuple[list[JudgedCase], list[LeftOut]]:
    """Reads the cases below some folders, in the order of their paths. Returns them and those that cannot be read.
    `unjudged`: see `read_case`. Raises RepositoryError: a folder cannot be read."""
    cases: dict[Path, JudgedCase] = {}
    wrong: list[LeftOut] = []
    for base in paths:
        for path in find_scenarios([base]):
            try:
                case = read_case(path, base, unjudged=unjudged)
            except SecateurError as error:
                wrong.append(LeftOut(_below(path, base), error))
                continue
            if case is not None:
                cases.setdefault(path.resolve(), case)
    return list(cases.values()), wrong


def select_set(cases: Iterable[JudgedCase], wanted: CaseSet) -> list[JudgedCase]:
    """Selects the cases of a set; see `CaseSet`."""
    return [case for case in cases if wanted == "all" or case.part in ("", wanted)]


def _below(path: Path, base: Path | None) -> str:
    if base is None or not path.is_relative_to(base) or path == base:
        return path.as_posix()
    return path.relative_to(base).as_posix()


def _repository(scenario: Scenario, root: Path, base: Path | None) -> str:
    path = str(scenario.input.get("path", ""))
    if path.startswith(SAMPLE):
        return path
    start = base.resolve() if base is not None else root
    return root.relative_to(start).as_posix() if root.is_relative_to(start) and root != start else root.name


MOST_CASES = 100  # cases that are mined by default: enough for intervals of about a tenth
MOST_COMMITS = 20_000  # most commits that are examined, newest first
MOST_FILES = 8  # most code files in a commit; with more it is a mass edit, about which its message says little
MOST_PATHS = 40  # most files of any kind in a commit
MOST_FUNCTIONS = 10
MOST_LINES = 300  # most functions and lines of code that a commit may change
TRAINING_SHARE = 0.6  # share of the oldest cases; the rest still gives useful intervals
GRADE = 3  # grade of a function that the commit changed


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
    for commit in history.commits(rev, MOST_COMMITS):
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


def build_case(history: RepositoryHistory, commit: HistoryCommit, seen_queries: set[str]) -> MinedCase | NoCase:
    """Builds a case from a commit, or returns why it is skipped. Cheap checks run first."""
    query = history.query(commit)
    code = sum(RepositoryHistory.is_code(path) for path in commit.paths)
    checks = (
        (len(commit.parents) > 1, NoCase.MERGE),
        (not commit.parents, NoCase.FIRST),
        (RepositoryHistory.reverts(commit.message), NoCase.REVERT),
        (RepositoryHistory.changes_version(commit.message), NoCase.RELEASE),
        (not code, NoCase.OTHER_FILES),
        (code > MOST_FILES or len(commit.paths) > MOST_PATHS, NoCase.MASS_EDIT),
        (not query, NoCase.SAYS_NOTHING),
        (_normalize(query) in seen_queries, NoCase.SAID_BEFORE),
    )
    if (why := next((why for holds, why in checks if holds), None)) is not None:
        return why
    try:
        changes = history.changes(commit)
        if sum(change.added + change.removed for change in changes) > MOST_LINES:
            return NoCase.MASS_EDIT
        ids = history.changed_functions(commit.parents[0], changes)
    except SecateurError as error:
        if isinstance(error, RepositoryError) and error.code == "GIT_TIMEOUT":
            raise
        return NoCase.UNREADABLE
    if not ids:
        return NoCase.NO_FUNCTION
    if len(ids) > MOST_FUNCTIONS:
        return NoCase.MASS_EDIT
    return MinedCase(commit.id, commit.time, commit.parents[0], query, ids)


def _normalize(query: str) -> str:
    return " ".join(query.lower().split())
