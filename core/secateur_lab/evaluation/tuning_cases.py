"""Cases for `tune`: read from folders or mined from a history, split by time, rehearsed.

Cases of a folder keep their part. Judged cases without a part are assigned by a hash of their question, so that a case
always gets the same part, whatever the other cases are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from secateur import (
    Git,
    Kind,
    Progress,
    RepositoryError,
    RepositoryHistory,
    SecateurError,
    Settings,
    UsageError,
    lookup,
    unreported,
    with_values,
)

from secateur_lab.evaluation.cases import JudgedCase, LeftOut, read_cases
from secateur_lab.evaluation.measuring import Choice, Measurer
from secateur_lab.evaluation.mining import MOST_CASES, TRAINING_SHARE, Mined, mine
from secateur_lab.evaluation.tuning import RehearsedCase
from secateur_lab.scenarios.scenario import SUFFIX


@dataclass
class CaseSplit:
    """Cases by part, sorted by repository and time."""

    training: list[JudgedCase] = field(default_factory=list)
    held_out: list[JudgedCase] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)

    def add(self, case: JudgedCase) -> None:
        """Puts a case into its part."""
        part = case.part or ("training" if _share(case) < TRAINING_SHARE else "held_out")
        (self.training if part == "training" else self.held_out).append(case)


def collect_cases(
    folders: Sequence[tuple[str, Path]], settings: Settings, progress: Progress = unreported
) -> CaseSplit:
    """Collects the cases of folders: the cases in a folder, or else those mined from the history of its repository.

    Args:
        folders: each with its name.
        settings: for reading a history.

    Raises:
        RepositoryError: a folder holds no cases and has no history.
    """
    split = CaseSplit()
    for name, folder in folders:
        cases, wrong = read_cases([folder])
        split.left_out += wrong
        for case in cases or mine_cases(name, folder, settings, progress):
            split.add(case)
    return split


def mine_cases(name: str, folder: Path, settings: Settings, progress: Progress = unreported) -> list[JudgedCase]:
    """Mines the cases of a history; writes nothing. Raises RepositoryError if there is no history."""
    history = RepositoryHistory.open(folder, settings)
    called = name if name.startswith("sample:") else history.root.name
    mined = mine(history, MOST_CASES, progress=progress, into=Mined())
    return [
        JudgedCase(
            history.root / f"{case.commit[:10]}{SUFFIX}", case.commit[:10], called, history.root, case.scenario(".")
        )
        for case in mined.cases
    ]


def kind_of(cases: Sequence[JudgedCase]) -> Kind[Any, Any]:
    """Returns the kind of context of all cases.

    Raises:
        UsageError: there are several kinds.
        SecateurError: an input of the first is wrong.
    """
    names = sorted({case.scenario.kind for case in cases})
    if len(names) > 1:
        raise UsageError(f"the cases have several kinds: {', '.join(names)}", hint="tune on cases of one kind")
    return cases[0].asked[0]


def rehearse_cases(
    cases: Sequence[JudgedCase], choice: Choice, opened: Measurer, budget: int, progress: Progress = unreported
) -> Iterator[RehearsedCase | LeftOut]:
    """Yields each case in a form that can be decided repeatedly, or the error if it cannot be read."""
    for index, case in enumerate(cases):
        progress("reading", index, len(cases))
        try:
            kind, inputs = case.asked
            settings = probing_settings(kind, inputs, kind.budget.put(opened.settings(case, choice), budget))
            _, outcome = opened.outcome(case, settings)
        except SecateurError as error:
            yield LeftOut(case.name, error)
            continue
        yield RehearsedCase(case.name, case.repository, case.judged, kind.rehearsal(outcome, list(case.judged)))


def probing_settings(kind: Kind[Any, Any], inputs: Mapping[str, Any], settings: Settings) -> Settings:
    """Returns the settings with a small value for every weight that is 0 and affects reading: with 0, the effect of
    larger values could not be measured."""
    little = {
        key: min(value for value in grid if not isinstance(value, str) and value > 0)
        for key, grid in kind.tunable(settings).items()
        if not isinstance(grid[0], str) and not lookup(settings, key)
    }
    before = kind.reading_of(inputs, settings)
    needed = {
        key: value
        for key, value in little.items()
        if kind.reading_of(inputs, with_values(settings, {key: value})) != before
    }
    return with_values(settings, needed) if needed else settings


def dates_of(cases: Sequence[JudgedCase]) -> tuple[str, str] | None:
    """Returns the days of the first and the last commit of the cases; None if no case has a commit."""
    times = []
    for case in cases:
        rev = case.scenario.input.get("rev")
        git = Git.discover(case.root)
        if rev and isinstance(git, Git):
            with suppress(RepositoryError):
                times.append(git.commit_time(git.resolve(str(rev))))
    days = [datetime.fromtimestamp(time, UTC).date().isoformat() for time in sorted(times)]
    return (days[0], days[-1]) if days else None


def _share(case: JudgedCase) -> float:
    """Returns a number from 0 to 1 that depends only on the question."""
    asked = "\0".join(f"{name}={value}" for name, value in sorted(case.scenario.input.items()))
    return int.from_bytes(sha256(asked.encode("utf-8", "surrogatepass")).digest()[:4], "big") / (1 << 32)
