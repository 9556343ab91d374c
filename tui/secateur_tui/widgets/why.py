"""Explains a decision on a candidate: the decision in words with its figures, each term taken apart, the way it was
found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from secateur.index.facts.lexical import find_terms, word_terms, words
from secateur.kinds.knobs import decimal
from secateur.model import Channel, Decision, Pool, Reason, Selection, State
from secateur.render import why
from secateur.render.sentences import describe_redactions
from secateur.render.text import kind_of
from secateur.sources.git_log import HistoryCommit
from secateur.terminal import visible

from secateur_tui.short_names import short_path, short_words
from secateur_tui.state.search_answer import SearchAnswer
from secateur_tui.state.signals import SIGNALS, effective_distance, value_and_weight
from secateur_tui.styled_text import Line, Span, bar, clipped, fit, line, width, wrapped

_SHORTEST_BAR = 3
_COMMIT_CELLS = 7
_LINES, _WORD_CELLS = 6, 14
"""Lines that are told of a word, and cells that it has."""


def figure(number: float, exact: bool = False) -> str:
    """Three decimals; with `exact` up to six where they are there: scores are multiples of 1e-6, so the terms add up to
    the sum."""
    text = f"{number:.6f}" if exact else f"{number:.3f}"
    while text.endswith("0") and len(text) - text.index(".") > 4:
        text = text[:-1]
    return text.replace("-", "−")


def draw_why(
    answer: SearchAnswer,
    row: int,
    cells: int,
    *,
    found: Mapping[str, Sequence[int]] | None = None,
    commits: Sequence[HistoryCommit] = (),
    exact: bool = False,
) -> list[Line]:
    """Everything about the decision on `row`.

    Args:
        found: per word of the query the lines of its text that hold it; None while that is not known.
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
    priority = line(f"priority {figure(decision.priority, exact)}")
    lines = [(*head, Span(" " * max(2, cells - width(head) - width(priority))), *priority)]
    lines.append(
        line(
            Span(visible(pool.qualname[row]) or "(no name)", "bold"),
            Span(f"  {visible(pool.kind[row])}, {visible(pool.language[row])}", "faint"),
        )
    )
    place = f"{visible(pool.path[row])}:{int(pool.line_start[row])}-{int(pool.line_end[row])}"
    lines.append(line(Span(short_path(place, cells))))
    lines += wrapped(_because(selection, decision), cells, state.label)
    if taken := pool.redactions.get(row):
        lines += wrapped(f"credentials taken out: {describe_redactions(taken)}", cells, "warning")
    if kind := kind_of(pool):
        lines += wrapped(f"query: {kind}", cells, "faint")
    lines.append(())
    for name, term in decision.terms.items():
        lines += _term(answer, decision, name, term, cells, exact)
    lines.append(line(Span("sum = priority ", "faint"), figure(sum(decision.terms.values()), exact)))
    if selection.strategy == "density" and pool.short_query:
        lines += wrapped("ordered by priority: of a short query, density leaves size out", cells, "faint")
    elif selection.strategy == "density":
        power = answer.settings.smart_pruning.density_exponent
        lines += wrapped(
            f"ordered by density: priority × evidence / relevance / cost^{power:g} ="
            f" {figure(float(selection.score[row]), exact)}",
            cells,
            "faint",
        )
    elif selection.strategy == "relevance":
        lines += wrapped("ordered by relevance alone, the priority is shown for comparison", cells, "faint")
    lines += [(), *_found(answer, row, cells), *_words(pool, row, found, cells), *_commits(commits, cells)]
    around = f", at most {int(pool.cost[row]):,} with its wrapper"
    if pool.heading is not None:
        around += f" and {int(pool.heading[row]):,} for the heading that its file shares"
    lines.append(line(f"{decision.tokens_before:,} tokens", Span(around, "faint")))
    if state is State.SHORTENED:
        lines.append(line(Span("its declaration alone: ", "faint"), f"{decision.tokens_after:,} tokens"))
    return [clipped(drawn, cells) for drawn in lines]


def _because(selection: Selection, decision: Decision) -> str:
    """Returns the reason of a decision; where room decided, with what was left at its turn and what it needs it for."""
    if decision.reason not in (Reason.FITS, Reason.NO_ROOM):
        return f"because {why(selection, decision)}"
    text, needs = decision.tokens_before, "needs" if decision.reason is Reason.NO_ROOM else "needed"
    around = decision.needed - text
    parts = f": {text:,} of text, {around:,} of heading" if around > 0 else ""
    return f"At its turn {decision.left:,} tokens were left; it {needs} {decision.needed:,}{parts}."


def _commits(commits: Sequence[HistoryCommit], cells: int) -> list[Line]:
    """The commits behind the hotspot."""
    lines = [line("last commits of the file")] if commits else []
    for one in commits:
        day = datetime.fromtimestamp(one.time, tz=UTC).date().isoformat()
        head = f"  {one.id[:_COMMIT_CELLS]} {day} "
        lines.append(line(Span(head, "faint"), Span(short_words(visible(one.subject), max(1, cells - len(head))))))
    return lines


def _words(pool: Pool, row: int, found: Mapping[str, Sequence[int]] | None, cells: int) -> list[Line]:
    """Tells which words of the query are in its name, its path and its lines, and which are not."""
    terms = pool.facts.get("terms", {})
    if not terms or found is None:
        return []
    asked = {term: word for word in reversed(words(pool.query)) for term in word_terms(word) if term in terms}
    shown = {term: visible(asked.get(term, term)) for term in terms}
    named = {term for _, _, term in find_terms(visible(pool.qualname[row]), terms)}
    placed = {term for _, _, term in find_terms(visible(pool.path[row]), terms)}
    lines = [line("words of the query")]
    for term in terms:
        numbers = found.get(term, ())
        where = [*(["name"] if term in named else []), *(["path"] if term in placed else [])]
        if numbers:
            more = f" and {len(numbers) - _LINES:,} more" if len(numbers) > _LINES else ""
            first = ", ".join(map(str, numbers[:_LINES]))
            where.append(f"line{'s' if len(numbers) > 1 else ''} {first}{more}")
        if where:
            told = wrapped(" · ".join(where), max(10, cells - _WORD_CELLS - 3), "faint")
            for number, part in enumerate(told):
                word = fit(shown[term] if number == 0 else "", _WORD_CELLS)
                lines.append((Span("  "), Span(word, "match" if number == 0 else ""), Span(" "), *part))
    missing = [shown[term] for term in terms if term not in named | placed and not found.get(term)]
    return [*lines, *(wrapped(f"not in it: {', '.join(missing)}", cells, "faint", indent="  ") if missing else [])]


def _term(answer: SearchAnswer, decision: Decision, name: str, term: float, cells: int, exact: bool) -> list[Line]:
    signal = SIGNALS[name]
    pool, row = answer.selection.pool, decision.row
    factors = value_and_weight(name, pool, answer.settings, row)
    if factors is None:
        factor = answer.settings.boosts.get(pool.symbol_id[row], 1.0)
        sum_text = f"× {decimal(factor)} on the sum = {figure(term, exact)}"
    else:
        sum_text = f"{figure(factors[0], exact)} × {decimal(factors[1])} = {figure(term, exact)}"
    head = line(Span(f"{signal.texture} {signal.letter} ", name), f"{name:<10} {sum_text} ")
    room = cells - width(head)
    share = bar([(term, signal.texture, name)], max(decision.priority, 1e-9), room) if room >= _SHORTEST_BAR else ()
    lines = [(*head, *share)]
    parts = [(part, float(column[row])) for part, column in pool.parts.get(name, {}).items()]
    product = name == "hotspot"  # the part that is 0 is the reason, and is told
    told = [
        f"{visible(part)} {figure(amount, exact)}"
        for part, amount in sorted(parts, key=lambda item: -item[1])
        if product or abs(amount) > 0
    ]
    if name == "distance":
        distance = effective_distance(pool, answer.settings, row)
        told = (
            ["unreachable"]
            if not distance
            else (
                ["1 = anchor"]
                if distance == 1
                else [f"1 / {distance}, {distance - 1} call{'s' if distance > 2 else ''} from an anchor"]
            )
        )
    return lines + wrapped(" · ".join(told), cells, "faint", indent="    ")


def _found(answer: SearchAnswer, row: int, cells: int) -> list[Line]:
    pool = answer.selection.pool
    channels = [channel.name.lower() for channel in Channel if int(pool.channels[row]) >> channel & 1]
    lines = wrapped("found by " + (", ".join(channels) or "nothing"), cells)
    if not effective_distance(pool, answer.settings, row):
        return [*lines, *wrapped("no path of calls leads here", cells, "faint")]
    for step, at in enumerate(pool.call_path(row)):
        edge = "anchor" if step == 0 else visible(pool.predecessor_edge[at]) or "linked"
        head = f"{'◎' if step == 0 else '└'} {edge.replace('_', ' ')} "
        room = max(1, cells - 2 * min(step, 3) - len(head))
        name = Span(short_path(visible(pool.symbol_id[at]), room), "bold" if at == row else "")
        lines.append(line(" " * (2 * min(step, 3)), Span(head, "accent" if step == 0 else "faint"), name))
    return lines
