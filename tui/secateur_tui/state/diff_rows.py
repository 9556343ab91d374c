"""The chunks of a diff as the rows that the inspector lists: each chunk with its files below it, then the files left
out. A display of the engine's ledger: every figure is one of its entries', or the share of a part in one.

The rows are the items of a `LedgerAnswer`: a file cut in parts has a row in each of its chunks, a chunk has one of its
own, which holds its share of the wrapper.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property, lru_cache

from msgspec.structs import replace
from secateur.kinds.base import Outcome
from secateur.kinds.diff.kind import Planned
from secateur.kinds.diff.plan import LEFT_OUT, Coverage, FilePiece, Plan, text_of
from secateur.model import Entry, Reason, State
from secateur.settings import Settings

from secateur_tui.state.ledger_answer import LedgerAnswer, LedgerComparison, Sum, sum_states


class RowKind(Enum):
    """The kinds of rows."""

    CHUNK = auto()
    PIECE = auto()  # a file, or a part of one, in a chunk
    OUTSIDE = auto()  # the heading above what is left out
    LEFT_OUT = auto()


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """One row; `coverage` says what became of its file."""

    kind: RowKind
    share: Entry  # of the ledger's entry what this row shows; `before` stands at the first of its rows
    chunk: int = 0  # number of the chunk, from 1
    piece: FilePiece | None = None
    coverage: Coverage | None = None


@dataclass(frozen=True, eq=False)
class DiffAnswer(LedgerAnswer[Planned]):
    """The plan of a diff with its rows as items; `tokens` are those of every chunk's text. `diff_answer` creates
    one."""

    rows: tuple[ChunkRow, ...] = ()
    tokens: tuple[int, ...] = ()

    @property
    def plan(self) -> Plan:
        return self.outcome.payload.plan

    @cached_property
    def entries(self) -> Sequence[Entry]:
        """The share of each row in its entry."""
        return [row.share for row in self.rows]

    def entry_number(self, item: int) -> int | None:
        covered = self.rows[item].coverage
        return self.ledger.number_of[covered.path] if covered is not None else None

    @cached_property
    def sums(self) -> Mapping[State, Sum]:
        """Entries of the ledger and their tokens per state: a file that is cut counts once."""
        return sum_states(self.ledger.entries)

    @cached_property
    def ids(self) -> Sequence[str]:
        """A chunk is known by its number, a file and its first part by the path, so that the cursor stays on a file
        that is cut now or left out."""
        return [_name_row(row) for row in self.rows]

    @cached_property
    def chunks_of(self) -> Mapping[str, tuple[int, ...]]:
        """The numbers of the chunks of each path; empty for a file that is left out."""
        return {entry.path: entry.chunks for entry in self.plan.coverage}

    @cached_property
    def left_out(self) -> Sequence[Coverage]:
        """The files that are in no chunk."""
        return [entry for entry in self.plan.coverage if entry.state == LEFT_OUT]

    @cached_property
    def shortened(self) -> int:
        """Files that go out in part."""
        return len(self.plan.skipped) - len(self.left_out)

    @cached_property
    def most_files(self) -> int:
        """The number of files in the largest chunk."""
        return max(map(len, self.plan.chunks), default=0)

    @property
    def free(self) -> int:
        """Tokens that the chunks have room for yet."""
        return self.plan.limit * len(self.tokens) - self.ledger.after

    def text(self, chunk: int) -> str:
        """Returns a chunk as it goes out."""
        return _text(self.plan, chunk)

    def work_out(self) -> DiffAnswer:
        _ = self.ids, self.chunks_of, self.left_out
        super().work_out()
        return self


@lru_cache(maxsize=2)
def _text(plan: Plan, chunk: int) -> str:
    return text_of(plan, chunk)


def make_diff_answer(settings: Settings, outcome: Outcome[Planned]) -> DiffAnswer:
    """Returns a plan and its ledger as rows."""
    plan, tokens, wrapper = outcome.payload.plan, outcome.payload.tokens, outcome.ledger.entries[-1]
    coverage = {covered.file.number: covered for covered in plan.coverage}
    rows: list[ChunkRow] = []
    seen: set[int] = set()
    for chunk, (pieces, total) in enumerate(zip(plan.chunks, tokens, strict=True), 1):
        around = total - sum(piece.cost + piece.filled for piece in pieces)
        injected = replace(wrapper, id=f"chunk {chunk}", before=wrapper.before if chunk == 1 else 0, after=around)
        rows.append(ChunkRow(RowKind.CHUNK, injected, chunk))
        for piece in pieces:
            covered = coverage[piece.file.number]
            state = State.SHORTENED if piece.part is not None and piece.part.shortened else State.KEPT
            # The tokens of a file that is cut stand at the first of its rows: they are not those of a part.
            before = 0 if piece.file.number in seen else covered.entry.before
            seen.add(piece.file.number)
            share = replace(covered.entry, state=state, before=before, after=piece.cost)
            rows.append(ChunkRow(RowKind.PIECE, share, chunk, piece, covered))
    left = [covered for covered in plan.coverage if covered.state == LEFT_OUT]
    if left:
        rows.append(ChunkRow(RowKind.OUTSIDE, Entry("left out", State.DROPPED, Reason.WRAPPER, 0, 0)))
    rows += [ChunkRow(RowKind.LEFT_OUT, covered.entry, coverage=covered) for covered in left]
    paths = [row.coverage.path if row.coverage is not None else "" for row in rows]
    return DiffAnswer(settings, outcome.ledger, outcome, outcome.notices, paths=paths, rows=tuple(rows), tokens=tokens)


def _name_row(row: ChunkRow) -> str:
    if row.coverage is None:
        return f"\0{row.kind.name} {row.chunk}"
    part = row.piece.number if row.piece is not None else 0
    return row.coverage.path if part <= 1 else f"{row.coverage.path}\0{part}"


def format_chunks(chunks: Sequence[int]) -> str:
    """Formats numbers of chunks: "2", "1-3", "1,4"; "out" if there are none."""
    if not chunks:
        return "out"
    ordered = sorted(chunks)
    if len(ordered) > 1 and ordered[-1] - ordered[0] == len(ordered) - 1:
        return f"{ordered[0]}-{ordered[-1]}"
    return ",".join(map(str, ordered))


@dataclass(frozen=True, eq=False)
class ChunkMoves:
    """Files that moved between chunks since the baseline. Entries are those of `now`."""

    then: DiffAnswer
    now: DiffAnswer

    def was(self, path: str) -> str:
        """Returns the chunks a file was in, where those are others now; "new" where it was in no diff."""
        before = self.then.chunks_of.get(path)
        if before is None:
            return "new"
        return "" if sorted(before) == sorted(self.now.chunks_of[path]) else format_chunks(before)

    @cached_property
    def groups(self) -> Mapping[str, Sequence[Coverage]]:
        """The changes under their headings, in the order of the diff."""
        groups: dict[str, list[Coverage]] = {TAKEN_IN: [], DROPPED: [], MOVED: [], NEW: []}
        for entry in self.now.plan.coverage:
            before = self.then.chunks_of.get(entry.path)
            if before is None:
                groups[NEW].append(entry)
            elif sorted(before) != sorted(entry.chunks):
                groups[TAKEN_IN if not before else DROPPED if not entry.chunks else MOVED].append(entry)
        return groups

    @cached_property
    def gone(self) -> Sequence[str]:
        """Paths that changed no longer."""
        return [path for path in self.then.chunks_of if path not in self.now.chunks_of]


TAKEN_IN, DROPPED, MOVED, NEW = "taken in", "left out now", "in other chunks", "new in the diff"


@lru_cache(maxsize=1)
def compare_chunks(comparison: LedgerComparison) -> ChunkMoves | None:
    """Returns the comparison of two diff answers; the same object for the same comparison."""
    then, now = comparison.then, comparison.now
    return ChunkMoves(then, now) if isinstance(then, DiffAnswer) and isinstance(now, DiffAnswer) else None


def sum_rules(entries: Sequence[Coverage]) -> Mapping[str, tuple[int, int]]:
    """Returns per rule, (files, tokens in the diff) of what is left out; the most frequent first."""
    files: Counter[str] = Counter()
    tokens: Counter[str] = Counter()
    for entry in entries:
        rule = entry.entry.reason.label
        files[rule] += 1
        tokens[rule] += entry.entry.before
    return {rule: (count, tokens[rule]) for rule, count in sorted(files.items(), key=lambda item: (-item[1], item[0]))}
