"""The title line: what is read, with which profile and counter, how many candidates, and whether the index is what is on disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from secateur_tui.ink import Line, Span, clipped, line, outside, width


@dataclass(frozen=True, slots=True)
class TitleFacts:
    """What the line says. `fresh` is None while unknown; `activity` takes the place of the mark while something runs."""

    source: str
    profile: str
    changed: bool
    counter: str
    candidates: int | None
    fresh: bool | None
    activity: str
    benches: Sequence[tuple[str, bool]]  # (name, shown now)


def draw_title(facts: TitleFacts, cells: int) -> Line:
    """One line. With too little room the words before values go first, then the benches, the counter and the candidates; the source is clipped last."""
    count = () if facts.candidates is None else line(f"   {facts.candidates:,} candidate{'' if facts.candidates == 1 else 's'}")
    profile = line(outside(facts.profile), Span("*" if facts.changed else "", "accent"))
    counter = line(outside(facts.counter))
    benches = tuple(Span(f"   {name}", "bold" if current else "faint") for name, current in facts.benches)
    mark = _mark(facts)
    tails: list[Line] = [
        (Span("   profile ", "faint"), *profile, Span("   tokens ", "faint"), *counter, *count, *mark, *benches),
        (Span("   "), *profile, Span("   "), *counter, *count, *mark, *benches),
        (Span("   "), *profile, Span("   "), *counter, *count, *mark),
        (Span("   "), *profile, *count, *mark),
        (Span("   "), *profile, *mark),
    ]
    source = line(Span(" secateur  ", "bold"), outside(facts.source))
    tail = next((tail for tail in tails if width(source) + width(tail) <= cells), tails[-1])
    return clipped((*clipped(source, max(1, cells - width(tail))), *tail), cells)


def _mark(facts: TitleFacts) -> Line:
    if facts.activity:
        return line(Span("   ◌ ", "accent"), outside(facts.activity, "accent"))
    if facts.fresh is None:
        return ()
    return line("   ", Span("● fresh", "success") if facts.fresh else Span("◌ stale", "warning"))
