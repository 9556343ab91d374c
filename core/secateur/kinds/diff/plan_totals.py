"""Totals of the chunks of a plan: the text of one chunk, the tokens of all without making text, and the ledger. Pure;
this runs at every turn of a knob.

tokens_of(plan)                     # what `render_chunks` recounts, in a hundredth of the time
text_of(plan, 2)                    # the second chunk as it goes out
ledger_of(plan, tokens_of(plan))    # every changed file once
"""

from __future__ import annotations

from collections.abc import Sequence

from secateur.kinds.diff.chunk_text import chunk_heading
from secateur.kinds.diff.measured_diff import LINTER, SIGNATURES
from secateur.kinds.diff.plan import FilePiece, Plan
from secateur.ledger import Entry, Ledger, Reason, State

LINES = {"linter": LINTER, "signatures": SIGNATURES}
"""Id of the entry -> title of the lines that stand behind changes where there is room."""


def text_of(plan: Plan, index: int) -> str:
    """The text of a chunk, by its number from 1."""
    return "".join(
        [
            plan.measured.injection.head(index, len(plan.chunks)),
            *(piece.text for piece in plan.chunks[index - 1]),
            plan.notes,
        ]
    )


def tokens_of(plan: Plan) -> tuple[int, ...]:
    """Tokens of the text of every chunk, as its recount gives them.

    Exact counters add up over pieces (`chunk_text`), so that only headings are counted. The others round up by piece:
    their texts are counted.
    """
    counter, of = plan.measured.counter, len(plan.chunks)
    if not counter.exact:
        return tuple(counter.count_many(text_of(plan, number) for number in range(1, of + 1)))
    # The first heading, with the number of the chunk, is one piece; what is injected below it is the same in all.
    firsts = counter.count_many(chunk_heading(number, of) for number in range(1, of + 1))
    rest = (
        counter.count(plan.measured.injection.head(1, 1))
        - counter.count(chunk_heading(1, 1))
        + counter.count(plan.notes)
    )
    return tuple(
        first + rest + sum(_tokens(plan, piece) for piece in chunk)
        for first, chunk in zip(firsts, plan.chunks, strict=True)
    )


def _tokens(plan: Plan, piece: FilePiece) -> int:
    """Tokens of a piece. A part was charged with the widest numbers in its heading: they are replaced by its own."""
    if piece.part is None:
        return piece.cost + piece.filled
    count = plan.measured.counter.count
    longest = plan.measured.splitter(piece.file.number).heading(piece.part)
    return piece.cost + piece.filled - count(longest) + count(piece.part.place.heading(piece.number, piece.of))


def ledger_of(plan: Plan, tokens: Sequence[int]) -> Ledger:
    """The ledger: one entry per changed file, one each for findings of linters and for signatures if there are any, and
    the wrapper: the rest of every chunk. The wrapper's tokens before are those of rules and instructions, counted once.

    Args:
        tokens: of the text of every chunk.
    """
    measured = plan.measured
    entries = [entry.entry for entry in plan.coverage]
    for name, title in LINES.items():
        offered = [remark.tokens for remark in measured.remarks_under(title)]
        if offered:
            lines, spent = plan.shown(title)
            state = State.KEPT if lines == len(offered) else State.SHORTENED if lines else State.DROPPED
            counted = {"shown": lines, "lines": len(offered)}
            entries.append(Entry(name, state, Reason.SOME_LINES, sum(offered), spent, counted))
    injected = sum(measured.counter.count_many([measured.injection.rules, measured.injection.skill]))
    budget = plan.limit * max(1, len(plan.chunks))
    figures = {"chunks": len(plan.chunks), "limit": plan.limit}
    return Ledger.closed("diff", budget, entries, sum(tokens), around=injected, figures=figures)
