"""The pages beside a ledger: why an item was decided as it was, its texts, and what changed since the baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from secateur.ledger import CHARS_AFTER, CHARS_BEFORE
from secateur.model import State
from secateur.render.sentences import describe_redactions, fewer_together
from secateur.terminal import visible

from secateur_tui.short_names import shorten_path
from secateur_tui.state.ledger_answer import ABSENT, LedgerAnswer, LedgerComparison
from secateur_tui.styled_text import (
    Line,
    Span,
    begin_sentence,
    clip_line,
    format_change,
    format_signed,
    line,
    spread_line,
    wrap_name,
    wrap_words,
)
from secateur_tui.widgets.text_page import ItemText, text_lines
from secateur_tui.widgets.texts import NOTHING_CHANGED, draw_changes, draw_group

STATE_WORDS: Mapping[State, str] = {
    State.KEPT: "is sent as it came",
    State.SHORTENED: "is sent shortened",
    State.SUMMARISED: "is sent in a summary",
    State.DROPPED: "nothing of it is sent",
}

_LONGEST_LIST = 100
"""Items listed under one heading; the rest is counted."""


def draw_why(answer: LedgerAnswer[Any], item: int, cells: int, facts: Sequence[Line] = ()) -> list[Line]:
    """Draws the decision in words with its figures, then further facts."""
    entry = answer.entries[item]
    state = entry.state
    head = line(Span(f"{state.glyph} {state.label.upper()}", f"bold {state.label}"))
    figures = (
        f"{entry.before:,} → {entry.after:,} tokens" if entry.after != entry.before else f"{entry.before:,} tokens"
    )
    figure = line(figures if entry.after >= 0 else fewer_together(entry.after))
    lines = [spread_line(head, figure, cells), *wrap_name(entry.id, cells)]
    if {CHARS_BEFORE, CHARS_AFTER} <= entry.figures.keys():
        before, after = entry.figures[CHARS_BEFORE], entry.figures[CHARS_AFTER]
        lines.append(line(Span(f"{before:,} → {after:,} characters", "faint")))
    lines += wrap_words(visible(begin_sentence(answer.kind.describe(answer.outcome, item).because)), cells, state.label)
    if saved := entry.before - entry.after:
        share = abs(saved) / max(1, answer.ledger.before)
        lines.append(
            line(
                Span(f"{'saves' if saved > 0 else 'costs'} {abs(saved):,} tokens, {share:.1%} of what came in", "faint")
            )
        )
    if entry.redactions:
        lines += wrap_words(f"credentials taken out: {describe_redactions(entry.redactions)}", cells, "warning")
    return [clip_line(drawn, cells) for drawn in (*lines, (), *facts)]


def text_of(state: State, before: str, after: str) -> ItemText:
    """Returns what goes out of an item, then what came in if it differs."""
    head = line(Span(f"{state.glyph} {STATE_WORDS[state]}", state.label))
    if before == after:
        return ItemText(head, [*text_lines(before)])
    lines: list[Line] = []
    if after:
        lines += [line(Span("what is sent", "bold")), *text_lines(after), ()]
    if before:
        lines += [line(Span("came in", "bold")), *text_lines(before, "" if after else "faint")]
    return ItemText(head, lines)


def draw_diff(comparison: LedgerComparison | None, entry: str, before: str, after: str, cells: int) -> list[Line]:
    """Draws what changed since the baseline, then what pruning does to the entry at the cursor."""
    name = line(Span(shorten_path(visible(entry), cells), "bold"))
    changes = draw_changes(before, after, cells) if before != after else [line(Span(STATE_WORDS[State.KEPT], "faint"))]
    return [*draw_since(comparison, cells), (), name, *changes]


def draw_since(comparison: LedgerComparison | None, cells: int) -> list[Line]:
    """Draws what changed since the baseline."""
    if comparison is None:
        return [*NOTHING_CHANGED]
    then, now = comparison.then.ledger, comparison.now.ledger
    lines = [line(Span("tokens ", "faint"), format_change(then.after, now.after))]
    if then.budget != now.budget:
        lines.append(line(Span("budget ", "faint"), format_change(then.budget, now.budget)))
    groups: dict[str, list[int]] = {title: [] for title in _GROUPS}
    for item in comparison.moved:
        groups[_group_of(comparison, item)].append(item)

    def draw_move(item: int) -> Line:
        item_then, entry = comparison.place_then(item), comparison.now.entries[item]
        before = " " if item_then == ABSENT else comparison.then.entries[item_then].state.glyph
        head = f"{before}→{entry.state.glyph} {format_signed(comparison.count_gained(item)):>8} "
        return line(head, Span(shorten_path(visible(entry.id), max(1, cells - len(head)))))

    def draw_gone(item: int) -> Line:
        return line("   ", Span(shorten_path(visible(comparison.then.entries[item].id), max(1, cells - 3))))

    for title, role in _GROUPS.items():
        lines += draw_group(title, role, groups[title], draw_move, _LONGEST_LIST)
    lines += draw_group("there no longer", "down", comparison.vanished, draw_gone, _LONGEST_LIST)
    return lines if comparison.moved or comparison.vanished else [*lines, (), line(Span("the same is sent", "faint"))]


_GROUPS = {"kept again": "up", "new": "accent", "cut now": "down", "cut differently": "accent"}
"""Headings of what changed, with their roles."""


def _group_of(comparison: LedgerComparison, item: int) -> str:
    item_then = comparison.place_then(item)
    if item_then == ABSENT:
        return "new"
    then, now = comparison.then.entries[item_then].state, comparison.now.entries[item].state
    if then == now:
        return "cut differently"
    return "kept again" if now is State.KEPT else "cut now" if then is State.KEPT else "cut differently"
