"""The report as plain lines for screen readers and pipes: words for states and no drawing; one line per item."""

from __future__ import annotations

from collections.abc import Iterator

from secateur.ledger import State
from secateur.render.report.content import DecisionReport, ReportItem, state_words
from secateur.terminal import clip, visible

BEGINNING = 120
"""Cells for the beginning of an item whose name does not identify it."""


def plain_lines(report: DecisionReport) -> str:
    """Describes everything that the screen shows of a decision, in its order, ending in a line break."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: DecisionReport) -> Iterator[str]:
    source = f", {report.source}" if report.source else ""
    yield f"secateur, {report.kind}{source}"
    for line in report.question.split("\n"):
        yield f"asked: {line}"
    yield f"budget: {report.after:,} of {report.budget:,} tokens go out, {report.before:,} came in{report.saved_words}"
    counts = "; ".join(state_words(report)) or "nothing"
    yield f"decided: {counts}; {report.wrapper:,} tokens around them, {report.free:,} free"
    for label, text in report.figures:
        yield f"{label}: {text}" if label else text
    for label, value in report.knobs:
        yield f"knob {label}: {value}"
    for notice in report.notices:
        yield f"warning {notice.code}: {visible(notice.message)}"
    yield f"{report.noun}: {sum(sums.number for sums in report.counts.values()):,}"
    for item in report.items:
        yield _line(item, report)
    for state, sums in report.unlisted.items():
        if sums.number:
            yield f"not listed: {sums.number:,} {state.label}, {sums.before:,} tokens came in, {sums.after:,} go out"
    yield f"command: {report.command}"


def _line(item: ReportItem, report: DecisionReport) -> str:
    parts = [f"{item.number:,} {item.state.label}: {item.name}" + (f", {item.place}" if item.place else "")]
    parts.append(_tokens(item))
    if report.scored:
        terms = ", ".join(f"{name} {value:.3f}" for name, value in item.terms.items())
        parts.append(f"score {item.score:.3f} ({terms})")
        if item.position and item.state is not State.DROPPED:
            parts.append(f"place {item.position:,} in what goes out")
    parts.append(item.reason)
    if item.beside:
        parts.append(f"begins: {clip(item.beside, BEGINNING)}")
    return "; ".join(parts)


def _tokens(item: ReportItem) -> str:
    if item.after == item.before:
        return f"{item.after:,} tokens"
    return f"{item.after:,} tokens, {'of' if item.after < item.before else 'before'} {item.before:,}"
