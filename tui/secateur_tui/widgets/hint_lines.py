"""Draws the hints of the item at the cursor: the values that turn its decision, what else they change, and which of
them a key applies."""

from __future__ import annotations

from collections.abc import Sequence

from secateur.kinds.knobs import Knob, decimal
from secateur.ledger import State
from secateur.render.proofs import token_words
from secateur.terminal import clip_left, visible
from secateur.what_if.flips import Lever
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
        mark = Span("› " if index == chosen else "  ", "accent")
        lines.append(line(mark, Span(f"{describe_hint(hint, trials, knobs)} (re-run ✓)", "success")))
        if index == chosen:
            lines += _draw_changes(hint, trials, cells)
    if keys[0]:
        more = f", {keys[1]} marks the next" if keys[1] and len(hints) > 1 else ""
        lines.append(line(Span(f"  {keys[0]} applies ›{more}", "faint")))
    return lines


def describe_hint(hint: ProvenHint, trials: Trials, knobs: Sequence[Knob]) -> str:
    """Says a hint in words, in those of the knob if the setting has others: "kept whole at budget 4,110", "kept in part
    with strategy extract"."""
    lever = hint.lever
    partly = "more of it kept" if lever.grows else "kept in part"
    kept = "kept whole" if lever.state is State.KEPT else partly
    return f"{kept if hint.gains else 'no longer whole'} {_describe_lever(lever, trials, knobs)}"


def _describe_lever(lever: Lever, trials: Trials, knobs: Sequence[Knob]) -> str:
    if lever.name.startswith(HOLD):
        only_pins = [*trials.changes(lever.name, lever.value)] in (["pins"], ["pins", "excludes"])
        return "if it is pinned" if only_pins else f"with {visible(lever.typed)}"
    label = trials.budget_label if lever.name == BUDGET else lever.name.rpartition(".")[2].replace("_", " ")
    shown = next((knob.label for knob in knobs if knob.key == lever.name), label)
    label = label if shown in label else shown
    if isinstance(lever.value, str):
        return f"with {label} {lever.value}"
    return f"at {label} {lever.value:,}" if isinstance(lever.value, int) else f"at {label} {decimal(lever.value)}"


def _draw_changes(hint: ProvenHint, trials: Trials, cells: int) -> list[Line]:
    lines, others = list[Line](), hint.lever.others
    for verb, state, items in (
        ("loses", State.DROPPED, others.loses),
        ("shortens", State.SHORTENED, others.shortens),
        ("gains", State.KEPT, others.gains),
        ("restores", State.KEPT, others.restores),
    ):
        if not items:
            continue
        costs = state is not State.KEPT
        lines.append(line(Span(f"    {verb} {len(items):,}", "warning" if costs else "faint")))
        for item in items[:_NAMED]:
            name = clip_left(visible(trials.ids[item]), max(1, cells - 6))
            lines.append(line(Span(f"    {state.glyph} ", state.label), Span(name)))
        if len(items) > _NAMED:
            lines.append(line(Span(f"      and {len(items) - _NAMED:,} more", "faint")))
    lines.append(line(Span(f"    {token_words(trials, hint.lever)}", "warning" if hint.lever.over else "faint")))
    return lines


def insert_hints(lines: Sequence[Line], hints: Sequence[Line]) -> list[Line]:
    """Puts hints below the reason: above the first empty line of a page, else at its end."""
    index = next((index for index, hinted in enumerate(lines) if not hinted), len(lines))
    return [*lines[:index], *hints, *lines[index:]]
