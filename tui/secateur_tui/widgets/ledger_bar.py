"""The budget of a ledger: what goes out, by what was done to it, and what is free. They sum to the budget, to the
token, or say by how much it is exceeded."""

from __future__ import annotations

from typing import Any

from secateur.model import State

from secateur_tui.state.ledger_answer import LedgerAnswer, LedgerComparison, Sum
from secateur_tui.styled_text import Line, Span, bar, first_fitting, line, signed

_TEXTURES = {State.KEPT: "█", State.SHORTENED: "▓", State.SUMMARISED: "▒", State.DROPPED: "░"}


def draw_budget(answer: LedgerAnswer[Any], comparison: LedgerComparison | None, cells: int) -> list[Line]:
    """The bar and, below it, its figures; fewer words where there is less room. Where the budget is exceeded the bar is
    as long as what goes out."""
    ledger = answer.ledger
    free = ledger.budget - ledger.after
    parts = [(float(answer.sums[state].after), texture, state.label) for state, texture in _TEXTURES.items()]
    if free < 0:
        parts = [*_shortened(parts, float(ledger.budget)), (float(-free), "▚", "error")]
    drawn = bar([*parts, (float(max(0, free)), "·", "faint")], max(ledger.budget, ledger.after), cells)
    room = (
        Span(f"free {free:,} of {ledger.budget:,}", "bold")
        if free >= 0
        else Span(f"{-free:,} over {ledger.budget:,}", "bold error")
    )
    reserve = line(Span(f"  reserve {answer.reserve:,}", "faint")) if answer.reserve else ()
    was = line(f"   was {comparison.then.ledger.after:,} ({signed(comparison.tokens)})") if comparison else ()
    end = (room, *reserve, *was)
    full, brief, least = (), (), ()  # type: tuple[Line, Line, Line]
    for state in _TEXTURES:
        total = answer.sums[state]
        if total.items or state is State.KEPT:
            full += line(Span(f"{state.glyph} {state.label} ", state.label), _figures(state, total))
            brief += line(Span(f"{state.glyph} ", state.label), f"{total.after:,} ({total.items:,})  ")
            least += line(Span(f"{state.glyph} ", state.label), f"{total.items:,}  ")
    return [
        drawn,
        first_fitting([(*full, *end), (*brief, *end), (*brief, room, *was), (*least, room, *was), (room,)], cells),
    ]


def _figures(state: State, total: Sum) -> str:
    saved = "" if state is State.KEPT else f", saved {total.before - total.after:,}"
    return f"{total.after:,} ({total.items:,}{saved})  "


def _shortened(parts: list[tuple[float, str, str]], to: float) -> list[tuple[float, str, str]]:
    """The first of the parts, `to` tokens of them."""
    out = []
    for amount, texture, role in parts:
        out.append((min(amount, to), texture, role))
        to -= out[-1][0]
    return out
