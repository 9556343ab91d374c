"""What the chunks of a plan come to: the text of one, and the tokens of all without making any text. Pure; what a turn
of a knob costs.

tokens_of(plan)      # what `finish` recounts, in a hundredth of the time
text_of(plan, 2)     # the second chunk as it goes out
"""

from __future__ import annotations

from secateur.kinds.diff.planning import FilePiece, Plan


def text_of(plan: Plan, number: int) -> str:
    """The text of a chunk, by its number from 1."""
    return "".join(
        [
            plan.weighed.injection.head(number, len(plan.chunks)),
            *(piece.text for piece in plan.chunks[number - 1]),
            plan.notes,
        ]
    )


def tokens_of(plan: Plan) -> tuple[int, ...]:
    """Tokens of the text of every chunk, as its recount gives them.

    Exact counters add up over pieces (`composing`), so that only headings are counted. The others round up by piece:
    their texts are counted.
    """
    counter, of = plan.weighed.counter, len(plan.chunks)
    if not counter.exact:
        return tuple(counter.count_many(text_of(plan, number) for number in range(1, of + 1)))
    # The first heading, with the number of the chunk, is one piece; what is injected below it is the same in all.
    firsts = counter.count_many(_first(plan, number) for number in range(1, of + 1))
    rest = (
        counter.count(plan.weighed.injection.head(1, 1))
        - counter.count("# Context Chunk 1/1\n\n")
        + counter.count(plan.notes)
    )
    return tuple(
        first + rest + sum(_tokens(plan, piece) for piece in chunk)
        for first, chunk in zip(firsts, plan.chunks, strict=True)
    )


def _first(plan: Plan, number: int) -> str:
    return f"# Context Chunk {number}/{len(plan.chunks)}\n\n"


def _tokens(plan: Plan, piece: FilePiece) -> int:
    """Tokens of a piece; of a part its heading was charged with the largest numbers there can be."""
    if piece.part is None:
        return piece.cost + piece.filled
    count = plan.weighed.counter.count
    longest = plan.weighed.splitter(piece.file.number).heading(piece.part)
    return piece.cost + piece.filled - count(longest) + count(piece.part.place.heading(piece.number, piece.of))
