"""The steps of `tune`: rehearse the training cases, fit, measure the held-out cases before and after.

    run = TuningRun(split, Choice("recommended"), environ=os.environ)
    run.carry_out()
    run.result().verdict

Results are stored in the run, so that an interruption keeps what was measured until then.

Fits the weights of a profile on judged cases, and guards against overfitting.

    fitter = Fitter(kind, settings, rehearsed, budgets)
    fit = fitter.fit()
    fit.values              # setting -> value, of those that changed
    fit.cross_validated     # its gain on training cases that it had not seen

A weight is changed only if it gains some recall; how much is chosen by cross-validation inside the training cases. If
no choice gains anything there, nothing is changed. Figures of the held-out cases are measured by the engine itself
(`evaluation.evaluation`), and never enter a fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import structs
from numpy.typing import NDArray
from secateur import (
    Executor,
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
from secateur_lab.evaluation.measuring import (
    BUDGETS,
    Choice,
    EvaluationPlan,
    MeasuredCase,
    Measurer,
    measure_with,
    open_measurer,
)
from secateur_lab.evaluation.metrics import Interval, figures, mean_of
from secateur_lab.evaluation.mining import MOST_CASES, TRAINING_SHARE, Mined, mine
from secateur_lab.evaluation.tuned_profile import FITTED, START, Tuned
from secateur_lab.scenarios.scenario import SUFFIX

SEED = 12  # Default seed of the restarts. Numbers of `RandomState` are the same in every version of numpy (NEP 19).
FOLDS = 4  # Parts of the training cases, each left out once. Neighbours in time stay together because they are alike.
PRICES = (0.01, 0.005, 0.002)  # recall that each changed weight must gain, the highest first: it wins ties
TIE_BREAK = 0.05  # weight of nDCG beside recall, which does not change while an order improves below the budget's edge


@dataclass(frozen=True)
class RehearsedCase:
    """A training case that can be decided repeatedly."""

    name: str
    repository: str
    judged: Mapping[str, int]
    rehearsal: Callable[[Settings], Sequence[tuple[str, bool]]]  # see `Kind.rehearsal`


@dataclass(frozen=True)
class Fit:
    """The result of a fit."""

    values: Mapping[str, Any]  # by key, of the settings that changed
    cross_validated: Interval  # gain of score on training cases that a fit had not seen, with the chosen price
    price: float
    tried: int  # sets of weights
    seed: int

    @property
    def found(self) -> bool:
        """Tells whether any setting changes."""
        return bool(self.values)


@dataclass
class Fitter:
    """Searches for better weights; `best` survives an interruption."""

    kind: Kind[Any, Any]
    settings: Settings  # the start
    cases: Sequence[RehearsedCase]  # by repository and time
    budgets: Sequence[int]
    seed: int = SEED
    progress: Progress = unreported
    _scores: dict[Point, NDArray[np.float64]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        grids = self.kind.tunable(self.settings)
        self.keys = tuple(grids)
        self.grids = tuple(tuple(grids[key]) for key in self.keys)
        self.start: Point = tuple(
            grid.index(lookup(self.settings, key)) for key, grid in zip(self.keys, self.grids, strict=True)
        )
        self._unordered = [index for index, grid in enumerate(self.grids) if isinstance(grid[0], str)]

    def fit(self) -> Fit:
        """Fits on all cases, with the price that cross-validation chooses."""
        everything = np.ones(len(self.cases), dtype=np.bool_)
        validated = {price: self._cross_validate(price) for price in PRICES}
        price = max(PRICES, key=lambda price: round(float(validated[price].mean()), 6))
        repositories = [case.repository for case in self.cases]
        gain = mean_of(validated[price].tolist(), repositories if len(set(repositories)) > 1 else None)
        point = self.start if gain.mean <= 0 else self._search(everything, price, RESTARTS)
        return Fit(self.values(point), gain, price, len(self._scores), self.seed)

    def best_so_far(self) -> tuple[float, dict[str, Any]]:
        """Returns the best point among those at which all cases were scored: its gain on them, and its changes."""
        whole = {point: float(scores.mean()) for point, scores in self._scores.items() if not np.isnan(scores).any()}
        if self.start not in whole:
            return 0.0, {}
        best = max(whole, key=lambda point: whole[point])
        return whole[best] - whole[self.start], self.values(best)

    def values(self, point: Point) -> dict[str, Any]:
        """Returns the settings that a point changes."""
        rows = zip(self.keys, self.grids, point, self.start, strict=True)
        return {key: grid[now] for key, grid, now, was in rows if now != was}

    def scores(self, point: Point, wanted: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Returns the score of each wanted case; each is computed once."""
        known = self._scores.setdefault(point, np.full(len(self.cases), np.nan))
        missing = np.flatnonzero(wanted & np.isnan(known))
        if len(missing):
            self.progress("fitting", len(self._scores), 0)
            settings = with_values(self.settings, self.values(point))
            at = [self.kind.budget.put(settings, budget) for budget in self.budgets]
            for index in missing.tolist():
                case = self.cases[index]
                ranked = ([id_ for id_, whole in case.rehearsal(under) if whole] for under in at)
                results = [figures(ids, case.judged) for ids in ranked]
                known[index] = float(np.mean([result.recall + TIE_BREAK * result.ndcg for result in results]))
        return known

    def _search(self, training: NDArray[np.bool_], price: float, restarts: int = 0) -> Point:
        def score(point: Point) -> float:
            turned = sum(now != was for now, was in zip(point, self.start, strict=True))
            return float(self.scores(point, training)[training].mean()) - price * turned

        sizes = [len(grid) for grid in self.grids]
        return best_point(
            sizes, self.start, score, np.random.RandomState(self.seed), unordered=self._unordered, restarts=restarts
        )

    def _cross_validate(self, price: float) -> NDArray[np.float64]:
        gains, fold = np.zeros(len(self.cases)), folds(len(self.cases))
        for index in range(fold.max(initial=-1) + 1):
            left_out = fold == index
            point = self._search(~left_out, price)
            gains[left_out] = (self.scores(point, left_out) - self.scores(self.start, left_out))[left_out]
        return gains


def folds(cases: int) -> Any:
    """Returns the fold of each case: neighbours together, no fold empty."""
    return np.arange(cases) * min(FOLDS, cases) // max(cases, 1)


Point = tuple[int, ...]  # the index in each dimension's values
RESTARTS = 2  # restarts beside the best point: enough to leave a ridge of two weights
SWEEPS = 6  # most rounds over all dimensions in a search
STEPS = (1, -1, 2, -2)

_MOVED_DIMENSIONS = 3  # dimensions that a restart changes


def best_point(
    sizes: Sequence[int],
    start: Point,
    score: Callable[[Point], float],
    random: np.random.RandomState,
    *,
    unordered: Sequence[int] = (),
    restarts: int = RESTARTS,
) -> Point:
    """Searches for the point with the largest score.

    Args:
        sizes: number of values of each dimension.
        score: the function to maximise.
        unordered: dimensions without an order, in which every value is tried.
        restarts: number of restarts.
    """
    best = _climb(sizes, start, score, unordered)
    for _ in range(restarts if sizes else 0):
        shaken = list(best)
        for dimension in random.choice(len(sizes), min(_MOVED_DIMENSIONS, len(sizes)), replace=False).tolist():
            shaken[dimension] = int(np.clip(shaken[dimension] + random.choice((-2, -1, 1, 2)), 0, sizes[dimension] - 1))
        candidate = _climb(sizes, tuple(shaken), score, unordered)
        best = max(best, candidate, key=score)  # the first of equals
    return best


def _climb(sizes: Sequence[int], point: Point, score: Callable[[Point], float], unordered: Sequence[int]) -> Point:
    for _ in range(SWEEPS):
        before = point
        for dimension, size in enumerate(sizes):
            here = point[dimension]
            whole = dimension in unordered or here in (0, size - 1)  # one neighbour alone says little
            others = range(size) if whole else (here + step for step in STEPS)
            allowed = [other for other in others if 0 <= other < size and other != here]
            tried = [(*point[:dimension], other, *point[dimension + 1 :]) for other in allowed]
            point = max([point, *tried], key=score)
        if point == before:
            break
        jump = tuple(
            now if dimension in unordered else min(max(2 * now - was, 0), sizes[dimension] - 1)
            for dimension, (was, now) in enumerate(zip(before, point, strict=True))
        )
        point = max(point, jump, key=score)
    return point


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
        """The kind of all cases. Raises UsageError: there are several kinds, or the kind has nothing to tune."""
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
    changed = {key: kind.reading_of(inputs, with_values(settings, {key: value})) for key, value in little.items()}
    needed = {key: value for key, value in little.items() if changed[key] != before}
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
