"""The result of `tune`, and the profile as a configuration file: `[profiles.NAME]` with the evidence in comments.

The report of `secateur tune`, as text and as JSON.

Fits the weights of a profile on judged cases, and guards against overfitting.

    fitter = Fitter(kind, settings, rehearsed, budgets)
    fit = fitter.fit()
    fit.values              # setting -> value, of those that changed
    fit.cross_validated     # its gain on training cases that it had not seen

A weight is changed only if it gains some recall; how much is chosen by cross-validation inside the training cases. If
no choice gains anything there, nothing is changed. Figures of the held-out cases are measured by the engine itself
(`evaluation.measuring`), and never enter a fit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray
from secateur import (
    PROFILES,
    SCHEMA_VERSION,
    Count,
    Kind,
    Progress,
    Settings,
    Shape,
    Version,
    __version__,
    dumps,
    installed_keys,
    lookup,
    toml_value,
    unreported,
    visible,
    with_values,
)

from secateur_lab.evaluation.measuring import Interval, MeasuredCase, differences, figures, mean_of
from secateur_lab.scenarios.running import deciding_keys
from secateur_lab.scenarios.toml_writing import flat

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

    @property
    def found(self) -> bool:
        """Tells whether any setting changes."""
        return bool(self.values)


@dataclass
class Fitter:
    """Searches for better weights."""

    kind: Kind[Any, Any]
    settings: Settings  # the start
    cases: Sequence[RehearsedCase]  # by repository and time
    budgets: Sequence[int]
    progress: Progress = unreported
    _scores: dict[Point, NDArray[np.float64]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        grids = self.kind.tunable(self.settings)
        self.keys = tuple(grids)
        self.grids = tuple(tuple(grids[key]) for key in self.keys)
        self.start: Point = tuple(
            grid.index(lookup(self.settings, key)) for key, grid in zip(self.keys, self.grids, strict=True)
        )

    def fit(self) -> Fit:
        """Fits on all cases, with the price that cross-validation chooses."""
        everything = np.ones(len(self.cases), dtype=np.bool_)
        validated = {price: self._cross_validate(price) for price in PRICES}
        price = max(PRICES, key=lambda price: round(float(validated[price].mean()), 6))
        repositories = [case.repository for case in self.cases]
        gain = mean_of(validated[price].tolist(), repositories if len(set(repositories)) > 1 else None)
        point = self.start if gain.mean <= 0 else self._search(everything, price)
        return Fit(self.values(point), gain, price, len(self._scores))

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

    def _search(self, training: NDArray[np.bool_], price: float) -> Point:
        def score(point: Point) -> float:
            turned = sum(now != was for now, was in zip(point, self.start, strict=True))
            return float(self.scores(point, training)[training].mean()) - price * turned

        return best_point([len(grid) for grid in self.grids], self.start, score)

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
SWEEPS = 6  # most rounds over all dimensions in a search


def best_point(sizes: Sequence[int], start: Point, score: Callable[[Point], float]) -> Point:
    """Searches for the point with the largest score: tries every value of one dimension after the other, until a round
    over all of them gains nothing. `sizes`: number of values of each dimension."""
    point = start
    for _ in range(SWEEPS):
        before = point
        for dimension, size in enumerate(sizes):
            others = (other for other in range(size) if other != point[dimension])
            point = max([point, *((*point[:dimension], other, *point[dimension + 1 :]) for other in others)], key=score)
        if point == before:
            break
    return point


FEWEST = 10  # least cases of each part for a proven gain: an interval of fewer says little

# Prefixes of keys that describe a machine, which are not part of a portable profile.
_MACHINE_KEYS = ("index.", "tokens.", "embedding.", "llm.", "ui.")


class HeldOutGain(Shape, frozen=True):
    """Recall of the held-out cases before and after."""

    budget: Annotated[int | None, Meta(description="null: the mean over all budgets, which decides.")]
    before: Interval
    after: Interval
    gain: Interval

    def rounded(self) -> HeldOutGain:
        """Returns the gain rounded to four decimals."""
        return HeldOutGain(self.budget, self.before.rounded(), self.after.rounded(), self.gain.rounded())


@dataclass(frozen=True)
class Tuned:
    """A fit, and its effect on cases that it has not seen."""

    base: str  # name of the profile it started from
    name: str  # of the profile
    fit: Fit
    start: Settings
    training: int  # cases
    held_out: Sequence[MeasuredCase]
    repositories: Sequence[str]
    budgets: Sequence[int]
    left_out: int = 0  # cases that could not be read
    interrupted: bool = False

    @property
    def gains(self) -> list[HeldOutGain]:
        """The gain at each budget, and last the mean over budgets, which decides."""
        if not self.held_out:
            return []
        each = [self._gain((budget,)) for budget in self.budgets]
        return each if len(each) == 1 else [*each, self._gain(self.budgets)]

    @property
    def proven(self) -> bool:
        """Tells whether held-out cases gain beyond noise: enough of them, all measured, the whole interval above 0."""
        if self.interrupted or not self.fit.found or min(self.training, len(self.held_out)) < FEWEST:
            return False
        low = self.gains[-1].gain.low
        return low is not None and low > 0

    @property
    def verdict(self) -> str:
        """The result as a sentence."""
        if not self.fit.found:
            return "no gain beyond noise: no changed weight helped training cases that the fit had not seen"
        if self.interrupted:
            return "interrupted: the cases measured until then prove nothing"
        few = min(self.training, len(self.held_out))
        if few < FEWEST:
            return f"not proven: {few} cases are too few, each part needs {FEWEST}"
        gain = self.gains[-1].gain
        if self.proven:
            return "the held-out cases gain beyond noise"
        if gain.high is not None and gain.high < 0:
            return "worse: the held-out cases lose, so the fit only applies to the training cases"
        return "no gain beyond noise: the interval of the held-out gain contains 0"

    def _gain(self, budgets: Sequence[int]) -> HeldOutGain:
        def of(name: str) -> list[float]:
            return [sum(item.figures[name, b].recall for b in budgets) / len(budgets) for item in self.held_out]

        before, after = of(START), of(FITTED if self.fit.found else START)
        groups = [item.case.repository for item in self.held_out]
        by = groups if len(set(groups)) > 1 else None
        gain = differences(before, after)
        return HeldOutGain(
            budgets[0] if len(budgets) == 1 else None, mean_of(before, by), mean_of(after, by), mean_of(gain, by)
        )


START, FITTED = "start", "fitted"  # names of the two choices in the plan of the held-out cases


def profile_values(kind: Kind[Any, Any], tuned: Tuned) -> dict[str, Any]:
    """Returns the settings of the profile by key: those of the profile it started from, others in force, changed ones,
    and every weight that could have been changed."""
    start, known = tuned.start, installed_keys()
    table = PROFILES.get(start.profile) or start.profiles.get(start.profile) or {}
    keys = {name for name, _ in flat(table)} | set(kind.tunable(start))
    keys |= {key for key in deciding_keys(kind) if lookup(start, key) != known[key].default}
    wanted = [key for key in known if key in keys and known[key].scope != "run" and not key.startswith(_MACHINE_KEYS)]
    return {key: tuned.fit.values.get(key, lookup(start, key)) for key in wanted}


def profile_text(kind: Kind[Any, Any], tuned: Tuned) -> str:
    """Formats the configuration file. It contains no path, so it may be committed."""
    values, known = profile_values(kind, tuned), installed_keys()
    lines = [f"# {line}".rstrip() for line in _evidence(tuned)]
    tables: dict[str, list[str]] = {}
    for key, value in values.items():
        table, _, leaf = key.rpartition(".")
        text = f"{leaf} = {toml_value(msgspec.to_builtins(value))}"
        if key in tuned.fit.values:
            text += f"  # was {toml_value(msgspec.to_builtins(lookup(tuned.start, key)))}"
        elif known[key].scope != "any":
            text += "  # applies in your own file or --config, not in a repository's"
        tables.setdefault(table, []).append(text)
    for table, entries in tables.items():
        lines += ["", f"[profiles.{tuned.name}.{table}]", *entries]
    return "\n".join(lines) + "\n"


def _evidence(tuned: Tuned) -> Iterator[str]:
    fit = tuned.fit
    where = Counter(tuned.repositories)
    yield f"Fitted by `secateur tune` {__version__}, from the profile {visible(tuned.base)}."
    yield f"Use it: --config THIS_FILE --profile {tuned.name}; or paste it into secateur.toml."
    yield ""
    yield "cases: " + ", ".join(f"{count:,} of {visible(name)}" for name, count in sorted(where.items()))
    for part, count in (("training", tuned.training), ("held_out", len(tuned.held_out))):
        yield f"{part.replace('_', '-')}: {count:,}"
    yield f"search: {fit.tried:,} sets of weights; a changed weight must gain {fit.price:g} recall"
    yield f"cross-validation inside training: {interval_text(fit.cross_validated, signed=True)}"
    yield "recall of the held-out cases, mean [95 % interval]:"
    for item in tuned.gains:
        at = "mean" if item.budget is None else f"{item.budget:,}"
        sides = f"before {interval_text(item.before)}  after {interval_text(item.after)}"
        yield f"  {at:>7}  {sides}  gain {interval_text(item.gain, signed=True)}"
    yield tuned.verdict


def interval_text(item: Interval, *, signed: bool = False) -> str:
    """Formats a mean with its interval."""
    form = "+.3f" if signed else ".3f"
    if item.low is None or item.high is None:
        return f"{item.mean:{form}} [too few for an interval]"
    return f"{item.mean:{form}} [{item.low:{form}}, {item.high:{form}}]"


class CaseCounts(Shape, frozen=True):
    """Cases by part."""

    training: Count
    held_out: Count
    left_out: Annotated[Count, Meta(description="Those that could not be read.")]


class TurnedSetting(Shape, frozen=True):
    """A setting that was changed."""

    was: float | str
    now: float | str


class TuningOutput(Shape, frozen=True):
    """The output of `secateur tune --format json`."""

    schema_version: Version
    profile: Annotated[str, Meta(description="The profile that it started from.")]
    name: str
    cases: CaseCounts
    repositories: Annotated[dict[str, Count], Meta(description="Cases by repository.")]
    tried: Annotated[Count, Meta(description="Sets of weights.")]
    price: Annotated[float, Meta(description="Recall that each changed weight must gain.")]
    turned: Annotated[dict[str, TurnedSetting], Meta(description="By key.")]
    cross_validated: Interval
    held_out_recall: list[HeldOutGain]
    proven: bool
    verdict: str
    interrupted: bool
    written: Annotated[str | None, Meta(description="The file as it was named.")]


def tuning_json(tuned: Tuned, written: str | None) -> str:
    """Formats everything as JSON. `written`: the file as it was named."""
    fit = tuned.fit
    return dumps(
        TuningOutput(
            schema_version=SCHEMA_VERSION,
            profile=tuned.base,
            name=tuned.name,
            cases=CaseCounts(tuned.training, len(tuned.held_out), tuned.left_out),
            repositories=dict(sorted(Counter(tuned.repositories).items())),
            tried=fit.tried,
            price=fit.price,
            turned={key: TurnedSetting(lookup(tuned.start, key), value) for key, value in fit.values.items()},
            cross_validated=fit.cross_validated.rounded(),
            held_out_recall=[item.rounded() for item in tuned.gains],
            proven=tuned.proven,
            verdict=tuned.verdict,
            interrupted=tuned.interrupted,
            written=written,
        )
    )


def tuning_text(tuned: Tuned, written: str | None) -> str:
    """Formats the changed settings, their effect on cases that no fit has seen, and the verdict."""
    fit = tuned.fit
    names = ", ".join(map(visible, sorted(Counter(tuned.repositories))))
    lines = [f"{tuned.training:,} training and {len(tuned.held_out):,} held-out cases of {names}"]
    if tuned.left_out:
        lines.append(f"  {tuned.left_out:,} cases could not be read (secateur evaluate lists them)")
    lines += ["", f"turned, from {visible(tuned.base)} ({fit.tried:,} sets of weights tried):"]
    width = max((len(key) for key in fit.values), default=0)
    lines += [f"  {key:<{width}}  {lookup(tuned.start, key)} -> {value}" for key, value in fit.values.items()]
    lines += [] if fit.values else ["  nothing"]
    lines += ["", f"cross-validation inside training: {interval_text(fit.cross_validated, signed=True)}"]
    if tuned.gains:
        lines += ["", "recall of the held-out cases, mean [95 % interval]"]
        lines.append(f"  {'budget':>7}  {'before':<22}{'after':<22}{'gain':<24}".rstrip())
    for item in tuned.gains:
        at = "mean" if item.budget is None else f"{item.budget:,}"
        before, after = interval_text(item.before), interval_text(item.after)
        lines.append(f"  {at:>7}  {before:<22}{after:<22}{interval_text(item.gain, signed=True)}".rstrip())
    lines += ["", tuned.verdict]
    lines.append(f"written: {visible(written)}" if written else "nothing was written")
    if written is None and fit.found and not tuned.interrupted:
        lines[-1] += " (--anyway writes it)"
    return "\n".join(lines) + "\n"
