"""Measures cases under settings: reads a case's input once, retrieves once per set of weights, decides per budget.

    with open_measurer(os.environ) as opened:
        settings = opened.settings(case, Choice("recommended"))
        figures = opened.measure(case, settings)

Cases of one repository share an index, which moves from commit to commit; cases in the order of their commits are
fastest. Retrievals are cached per case, so measure one case under all settings before the next. The user's cache is
used, and their configuration only as far as the call names it.

Measures judged cases under several profiles and budgets, and each profile without each of its weights.

    plan = plan_of([Choice("spec"), Choice("recommended")], budgets=(4000, 8000))
    for measured in measure_with(1, cases, plan, os.environ): ...

A case that cannot be measured does not stop the others. In several processes, one case of each repository is measured
first: it brings the index up to date while the others wait.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Hashable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import secateur
from msgspec import UNSET, Meta, UnsetType, structs
from secateur import Executor, SecateurError, Shape, keep_open, lookup, spread_tasks, with_values

from secateur_lab.evaluation.cases import NOT_A_CASE, JudgedCase, LeftOut
from secateur_lab.evaluation.metrics import Figures, figures_of
from secateur_lab.scenarios.running import Session
from secateur_lab.scenarios.scenario import PartName

MOST_READINGS = 8  # retrievals of a case that are kept: one per profile, while weights of the priority change

# Tables of a case's own settings that apply: they define what can be found. The choice supplies all other settings.
READ_TABLES = ("index", "tokens")


@dataclass(frozen=True)
class Choice:
    """Settings to measure: a profile, and keys on top of it."""

    profile: str | None = None  # None: the profile of the files, or the default
    changes: Mapping[str, Any] = field(default_factory=dict)  # value by dotted key
    sources: secateur.SettingsSources = field(default_factory=secateur.SettingsSources)  # everything else

    def load(self, root: Path | None, own: Mapping[str, Any] = MappingProxyType({})) -> secateur.Loaded:
        """Returns the settings for a folder; `own` is the table of a case, which wins. Raises ConfigError."""
        return structs.replace(self.sources, profile=self.profile).over("[settings]", own).load(root)

    def carried(self) -> Choice:
        """Returns the choice for a process that may not have the user's files; see `SettingsSources.carried`."""
        return replace(self, sources=self.sources.carried())


@dataclass
class Measurer:
    """See the module docstring."""

    environ: Mapping[str, str]
    progress: secateur.Progress = secateur.unreported
    _session: Session | None = None
    _case: JudgedCase | None = None
    _readings: dict[Hashable, Any] = field(default_factory=dict)

    def settings(self, case: JudgedCase, choice: Choice) -> secateur.Settings:
        """Returns the settings of a choice for the repository of a case; raises SecateurError."""
        kind, inputs = case.asked
        own = {name: case.scenario.settings[name] for name in READ_TABLES if name in case.scenario.settings}

        def loading(root: Path | None, committed: object) -> secateur.Loaded:
            return choice.load(root if committed is None else None, own)

        settings = kind.load(inputs, loading, self._environment(case)).settings
        settings = secateur.with_values(settings, dict(choice.changes)) if choice.changes else settings
        return structs.replace(settings, llm=structs.replace(settings.llm, enabled=False))

    def read(self, case: JudgedCase, settings: secateur.Settings) -> Any:
        """Reads a case's input. The caller may decide on it repeatedly and must release it. Raises SecateurError: like
        `measure`."""
        kind, inputs = case.asked
        self._open(case)
        self._case = case
        material = kind.read(inputs, settings, self._environment(case).redacting(settings))
        try:
            _check_judged(case, kind, secateur.answer_of(kind, material, inputs, settings, progress=self.progress))
        except BaseException:
            secateur.Kind.release(material)
            raise
        return material

    def measure(self, case: JudgedCase, settings: secateur.Settings) -> Figures:
        """Measures a case. Raises SecateurError: its input cannot be read, or it judges an item that does not exist."""
        figures = figures_of(self.outcome(case, settings)[1], case.judged)
        assert figures is not None  # `read_case` returns no case without grades
        return figures

    def outcome(
        self, case: JudgedCase, settings: secateur.Settings
    ) -> tuple[secateur.Kind[Any, Any], secateur.Outcome[Any]]:
        """Returns the decision that `measure` uses, valid until the next call. Raises like `measure`."""
        kind, inputs = case.asked
        is_new = case is not self._case
        if is_new:
            self._forget()
            self._open(case)
        key = kind.reading_of(inputs, settings)
        if key not in self._readings:
            self._forget(keep=MOST_READINGS - 1)
            self._readings[key] = kind.read(inputs, settings, self._environment(case).redacting(settings))
        outcome = secateur.answer_of(kind, self._readings[key], inputs, settings, progress=self.progress)
        if is_new:
            _check_judged(case, kind, outcome)
            self._case = case
        return kind, outcome

    def close(self) -> None:
        """Closes everything that was opened."""
        self._forget()
        if self._session is not None:
            self._session.close()
            self._session = None

    def _environment(self, case: JudgedCase) -> secateur.Environment:
        if self._session is None:
            self._session = Session(self.environ, self.progress)
        return structs.replace(self._session.environment(case.root), moving=True, found={})

    def _open(self, case: JudgedCase) -> None:
        if self._case is not None and (self._case.root, self._case.repository) != (case.root, case.repository):
            self.close()
        self._case = None

    def _forget(self, keep: int = 0) -> None:
        while len(self._readings) > keep:
            secateur.Kind.release(self._readings.pop(next(iter(self._readings))))


def open_measurer(environ: Mapping[str, str], progress: secateur.Progress = secateur.unreported) -> closing[Measurer]:
    """Opens a measurer that is closed at the end."""
    return closing(Measurer(environ, progress))


def _check_judged(case: JudgedCase, kind: secateur.Kind[Any, Any], outcome: secateur.Outcome[Any]) -> None:
    if missing := kind.unknown(outcome, [id_ for id_, grade in case.judged.items() if grade > 0]):
        more = f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""
        raise secateur.SecateurError(
            f"no item is called {missing[0]}{more}",
            hint="correct the ids below [judged]; `secateur search --explain` shows those of every candidate",
            code=NOT_A_CASE,
        )


BUDGETS = (4_000, 8_000, 16_000)  # budgets in tokens that are measured by default


@dataclass(frozen=True)
class EvaluationPlan:
    """The measurements of every case: profiles, budgets, and whether weights are left out."""

    choices: Sequence[Choice]  # each with its own name
    names: Sequence[str]  # of the choices
    budgets: Sequence[int] = BUDGETS
    ablate: bool = False


class MeasuredShape(Shape, frozen=True, kw_only=True):
    """One case that was measured."""

    case: str
    repository: str
    about: str
    part: PartName | UnsetType = UNSET
    figures: Annotated[dict[str, dict[str, Figures]], Meta(description="By profile and budget.")]


@dataclass(frozen=True)
class MeasuredCase:
    """The figures of one case."""

    case: JudgedCase
    figures: Mapping[tuple[str, int], Figures]  # by name of the choice and budget
    without: Mapping[tuple[str, str, int], Figures] = field(default_factory=dict)  # by name, weight and budget

    def shape(self) -> MeasuredShape:
        """Returns the case in JSON."""
        case, figures = self.case, dict[str, dict[str, Figures]]()
        for (name, budget), values in self.figures.items():
            figures.setdefault(name, {})[str(budget)] = values.rounded()
        return MeasuredShape(
            case=case.name, repository=case.repository, about=case.about, part=case.part or UNSET, figures=figures
        )


def measure_case(case: JudgedCase, plan: EvaluationPlan, opened: Measurer) -> MeasuredCase | LeftOut:
    """Returns the figures of one case for everything in the plan."""
    figures: dict[tuple[str, int], Figures] = {}
    without: dict[tuple[str, str, int], Figures] = {}
    try:
        for name, choice in zip(plan.names, plan.choices, strict=True):
            settings = opened.settings(case, choice)
            kind, _ = case.asked
            weights = kind.weights() if plan.ablate else []
            for key in (None, *(weight for weight in weights if lookup(settings, weight))):
                tried = settings if key is None else with_values(settings, {key: 0.0})
                for budget in plan.budgets:
                    values = opened.measure(case, kind.budget.put(tried, budget))
                    if key is None:
                        figures[name, budget] = values
                    else:
                        without[name, key, budget] = values
    except SecateurError as error:
        return LeftOut(case.name, error)
    return MeasuredCase(case, figures, without)


def make_plan(choices: Sequence[Choice], budgets: Sequence[int] = (), *, ablate: bool = False) -> EvaluationPlan:
    """Returns a plan of choices named by their profiles; the second one with a name gets `#2`."""
    names: list[str] = []
    for choice in choices:
        name = choice.profile or "settings"
        times = sum(other.partition("#")[0] == name for other in names)
        names.append(f"{name}#{times + 1}" if times else name)
    return EvaluationPlan(tuple(choices), tuple(names), tuple(dict.fromkeys(budgets)) or BUDGETS, ablate)


def measure_with(
    jobs: int | Executor, cases: Sequence[JudgedCase], plan: EvaluationPlan, environ: Mapping[str, str]
) -> Generator[MeasuredCase | LeftOut]:
    """Yields the figures of each case as they are measured. `jobs`: processes of this machine, or an executor."""
    carried = replace(plan, choices=[choice.carried() for choice in plan.choices])
    tasks, homes = [(case.closed(), carried) for case in cases], [str(case.root) for case in cases]
    with spread_tasks(_measure, tasks, homes, jobs, environ) as outcomes:
        if outcomes is None:
            with open_measurer(environ) as opened:
                yield from (measure_case(case, plan, opened) for case in cases)
            return
        for index, outcome in outcomes:
            yield LeftOut(cases[index].name, outcome.error) if outcome.error is not None else outcome.got()


def _measure(task: tuple[JudgedCase, EvaluationPlan]) -> MeasuredCase:
    case, plan = task
    measured = measure_case(case, plan, keep_open("measurer", None, lambda: Measurer(os.environ)))
    if isinstance(measured, LeftOut):
        raise measured.error
    return MeasuredCase(case.closed(), measured.figures, measured.without)
