"""Explains a decision on a candidate: the decision in words with its figures, each term taken apart, the way it was
found."""

from __future__ import annotations

from secateur.kinds.knobs import decimal
from secateur.model import Channel, Decision, State
from secateur.render import why
from secateur.terminal import clip_left, visible

from secateur_tui.state.search_answer import SearchAnswer
from secateur_tui.state.signals import SIGNALS, effective_distance, value_and_weight
from secateur_tui.styled_text import Line, Span, bar, clipped, line, outside, width, wrapped

_SHORTEST_BAR = 3


def exact(number: float) -> str:
    """Three decimals, up to six where they are there: scores are multiples of 1e-6, so printed terms add up to the
    printed sum."""
    text = f"{number:.6f}"
    while text.endswith("0") and len(text) - text.index(".") > 4:
        text = text[:-1]
    return text.replace("-", "−")


def draw_why(answer: SearchAnswer, row: int, cells: int) -> list[Line]:
    """Everything about the decision on `row`."""
    selection, pool = answer.selection, answer.selection.pool
    decision = selection.decision(row)
    state = decision.state
    head = line(
        Span(f"{state.glyph} {state.label.upper()} #{decision.rank:,}", f"bold {state.label}"),
        Span(f" of {len(selection):,}", "faint"),
    )
    figure = line(f"priority {exact(decision.priority)}")
    lines = [(*head, Span(" " * max(2, cells - width(head) - width(figure))), *figure)]
    lines.append(
        line(Span(clip_left(f"{visible(pool.path[row])}:{int(pool.line_start[row])}-{int(pool.line_end[row])}", cells)))
    )
    lines.append(
        line(
            outside(pool.qualname[row] or "(no name)"),
            Span(f"  {visible(pool.kind[row])}, {visible(pool.language[row])}", "faint"),
        )
    )
    lines += wrapped(f"because {why(selection, decision)}", cells, state.label)
    lines.append(())
    for name, term in decision.terms.items():
        lines += _term(answer, decision, name, term, cells)
    lines.append(line(Span("sum = priority ", "faint"), exact(sum(decision.terms.values()))))
    if selection.strategy == "density":
        power = answer.settings.smart_pruning.density_exponent
        lines += wrapped(
            f"ordered by density: priority × evidence / relevance / cost^{power:g} ="
            f" {exact(float(selection.score[row]))}",
            cells,
            "faint",
        )
    elif selection.strategy == "relevance":
        lines += wrapped("ordered by relevance alone, the priority is shown for comparison", cells, "faint")
    lines += [(), *_found(answer, row, cells)]
    lines.append(
        line(f"{decision.tokens_before:,} tokens", Span(f", at most {int(pool.cost[row]):,} with its wrapper", "faint"))
    )
    if state is State.SHORTENED:
        lines.append(line(Span("its declaration alone: ", "faint"), f"{decision.tokens_after:,} tokens"))
    return [clipped(drawn, cells) for drawn in lines]


def _term(answer: SearchAnswer, decision: Decision, name: str, term: float, cells: int) -> list[Line]:
    signal = SIGNALS[name]
    pool, row = answer.selection.pool, decision.row
    factors = value_and_weight(name, pool, answer.settings, row)
    if factors is None:
        factor = answer.settings.boosts.get(pool.symbol_id[row], 1.0)
        sum_text = f"× {decimal(factor)} on the sum = {exact(term)}"
    else:
        sum_text = f"{exact(factors[0])} × {decimal(factors[1])} = {exact(term)}"
    head = line(Span(f"{signal.texture} {signal.letter} ", name), f"{name:<10} {sum_text} ")
    room = cells - width(head)
    share = bar([(term, signal.texture, name)], max(decision.priority, 1e-9), room) if room >= _SHORTEST_BAR else ()
    lines = [(*head, *share)]
    parts = [(part, float(column[row])) for part, column in pool.parts.get(name, {}).items()]
    product = name == "hotspot"  # the part that is 0 is the reason, and is told
    told = [
        f"{visible(part)} {exact(amount)}"
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
        name = Span(clip_left(visible(pool.symbol_id[at]), room), "bold" if at == row else "")
        lines.append(line(" " * (2 * min(step, 3)), Span(head, "accent" if step == 0 else "faint"), name))
    return lines
