"""Draws the hints of the item at the cursor: the values that turn its decision, what else they change, and which of
them a key applies."""

from __future__ import annotations

from collections.abc import Sequence

from secateur.kinds.knobs import Knob, decimal
from secateur.ledger import State
from secateur.render.page import count_noun
from secateur.render.proofs import token_words
from secateur.terminal import cell_width, clip_left, visible
from secateur.what_if.levers import Lever
from secateur.what_if.trials import BUDGET, HOLD, Trials

from secateur_tui.state.proving import ProvenHint
from secateur_tui.styled_text import Line, Span, line, wrap_words

_NAMED = 3
"""Items of each change that are named; the rest is counted."""


def draw_hints(
    hints: Sequence[ProvenHint],
    trials: Trials | None,
    chosen: int,
    nothing: str,
    keys: tuple[str, str],
    knobs: Sequence[Knob],
    *,
    proving: bool,
    cells: int,
) -> list[Line]:
    """Draws the hints that are proven so far.

    Args:
        chosen: the hint that is marked.
        nothing: why there is none.
        keys: that apply it and that mark the next, as printed; "" for none.
        proving: whether further ones may come.
    """
    if not hints or trials is None:
        words = nothing or ("re-running for what would change this …" if proving else "")
        return wrap_words(words, cells, "faint")
    lines: list[Line] = []
    for index, hint in enumerate(hints):
        lines += _draw_hint(hint, trials, knobs, "› " if index == chosen else "  ", cells)
        if index == chosen:
            lines += _draw_changes(hint, trials, cells)
    if keys[0]:
        more = f", {keys[1]} marks the next" if keys[1] and len(hints) > 1 else ""
        lines.append(line(Span(f"  {keys[0]} applies ›{more}", "faint")))
    return lines


def _draw_hint(hint: ProvenHint, trials: Trials, knobs: Sequence[Knob], mark: str, cells: int) -> list[Line]:
    """Draws a hint: "at budget 4,110: kept whole", "with strategy extract: in part (40 of 190 tokens)". Words that are
    too long are wrapped, so that no number is cut."""
    (out, of), words = hint.lever.portion, f"{_describe_lever(hint.lever, trials, knobs)}: {_describe_turn(hint)}"
    words += f" ({out:,} of {count_noun(of, 'token')})" if hint.gains and 0 < out < of else ""
    proven = f"{words} (re-run ✓)"
    fitting = proven if cell_width(mark + proven) <= cells else f"{words} ✓"
    first, *others = wrap_words(fitting, cells, "success", indent=" " * len(mark))
    return [(Span(mark, "accent"), first[0]._replace(text=first[0].text[len(mark) :])), *others]


def _describe_turn(hint: ProvenHint) -> str:
    lever = hint.lever
    if not hint.gains:
        return "no longer whole"
    if lever.state is State.KEPT:
        return "kept whole"
    if lever.grows:
        return "more of it, not all"
    return "in a summary" if lever.state is State.SUMMARISED else "in part"


def _describe_lever(lever: Lever, trials: Trials, knobs: Sequence[Knob]) -> str:
    """Names a value in the words of its knob. What is held is the item at the cursor, so its name is left out."""
    hold, _, choice = lever.name.partition(" ")
    if hold == HOLD:
        held = "pinned" if "pins" in trials.changes(lever.name, lever.value) else "taken in"
        if choice.isdecimal():
            return f"{held}, at {trials.budget_label} {int(choice):,}"
        return f"{held}, with strategy {choice}" if choice else held
    label = trials.budget_label if lever.name == BUDGET else lever.name.rpartition(".")[2].replace("_", " ")
    shown = next((knob.label for knob in knobs if knob.key == lever.name), label)
    label = label if shown in label else shown
    if isinstance(lever.value, str):
        return f"with {label} {lever.value}"
    return f"at {label} {lever.value:,}" if isinstance(lever.value, int) else f"at {label} {decimal(lever.value)}"


def _draw_changes(hint: ProvenHint, trials: Trials, cells: int) -> list[Line]:
    lines, others = list[Line](), hint.lever.others
    for verb, role, items in (
        ("loses", "warning", others.loses),
        ("shortens", "warning", others.shortens),
        ("gains", "faint", others.gains),
        ("restores", "faint", others.restores),
    ):
        if not items:
            continue
        lines.append(line(Span(f"    {verb} {len(items):,}", role)))
        for item in items[:_NAMED]:
            state = State(int(hint.decided.state[item]))
            name = clip_left(visible(trials.ids[item]), max(1, cells - 6))
            lines.append(line(Span(f"    {state.glyph} ", state.label), Span(name)))
        if len(items) > _NAMED:
            lines.append(line(Span(f"      and {len(items) - _NAMED:,} more", "faint")))
    role = "warning" if hint.lever.over else "faint"
    return lines + wrap_words(token_words(trials, hint.lever), cells, role, indent="    ")


def insert_hints(lines: Sequence[Line], hints: Sequence[Line]) -> list[Line]:
    """Puts hints below the reason: above the first empty line of a page, else at its end."""
    index = next((index for index, hinted in enumerate(lines) if not hinted), len(lines))
    return [*lines[:index], *hints, *lines[index:]]
