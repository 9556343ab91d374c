"""Decides which files leave, whole or as snippets: pure, instant, every decision with its figures.

`delete` keeps files in their order, `score` by falling score. `extract` takes first whole files within a share of the
budget; then what a model named, as it named it; then single pieces by falling relevance; then whatever else fits whole.
Of a piece that does not fit, the lines around its best match leave. What does not fit is skipped and the next is tried
(specs README, points 1 and 12).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from secateur.kinds.files.line_ranges import Range
from secateur.kinds.files.snippet_text import HEAD, cost, header, joined, newline_ended, snippet_text
from secateur.kinds.files.sourcecode import (
    SCORES,
    FileDecision,
    MeasuredFile,
    MeasuredFiles,
    SourcePiece,
    Threshold,
    TriedSnippet,
)
from secateur.kinds.files.statements import around_lines
from secateur.languages.syntax.fragments import split_lines
from secateur.model import Reason, State
from secateur.settings import ContextPrune
from secateur.tokens import Counter

LONGER_HEADER = 1
"""Tokens by which the line numbers of a header can grow when a snippet does: one has three digits more."""

STRATEGIES = ("score", "extract", "delete")

_ROUNDING = 1e-6  # 0.8 x 100 is 80, whatever binary fractions say


@dataclass(slots=True)
class _FileStatus:
    """The decisions on one file so far."""

    number: int
    file: MeasuredFile
    reason: Reason = Reason.NO_ROOM
    after: int = 0
    left: int = 0
    ranges: list[Range] = field(default_factory=list)
    tried: list[TriedSnippet] = field(default_factory=list)
    text: str | None = None
    threshold: Threshold | None = None

    def keep(self, reason: Reason) -> None:
        self.reason, self.after, self.text, self.ranges = reason, self.file.cost, self.file.source.source_code, []
        self.threshold = None

    def decision(self) -> FileDecision:
        file, shortened = self.file, bool(self.ranges)
        state = State.DROPPED if self.text is None else State.SHORTENED if shortened else State.KEPT
        refused = (
            self.tried[0] if self.text is None and self.tried else None
        )  # the best of its snippets: it could not leave whole, nor as that
        return FileDecision(
            number=self.number,
            module_name=file.source.module_name,
            state=state,
            reason=refused.reason if refused else self.reason,
            before=file.cost,
            after=self.after,
            needed=refused.needed if refused else file.cost,
            left=refused.left if refused else self.left,
            score=file.score,
            judge=file.judge,
            said=file.said,
            ranges=tuple(self.ranges),
            tried=tuple(self.tried),
            text=self.text,
            threshold=self.threshold,
        )


def decide(measured: MeasuredFiles, rules: ContextPrune, counter: Counter) -> list[FileDecision]:
    """One entry per file, in their order; what leaves holds at most `max_tokens`, unless pruning is switched off."""
    statuses = [_FileStatus(number, file, left=rules.max_tokens) for number, file in enumerate(measured.files)]
    if not rules.enabled or measured.total <= rules.max_tokens:
        for status in statuses:
            status.keep(Reason.FITS if rules.enabled else Reason.DISABLED)
    elif rules.max_tokens == 0:
        for status in statuses:
            status.reason = Reason.ZERO_BUDGET
    elif rules.strategy != "extract":
        wanted = [statuses[number] for number in whole_order(measured.files, rules)]
        competing = {status.number for status in wanted}
        _not_relevant((status for status in statuses if status.number not in competing), rules, 0.0)
        _greedy(wanted, rules.max_tokens, rules.max_tokens, Reason.FITS)
    else:
        _extract(statuses, rules, counter, measured.form, asked=bool(measured.calls))
    return [status.decision() for status in statuses]


def whole_order(files: Sequence[MeasuredFile], rules: ContextPrune) -> list[int]:
    """The numbers of the files that compete whole, by `score` or `delete`, in the order in which they are tried."""
    if rules.strategy == "delete":
        return list(range(len(files)))
    wanted = (number for number, file in enumerate(files) if file.score >= rules.min_score)
    return sorted(wanted, key=lambda number: (-files[number].score, files[number].cost, number))


def _by_score(statuses: Iterable[_FileStatus]) -> list[_FileStatus]:
    return sorted(statuses, key=lambda status: (-status.file.score, status.file.cost, status.number))


def _divided(
    statuses: Iterable[_FileStatus], wanted: Callable[[_FileStatus], bool]
) -> tuple[list[_FileStatus], list[_FileStatus]]:
    sides: tuple[list[_FileStatus], list[_FileStatus]] = ([], [])
    for status in statuses:
        sides[not wanted(status)].append(status)
    return sides


def _not_relevant(statuses: Iterable[_FileStatus], rules: ContextPrune, top: float) -> None:
    """Refuse them with the threshold that decided.

    Args:
        top: the relevance of the best piece of all, of which snippets must have a share; 0 where they need none.
    """
    for status in statuses:
        status.reason = Reason.NOT_RELEVANT
        floor = SCORES * top * rules.snippet_share
        if status.file.score >= rules.min_score and status.file.score > 0 and floor > 0:
            best = round(SCORES * top, 1)
            status.threshold = Threshold("context_prune.snippet_share", rules.snippet_share, best, floor)
        else:
            status.threshold = Threshold("context_prune.min_score", rules.min_score, 0.0, rules.min_score)


def _greedy(statuses: Sequence[_FileStatus], capacity: int, budget: int, reason: Reason) -> int:
    """Keep whole files in this order while they fit; returns what they take."""
    used = 0
    for status in statuses:
        status.left = capacity - used
        if status.file.cost <= status.left:
            status.keep(reason)
            used += status.file.cost
        else:
            status.reason = Reason.LARGER_THAN_BUDGET if status.file.cost > budget else Reason.NO_ROOM
    return used


# --- extract ----------------------------------------------------------------------------------------------------------


def _extract(statuses: Sequence[_FileStatus], rules: ContextPrune, counter: Counter, form: str, *, asked: bool) -> None:
    top = max((piece.relevance for status in statuses for piece in status.file.pieces), default=0.0)
    floor = rules.snippet_share * top
    speaking = {status.number: _speaking(status.file.pieces, floor, rules.min_score) for status in statuses}
    wanted, rest = _divided(statuses, lambda status: bool(speaking[status.number]))
    _not_relevant(rest, rules, top)
    snippets = _Snippets(counter, form, rules)
    whole = whole_first([status.file for status in statuses], rules) if asked else None
    first = wanted if whole is None else [status for status in statuses if status.number in whole]
    used = _greedy(_by_local_score(first), _share(rules), rules.max_tokens, Reason.WHOLE)
    candidates = [(status, place) for status in wanted if status.text is None for place in speaking[status.number]]
    named = [candidate for candidate in candidates if _piece(*candidate).chosen]
    used += snippets.take(_as_named(named), rules.max_tokens - used)
    loose = [candidate for candidate in candidates if not _piece(*candidate).chosen]
    used += snippets.take(sorted(loose, key=lambda candidate: _rank(*candidate)), rules.max_tokens - used)
    if rules.min_score == 0:
        _fill([status for status in statuses if status.text is None], rules.max_tokens - used, rules.max_tokens)


def _fill(statuses: Iterable[_FileStatus], left: int, budget: int) -> None:
    """Keep whole files, the best first, in the room that is left."""
    for status in _by_score(statuses):
        if status.file.cost <= left:
            status.keep(Reason.WHOLE)
            left -= status.file.cost
        elif status.threshold is not None and status.threshold.asked == 0:
            status.reason = Reason.LARGER_THAN_BUDGET if status.file.cost > budget else Reason.NO_ROOM
            status.left, status.threshold = left, None


def whole_first(files: Sequence[MeasuredFile], rules: ContextPrune) -> frozenset[int]:
    """The numbers of the files that leave whole before a model is asked: in the order of their local scores, as long as
    they fit in `full_file_share`."""
    statuses = [_FileStatus(number, file) for number, file in enumerate(files)]
    _greedy(_by_local_score(statuses), _share(rules), rules.max_tokens, Reason.WHOLE)
    return frozenset(status.number for status in statuses if status.text is not None)


def _share(rules: ContextPrune) -> int:
    return int(rules.full_file_share * rules.max_tokens + _ROUNDING)


def _by_local_score(statuses: Iterable[_FileStatus]) -> list[_FileStatus]:
    return sorted(statuses, key=lambda status: (-status.file.local, status.file.cost, status.number))


def _piece(status: _FileStatus, place: int) -> SourcePiece:
    return status.file.pieces[place]


def _as_named(candidates: Sequence[tuple[_FileStatus, int]]) -> list[tuple[_FileStatus, int]]:
    """The candidates that a model named, range by range: the one that holds the best piece first, each in the order of
    its lines."""
    strength: dict[tuple[int, int], float] = {}
    for status, place in candidates:
        piece = _piece(status, place)
        key = status.number, piece.named
        strength[key] = max(piece.relevance, strength.get(key, 0.0))

    def rank(candidate: tuple[_FileStatus, int]) -> tuple[float, int, int]:
        status, place = candidate
        return -strength[status.number, _piece(status, place).named], status.number, place

    return sorted(candidates, key=rank)


def _rank(status: _FileStatus, place: int) -> tuple[float, int, int, int]:
    piece = status.file.pieces[place]
    return -piece.relevance, piece.tokens, status.number, place


def _speaking(pieces: Sequence[SourcePiece], floor: float, min_score: float) -> list[int]:
    """Places of the pieces that may leave."""
    return [place for place, piece in enumerate(pieces) if _speaks(piece, floor, min_score)]


def _speaks(piece: SourcePiece, floor: float, min_score: float) -> bool:
    return piece.chosen or (
        piece.relevance > 0 and piece.relevance >= floor and round(SCORES * piece.relevance, 1) >= min_score
    )


def _owner(pieces: Iterable[SourcePiece], held: Range) -> str:
    """The owner that all pieces in a range share; "" where there is none, or the range holds more than parts of one."""
    owners = {piece.owner for piece in pieces if held[0] <= piece.start <= held[1]}
    return owners.pop() if len(owners) == 1 else ""


class _Snippets:
    """Takes pieces in an order. Each is charged what it adds at most; what leaves is counted again at the end."""

    def __init__(self, counter: Counter, form: str, rules: ContextPrune) -> None:
        self._counter = counter
        self._form = form
        self._budget = rules.max_tokens
        self._shared = rules.sliding_window_overlap
        self._kept: dict[int, dict[int, list[Range]]] = {}  # file -> places of its pieces -> the lines of each
        self._frames: dict[int, int] = {}

    def take(self, candidates: Sequence[tuple[_FileStatus, int]], free: int) -> int:
        """Decide on all pieces, best first, within `free` tokens; returns what they take. Of those that have no room
        as a whole, lines around their matches go into what is left."""
        left = free
        held = {status.number: status.after for status, _ in candidates}
        tried: list[TriedSnippet] = []
        for status, place in candidates:
            piece, needed = status.file.pieces[place], self._needed(status, place)
            kept = needed <= left
            tried.append(self._told(piece, kept, needed, left))
            if kept:
                left -= needed
                self._kept.setdefault(status.number, {})[place] = [(piece.start, piece.end)]
        taken = [number for number, told in enumerate(tried) if told.kept]
        for number, (status, place) in enumerate(candidates):
            if not tried[number].kept:
                ranges, needed = self._narrowed(status, place, left)
                if ranges:
                    left -= needed
                    self._kept.setdefault(status.number, {})[place] = ranges
                    taken.append(number)
        statuses = {status.number: status for status, _ in candidates if status.number in self._kept}
        for status in statuses.values():
            self._write(status)
        total = sum(status.after - held[status.number] for status in statuses.values())
        while total > free:  # together the parts hold more than each by itself: the last taken go
            number = taken.pop()
            status, place = candidates[number]
            total -= status.after
            del self._kept[status.number][place]
            needed = status.after
            self._write(status)
            total += status.after
            if tried[number].kept:
                tried[number] = self._told(status.file.pieces[place], False, needed - status.after, free - total)
        for (status, _), told in zip(candidates, tried, strict=True):
            status.tried.append(told)
        return total

    def _needed(self, status: _FileStatus, place: int) -> int:
        """Tokens that a piece adds at most: its lines, its header unless it goes on where another ends, and what stands
        around the first of a file."""
        pieces, kept = status.file.pieces, self._kept.get(status.number, {})
        piece, following = pieces[place], pieces[place + 1 : place + 2]
        gaps = [piece.gap] if piece.gap >= 0 and place - 1 in kept else []
        gaps += [after.gap for after in following if after.gap >= 0 and place + 1 in kept]
        if gaps:
            return piece.tokens + sum(gaps) + LONGER_HEADER
        return piece.tokens + piece.header + (0 if kept else self._around(status))

    def _narrowed(self, status: _FileStatus, place: int, left: int) -> tuple[list[Range], int]:
        """The lines around the matches of a piece that has no room as a whole, inside their enclosing statements, and
        what they take; no lines where not even the best match has room."""
        piece, lines = status.file.pieces[place], split_lines(status.file.source.source_code)
        shared = max(piece.within[0], piece.start - self._shared), min(piece.within[1], piece.end + self._shared)
        around = 0 if self._kept.get(status.number) else self._around(status)
        found = [line for line in piece.matches if piece.start <= line <= piece.end]

        def needed(matches: int, reach: int) -> tuple[list[Range], int]:
            ranges = joined(around_lines(found[:matches], lines, reach, shared, piece.within), lines)
            written = (
                f"{header(start, end, piece.owner)}{newline_ended(lines[start - 1 : end])}" for start, end in ranges
            )
            return ranges, around + sum(self._counter.count_many(written)) + LONGER_HEADER

        best: tuple[list[Range], int] = [], 0
        matches = len(found)
        while matches and (best := needed(matches, 0))[1] > left:
            matches -= 1
        if not matches:
            return [], 0
        low, high = 0, piece.end - piece.start
        while low < high:
            reach = (low + high + 1) // 2
            wider = needed(matches, reach)
            if wider[1] <= left:
                low, best = reach, wider
            else:
                high = reach - 1
        return best

    def _around(self, status: _FileStatus) -> int:
        """Tokens of what stands around the snippets of a file."""
        if status.number not in self._frames:
            self._frames[status.number] = cost(status.file.source.module_name, HEAD, self._form, self._counter)
        return self._frames[status.number]

    def _told(self, piece: SourcePiece, kept: bool, needed: int, left: int) -> TriedSnippet:
        reason = Reason.LARGER_THAN_BUDGET if needed > self._budget else Reason.NO_ROOM
        if kept:
            reason = Reason.SNIPPETS
        return TriedSnippet(
            piece.start, piece.end, piece.name, round(SCORES * piece.relevance, 1), kept, reason, needed, left
        )

    def _write(self, status: _FileStatus) -> None:
        source, kept = status.file.source, self._kept[status.number]
        status.ranges, status.text, status.after, status.reason = [], None, 0, Reason.NO_ROOM
        if not kept:
            return
        lines = split_lines(source.source_code)
        pieces = [status.file.pieces[place] for place in sorted(kept)]
        ranges = joined((part for place in sorted(kept) for part in kept[place]), lines)
        text = snippet_text(lines, ranges, [_owner(pieces, one) for one in ranges])
        tokens = cost(source.module_name, text, self._form, self._counter, (ranges[0][0], ranges[-1][1]))
        if tokens >= status.file.cost:
            status.keep(Reason.NOT_SHORTER)
        else:
            status.reason, status.ranges, status.text, status.after = Reason.SNIPPETS, ranges, text, tokens
