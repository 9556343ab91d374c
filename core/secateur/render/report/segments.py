"""The budget bar: one segment per item in the order of the output, one for what is around them, and the free room."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from secateur.render.report.content import DecisionReport, ReportItem
from secateur.terminal import clip

MOST_SEGMENTS = 500
"""Most segments of a bar: more would be thinner than a line, so neighbours with one state are merged."""

SHORTEST_LABEL = 8
"""Characters of the shortest name on a segment."""

_PARTS = re.compile(r"[/>] ?|\.(?=[^.]{3,}$)")
"""Marks between the parts of a name: of a path, of a heading, and before a method; not a file's extension."""

WRAPPER, FREE = "wrapper", "free"


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of the bar."""

    tokens: int
    look: str  # label of a state, WRAPPER or FREE
    told: str  # for people: "Money.round, 120 tokens, kept"
    item: int | None = None  # number of the item it leads to
    label: str = ""  # the name of the item


def segments_of(report: DecisionReport) -> list[Segment]:
    """Returns all segments. They sum to the budget, or to the tokens of the output if those are more."""
    least = max(report.budget, report.after) // MOST_SEGMENTS
    segments = [segment for run in _runs(report.going_out, least) if (segment := _segment(run)).tokens > 0]
    for state, sums in report.unlisted.items():
        if sums.after > 0:
            segments.append(
                Segment(sums.after, state.label, f"{sums.number:,} others {state.label}, {sums.after:,} tokens")
            )
    if report.wrapper > 0:
        segments.append(Segment(report.wrapper, WRAPPER, f"around the items: {report.wrapper:,} tokens"))
    if report.free:
        segments.append(Segment(report.free, FREE, f"free: {report.free:,} tokens"))
    return segments


def _runs(items: Sequence[ReportItem], least: int) -> Iterator[list[ReportItem]]:
    """Yields neighbours with one state, as many as are needed to reach so many tokens."""
    run: list[ReportItem] = []
    held = 0
    for item in items:
        if run and (held >= least or run[-1].state is not item.state):
            yield run
            run, held = [], 0
        run.append(item)
        held += item.after
    if run:
        yield run


def _segment(run: Sequence[ReportItem]) -> Segment:
    first, tokens, state = max(run, key=lambda item: item.after), sum(item.after for item in run), run[0].state
    others = f" and {len(run) - 1:,} more" if len(run) > 1 else ""
    location = f" ({first.place})" if first.place and not others else ""
    return Segment(
        tokens,
        state.label,
        f"{first.name}{location}{others}, {tokens:,} tokens, {state.label}",
        first.number,
        first.name,
    )


def fit_name(name: str, room: int) -> str:
    """Fits a name into so many characters: only its last part, or cut; "" if there is no room for a word."""
    if room < SHORTEST_LABEL:
        return ""
    if len(name) <= room:
        return name
    last = _PARTS.split(name)[-1]
    return last if last and len(last) <= room else clip(last or name, room)
