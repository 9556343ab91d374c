"""The lines that tell of a scenario: whether it holds, what does not, what the settings are worth for judged items."""

from __future__ import annotations

from secateur.evaluation.metrics import AT, Figures
from secateur.scenarios.check import CheckVerdict, Result
from secateur.scenarios.report import MARKS, status_line, text_report
from secateur.scenarios.scenario import STATE_LISTS, Expect
from secateur.terminal import visible

from secateur_tui.styled_text import Line, Span, clipped, first_fitting, line, wrapped

_ROLES = {CheckVerdict.PASSED: "success", CheckVerdict.CHANGED: "warning", CheckVerdict.FAILED: "error"}


def draw_status(result: Result, key: str, cells: int) -> Line:
    """Draws whether a scenario holds, and the first reason why not. `key` shows all reasons."""
    more = f"  {key} tells all" if key and result.verdict is not CheckVerdict.PASSED else ""
    words = f"{MARKS[result.verdict]} {visible(status_line(result))}"
    told = clipped(line(Span(words, _ROLES[result.verdict])), max(1, cells - len(more)))
    return (*told, Span(more, "faint"))


def draw_findings(result: Result, expect: Expect, cells: int) -> list[Line]:
    """Draws what `secateur check` prints of a scenario, and the states that it asserts."""
    text = text_report([result], verbose=True).rpartition("\n\n")[0]
    lines = [part for row in text.split("\n") for part in _indented(row, cells)]
    asserted = [f"{name} {id_}" for name in STATE_LISTS for id_ in getattr(expect, name)]
    told = [part for row in asserted for part in wrapped(visible(row), cells, "faint")]
    return [*lines, *([(), line(Span("asserted", "bold")), *told] if told else [])]


def _indented(row: str, cells: int) -> list[Line]:
    """A row of the report with its indent, also where it goes on in further lines."""
    told = row.lstrip(" ")
    return wrapped(told, cells, indent=" " * min(len(row) - len(told), cells // 2)) if told else [()]


def draw_figures(now: Figures, was: Figures, cells: int) -> Line:
    """Draws what the settings are worth for the judged items, beside what those were worth that it began with."""
    if was != now:
        moved = (f"{was.recall:.2f}→{now.recall:.2f}", f"{was.ndcg:.2f}→{now.ndcg:.2f}")
        return line(" judged  ", Span(f"recall {moved[0]}  nDCG@{AT} {moved[1]}", "bold"))
    figures = Span(f"recall {now.recall:.2f}", "bold"), Span(f"  nDCG@{AT} {now.ndcg:.2f}", "bold")
    counts = f" ({now.found:,} of {now.judged:,})"
    return first_fitting([line(" judged  ", figures[0], counts, figures[1]), line(" judged  ", *figures)], cells)
