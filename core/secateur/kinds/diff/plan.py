"""The instant part: a measured diff under given settings becomes chunks, and every changed file is accounted for once.
Pure.

    plan = plan_chunks(measured, settings)
    for entry in plan.coverage: print(entry.path, entry.state, entry.chunks, entry.reason)

Leave out by the rules, cut what is larger than a chunk, arrange the pieces. The capacity of a chunk is the limit less
what is injected into each, so that the limit holds for the text that leaves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from secateur.errors import BudgetExceeded
from secateur.kinds.diff.arrangement import Piece, arrange
from secateur.kinds.diff.bin_packing import capacity_for_even, fewest_bins
from secateur.kinds.diff.chunk_text import Injection, block, largest
from secateur.kinds.diff.file_parts import Part
from secateur.kinds.diff.measured_diff import LINTER, SIGNATURES, MeasuredChange, MeasuredDiff
from secateur.kinds.diff.notes import notes, room_for_notes
from secateur.kinds.diff.remarks import Filling, Offer, fill
from secateur.kinds.diff.skip_rules import Pruner, Verdict
from secateur.ledger import Entry, Figure, Notice, Reason, State
from secateur.render.notices import listed
from secateur.render.sentences import sentence
from secateur.settings import Settings

LEAST_CAPACITY = 32
"""Tokens beside what is injected below which no line of a diff has room with the header of its file."""

TOO_LARGE = "CHUNK_INSTRUCTIONS_TOO_LARGE"
"""Code of the error that what is injected leaves no room."""

NAMED = 5
"""Files a notice names before it only counts."""

WHOLE, SPLIT, LEFT_OUT = "whole", "split", "left_out"


@dataclass(frozen=True, slots=True)
class FilePiece:
    """A file, or a part of one, as it goes out."""

    file: MeasuredChange
    part: Part | None = None
    number: int = 0  # of the part, from 1
    of: int = 0
    cost: int = 0  # tokens charged, without what stands behind it
    filling: tuple[Filling, ...] = ()  # what stands behind it where there was room

    @property
    def text(self) -> str:
        """Its block in the chunk, and what stands behind it."""
        behind = "".join(filling.text for filling in self.filling)
        if self.part is None:
            return block(self.file.change.text) + behind
        return self.part.place.heading(self.number, self.of) + block(self.part.text) + behind

    @property
    def filled(self) -> int:
        """Tokens of what stands behind it."""
        return sum(filling.cost for filling in self.filling)

    def holds(self, line: int) -> bool:
        """Tells whether a remark about a line of the file belongs to this part of it."""
        place = self.part.place if self.part else None
        return place is None or (
            (line >= place.line_start or self.number == 1) and (line <= place.line_end or self.number == self.of)
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
    fewest: int  # chunks below which these pieces cannot go
    coverage: tuple[Coverage, ...]  # one per changed file, in the order of the diff
    notices: tuple[Notice, ...]
    notes: str = ""  # what stands at the end of every chunk: settings that changed, files that are left out

    @cached_property
    def charged(self) -> tuple[int, ...]:
        """Tokens per chunk: at least those of its text."""
        return tuple(
            self.limit - self.capacity + sum(piece.cost + piece.filled for piece in chunk) for chunk in self.chunks
        )

    def shown(self, title: str) -> tuple[int, int]:
        """(lines, tokens) of what stands under a title behind the changes of files."""
        found = [
            filling for chunk in self.chunks for piece in chunk for filling in piece.filling if filling.title == title
        ]
        return sum(filling.lines for filling in found), sum(filling.cost for filling in found)

    def lines_under(self, title: str) -> dict[str, int]:
        """The number of lines under a title, and of those that had room."""
        return {"lines": len(self.measured.remarks_under(title)), "shown": self.shown(title)[0]}

    @property
    def skipped(self) -> tuple[Coverage, ...]:
        """Files that do not go out, or not all of them."""
        return tuple(entry for entry in self.coverage if entry.verdict is not None)


def plan_chunks(measured: MeasuredDiff, settings: Settings) -> Plan:
    """Chunks within `chunking.max_chunk_tokens`.

    Raises:
        BudgetExceeded: `CHUNK_INSTRUCTIONS_TOO_LARGE`: what goes into every chunk leaves no room for changes.
    """
    rules = settings.chunking
    limit = rules.max_chunk_tokens
    capacity = limit - _injected(measured, limit)
    pruner = Pruner(rules.ignore, rules.max_file_kb * 1024)
    verdicts = {file.number: pruner.verdict(file.change, file.facts) for file in measured.files}
    pieces, without_room = _all_pieces(measured, verdicts, capacity)
    verdicts |= without_room
    left_out = [(file.change.path, verdict) for file in measured.files if (verdict := verdicts[file.number])]
    room = min(room_for_notes(limit), capacity - LEAST_CAPACITY)
    said = notes(measured.notices, left_out, len(measured.files), room, measured.counter)
    if said:
        beside = capacity - measured.counter.count(said)
        smaller, without_room = _all_pieces(measured, verdicts, beside)
        if without_room:  # what is said of the diff costs no file its place
            said = ""
        else:
            pieces, capacity = smaller, beside
    packable = [Piece(piece.file.change.path, piece.number, piece.cost) for piece in pieces]
    even = (
        capacity_for_even([piece.size for piece in packable], capacity) if measured.remarks else capacity
    )  # so that each chunk has room for some
    several = rules.keep_together and sum(piece.size for piece in packable) > even
    bins = arrange(packable, even, _links(measured, pieces) if several else None, together=rules.keep_together)
    chunks = _filled(
        measured, [_lengthened(measured, [pieces[at] for at in members], capacity) for members in bins], capacity
    )
    coverage = _coverage(measured, chunks, verdicts)
    fewest = fewest_bins([piece.cost for piece in pieces], capacity)
    plan = Plan(measured, limit, capacity, chunks, fewest, coverage, (), said)
    return replace(plan, notices=_notices(plan))


def _all_pieces(
    measured: MeasuredDiff, verdicts: dict[int, Verdict | None], capacity: int
) -> tuple[list[FilePiece], dict[int, Verdict]]:
    """The pieces of all files that go out, and the verdict on each that cannot, because not even a line of it has
    room."""
    pieces: list[FilePiece] = []
    without_room: dict[int, Verdict] = {}
    for file in measured.files:
        if verdicts[file.number] is None:
            cut = _pieces(measured, file, capacity)
            pieces += cut
            if not cut:
                without_room[file.number] = Verdict(Reason.NO_ROOM, {"capacity": capacity})
    return pieces, without_room


def _links(measured: MeasuredDiff, pieces: list[FilePiece]) -> dict[tuple[int, int], float]:
    """The links of files as links of pieces: those of files that go out whole, because a part is of its file before
    all."""
    places = {piece.file.number: at for at, piece in enumerate(pieces) if piece.part is None}
    return {
        (places[one], places[other]): worth
        for (one, other), worth in measured.links.items()
        if one in places and other in places
    }


def _lengthened(measured: MeasuredDiff, pieces: list[FilePiece], capacity: int) -> list[FilePiece]:
    """The pieces of a chunk with as much of their shortened lines as it has room for."""
    room = capacity - sum(piece.cost for piece in pieces)
    cut = [at for at, piece in enumerate(pieces) if piece.part is not None and piece.part.shortened]
    found = list(pieces)
    for done, at in enumerate(cut):
        piece, part = pieces[at], pieces[at].part
        if part is not None:
            longer = measured.splitter(piece.file.number).lengthened(part, room // (len(cut) - done))
            room -= longer.cost - piece.cost
            found[at] = replace(piece, part=longer, cost=longer.cost)
    return found


def _filled(measured: MeasuredDiff, chunks: list[list[FilePiece]], capacity: int) -> tuple[tuple[FilePiece, ...], ...]:
    """The chunks with the remarks they have room for. A remark goes to one part of its file; a signature stands in a
    chunk once."""
    filled: list[tuple[FilePiece, ...]] = []
    offered: set[tuple[int, int]] = set()
    for pieces in chunks:
        offers: list[Offer] = []
        declared: set[str] = set()
        for at, piece in enumerate(pieces):
            for number, remark in enumerate(measured.remarks.get(piece.file.number, ())):
                if (piece.file.number, number) in offered or not piece.holds(remark.line) or remark.text in declared:
                    continue
                offered.add((piece.file.number, number))
                if remark.title == SIGNATURES:
                    declared.add(remark.text)
                offers.append(Offer(at, remark.title, remark.rank, remark.text, remark.tokens))
        room = capacity - sum(piece.cost for piece in pieces)
        found = fill(offers, [piece.file.change.path for piece in pieces], room, measured.counter) if offers else {}
        filled.append(tuple(replace(piece, filling=tuple(found.get(at, ()))) for at, piece in enumerate(pieces)))
    return tuple(filled)


def _injected(measured: MeasuredDiff, limit: int) -> int:
    """Tokens of everything in a chunk that is no change, with the largest numbers there can be."""
    most = largest(measured.diff.lines)
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


def _pieces(measured: MeasuredDiff, file: MeasuredChange, capacity: int) -> list[FilePiece]:
    """The file in one piece or in parts; nothing where not even a line has room."""
    if file.cost <= capacity:
        return [FilePiece(file, cost=file.cost)]
    parts = measured.splitter(file.number).parts(capacity) or []
    return [FilePiece(file, part, number, len(parts), part.cost) for number, part in enumerate(parts, 1)]


def _coverage(
    measured: MeasuredDiff, chunks: tuple[tuple[FilePiece, ...], ...], verdicts: dict[int, Verdict | None]
) -> tuple[Coverage, ...]:
    pieces: dict[int, list[tuple[int, FilePiece]]] = {}
    for number, chunk in enumerate(chunks, 1):
        for piece in chunk:
            pieces.setdefault(piece.file.number, []).append((number, piece))
    found = []
    for file in (measured.files[number] for number in measured.as_listed):
        held = pieces.get(file.number, [])
        numbers = tuple(dict.fromkeys(number for number, _ in held))
        verdict = verdicts[file.number]
        figures: dict[str, Figure]
        if not held:
            assert verdict is not None
            state, became, reason, figures = LEFT_OUT, State.DROPPED, verdict.rule, dict(verdict.figures)
        elif held[0][1].part is None:
            verdict, state, became, reason, figures = None, WHOLE, State.KEPT, Reason.FITS, {"chunk": numbers[0]}
        else:
            state, became, reason, figures = SPLIT, State.KEPT, Reason.SPLIT, {"parts": len(held)}
            cut = sorted(line for _, piece in held if piece.part is not None for line in piece.part.shortened)
            if cut:
                more = f" and {len(cut) - 1:,} more" if len(cut) > 1 else ""
                figures |= {"where": f"line {cut[0][0]:,}{more}", "characters": sum(missing for _, missing in cut)}
                verdict = Verdict(Reason.LONG_LINE, figures)
                became, reason = State.SHORTENED, Reason.LONG_LINE
        after, position = sum(piece.cost for _, piece in held), numbers[0] if numbers else None
        entry = Entry(file.change.path, became, reason, file.tokens, after, figures, position=position)
        found.append(Coverage(file, state, numbers, verdict, entry))
    return tuple(found)


def _notices(plan: Plan) -> tuple[Notice, ...]:
    measured, coverage = plan.measured, plan.coverage
    found = list(measured.notices)
    findings = plan.lines_under(LINTER)
    missing = findings["lines"] - findings["shown"]
    if missing:
        said = (
            f"{missing:,} of {findings['lines']:,} findings of linters had no room, or are of files that do not go out."
        )
        found.append(Notice("remarks_left_out", said))
    if not coverage:
        more = " --base REV compares with another state." if measured.compared.repository else ""
        found.append(Notice("nothing_changed", f"Nothing changed: {measured.compared.what}.{more}"))
    elif not plan.chunks:
        named = listed([f"{entry.path}: {entry.reason}" for entry in coverage], NAMED)
        found.append(Notice("nothing_left", f"No chunk: all {len(coverage):,} changed files are left out ({named})."))
    unseen = [entry for entry in coverage if entry.verdict and entry.verdict.rule in (Reason.LONG_LINE, Reason.NO_ROOM)]
    if unseen:
        found.append(
            Notice(
                "not_whole",
                f"{len(unseen):,} files do not go out whole because of the limit: {unseen[0].path}:"
                f" {unseen[0].reason}.",
            )
        )
    return tuple(found)
