"""Names the regular expressions of the program whose time grows faster than the text that they read.

    python tests/benchmarks/patterns.py              every pattern with its worst ratio; exit code 1 if one is above 3
    python tests/benchmarks/patterns.py kinds.log    those of modules whose name this expression finds

Patterns are found in the variables of all modules, and in what these hold. Each is given, behind every beginning that
the pattern itself suggests, words of 10,000 and of 20,000 characters. It is called as its package calls it. Processor
time, best of five. A pattern in BOUNDED is named with its bound and does not count.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from inspect import getsource
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

PACKAGES = ("secateur", "secateur_agents", "secateur_lab", "secateur_pytest", "secateur_tui")
WORDS = (*"aA1 /.-_:=,\"'`<[({#*\n\\", "aB", "a.", "a ", "a/", "a-", "a:", "()", "[]", "a\n")
SIZE, LARGEST_RATIO, TIMES, FIRST_LOOK = 10_000, 3.0, 5, 2_000
CHEAP = 0.0004
"""Seconds for FIRST_LOOK characters that no pattern with a quadratic part keeps to."""

METHODS = ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split")
BOUNDED = {
    "secateur.history._REFERENCE": "2,000 characters of a message",
    "secateur.encodings._CHARSET": "the first 1,024 bytes",
    "secateur.kinds.conversation.extractive_summaries": "lines of 2,000 characters",
    "secateur.kinds.diff.diff_parser._BINARY": "lines that end as it does",
    "secateur.kinds.diff.diff_parser._SUBMODULE": "single lines",
    "secateur.kinds.log.failures": "lines of 2,000 characters",
    "secateur.kinds.log.kind._RULES": "lines of 2,000 characters",
    "secateur.kinds.log.lines._LABELS": "called by match alone, once for each line",
    "secateur.kinds.log.levels": "lines of 2,000 characters",
    "secateur.languages.c._CREATED_TYPE": "values of 200 characters",
    "secateur.languages.syntax.blocks._CONTINUES": "the first 200 characters of a line",
    "secateur.languages.syntax.blocks._CONTROL": "the first 200 characters of a line",
    "secateur.languages.syntax.blocks._DEFINES": "the first 200 characters of a line",
    "secateur.languages.syntax.blocks._DATA": "the first 200 characters of a line",
    "secateur.languages.syntax.blocks._EXPRESSION": "2,000 characters of a line",
    "secateur.languages.syntax.blocks._SELF": "the first 200 characters of a line",
    "secateur.languages.syntax.text._CLOSING": "lines of 200 characters",
    "secateur.languages.syntax.grammar._COMMENT": "up to the last end of a comment",
    "secateur.languages.syntax.file_flags._LOWER": "names of files, by fullmatch alone",
    "secateur.languages.syntax.file_flags._RECORDED_PATH": "the last characters of a path",
    "secateur.languages.syntax.file_flags._RECORDED_HEAD": "the first bytes of a file",
    "secateur.languages.syntax.file_flags._COMMENT": "called by match alone",
    "secateur.languages.syntax.fragments._CHANGE": "the first 600 characters of a statement",
    "secateur.languages.syntax.file_flags._GENERATED_MARK": "the first lines of a file",
    "secateur.languages.syntax.partition._INTRODUCTION": "200 characters",
    "secateur.redaction.scanning._STRING": "valid JSON, in which every text ends",
    "secateur.retrieval.evidence.collect._PLACEHOLDER": "texts of 400 characters",
    "secateur.retrieval.evidence.collect._LITERAL": "fragments of 6,000 tokens",
    "secateur.retrieval.query": "lines of 400 characters",
    "secateur.retrieval.query_kind": "queries of 200 characters",
    "secateur_lab.scenarios.toml_writing._STRING": "called by match alone, once for each string",
    "secateur_tui.host._WEB_FONT": "a picture that the program made",
}
"""Places, or modules, whose patterns read less, or are called otherwise, than is measured."""


def find_patterns(part: str) -> Iterator[tuple[str, re.Pattern[Any], set[str]]]:
    """Yields each pattern with its place and the methods that its package calls on it."""
    modules = []
    for package in PACKAGES:
        for info in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            if not info.name.endswith("__main__") and ".windows" not in info.name:
                with suppress(ImportError):  # an extra that is not installed
                    modules.append(importlib.import_module(info.name))
    sources = {module.__name__: getsource(module) for module in modules}
    seen: set[int] = set()
    for module in modules:
        package = module.__name__.rpartition(".")[0]
        source = "\n".join(text for name, text in sources.items() if name.rpartition(".")[0] == package)
        for name, value in vars(module).items():
            for pattern in collect_patterns(value, seen):
                called = rf"\b{re.escape(name)}\b[\w\])]*\.({'|'.join(METHODS)})\b"
                if re.search(part, module.__name__):
                    yield f"{module.__name__}.{name}", pattern, {*re.findall(called, source)} or {"match", "finditer"}


def collect_patterns(value: Any, seen: set[int]) -> Iterator[re.Pattern[Any]]:
    """Yields the patterns in a value: of containers, of fields, and of bound methods."""
    if id(value) in seen or isinstance(value, str | bytes | int | float):
        return
    if isinstance(value, re.Pattern):
        seen.add(id(value))
        yield value
    elif isinstance(getattr(value, "__self__", None), re.Pattern):
        yield from collect_patterns(value.__self__, seen)
    elif isinstance(value, dict | tuple | list | set | frozenset):
        for item in (*value.keys(), *value.values()) if isinstance(value, dict) else value:
            yield from collect_patterns(item, seen)
    elif type(value).__module__.startswith(PACKAGES):
        fields = getattr(value, "__struct_fields__", None) or getattr(value, "__dataclass_fields__", ())
        for field in fields:
            yield from collect_patterns(getattr(value, field, None), seen)


def spell(items: Iterable[tuple[Any, Any]], begun: str, beginnings: set[str]) -> str:
    """Returns a short text that the items match behind `begun`; adds what comes before each repeat and choice."""
    for operator, given in items:
        if operator is not codes.LITERAL:
            beginnings.add(begun)
        if operator in (codes.LITERAL, codes.NOT_LITERAL, codes.ANY, codes.IN):
            begun += find_member(given if operator is codes.IN else [(operator, given)])
        elif operator in (codes.SUBPATTERN, codes.ATOMIC_GROUP):
            begun = spell(given[-1] if operator is codes.SUBPATTERN else given, begun, beginnings)
        elif operator is codes.BRANCH:
            begun = min((spell(branch, begun, beginnings) for branch in given[1]), key=len)
        elif operator in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            once = spell(given[2], begun, beginnings)
            begun += once[len(begun) :] * given[0]
        elif operator in (codes.ASSERT, codes.ASSERT_NOT):
            spell(given[1], begun, beginnings)
    beginnings.add(begun)
    return begun


def find_member(members: list[tuple[Any, Any]]) -> str:
    """Returns a character of a class."""
    written = [chr(v if op is codes.LITERAL else v[0]) for op, v in members if op in (codes.LITERAL, codes.RANGE)]
    if members[0][0] in (codes.NEGATE, codes.NOT_LITERAL, codes.ANY):
        return "-" if "a" in written or (codes.CATEGORY, codes.CATEGORY_WORD) in members else "a"
    kinds = {codes.CATEGORY_DIGIT: "1", codes.CATEGORY_SPACE: " ", codes.CATEGORY_NOT_WORD: "-"}
    return written[0] if written else kinds.get(members[0][1], "a")


def measure(pattern: re.Pattern[Any], method: str, text: str) -> float:
    """Returns the processor seconds of one call."""
    given = text.encode() if isinstance(pattern.pattern, bytes) else text
    start = time.process_time()
    if method in ("search", "match", "fullmatch"):
        getattr(pattern, method)(given)
    else:
        for _ in pattern.finditer(given):
            pass
    return time.process_time() - start


def find_worst(pattern: re.Pattern[Any], methods: set[str], bounded: bool) -> tuple[float, str]:
    """Returns the largest ratio, and the word that has it. `bounded`: the ratio does not count."""
    beginnings = {""}
    spell(parser.parse(pattern.pattern, pattern.flags), "", beginnings)
    worst = (0.0, "")
    for method in {"finditer" if method in METHODS[4:] else method for method in methods}:
        cases = [
            (begun, word, end) for begun in sorted(beginnings) for word in (*WORDS, begun or "a") for end in ("", "!")
        ]
        for begun, word, end in cases:

            def best(
                size: int, times: int = 1 if bounded else TIMES, case: tuple[str, str, str] = (begun, word, end)
            ) -> float:
                text = case[0] + (case[1] * (size // len(case[1]) + 1))[:size] + case[2]
                return min(measure(pattern, method, text) for _ in range(times))  # noqa: B023 - called at once

            if best(FIRST_LOOK, 1) < CHEAP:
                continue
            if (least := best(SIZE)) > TIMES * CHEAP:
                twice = best(2 * SIZE)
                ratio = twice / least
                if ratio > LARGEST_RATIO and not bounded:  # seen again at twice the size, it is no noise
                    ratio = min(ratio, best(4 * SIZE) / twice)
                worst = max(worst, (ratio, f"{method} {begun[:50]!r} + {word[:50]!r} * n + {end!r}"))
                if ratio > LARGEST_RATIO:
                    return worst
    return worst


def main(part: str = "") -> int:
    """Prints each pattern; 1 if one grows too fast."""
    named = 0
    for place, pattern, methods in find_patterns(part):
        bound = BOUNDED.get(place) or BOUNDED.get(place.rpartition(".")[0], "")
        ratio, case = find_worst(pattern, methods, bool(bound))
        named += ratio > LARGEST_RATIO and not bound
        print(f"{ratio:5.1f} {place} {case if ratio > LARGEST_RATIO else ''} {bound}", flush=True)
    return 1 if named else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
