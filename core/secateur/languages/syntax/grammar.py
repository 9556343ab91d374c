"""Grammars, loaded at first use and once per process, and parsing within bounds.

Parsing and querying are bounded by counted steps, so that the same file gives the same result on every machine. A time
limit is the last resort: no source written by people or generators comes near it.
"""

from __future__ import annotations

import importlib
import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from secateur.languages import traits_of
from secateur.languages.syntax.by_names import read_by_names
from secateur.languages.syntax.collector import Captures, Collector
from secateur.languages.syntax.endless import is_endless
from secateur.languages.traits import LanguageTraits

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Point, Query, Tree

_QUERIES = Path(__file__).parent.parent / "queries"

_CHUNK = 65536
"""Bytes given to the parser at a time."""

_STEPS_PER_BYTE = 0.25
"""The parser reports once per hundred operations: sources of every language measured below 0.02 reports a byte, dense
one-letter code up to 0.12."""

_STEPS_AT_LEAST = 2000
"""Reports that every file may use, about 0.2 s at worst."""

_ERROR_STEPS = 10
"""Steps per report while the parser recovers from an error: those steps cost ten times as much."""

_DEEPEST = 1000
"""Levels of a tree that are examined: a query costs nodes times depth. Code written by people stays below 100."""

_MANY_NODES = 2000
"""Subtrees with fewer nodes are not examined: they cannot contain a significant run."""

_RUN_STEPS = 200_000_000
"""Most steps that a query may spend on runs of unnamed tokens, about 0.3 s: a run of 20,000 unclosed brackets."""

PARSE_SECONDS = 3.0
PARSE_SECONDS_PER_BYTE = 3e-6
"""Processor time after which a parse is given up, whatever its steps: recovery from some errors takes longer each time,
and 100 MB more each second. Readable sources take less than a sixth of that, usual ones a hundredth."""

MAX_PARSE_BYTES = 8 * 1024 * 1024
"""Larger files are cut into blocks without parsing: nobody writes them by hand, and a tree takes about twenty times the
size of its source."""


class GrammarMissing(Exception):
    """The wheel of a language cannot be imported or does not fit the installed tree-sitter."""


class ParseStopped(Exception):
    """The parser needs, or would need, more steps or memory than a file of that size may use."""


class LoadedGrammar(Struct, frozen=True):
    """A grammar ready to parse."""

    traits: LanguageTraits
    language: Language
    query: Query
    read: Callable[[Captures, Collector], None]
    reads_calls: bool
    prepare: Callable[[bytes, str], bytes] | None
    """Converts a source of a language for the parser; every byte keeps its position."""


def load(language: str) -> LoadedGrammar:
    """Loads the parser and query of a language. Raises `GrammarMissing`."""
    loaded = _load(language)
    if loaded is None:
        raise GrammarMissing(language)
    return loaded


@cache
def _load(language: str) -> LoadedGrammar | None:
    traits = traits_of(language)
    grammar = traits.grammar
    assert grammar is not None
    reader = importlib.import_module(grammar.reader)
    try:
        from tree_sitter import Language, Query

        wheel = importlib.import_module(grammar.wheel)
        tree_sitter_language = Language(getattr(wheel, grammar.entry)())
        query = Query(tree_sitter_language, _read_query(grammar.queries or language))
        read = getattr(reader, "read", read_by_names)
        return LoadedGrammar(
            traits,
            tree_sitter_language,
            query,
            read,
            getattr(reader, "READS_CALLS", False),
            getattr(reader, "prepare", None),
        )
    except (ImportError, AttributeError, ValueError, OSError):
        return None


def _read_query(names: str) -> str:
    return "".join((_QUERIES / f"{name}.scm").read_text("utf-8") for name in names.split())


def parse(loaded: LoadedGrammar, source: bytes, clock: Callable[[], float] = time.thread_time) -> Tree:
    """Parses `source`. `clock`: processor time of a thread in seconds. Raises `ParseStopped`.

    Ctrl-C ends the call at once. The parser runs outside the main thread, so that no signal raises an error inside its
    callbacks: the binding would lose the error or end the process. If Ctrl-C is ignored, it runs in this thread.
    """
    if is_endless(source, loaded.traits):
        raise ParseStopped
    given_up = threading.Event()
    if threading.current_thread() is not threading.main_thread() or _cannot_be_interrupted():
        return _parse(loaded, source, clock, given_up)
    parsing = _start_parser_thread(os.getpid()).submit(_parse, loaded, source, clock, given_up)
    try:
        return parsing.result()
    finally:
        given_up.set()


def _cannot_be_interrupted() -> bool:
    """Tells whether no terminal signal raises an error here, as in the processes that extract files."""
    return signal.getsignal(signal.SIGINT) is signal.SIG_IGN


@cache
def _start_parser_thread(_process: int) -> ThreadPoolExecutor:
    """Returns the thread that parses for the main one; a forked process has its own."""
    return ThreadPoolExecutor(1, thread_name_prefix="secateur-parser")


def _parse(loaded: LoadedGrammar, source: bytes, clock: Callable[[], float], given_up: threading.Event) -> Tree:
    from tree_sitter import Parser

    end = clock() + PARSE_SECONDS + PARSE_SECONDS_PER_BYTE * len(source)
    steps = _STEPS_AT_LEAST + int(len(source) * _STEPS_PER_BYTE)

    def read(offset: int, _point: Point) -> bytes:
        return source[offset : offset + _CHUNK]

    def stop(_offset: int, has_error: bool) -> bool:
        nonlocal steps
        steps -= _ERROR_STEPS if has_error else 1
        return steps < 0 or clock() > end or given_up.is_set()

    try:
        # Uses its own parser: the callbacks let other threads run during a parse.
        return Parser(loaded.language).parse(read, progress_callback=stop)
    except ValueError as error:  # the binding raises it if the callback stopped the parse
        raise ParseStopped from error


def query_nodes(loaded: LoadedGrammar, root: Node) -> Captures:
    """Returns the nodes of the tree by capture name, in the order in which their patterns end. Raises
    `ParseStopped`.

    `QueryCursor.captures` would give the same as a dictionary, but in an order that depends on addresses. The cursor
    gets no progress callback, because it crashes if one raises, and Ctrl-C can make any Python function raise. So its
    work is limited before it starts.
    """
    if _count_run_steps(root) > _RUN_STEPS:
        raise ParseStopped
    from tree_sitter import QueryCursor

    cursor = QueryCursor(loaded.query)
    cursor.set_max_start_depth(_DEEPEST)
    nodes_by_name: Captures = {}
    for _, match in cursor.matches(root):
        for name, nodes in match.items():
            if name in nodes_by_name:
                nodes_by_name[name] += nodes
            else:
                nodes_by_name[name] = nodes
    return nodes_by_name


def _count_run_steps(root: Node) -> int:
    """Returns the steps that a query spends on unnamed tokens. From each it searches for the next named sibling, so a
    run takes quadratic time.

    Stops counting above `_RUN_STEPS`. Only nodes with many descendants are examined, so the time is linear and usually
    negligible.
    """
    steps = 0
    waiting = [root]
    while waiting and steps <= _RUN_STEPS:
        node = waiting.pop()
        if node.descendant_count < _MANY_NODES:
            continue
        run = 0
        for child in node.children:
            run = 0 if child.is_named else run + 1
            steps += run
            if child.child_count:
                waiting.append(child)
    return steps
