"""The steps of `tune`: rehearse the training cases, fit, measure the held-out cases before and after.

    run = TuningRun(split, Choice("recommended"), environ=os.environ)
    run.carry_out()
    run.result().verdict

Results are stored in the run, so that an interruption keeps what was measured until then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from msgspec import structs
from secateur import Executor, Kind, Progress, SecateurError, UsageError, unreported

from secateur_lab.evaluation.cases import JudgedCase, LeftOut
from secateur_lab.evaluation.evaluation import BUDGETS, EvaluationPlan, MeasuredCase
from secateur_lab.evaluation.jobs import measure_with
from secateur_lab.evaluation.measuring import Choice, open_measurer
from secateur_lab.evaluation.tuned_profile import FITTED, START, Tuned
from secateur_lab.evaluation.tuning import SEED, Fit, Fitter, RehearsedCase
from secateur_lab.evaluation.tuning_cases import CaseSplit, dates_of, kind_of, rehearse_cases

NO_CASES = "NO_CASES"


@dataclass
class TuningRun:
    """See the module docstring."""

    split: CaseSplit
    choice: Choice
    environ: Mapping[str, str]
    name: str = "tuned"
    budgets: Sequence[int] = BUDGETS
    seed: int = SEED
    jobs: int | Executor = 1  # see `measure_with`
    progress: Progress = unreported
    fitter: Fitter | None = None
    fit: Fit | None = None
    held_out: list[MeasuredCase] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    complete: bool = False  # all held-out cases were measured

    @cached_property
    def kind(self) -> Kind[Any, Any]:
        """The kind of all cases.

        Raises:
            UsageError: there are several kinds, or the kind has nothing to tune.
        """
        kind = kind_of([*self.split.training, *self.split.held_out])
        if not kind.weights():
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
            dates={"training": dates_of(self.split.training), "held_out": dates_of(self.split.held_out)},
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
        return Fitter(kind, start, cases, self.budgets, self.seed, self.progress)

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
