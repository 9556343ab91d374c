"""Judged cases: scenarios with a `[judged]` table, written by a person or by `secateur mine`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from secateur import ErrorDetails, Kind, SecateurError, Shape

from secateur_lab.scenarios.location import SAMPLE, find_scenarios, root_of
from secateur_lab.scenarios.running import check_scenario_inputs
from secateur_lab.scenarios.scenario import PartName, Scenario, read_scenario

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
