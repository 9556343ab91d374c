"""Cases for `tune`: read from folders or drawn from a history, split by time, rehearsed.

Cases of a folder keep the part they name. Judged cases that name none are dealt out by a hash of what they ask, so that
the same case is always of the same part, whoever else is there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from secateur.errors import RepositoryError, SecateurError, UsageError
from secateur.evaluation.cases import JudgedCase, LeftOut, read_cases
from secateur.evaluation.measuring import Choice, Measurer
from secateur.evaluation.mining import MOST_CASES, TRAINING_SHARE, Mined, mine, opened_history
from secateur.evaluation.tuning import RehearsedCase
from secateur.kinds.base import Kind
from secateur.progress import Progress, unreported
from secateur.scenarios.scenario import SUFFIX
from secateur.settings import Settings, lookup, with_values
from secateur.sources.git import Git


@dataclass
class CaseSplit:
    """Cases by part, in the order of repository and time."""

    training: list[JudgedCase] = field(default_factory=list)
    held_out: list[JudgedCase] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)

    def add(self, case: JudgedCase) -> None:
        """Puts a case into its part."""
        part = case.part or ("training" if _share(case) < TRAINING_SHARE else "held_out")
        (self.training if part == "training" else self.held_out).append(case)


def cases_of(folders: Sequence[tuple[str, Path]], settings: Settings, progress: Progress = unreported) -> CaseSplit:
    """The cases of folders: those that lie in one, else those that the history of its repository has.

    Args:
        folders: each with the name that it was called by.
        settings: say how a history is read.

    Raises:
        RepositoryError: a folder holds no cases, and has no history.
    """
    split = CaseSplit()
    for name, folder in folders:
        found, wrong = read_cases([folder])
        split.left_out += wrong
        for case in found or mined_cases(name, folder, settings, progress):
            split.add(case)
    return split


def mined_cases(name: str, folder: Path, settings: Settings, progress: Progress = unreported) -> list[JudgedCase]:
    """The cases that a history has; nothing is written. Raises RepositoryError: there is none."""
    history = opened_history(folder, settings)
    called = name if name.startswith("sample:") else history.root.name
    mined = mine(history, MOST_CASES, progress=progress, into=Mined())
    return [
        JudgedCase(
            history.root / f"{case.commit[:10]}{SUFFIX}", case.commit[:10], called, history.root, case.scenario(".")
        )
        for case in mined.cases
    ]


def kind_of(cases: Sequence[JudgedCase]) -> Kind[Any, Any]:
    """The kind of context that all cases are of.

    Raises:
        UsageError: they are of several.
        SecateurError: an input of the first is wrong.
    """
    names = sorted({case.scenario.kind for case in cases})
    if len(names) > 1:
        raise UsageError(f"the cases are of several kinds: {', '.join(names)}", hint="tune on cases of one kind")
    return cases[0].asked[0]


def rehearsed(
    cases: Sequence[JudgedCase], choice: Choice, opened: Measurer, budget: int, progress: Progress = unreported
) -> Iterator[RehearsedCase | LeftOut]:
    """Each case as a fit decides it again and again; one that cannot be read costs itself."""
    for number, case in enumerate(cases):
        progress("reading", number, len(cases))
        try:
            kind, inputs = case.asked
            settings = probing(kind, inputs, kind.budget.put(opened.settings(case, choice), budget))
            _, outcome = opened.outcome(case, settings)
        except SecateurError as error:
            yield LeftOut(case.name, error)
            continue
        yield RehearsedCase(case.name, case.repository, case.judged, kind.rehearsal(outcome, list(case.judged)))


def probing(kind: Kind[Any, Any], inputs: Mapping[str, Any], settings: Settings) -> Settings:
    """The settings with a little of every weight that is 0 and shows only in what is read: without it nothing could be
    said about more of it."""
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
    """The days of the first and the last commit that cases are asked at; None where no case names one."""
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
    """A number from 0 to 1 that depends on nothing but what is asked."""
    asked = "\0".join(f"{name}={value}" for name, value in sorted(case.scenario.input.items()))
    return int.from_bytes(sha256(asked.encode("utf-8", "surrogatepass")).digest()[:4], "big") / (1 << 32)
