"""Selects the lines of a log that go out under a budget: the first failure, distinct errors, lines with words of the
query, the last lines, results, the lines beside errors, then routine lines. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from secateur.kinds.log.failures import Block, Failures
from secateur.kinds.log.levels import LIKELY, RESULT
from secateur.kinds.log.lines import LogLines
from secateur.ledger import Figure, Reason, State
from secateur.redaction import Redactor
from secateur.settings import Log
from secateur.tokens import Counter

Span = tuple[int, int]
"""Lines from, up to but not including."""

_STEP = 10  # routine lines that go out together
_MOST_STEPS = 2000  # of them that are tried
_ANSWERS = 0.6  # of the best match with the query: what matches so well goes out first
_FASTER = 1.2  # by so much more is taken back each time that the text is still too long: each time it is counted anew


@dataclass(frozen=True, eq=False)
class ReadLog:
    """A log as it was read: lines, what went wrong in them, what holds words of the query."""

    lines: LogLines
    found: Failures
    matches: Mapping[int, int]  # line -> how well it answers the query, if it does
    matched: bool  # whether any line holds a word of the query
    repeated: Sequence[int]  # running total of lines that repeat an earlier one; one more than there are lines
    mark: str  # begins every line that is not one of the log; no line of the log begins with exactly that
    redactor: Redactor | None = None  # what it was read through


@dataclass(slots=True, eq=False)
class Stretch:
    """Lines that stay or go together, and what was decided."""

    start: int
    end: int
    reason: Reason  # why they would go out
    block: Block | None = None
    distance: int = 0  # of routine lines: to the next line that is more than that, in steps
    state: State = State.DROPPED
    spans: Sequence[Span] = ()  # of it that go out
    figures: dict[str, Figure] = field(default_factory=dict)


class LogText:
    """The text that goes out, as it grows: spans of lines in the log's order, with marks for what is left out."""

    def __init__(self, log: ReadLog, counter: Counter) -> None:
        self._log, self._counter = log, counter
        self._long = list(log.lines.whole)
        times = log.lines.times
        self._head = (
            f"{log.mark} the time before each line is left out: {times[0]} to {times[1]} {log.mark}" if times else ""
        )
        self._spans: list[Span] = []
        self._notes: dict[int, str] = {}  # line -> what is said below it
        self._costs: dict[str, int] = {}

    def cost(self, spans: Sequence[Span], note: str = "") -> int:
        """Tokens that these lines add, marks included. They lie between two spans that are there, or beside one."""
        lines = self._log.lines
        total = sum(lines.after[end] - lines.after[start] for start, end in spans)
        for start, end in spans if self._long else ():
            cut = self._long[bisect_left(self._long, start) : bisect_left(self._long, end)]
            total += sum(self._count(self._cut(number)) for number in cut)
        place = bisect_left(self._spans, spans[0])
        before = self._spans[place - 1][1] if place else 0
        after = self._spans[place][0] if place < len(self._spans) else len(lines)
        gaps = pairwise([before, *(edge for span in spans for edge in span), after])
        total += sum(self._gap(*gap) for number, gap in enumerate(gaps) if number % 2 == 0)
        return total - (self._gap(before, after) if self._spans else 0) + (self._count(note) if note else 0)

    @property
    def head(self) -> int:
        """Tokens of what stands above all lines."""
        return self._count(self._head) if self._head else 0

    def put(self, spans: Sequence[Span], note: str = "") -> None:
        """Adds lines."""
        place = bisect_left(self._spans, spans[0])
        self._spans[place:place] = spans
        if note:
            self._notes[spans[-1][1] - 1] = note

    def take(self, spans: Sequence[Span]) -> None:
        """Takes lines back that were added together."""
        place = bisect_left(self._spans, spans[0])
        del self._spans[place : place + len(spans)]
        self._notes.pop(spans[-1][1] - 1, None)

    def render(self) -> str:
        """The text; "" for no lines."""
        return "".join(line + "\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        lines, last = self._log.lines, 0
        if self._head and self._spans:
            yield self._head
        step = ""
        for start, end in self._spans:
            yield from self._marks(last, start)
            for number in range(start, end):
                if lines.steps and step != (step := lines.steps[number] or step):
                    yield self._marked(step)
                yield lines.lines[number]
                if number in lines.whole:
                    yield self._cut(number)
                if number in self._notes:
                    yield self._notes[number]
            last = end
        if self._spans:
            yield from self._marks(last, len(lines))

    def note(self, start: int) -> str:
        """The note below an error that comes again; "" for any other line."""
        more = self._log.found.times.get(start, 1) - 1
        if not more:
            return ""
        if start in self._log.found.timed:
            return self._marked(
                f"{more:,} later {'error equals' if more == 1 else 'errors equal'} the above, time aside"
            )
        return self._marked(f"the above comes {more:,} more {'time' if more == 1 else 'times'}")

    def _marks(self, start: int, end: int) -> Iterator[str]:
        """The mark in place of lines that are left out."""
        number = end - start
        if not number:
            return
        repeats = self._log.lines.repeats
        repeated = self._log.repeated[end] - self._log.repeated[start]
        what = f"{number:,} {'line' if number == 1 else 'lines'}"
        if start and repeats.get(start) == repeats.get(end - 1) == start - 1:
            what += " like the one above, numbers aside"
        elif repeated == number:
            what += " like an earlier one, numbers aside" if number == 1 else " like earlier ones, numbers aside"
        elif repeated:
            what += f", {repeated:,} of them like earlier ones, numbers aside"
        yield self._marked(what)

    def _cut(self, number: int) -> str:
        lines = self._log.lines
        return self._marked(
            f"the line above has {len(lines.whole[number]):,} characters, {len(lines.lines[number]):,} stand here"
        )

    def _marked(self, what: str) -> str:
        return f"{self._log.mark} {what} {self._log.mark}"

    def _gap(self, start: int, end: int) -> int:
        return sum(map(self._count, self._marks(start, end)))

    def _count(self, line: str) -> int:
        if line not in self._costs:
            self._costs[line] = self._counter.count(line + "\n")
        return self._costs[line]


@dataclass(frozen=True, eq=False)
class LogSelection:
    """Every line of a log once, and the text that goes out."""

    log: ReadLog
    stretches: Sequence[Stretch]
    text: str
    tokens: int


def select_lines(log: ReadLog, rules: Log, counter: Counter) -> LogSelection:
    """Decides what goes out of a log. The text, recounted, never exceeds the budget."""
    budget, size = rules.max_tokens, len(log.lines)
    text = LogText(log, counter)
    if size and log.lines.after[-1] <= 2 * budget:
        text.put([(0, size)])
        tokens = counter.count(text.render())
        if tokens <= budget:
            return _whole(log, rules, text.render(), tokens)
        text.take([(0, size)])
    stretches = list(_stretches(log, rules))
    added = _fill(log, rules, stretches, text)
    rendered = text.render()
    tokens = counter.count(rendered)
    at_once = 1.0
    while tokens > budget:  # where lines stand beside one another they may take a token more than each alone
        for _ in range(min(int(at_once), len(added))):
            _take_back(added.pop(), log, text)
        rendered = text.render()
        tokens = counter.count(rendered)
        at_once *= _FASTER
    return LogSelection(log, _settled(log, rules, stretches), rendered, tokens)


def _take_back(last: Stretch, log: ReadLog, text: LogText) -> None:
    text.take(last.spans)
    needed = sum(log.lines.after[end] - log.lines.after[start] for start, end in last.spans)
    last.state, last.spans, last.figures = State.DROPPED, (), {"needed": needed, "left": 0}


# --- what may go out --------------------------------------------------------------------------------------------------


def _stretches(log: ReadLog, rules: Log) -> Iterator[Stretch]:
    """Every line once: blocks, and between them what stands beside an error, is last, matches, or is routine."""
    first = None if log.found.green else _first_failure(log.found.blocks)
    last = 0
    blocks = log.found.blocks
    marked = sorted(_marked_lines(log, rules).items())
    for block in (*blocks, None):
        end = block.start if block else len(log.lines)
        yield from _between(last, end, marked, len(blocks))
        if block is None:
            break
        reason = Reason.RUN_RESULT if block.grade == RESULT else Reason.DISTINCT_ERROR
        if block.repeats is not None:
            reason = Reason.REPEATS_EARLIER
        yield Stretch(block.start, block.end, Reason.FIRST_FAILURE if block is first else reason, block)
        last = block.end


def _first_failure(blocks: Sequence[Block]) -> Block | None:
    errors = [block for block in blocks if block.grade != RESULT]
    return next((block for block in errors if block.grade >= LIKELY), errors[0] if errors else None)


def _marked_lines(log: ReadLog, rules: Log) -> dict[int, Reason]:
    """Lines outside blocks that are more than routine."""
    size = len(log.lines)
    marked: dict[int, Reason] = {}
    for block in log.found.blocks:
        if block.grade != RESULT and block.repeats is None:
            around = range(max(0, block.start - rules.context_lines), min(size, block.end + rules.context_lines))
            marked |= dict.fromkeys(around, Reason.BESIDE_ERROR)
    marked |= dict.fromkeys(range(max(0, size - rules.last_lines), size), Reason.LAST_LINES)
    return marked | dict.fromkeys(log.matches, Reason.MATCHES_QUERY)


def _between(start: int, end: int, marked: Sequence[tuple[int, Reason]], blocks: int) -> Iterator[Stretch]:
    """The stretches of lines that belong to no block."""
    special: list[Stretch] = []
    low, high = (bisect_left(marked, number, key=lambda one: one[0]) for number in (start, end))
    for number, reason in marked[low:high]:
        beside = special and special[-1].end == number and special[-1].reason is reason
        if beside and reason is not Reason.MATCHES_QUERY:  # of these each goes out by itself
            special[-1].end += 1
        else:
            special.append(Stretch(number, number + 1, reason))
    last = start
    for one in special:
        yield from _routine(last, one.start, blocks)
        yield one
        last = one.end
    yield from _routine(last, end, blocks)


def _routine(start: int, end: int, runs: int) -> Iterator[Stretch]:
    """Routine lines in steps; those far from anything else in one."""
    most = _MOST_STEPS // (2 * runs + 2) + 1
    steps = -(-(end - start) // _STEP)
    if steps <= 2 * most:
        edges = [*range(start, end, _STEP), end]
    else:
        left, right = start + most * _STEP, end - most * _STEP
        edges = [*range(start, left, _STEP), left, *range(right, end, _STEP), end]
    count = len(edges) - 1
    for number, (low, high) in enumerate(pairwise(edges)):
        if high > low:
            yield Stretch(low, high, Reason.ROUTINE, distance=min(number, count - 1 - number))


# --- what does go out -------------------------------------------------------------------------------------------------


def _fill(log: ReadLog, rules: Log, stretches: Sequence[Stretch], text: LogText) -> list[Stretch]:
    """Decides on every stretch; returns those that go out, in the order in which they were added."""
    budget, added = rules.max_tokens, list[Stretch]()
    used = text.head

    def by(*reasons: Reason) -> list[Stretch]:
        return [one for one in stretches if one.reason in reasons]

    def offer(one: Stretch, limit: int, share: int, *, telling: bool = False) -> None:
        nonlocal used
        if one.state is State.KEPT or one.reason is Reason.REPEATS_EARLIER:
            return
        whole: Sequence[Span] = _spans(log, one)
        spans = whole
        if not spans:
            one.reason = Reason.REPEATS_EARLIER
            return
        times = log.found.times.get(one.start, 1) if one.block else 1
        note = text.note(one.start) if one.block else ""
        earlier = one.spans
        if one.state is State.SHORTENED:  # more of it may go out than before
            text.take(one.spans)
            used -= text.cost(one.spans, note)
            added.remove(one)
            one.state, one.spans = State.DROPPED, ()
        needed, room = text.cost(spans, note), min(limit - used, share)
        if needed > room or telling:
            spans = _shortened(one, spans, room, note, text, telling=telling)
        spans = max(earlier, spans, key=_size)
        if not spans:
            one.figures = {"needed": needed, "left": max(0, limit - used)}
            return
        one.state = State.KEPT if _size(spans) == _size(whole) else State.SHORTENED
        one.figures = {"times": times} if times > 1 else {}
        used += text.cost(spans, note)
        one.spans = spans
        text.put(spans, note)
        added.append(one)

    results, last = by(Reason.RUN_RESULT), by(Reason.LAST_LINES)
    errors = by(Reason.FIRST_FAILURE)
    errors += sorted(
        by(Reason.DISTINCT_ERROR), key=lambda one: (-_matching(log, one), -_grade(one), _variant(one), one.start)
    )
    matches = sorted(by(Reason.MATCHES_QUERY), key=lambda one: (-_matching(log, one), one.start))
    largest = int(rules.block_share * budget)
    best = max(log.matches.values(), default=0)
    # what answers the query
    answers = [one for one in (*matches, *errors) if best and _matching(log, one) >= _ANSWERS * best]
    for one in sorted(answers, key=lambda one: (-_matching(log, one), one.block is None, one.start)):
        offer(one, budget // 2, largest, telling=True)
    # of every error what it says, and the results of the run
    share = int(rules.last_share * budget)
    reserve = min(share, sum(text.cost(spans) for one in results if (spans := _spans(log, one))))
    likely = [one for one in errors if _grade(one) >= LIKELY or one.reason is Reason.FIRST_FAILURE]
    for variant in (False, True):  # each form of an error, before another that differs in numbers alone
        for one in likely:
            if (_variant(one) > 0) is variant:
                offer(one, budget - reserve, largest, telling=True)
    for one in sorted(results, key=lambda one: (_variant(one), -one.start)):
        offer(one, budget, reserve if _variant(one) else largest)
    for one in errors:
        offer(one, budget, largest, telling=True)
    # errors whole and other matches, with room for the last lines
    tail = min(share, sum(text.cost(spans) for one in last if (spans := _spans(log, one))))
    for share in (largest, budget):
        for one in (*errors, *matches):
            offer(one, budget - tail, share)
    # whatever fits
    for one in (*reversed(last), *errors, *matches, *reversed(results), *by(Reason.BESIDE_ERROR)):
        offer(one, budget, budget)
    if rules.fill:
        for one in sorted(by(Reason.ROUTINE), key=lambda one: (one.distance, one.start)):
            if used >= budget:
                break
            offer(one, budget, budget)
    return added


def _spans(log: ReadLog, one: Stretch) -> list[Span]:
    """The lines of a stretch that may go out: outside of blocks, none that repeats an earlier one."""
    if one.block is not None or log.repeated[one.end] == log.repeated[one.start]:
        return [(one.start, one.end)]
    repeated = log.repeated
    return _runs(number for number in range(one.start, one.end) if repeated[number + 1] == repeated[number])


def _size(spans: Sequence[Span]) -> int:
    return sum(end - start for start, end in spans)


def _runs(numbers: Iterable[int]) -> list[Span]:
    """Ascending numbers as spans."""
    spans: list[Span] = []
    for number in numbers:
        if spans and spans[-1][1] == number:
            spans[-1] = (spans[-1][0], number + 1)
        else:
            spans.append((number, number + 1))
    return spans


def _shortened(
    one: Stretch, spans: Sequence[Span], room: int, note: str, text: LogText, *, telling: bool
) -> Sequence[Span]:
    """As many lines as there is room for: of an error the telling ones first, then from both ends; of results the
    first, of last lines the last. None of what goes out whole or not at all."""
    if one.reason in (Reason.ROUTINE, Reason.BESIDE_ERROR, Reason.MATCHES_QUERY):
        return spans if telling and text.cost(spans, note) <= room else []
    numbers = [number for start, end in spans for number in range(start, end)]
    if one.reason is Reason.LAST_LINES:
        order = numbers[::-1]
    elif one.reason is Reason.RUN_RESULT:
        order = list(one.block.telling) if one.block else numbers
    else:
        ends = [number for pair in zip(numbers, reversed(numbers), strict=True) for number in pair]
        told = one.block.telling if one.block else ()
        if telling and one.block and one.block.variant:  # one of many is told by a line
            told = (one.block.message,)
        order = list(dict.fromkeys(told if telling else (*told, *ends)))
    low, high = 0, len(order)
    while low < high:  # the most lines that fit
        middle = (low + high + 1) // 2
        fits = text.cost(_runs(sorted(order[:middle])), note) <= room
        low, high = (middle, high) if fits else (low, middle - 1)
    return _runs(sorted(order[:low]))


def _matching(log: ReadLog, one: Stretch) -> int:
    """The most words of the query that a line of it holds."""
    return max((log.matches.get(number, 0) for number in range(one.start, one.end)), default=0) if log.matches else 0


def _variant(one: Stretch) -> int:
    return one.block.variant if one.block else 0


def _grade(one: Stretch) -> int:
    return one.block.grade if one.block else RESULT


# --- the list of decisions --------------------------------------------------------------------------------------------


def _whole(log: ReadLog, rules: Log, text: str, tokens: int) -> LogSelection:
    stretches = list(_stretches(log, rules))
    for one in stretches:
        one.state, one.spans = State.KEPT, ((one.start, one.end),)
        if one.block is None or one.block.repeats is not None:
            one.reason = Reason.ROUTINE
    return LogSelection(log, _settled(log, rules, stretches), text, tokens)


def _settled(log: ReadLog, rules: Log, stretches: Iterable[Stretch]) -> list[Stretch]:
    """The stretches with the reasons of what was decided; neighbours of routine lines that were decided alike as
    one."""
    settled: list[Stretch] = []
    for one in stretches:
        last = settled[-1] if settled else None
        alike = last and (last.state, last.reason, last.block) == (one.state, one.reason, None)
        if last and alike and one.block is None and one.reason in (Reason.ROUTINE, Reason.REPEATS_EARLIER):
            last.end, last.spans = one.end, (*last.spans, *one.spans)
        else:
            settled.append(one)
    for one in settled:
        _settle(log, rules, one)
    return settled


def _settle(log: ReadLog, rules: Log, one: Stretch) -> None:
    """Sets the reason and its figures by what was decided."""
    lines, why = one.end - one.start, one.reason
    shown = sum(end - start for start, end in one.spans)
    repeats = log.repeated[one.end] - log.repeated[one.start]
    if one.state is State.DROPPED:
        if why in (Reason.ROUTINE, Reason.REPEATS_EARLIER):
            one.figures = {"lines": lines, "repeats": repeats}
        else:
            one.reason = Reason.NO_ROOM if rules.max_tokens else Reason.ZERO_BUDGET
        return
    if one.reason is Reason.ROUTINE:
        one.reason, one.figures = Reason.FITS, {}
    if one.state is State.SHORTENED:
        one.reason = Reason.SOME_LINES
        one.figures |= {"shown": shown, "lines": lines, "for": why.label}
    elif shown < lines:
        one.state, one.reason = State.SHORTENED, Reason.REPEATS_EARLIER
        one.figures = {"lines": lines, "repeats": lines - shown}
    elif any(number in log.lines.whole for number in range(one.start, one.end)) if log.lines.whole else False:
        one.state, one.reason = State.SHORTENED, Reason.LONG_LINES
        one.figures |= {"longest": rules.longest_line, "for": why.label}
