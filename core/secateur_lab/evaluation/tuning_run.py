"""The steps of `tune`: rehearse the training cases, fit, measure the held-out cases before and after.

    run = TuningRun(split, Choice("recommended"), environ=os.environ)
    run.carry_out()
    run.result().verdict

Results are stored in the run, so that an interruption keeps what was measured until then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from msgspec import structs
from secateur import (
    Executor,
    Kind,
    Progress,
    RepositoryHistory,
    SecateurError,
    Settings,
    UsageError,
    unreported,
)

from secateur_lab.evaluation.cases import MOST_CASES, TRAINING_SHARE, JudgedCase, LeftOut, Mined, mine, read_cases
from secateur_lab.evaluation.measuring import (
    BUDGETS,
    Choice,
    EvaluationPlan,
    MeasuredCase,
    Measurer,
    measure_with,
    open_measurer,
)
from secateur_lab.evaluation.tuned_profile import FITTED, START, Fit, Fitter, RehearsedCase, Tuned
from secateur_lab.scenarios.scenario import SUFFIX

NO_CASES = "NO_CASES"


@dataclass
class TuningRun:
    """See the module docstring."""

    split: CaseSplit
    choice: Choice
    environ: Mapping[str, str]
    name: str = "tuned"
    budgets: Sequence[int] = BUDGETS
    jobs: int | Executor = 1  # see `measure_with`
    progress: Progress = unreported
    fitter: Fitter | None = None
    fit: Fit | None = None
    held_out: list[MeasuredCase] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    complete: bool = False  # all held-out cases were measured

    @cached_property
    def kind(self) -> Kind[Any, Any]:
        """The kind of all cases. Raises UsageError: there are several kinds, or the kind has nothing to tune."""
        kind = kind_of([*self.split.training, *self.split.held_out])
        if not kind.tunable(Settings()):
            raise UsageError(f"{kind.wording.title} has no weights to fit", hint="tune on cases of a search")
        return kind

    def carry_out(self) -> None:
        """Runs all steps. Raises SecateurError if no training case can be read."""
        self.left_out = list(self.split.left_out)
        self.fitter = self._rehearse()
        self.fit = self.fitter.fit()
        self._measure(self.fit)
        self.complete = True

    def result(self) -> Tuned:
        """Returns the fit with its measured effect, as far as it was measured."""
        assert self.fitter is not None
        assert self.fit is not None
        start = self.fitter.settings
        of = [item.case.repository for item in self.held_out] or [item.repository for item in self.split.held_out]
        return Tuned(
            base=start.profile,
            name=self.name,
            fit=self.fit,
            start=start,
            training=len(self.fitter.cases),
            held_out=sorted(self.held_out, key=lambda item: (item.case.repository, item.case.name)),
            repositories=[*(case.repository for case in self.fitter.cases), *of],
            budgets=tuple(self.budgets),
            left_out=len(self.left_out),
            interrupted=not self.complete,
        )

    def _rehearse(self) -> Fitter:
        kind, cases = self.kind, []
        with open_measurer(self.environ) as opened:
            for item in rehearse_cases(self.split.training, self.choice, opened, max(self.budgets), self.progress):
                if isinstance(item, RehearsedCase):
                    cases.append(item)
                else:
                    self.left_out.append(item)
            if not cases:
                why = self.left_out[-1].error
                raise SecateurError(f"no training case can be read: {why.message}", hint=why.hint, code=NO_CASES)
            readable = next(case for case in self.split.training if case.name == cases[0].name)
            start = structs.replace(opened.settings(readable, self.choice), budget=-1)
        return Fitter(kind, start, cases, self.budgets, self.progress)

    def _measure(self, fit: Fit) -> None:
        choices, names = [self.choice], [START]
        if fit.found:
            choices.append(replace(self.choice, changes={**self.choice.changes, **fit.values}))
            names.append(FITTED)
        plan = EvaluationPlan(choices, names, tuple(self.budgets))
        cases: Sequence[JudgedCase] = self.split.held_out
        self.progress("measuring", 0, len(cases))
        for count, measured in enumerate(measure_with(self.jobs, cases, plan, self.environ), 1):
            if isinstance(measured, LeftOut):
                self.left_out.append(measured)
            else:
                self.held_out.append(measured)
            self.progress("measuring", count, len(cases))


@dataclass
class CaseSplit:
    """Cases by part, sorted by repository and time."""

    training: list[JudgedCase] = field(default_factory=list)
    held_out: list[JudgedCase] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)

    def add(self, case: JudgedCase) -> None:
        """Puts a case into its part."""
        # a number from 0 to 1 that depends only on the question
        asked = "\0".join(f"{name}={value}" for name, value in sorted(case.scenario.input.items()))
        digest = sha256(asked.encode("utf-8", "surrogatepass")).digest()
        share = int.from_bytes(digest[:4], "big") / (1 << 32)
        part = case.part or ("training" if share < TRAINING_SHARE else "held_out")
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
    names = [case.commit[:10] for case in mined.cases]
    return [
        JudgedCase(history.root / f"{short}{SUFFIX}", short, called, history.root, case.scenario("."))
        for short, case in zip(names, mined.cases, strict=True)
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
            kind, _ = case.asked
            settings = kind.budget.put(opened.settings(case, choice), budget)
            _, outcome = opened.outcome(case, settings)
        except SecateurError as error:
            yield LeftOut(case.name, error)
            continue
        yield RehearsedCase(case.name, case.repository, case.judged, kind.rehearsal(outcome))
