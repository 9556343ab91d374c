"""Selects the lines of a log that go out under a budget: pinned lines, the best matches of the query, the telling lines
of likely errors, results, the telling lines of other errors, whole errors and other matches, the last lines, lines
beside errors, then routine lines. Pure."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from operator import itemgetter

from msgspec import Struct, field, structs

from secateur.kinds.log.failures import Block, Failures
from secateur.kinds.log.levels import FOLLOWS, LIKELY, POSSIBLE, RESULT
from secateur.kinds.log.lines import LONGEST_LINE, LogLines
from secateur.ledger import Figure, Reason, State
from secateur.redaction import Redactor
from secateur.render.page import count_noun
from secateur.tokens import Counter

BLOCK_SHARE = 0.4  # of the budget: the most for one error with its stack while other errors wait
LAST_SHARE = 0.2  # of the budget, for results and last lines: they say how a run ended, the errors say why
NOTE_SHARE = 0.1  # of the budget, for the note on left-out times; it takes more where lines leave room
LAST_LINES = 20  # lines at the end that come before routine lines: a summary of a run is seldom longer
CONTEXT_LINES = 3  # lines on each side of an error that come before routine lines: as many as a diff shows
_LINES = re.compile(r"(\d{1,12})(?:-(\d{1,12}))?", re.ASCII)
Span = tuple[int, int]  # (first line, line after the last)
MOST_MATCHES = 500  # most lines that match the query
_STEP = 10  # routine lines in one stretch
_MOST_STEPS = 2000  # most stretches of routine lines
_ANSWERS = 0.6  # lines that match the query at least this share as well as the best go out first
_FASTER = 1.2  # each time that the text is still too long, this factor more is taken back, because recounting is slow
_MOST_ROUNDS = 4  # most times that the lines of least rank are offered what is left
_MOST_COSTS = 200_000  # most marks whose tokens are remembered for the next decision
_MOST_RECOUNTS = 24  # most recounts of the text while lines are added


class ReadLog(Struct, frozen=True, eq=False):
    """A log as it was read: its lines, its failures, and the lines that match the query."""

    lines: LogLines
    failures: Failures
    matches: Mapping[int, int]  # line -> score of its match with the query
    matched: bool  # whether any line holds a word of the query
    repeated: Sequence[int]  # running total of lines that repeat an earlier one; one more than lines
    mark: str  # begins every line that is not from the log; no line of the log begins with exactly this mark
    redactor: Redactor | None = None  # the redactor that read it
    costs: dict[str | Span, int] = field(default_factory=dict)  # the tokens of a mark, and of the one in a gap


class Stretch(Struct, eq=False):
    """Lines that stay or go together, and the decision on them."""

    start: int
    end: int
    reason: Reason  # what the lines are; after `_settle`, why they go out or not
    block: Block | None = None
    rows: int | None = None  # the first of these lines that is a row of data
    distance: int = 0  # of routine lines: steps to the nearest other line
    state: State = State.DROPPED
    spans: Sequence[Span] = ()  # the lines of it that go out
    figures: dict[str, Figure] = field(default_factory=dict)
    pinned: bool = False
    refused: tuple[int, bool, int] = (-1, False, 0)  # changes of the text, telling lines alone, and the room then


class LogText:
    """Builds the text that goes out: spans of lines in the log's order, with marks for left-out lines.

    `tokens` is a sum over lines and marks. Adjacent lines may take a token more or less than each alone, so `recount`
    corrects it; `unsure` is by how much it may differ since then."""

    def __init__(self, log: ReadLog, counter: Counter) -> None:
        self._log, self._counter = log, counter
        self._long = list(log.lines.whole)
        self._spans: list[Span] = []
        self._notes: dict[int, str] = {}  # line -> the note below it
        self._skipped = set[int]()  # lines at which rows of data are left out, of which a note below them tells
        self._costs = log.costs
        if len(self._costs) > _MOST_COSTS:
            self._costs.clear()
        self._head = self._mark_line(note_on_times(log.lines.times)) if log.lines.times else ""
        self.head_tokens = self._count([self._head]) if self._head else 0
        self.headed = bool(self._head)  # whether the note on times goes out above the first line
        self.tokens = self.unsure = self.changes = self._recounts = 0

    def cost(self, spans: Sequence[Span], note: str = "", *, rows: bool = False) -> int:
        """Tokens that these lines add, with marks. They must not overlap the present spans. `rows`: they are rows of
        data, with no marks between them."""
        lines, tokens = self._log.lines, self._log.lines.after
        position = bisect_left(self._spans, spans[0])
        before = self._spans[position - 1][1] if position else 0  # the left-out lines around these
        after = self._spans[position][0] if position < len(self._spans) else len(lines)
        first = self.head_tokens if self.headed else 0  # the first lines bring the note above them
        total, last = -self._gap_tokens(before, after) if self._spans else first, before
        for start, end in spans:
            total += tokens[end] - tokens[start] + (0 if rows and last != before else self._gap_tokens(last, start))
            last = end
        total += self._gap_tokens(last, after)
        marks = [note] if note else []
        for start, end in spans if self._long else ():
            cut = self._long[bisect_left(self._long, start) : bisect_left(self._long, end)]
            marks += map(self._cut_mark, cut)
        if lines.steps:
            total -= self._count(list(self._step_marks(before, after))) if self._spans else 0
            marks += self._step_marks(before, after, spans)
        return total + self._count(marks) if marks else total

    def put(self, spans: Sequence[Span], note: str = "", *, rows: bool = False) -> None:
        """Adds lines."""
        self.tokens += self.cost(spans, note, rows=rows)
        self.unsure += _size(spans) + 2 * len(spans) + 1
        position = bisect_left(self._spans, spans[0])
        self._spans[position:position] = spans
        self.changes += 1
        if note:
            self._notes[spans[-1][1] - 1] = note
        if rows:
            self._skipped.update(end for _, end in spans[:-1])

    def take(self, spans: Sequence[Span]) -> None:
        """Removes lines that were added together."""
        position = bisect_left(self._spans, spans[0])
        del self._spans[position : position + len(spans)]
        self.changes += 1
        rows = spans[0][1] in self._skipped
        self._skipped.difference_update(end for _, end in spans)
        self.tokens -= self.cost(spans, self._notes.pop(spans[-1][1] - 1, ""), rows=rows)
        self.unsure += _size(spans) + 2 * len(spans) + 1

    def recount(self, *, always: bool = False) -> int:
        """Counts the whole text and returns its tokens. Since this is slow, there is a bound unless `always`; beyond
        it, the most tokens that the text may have are returned."""
        if self.unsure and (always or self._recounts < _MOST_RECOUNTS):
            self._recounts += 1
            self.unsure = 0
            self.tokens = self._counter.count(self.render())
        return self.tokens + self.unsure

    def render(self) -> str:
        """Returns the text; "" without lines."""
        return "".join(line + "\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        lines, last = self._log.lines, 0
        if self.headed and self._spans:
            yield self._head
        step = ""
        for start, end in self._spans:
            if last not in self._skipped:
                yield from self._gap_marks(last, start)
            for index in range(start, end):
                if lines.steps and step != (step := lines.steps[index] or step):
                    yield self._mark_line(step)
                yield lines.lines[index]
                if index in lines.whole:
                    yield self._cut_mark(index)
                if index in self._notes:
                    yield self._notes[index]
            last = end
        if self._spans:
            yield from self._gap_marks(last, len(lines))

    def note(self, stretch: Stretch, spans: Sequence[Span]) -> str:
        """The note below what a repeated error says, or below rows of data of which some go out; "" for other lines."""
        block = stretch.block
        if stretch.rows is not None and _size(spans) < stretch.end - stretch.start:
            shown = sum(end - max(start, stretch.rows) for start, end in spans if end > stretch.rows)
            return self._mark_line(f"{shown:,} of {stretch.end - stretch.rows:,} rows stand above, evenly chosen")
        if block is None or block.message is None or not (more := self._log.failures.times.get(block.head, 1) - 1):
            return ""
        if aside := self._log.failures.aside.get(block.head):
            errors = count_noun(more, "later error equals", "later errors equal")
            return self._mark_line(f"{errors} the above, {aside} aside")
        return self._mark_line(f"the above comes {count_noun(more, 'more time')}")

    def _gap_marks(self, start: int, end: int) -> Iterator[str]:
        if not (count := end - start):
            return
        repeats = self._log.lines.repeats
        repeated = self._log.repeated[end] - self._log.repeated[start]
        what = count_noun(count, "line")
        if start and repeats.get(start) == repeats.get(end - 1) == start - 1:
            what += " like the one above, numbers aside"
        elif repeated == count:
            what += " like an earlier one, numbers aside" if count == 1 else " like earlier ones, numbers aside"
        elif repeated:
            what += f", {repeated:,} of them like earlier ones, numbers aside"
        yield self._mark_line(what)

    def _gap_tokens(self, start: int, end: int) -> int:
        if (tokens := self._costs.get((start, end))) is None:
            tokens = self._costs[start, end] = self._count(list(self._gap_marks(start, end)))
        return tokens

    def _step_marks(self, before: int, after: int, spans: Sequence[Span] = ()) -> Iterator[str]:
        """Yields the marks above lines of another job or step than the line before: of these, and of the next that goes
        out."""
        steps, size = self._log.lines.steps, len(self._log.lines)
        step = ""
        for start, end in ((max(0, before - 1), before), *spans, (after, min(after + 1, size))):
            for index in range(start, end):
                if step != (step := steps[index] or step):
                    yield self._mark_line(step)

    def _cut_mark(self, index: int) -> str:
        whole, shown = (len(lines[index]) for lines in (self._log.lines.whole, self._log.lines.lines))
        return self._mark_line(f"the line above has {whole:,} characters, {shown:,} stand here")

    def _mark_line(self, what: str) -> str:
        return f"{self._log.mark} {what} {self._log.mark}"

    def _count(self, marks: Sequence[str]) -> int:
        """Counts marks; new ones together, since a call of the counter takes as long as 50 of them."""
        if new := [mark for mark in dict.fromkeys(marks) if mark not in self._costs]:
            self._costs.update(zip(new, self._counter.count_many(mark + "\n" for mark in new), strict=True))
        return sum(map(self._costs.__getitem__, marks))


def note_on_times(times: tuple[str, str]) -> str:
    """The note about the times that are left out, the first and the last of them."""
    return f"the time before each line is left out: {times[0]} to {times[1]}"


class LogSelection(Struct, frozen=True, eq=False):
    """The decisions on all lines of a log, and the text that goes out."""

    log: ReadLog
    stretches: Sequence[Stretch]
    text: str
    tokens: int


def select_lines(log: ReadLog, budget: int, counter: Counter, pins: Sequence[Span] = ()) -> LogSelection:
    """Selects the lines of a log that go out. The recounted text never exceeds the budget. `pins`: lines that go out
    whole, before all others, while they fit."""
    size = len(log.lines)
    text = LogText(log, counter)
    stretches = list(_make_stretches(log))
    if size and log.lines.after[-1] <= 2 * budget:
        text.put([(0, size)])
        if text.recount(always=True) <= budget:
            for stretch in stretches:
                stretch.state, stretch.spans = State.KEPT, ((stretch.start, stretch.end),)
                if stretch.block is None or stretch.block.repeats is not None:
                    stretch.reason = Reason.ROUTINE
            return LogSelection(log, _settle_all(log, budget, stretches), text.render(), text.tokens)
        text = LogText(log, counter)
    text.headed = 0 < text.head_tokens <= NOTE_SHARE * budget
    stretches = _mark_pinned(stretches, pins)
    added = _fill(log, budget, stretches, text)
    if added and text.head_tokens and not text.headed and text.recount(always=True) + text.head_tokens < budget:
        text.headed, text.unsure = True, 1
    tokens = text.recount(always=True)
    at_once = 1.0
    while added and tokens > budget:  # rare: only where lines take far more tokens together than alone
        for _ in range(min(int(at_once), len(added))):
            last = added.pop()
            text.take(last.spans)
            needed = text.cost(last.spans)
            last.state, last.spans, last.figures = State.DROPPED, (), last.figures | {"needed": needed, "left": 0}
        tokens = text.recount(always=True)
        at_once *= _FASTER
    left = max(0, budget - tokens)
    for stretch in stretches:
        if stretch.state is State.DROPPED and stretch.reason is Reason.ROUTINE and (spans := _spans(log, stretch)):
            stretch.figures |= {"parts": 1, "part": max(text.cost(spans), left + 1), "left": left}
    return LogSelection(log, _settle_all(log, budget, stretches), text.render(), tokens)


# --- what may go out --------------------------------------------------------------------------------------------------


def _make_stretches(log: ReadLog) -> Iterator[Stretch]:
    """Yields every line once: blocks, and between them lines beside errors, last lines, matches and routine lines."""
    last, blocks = 0, log.failures.blocks
    errors = [block for block in blocks if block.grade != RESULT and not log.failures.green]
    first = next((block for block in errors if block.grade >= LIKELY), errors[0] if errors else None)
    size = len(log.lines)
    special: dict[int, Reason] = {}
    for known in blocks:
        if (known.grade != RESULT or not known.variant) and known.repeats is None and not known.apart:
            around = range(max(0, known.start - CONTEXT_LINES), min(size, known.end + CONTEXT_LINES))
            special |= dict.fromkeys(around, Reason.BESIDE_ERROR)
    special |= dict.fromkeys(range(max(0, size - LAST_LINES), size), Reason.LAST_LINES)
    marked = sorted((special | dict.fromkeys(log.matches, Reason.MATCHES_QUERY)).items())
    for block in (*blocks, None):
        yield from _split_tables(log, last, block.start if block else size, marked, len(blocks))
        if block is None:
            break
        reason = Reason.RUN_RESULT if block.grade == RESULT else Reason.DISTINCT_ERROR
        if block.repeats is not None:
            reason = Reason.REPEATS_EARLIER
        elif first and block.head == first.head:
            reason = Reason.FIRST_FAILURE
        yield Stretch(block.start, block.end, reason, block)
        last = block.end


def parse_lines(name: str, lines: int) -> Span | None:
    """Parses the id of an entry, "12-40" or "12"; None if it names no lines of a log of so many `lines`."""
    match = _LINES.fullmatch(name)
    start, end = (int(match[1]) - 1, int(match[2] or match[1])) if match else (0, 0)
    return (start, end) if 0 <= start < end <= lines else None


def _mark_pinned(stretches: list[Stretch], pins: Sequence[Span]) -> list[Stretch]:
    for start, end in pins:
        marked: list[Stretch] = []
        for stretch in stretches:
            low, high = max(start, stretch.start), min(end, stretch.end)
            if low >= high or stretch.pinned or stretch.block is not None:
                stretch.pinned |= low < high
                marked.append(stretch)
                continue
            last = marked[-1] if marked and start < low else None  # lines of one entry stay one
            parts = [(stretch.start, low), (low, high), (high, stretch.end)]
            if last and last.pinned and last.block is None and last.reason is stretch.reason:
                last.end = high
                del parts[:2]
            for first, until in parts:
                if first < until:
                    pinned = (first, until) == (low, high)
                    rows = None if pinned or stretch.rows is None else min(max(stretch.rows, first), until - 1)
                    marked.append(
                        structs.replace(stretch, start=first, end=until, figures={}, pinned=pinned, rows=rows)
                    )
        stretches = marked
    return stretches


def _split_tables(
    log: ReadLog, start: int, end: int, marked: Sequence[tuple[int, Reason]], blocks: int
) -> Iterator[Stretch]:
    """Yields rows of data as stretches, but for those that match the query or are beside an error, and other lines."""
    tables = log.lines.tables
    beside = end - CONTEXT_LINES if end < len(log.lines) else end  # of last lines, those above an error
    for head, first, stop in tables[bisect_left(tables, start, key=lambda table: table[2]) :]:
        if head >= end:
            break
        low, high = max(head, start), min(stop, end)
        near = marked[bisect_left(marked, low, key=itemgetter(0)) : bisect_left(marked, high, key=itemgetter(0))]
        apart = _runs(line for line, reason in near if reason is not Reason.LAST_LINES or line >= beside)
        for (begin, after), (until, _) in pairwise([(start, low), *apart, (high, high)]):
            yield from _split_between(begin, after, marked, blocks)
            if after < until:
                yield Stretch(after, until, Reason.ROUTINE, rows=min(max(first, after), until - 1), figures={"away": 0})
        start = max(start, high)
    yield from _split_between(start, end, marked, blocks)


def _split_between(start: int, end: int, marked: Sequence[tuple[int, Reason]], blocks: int) -> Iterator[Stretch]:
    special: list[Stretch] = []
    low, high = (bisect_left(marked, index, key=itemgetter(0)) for index in (start, end))
    for index, reason in marked[low:high]:
        beside = special and special[-1].end == index and special[-1].reason is reason
        if beside and reason is not Reason.MATCHES_QUERY:  # each match is a stretch of its own
            special[-1].end += 1
        else:
            special.append(Stretch(index, index + 1, reason))
    last = start
    for stretch in special:
        yield from _split_routine(last, stretch.start, blocks)
        yield stretch
        last = stretch.end
    yield from _split_routine(last, end, blocks)


def _split_routine(start: int, end: int, blocks: int) -> Iterator[Stretch]:
    most = _MOST_STEPS // (2 * blocks + 2) + 1
    steps = -(-(end - start) // _STEP)
    if steps <= 2 * most:
        edges = [*range(start, end, _STEP), end]
    else:
        left, right = start + most * _STEP, end - most * _STEP
        edges = [*range(start, left, _STEP), left, *range(right, end, _STEP), end]
    count = len(edges) - 1
    for step, (low, high) in enumerate(pairwise(edges)):
        if high > low:
            away = {"away": min(low - start, end - high)}
            yield Stretch(low, high, Reason.ROUTINE, distance=min(step, count - 1 - step), figures=away)


# --- what does go out -------------------------------------------------------------------------------------------------


def _fill(log: ReadLog, budget: int, stretches: Sequence[Stretch], text: LogText) -> list[Stretch]:
    added = list[Stretch]()

    def put(stretch: Stretch, spans: Sequence[Span], limit: int, *, telling: bool = False) -> int:
        """Adds lines of a stretch, fewer where the recounted text exceeds the limit, but not fewer than the stretch
        has. Returns the tokens by which the recounted text exceeded the limit."""
        rows, over = stretch.rows is not None, 0
        while _size(spans) > _size(stretch.spans):
            note = text.note(stretch, spans)
            room = text.cost(spans, note, rows=rows)
            text.put(spans, note, rows=rows)
            excess = text.tokens + text.unsure - limit
            if excess <= 0 or (excess := text.recount() - limit) <= 0:
                stretch.spans = spans
                break
            over = over or excess
            text.take(spans)
            spans = _shorten(stretch, spans, room - excess, note, text, telling=telling)
        else:
            if stretch.spans:
                text.put(stretch.spans, text.note(stretch, stretch.spans), rows=rows)
        if stretch.spans:
            added.append(stretch)
        return over

    for stretch in stretches:
        if not stretch.pinned:
            continue
        spans: Sequence[Span] = [(stretch.start, stretch.end)]
        note = text.note(stretch, spans)
        needed, left = text.cost(spans, note), budget - text.recount()
        stretch.figures = {"needed": needed, "left": max(0, left)}
        if needed > left:
            spans = _shorten(stretch, spans, min(left, int(BLOCK_SHARE * budget)), note, text, telling=False)
        stretch.figures["needed"] = needed + put(stretch, spans, budget)
        if _size(stretch.spans) == stretch.end - stretch.start:
            stretch.state, stretch.reason = State.KEPT, Reason.PINNED
        elif stretch.spans:
            stretch.state = State.SHORTENED
    # shares are those of the room that pins leave: with room for a pin beside them, the others stay as they are
    taken = text.recount() if added else 0
    free = max(0, budget - taken)

    def by(*reasons: Reason) -> list[Stretch]:
        return [stretch for stretch in stretches if stretch.reason in reasons]

    def offer(stretch: Stretch, limit: int, share: int, *, telling: bool = False) -> None:
        if stretch.state is State.KEPT or stretch.reason is Reason.REPEATS_EARLIER:
            return
        changes, alone, room = stretch.refused
        if changes == text.changes and alone == telling and min(limit - text.tokens, share) <= room:
            return
        whole: Sequence[Span] = _spans(log, stretch)
        if not whole:
            stretch.reason = Reason.REPEATS_EARLIER
            return
        times = log.failures.times.get(stretch.block.head, 1) if stretch.block else 1
        note = text.note(stretch, whole)
        if stretch.state is State.SHORTENED:  # it may get more room than before
            text.take(stretch.spans)
            added.remove(stretch)
        needed = text.cost(whole, note)
        spare = limit - text.tokens - needed
        full = spare < 0 and limit == budget and not (telling or stretch.spans or stretch.reason is Reason.ROUTINE)
        if full or abs(spare) <= text.unsure:
            text.recount()  # it may fit, or it gets its figures now
        left = limit - text.tokens
        room = min(left, share)
        spans = whole
        if needed > room and _size(whole) == 1:
            spans = []
        elif needed > room or telling:
            spans = _shorten(stretch, whole, room, note, text, telling=telling)
        over = put(stretch, spans, limit, telling=telling) if spans or stretch.spans else 0
        if not stretch.spans:
            stretch.refused = (text.changes, telling, room)
            # what it needs beside its lines: marks that it adds, or that it spares
            marks = needed + over - (log.lines.after[stretch.end] - log.lines.after[stretch.start])
            figures = {"needed": needed + over, "left": left, "marks": marks, "spared": -marks}
            stretch.figures |= {name: max(0, figure) for name, figure in figures.items()}
            return
        stretch.state = State.KEPT if _size(stretch.spans) == _size(whole) else State.SHORTENED
        stretch.figures = {"times": times} if times > 1 else {}

    results, last = by(Reason.RUN_RESULT), by(Reason.LAST_LINES)
    errors = by(Reason.FIRST_FAILURE)
    errors += sorted(
        by(Reason.DISTINCT_ERROR),
        key=lambda stretch: (-_best_match(log, stretch), -_grade(stretch), _variant(stretch), stretch.start),
    )
    followers = [stretch for stretch in errors[1:] if _grade(stretch) == FOLLOWS]
    errors = errors[:1] + [stretch for stretch in errors[1:] if _grade(stretch) != FOLLOWS]
    matches = sorted(by(Reason.MATCHES_QUERY), key=lambda stretch: (-_best_match(log, stretch), stretch.start))
    largest = int(BLOCK_SHARE * free)
    best = max(log.matches.values(), default=0)
    # stretches that answer the query
    answers = [stretch for stretch in (*matches, *errors) if best and _best_match(log, stretch) >= _ANSWERS * best]
    answers.sort(key=lambda stretch: (-_best_match(log, stretch), stretch.block is None, stretch.start))
    for stretch in answers:
        offer(stretch, taken + free // 2, largest, telling=True)
    # the telling lines of every error, and the results of the run
    share = int(LAST_SHARE * free)
    reserve = min(share, sum(text.cost(spans) for stretch in results if (spans := _spans(log, stretch))))
    likely = [stretch for stretch in errors if _grade(stretch) >= LIKELY or stretch.reason is Reason.FIRST_FAILURE]
    for stretch in sorted(likely, key=lambda stretch: _variant(stretch) > 0):  # one of each form before those like it
        offer(stretch, budget - reserve, largest, telling=True)
    for stretch in sorted(results, key=lambda stretch: (_variant(stretch), -stretch.start)):
        offer(stretch, budget, reserve if _variant(stretch) else largest)
    for stretch in errors:
        offer(stretch, budget, largest, telling=True)
    # whole errors, the lines beside them and other matches, with room for the last lines
    tail = min(share, sum(text.cost(spans) for stretch in last if (spans := _spans(log, stretch))))
    beside = by(Reason.BESIDE_ERROR)
    for share in (largest, budget):
        for stretch in errors:
            offer(stretch, budget - tail, share)
        for stretch in errors:
            if stretch.block and not all(_holds(stretch.spans, line) for line in stretch.block.telling):
                offer(stretch, budget - tail, budget, telling=True)
        for stretch in (*beside, *matches):
            offer(stretch, budget - tail, share)
    # everything else that fits; a line that takes the place of a longer mark makes room for what was refused before
    others = (*reversed(last), *errors, *beside, *followers, *matches, *reversed(results))
    routine = sorted(by(Reason.ROUTINE), key=lambda stretch: (stretch.distance, stretch.start))
    tables = sorted((table for table in routine if table.rows is not None), key=lambda table: table.end - table.start)
    going_out = 0
    for turn in range(_MOST_ROUNDS):
        for stretch in others:
            offer(stretch, budget, budget)
        for waiting, stretch in zip(range(len(tables), 0, -1), tables, strict=True):
            taken = sum(log.lines.after[end] - log.lines.after[start] for start, end in stretch.spans)
            left = budget - text.tokens + taken
            # routine lines wait for the other half of the room
            offer(stretch, budget, left // (waiting * (1 if turn or len(tables) == len(routine) else 2)))
        lines = sum(_size(stretch.spans) for stretch in added)
        for stretch in routine:
            if stretch.state is State.KEPT or stretch.rows is not None:
                continue
            if text.tokens >= budget and text.recount() >= budget:
                break
            stretch.figures.setdefault("first", lines)
            offer(stretch, budget, budget)
            lines += _size(stretch.spans)
        if lines == going_out:
            break
        going_out = lines
    return added


def _spans(log: ReadLog, stretch: Stretch) -> list[Span]:
    """The lines of a stretch that may go out; outside blocks without repeats of earlier lines."""
    whole = stretch.block is not None or stretch.rows is not None or stretch.reason is Reason.MATCHES_QUERY
    if whole or log.repeated[stretch.end] == log.repeated[stretch.start]:
        return [(stretch.start, stretch.end)]
    repeated = log.repeated
    return _runs(index for index in range(stretch.start, stretch.end) if repeated[index + 1] == repeated[index])


def _size(spans: Sequence[Span]) -> int:
    return sum(end - start for start, end in spans)


def _runs(indices: Iterable[int]) -> list[Span]:
    spans: list[Span] = []
    for index in indices:
        if spans and spans[-1][1] == index:
            spans[-1] = (spans[-1][0], index + 1)
        else:
            spans.append((index, index + 1))
    return spans


def _shorten(
    stretch: Stretch, spans: Sequence[Span], room: int, note: str, text: LogText, *, telling: bool
) -> Sequence[Span]:
    """Chooses as many lines as there is room for: of an error the telling ones first, then from both ends; of results
    the telling ones, of last lines the last. Other stretches go out whole or not at all, unless they are pinned."""
    if stretch.rows is not None:
        return _choose_rows(stretch, stretch.rows, room, text)
    if stretch.reason in (Reason.ROUTINE, Reason.BESIDE_ERROR, Reason.MATCHES_QUERY) and not stretch.pinned:
        return spans if telling and text.cost(spans, note) <= room else []
    indices = [index for start, end in spans for index in range(start, end)]
    if stretch.reason is Reason.LAST_LINES:
        order = indices[::-1]
    elif stretch.reason is Reason.RUN_RESULT:
        order = list(stretch.block.telling) if stretch.block else indices
    else:
        ends = [index for pair in zip(indices, reversed(indices), strict=True) for index in pair]
        telling_lines = stretch.block.telling if stretch.block else ()
        if telling and stretch.block and stretch.block.variant:  # one line is enough for one of many
            telling_lines = () if stretch.block.message is None else (stretch.block.message,)
        order = list(dict.fromkeys(telling_lines if telling else (*telling_lines, *ends)))
    low, high = 0, len(order)
    while low < high:  # find the most lines that fit
        middle = (low + high + 1) // 2
        fits = text.cost(_runs(sorted(order[:middle])), note) <= room
        low, high = (middle, high) if fits else (low, middle - 1)
    return _runs(sorted(order[:low]))


def _choose_rows(stretch: Stretch, first: int, room: int, text: LogText) -> Sequence[Span]:
    """Chooses as many rows as there is room for, evenly from the first to the last, and the lines above them."""
    last = stretch.end - 1 - first

    def choose(count: int) -> Sequence[Span]:
        chosen = (first + number * last // max(1, count - 1) for number in range(count))
        return _runs(dict.fromkeys([*range(stretch.start, first), *chosen]))

    low, high = 0, min(last, max(0, room))
    while low < high:
        middle = (low + high + 1) // 2
        spans = choose(middle)
        fits = text.cost(spans, text.note(stretch, spans), rows=True) <= room
        low, high = (middle, high) if fits else (low, middle - 1)
    return choose(low) if low else []


def _best_match(log: ReadLog, stretch: Stretch) -> int:
    indices = range(stretch.start, stretch.end) if log.matches else ()
    return max((log.matches.get(index, 0) for index in indices), default=0)


def _variant(stretch: Stretch) -> int:
    return stretch.block.variant if stretch.block else 0


def _grade(stretch: Stretch) -> int:
    return stretch.block.grade if stretch.block else RESULT


# --- the list of decisions --------------------------------------------------------------------------------------------


def _settle_all(log: ReadLog, budget: int, stretches: Iterable[Stretch]) -> list[Stretch]:
    settled: list[Stretch] = []
    for stretch in stretches:
        last = settled[-1] if settled else None
        alike = last and (last.state, last.reason, last.block) == (stretch.state, stretch.reason, None)
        routine = stretch.block is None and stretch.reason in (Reason.ROUTINE, Reason.REPEATS_EARLIER)
        tables = last and not last.rows is stretch.rows is None
        if last and alike and routine and not (last.pinned or stretch.pinned or tables):
            last.end, last.spans = stretch.end, (*last.spans, *stretch.spans)
            parts = int(last.figures.get("parts", 0)) + int(stretch.figures.get("parts", 0))
            least = {name: min(last.figures.get(name, figure), figure) for name, figure in stretch.figures.items()}
            last.figures |= least | {"parts": parts}
        else:
            settled.append(stretch)
    spans = [span for stretch in settled for span in stretch.spans]
    lines = _size(spans)
    for stretch in settled:
        _settle(log, budget, stretch, spans, lines)
    return settled


def _repeated_lines(log: ReadLog, stretch: Stretch, spans: Sequence[Span]) -> dict[str, Figure]:
    """Returns the figures about the lines that a stretch repeats throughout: the number of the only one, whether it is
    equal, and whether it is dropped too, or how many of several are. `spans`: the lines that go out, in their order."""
    if stretch.block and stretch.block.repeats is not None:
        first = stretch.block.repeats
        kept = any(_holds(spans, line) for line in log.failures.lines[first])
        return {"error" if kept else "error_dropped": first + 1}
    own = range(stretch.start, stretch.end)
    earlier = {log.lines.repeats.get(line, log.failures.repeated.get(line)) for line in own}
    known = {line for line in earlier if line is not None}
    if len(known) < len(earlier):
        return {}
    dropped = [line for line in known if not _holds(spans, line)]
    if len(known) > 1:
        return {"dropped": len(dropped)} if dropped else {}
    lines = log.lines.lines
    same = all(lines[line] == lines[min(known)] for line in range(stretch.start, stretch.end))
    return {("equal" if same else "like") + "_dropped" * bool(dropped): min(known) + 1}


def _holds(spans: Sequence[Span], line: int) -> bool:
    position = bisect_left(spans, (line + 1,)) - 1
    return position >= 0 and line < spans[position][1]


def _settle(log: ReadLog, budget: int, stretch: Stretch, spans: Sequence[Span], going_out: int) -> None:
    """Sets the reason and its figures according to the decision. `spans`: the lines of all that go out, `going_out`:
    their number."""
    lines, why = stretch.end - stretch.start, stretch.reason
    shown = sum(end - start for start, end in stretch.spans)
    repeats = log.repeated[stretch.end] - log.repeated[stretch.start]
    if stretch.state is State.DROPPED:
        if stretch.pinned and budget:
            larger = int(stretch.figures.get("needed", 0)) > budget
            stretch.reason = Reason.LARGER_THAN_BUDGET if larger else Reason.NO_ROOM
            stretch.figures |= {"budget": budget} if larger else {}
        elif why is Reason.REPEATS_EARLIER:
            stretch.figures = {"lines": lines, "repeats": repeats} | _repeated_lines(log, stretch, spans)
        elif why is Reason.ROUTINE and budget:
            away, first = stretch.figures.get("away", 0), stretch.figures.get("first", going_out)
            refused = {name: stretch.figures[name] for name in ("parts", "part", "left") if name in stretch.figures}
            stretch.figures = {"lines": lines, "repeats": repeats, "away": away} | refused
            stretch.figures |= {"first": min(first, going_out)} if going_out else {}
            if 0 < len(log.matches) < MOST_MATCHES:
                stretch.figures["asked"] = 1
        else:
            stretch.reason = Reason.NO_ROOM if budget else Reason.ZERO_BUDGET
            if why is Reason.ROUTINE:
                stretch.figures = {"needed": log.lines.after[stretch.end] - log.lines.after[stretch.start]}
        return
    if stretch.reason is Reason.ROUTINE:
        stretch.reason, stretch.figures = Reason.FITS, {}
    if why in (Reason.FIRST_FAILURE, Reason.DISTINCT_ERROR) and _grade(stretch) == POSSIBLE:
        stretch.figures["sounds"] = 1
    if stretch.state is State.SHORTENED:
        stretch.reason = Reason.SOME_LINES
        stretch.figures |= {"shown": shown, "lines": lines, "for": why.label}
    elif shown < lines:
        stretch.state, stretch.reason = State.SHORTENED, Reason.REPEATS_EARLIER
        stretch.figures = {"lines": lines, "repeats": lines - shown}
    elif log.lines.whole and any(index in log.lines.whole for index in range(stretch.start, stretch.end)):
        stretch.state, stretch.reason = State.SHORTENED, Reason.LONG_LINES
        stretch.figures |= {"longest": LONGEST_LINE, "for": why.label}
