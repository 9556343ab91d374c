"""Finds failures in a log: blocks of lines that belong together, such as an error with its stack.

Knows how Python, Java, Go, Rust, C compilers, TypeScript, JavaScript's and Python's test runners, Maven, Gradle, npm,
make, CMake and GitHub Actions report; of anything else the words and levels by which a line reports an error. A line
is looked at once: linear in the log.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from secateur.kinds.log.lines import SLICE, body, template
from secateur.progress import Progress

CERTAIN, LIKELY, POSSIBLE, RESULT = 3, 2, 1, 0
"""Grades of how surely a block reports an error; a result sums up what happened."""

LONGEST_BLOCK = 400
"""Lines of a block; what follows is a block of its own or plain lines."""

_LONGEST_BODY = 1000  # characters of a line that are looked at
_LOOKED_AT = 400  # characters of a line, for what it begins
_LOOK_BACK = 30  # lines before an error that may belong to it
_TELLING_LINES = 20  # of a block
_MOST = 500  # blocks of each sort that are told apart, so that the ledger stays readable


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that belong together. Numbered from 0, `end` excluded."""

    start: int
    end: int
    grade: int  # CERTAIN, LIKELY, POSSIBLE or RESULT
    telling: tuple[int, ...]  # the lines to read first
    repeats: int | None = None  # start of the earlier block that says the same


@dataclass(frozen=True, slots=True)
class Failures:
    """The blocks of a log in its order, and how many errors are not among them."""

    blocks: tuple[Block, ...]
    repeated: dict[int, int]  # line -> start of the earlier block that it repeats
    times: dict[int, int]  # start of an error -> how often it comes
    further: int  # distinct errors beyond those that are told apart


# --- single lines -----------------------------------------------------------------------------------------------------

_SIGNS = (
    *("error", "exception", "fail", "fatal", "panic", "traceback", "abort", "assert", "***", "fault", "killed"),
    *("denied", "not found", "cannot", "could not", "unable", "undefined", "err!", "critical", "severe", "●", "✕"),
    *("✗", "✘", "✖", "exit code", "exited with", "timed out", "no such file", "sanitizer", "dumped", "out of memory"),
    *("went wrong", "___ ", "passed", "tests:", "test suites:", "test result", "tests run", "build success", "passing"),
    *("emerg", "alert", "terminate called", "finished:", "---- ", "ran ", "test summary"),
)
"""A line that holds none of them, in whatever case, begins no block."""

_STYLES: Sequence[tuple[str, int, str]] = (
    ("actions", POSSIBLE, r"(?:##\[error\]|Error: )Process completed with exit code"),
    ("actions", LIKELY, r"##\[error\]|::error\b"),
    ("traceback", CERTAIN, r"\s*(?:\+ )?(?:Exception Group )?Traceback \(most recent call last\):"),
    ("pytest", CERTAIN, r"_{3,} .+ _{3,}$"),
    ("jest", CERTAIN, r"\s*● (?!Console)"),
    ("go test", CERTAIN, r"\s*--- FAIL: "),
    ("panic", CERTAIN, r"(?:panic|fatal error): "),
    ("rust test", CERTAIN, r"---- .+ ----$"),
    ("cmake", CERTAIN, r"CMake Error"),
    ("npm", LIKELY, r"(?:npm|pnpm|yarn) (?:ERR!|error) "),
    ("make", LIKELY, r"(?:\w+-)?(?:g?make|ninja)(?:\[\d+\])?: (?:\*\*\*|build stopped)"),
    ("gradle", CERTAIN, r"\* What went wrong:"),
    ("generic", LIKELY, r"(?=.* > ).* FAILED$"),  # a test that Gradle ran
    ("compiler", CERTAIN, r"\S.{0,300}?[:(\[]\d+(?:[:,]\d+)?[\])]?:?\s*(?:- |: )?(?:fatal )?error\b"),
    ("compiler", CERTAIN, r"error(?:\[E\d+\])?: (?!could not compile|aborting due)"),
    ("java", CERTAIN, r"(?:Exception in thread \"[^\"]*\" )?(?:[A-Za-z_$][\w$]*\.)+[A-Z][\w$]*(?:Exception|Error)\b"),
    ("java", CERTAIN, r"\s*(?:Uncaught )?[A-Z][A-Za-z]*(?:Error|Exception)\b(?: \[\w+\])?: "),
    ("compiler", CERTAIN, r"\[ERROR\] \S+:\[\d+,\d+\]"),  # Maven
    ("generic", LIKELY, r"\[ERROR\] .*<<< (?:FAILURE|ERROR)!"),
    ("generic", LIKELY, r"\[ERROR\] \s*\S"),
)
_STYLE = re.compile("|".join(f"({pattern})" for _, _, pattern in _STYLES))
"""The first style that matches is the group that matched: one call instead of one for each."""

_CRASHES = (
    *("segmentation fault", "core dumped", "terminate called", "undefined reference to", "panicked at"),
    *("out of memory", "double free", "stack overflow"),
)
_CRASH = re.compile(r"\b\w+Sanitizer: |assertion .*\bfailed\b", re.IGNORECASE)
_LEVELS = ("ERROR", "FATAL", "CRITICAL", "SEVERE", "PANIC", "EMERG", "ALERT", "level", "severity", "lvl")
_LEVEL = re.compile(
    r"(?:^|[\s\[<|(\"=:])(?:ERROR|FATAL|CRITICAL|SEVERE|PANIC|EMERG|ALERT)(?=[\s\]>|):,\"]|$)"
    r"|\b(?:level|severity|lvl)\"?\s*[=:]\s*\"?(?:error|fatal|critical|panic)\b",
)
_TOOL_FAILED = re.compile(r"\s*(?:\S+: )?(?:fatal|error): ")
_HARMLESS_LEVEL = re.compile(r".{0,60}?(?:\b(?:INFO|DEBUG|TRACE|NOTICE)\b|\blevel\"?[=:]\"?(?:info|debug|trace)\b)")
_WORD = re.compile(
    r"(?<![\w./-])(?:errors?|fail(?:ed|ures?|s)?|fatal|exceptions?|panic(?:ked)?|abort(?:ed|ing)?|denied|killed"
    r"|timed out|not found|no such file|cannot|could not|unable to|exit(?:ed)? (?:with )?(?:code|status) [1-9]\d*)"
    r"(?![\w/-]|\.\w)|[✕✗✘✖]",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    r"\b(?:0|no|zero|without)\s+(?:\w+\s+)?(?:errors?|fail(?:ed|ures?)|exceptions?)\b"
    r"|\b(?:errors?|fail(?:ed|ures?)|exceptions?)\"?\s*[:=]\s*(?:0\b|none\b|null\b|false\b|\[\])",
    re.IGNORECASE,
)
_NEGATIONS = ("0", "no", "zero", "without", "null", "false", "[]")
_PASSES = ("PASS", "... ok", "✓", "✔", "= ")
_PASSED = re.compile(r"^=+ [A-Z]+ =+$|\bPASS(?:ED)?\b|\.\.\. ok$|[✓✔]")
_RESULT = re.compile(
    r"=+ .*\b(?:passed|failed|errors?|no tests ran)\b.* in [\d.:]+.*"
    r"|=+ short test summary info =+|(?:FAILED|ERROR) \S+\.py(?:::\S.*| - .*)?"
    r"|Tests?:\s.*\d|Test Suites:\s.*\d|(?:\[\w+\] )?Tests run: \d+, Failures: \d+(?!.*<<<).*"
    r"|test result: .*|test .+ \.\.\. FAILED|(?:FAIL)(?:\s+\S+.*)?|(?:\[INFO\] )?BUILD (?:FAIL|SUCCESS)\w*.*"
    r"|Finished: [A-Z]+|\s*\d+ (?:passing|failing)\b.*|Failures \d+ errors?.*|\d+ (?:errors?|warnings?)\b.* generated\."
    r"|error: (?:could not compile|aborting due).*|Ran \d+ tests? in .*|FAILED \((?:failures|errors)=.*"
    r"|FAILURE: Build failed.*|✖ \d+ problems?.*"
)
_OUTCOME = re.compile(r" (?:FAILED|ERROR)\s*\[ *\d+%\]$")  # of one test of pytest, behind its name


@dataclass(frozen=True, slots=True)
class _BlockStart:
    """The first line of a block."""

    style: str
    grade: int


def _block_start(text: str) -> _BlockStart | None:
    """The block that a line begins, told by its text without time and container; None where it begins none."""
    return _block_start_of(text[:_LOOKED_AT])


@lru_cache(maxsize=1024)
def _block_start_of(text: str) -> _BlockStart | None:
    """The same of a line that is cut; words are looked for before an expression that takes many times as long."""
    if _is_result(text):
        return _BlockStart("result", RESULT)
    found = _STYLE.match(text)
    if found and found.lastindex:
        style, grade, _ = _STYLES[found.lastindex - 1]
        return _BlockStart(style, grade)
    low = text.lower()
    if _holds(low, _CRASHES) or (("sanitizer: " in low or "assertion" in low) and _CRASH.search(text)):
        return _BlockStart("generic", CERTAIN)
    if (_holds(text, _LEVELS) and _LEVEL.search(text)) or _TOOL_FAILED.match(text):
        return _BlockStart("generic", LIKELY)
    if "warning: unused" in text or _HARMLESS_LEVEL.match(text) or (_holds(text, _PASSES) and _PASSED.search(text)):
        return None
    if _WORD.search(_NEGATED.sub("", text) if _holds(low, _NEGATIONS) else text):
        return _BlockStart("generic", POSSIBLE)
    return None


def _is_result(text: str) -> bool:
    return _RESULT.fullmatch(text) is not None or (text.endswith("%]") and _is_outcome(text))


def _is_outcome(text: str) -> bool:
    """Tells whether a line gives the outcome of a failed test: `file::name FAILED [ 12%]`."""
    found = _OUTCOME.search(text)
    if found is None or text[found.start() - 1].isspace():
        return False
    name = (text[: found.start()].split() or [""])[-1]
    return text.find("::", max(2, found.start() - len(name) + 1), found.start() - 1) > 0


def _holds(text: str, words: Sequence[str]) -> bool:
    return any(map(text.__contains__, words))


# --- what belongs to a line -------------------------------------------------------------------------------------------

_CONTINUED = re.compile(
    r"\s+\S|Caused by: |Suppressed: |\.{3} \d+ more|[\^~]|\d+\s*\||(?:\S+: )?(?:note|help): |\S+:\d+(?::\d+)?: note: "
)
_FRAME = re.compile(r"\d+\s|\s+[~^]")  # a line of code that TypeScript shows, and what it underlines
_JOINS = re.compile(r"(?:During handling of the above|The above exception was the direct cause)")
_NAMED = re.compile(r"(?:[\w$]+\.)*[A-Z][\w$]*(?:Exception|Error)\b")
_SECTION = re.compile(r"_{3,} .+ _{3,}$|={3,} .*={3,}$|={3,}$")
_JEST_END = re.compile(r"\s*● |(?:PASS|FAIL) |Test Suites:|Tests:|Summary of all")
_RUST_END = re.compile(r"---- .+ ----$|failures:$|test result:")
_GOROUTINE = re.compile(r"goroutine \d|\[signal|created by|panic:|exit status")
_COMPILED_FROM = re.compile(
    r"In file included from |\s+from \S.*[,:]$"
    r"|\S.*: (?:In|At) (?:\w+ )*(?:function|constructor|destructor|scope|method)"
)
_GO_MESSAGE = re.compile(r"\s+\S+\.go:\d+: |\s{8,}\S")
_TELLING = re.compile(
    r"E\s{2,}\S|\S+\.\w+:\d+: \w|>\s{2,}\S|\s*Caused by: |.*panicked at"
    r"|\s*(?:Expected|Received|expected|actual|got|want)\b|\s*(?:left|right): |.*\berror\b|\s+\S+\.go:\d+: "
    r"|(?:[\w$]+\.)*[A-Z][\w$]*(?:Exception|Error)\b"
)


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
    if style == "traceback":
        return _traceback_end(bodies, start, limit)
    if style == "pytest":
        return _while(bodies, start + 1, limit, lambda text: not _SECTION.match(text))
    if style == "jest":
        return _while(bodies, start + 1, limit, lambda text: not _JEST_END.match(text))
    if style == "rust test":
        return _while(bodies, start + 1, limit, lambda text: not _RUST_END.match(text))
    if style in ("npm", "result"):
        return _while(bodies, start + 1, limit, lambda text: (head := _block_start(text)) and head.style == style)
    if style == "gradle":
        return _while(bodies, start + 1, limit, str.strip)
    if style == "cmake":
        end = _while(bodies, start + 1, limit, lambda text: not text.strip() or text.startswith(" "))
        return _without_blank(bodies, start, end)
    if style == "panic":
        end = _while(bodies, start + 1, limit, _goes_on)
        while end + 1 < limit and _GOROUTINE.match(bodies[end + 1]):
            end = _while(bodies, end + 1, limit, _goes_on)
        return end
    end = _while(bodies, start + 1, limit, _CONTINUED.match)
    if style == "compiler" and end + 1 < limit and not bodies[end].strip() and _FRAME.match(bodies[end + 1]):
        end = _while(bodies, end + 1, limit, _FRAME.match)
    if style == "generic" and end < limit:  # the stack of what was logged
        if "Traceback (most recent" in bodies[end]:
            return _traceback_end(bodies, end, limit)
        if _NAMED.match(bodies[end]):
            return _while(bodies, end + 1, limit, _CONTINUED.match)
    return end


def _goes_on(text: str) -> bool:
    return bool(text.strip()) and not _is_result(text)


def _traceback_end(bodies: _Bodies, start: int, limit: int) -> int:
    indent = len(bodies[start]) - len(bodies[start].lstrip())

    def inside(text: str) -> bool:
        return len(text) - len(text.lstrip()) > indent

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
    belongs = {"compiler": _COMPILED_FROM, "go test": _GO_MESSAGE}.get(style)
    floor = max(floor, start - _LOOK_BACK)
    while belongs is not None and start > floor and belongs.match(bodies[start - 1]):
        start -= 1
    return start


# --- the blocks of a log ----------------------------------------------------------------------------------------------


def find_blocks(lines: Sequence[str], progress: Progress) -> Failures:
    """The blocks of a log. Of each sort a limited number is told apart: the first errors, the last results."""
    bodies = _Bodies(lines)
    found: list[Block] = []
    repeated: dict[int, int] = {}
    known: dict[str, int] = {}
    times: dict[int, int] = {}
    counts = {"error": 0, "repeat": 0}
    further = floor = 0
    for number in _candidates(lines, progress):
        if number < floor:
            continue
        head = _block_start(bodies[number])
        if head is None:
            continue
        end = _without_blank(bodies, number, _end(bodies, number, head.style))
        start = _start(bodies, number, floor, head.style)
        floor = end
        if head.grade == RESULT:
            found.append(Block(start, end, RESULT, (start,)))
            continue
        telling = _telling(bodies, number, end, head.style)
        said = _said(bodies, number, end, head.style)
        first = known.setdefault(said, start)
        times[first] = times.get(first, 0) + 1
        sort = "error" if first == start else "repeat"
        counts[sort] += 1
        if sort == "repeat":
            repeated.update(dict.fromkeys(range(start, end), first))
        elif counts[sort] > _MOST:
            further += 1
        if counts[sort] <= _MOST:
            found.append(Block(start, end, head.grade, telling, None if sort == "error" else first))
    results = [block for block in found if block.grade == RESULT]
    if len(results) > _MOST:
        early = {block.start for block in results[:-_MOST]}
        found = [block for block in found if block.start not in early]
    return Failures(tuple(found), repeated, times, further)


def _candidates(lines: Sequence[str], progress: Progress) -> Iterator[int]:
    """Lines that hold a sign. Searching text in slices is many times faster than lines one by one."""
    for first in range(0, len(lines), SLICE):
        progress("searching", first, len(lines))
        part = [line.lower() for line in lines[first : first + SLICE]]
        text = "\n".join(part)
        signs = [sign for sign in _SIGNS if sign in text]
        if signs:
            pattern = re.compile("|".join(map(re.escape, signs)))
            yield from (first + place for place, line in enumerate(part) if pattern.search(line))


def _telling(bodies: _Bodies, head: int, end: int, style: str) -> tuple[int, ...]:
    lines = [head, *(number for number in range(head + 1, end) if _TELLING.match(bodies[number]))]
    if style == "traceback":  # what was raised, and where
        lines[1:1] = range(max(head + 1, end - 3), end)
    return tuple(dict.fromkeys(lines))[:_TELLING_LINES]


def _said(bodies: _Bodies, head: int, end: int, style: str) -> str:
    """The message of a block, without what varies: two of which it is equal report one error."""
    if style == "traceback":
        return template(bodies[end - 1])
    if style == "pytest":
        told = [text for number in range(head, end) if (text := bodies[number]).startswith("E  ")]
        place = next((text for number in range(end - 1, head, -1) if (text := bodies[number])[:1].isalnum()), "")
        return template(told[0]) + place if told else bodies[head]
    return template(bodies[head])
