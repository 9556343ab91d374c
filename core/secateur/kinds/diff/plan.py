"""Plans the chunks of a measured diff under given settings, and accounts for every changed file once. Instant and pure.

    plan = plan_chunks(measured, settings)
    for entry in plan.coverage: print(entry.path, entry.state, entry.chunks, entry.reason)

Leave out by the rules, cut what is larger than a chunk, arrange the pieces. The capacity of a chunk is the limit less
what is injected into each, so that the limit holds for the text that leaves.

Totals are made at every turn of a knob, without text:

    tokens_of(plan)                     # what `render_chunks` recounts, in a hundredth of the time
    text_of(plan, 2)                    # the second chunk as it goes out
    ledger_of(plan, tokens_of(plan))    # every changed file once
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from secateur.errors import BudgetExceeded
from secateur.kinds.diff.arrangement import Piece, arrange, capacity_for_even, fewest_bins
from secateur.kinds.diff.chunk_text import (
    MOST_TOKENS,
    SHARE,
    Filling,
    Injection,
    Remark,
    block,
    chunk_heading,
    fill,
    notes,
    widest_number,
)
from secateur.kinds.diff.file_parts import Part
from secateur.kinds.diff.measured_diff import LINTER, SIGNATURES, MeasuredChange, MeasuredDiff
from secateur.kinds.diff.skip_rules import Pruner, Verdict
from secateur.ledger import Entry, Figure, Ledger, Notice, Reason, State
from secateur.render.page import count_noun, listed, sentence
from secateur.settings import Settings

# Tokens that a chunk needs for changes: with fewer not even one line fits beside the header of its file.
LEAST_CAPACITY = 32

TOO_LARGE = "CHUNK_INSTRUCTIONS_TOO_LARGE"  # code of the error that instructions and rules leave no room for changes
NAMED = 5  # files a notice names before it only counts

WHOLE, SPLIT, LEFT_OUT = "whole", "split", "left_out"


@dataclass(frozen=True, slots=True)
class FilePiece:
    """A file, or a part of one, as it goes out."""

    file: MeasuredChange
    part: Part | None = None
    number: int = 0  # of the part, from 1
    of: int = 0
    cost: int = 0  # tokens charged, without its filling
    filling: tuple[Filling, ...] = ()  # lines of linters and signatures that had room behind it

    @property
    def text(self) -> str:
        """Its block in the chunk, followed by its filling."""
        behind = "".join(filling.text for filling in self.filling)
        if self.part is None:
            return block(self.file.change.text) + behind
        return self.part.place.heading(self.number, self.of) + block(self.part.text) + behind

    @property
    def filled(self) -> int:
        """Tokens of its filling."""
        return sum(filling.cost for filling in self.filling)

    def holds(self, line: int) -> bool:
        """Tells whether a remark about this line belongs to this part of the file."""
        location = self.part.place if self.part else None
        return location is None or (
            (line >= location.line_start or self.number == 1) and (line <= location.line_end or self.number == self.of)
        )


@dataclass(frozen=True, slots=True)
class Coverage:
    """The outcome for one changed file."""

    file: MeasuredChange
    state: str  # WHOLE, SPLIT, LEFT_OUT
    chunks: tuple[int, ...]  # numbers of the chunks it is in, from 1
    verdict: Verdict | None  # why it, or some of it, does not go out
    entry: Entry  # the same in the ledger

    @property
    def path(self) -> str:
        return self.file.change.path

    @property
    def reason(self) -> str:
        """For people: "lock file (pnpm-lock.yaml)"; text from outside may be in it."""
        return sentence(self.entry)


@dataclass(frozen=True, eq=False)
class Plan:
    """The contents of each chunk, before any text is made."""

    measured: MeasuredDiff
    limit: int
    capacity: int  # tokens a chunk has for changes
    chunks: tuple[tuple[FilePiece, ...], ...]
    fewest: int  # lower bound for the number of chunks
    coverage: tuple[Coverage, ...]  # one per changed file, in the order of the diff
    notices: tuple[Notice, ...]
    notes: str = ""  # the end of every chunk: settings that changed, files that are left out

    def shown(self, title: str) -> tuple[int, int]:
        """(lines, tokens) of all fillings with this title."""
        fillings = [filling for chunk in self.chunks for piece in chunk for filling in piece.filling]
        shown = [(filling.lines, filling.cost) for filling in fillings if filling.title == title]
        return sum(lines for lines, _ in shown), sum(cost for _, cost in shown)

    def lines_under(self, title: str) -> dict[str, int]:
        """Counts the lines under a title, all of them and those that had room."""
        return {"lines": len(self.measured.remarks_under(title)), "shown": self.shown(title)[0]}

    @property
    def skipped(self) -> tuple[Coverage, ...]:
        """Files that are left out or cut."""
        return tuple(entry for entry in self.coverage if entry.verdict is not None)


def plan_chunks(measured: MeasuredDiff, settings: Settings) -> Plan:
    """Chunks within `chunking.max_chunk_tokens`. Raises BudgetExceeded: `CHUNK_INSTRUCTIONS_TOO_LARGE`: what goes into
    every chunk leaves no room for changes."""
    rules = settings.chunking
    limit = rules.max_chunk_tokens
    capacity = limit - _count_injected(measured, limit)
    pruner = Pruner(rules.ignore)
    verdicts = {file.number: pruner.verdict(file.change, file.facts) for file in measured.files}
    pieces, without_room = _all_pieces(measured, verdicts, capacity)
    verdicts |= without_room
    left_out = [(file.change.path, verdict) for file in measured.files if (verdict := verdicts[file.number])]
    room = min(MOST_TOKENS, limit // SHARE, capacity - LEAST_CAPACITY)
    if notes_text := notes(measured.notices, left_out, len(measured.files), room, measured.counter):
        capacity_beside_notes = capacity - measured.counter.count(notes_text)
        smaller_pieces, without_room = _all_pieces(measured, verdicts, capacity_beside_notes)
        if without_room:  # notes may not push a file out
            notes_text = ""
        else:
            pieces, capacity = smaller_pieces, capacity_beside_notes
    packable = [Piece(piece.file.change.path, piece.number, piece.cost) for piece in pieces]
    even = capacity
    if measured.remarks:  # even chunks, so that each has room for remarks
        even = capacity_for_even([piece.size for piece in packable], capacity)
    several = sum(piece.size for piece in packable) > even
    # only whole files have links: a part belongs to its file before all
    positions = {piece.file.number: position for position, piece in enumerate(pieces) if piece.part is None}
    links = {
        (positions[first], positions[second]): worth
        for (first, second), worth in measured.links.items()
        if several and first in positions and second in positions
    }
    bins = arrange(packable, even, links)
    lengthened = [_lengthen_lines(measured, [pieces[at] for at in members], capacity) for members in bins]
    chunks = _add_remarks(measured, lengthened, capacity)
    coverage = _coverage(measured, chunks, verdicts)
    fewest = fewest_bins([piece.cost for piece in pieces], capacity)
    plan = Plan(measured, limit, capacity, chunks, fewest, coverage, (), notes_text)
    return replace(plan, notices=_notices(plan))


def _all_pieces(
    measured: MeasuredDiff, verdicts: dict[int, Verdict | None], capacity: int
) -> tuple[list[FilePiece], dict[int, Verdict]]:
    pieces: list[FilePiece] = []
    without_room: dict[int, Verdict] = {}
    for file in measured.files:
        if verdicts[file.number] is not None:
            continue
        if file.cost <= capacity:
            pieces.append(FilePiece(file, cost=file.cost))
        elif parts := measured.splitter(file.number).parts(capacity):
            pieces += [FilePiece(file, part, number, len(parts), part.cost) for number, part in enumerate(parts, 1)]
        else:
            without_room[file.number] = Verdict(Reason.NO_ROOM, {"capacity": capacity})
    return pieces, without_room


def _lengthen_lines(measured: MeasuredDiff, pieces: list[FilePiece], capacity: int) -> list[FilePiece]:
    room = capacity - sum(piece.cost for piece in pieces)
    cut = [at for at, piece in enumerate(pieces) if piece.part is not None and piece.part.shortened]
    lengthened = list(pieces)
    for index, at in enumerate(cut):
        piece, part = pieces[at], pieces[at].part
        if part is not None:
            longer = measured.splitter(piece.file.number).lengthen_lines(part, room // (len(cut) - index))
            room -= longer.cost - piece.cost
            lengthened[at] = replace(piece, part=longer, cost=longer.cost)
    return lengthened


def _add_remarks(
    measured: MeasuredDiff, chunks: list[list[FilePiece]], capacity: int
) -> tuple[tuple[FilePiece, ...], ...]:
    """Adds the remarks that have room to the chunks. A remark goes to one part of its file; a chunk holds a signature
    once."""
    chunks_with_lines: list[tuple[FilePiece, ...]] = []
    offered: set[tuple[int, int]] = set()
    for pieces in chunks:
        offers: list[tuple[int, Remark]] = []
        declared: set[str] = set()
        for position, piece in enumerate(pieces):
            for index, remark in enumerate(measured.remarks.get(piece.file.number, ())):
                if (piece.file.number, index) in offered or not piece.holds(remark.line) or remark.text in declared:
                    continue
                offered.add((piece.file.number, index))
                if remark.title == SIGNATURES:
                    declared.add(remark.text)
                offers.append((position, remark))
        room = capacity - sum(piece.cost for piece in pieces)
        fillings = fill(offers, [piece.file.change.path for piece in pieces], room, measured.counter) if offers else {}
        chunks_with_lines.append(
            tuple(replace(piece, filling=tuple(fillings.get(position, ()))) for position, piece in enumerate(pieces))
        )
    return tuple(chunks_with_lines)


def _count_injected(measured: MeasuredDiff, limit: int) -> int:
    most = widest_number(measured.diff.lines)
    tokens = measured.counter.count(measured.injection.head(most, most))
    if limit - tokens < LEAST_CAPACITY:
        rules, skill = measured.counter.count_many([measured.injection.rules, measured.injection.skill])
        bare = measured.counter.count(Injection().head(most, most))
        raise BudgetExceeded(
            f"what goes into every chunk takes {tokens:,} tokens (instructions {skill:,}, project rules {rules:,}), the"
            f" limit of a chunk is {limit:,}",
            hint=(
                f"raise --max-tokens to well above {tokens:,}, or make the instructions and rules shorter (without them"
                f" it is {bare:,})"
            ),
            code=TOO_LARGE,
        )
    return tokens


def _coverage(
    measured: MeasuredDiff, chunks: tuple[tuple[FilePiece, ...], ...], verdicts: dict[int, Verdict | None]
) -> tuple[Coverage, ...]:
    pieces: dict[int, list[tuple[int, FilePiece]]] = {}
    for number, chunk in enumerate(chunks, 1):
        for piece in chunk:
            pieces.setdefault(piece.file.number, []).append((number, piece))
    coverage = []
    for file in (measured.files[number] for number in measured.as_listed):
        chunk_pieces = pieces.get(file.number, [])
        numbers = tuple(dict.fromkeys(number for number, _ in chunk_pieces))
        verdict = verdicts[file.number]
        figures: dict[str, Figure]
        if not chunk_pieces:
            assert verdict is not None
            state, ledger_state, reason, figures = LEFT_OUT, State.DROPPED, verdict.rule, dict(verdict.figures)
        elif chunk_pieces[0][1].part is None:
            verdict, state, ledger_state, reason, figures = None, WHOLE, State.KEPT, Reason.FITS, {"chunk": numbers[0]}
        else:
            state, ledger_state, reason, figures = SPLIT, State.KEPT, Reason.SPLIT, {"parts": len(chunk_pieces)}
            cut = sorted(line for _, piece in chunk_pieces if piece.part is not None for line in piece.part.shortened)
            if cut:
                others = f" and {len(cut) - 1:,} more" if len(cut) > 1 else ""
                figures |= {"where": f"line {cut[0][0]:,}{others}", "characters": sum(missing for _, missing in cut)}
                verdict = Verdict(Reason.LONG_LINE, figures)
                ledger_state, reason = State.SHORTENED, Reason.LONG_LINE
        after, position = sum(piece.cost for _, piece in chunk_pieces), numbers[0] if numbers else None
        entry = Entry(file.change.path, ledger_state, reason, file.tokens, after, figures, position=position)
        coverage.append(Coverage(file, state, numbers, verdict, entry))
    return tuple(coverage)


def _notices(plan: Plan) -> tuple[Notice, ...]:
    measured, coverage = plan.measured, plan.coverage
    notices = list(measured.notices)
    findings = plan.lines_under(LINTER)
    if missing := findings["lines"] - findings["shown"]:
        some = f"{missing:,} of {findings['lines']:,} findings of linters"
        notices.append(Notice("remarks_left_out", f"{some} had no room, or are about files that do not go out."))
    if not coverage:
        hint = " --base REV compares with another state." if measured.compared.repository else ""
        notices.append(Notice("nothing_changed", f"Nothing changed: {measured.compared.what}.{hint}"))
    elif not plan.chunks:
        reasons = listed([f"{entry.path}: {entry.reason}" for entry in coverage], NAMED)
        which = "the one changed file is" if len(coverage) == 1 else f"all {len(coverage):,} changed files are"
        notices.append(Notice("nothing_left", f"No chunk: {which} left out ({reasons})."))
    unseen = [entry for entry in coverage if entry.verdict and entry.verdict.rule in (Reason.LONG_LINE, Reason.NO_ROOM)]
    if unseen:
        files, first = count_noun(len(unseen), "file does", "files do"), f"{unseen[0].path}: {unseen[0].reason}"
        notices.append(Notice("not_whole", f"{files} not go out whole because of the limit: {first}."))
    return tuple(notices)


# Id of the entry -> title of the lines that stand behind changes where there is room.
LINES = {"linter": LINTER, "signatures": SIGNATURES}


def text_of(plan: Plan, index: int) -> str:
    """The text of a chunk, by its number from 1."""
    head = plan.measured.injection.head(index, len(plan.chunks))
    return "".join([head, *(piece.text for piece in plan.chunks[index - 1]), plan.notes])


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
    rest = counter.count(plan.measured.injection.head(1, 1)) - counter.count(chunk_heading(1, 1))
    rest += counter.count(plan.notes)
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
    `tokens`: of the text of every chunk."""
    measured = plan.measured
    entries = [entry.entry for entry in plan.coverage]
    for name, title in LINES.items():
        if offered := [remark.tokens for remark in measured.remarks_under(title)]:
            lines, spent = plan.shown(title)
            state = State.KEPT if lines == len(offered) else State.SHORTENED if lines else State.DROPPED
            counted = {"shown": lines, "lines": len(offered)}
            entries.append(Entry(name, state, Reason.SOME_LINES, sum(offered), spent, counted))
    injected = sum(measured.counter.count_many([measured.injection.rules, measured.injection.skill]))
    budget = plan.limit * max(1, len(plan.chunks))
    figures = {"chunks": len(plan.chunks), "limit": plan.limit}
    return Ledger.closed("diff", budget, entries, sum(tokens), around=injected, figures=figures)
