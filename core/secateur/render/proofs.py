"""Proofs of what would change a decision, in JSON and in words: the one place where both are made, for every kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from msgspec import structs

from secateur.ledger import LedgerShape, State
from secateur.render.page import Column, Page, Section, counted
from secateur.shape import Shape
from secateur.terminal import clip, visible
from secateur.what_if.curve import Curve, Point
from secateur.what_if.explanation import Explanation
from secateur.what_if.flips import ItemFlip, TurningValue
from secateur.what_if.knapsack import Best
from secateur.what_if.trials import Trials

A = TypeVar("A", bound=Shape)

NAMED = 3
"""Items that a sentence names."""

SHOWN_POINTS = 14
"""Points of the curve in the text, about; the JSON has more."""

NOTHING_FIXED = "nothing would change it: its reason depends on no budget and no number"
"""Of an item whose reason is one of `FIXED`."""

_ID_CELLS = 60
_TURNS = "what turns each, whole or not, and what else it changes; proven by deciding again"
_FLIPS = Column(38, gap=6), Column()
_RANGES = Column(34, gap=2), Column()
_POINTS = (Column(9, right=True, gap=2), *(Column(9, right=True, gap=1),) * 3)
_FIGURE, _MARK = Column(9, right=True, gap=1), Column()


def explained(answer: A, ledger: LedgerShape, explanation: Explanation) -> A:
    """The answer of a kind with `what_if` on the entries of its ledger that were looked at, and all else on top."""
    entries = list(ledger.entries)
    for item in explanation.flips:
        entries[item] = structs.replace(entries[item], what_if=explanation.what_if(item))
    return structs.replace(
        answer, ledger=structs.replace(ledger, entries=entries), **structs.asdict(explanation.shape())
    )


def explained_page(page: Page, explanation: Explanation) -> Page:
    """The report with what is proven of it below."""
    return replace(page, sections=(*page.sections, *sections_of(explanation)))


def sections_of(explanation: Explanation) -> Sequence[Section]:
    """The proofs as sections of a report."""
    curve, trials = explanation.curve, explanation.trials
    not_known = f"not known within {explanation.reached}"
    ranges = [(name, range_words(*ends) if ends else not_known) for name, ends in explanation.ranges.items()]
    points = tuple(_points(curve, trials.budget, trials.budget_label))
    columns = (*_POINTS, *[_FIGURE] * len(figures_of(curve)), _MARK)
    found = [
        Section(tuple(_flips(explanation)), _TURNS, columns=_FLIPS),
        Section(ranges, "nothing changes between", columns=_RANGES),
        Section(points, "what goes out against the budget", columns=columns),
        Section([f"  {line}" for line in (*curve_words(trials, curve), *_drops(trials, curve))], apart=False),
    ]
    if explanation.best is not None:
        lines = [f"  {line}" for line in _best(trials, explanation.best)]
        found.append(Section(lines, "the best possible selection"))
    return [section for section in found if section.rows]


def flip_words(explanation: Explanation, item: int) -> Iterator[tuple[str, str]]:
    """(value, what else it changes) of everything that turns an item: ("budget 8,966", "loses x"). Where nothing does,
    ("", why)."""
    trials, flip = explanation.trials, explanation.flips.get(item)
    if trials.fixed[item]:
        yield "", NOTHING_FIXED
    elif flip is None:
        curve, reached = explanation.curve, explanation.reached if item in explanation.unknown else ""
        yield "", nothing_words(trials, curve.tried, curve.every, reached)
    else:
        yield from turn_words(trials, flip)


def turn_words(trials: Trials, flip: ItemFlip) -> Iterator[tuple[str, str]]:
    """(value, what else it changes) of everything that turns an item."""
    turns = {trials.budget_label: flip.budget} if flip.budget is not None else {}
    for name, turn in (turns | dict(flip.knobs)).items():
        yield f"{name} {value_words(turn.value)}", changed_words(trials, turn)


def changed_words(trials: Trials, turn: TurningValue) -> str:
    """The other items that a value changes: "loses x, gains 3"; "" for nothing."""
    sides = (("loses", turn.loses), ("gains", turn.gains))
    return ", ".join(f"{verb} {named(trials, items)}" for verb, items in sides if items)


def named(trials: Trials, items: Sequence[int]) -> str:
    """An item by its id, more by their number."""
    if len(items) == 1:
        return clip(visible(trials.ids[items[0]]), _ID_CELLS)
    return f"{len(items):,}"


def nothing_words(trials: Trials, tried: int, every: tuple[int, int] | None, reached: str = "") -> str:
    """The sentence that nothing turns an item of the budgets and values that were looked at.

    Args:
        tried: how many budgets were.
        every: between these every single one was.
        reached: the limit that kept others from being looked at, in words; "" for none.
    """
    known = (
        f"not known within {reached}; nothing tried so far changes it" if reached else "nothing tried would change it"
    )
    return f"{known}: {_tried(trials, tried, every)}"


def _tried(trials: Trials, tried: int, every: tuple[int, int] | None) -> str:
    budgets = f"{counted(tried, 'budget')} up to {trials.enough:,}"
    if every is not None:
        low, high = every
        budgets = f"every budget from {low:,} to {high:,}" + (
            f", and {trials.enough:,}" if high < trials.enough else ""
        )
    return budgets + (", and other values of each number" if trials.knobs else "")


def curve_words(trials: Trials, curve: Curve) -> Iterator[str]:
    """The curve in sentences."""
    if curve.reached:
        yield f"not all is known within {curve.reached}: {counted(curve.tried, 'budget')} were tried"
    if curve.least is not None:
        yield f"below {curve.least:,} there is no answer"
    if curve.knee is not None:
        yield f"knee at {curve.knee:,}: from there on each token brings less than the average"
    every = f"every budget from {curve.every[0]:,} to {curve.every[1]:,}" if curve.every is not None else ""
    of = every or f"{counted(curve.tried, 'budget')} up to {max(curve.enough, trials.budget):,}"
    if curve.dropping:
        yield f"more budget drops something at {curve.dropping:,} of them: {of}"
    else:
        yield f"at none of them more budget drops anything: {of}"


def _drops(trials: Trials, curve: Curve) -> Iterator[str]:
    for drop in curve.drops:
        yield f"at {drop.budget:,} it {changed_words(trials, TurningValue(drop.budget, drop.loses, drop.gains))}"


def best_words(best: Best) -> str:
    """The best possible selection in a sentence; its items are not named."""
    if not best.enters:
        proven = "no selection within the same room is worth more"
        most = proven if best.exact else f"no selection is worth more than {best.bound:.3f}"
        return f"what goes out whole is worth {best.present:.3f}: {most}"
    more = f"{(best.worth - best.present) / best.present:.1%}" if best.present else f"{best.worth:.3f}"
    least = "" if best.exact else f", at least; none is worth more than {best.bound:.3f}"
    return (
        f"within the same room it is worth {best.worth:.3f}, {more} more than what goes out whole"
        f" ({best.present:.3f}){least}"
    )


def _best(trials: Trials, best: Best) -> Iterator[str]:
    yield best_words(best)
    if best.enters:
        yield f"it holds {_list(trials, best.enters)}"
    if best.leaves:
        yield f"and not {_list(trials, best.leaves)}"


def _list(trials: Trials, items: Sequence[int]) -> str:
    ids = [visible(trials.ids[item]) for item in items[:NAMED]]
    more = f" and {len(items) - NAMED:,} more" if len(items) > NAMED else ""
    return ", ".join(ids) + more


def _flips(explanation: Explanation) -> Iterator[Sequence[str] | str]:
    """The items that something turns, each with what does; then how many there are of the others, by why."""
    trials, others = explanation.trials, dict[tuple[str, str], list[int]]()
    for item in explanation.flips:
        glyph, turns = State(int(trials.now.state[item])).glyph, list(flip_words(explanation, item))
        if not turns[0][0]:
            others.setdefault((glyph, turns[0][1]), []).append(item)
            continue
        yield f"  {glyph} {visible(trials.ids[item])}"
        yield from (turn if turn[1] else f"      {turn[0]}" for turn in turns)
    for (glyph, why), items in others.items():
        yield f"  {glyph} {_list(trials, items)}: {why}"


def _points(curve: Curve, present: int, label: str) -> Iterator[Sequence[str]]:
    figures = figures_of(curve)
    yield label, "tokens", "whole", "partly", *figures
    for point in _some(curve, present):
        marks = [word for word, budget in (("now", present), ("knee", curve.knee)) if budget == point.budget]
        cells = [f"{number:,}" for number in (point.budget, point.tokens, point.whole, point.partly)]
        cells += [f"{point.figures.get(name, 0):,}" for name in figures]
        yield cells + ([", ".join(marks)] if marks else [])


def figures_of(curve: Curve) -> list[str]:
    """Names of further figures that points have: "chunks"."""
    return list(dict.fromkeys(name for point in curve.points for name in point.figures))


def _some(curve: Curve, present: int) -> Sequence[Point]:
    """Evenly chosen points, with the present one and the knee."""
    step = -(-len(curve.points) // SHOWN_POINTS)
    last = len(curve.points) - 1
    return [
        point
        for place, point in enumerate(curve.points)
        if place % step == 0 or place == last or point.budget in (present, curve.knee)
    ]


def range_words(low: float, high: float) -> str:
    """The values between which nothing changes."""
    said = f"{value_words(low)} to {value_words(high)}"
    return said if low != high else f"{said}: any other value changes something"


def value_words(value: float) -> str:
    """A value as it is written: thousands separated."""
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"
