"""The candidates of a search: as a list by rank, each with its places moved, decision, name and place, tokens, priority
and what the priority is made of; what changed since the baseline; and why one was decided as it was: the decision in
words with its figures, each term taken apart, the way it was found."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from secateur.index.facts.lexical import find_terms, word_terms, words
from secateur.kinds.knobs import decimal
from secateur.model import Channel, Decision, Pool, Reason, Selection, State
from secateur.render.page import count_noun, describe_redactions
from secateur.render.text import kind_of, why
from secateur.sources.git import HistoryCommit
from secateur.terminal import cell_width, visible

from secateur_tui.short_names import NAME, Label, ListColumn, shorten_path, shorten_words
from secateur_tui.state.answer import AnswerComparison, SameColumn, SearchAnswer, ShownAnswer
from secateur_tui.styled_text import (
    Line,
    Span,
    begin_sentence,
    choose_fitting,
    clip_line,
    fit_text,
    format_change,
    format_places,
    line,
    spread_line,
    stack_bar,
    width,
    wrap_name,
    wrap_words,
)
from secateur_tui.widgets.item_pages import draw_name, draw_since
from secateur_tui.widgets.knob_panel import SIGNALS, effective_distance, value_and_weight
from secateur_tui.widgets.listing import ItemListing, draw_label, mark_order, measure_labels

# Cells of the bar of terms. It matters more than all but the name: every screen of 100 columns has it; what a wider one
# has more is for names and places.
_BREAKDOWN = 10

_NAME_CELLS, _PLACE_CELLS = 20, 12  # cells that names take before paths have any, and the least of paths

# Titles of the column that shows what the list is ordered by.
TITLES = {
    "priority": "prio",
    "density": "dens",
    "relevance": "rel",
    "hotspot": "hot",
    "distance": "dist",
    "preference": "pref",
}


class CandidateListing(ItemListing):
    """See the module docstring; an item is a row of the pool. The last column shows what orders the list."""

    titles: ClassVar[tuple[str, str]] = ("name", "in")
    spends_in_order: ClassVar[bool] = True

    def make_columns(self) -> Sequence[ListColumn]:
        answer: SearchAnswer = self.answer
        self._figures = {**answer.figures, answer.ordered_by: answer.selection.score}
        by = self.sorted_by if self.sorted_by in (NAME, *self._figures) else answer.ordered_by
        self._figure = answer.ordered_by if by in (NAME, "tokens") else by
        columns = _columns(SameColumn(answer.ids, answer), self._figure)
        return mark_order(columns, by if by in (NAME, "tokens") else "order")

    @staticmethod
    def label_of(answer: Any, item: int) -> Label:
        """Returns the name and the place of a candidate; what has no name is called as its file."""
        path = visible(answer.paths[item])
        name = visible(answer.names[item]) or path.rpartition("/")[2]
        return Label(name, f"{path}:{int(answer.selection.pool.line_start[item])}")

    def label(self, item: int) -> Label:
        label = super().label(item)
        return label._replace(repository=label.place.partition("/")[0]) if self.of_workspace else label

    def change_words(self, change: int) -> str:
        return format_places(change)

    def describe_item(self, item: int) -> str:
        columns = self.answer.selection.pool.parts.get("relevance", {})
        parts = {part: float(column[item]) for part, column in columns.items()}
        largest = max(parts, key=parts.__getitem__, default="")
        most = f" · most relevance: {largest} {parts[largest]:.2f}" if largest and parts[largest] > 0 else ""
        return super().describe_item(item) + most

    def cell(self, item: int, column: ListColumn, cells: int) -> Line:
        selection, id_ = self.answer.selection, column.id
        if id_ == "rank":
            return (Span(f"{int(selection.rank[item]):,}", "faint"),)
        if id_ == "tokens":
            return (Span(f"{int(selection.pool.tokens[item]):,}"),)
        if id_ == "order":
            return (Span(order_figure(float(self._figures[self._figure][item]), self._figure)),)
        amounts = {name: float(column[item]) for name, column in selection.terms.items()}
        positive = sum(amount for amount in amounts.values() if amount > 0)
        # A boost below 1 takes from the other terms what it takes from the priority.
        share = min(1.0, float(selection.priority[item]) / positive) if positive > 0 else 0.0
        parts = [(amount * share, SIGNALS[name].texture, name) for name, amount in amounts.items()]
        return stack_bar(parts, self.answer.highest, cells)


def order_figure(value: float, name: str) -> str:
    """Returns a figure that a list is ordered by, in five cells; densities are small, and have four decimals."""
    return f"{value:.4f}"[int(value < 1) :][:5] if name == "density" else f"{value:.3f}"


@lru_cache(maxsize=4)
def _columns(ids: SameColumn, figure: str) -> tuple[ListColumn, ...]:
    """Returns the columns of all answers from a pool: they stay where they are while knobs turn. `figure` is that of
    the last column."""
    digits, most = len(f"{len(ids.values):,}"), int(ids.of.before.max(initial=0))
    name, place = measure_labels(CandidateListing.label_of, CandidateListing.titles, ids)
    return (
        ListColumn.fixed("rank", "#", max(2, digits), 3),
        ListColumn.fixed("delta", "Δ", max(3, digits + 1), 5),
        ListColumn.fixed("state", "", 2, 0),
        replace(name, wants=min(name.wants, _NAME_CELLS)),
        replace(place, matters=7, least=min(place.least, _PLACE_CELLS)),
        ListColumn("terms", "why", _BREAKDOWN, _BREAKDOWN, 2),
        ListColumn.fixed("tokens", "tok", max(5, len(f"{most:,}")), 4),
        ListColumn.fixed("order", TITLES[figure], 5, 6),
    )


def draw_gap(selection: Selection, cells: int, by: str = "priority") -> Line:
    """Draws how far the last candidate that goes out is from the first that does not, by rank and by the score that
    orders the list."""
    goes_out = selection.state[selection.order] != State.DROPPED
    if goes_out.all() or not goes_out.any():
        words = "everything is sent" if goes_out.any() else "nothing is sent"
        return choose_fitting([line(f" {words} "), ()], cells)
    last_place, first_place = int(np.flatnonzero(goes_out)[-1]), int(np.argmin(goes_out))
    last, first = selection.order[last_place], selection.order[first_place]
    rank_last, rank_first = last_place + 1, first_place + 1
    gap = selection.score[last] - selection.score[first]
    out = f"#{rank_last:,} {order_figure(selection.score[last], by)}"
    dropped = f"#{rank_first:,} {order_figure(selection.score[first], by)}"
    figures = f"last out {out} · first dropped {dropped}"
    far = order_figure(abs(gap), by)
    distance = f"gap {'−' if gap < 0 and far.strip('0.') else ''}{far}"
    skipped = ": smaller fitted" if rank_first < rank_last else ""
    ranks = f"#{rank_last:,}/#{rank_first:,}"
    short = f" {out} out · {dropped} dropped · {distance}{skipped} "
    variants = f" {figures} · {distance}{skipped} ", short, f" {distance} {ranks}{skipped} ", f" {distance} {ranks} "
    return choose_fitting([*map(line, variants), ()], cells)


def draw_trim_diff(comparison: AnswerComparison | None, cells: int) -> list[Line]:
    """Draws what changed since the baseline."""
    if comparison is None:
        return draw_since(None, cells)
    then, now = comparison.then, comparison.now
    old, new = then.ledger.budget, now.ledger.budget
    budgets = f"{new:,}" if old == new else f"{old:,} → {new:,}"
    out = (int((answer.state != State.DROPPED).sum()) for answer in (then, now))
    order = now.outcome.payload.selection.strategy
    head = [
        line(Span("tokens ", "faint"), format_change(then.tokens, now.tokens), Span("  of ", "faint"), budgets),
        line(Span("out    ", "faint"), format_change(*out), Span("  in order by ", "faint"), order),
    ]
    return draw_since(comparison, cells, head, _draw_candidate)


def _draw_candidate(answer: ShownAnswer[Any], row: int, cells: int) -> Line:
    """Draws a candidate by its name, and behind it its place; of a scenario's recorded decision there is the name
    alone."""
    if not isinstance(answer, SearchAnswer):
        return draw_name(answer, row, cells)
    label = CandidateListing.label_of(answer, row)
    name = min(cell_width(label.name), max(1, cells))
    return draw_label(label, name, max(0, cells - name - 1))


_SHORTEST_BAR = 3
_COMMIT_CELLS = 7
_LINES, _WORD_CELLS = 6, 14  # lines that are listed for a word, and the width of the column of words


def format_figure(number: float) -> str:
    """Formats a number with three decimals."""
    return f"{number:.3f}".replace("-", "−")


def draw_why(
    answer: SearchAnswer,
    row: int,
    cells: int,
    *,
    query_lines: Mapping[str, Sequence[int]] | None = None,
    commits: Sequence[HistoryCommit] = (),
) -> list[Line]:
    """Draws everything about the decision on `row`.

    Args:
        query_lines: per word of the query the lines of its text that hold it; None while that is not known.
        commits: the last that changed its file.
    """
    selection, pool = answer.selection, answer.selection.pool
    decision = selection.decision(row)
    state = decision.state
    head = line(
        Span(f"{state.glyph} {state.label.upper()} #{decision.rank:,}", f"bold {state.label}"),
        Span(f" of {len(selection):,}", "faint"),
    )
    lines = [spread_line(head, line(f"priority {format_figure(decision.priority)}"), cells)]
    lines += wrap_name(pool.qualname[row] or "(no name)", cells, "bold")
    about = Span(f"  {visible(pool.kind[row])}, {visible(pool.language[row])}", "faint")
    if width((*lines[-1], about)) <= cells:
        lines[-1] = (*lines[-1], about)
    else:
        lines.append(line(about))
    place = f"{visible(pool.path[row])}:{int(pool.line_start[row])}-{int(pool.line_end[row])}"
    lines.append(line(Span(shorten_path(place, cells))))
    because = begin_sentence(why(selection, decision))
    if decision.reason in (Reason.FITS, Reason.NO_ROOM):  # room decided: what was left at its turn, and what it needs
        text, needs = decision.tokens_before, "needs" if decision.reason is Reason.NO_ROOM else "needed"
        around = decision.needed - text
        parts = f": {text:,} of text, {around:,} of heading" if around > 0 else ""
        left = count_noun(decision.left, "token was", "tokens were")
        because = f"At its turn {left} left; it {needs} {decision.needed:,}{parts}."
    lines += wrap_words(because, cells, state.label)
    if taken := pool.redactions.get(row):
        lines += wrap_words(f"credentials taken out: {describe_redactions(taken)}", cells, "warning")
    if kind := kind_of(pool):
        lines += wrap_words(f"query: {kind}", cells, "faint")
    lines.append(())
    for name, term in decision.terms.items():
        lines += _draw_term(answer, decision, name, term, cells)
    lines.append(line(Span("sum = priority ", "faint"), format_figure(sum(decision.terms.values()))))
    ordered = ""
    if selection.strategy == "density" and pool.short_query:
        ordered = "ordered by priority: of a short query, density leaves size out"
    elif selection.strategy == "density":
        power, density = (
            answer.settings.smart_pruning.density_exponent,
            format_figure(float(selection.score[row])),
        )
        ordered = f"ordered by density: priority × evidence / relevance / cost^{power:g} = {density}"
    elif selection.strategy == "relevance":
        ordered = "ordered by relevance alone, the priority is shown for comparison"
    lines += [*wrap_words(ordered, cells, "faint"), (), *_draw_origin(answer, row, cells)]
    lines += _draw_words(pool, row, query_lines, cells)
    lines += [line("last commits of the file")] if commits else []
    for commit in commits:
        day = datetime.fromtimestamp(commit.time, tz=UTC).date().isoformat()
        start = f"  {commit.id[:_COMMIT_CELLS]} {day} "
        subject = shorten_words(visible(commit.subject), max(1, cells - len(start)))
        lines.append(line(Span(start, "faint"), Span(subject)))
    around_it = (
        f"at most {int(pool.cost[row]):,} with its wrapper, and {int(pool.heading[row]):,} for its file's heading"
    )
    lines.append(line(f"{decision.tokens_before:,} tokens", Span(f", {around_it}", "faint")))
    if state is State.SHORTENED:
        lines.append(line(Span("its declaration alone: ", "faint"), f"{decision.tokens_after:,} tokens"))
    return [clip_line(drawn, cells) for drawn in lines]


def _draw_words(pool: Pool, row: int, query_lines: Mapping[str, Sequence[int]] | None, cells: int) -> list[Line]:
    if not (terms := pool.facts.get("terms", {})) or query_lines is None:
        return []
    asked = {term: word for word in reversed(words(pool.query)) for term in word_terms(word) if term in terms}
    named = {term for _, _, term in find_terms(visible(pool.qualname[row]), terms)}
    placed = {term for _, _, term in find_terms(visible(pool.path[row]), terms)}
    lines, missing = [line("words of the query")], []
    for term in terms:
        shown, lines_of_term = visible(asked.get(term, term)), query_lines.get(term, ())
        where = [*(["name"] if term in named else []), *(["path"] if term in placed else [])]
        if lines_of_term:
            more = f" and {len(lines_of_term) - _LINES:,} more" if len(lines_of_term) > _LINES else ""
            first = ", ".join(map(str, lines_of_term[:_LINES]))
            where.append(f"line{'s' if len(lines_of_term) > 1 else ''} {first}{more}")
        elif not where:
            missing.append(shown)
        for index, part in enumerate(wrap_words(" · ".join(where), max(10, cells - _WORD_CELLS - 3), "faint")):
            word = fit_text(shown if index == 0 else "", _WORD_CELLS)
            lines.append((Span("  "), Span(word, "match" if index == 0 else ""), Span(" "), *part))
    return [*lines, *(wrap_words(f"not in it: {', '.join(missing)}", cells, "faint", indent="  ") if missing else [])]


def _draw_term(answer: SearchAnswer, decision: Decision, name: str, term: float, cells: int) -> list[Line]:
    signal, pool, row = SIGNALS[name], answer.selection.pool, decision.row
    if (factors := value_and_weight(name, pool, answer.settings, row)) is None:
        factor = answer.settings.boosts.get(pool.symbol_id[row], 1.0)
        sum_text = f"× {decimal(factor)} on the sum = {format_figure(term)}"
    else:
        sum_text = f"{format_figure(factors[0])} × {decimal(factors[1])} = {format_figure(term)}"
    drawn = line(Span(f"{signal.texture} {signal.letter} ", name), f"{name:<10} {sum_text} ")
    if (room := cells - width(drawn)) >= _SHORTEST_BAR:
        drawn += stack_bar([(term, signal.texture, name)], max(decision.priority, 1e-9), room)
    if name == "distance":
        distance = effective_distance(pool, answer.settings, row)
        steps = count_noun(distance - 1, "call")
        details = {0: "unreachable", 1: "1 = anchor"}.get(distance, f"1 / {distance}, {steps} from an anchor")
    else:
        parts = ((part, float(column[row])) for part, column in pool.parts.get(name, {}).items())
        details = " · ".join(
            f"{visible(part)} {format_figure(amount)}"
            for part, amount in sorted(parts, key=lambda item: -item[1])
            if name == "hotspot" or abs(amount) > 0  # of a product the part that is 0 is the reason, and is told
        )
    return [drawn, *wrap_words(details, cells, "faint", indent="    ")]


def _draw_origin(answer: SearchAnswer, row: int, cells: int) -> list[Line]:
    pool = answer.selection.pool
    channels = [channel.name.lower() for channel in Channel if int(pool.channels[row]) >> channel & 1]
    lines = wrap_words("found by " + (", ".join(channels) or "nothing"), cells)
    if not effective_distance(pool, answer.settings, row):
        return [*lines, *wrap_words("no path of calls leads here", cells, "faint")]
    for step, at in enumerate(pool.call_path(row)):
        edge = "anchor" if step == 0 else visible(pool.predecessor_edge[at]) or "linked"
        head = f"{'◎' if step == 0 else '└'} {edge.replace('_', ' ')} "
        room = max(1, cells - 2 * min(step, 3) - len(head))
        name = Span(shorten_path(visible(pool.symbol_id[at]), room), "bold" if at == row else "")
        lines.append(line(" " * (2 * min(step, 3)), Span(head, "accent" if step == 0 else "faint"), name))
    return lines
