"""Draws the hints of the item at the cursor: the values that turn its decision, what else they change, and which of
them a key applies."""

from __future__ import annotations

from collections.abc import Sequence

from secateur.kinds.knobs import Knob, decimal
from secateur.terminal import clip_left, visible
from secateur.what_if.trials import BUDGET, Trials

from secateur_tui.state.proving import ProvenHint
from secateur_tui.styled_text import Line, Span, line, wrap_words

_NAMED = 3
"""Items that a hint loses and that are named; the rest is counted."""


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
        mark = Span("› " if index == chosen else "  ", "accent")
        lines.append(line(mark, Span(f"{describe_hint(hint, trials, knobs)} (re-run ✓)", "success")))
        if index == chosen:
            lines += _draw_changes(hint, trials, cells)
    if keys[0]:
        more = f", {keys[1]} marks the next" if keys[1] and len(hints) > 1 else ""
        lines.append(line(Span(f"  {keys[0]} applies ›{more}", "faint")))
    return lines


def describe_hint(hint: ProvenHint, trials: Trials, knobs: Sequence[Knob]) -> str:
    """Says a hint in words, in those of the knob if the setting has others: "kept at budget 4,110"."""
    label = trials.budget_label if hint.name == BUDGET else hint.name.rpartition(".")[2].replace("_", " ")
    shown = next((knob.label for knob in knobs if knob.key == hint.name), label)
    label = label if shown in label else shown
    value = hint.turn.value
    text = f"{value:,}" if isinstance(value, int) else decimal(value)
    return f"{'kept whole' if hint.gains else 'no longer whole'} at {label} {text}"


def _draw_changes(hint: ProvenHint, trials: Trials, cells: int) -> list[Line]:
    lines: list[Line] = []
    for verb, glyph, role, items in (
        ("loses", "○", "dropped", hint.turn.loses),
        ("gains", "●", "kept", hint.turn.gains),
    ):
        if not items:
            continue
        lines.append(line(Span(f"    {verb} {len(items):,}", "warning" if verb == "loses" else "faint")))
        if verb == "loses":
            for item in items[:_NAMED]:
                name = clip_left(visible(trials.ids[item]), max(1, cells - 6))
                lines.append(line(Span(f"    {glyph} ", role), Span(name)))
    return lines


def insert_hints(lines: Sequence[Line], hints: Sequence[Line]) -> list[Line]:
    """Puts hints below the reason: above the first empty line of a page, else at its end."""
    index = next((index for index, hinted in enumerate(lines) if not hinted), len(lines))
    return [*lines[:index], *hints, *lines[index:]]
