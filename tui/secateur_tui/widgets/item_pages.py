"""The pages beside a list, for every kind: why an item was decided as it was, its texts, and what changed since the
baseline; what stands in place of a list; and lines that several pages draw."""

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from secateur.errors import SecateurError
from secateur.index.update.refresh import IndexStatus
from secateur.ledger import CHARS_AFTER, CHARS_BEFORE
from secateur.model import Pool, State
from secateur.progress import FIRST
from secateur.render.page import count_noun, describe_redactions, fewer_together, shown_notices
from secateur.terminal import visible

from secateur_tui.jobs import IndexProgress
from secateur_tui.short_names import shorten_path
from secateur_tui.state.answer import ABSENT, AnswerComparison, ShownAnswer
from secateur_tui.styled_text import (
    Line,
    Span,
    begin_sentence,
    clip_line,
    count_fitting,
    format_change,
    format_places,
    format_signed,
    line,
    outside,
    spread_line,
    stack_bar,
    wrap_name,
    wrap_words,
)
from secateur_tui.widgets.text_view import ItemText, text_lines

T = TypeVar("T")

LONGEST_COMPARED = 20_000  # characters of a text that are compared: some dozen screens
MOST_COMPARED = 400  # lines that are compared: the comparison may take the square of it


# The page of changes while nothing differs from the baseline.
NOTHING_CHANGED: Sequence[Line] = (
    line(Span("nothing has changed yet", "faint")),
    line(Span("turn a knob and the difference shows here", "faint")),
)


LONGEST_LIST = 200  # items listed under one heading; the rest is counted
_MOVES = 8  # largest moves in rank that are listed


def draw_rest(count: int, listed: int = LONGEST_LIST) -> list[Line]:
    """Draws the number of lines that a list leaves out, if it leaves any out."""
    return [line(Span(f"and {count - listed:,} more", "faint"))] if count > listed else []


def draw_group(
    title: str, role: str, items: Sequence[T], draw: Callable[[T], Line], most: int = LONGEST_LIST
) -> list[Line]:
    """Draws items below an empty line and a heading that counts them, at most `most` of them; nothing without items."""
    if not items:
        return []
    heading = line(Span(f"{title} ({len(items):,})", role))
    return [(), heading, *map(draw, items[:most]), *draw_rest(len(items), most)]


def draw_changes(before: str, after: str, cells: int) -> list[Line]:
    """Line by line what goes (−), comes (+) and stays."""
    then, now = (visible(text[:LONGEST_COMPARED], keep_newlines=True).split("\n") for text in (before, after))
    longer = max(len(before), len(after)) > LONGEST_COMPARED or max(len(then), len(now)) > MOST_COMPARED
    then, now = then[:MOST_COMPARED], now[:MOST_COMPARED]
    drawn: list[Line] = []
    for kind, start, stop, begin, end in difflib.SequenceMatcher(None, then, now, autojunk=False).get_opcodes():
        goes, comes = ("−", then[start:stop], "down"), ("+", now[begin:end], "up")
        for mark, texts, role in [(" ", then[start:stop], "faint")] if kind == "equal" else [goes, comes]:
            for text in texts:
                for number, part in enumerate(wrap_text(text, max(1, cells - 2))):
                    drawn.append(line(Span(f"{' ' if number else mark} {part}", role)))
    return [*drawn, *([line(Span("… what is further down is not compared", "faint"))] if longer else [])]


def wrap_text(text: str, cells: int) -> Iterator[str]:
    """Yields lines of a text made visible already, cut at blanks where there are any."""
    for rest in text.split("\n"):
        while (cut := count_fitting(rest[: cells + 1], cells)) < len(rest):
            blank = rest.rfind(" ", 1, cut + 1)
            at = blank if blank > cut // 2 else cut
            yield rest[:at]
            rest = rest[at:].removeprefix(" ")
        yield rest


STATE_WORDS: Mapping[State, str] = {
    State.KEPT: "is sent as it came",
    State.SHORTENED: "is sent shortened",
    State.SUMMARISED: "is sent in a summary",
    State.DROPPED: "nothing of it is sent",
}


def draw_why(answer: ShownAnswer[Any], item: int, cells: int, facts: Sequence[Line] = ()) -> list[Line]:
    """Draws the decision in words with its figures, then further facts."""
    entry = answer.entries[item]
    state = entry.state
    head = line(Span(f"{state.glyph} {state.label.upper()}", f"bold {state.label}"))
    became = f" → {entry.after:,}" if entry.after != entry.before else ""
    figures = f"{entry.before:,}{became} tokens" if entry.after >= 0 else fewer_together(entry.after)
    lines = [spread_line(head, line(figures), cells), *wrap_name(entry.id, cells)]
    if {CHARS_BEFORE, CHARS_AFTER} <= entry.figures.keys():
        before, after = entry.figures[CHARS_BEFORE], entry.figures[CHARS_AFTER]
        lines.append(line(Span(f"{before:,} → {after:,} characters", "faint")))
    lines += wrap_words(visible(begin_sentence(answer.kind.describe(answer.outcome, item).because)), cells, state.label)
    if saved := entry.before - entry.after:
        verb, share = "saves" if saved > 0 else "costs", abs(saved) / max(1, answer.ledger.before)
        lines.append(line(Span(f"{verb} {abs(saved):,} tokens, {share:.1%} of what came in", "faint")))
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


def draw_name(answer: ShownAnswer[Any], item: int, cells: int) -> Line:
    """Draws an item by its id."""
    return line(Span(shorten_path(visible(answer.ids[item]), max(1, cells))))


def draw_since(
    comparison: AnswerComparison | None,
    cells: int,
    head: Sequence[Line] = (),
    draw_item: Callable[[ShownAnswer[Any], int, int], Line] = draw_name,
) -> list[Line]:
    """Draws what changed since the baseline. `head`: its first lines, if not those about tokens and budget; `draw_item`
    draws an item of an answer in so many cells."""
    if comparison is None:
        return [*NOTHING_CHANGED]
    then, now, was, flipped = comparison.then, comparison.now, comparison.state_then, comparison.flipped
    if not head:
        head = [line(Span("tokens ", "faint"), format_change(then.tokens, now.tokens))]
        budgets = then.ledger.budget, now.ledger.budget
        head += [line(Span("budget ", "faint"), format_change(*budgets))] if budgets[0] != budgets[1] else []
    ranked, new = now.rank is not None, comparison.item_then == ABSENT
    if ranked:
        order, entered, left = now.order, was == State.DROPPED, now.state == State.DROPPED
        groups = [
            ("entered", "up", flipped & entered),
            ("left", "down", flipped & left),
            ("cut differently", "accent", flipped & ~entered & ~left),
        ]
    else:
        order, moved = np.arange(len(now)), (flipped | (comparison.gained != 0)) & ~new
        again, cut = flipped & (now.state == State.KEPT), flipped & (was == State.KEPT)
        groups = [
            ("kept again", "up", moved & again),
            ("new", "accent", new),
            ("cut now", "down", moved & cut),
            ("cut differently", "accent", moved & ~again & ~cut),
        ]

    def draw_flip(item: int) -> Line:
        before = " " if new[item] else State(int(was[item])).glyph
        figure = f"{int(now.before[item]):>6,}" if ranked else f"{format_signed(int(comparison.gained[item])):>8}"
        start = f"{before}→{now.state_of(item).glyph} {figure} "
        return (Span(start), *draw_item(now, item, cells - len(start)))

    def draw_gone(item: int) -> Line:
        start = f"   {int(then.before[item]):>6,} " if ranked else "   "
        return (Span(start), *draw_item(then, item, cells - len(start)))

    def draw_climb(item: int) -> Line:
        climbed = int(comparison.climbed[item])
        start = Span(format_places(climbed).rjust(6), "up" if climbed > 0 else "down")
        return (start, Span("  "), *draw_item(now, item, cells - 8))

    lines = [*head]
    for title, role, mask in groups:
        lines += draw_group(title, role, order[mask[order]].tolist(), draw_flip)
    gone = "no longer candidates" if ranked else "there no longer"
    lines += draw_group(gone, "down", comparison.vanished, draw_gone)
    climbed = np.where(flipped, 0, np.abs(comparison.climbed))
    by_size = order[np.argsort(-climbed[order], kind="stable")][: int((climbed > 0).sum())].tolist()
    lines += draw_group("moved", "faint", by_size, draw_climb, _MOVES)
    if len(lines) == len(head):
        same = "the same candidates are sent, in the same order" if ranked else "the same is sent"
        lines += [(), line(Span(same, "faint"))]
    return [clip_line(drawn, cells) for drawn in lines]


def draw_diff(comparison: AnswerComparison | None, entry: str, before: str, after: str, cells: int) -> list[Line]:
    """Draws what changed since the baseline, then what pruning does to the entry at the cursor."""
    name = line(Span(shorten_path(visible(entry), cells), "bold"))
    changes = draw_changes(before, after, cells) if before != after else [line(Span(STATE_WORDS[State.KEPT], "faint"))]
    return [*draw_since(comparison, cells), (), name, *changes]


_LONGEST_BAR = 50


def draw_progress(
    source: str, progress: IndexProgress | None, cells: int, unit: str = "", meanwhile: str = ""
) -> list[Line]:
    """Something is being read, of which so many units are: files. `meanwhile`: what can be done before a first reading
    is over."""
    lines = [*wrap_words(f"Reading {visible(source)}", cells, "bold"), ()]
    if progress is None:
        return [*lines, line(Span("looking for changed files …" if unit else "opening …", "faint"))]
    total = max(progress.total, progress.done)
    units = unit.removesuffix("s") if total == 1 else unit
    figures = f"  {progress.done:,} of {total:,} {units}".rstrip() if total else " …"
    lines.append(line(outside(progress.phase), figures))
    if total:
        lines.append(
            stack_bar(
                [(progress.done, "━", "accent"), (total - progress.done, "─", "faint")], total, min(cells, _LONGEST_BAR)
            )
        )
    if meanwhile and progress.phase == FIRST:
        lines += [(), *wrap_words(meanwhile, cells, "faint")]
    return lines


def draw_error(error: SecateurError, cells: int) -> list[Line]:
    """Draws what went wrong, where, and what to do."""
    lines = wrap_words(visible(error.message), cells, "error")
    if error.hint:
        lines += [(), *wrap_words(visible(error.hint), cells)]
    return lines


def draw_no_match(query: str, pool: Pool, status: IndexStatus | None, cells: int) -> list[Line]:
    """Says why the pool is empty: nothing is indexed, or nothing matched."""
    if status is not None and status.fragments == 0:
        lines = wrap_words("Nothing is indexed here: no readable source file was found.", cells, "warning")
        return [
            *lines,
            (),
            *wrap_words("`secateur status` lists what was skipped and why.", cells, "faint"),
            *_draw_warnings(pool, cells),
        ]
    lines = wrap_words(f"Nothing matched {visible(query)}", cells, "warning")
    lines += [
        (),
        *wrap_words("Other words, a name from the code, or a larger depth may find something.", cells, "faint"),
    ]
    return [*lines, *draw_indexed(status, cells), *_draw_warnings(pool, cells)]


def draw_indexed(status: IndexStatus | None, cells: int) -> list[Line]:
    """Draws how much is indexed, below an empty line; nothing while that is not known."""
    if status is None:
        return []
    words = f"{count_noun(status.files, 'file')}, {count_noun(status.fragments, 'fragment')} indexed"
    return [(), *wrap_words(words, cells, "faint")]


def _draw_warnings(pool: Pool, cells: int) -> list[Line]:
    shown = (warning.message for warning in shown_notices(pool.warnings))
    return [part for message in shown for part in ((), *wrap_words(visible(message), cells, "warning"))]
