"""Finds failures in a log: blocks of lines that belong together, such as an error with its stack.

Knows how compilers, linters, build tools and test runners of many languages report; of anything else the levels and
words by which a line reports an error. A line is looked at once or twice: linear in the log.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from secateur.kinds.log.forms import (
    BEFORE,
    CONTINUED,
    CRASH,
    CRASHES,
    GREEN,
    HINT,
    LIBRARY,
    MESSAGE,
    NEXT,
    OUTCOME,
    PLACE,
    RED,
    STYLES,
    SUMMARY,
)
from secateur.kinds.log.levels import CERTAIN, POSSIBLE, RESULT, SIGN_AT_START, SIGNS, SIGNS_AFTER, holds, severity_of
from secateur.kinds.log.lines import SLICE, body, template
from secateur.progress import Progress

LONGEST_BLOCK = 400
"""Lines of a block; what follows is a block of its own or plain lines."""

_LONGEST_BODY = 4000  # characters of a line that are looked at
_HEAD = 400  # characters of a line, for the form that it begins with
_LOOK_BACK = 30  # lines before an error that may belong to it
_LOOK_AHEAD = 12  # lines after a numbered line, one of which says that something failed
_MESSAGES = 12  # lines of a block that say what happened
_HINTS = 4  # further lines that may say it
_MOST = 2000  # blocks of each sort that are told apart, so that the ledger stays readable


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that belong together. Numbered from 0, `end` excluded."""

    start: int
    end: int
    grade: int  # CERTAIN, LIKELY, POSSIBLE or RESULT
    telling: tuple[int, ...]  # the lines to read first: what failed, what was expected and came, the place in own code
    message: int  # the one line that says most
    repeats: int | None = None  # start of the earlier block with equal text
    variant: int = 0  # how many earlier errors differ from it in numbers alone; of a result: 1, where nothing failed


@dataclass(frozen=True, slots=True)
class Failures:
    """The blocks of a log in its order, and how many errors are not among them."""

    blocks: tuple[Block, ...]
    repeated: dict[int, int]  # line -> start of the earlier block that it repeats
    times: dict[int, int]  # start of an error -> how often it comes
    timed: frozenset[int]  # starts of errors that come again at another time, with equal text otherwise
    further: int  # distinct errors beyond those that are told apart
    green: bool  # results say that nothing failed


# --- the line that begins a block -------------------------------------------------------------------------------------

_STYLE = re.compile("|".join(f"({pattern})" for _, _, pattern in STYLES))
"""The first style that matches is the group that matched: one call instead of one for each."""


@dataclass(frozen=True, slots=True)
class _BlockStart:
    """The first line of a block."""

    style: str
    grade: int


@lru_cache(maxsize=1024)
def _block_start(text: str) -> _BlockStart | None:
    """The block that a line begins, told by its text without time and container; None where it begins none."""
    head = text[:_HEAD]
    if _is_result(head):
        return _BlockStart("result", RESULT)
    found = _STYLE.match(head)
    if found and found.lastindex:
        style, grade, _ = STYLES[found.lastindex - 1]
        return _BlockStart(style, grade)
    low = text.lower()
    if holds(low, CRASHES) or (("sanitizer: " in low or "assertion" in low) and CRASH.search(text)):
        return _BlockStart("generic", CERTAIN)
    severity = severity_of(text)
    if severity is None:
        return None
    return _BlockStart("words" if severity == POSSIBLE else "generic", severity)


def _is_result(text: str) -> bool:
    return SUMMARY.fullmatch(text) is not None or (text.endswith("%]") and _is_outcome(text))


def _is_outcome(text: str) -> bool:
    """Tells whether a line gives the outcome of a failed test: `file::name FAILED [ 12%]`."""
    found = OUTCOME.search(text)
    if found is None or text[found.start() - 1].isspace():
        return False
    name = (text[: found.start()].split() or [""])[-1]
    return text.find("::", max(2, found.start() - len(name) + 1), found.start() - 1) > 0


# --- what belongs to a line -------------------------------------------------------------------------------------------

_FRAME = re.compile(r"\d+\s|\s+[~^]")  # a line of code that TypeScript shows, and what it underlines
_JOINS = re.compile(r"(?:During handling of the above|The above exception was the direct cause)")
_NAMED = re.compile(r"(?:[\w$]+\.)*[A-Z][\w$]*(?:Exception|Error)\b")
_GOROUTINE = re.compile(r"goroutine \d|\[signal|created by|panic:|exit status")


class _Bodies:
    """Lines without the time, job and container at their beginning."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._known: dict[int, str] = {}  # the last ones: a line is looked at several times

    def __getitem__(self, number: int) -> str:
        known = self._known.get(number)
        if known is None:
            if len(self._known) >= LONGEST_BLOCK:
                self._known.clear()
            known = self._known[number] = body(self._lines[number][:_LONGEST_BODY])
        return known

    def __len__(self) -> int:
        return len(self._lines)


def _while(bodies: _Bodies, start: int, limit: int, belongs: Callable[[str], object]) -> int:
    end = start
    while end < limit and belongs(bodies[end]):
        end += 1
    return end


def _end(bodies: _Bodies, start: int, style: str) -> int:
    """The line after a block that begins at `start`."""
    limit = min(len(bodies), start + LONGEST_BLOCK)
    if style == "line":
        return start + 1
    if style == "traceback":
        return _traceback_end(bodies, start, limit)
    if style == "jest" and bodies[start].startswith("FAIL"):  # the file, above its first failure
        start = _while(bodies, start + 1, min(limit, start + 3), lambda text: not text.lstrip().startswith("● "))
    if style in NEXT:
        following = NEXT[style]
        return _while(bodies, start + 1, limit, lambda text: not following.match(text))
    if style in ("npm", "result", "eslint"):
        return _while(bodies, start + 1, limit, lambda text: (head := _block_start(text)) and head.style == style)
    if style == "gradle":
        return _while(bodies, start + 1, limit, str.strip)
    if style == "box":
        return _while(bodies, start + 1, limit, lambda text: text.startswith("│"))
    if style == "cmake":
        end = _while(bodies, start + 1, limit, lambda text: not text.strip() or text.startswith(" "))
        return _without_blank(bodies, start, end)
    if style == "tap":
        indent = _indent(bodies[start])
        return _while(
            bodies,
            start + 1,
            limit,
            lambda text: not text.strip() or _indent(text) > indent or (text[:1] == "#" and not _is_result(text)),
        )
    if style == "panic":
        end = _while(bodies, start + 1, limit, _goes_on)
        while end + 1 < limit and _GOROUTINE.match(bodies[end + 1]):
            end = _while(bodies, end + 1, limit, _goes_on)
        return end
    indent = _indent(bodies[start])
    end = _while(
        bodies,
        start + 1,
        limit,
        lambda text: (
            CONTINUED.match(text)
            and (not text[0].isspace() or _indent(text) > indent or style == "compiler")
            and not (style == "words" and (begun := _block_start(text)) and begun.style != "words")
        ),
    )
    if style == "compiler" and end + 1 < limit and not bodies[end].strip() and _FRAME.match(bodies[end + 1]):
        end = _while(bodies, end + 1, limit, _FRAME.match)
    if style in ("generic", "words") and end < limit:  # the stack of what was logged
        if "Traceback (most recent" in bodies[end]:
            return _traceback_end(bodies, end, limit)
        if _NAMED.match(bodies[end]):
            return _while(bodies, end + 1, limit, CONTINUED.match)
    return end


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _goes_on(text: str) -> bool:
    return bool(text.strip()) and not _is_result(text)


def _traceback_end(bodies: _Bodies, start: int, limit: int) -> int:
    indent = _indent(bodies[start])

    def inside(text: str) -> bool:
        return _indent(text) > indent

    end = _while(bodies, start + 1, limit, inside)
    end = min(end + 1, limit)  # the exception itself
    end = _while(bodies, end, limit, inside) if end < limit and bodies[end].strip() else end
    if end + 3 < limit and not bodies[end].strip() and _JOINS.match(bodies[end + 1].strip()):
        again = _while(bodies, end + 2, limit, lambda text: not text.strip())
        if again < limit and "Traceback" in bodies[again]:
            return _traceback_end(bodies, again, limit)
    return end


def _without_blank(bodies: _Bodies, start: int, end: int) -> int:
    while end > start + 1 and not bodies[end - 1].strip():
        end -= 1
    return end


def _start(bodies: _Bodies, start: int, floor: int, style: str) -> int:
    """The first line that belongs to a block, of those before its head."""
    belongs = BEFORE.get(style)
    floor = max(floor, start - _LOOK_BACK)
    first = start
    while belongs is not None and start > floor and belongs.match(bodies[start - 1]):
        start -= 1
        if bodies[start].strip():
            first = start
    return first


def _fails_below(bodies: _Bodies, head: int, end: int, style: str) -> bool:
    """Tells whether lines after a line that may begin a block say that something failed: a list of steps is numbered,
    too, and a line of klog begins as one of ruff."""
    if style == "ruff":
        return head + 1 < end and bodies[head + 1].lstrip().startswith("--> ")
    return any(
        MESSAGE.match(bodies[number]) or HINT.match(bodies[number]) or PLACE.search(bodies[number])
        for number in range(head + 1, min(end, head + _LOOK_AHEAD))
    )


# --- the blocks of a log ----------------------------------------------------------------------------------------------

_TIME_FIELD = re.compile(
    r"\"@?(?:ts|t|time|timestamp|date|datetime)\"\s*:\s*(?:\"[^\"]*\"|[\d.eE+]+)"
    r"|\b(?:ts|time|timestamp)=(?:\"[^\"]*\"|\S+)|(?<=^[EF])\d{4} [\d:.]+"
)


def find_blocks(lines: Sequence[str], progress: Progress) -> Failures:
    """The blocks of a log. Of each sort a limited number is told apart: the first errors, the last results."""
    bodies = _Bodies(lines)
    found: list[Block] = []
    repeated: dict[int, int] = {}
    known: dict[str, tuple[int, int]] = {}
    variants: dict[str, int] = {}
    times: dict[int, int] = {}
    timed: set[int] = set()
    errors = repeats = further = floor = 0
    green = red = False
    for number in _candidates(lines, progress):
        if number < floor:
            continue
        head = _block_start(bodies[number])
        if head is None:
            continue
        end = _without_blank(bodies, number, _end(bodies, number, head.style))
        if head.style in ("numbered", "ruff") and not _fails_below(bodies, number, end, head.style):
            severity = severity_of(bodies[number])
            if severity is None:
                continue
            head = _BlockStart("words" if severity == POSSIBLE else "generic", severity)
            end = _without_blank(bodies, number, _end(bodies, number, head.style))
        start = _start(bodies, number, floor, head.style)
        floor = end  # no line is in two blocks
        if head.grade == RESULT:
            failing = [line for line in range(start, end) if RED.search(bodies[line])]
            red |= bool(failing)
            green |= any(GREEN.search(bodies[line]) for line in range(start, end))
            first_told = tuple(dict.fromkeys([*reversed(failing), *range(end - 1, start - 1, -1)]))
            found.append(Block(start, end, RESULT, first_told, first_told[0], None, int(not failing)))
            continue
        said = _said(bodies, start, end)
        first, first_end = known.setdefault(said, (start, end))
        times[first] = times.get(first, 0) + 1
        if first != start:
            if lines[first:first_end] != lines[start:end]:
                timed.add(first)
            repeated.update(dict.fromkeys(range(start, end), first))
            repeats += 1
            if repeats <= _MOST:
                found.append(Block(start, end, head.grade, (number,), number, first))
            continue
        # of many errors that differ in numbers alone the first goes out before the others, and is always told apart
        alike = template(said[:_LONGEST_BODY])
        variant = variants[alike] = variants.get(alike, -1) + 1
        errors += 1
        if errors > _MOST and (variant or len(variants) > 2 * _MOST):
            further += 1
        else:
            telling = _telling(bodies, start, number, end, head.style)
            message = max(telling, key=lambda line: (_says(bodies[line]), -telling.index(line)))
            found.append(Block(start, end, head.grade, telling, message, None, variant))
    results = [block for block in found if block.grade == RESULT]
    if len(results) > _MOST:
        early = {block.start for block in results[:-_MOST]}
        found = [block for block in found if block.grade != RESULT or block.start not in early]
    return Failures(tuple(found), repeated, times, frozenset(timed), further, green and not red)


def _candidates(lines: Sequence[str], progress: Progress) -> Iterator[int]:
    """Lines that hold a sign. Searching text in slices is many times faster than lines one by one."""
    for first in range(0, len(lines), SLICE):
        progress("searching", first, len(lines))
        part = [line.lower() for line in lines[first : first + SLICE]]
        text = "\n".join(part)
        signs = [re.escape(sign) for sign in SIGNS if sign in text]
        signs += [form for sign, form in SIGNS_AFTER.items() if sign in text]
        holds_sign = re.compile("|".join(signs)).search if signs else _nothing
        begins = SIGN_AT_START.match
        yield from (first + place for place, line in enumerate(part) if begins(line) or holds_sign(line))


def _nothing(_: str) -> None:
    return None


def _telling(bodies: _Bodies, start: int, head: int, end: int, style: str) -> tuple[int, ...]:
    """The lines of a block to read first: its head, what says what happened, the first place in one's own code."""
    messages, hints, places = [], [], []
    for number in range(head, end):
        text = bodies[number]
        if MESSAGE.match(text):
            messages.append(number)
        elif HINT.match(text):
            hints.append(number)
        if PLACE.search(text) and not LIBRARY.search(text):
            places += [number - 1, number] if style == "panic" and number - 1 > head else [number]
    messages = [*messages[:_MESSAGES], *hints[: _HINTS if messages else _MESSAGES]]
    if style == "numbered" and head + 1 < end:
        messages.insert(0, head + 1)
    told = [head, *messages[:3], *places[: 2 if style == "panic" else 1], *messages[3:]]
    if "Traceback (most" in bodies[head]:  # what was raised, and where: the last frames are the nearest
        raised = max((number for number in range(head, end) if bodies[number].strip()), default=head)
        told = [
            raised,
            *(line for number in places[-1:] for line in (number, min(number + 1, raised))),
            head,
            *messages,
        ]
    return tuple(dict.fromkeys([*told[:1], *range(start, head), *told[1:]]))[: _MESSAGES + _HINTS]


def _says(text: str) -> int:
    """Rates how much one line says of a failure: what happened, and where."""
    return 2 * bool(MESSAGE.match(text)) + bool(PLACE.search(text) and not LIBRARY.search(text))


def _said(bodies: _Bodies, start: int, end: int) -> str:
    """The text of a block without times: two blocks with equal text report one error."""
    return "\n".join(_TIME_FIELD.sub("", bodies[number]) for number in range(start, end))
