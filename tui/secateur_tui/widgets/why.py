"""Explains a decision on a candidate: the decision in words with its figures, each term taken apart, the way it was
found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from secateur.index.facts.lexical import find_terms, word_terms, words
from secateur.kinds.knobs import decimal
from secateur.model import Channel, Decision, Pool, Reason, Selection, State
from secateur.render.page import count_noun
from secateur.render.sentences import describe_redactions
from secateur.render.text import kind_of, why
from secateur.sources.git_log import HistoryCommit
from secateur.terminal import visible

from secateur_tui.short_names import shorten_path, shorten_words
from secateur_tui.state.search_answer import SearchAnswer
from secateur_tui.state.signals import SIGNALS, effective_distance, value_and_weight
from secateur_tui.styled_text import (
    Line,
    Span,
    begin_sentence,
    clip_line,
    fit_text,
    line,
    spread_line,
    stack_bar,
    width,
    wrap_name,
    wrap_words,
)

_SHORTEST_BAR = 3
_COMMIT_CELLS = 7
_LINES, _WORD_CELLS = 6, 14
"""Lines that are listed for a word, and the width of the column of words."""


def format_figure(number: float, exact: bool = False) -> str:
    """Formats a number with three decimals, with `exact` up to six: scores are multiples of 1e-6, so that the terms
    add up to the sum."""
    text = f"{number:.6f}" if exact else f"{number:.3f}"
    while text.endswith("0") and len(text) - text.index(".") > 4:
        text = text[:-1]
    return text.replace("-", "−")


def draw_why(
    answer: SearchAnswer,
    row: int,
    cells: int,
    *,
    query_lines: Mapping[str, Sequence[int]] | None = None,
    commits: Sequence[HistoryCommit] = (),
    exact: bool = False,
) -> list[Line]:
    """Draws everything about the decision on `row`.

    Args:
        query_lines: per word of the query the lines of its text that hold it; None while that is not known.
        commits: the last that changed its file.
        exact: with all decimals of the figures.
    """
    selection, pool = answer.selection, answer.selection.pool
    decision = selection.decision(row)
    state = decision.state
    head = line(
        Span(f"{state.glyph} {state.label.upper()} #{decision.rank:,}", f"bold {state.label}"),
        Span(f" of {len(selection):,}", "faint"),
    )
    priority = line(f"priority {format_figure(decision.priority, exact)}")
    lines = [spread_line(head, priority, cells)]
    lines += wrap_name(pool.qualname[row] or "(no name)", cells, "bold")
    about = Span(f"  {visible(pool.kind[row])}, {visible(pool.language[row])}", "faint")
    if width((*lines[-1], about)) <= cells:
        lines[-1] = (*lines[-1], about)
    else:
        lines.append(line(about))
    place = f"{visible(pool.path[row])}:{int(pool.line_start[row])}-{int(pool.line_end[row])}"
    lines.append(line(Span(shorten_path(place, cells))))
    lines += wrap_words(_explain_decision(selection, decision), cells, state.label)
    if taken := pool.redactions.get(row):
        lines += wrap_words(f"credentials taken out: {describe_redactions(taken)}", cells, "warning")
    if kind := kind_of(pool):
        lines += wrap_words(f"query: {kind}", cells, "faint")
    lines.append(())
    for name, term in decision.terms.items():
        lines += _draw_term(answer, decision, name, term, cells, exact)
    lines.append(line(Span("sum = priority ", "faint"), format_figure(sum(decision.terms.values()), exact)))
    if selection.strategy == "density" and pool.short_query:
        lines += wrap_words("ordered by priority: of a short query, density leaves size out", cells, "faint")
    elif selection.strategy == "density":
        power = answer.settings.smart_pruning.density_exponent
        lines += wrap_words(
            f"ordered by density: priority × evidence / relevance / cost^{power:g} ="
            f" {format_figure(float(selection.score[row]), exact)}",
            cells,
            "faint",
        )
    elif selection.strategy == "relevance":
        lines += wrap_words("ordered by relevance alone, the priority is shown for comparison", cells, "faint")
    lines += [
        (),
        *_draw_origin(answer, row, cells),
        *_draw_words(pool, row, query_lines, cells),
        *_draw_commits(commits, cells),
    ]
    around = (
        f", at most {int(pool.cost[row]):,} with its wrapper, and {int(pool.heading[row]):,} for its file's heading"
    )
    lines.append(line(f"{decision.tokens_before:,} tokens", Span(around, "faint")))
    if state is State.SHORTENED:
        lines.append(line(Span("its declaration alone: ", "faint"), f"{decision.tokens_after:,} tokens"))
    return [clip_line(drawn, cells) for drawn in lines]


def _explain_decision(selection: Selection, decision: Decision) -> str:
    """Returns the reason of a decision; where room decided, with what was left at its turn and what it needs it for."""
    if decision.reason not in (Reason.FITS, Reason.NO_ROOM):
        return begin_sentence(why(selection, decision))
    text, needs = decision.tokens_before, "needs" if decision.reason is Reason.NO_ROOM else "needed"
    around = decision.needed - text
    parts = f": {text:,} of text, {around:,} of heading" if around > 0 else ""
    left = count_noun(decision.left, "token was", "tokens were")
    return f"At its turn {left} left; it {needs} {decision.needed:,}{parts}."


def _draw_commits(commits: Sequence[HistoryCommit], cells: int) -> list[Line]:
    lines = [line("last commits of the file")] if commits else []
    for commit in commits:
        day = datetime.fromtimestamp(commit.time, tz=UTC).date().isoformat()
        head = f"  {commit.id[:_COMMIT_CELLS]} {day} "
        lines.append(line(Span(head, "faint"), Span(shorten_words(visible(commit.subject), max(1, cells - len(head))))))
    return lines


def _draw_words(pool: Pool, row: int, query_lines: Mapping[str, Sequence[int]] | None, cells: int) -> list[Line]:
    """Tells which words of the query are in its name, its path and its lines, and which are not."""
    terms = pool.facts.get("terms", {})
    if not terms or query_lines is None:
        return []
    asked = {term: word for word in reversed(words(pool.query)) for term in word_terms(word) if term in terms}
    shown = {term: visible(asked.get(term, term)) for term in terms}
    named = {term for _, _, term in find_terms(visible(pool.qualname[row]), terms)}
    placed = {term for _, _, term in find_terms(visible(pool.path[row]), terms)}
    lines = [line("words of the query")]
    for term in terms:
        lines_of_term = query_lines.get(term, ())
        where = [*(["name"] if term in named else []), *(["path"] if term in placed else [])]
        if lines_of_term:
            more = f" and {len(lines_of_term) - _LINES:,} more" if len(lines_of_term) > _LINES else ""
            first = ", ".join(map(str, lines_of_term[:_LINES]))
            where.append(f"line{'s' if len(lines_of_term) > 1 else ''} {first}{more}")
        if where:
            wrapped_lines = wrap_words(" · ".join(where), max(10, cells - _WORD_CELLS - 3), "faint")
            for index, part in enumerate(wrapped_lines):
                word = fit_text(shown[term] if index == 0 else "", _WORD_CELLS)
                lines.append((Span("  "), Span(word, "match" if index == 0 else ""), Span(" "), *part))
    missing = [shown[term] for term in terms if term not in named | placed and not query_lines.get(term)]
    return [*lines, *(wrap_words(f"not in it: {', '.join(missing)}", cells, "faint", indent="  ") if missing else [])]


def _draw_term(answer: SearchAnswer, decision: Decision, name: str, term: float, cells: int, exact: bool) -> list[Line]:
    signal = SIGNALS[name]
    pool, row = answer.selection.pool, decision.row
    factors = value_and_weight(name, pool, answer.settings, row)
    if factors is None:
        factor = answer.settings.boosts.get(pool.symbol_id[row], 1.0)
        sum_text = f"× {decimal(factor)} on the sum = {format_figure(term, exact)}"
    else:
        sum_text = f"{format_figure(factors[0], exact)} × {decimal(factors[1])} = {format_figure(term, exact)}"
    head = line(Span(f"{signal.texture} {signal.letter} ", name), f"{name:<10} {sum_text} ")
    room = cells - width(head)
    share = (
        stack_bar([(term, signal.texture, name)], max(decision.priority, 1e-9), room) if room >= _SHORTEST_BAR else ()
    )
    lines = [(*head, *share)]
    parts = [(part, float(column[row])) for part, column in pool.parts.get(name, {}).items()]
    product = name == "hotspot"  # the part that is 0 is the reason, and is told
    details = [
        f"{visible(part)} {format_figure(amount, exact)}"
        for part, amount in sorted(parts, key=lambda item: -item[1])
        if product or abs(amount) > 0
    ]
    if name == "distance":
        distance = effective_distance(pool, answer.settings, row)
        details = (
            ["unreachable"]
            if not distance
            else (
                ["1 = anchor"]
                if distance == 1
                else [f"1 / {distance}, {distance - 1} call{'s' if distance > 2 else ''} from an anchor"]
            )
        )
    return lines + wrap_words(" · ".join(details), cells, "faint", indent="    ")


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
