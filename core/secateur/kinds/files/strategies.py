"""Decides which files go out, whole or as snippets: pure, instant, every decision with its figures.

    prune(measured, settings).decisions

`delete` keeps files in their order, `score` by falling score. `extract` takes whole files first, within a share of the
budget; then the ranges that a model named; then single pieces by falling relevance; then other whole files that fit. Of
a piece that does not fit, the lines around its best match go out. What does not fit is skipped and the next is tried
(PRUNER-FILES, PRUNER-EXTRACT).
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from msgspec import structs

from secateur.errors import UsageError
from secateur.kinds.files.line_ranges import Range, add_context, check_windows
from secateur.kinds.files.measurements import needs_scores
from secateur.kinds.files.sourcecode import (
    HEAD,
    SCORES,
    FileDecision,
    MeasuredFile,
    MeasuredFiles,
    PrunedFiles,
    SourcePiece,
    Threshold,
    TriedSnippet,
    best,
    cost,
    end_lines,
    header,
    merge_ranges,
)
from secateur.kinds.knobs import warn_unknown_pins
from secateur.languages.syntax.fragments import split_lines
from secateur.model import IntArray, Notice, Reason, State
from secateur.render.page import count_noun
from secateur.settings import ContextPrune, Settings
from secateur.suggestions import suggestion
from secateur.tokens import Counter, get_counter

# Tokens that a header can grow by when its snippet grows: a line number may gain a group of three digits.
LONGER_HEADER = 1

STRATEGIES = ("score", "extract", "delete")

_PINNED_SHARE = 0.5  # largest share of the room for pieces of pinned files that are too large

Room = TypeVar("Room", int, IntArray)

_ROUNDING = 1e-6  # 0.8 x 100 is 80, whatever binary fractions say


@dataclass(slots=True)
class _FileStatus:
    number: int
    file: MeasuredFile
    reason: Reason = Reason.NO_ROOM
    after: int = 0
    left: int | None = 0  # None: only a threshold decided
    of_share: bool = False  # whether `left` is of the share for whole files
    ranges: list[Range] = field(default_factory=list)
    tried: list[TriedSnippet] = field(default_factory=list)
    text: str | None = None
    threshold: Threshold | None = None
    pinned: bool = False
    _lines: list[str] | None = None

    @property
    def lines(self) -> list[str]:
        if self._lines is None:
            self._lines = split_lines(self.file.source.source_code)
        return self._lines

    def keep(self, reason: Reason) -> None:
        self.reason, self.after, self.text, self.ranges = reason, self.file.cost, self.file.source.source_code, []
        self.threshold = None

    def decision(self) -> FileDecision:
        file, shortened = self.file, bool(self.ranges)
        state = State.DROPPED if self.text is None else State.SHORTENED if shortened else State.KEPT
        # of a dropped file the best snippet: neither the file nor the snippet had room
        refused = self.tried[0] if self.text is None and self.tried else None
        return FileDecision(
            number=self.number,
            module_name=file.source.module_name,
            state=state,
            reason=refused.reason if refused else self.reason,
            before=file.cost,
            after=self.after,
            needed=refused.needed if refused else file.cost,
            left=refused.left if refused else self.left,
            of_share=shortened and self.of_share,
            score=file.score,
            judge=file.judge,
            said=file.said,
            ranges=tuple(self.ranges),
            tried=tuple(self.tried),
            text=self.text,
            threshold=self.threshold,
        )


def decide(
    measured: MeasuredFiles, rules: ContextPrune, counter: Counter, pins: Collection[str] = ()
) -> list[FileDecision]:
    """Decides on every file, in their order. At most `max_tokens` go out, unless pruning is switched off. `pins`: ids
    of files that go out whole before all others, while they fit."""
    statuses = [
        _FileStatus(index, file, left=rules.max_tokens, pinned=id_ in pins)
        for index, (file, id_) in enumerate(zip(measured.files, measured.ids, strict=True))
    ]
    if not rules.enabled or measured.total <= rules.max_tokens:
        for status in statuses:
            status.keep(Reason.FITS if rules.enabled else Reason.DISABLED)
    elif rules.max_tokens == 0:
        for status in statuses:
            status.reason = Reason.ZERO_BUDGET
    elif rules.strategy != "extract":
        wanted = [statuses[index] for index in whole_order(measured, rules, pins)]
        competing = {status.number for status in wanted}
        _refuse((status for status in statuses if status.number not in competing), rules, 0.0)
        _keep_greedily(wanted, rules.max_tokens, rules.max_tokens, Reason.FITS)
    else:
        pinned = _sort_by_score(status for status in statuses if status.pinned)
        room = rules.max_tokens - _keep_greedily(pinned, rules.max_tokens, rules.max_tokens, Reason.PINNED)
        others = [status for status in statuses if status.text is None]
        _extract(others, rules, counter, measured.form, room, asked=bool(measured.calls))
    return [status.decision() for status in statuses]


def whole_order(measured: MeasuredFiles, rules: ContextPrune, pins: Collection[str] = ()) -> list[int]:
    """The indices of files that compete whole, by `score` or `delete`, in the order of trying: pinned ones first."""
    files, scored = measured.files, rules.strategy != "delete"
    pinned = [id_ in pins for id_ in measured.ids]
    wanted = [index for index, file in enumerate(files) if pinned[index] or not scored or file.score >= rules.min_score]
    if scored:
        wanted.sort(key=lambda index: (-files[index].score, files[index].cost, index))
    return sorted(wanted, key=lambda index: not pinned[index])


def _sort_by_score(statuses: Iterable[_FileStatus]) -> list[_FileStatus]:
    return sorted(statuses, key=lambda status: (-status.file.score, status.file.cost, status.number))


def _refuse(statuses: Iterable[_FileStatus], rules: ContextPrune, top: float) -> None:
    for status in statuses:
        status.reason, status.left = Reason.NOT_RELEVANT, None
        floor = SCORES * top * rules.snippet_share
        if status.file.score >= rules.min_score and status.file.score > 0 and floor > 0:
            score, top_score = (round(SCORES * relevance, 5) for relevance in (best(status.file.pieces), top))
            setting, figures = "snippet_share", (rules.snippet_share, top_score, floor, score)
        else:
            setting, figures = "min_score", (rules.min_score, 0.0, rules.min_score, status.file.score)
        status.threshold = Threshold(f"context_prune.{setting}", *figures)


def try_in_order(costs: Iterable[int], room: Room) -> Iterator[tuple[Room, Any]]:
    """Takes what fits, in this order, and yields for each cost the room that was left and whether it fits: in one room,
    or in each of an array of rooms."""
    for needed in costs:
        fits = needed <= room
        yield room, fits
        room = room - needed * fits


def _keep_greedily(statuses: Sequence[_FileStatus], capacity: int, budget: int, reason: Reason) -> int:
    """Keeps whole files in this order while they fit, and returns their tokens. A threshold of 0 refuses nothing."""
    used = 0
    tried = try_in_order((status.file.cost for status in statuses), capacity)
    for status, (left, fits) in zip(statuses, tried, strict=True):
        status.left = left
        if fits:
            status.keep(Reason.PINNED if status.pinned else Reason.FITS if status.threshold else reason)
            used += status.file.cost
        elif status.threshold is None or status.threshold.asked == 0:
            status.reason = Reason.LARGER_THAN_BUDGET if status.file.cost > budget else Reason.NO_ROOM
            status.threshold = None
    return used


# --- extract ----------------------------------------------------------------------------------------------------------


def _extract(
    statuses: Sequence[_FileStatus], rules: ContextPrune, counter: Counter, form: str, room: int, *, asked: bool
) -> None:
    """Decides on files that are not pinned whole. `room`: the tokens that those leave. Of a pinned file that is too
    large the best pieces go out first."""
    snippets = _Snippets(counter, form, rules)
    pinned = [(status, position) for status in statuses if status.pinned for position in range(len(status.file.pieces))]
    used = snippets.take(sorted(pinned, key=lambda piece: _rank(*piece)), int(_PINNED_SHARE * room))
    room, statuses = room - used, [status for status in statuses if status.text is None]
    top = max((piece.relevance for status in statuses for piece in status.file.pieces), default=0.0)
    floor = rules.snippet_share * top

    def is_eligible(piece: SourcePiece) -> bool:
        relevant = piece.relevance > 0 and piece.relevance >= floor
        return piece.chosen or (relevant and round(SCORES * piece.relevance, 1) >= rules.min_score)

    eligible = {
        status.number: [position for position, piece in enumerate(status.file.pieces) if is_eligible(piece)]
        for status in statuses
    }
    wanted = [status for status in statuses if eligible[status.number]]
    _refuse((status for status in statuses if not eligible[status.number] and not status.pinned), rules, top)
    whole = whole_first([status.file for status in statuses], rules) if asked else None
    first = wanted if whole is None else [status for index, status in enumerate(statuses) if index in whole]
    share = min(_whole_share(rules), room)
    used = _keep_greedily(_sort_by_local_score(first), share, rules.max_tokens, Reason.WHOLE)
    for status in wanted:
        if status.file.cost > room:
            status.left = room
        elif status.text is None:
            status.of_share = share < room
            status.left = share - used if asked else status.left
    named, others = list[tuple[_FileStatus, int]](), list[tuple[_FileStatus, int]]()
    strength: dict[tuple[int, int], float] = {}  # of each range that a model named: the relevance of its best piece
    candidates = [(status, at) for status in wanted if status.text is None for at in eligible[status.number]]
    for candidate, position in candidates:
        piece = candidate.file.pieces[position]
        (named if piece.chosen else others).append((candidate, position))
        key = candidate.number, piece.named
        strength[key] = max(piece.relevance if piece.chosen else 0.0, strength.get(key, 0.0))

    def rank_named(candidate: tuple[_FileStatus, int]) -> tuple[float, int, int]:
        status, position = candidate
        return -strength[status.number, status.file.pieces[position].named], status.number, position

    used += snippets.take(sorted(named, key=rank_named), room - used)
    used += snippets.take(sorted(others, key=lambda candidate: _rank(*candidate)), room - used)
    if rules.min_score == 0:
        left_out = _sort_by_score(status for status in statuses if status.text is None)
        _keep_greedily(left_out, room - used, rules.max_tokens, Reason.FITS)


def whole_first(files: Sequence[MeasuredFile], rules: ContextPrune) -> frozenset[int]:
    """The indices of files that go out whole before a model is asked: by local score, within `full_file_share`."""
    statuses = [_FileStatus(index, file) for index, file in enumerate(files)]
    _keep_greedily(_sort_by_local_score(statuses), _whole_share(rules), rules.max_tokens, Reason.WHOLE)
    return frozenset(status.number for status in statuses if status.text is not None)


def _whole_share(rules: ContextPrune) -> int:
    return int(rules.full_file_share * rules.max_tokens + _ROUNDING)


def _sort_by_local_score(statuses: Iterable[_FileStatus]) -> list[_FileStatus]:
    return sorted(statuses, key=lambda status: (-status.file.local, status.file.cost, status.number))


def _rank(status: _FileStatus, position: int) -> tuple[float, int, int, int]:
    piece = status.file.pieces[position]
    return -piece.relevance, piece.tokens, status.number, position


class _Snippets:
    """Takes pieces in order. Each is charged the most it can add; the written text is counted at the end."""

    def __init__(self, counter: Counter, form: str, rules: ContextPrune) -> None:
        self._counter, self._form = counter, form
        self._budget, self._shared = rules.max_tokens, rules.sliding_window_overlap
        self._kept: dict[int, dict[int, list[Range]]] = {}  # file -> position of a piece -> its kept lines

    def take(self, candidates: Sequence[tuple[_FileStatus, int]], free: int) -> int:
        """Decides on all pieces, best first, within `free` tokens, and returns the tokens taken. Of pieces too large
        for the room, lines around their matches fill the rest."""
        left = free
        tokens_before = {status.number: status.after for status, _ in candidates}
        tried: list[TriedSnippet] = []
        for status, position in candidates:
            piece, needed = status.file.pieces[position], self._charge(status, position)
            kept = needed <= left
            tried.append(self._describe_try(piece, kept, needed, left))
            if kept:
                left -= needed
                self._kept.setdefault(status.number, {})[position] = [(piece.start, piece.end)]
        order_taken = [index for index, snippet in enumerate(tried) if snippet.kept]
        for index, (status, position) in enumerate(candidates):
            if not tried[index].kept:
                ranges, needed = self._narrow_piece(status, position, left)
                if ranges:
                    left -= needed
                    self._kept.setdefault(status.number, {})[position] = ranges
                    order_taken.append(index)
        statuses = {status.number: status for status, _ in candidates if status.number in self._kept}
        for status in statuses.values():
            self._write(status)
        total = sum(status.after - tokens_before[status.number] for status in statuses.values())
        while total > free:  # the written text may cost more than the charges: drop the last taken
            index = order_taken.pop()
            status, position = candidates[index]
            total -= status.after
            del self._kept[status.number][position]
            needed = status.after
            self._write(status)
            total += status.after
            if tried[index].kept:
                piece, needed = status.file.pieces[position], needed - status.after
                tried[index] = self._describe_try(piece, False, needed, free - total)
        for (status, _), snippet in zip(candidates, tried, strict=True):
            status.tried.append(snippet)
        return total

    def _charge(self, status: _FileStatus, position: int) -> int:
        """The most tokens that a piece can add: its lines, its header unless it touches a kept piece, and the file's
        frame if it is the first of the file."""
        pieces, kept = status.file.pieces, self._kept.get(status.number, {})
        piece, following = pieces[position], pieces[position + 1 : position + 2]
        gaps = [piece.gap] if piece.gap >= 0 and position - 1 in kept else []
        gaps += [after.gap for after in following if after.gap >= 0 and position + 1 in kept]
        if gaps:
            return piece.tokens + sum(gaps) + LONGER_HEADER
        return piece.tokens + piece.header + (0 if kept else self._frame_tokens(status))

    def _narrow_piece(self, status: _FileStatus, position: int, left: int) -> tuple[list[Range], int]:
        """Chooses lines around the matches of a piece too large for the room, with their enclosing statements, and
        returns them with their tokens; empty if not even the best match fits."""
        piece = status.file.pieces[position]
        shared = max(piece.within[0], piece.start - self._shared), min(piece.within[1], piece.end + self._shared)
        frame = 0 if self._kept.get(status.number) else self._frame_tokens(status)
        matching_lines = [line for line in piece.matches if piece.start <= line <= piece.end]

        def count(matches: int, reach: int) -> tuple[list[Range], int]:
            lines = status.lines
            ranges = merge_ranges(add_context(matching_lines[:matches], lines, reach, shared, piece.within), lines)
            written = (f"{header(start, end, piece.owner)}{end_lines(lines[start - 1 : end])}" for start, end in ranges)
            return ranges, sum(self._counter.count_many(written)) + LONGER_HEADER

        def measure(matches: int, reach: int) -> tuple[list[Range], int]:
            key = self._counter.name, position, shared, matches, reach
            ranges, tokens = status.file.count_once(key, lambda: count(matches, reach))
            return ranges, frame + tokens

        chosen: tuple[list[Range], int] = [], 0
        matches = len(matching_lines)
        while matches and (chosen := measure(matches, 0))[1] > left:
            matches -= 1
        if not matches:
            return [], 0
        low, high = 0, piece.end - piece.start
        while low < high:
            reach = (low + high + 1) // 2
            wider = measure(matches, reach)
            if wider[1] <= left:
                low, chosen = reach, wider
            else:
                high = reach - 1
        return chosen

    def _frame_tokens(self, status: _FileStatus) -> int:
        return status.file.count_once(
            (self._counter.name, self._form),
            lambda: cost(status.file.source.module_name, HEAD, self._form, self._counter),
        )

    def _describe_try(self, piece: SourcePiece, kept: bool, needed: int, left: int) -> TriedSnippet:
        refused = Reason.LARGER_THAN_BUDGET if needed > self._budget else Reason.NO_ROOM
        reason, score = Reason.SNIPPETS if kept else refused, round(SCORES * piece.relevance, 1)
        return TriedSnippet(piece.start, piece.end, piece.name, score, kept, reason, needed, left)

    def _write(self, status: _FileStatus) -> None:
        source, kept = status.file.source, self._kept[status.number]
        status.ranges, status.text, status.after, status.reason = [], None, 0, Reason.NO_ROOM
        if not kept:
            return
        lines = status.lines
        pieces = [status.file.pieces[position] for position in sorted(kept)]
        ranges = merge_ranges((part for position in sorted(kept) for part in kept[position]), lines)
        owners_in = ({piece.owner for piece in pieces if start <= piece.start <= end} for start, end in ranges)
        owners = tuple(inside.pop() if len(inside) == 1 else "" for inside in owners_in)
        parts = zip(ranges, owners, strict=True)
        snippets = (header(start, end, owner) + end_lines(lines[start - 1 : end]) for (start, end), owner in parts)
        text = "".join([HEAD, *snippets])
        tokens = status.file.count_once(
            (self._counter.name, self._form, tuple(ranges), owners),
            lambda: cost(source.module_name, text, self._form, self._counter),
        )
        if tokens >= status.file.cost:
            status.keep(Reason.NOT_SHORTER)
        else:
            status.reason, status.ranges, status.text, status.after = Reason.SNIPPETS, ranges, text, tokens


def prune(measured: MeasuredFiles, settings: Settings) -> PrunedFiles:
    """Decides on every file. `max_tokens` limits the text that goes out, in the measured form. Raises UsageError: no
    such strategy; the strategy needs scores and there is no query."""
    rules, counter = settings.context_prune, get_counter(measured.counter)
    if rules.strategy not in STRATEGIES:
        near = suggestion(rules.strategy, STRATEGIES)
        hint = (f"did you mean {near}? " if near else "") + "strategies: " + ", ".join(STRATEGIES)
        raise UsageError(f"there is no strategy {rules.strategy!r}", hint=hint)
    check_windows(rules.sliding_window_size, rules.sliding_window_overlap)
    if needs_scores(measured, rules) and not measured.query:
        raise missing_query_error(rules.strategy)
    decisions = decide(measured, rules, counter, settings.pins)
    # A file that a threshold refused says what it needs and what is left, if it does not go out without the threshold
    # either: then the threshold alone did not decide.
    for setting in sorted({entry.threshold.setting for entry in decisions if entry.threshold and entry.left is None}):
        without = structs.replace(rules, **{setting.rpartition(".")[2]: 0.0})
        for again in decide(measured, without, counter, settings.pins):
            decision = decisions[again.number]
            refused = decision.threshold is not None and decision.threshold.setting == setting
            if refused and decision.left is None and again.text is None:
                decisions[again.number] = replace(decision, needed=again.needed, left=again.left)
    unknown = warn_unknown_pins(settings, measured.ids)
    notices = (*measured.notices, *unknown, *_notices(measured, decisions, settings))
    return PrunedFiles(measured, tuple(decisions), rules.max_tokens, rules.strategy, notices)


def missing_query_error(strategy: str) -> UsageError:
    return UsageError(
        f"strategy {strategy} needs to know what the files are for",
        hint="say it with --query TEXT or --conversation FILE, or use --strategy delete",
    )


def _notices(measured: MeasuredFiles, decisions: Sequence[FileDecision], settings: Settings) -> list[Notice]:
    rules = settings.context_prune
    if not decisions:
        return [Notice("no_files", "There is no file to prune.")]
    if not rules.enabled:
        over = measured.total - rules.max_tokens
        excess = f" ({count_noun(over, 'token')} more than {rules.max_tokens:,})" if over > 0 else ""
        return [Notice("pruning_disabled", f"context_prune.enabled is false: all files stay unchanged{excess}.")]
    if any(decision.text is not None for decision in decisions):
        return []
    if rules.max_tokens == 0:
        return [Notice("zero_budget", "The budget is 0 tokens: nothing goes out.")]
    if all(decision.reason is Reason.NOT_RELEVANT for decision in decisions):
        scores = f"No file scores {rules.min_score:g} of {SCORES} or more"
        return [Notice("nothing_relevant", f"{scores}: nothing in them answers the query.")]
    least = min(decision.needed for decision in decisions if decision.reason is not Reason.NOT_RELEVANT)
    needed = min([least, *(piece.needed for decision in decisions for piece in decision.tried)])
    room = count_noun(rules.max_tokens, "token")
    message = f"Nothing relevant fits {room}: the smallest part needs {needed:,}."
    if rules.strategy == "score":
        again = decide(measured, structs.replace(rules, strategy="extract"), get_counter(measured.counter))
        if any(decision.text is not None for decision in again):
            message += " With --strategy extract, lines of it go out."
    return [Notice("budget_too_small", message)]
