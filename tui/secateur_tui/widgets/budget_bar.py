"""The budget: how much of it is used by what. Kept + shortened + wrapper + free = budget, to the token."""

from __future__ import annotations

import numpy as np
from secateur.model import Selection, State

from secateur_tui.state.search_answer import SearchAnswer
from secateur_tui.styled_text import Line, Span, bar, first_fitting, line, signed

WRAPPER_GLYPH = "▫"


def draw_budget(answer: SearchAnswer, baseline: SearchAnswer | None, cells: int) -> list[Line]:
    """The bar and, below it, its figures; fewer words where there is less room. What is free is at least what is said
    until the pack is counted."""
    selection = answer.selection
    kept, kept_tokens = selection.counts(State.KEPT)
    short, short_tokens = selection.counts(State.SHORTENED)
    dropped, dropped_tokens = selection.counts(State.DROPPED)
    shortened = selection.state == State.SHORTENED
    saved = int((selection.pool.tokens - selection.pool.sig_tokens)[shortened].sum())
    wrapper = answer.tokens - kept_tokens - short_tokens
    free = selection.budget - answer.tokens
    drawn = bar(
        [
            (kept_tokens, "█", "kept"),
            (short_tokens, "▓", "shortened"),
            (max(0, wrapper), "▒", "faint"),
            (free, "·", "faint"),
        ],
        selection.budget,
        cells,
    )

    was = line(f"   was {baseline.tokens:,} ({signed(answer.tokens - baseline.tokens)})") if baseline else ()
    least_free = "" if answer.recounted is not None else "≥ "
    end = (Span(f"free {least_free}{free:,} of {selection.budget:,}", "bold"), *was)
    full = line(Span("● kept ", "kept"), f"{kept_tokens:,} ({kept:,})  ")
    brief = line(Span("● ", "kept"), f"{kept_tokens:,} ({kept:,})  ")
    least = line(Span("● ", "kept"), f"{kept:,}  ")
    if short:
        full += line(Span("◐ shortened ", "shortened"), f"{short_tokens:,} ({short:,}, saved {saved:,})  ")
        brief += line(Span("◐ ", "shortened"), f"{short_tokens:,} ({short:,})  ")
        least += line(Span("◐ ", "shortened"), f"{short:,}  ")
    full += line(
        Span("○ dropped ", "dropped"),
        f"{dropped_tokens:,} ({dropped:,})  ",
        Span(f"{WRAPPER_GLYPH} wrapper ", "faint"),
        f"{wrapper:,}  ",
    )
    brief += line(
        Span("○ ", "dropped"),
        f"{dropped_tokens:,} ({dropped:,})  ",
        Span(f"{WRAPPER_GLYPH} ", "faint"),
        f"{wrapper:,}  ",
    )
    least += line(Span("○ ", "dropped"), f"{dropped:,}  ")
    return [drawn, first_fitting([full + end, brief + end, least + end, end], cells)]


def draw_gap(selection: Selection, cells: int) -> Line:
    """Draws how far the last that goes out is from the first that does not, by rank and by what the strategy orders
    by."""
    goes_out = selection.state[selection.order] != State.DROPPED
    if goes_out.all() or not goes_out.any():
        words = "everything goes out" if goes_out.any() else "nothing goes out"
        return first_fitting([line(f" {words} "), ()], cells)
    last_place, first_place = int(np.flatnonzero(goes_out)[-1]), int(np.argmin(goes_out))
    last, first = selection.order[last_place], selection.order[first_place]
    rank_last, rank_first = last_place + 1, first_place + 1
    gap = selection.score[last] - selection.score[first]
    figures = (
        f"last out #{rank_last:,} {selection.score[last]:.3f} · first dropped #{rank_first:,}"
        f" {selection.score[first]:.3f}"
    )
    distance = f"gap {'−' if gap < 0 else ''}{abs(gap):.3f}"
    skipped = ", skipped past" if rank_first < rank_last else ""
    variants = (
        f" {figures} · {distance}{skipped} ",
        f" {figures} · {distance} ",
        f" {distance} #{rank_last:,}/#{rank_first:,} ",
    )
    return first_fitting([*(line(variant) for variant in variants), ()], cells)
