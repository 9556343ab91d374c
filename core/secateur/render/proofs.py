"""Formats proofs of what would change a decision, as JSON and in words, for every kind."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np
from msgspec import UNSET, UnsetType, structs

from secateur.ledger import Entry, EntryShape, LedgerShape, State
from secateur.progress import Progress, unreported
from secateur.render.page import Column, Section, count_noun
from secateur.shape import Shape
from secateur.terminal import clip, visible
from secateur.what_if.explanation import Curve, Explanation, explain_one, what_if_of
from secateur.what_if.levers import Lever
from secateur.what_if.trials import BUDGET, HOLD, TimeLimit, TrialRuns, Trials

A = TypeVar("A", bound=Shape)
Because = Callable[[int], str]

MOST_NAMED = 3  # most items in a sentence
SHOWN_POINTS = 14  # about how many points of the curve are in the text; the JSON has more
# For an item whose reason is one of `FIXED`.
NOTHING_FIXED = "nothing would change it: its reason depends on no budget and no number"

NOTHING_ADDED = "it is not an item: ask about one of the items that it stands for"  # for a summary
_ID_CELLS = 120
_TURNS = "levers of each item, whole or not, the cheapest first, and what each costs; proven by deciding again"
LEVERS = Column(38, gap=6), Column()
_RANGES = Column(34, gap=2), Column()
_POINTS = (Column(9, right=True, gap=2), *(Column(9, right=True, gap=1),) * 3)
_FIGURE, _MARK = Column(9, right=True, gap=1), Column()


class WhyShape(Shape, frozen=True):
    """One entry, as `--why` prints it: the reason in words, its figures, and what is proven to change it."""

    because: str
    entry: EntryShape
    nothing: str | UnsetType = UNSET  # that no tried value changes it, and why


def explain_entry(trials: Trials, entry: Entry, because: str, progress: Progress) -> tuple[Section, WhyShape]:
    """Proves what would change the decision on one entry, as a section of a report and for JSON."""
    item = [*trials.ids].index(entry.id)
    levers, runs = explain_one(trials, item, progress, TimeLimit())
    nothing = "" if levers else no_turn_words(runs, item)
    rows: list[Sequence[str] | str] = [f"  {entry.state.glyph} {visible(entry.id)}: {visible(because)}"]
    rows += list(turn_words(trials, levers)) or [f"      {nothing}"]
    shape = structs.replace(entry.shape(), what_if=what_if_of(trials, item, levers))
    return Section(rows, columns=LEVERS), WhyShape(because, shape, nothing or UNSET)


def add_explanation(answer: A, ledger: LedgerShape, explanation: Explanation) -> A:
    """Adds `what_if` to the ledger entries that were examined, and all else to the answer."""
    entries = list(ledger.entries)
    for item in explanation.levers:
        entries[item] = structs.replace(entries[item], what_if=explanation.what_if(item))
    proven = structs.replace(explanation.shape(), not_examined=explanation.not_examined)
    return structs.replace(answer, ledger=structs.replace(ledger, entries=entries), **structs.asdict(proven))


def sections_of(explanation: Explanation, because: Because = lambda _: "", *, pins: bool = False) -> Sequence[Section]:
    """Returns the proofs as sections of a report.

    Args:
        because: the reason of the decision on an item, in words.
        pins: whether the kind has `--pin`.
    """
    curve, trials = explanation.curve, explanation.trials
    not_known = f"not known: the search ended after {explanation.reached}"
    ranges = [(name, _range_words(*ends) if ends else not_known) for name, ends in explanation.ranges.items()]
    points = tuple(curve_rows(curve, trials, SHOWN_POINTS))
    keeps = ", --pin ID keeps one of them" if pins else ""
    others = f"  {explanation.unlisted:,} more: --dropped all lists them, --why ID explains one{keeps}"
    columns = (*_POINTS, *[_FIGURE] * (len(points[0]) - len(_POINTS)), _MARK)
    sections = [
        Section(
            tuple(_lever_rows(explanation, because)), _TURNS, others if explanation.unlisted else "", columns=LEVERS
        ),
        Section(ranges, "nothing changes between", columns=_RANGES),
        Section(points, "what goes out at each budget", columns=columns),
        Section([f"  {line}" for line in curve_words(trials, curve)], apart=False),
    ]
    return [section for section in sections if section.rows]


def lever_words(explanation: Explanation, item: int) -> Iterator[tuple[str, str]]:
    """Yields (value, other changes) for every change of an item: ("budget 8,966", "loses x"). If nothing changes it,
    yields ("", reason)."""
    trials, levers = explanation.trials, explanation.levers.get(item, ())
    if levers:
        yield from turn_words(trials, levers)
    elif trials.fixed[item]:
        yield "", fixed_words(trials, item)
    elif item not in explanation.levers:
        asks = "" if trials.now.whole[item] else ": --dropped all searches all"
        yield "", f"its levers were not searched{asks}"
    else:
        curve, reached = explanation.curve, explanation.reached if item in explanation.unknown else ""
        yield "", nothing_words(trials, curve.tried, curve.every, reached)


def turn_words(trials: Trials, levers: Sequence[Lever]) -> Iterator[tuple[str, str]]:
    """Yields (flags, what they cost) for the levers of an item, the cheapest first: without a far budget where a near
    lever keeps the whole, and of several settings with the same effect the first."""
    near = any(lever.state is State.KEPT and not lever.far for lever in levers)
    effects = set()
    for lever in levers:
        setting = lever.name != BUDGET and not lever.name.startswith(HOLD)
        effect = (lever.others, lever.tokens, lever.state, lever.portion) if setting else lever.typed
        if not (near and lever.far) and effect not in effects:
            yield visible(lever.typed), cost_words(trials, lever)
        effects.add(effect)


def prove_turns(
    trials: Trials, item: int, seconds: float, progress: Progress = unreported
) -> tuple[list[tuple[str, str]], str, int]:
    """Proves the values that turn one item.

    Args:
        seconds: most processor time.

    Returns:
        Pairs like those of `turn_words`; without any, the reason; and how often was decided again.
    """
    levers, runs = explain_one(trials, item, progress, TimeLimit(seconds))
    return list(turn_words(trials, levers)), "" if levers else no_turn_words(runs, item), runs.number


def no_turn_words(runs: TrialRuns, item: int) -> str:
    """Says of one item alone that nothing turned it, and why."""
    if runs.trials.fixed[item]:
        return fixed_words(runs.trials, item)
    nothing = f"no lever was found in {count_noun(runs.number, 'trial')}"
    return nothing + (f"; the search ended after {runs.reached}" if runs.reached else "")


def cost_words(trials: Trials, lever: Lever) -> str:
    """Describes what a lever costs: "in part (40 of 190 tokens), loses x, gains 3, shortens 2, 310 tokens more"."""
    others, (out, of) = lever.others, lever.portion
    sides = {"loses": others.loses, "gains": others.gains, "shortens": others.shortens, "restores": others.restores}
    partly = "in a summary" if lever.state is State.SUMMARISED else "in part"
    partly = "more of it, not all" if lever.grows else partly
    partly += f" ({out:,} of {count_noun(of, 'token')})" if 0 < out < of else ""
    words = [partly] if lever.state in (State.SHORTENED, State.SUMMARISED) else []
    words += [f"{verb} {name_items(trials, items)}" for verb, items in sides.items() if items]
    return ", ".join([*words, token_words(trials, lever)])


def token_words(trials: Trials, lever: Lever) -> str:
    """Describes what a lever costs in tokens: "310 tokens more, 20 over the budget"."""
    more = f"{count_noun(abs(lever.tokens), 'token')} {'more' if lever.tokens > 0 else 'less'}"
    over = f", {lever.over:,} over the {trials.budget_label}" if lever.over else ""
    again = f", no longer whole at {lever.again:,}" if lever.again else ""
    return (more if lever.tokens else "as many tokens as now") + over + again


_PLACE = re.compile(r"\d+(-\d+)?")


def name_items(trials: Trials, items: Sequence[int]) -> str:
    """Returns the id of a single item, or the number of several. A place in a log is told from such a number."""
    if len(items) == 1:
        name = visible(trials.ids[items[0]])
        line = ("line " if name.isdecimal() else "lines ") if _PLACE.fullmatch(name) else ""
        return clip(line + name, _ID_CELLS)
    return f"{len(items):,}"


def fixed_words(trials: Trials, item: int) -> str:
    """Says why no value is tried for an item."""
    return NOTHING_ADDED if item in np.flatnonzero(trials.added) else NOTHING_FIXED


def nothing_words(trials: Trials, tried: int, every: tuple[int, int] | None, reached: str = "") -> str:
    """Says that none of the examined budgets and values changes an item.

    Args:
        tried: number of budgets.
        every: the range in which every budget was tried.
        reached: the limit that prevented further trials, in words; "" if there was none.
    """
    else_ = f"; something else may, but the search ended after {reached}" if reached else ""
    budgets = f"{count_noun(tried, 'budget')} up to {trials.enough:,}"
    if every is not None:
        low, high = every
        budgets = f"every budget from {low:,} to {high:,}"
        budgets += f", and {trials.enough:,}" if high < trials.enough else ""
    budgets += ", and other values of each number" if trials.knobs else ""
    return f"nothing tried would change it: {budgets}{else_}"


def curve_words(trials: Trials, curve: Curve) -> Iterator[str]:
    """Describes the curve in sentences."""
    if curve.reached:
        yield f"the search ended after {curve.reached}: {count_noun(curve.tried, 'budget')} were tried"
    if curve.least is not None:
        yield f"below {curve.least:,} there is no answer"
    if curve.knee is not None:
        yield f"knee at {curve.knee:,}: from there on each token brings less than the average"
    every = f"every budget from {curve.every[0]:,} to {curve.every[1]:,}" if curve.every is not None else ""
    of = every or f"{count_noun(curve.tried, 'budget')} up to {max(curve.enough or trials.enough, trials.budget):,}"
    if curve.dropping:
        yield f"a larger budget drops something at {curve.dropping:,} of them: {of}"
    else:
        yield f"a larger budget drops nothing at any of them: {of}"
    for drop in curve.drops:
        gained = f", gains {name_items(trials, drop.gains)}" if drop.gains else ""
        yield f"at {drop.budget:,} it loses {name_items(trials, drop.loses)}{gained}"


def _lever_rows(explanation: Explanation, because: Because) -> Iterator[Sequence[str] | str]:
    """Yields the listed items that do not go out whole, then the others, each with its reason and what turns it; at the
    end those that go out whole and that nothing turns, grouped by what was tried."""
    trials, others = explanation.trials, dict[str, list[int]]()
    listed, left_out = explanation.listed, ~trials.now.whole
    for item in (*listed, *(item for item in explanation.levers if not left_out[item])):
        turns = list(lever_words(explanation, item))
        if not turns[0][0] and not left_out[item]:
            others.setdefault(turns[0][1], []).append(item)
            continue
        glyph, reason = State(int(trials.now.state[item])).glyph, visible(because(item))
        yield f"  {glyph} {visible(trials.ids[item])}" + (f": {reason}" if reason else "")
        yield from (turn if turn[0] else f"      {turn[1]}" for turn in turns)
    for why, items in others.items():
        ids = ", ".join(visible(trials.ids[item]) for item in items[:MOST_NAMED])
        more = f" and {len(items) - MOST_NAMED:,} more" if len(items) > MOST_NAMED else ""
        yield f"  {State.KEPT.glyph} {ids}{more}: {why}"


def curve_rows(curve: Curve, trials: Trials, most: int) -> Iterator[Sequence[str]]:
    """Yields the titles, then the cells of about `most` points; a last cell marks the present budget and the knee."""
    figures = list(dict.fromkeys(name for point in curve.points for name in point.figures))  # such as "chunks"
    yield trials.budget_label, "tokens", "whole", "partly", *figures
    step, last = -(-len(curve.points) // most), len(curve.points) - 1
    for index, point in enumerate(curve.points):
        if index % step and index != last and point.budget not in (trials.budget, curve.knee):
            continue
        marks = [word for word, budget in (("now", trials.budget), ("knee", curve.knee)) if budget == point.budget]
        cells = (
            point.budget,
            point.tokens,
            point.whole,
            point.partly,
            *(point.figures.get(name, 0) for name in figures),
        )
        yield [*(f"{figure:,}" for figure in cells), *([", ".join(marks)] if marks else [])]


def _range_words(low: float, high: float) -> str:
    least, most = (f"{value:,}" if isinstance(value, int) else f"{value:g}" for value in (low, high))
    return f"{least} to {most}" if low != high else f"no value but {least}"
