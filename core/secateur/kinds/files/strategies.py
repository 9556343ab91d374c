"""Which files leave, whole or as snippets: pure, instant, every decision with its figures.

`delete` keeps files in their order, `score` by falling score. `extract` takes first what a model named, as it named it;
then whole files within a share of the budget; then single pieces by falling relevance. What does not fit is skipped and
the next is tried (specs README, points 1 and 12).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from secateur.kinds.files.line_ranges import Range
from secateur.kinds.files.snippet_text import HEAD, cost, joined, snippet_text
from secateur.kinds.files.sourcecode import SCORES, FileDecision, Piece, Threshold, Tried, WeighedFile, WeighedFiles
from secateur.languages.syntax.fragments import split_lines
from secateur.model import Reason, State
from secateur.settings import ContextPrune
from secateur.tokens import Counter

LONGER_HEADER = 1
"""Tokens by which the line numbers of a header can grow when a snippet does: one has three digits more."""

STRATEGIES = ("score", "extract", "delete")

_ROUNDING = 1e-6  # 0.8 x 100 is 80, whatever binary fractions say


@dataclass(slots=True)
class _Fate:
    """What is decided of one file so far."""

    number: int
    file: WeighedFile
    why: Reason = Reason.NO_ROOM
    after: int = 0
    left: int = 0
    ranges: list[Range] = field(default_factory=list)
    tried: list[Tried] = field(default_factory=list)
    text: str | None = None
    threshold: Threshold | None = None

    def keep(self, why: Reason) -> None:
        self.why, self.after, self.text, self.ranges = why, self.file.cost, self.file.source.source_code, []

    def entry(self) -> FileDecision:
        file, shortened = self.file, bool(self.ranges)
        state = State.DROPPED if self.text is None else State.SHORTENED if shortened else State.KEPT
        refused = (
            self.tried[0] if self.text is None and self.tried else None
        )  # the best of its snippets: it could not leave whole, nor as that
        return FileDecision(
            number=self.number,
            module_name=file.source.module_name,
            state=state,
            why=refused.why if refused else self.why,
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


def decide(weighed: WeighedFiles, rules: ContextPrune, counter: Counter) -> list[FileDecision]:
    """One entry per file, in their order; what leaves holds at most `max_tokens`, unless pruning is switched off."""
    fates = [_Fate(number, file, left=rules.max_tokens) for number, file in enumerate(weighed.files)]
    if not rules.enabled or weighed.total <= rules.max_tokens:
        for fate in fates:
            fate.keep(Reason.FITS if rules.enabled else Reason.DISABLED)
    elif rules.max_tokens == 0:
        for fate in fates:
            fate.why = Reason.ZERO_BUDGET
    elif rules.strategy == "delete":
        _greedy(fates, rules.max_tokens, rules.max_tokens, Reason.FITS)
    elif rules.strategy == "score":
        wanted, rest = _divided(fates, lambda fate: fate.file.score >= rules.min_score)
        _not_relevant(rest, rules, 0.0)
        _greedy(_by_score(wanted), rules.max_tokens, rules.max_tokens, Reason.FITS)
    else:
        _extract(fates, rules, counter, weighed.form)
    return [fate.entry() for fate in fates]


def _by_score(fates: Iterable[_Fate]) -> list[_Fate]:
    return sorted(fates, key=lambda fate: (-fate.file.score, fate.file.cost, fate.number))


def _divided(fates: Iterable[_Fate], wanted: Callable[[_Fate], bool]) -> tuple[list[_Fate], list[_Fate]]:
    sides: tuple[list[_Fate], list[_Fate]] = ([], [])
    for fate in fates:
        sides[not wanted(fate)].append(fate)
    return sides


def _not_relevant(fates: Iterable[_Fate], rules: ContextPrune, top: float) -> None:
    """Refuse them with the threshold that decided.

    Args:
        top: the relevance of the best piece of all, of which snippets must have a share; 0 where they need none.
    """
    for fate in fates:
        fate.why = Reason.NOT_RELEVANT
        floor = SCORES * top * rules.snippet_share
        if fate.file.score >= rules.min_score and fate.file.score > 0 and floor > 0:
            best = round(SCORES * top, 1)
            fate.threshold = Threshold("context_prune.snippet_share", rules.snippet_share, best, floor)
        else:
            fate.threshold = Threshold("context_prune.min_score", rules.min_score, 0.0, rules.min_score)


def _greedy(fates: Sequence[_Fate], capacity: int, budget: int, why: Reason) -> int:
    """Keep whole files in this order while they fit; returns what they take."""
    used = 0
    for fate in fates:
        fate.left = capacity - used
        if fate.file.cost <= fate.left:
            fate.keep(why)
            used += fate.file.cost
        else:
            fate.why = Reason.LARGER_THAN_BUDGET if fate.file.cost > budget else Reason.NO_ROOM
    return used


# --- extract ----------------------------------------------------------------------------------------------------------


def _extract(fates: Sequence[_Fate], rules: ContextPrune, counter: Counter, form: str) -> None:
    top = max((piece.relevance for fate in fates for piece in fate.file.pieces), default=0.0)
    floor = rules.snippet_share * top
    speaking = {fate.number: _speaking(fate.file.pieces, floor, rules.min_score) for fate in fates}
    wanted, rest = _divided(fates, lambda fate: bool(speaking[fate.number]) or rules.min_score == 0)
    _not_relevant(rest, rules, top)
    turns = [(fate, place) for fate in wanted for place in speaking[fate.number]]
    snippets = _Snippets(counter, form, rules.max_tokens)
    named = [turn for turn in turns if _piece(*turn).chosen]
    used = snippets.take(_as_named(named), rules.max_tokens)
    threshold = int(rules.full_file_share * rules.max_tokens + _ROUNDING)
    answered = {fate.number for fate, _ in named}
    unnamed = [fate for fate in wanted if fate.number not in answered]
    used += _greedy(_by_score(unnamed), max(0, threshold - used), rules.max_tokens, Reason.WHOLE)
    open_still = {fate.number for fate in wanted if fate.text is None} | answered
    loose = [turn for turn in turns if turn[0].number in open_still and not _piece(*turn).chosen]
    snippets.take(sorted(loose, key=lambda turn: _rank(*turn)), rules.max_tokens - used)


def _piece(fate: _Fate, place: int) -> Piece:
    return fate.file.pieces[place]


def _as_named(turns: Sequence[tuple[_Fate, int]]) -> list[tuple[_Fate, int]]:
    """What a model named, range by range: the one that holds the best piece first, each in the order of its lines."""
    strength: dict[tuple[int, int], float] = {}
    for fate, place in turns:
        piece = _piece(fate, place)
        key = fate.number, piece.named
        strength[key] = max(piece.relevance, strength.get(key, 0.0))

    def rank(turn: tuple[_Fate, int]) -> tuple[float, int, int]:
        fate, place = turn
        return -strength[fate.number, _piece(fate, place).named], fate.number, place

    return sorted(turns, key=rank)


def _rank(fate: _Fate, place: int) -> tuple[float, int, int, int]:
    piece = fate.file.pieces[place]
    return -piece.relevance, piece.tokens, fate.number, place


def _speaking(pieces: Sequence[Piece], floor: float, min_score: float) -> list[int]:
    """Places of the pieces that may leave."""
    return [place for place, piece in enumerate(pieces) if _speaks(piece, floor, min_score)]


def _speaks(piece: Piece, floor: float, min_score: float) -> bool:
    return piece.chosen or (
        piece.relevance > 0 and piece.relevance >= floor and round(SCORES * piece.relevance, 1) >= min_score
    )


def _owner(pieces: Iterable[Piece], held: Range) -> str:
    """The owner that all pieces in a range share; "" where there is none, or the range holds more than parts of one."""
    owners = {piece.owner for piece in pieces if held[0] <= piece.start <= held[1]}
    return owners.pop() if len(owners) == 1 else ""


class _Snippets:
    """Takes pieces in their turn. Each is charged what it adds at most; what leaves is counted again at the end."""

    def __init__(self, counter: Counter, form: str, budget: int) -> None:
        self._counter = counter
        self._form = form
        self._budget = budget
        self._kept: dict[int, set[int]] = {}  # file -> places of its pieces
        self._frames: dict[int, int] = {}

    def take(self, turns: Sequence[tuple[_Fate, int]], free: int) -> int:
        """Decide on all pieces, best first, within `free` tokens; returns what they take."""
        left = free
        held = {fate.number: fate.after for fate, _ in turns}
        tried: list[Tried] = []
        for fate, place in turns:
            needed = self._needed(fate, place)
            kept = needed <= left
            tried.append(self._told(fate.file.pieces[place], kept, needed, left))
            if kept:
                left -= needed
                self._kept.setdefault(fate.number, set()).add(place)
        fates = {fate.number: fate for fate, _ in turns if fate.number in self._kept}
        for fate in fates.values():
            self._write(fate)
        number, total = len(turns), sum(fate.after - held[fate.number] for fate in fates.values())
        while total > free:  # together the parts hold more than each by itself: the last taken go
            number -= 1
            if tried[number].kept:
                fate, place = turns[number]
                total -= fate.after
                self._kept[fate.number].discard(place)
                needed = fate.after
                self._write(fate)
                total += fate.after
                tried[number] = self._told(fate.file.pieces[place], False, needed - fate.after, free - total)
        for (fate, _), told in zip(turns, tried, strict=True):
            fate.tried.append(told)
        return total

    def _needed(self, fate: _Fate, place: int) -> int:
        """Tokens that a piece adds at most: its lines, its header unless it goes on where another ends, and what stands
        around the first of a file."""
        pieces, kept = fate.file.pieces, self._kept.get(fate.number, set())
        piece, following = pieces[place], pieces[place + 1 : place + 2]
        gaps = [piece.gap] if piece.gap >= 0 and place - 1 in kept else []
        gaps += [after.gap for after in following if after.gap >= 0 and place + 1 in kept]
        if gaps:
            return piece.tokens + sum(gaps) + LONGER_HEADER
        return piece.tokens + piece.header + (0 if kept else self._around(fate))

    def _around(self, fate: _Fate) -> int:
        """Tokens of what stands around the snippets of a file."""
        if fate.number not in self._frames:
            self._frames[fate.number] = cost(fate.file.source.module_name, HEAD, self._form, self._counter)
        return self._frames[fate.number]

    def _told(self, piece: Piece, kept: bool, needed: int, left: int) -> Tried:
        why = Reason.SNIPPETS if kept else Reason.LARGER_THAN_BUDGET if needed > self._budget else Reason.NO_ROOM
        return Tried(piece.start, piece.end, piece.name, round(SCORES * piece.relevance, 1), kept, why, needed, left)

    def _write(self, fate: _Fate) -> None:
        source, kept = fate.file.source, self._kept[fate.number]
        fate.ranges, fate.text, fate.after, fate.why = [], None, 0, Reason.NO_ROOM
        if not kept:
            return
        lines = split_lines(source.source_code)
        pieces = [fate.file.pieces[place] for place in sorted(kept)]
        ranges = joined(((piece.start, piece.end) for piece in pieces), lines)
        text = snippet_text(lines, ranges, [_owner(pieces, one) for one in ranges])
        tokens = cost(source.module_name, text, self._form, self._counter, (ranges[0][0], ranges[-1][1]))
        if tokens >= fate.file.cost:
            fate.keep(Reason.NOT_SHORTER)
        else:
            fate.why, fate.ranges, fate.text, fate.after = Reason.SNIPPETS, ranges, text, tokens
