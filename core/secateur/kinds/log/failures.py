"""Finds failures in a log: blocks of lines that belong together, such as an error with its stack.

It knows the reports of compilers, linters, build tools and test runners of many languages; in other logs it uses the
levels and words that report an error. Each line is read once or twice: linear in the log.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from heapq import merge
from itertools import pairwise

from msgspec import Struct

from secateur.kinds.log import levels
from secateur.kinds.log.lines import SLICE, body, split_streams, template
from secateur.progress import Progress

LONGEST_BLOCK = 400  # most lines of a block; the lines after it are another block or plain lines
_LONGEST_BODY = 4000  # characters of a line that are read
_HEAD = 400  # characters of a line that are matched against the forms
_LOOK_BACK = 30  # most lines before an error that may belong to it
_LOOK_AHEAD = 12  # lines after a numbered line that are searched for a failure
_MESSAGES = 12  # most lines of a block that say what happened
_QUOTED = 3  # most lines of code between a location and its underline
_HINTS = 4  # most further lines that may say it
_MOST = 2000  # most blocks of each sort that are listed, so that the ledger stays readable


class Block(Struct, frozen=True):
    """Lines that belong together; counted from 0, without `end`. Where lines of other services stand between the lines
    of an error, it is several blocks with the same `head`."""

    start: int
    end: int
    grade: int  # CERTAIN, LIKELY, POSSIBLE or RESULT
    telling: tuple[int, ...]  # the lines to read first: failure, expected and actual values, location in own code
    message: int | None  # the most informative line, if it is one of these
    head: int  # the first line of the error
    apart: bool = False  # other lines of the error stand elsewhere
    repeats: int | None = None  # the first line of the earlier error with equal text
    variant: int = 0  # number of earlier errors that differ only in numbers; of a result: 1 if nothing failed


class Failures(Struct, frozen=True):
    """The blocks of a log in order, and the number of errors that are not listed."""

    blocks: tuple[Block, ...]
    repeated: dict[int, int]  # line -> first line of the earlier error with the same text
    times: dict[int, int]  # first line of an error that others repeat -> how often it occurs
    aside: dict[int, str]  # first line of an error -> what differs before the lines where it occurs again
    further: int  # number of distinct errors that are not listed
    green: bool  # the results report no failure
    lines: dict[int, Sequence[int]]  # first line of an error that others repeat -> its lines


# --- the line that begins a block -------------------------------------------------------------------------------------

# The matching group is the first matching style: one call instead of one per style. It is empty and stands after the
# pattern: a group around it would keep `re` from skipping patterns by their first character.
_STYLE = re.compile("|".join(f"(?:{pattern})()" for _, _, pattern in levels.STYLES))


@lru_cache(maxsize=1024)
def _block_start(text: str) -> tuple[str, int] | None:
    """Returns style and grade of the block that a line begins, by its text without time and container, or None."""
    head = text[:_HEAD]
    if _is_result(head):
        return "result", levels.RESULT
    if (match := _STYLE.match(head)) and match.lastindex:
        return levels.STYLES[match.lastindex - 1][:2]
    low = text.lower()
    if levels.holds(low, levels.CRASHES) or (
        ("sanitizer: " in low or "assertion" in low) and levels.CRASH.search(text)
    ):
        return "generic", levels.CERTAIN
    return _block_of_level(text)


def _block_of_level(text: str) -> tuple[str, int] | None:
    severity = levels.severity_of(text)
    return None if severity is None else ("words" if severity == levels.POSSIBLE else "generic", severity)


def _is_result(text: str) -> bool:
    """Tells whether a line sums up a run, or gives the outcome of a failed test: `file::name FAILED [ 12%]`."""
    if levels.SUMMARY.fullmatch(text):
        return True
    match = levels.OUTCOME.search(text) if text.endswith("%]") else None
    name = text[: match.start()].rpartition(" ")[2] if match else ""
    return "::" in name[1:-1]


# --- what belongs to a line -------------------------------------------------------------------------------------------

_FRAME = re.compile(r"\d+\s|\s+[~^]")  # a line of code in TypeScript's output, and its underline
_JOINS = re.compile(r"(?:During handling of the above|The above exception was the direct cause)")
_NAMED = re.compile(r"(?:[\w$]+\.)*[A-Z][\w$]*(?:Exception|Error)\b")
_GOROUTINE = re.compile(r"goroutine \d|\[signal|created by|panic:|exit status|runtime stack:")
_CALL = re.compile(r"\s+\S|\S[^\s(]*\(.*\)$|created by |\.{3}|exit status \d|goroutine \d|panic")


class _Bodies(dict[int, str]):
    """The lines of a log without time, job and container at their beginning, each made when it is read first."""

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__()
        self.lines = lines

    def __missing__(self, index: int) -> str:
        if len(self) >= LONGEST_BLOCK:  # a line is read several times, but soon after each other
            self.clear()
        line_body = self[index] = body(self.lines[index][:_LONGEST_BODY])
        return line_body


def _scan_while(bodies: _Bodies, start: int, limit: int, belongs: Callable[[str], object]) -> int:
    end = start
    while end < limit and belongs(bodies[end]):
        end += 1
    return end


def _block_end(bodies: _Bodies, start: int, style: str) -> int:
    limit = min(len(bodies.lines), start + LONGEST_BLOCK)
    if style == "traceback":
        return _traceback_end(bodies, start, limit)
    if style == "jest" and bodies[start].startswith("FAIL"):  # the file, above its first failure
        start = _scan_while(bodies, start + 1, min(limit, start + 3), lambda text: not text.lstrip().startswith("● "))
    if style in levels.NEXT:
        following = levels.NEXT[style]
        return _scan_while(bodies, start + 1, limit, lambda text: not following.match(text))
    if style in ("npm", "result", "eslint"):
        return _scan_while(bodies, start + 1, limit, lambda text: (head := _block_start(text)) and head[0] == style)
    if style == "tap":
        deeper = re.compile(rf"\s{{{_indent(bodies[start]) + 1}}}|\s*$")
        return _scan_while(
            bodies, start + 1, limit, lambda text: deeper.match(text) or (text[:1] == "#" and not _is_result(text))
        )
    if style == "panic":
        end = _scan_while(bodies, start + 1, limit, lambda text: text.strip() and not _is_result(text))
        while end + 1 < limit and _GOROUTINE.match(bodies[end + 1]):
            end = _scan_while(bodies, end + 1, limit, _CALL.match)
        return end
    if style == "located":
        start = _message_below_code(bodies, start) or start
    end = _continue(bodies, start + (style == "placed"), limit, style)
    if style == "compiler" and end + 1 < limit and not bodies[end].strip() and _FRAME.match(bodies[end + 1]):
        end = _scan_while(bodies, end + 1, limit, _FRAME.match)
    if style in ("generic", "words") and end < limit:  # the stack trace of a logged error
        if "Traceback (most recent" in bodies[end]:
            return _traceback_end(bodies, end, limit)
        if _GOROUTINE.match(bodies[end]):
            return _scan_while(bodies, end + 1, limit, _CALL.match)
        if _NAMED.match(bodies[end]):
            return _scan_while(bodies, end + 1, limit, levels.CONTINUED.match)
    return end


def _continue(bodies: _Bodies, start: int, limit: int, style: str) -> int:
    indent = _indent(bodies[start])
    end = start + 1
    if levels.MESSAGE_BELOW.match(bodies[start]) and end < limit:
        end += 1
    while end < limit:
        text = bodies[end]
        below = bodies[end + 1] if end + 1 < limit else ""
        if not text.strip():
            code_below = end + 2 < limit and levels.UNDERLINE.match(bodies[end + 2])
            if not (levels.CONTINUED_AFTER_BLANK.match(below) or (code_below and below.strip())):
                break
        elif not levels.UNDERLINE.match(below) and not (
            levels.CONTINUED.match(text)
            and (not text[0].isspace() or _indent(text) > indent or style == "compiler")
            and not (style == "words" and (begun := _block_start(text)) and begun[0] != "words")
        ):
            break
        end += 1
    return end


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _traceback_end(bodies: _Bodies, start: int, limit: int) -> int:
    inside = re.compile(rf"\s{{{_indent(bodies[start]) + 1}}}").match
    end = _scan_while(bodies, start + 1, limit, inside)
    end = min(end + 1, limit)  # the exception itself
    end = _scan_while(bodies, end, limit, inside) if end < limit and bodies[end].strip() else end
    if end + 3 < limit and not bodies[end].strip() and _JOINS.match(bodies[end + 1].strip()):
        again = _scan_while(bodies, end + 2, limit, lambda text: not text.strip())
        if again < limit and "Traceback" in bodies[again]:
            return _traceback_end(bodies, again, limit)
    return end


def _trim_blank(bodies: _Bodies, start: int, end: int) -> int:
    while end > start + 1 and not bodies[end - 1].strip():
        end -= 1
    return end


def _first_line(bodies: _Bodies, start: int, floor: int, style: str) -> int:
    belongs = levels.BEFORE.get(style)
    floor = max(floor, start - _LOOK_BACK)
    first = start
    while belongs is not None and start > floor and belongs.match(bodies[start - 1]):
        start -= 1
        if bodies[start].strip():
            first = start
    return first


def _message_below_code(bodies: _Bodies, start: int) -> int | None:
    """Finds the message below a location and its line of code, which Node and Python print first."""
    for index in range(start + 2, min(len(bodies.lines) - 1, start + _QUOTED + 2)):
        if levels.UNDERLINE.match(bodies[index]):
            return index + 1 if bodies[index + 1].strip() else min(index + 2, len(bodies.lines) - 1)
    return None


_DOUBTFUL = frozenset(("numbered", "ruff", "framed", "biome", "placed"))


def _fails_below(bodies: _Bodies, head: int, style: str) -> bool:
    """Tells whether the lines after a possible head report a failure. A list of steps is numbered, too, and a line of
    klog begins like a line of ruff."""
    end = _trim_blank(bodies, head, _block_end(bodies, head, style))
    if style == "ruff":
        return head + 1 < end and bodies[head + 1].lstrip().startswith("--> ")
    below = [bodies[index] for index in range(head + 1, min(end, head + _LOOK_AHEAD))]
    if style in ("framed", "biome"):  # a place in a frame below the message, or a message below the place
        return any(levels.FRAMED.match(text) for text in below)
    if style == "placed":
        return any(levels.QUOTED.match(text) for text in below)
    return any(levels.MESSAGE.match(text) or levels.HINT.match(text) or levels.PLACE.search(text) for text in below)


# --- the blocks of a log ----------------------------------------------------------------------------------------------

_TIME_FIELD = re.compile(
    r"\"@?(?:ts|t|time|timestamp|date|datetime)\"\s*:\s*(?:\"[^\"]*\"|[\d.eE+]+)"
    r"|\b(?:ts|time|timestamp)=(?:\"[^\"]*\"|\S+)|(?<=^[EF])\d{4} [\d:.]+"
)

_MARK = "[redacted: "  # begins a marker of `redaction`
_MARKED = re.compile(re.escape(_MARK) + r"[^\]\n]*")
_COMMIT = re.compile(r"commit [0-9a-f]{7,64}\b.*\n(?:Merge: .*\n)?Author: ")
_SHORT_COMMIT = re.compile(r"[*|\\/_ ]*([0-9a-f]{7,40}) \S|[*|\\/_ ]+$")
_LEAST_COMMITS = 5


def _is_history(lines: Sequence[str]) -> bool:
    """Tells whether lines come from `git log`, maybe with `--oneline`: each line has an id of its own, none a level."""
    if _COMMIT.match("\n".join(lines[:3])):
        return True
    ids = set[str]()
    for line in lines:
        match = _SHORT_COMMIT.match(line)
        if match is None or match[1] in ids or levels.severity_of(line) == levels.LIKELY:
            return False
        ids.update(match.groups(""))
        ids.discard("")
    return len(ids) >= _LEAST_COMMITS and 2 * sum(map(str.isdecimal, ids)) < len(ids)


class _Error(Struct, frozen=True):
    """An error or a result as lines of one stream, of which `index` begins it, and their numbers in the log."""

    bodies: _Bodies
    lines: Sequence[int]
    start: int
    index: int
    end: int
    style: str
    grade: int

    def split(
        self, telling: Sequence[int], message: int, *, repeats: int | None = None, variant: int = 0
    ) -> Iterator[Block]:
        """Yields a block for the lines, or for each part of them that stands together in the log."""
        numbers = self.lines
        edges = [at for at in range(1, len(numbers)) if numbers[at] != numbers[at - 1] + 1]
        for low, high in pairwise((0, *edges, len(numbers))):
            here = range(self.start + low, self.start + high)
            own = tuple(numbers[line - self.start] for line in telling if line in here)
            said = numbers[message - self.start] if message in here else None
            start, end = numbers[low], numbers[high - 1] + 1
            yield Block(start, end, self.grade, own, said, numbers[0], bool(edges), repeats, variant)


def _find_errors(
    numbers: Sequence[int], texts: Sequence[str], forms: Mapping[str, int], heads: set[str], progress: Progress
) -> Iterator[_Error]:
    """Finds the errors and results of a stream; no line is in two. `forms`: the errors so far, numbers aside; once they
    are too many to list another, an error is cut at its indented lines, unless it begins as one of the `heads`."""
    bodies, floor = _Bodies(texts), 0
    for index in _candidates(texts, progress):
        if index < floor:
            continue
        text = _MARKED.sub(_MARK, bodies[index])  # equal for lines that differ in a marker's number
        unlisted = len(forms) > _MOST and text not in heads and not _is_result(text[:_HEAD])
        if unlisted and (severity := levels.severity_of(text)) is not None:
            floor = _block_end(bodies, index, "framed")
            yield _Error(bodies, numbers[index:floor], index, index, floor, "line", severity)
            continue
        head = _block_start(text)
        if head and head[0] in _DOUBTFUL and not _fails_below(bodies, index, head[0]):
            head = _block_of_level(bodies[index])
        if head is None:
            continue
        style, grade = head
        end = _trim_blank(bodies, index, _block_end(bodies, index, style))
        start = _first_line(bodies, index, floor, style)
        if style == "located":
            if (message := _message_below_code(bodies, index)) is None:
                continue
            index = message
        floor = end
        heads.add(text)
        grade = levels.FOLLOWS if grade and levels.FOLLOWING.search(bodies[index]) else grade
        yield _Error(bodies, numbers[start:end], start, index, end, style, grade)


def find_blocks(lines: Sequence[str], progress: Progress) -> Failures:
    """Finds the blocks of a log. A limited number of each sort is listed: the first errors, the last results. The log
    of git reports no failure: its words of failure tell what a commit mends."""
    if _is_history(lines):
        return Failures((), {}, {}, {}, 0, green=True, lines={})
    blocks: list[Block] = []
    repeated: dict[int, int] = {}
    known: dict[str, Sequence[int]] = {}
    variants: dict[str, int] = {}
    times: dict[int, int] = {}
    aside: dict[int, str] = {}
    repeated_lines: dict[int, Sequence[int]] = {}
    heads = set[str]()
    errors = repeats = further = 0
    green = red = False
    streams = [_find_errors(numbers, texts, variants, heads, progress) for numbers, texts in split_streams(lines)]
    for error in merge(*streams, key=lambda error: error.lines[0]):
        bodies, start, end, own = error.bodies, error.start, error.end, error.lines
        if error.grade == levels.RESULT:
            failing = [line for line in range(start, end) if levels.RED.search(bodies[line])]
            red |= bool(failing)
            green |= any(levels.GREEN.search(bodies[line]) for line in range(start, end))
            telling = tuple(dict.fromkeys([*reversed(failing), *range(end - 1, start - 1, -1)]))
            blocks += error.split(telling, telling[0], variant=int(not failing))
            continue
        # without times: blocks with equal text report the same error
        error_text = "\n".join([_TIME_FIELD.sub("", bodies[line]) for line in range(start, end)])
        earlier = known.setdefault(error_text, own)
        first = earlier[0]
        if first != own[0]:
            times[first] = times.get(first, 1) + 1
            if [lines[line] for line in earlier] != [lines[line] for line in own]:
                aside[first] = "time" if len(streams) == 1 else "time and name"
            repeated.update(dict.fromkeys(own, first))
            repeated_lines[first] = earlier
            repeats += 1
            if repeats <= _MOST:
                blocks += error.split((error.index,), error.index, repeats=first)
            continue
        errors += 1
        if len(variants) > _MOST:
            further += 1
            continue
        # the first of many errors that differ only in numbers goes out before the others, so it is always listed
        alike = template(error_text[:_LONGEST_BODY])
        variant = variants[alike] = variants.get(alike, -1) + 1
        if errors > _MOST and variant:
            further += 1
        else:
            telling, message = _telling_lines(bodies, start, error.index, end, error.style)
            blocks += error.split(telling, message, variant=variant)
    blocks.sort(key=lambda block: block.start)
    early = {block.start for block in [block for block in blocks if block.grade == levels.RESULT][:-_MOST]}
    blocks = [block for block in blocks if block.start not in early]
    green = (green or (errors > 0 and _has_passed(lines))) and not red
    return Failures(tuple(blocks), repeated, times, aside, further, green, repeated_lines)


_PLAN = re.compile(r"1\.\.(\d{1,9})\b")
_TAP_TEST = re.compile(r"(not )?ok \d++(?:.*# (TODO|SKIP))?", re.IGNORECASE)


def _has_passed(lines: Sequence[str]) -> bool:
    """Tells whether every test that a plan of TAP names has passed."""
    planned = sum(int(plan[1]) for line in lines if (plan := _PLAN.match(line)))
    tests = [test for line in lines if line[:3] in ("ok ", "not") and (test := _TAP_TEST.match(line))]
    failed = any(test[1] and not test[2] for test in tests) or any(line.startswith("Bail out!") for line in lines)
    return 0 < planned <= len(tests) and not failed


def _candidates(lines: Sequence[str], progress: Progress) -> Iterator[int]:
    """Yields the lines that hold a sign. Searching slices of text is many times faster than searching single lines."""
    for first in range(0, len(lines), SLICE):
        progress("searching", first, len(lines))
        text = _MARKED.sub(_MARK, "\n".join(lines[first : first + SLICE])).lower()  # `password` reports nothing
        signs = [re.escape(sign) for sign in levels.SIGNS if sign in text]
        signs += [form for sign, form in levels.SIGNS_AFTER.items() if sign in text]
        holds_sign = re.compile("|".join(signs or [r"(?!)"])).search
        begins = levels.SIGN_AT_START.match
        yield from (
            first + position for position, line in enumerate(text.split("\n")) if holds_sign(line) or begins(line)
        )


def _telling_lines(bodies: _Bodies, start: int, head: int, end: int, style: str) -> tuple[tuple[int, ...], int]:
    """Returns the lines of an error to read first, and the most informative of them."""
    if end - start == 1:
        return (start,), start
    messages, hints, places, quoted, causes = (list[int]() for _ in range(5))
    goroutine = style == "panic" or any(bodies[index].startswith("goroutine ") for index in range(head, end))
    for index in range(head, end):
        text = bodies[index]
        if levels.CANDIDATE.match(text):
            continue
        explains = index > head and (levels.FRAMED.match(text) or (style == "elm" and text[:4] == "    "))
        if explains or levels.MESSAGE.match(text):
            messages.append(index)
        elif levels.HINT.match(text):
            hints.append(index)
        if _is_place(text):
            places += [index - 1, index] if goroutine and index - 1 > head else [index]
        if not quoted and index > head + 1 and levels.QUOTED.match(text):
            quoted = [index - 1, index]
        if levels.CAUSE.match(text) or _JOINS.match(text):
            causes.append(index)
    messages = [*messages[:_MESSAGES], *hints[: _HINTS if messages else _MESSAGES]]
    if style in ("numbered", "placed") and head + 1 < end:
        messages.insert(0, head + 1)
    first_places = places[: 2 if goroutine else 1]
    if style == "pytest":  # the last place is where it was raised
        first_places = [*places[-1:], *first_places]
    if "Traceback (most" in bodies[head]:  # the exception and its location: the last frames are the nearest
        ordered = [*_raised(bodies, head, end, places), head, *messages]
        if causes:
            ordered[1:1] = _raised(bodies, head, causes[0], places)
    else:
        root = [next((index for index in places if index > cause), cause) for cause in causes[-1:]]
        ordered = [head, *causes[-1:], *root, *messages[:3], *first_places, *quoted, *messages[3:]]
    telling = tuple(dict.fromkeys([*ordered[:1], *range(start, head), *ordered[1:]]))[: _MESSAGES + _HINTS]
    return telling, max(telling, key=lambda at: 2 * bool(levels.MESSAGE.match(bodies[at])) + _is_place(bodies[at]))


def _raised(bodies: _Bodies, head: int, end: int, places: Sequence[int]) -> list[int]:
    """Returns the line of the exception at the end of a traceback, and the nearest location in own code."""
    raised = max((index for index in range(head, end) if bodies[index].strip()), default=head)
    nearest = [index for index in places if index < end][-1:]
    return [raised, *nearest, *(min(index + 1, raised) for index in nearest)]


def _is_place(text: str) -> bool:
    return levels.PLACE.search(text) is not None and not levels.LIBRARY.search(text)
