"""Grammars, loaded at first use and once per process, and parsing within bounds.

Parsing and querying are bounded by counted steps, so that the same file gives the same result on every machine. A time
limit is the last resort: no source written by people or generators comes near it.
"""

from __future__ import annotations

import importlib
import os
import re
import signal
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from secateur.languages import traits_of
from secateur.languages.syntax.collector import TITLE, Captures, Collector, Definition, last_row
from secateur.languages.syntax.names import read_receiver, read_type_name
from secateur.languages.traits import LanguageTraits
from secateur.model import FragmentKind

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Point, Query, Tree


_QUERIES = Path(__file__).parent.parent / "queries"

_CHUNK = 65536  # bytes given to the parser at a time

# The parser reports once per hundred operations: sources of every language measured below 0.02 reports a byte, dense
# one-letter code up to 0.12.
_STEPS_PER_BYTE = 0.25

_STEPS_AT_LEAST = 2000  # reports that every file may use, about 0.2 s at worst
_ERROR_STEPS = 10  # steps per report while the parser recovers from an error: those steps cost ten times as much

# Levels of a tree that are examined: a query costs nodes times depth. Code written by people stays below 100.
_DEEPEST = 1000

_MANY_NODES = 2000  # subtrees with fewer nodes are not examined: they cannot contain a significant run

# Most steps that a query may spend on runs of unnamed tokens, about 0.3 s: a run of 20,000 unclosed brackets.
_RUN_STEPS = 200_000_000

# Processor time after which a parse is given up, whatever its steps: recovery from some errors takes longer each time,
# and 100 MB more each second. Readable sources take less than a sixth of that, usual ones a hundredth.
PARSE_SECONDS = 3.0
PARSE_SECONDS_PER_BYTE = 3e-6

# Larger files are cut into blocks without parsing: nobody writes them by hand, and a tree takes about twenty times the
# size of its source.
MAX_PARSE_BYTES = 8 * 1024 * 1024

# Scripts with longer average lines were written by a tool: their names mean nothing, and their lines cannot be
# selected.
MINIFIED_BYTES_A_LINE = 500

_LONG_STRETCH = 2000  # bytes without a bracket, comma or semicolon above which operators are counted
_MOST_OPERATORS = 600  # most operators in such a stretch; the parser then takes about 180 MB at worst

_ENDS = bytes.maketrans(b"{},()[]", b";;;;;;;")
_OPENING, _CLOSING = (b"(", b"[", b"{"), (b")", b"]", b"}")
_OPERATOR = re.compile(rb"\w\s*[^\w\s]")
_COMMENT = re.compile(rb"/\*.*?\*/", re.DOTALL)


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


@cache
def load(language: str) -> LoadedGrammar:
    """Loads the parser and query of a language. Raises `GrammarMissing`."""
    traits = traits_of(language)
    grammar = traits.grammar
    assert grammar is not None
    reader = importlib.import_module(grammar.reader)
    try:
        from tree_sitter import Language, Query

        tree_sitter_language = Language(getattr(importlib.import_module(grammar.wheel), grammar.entry)())
        names = (grammar.queries or language).split()
        query = Query(tree_sitter_language, "".join((_QUERIES / f"{name}.scm").read_text("utf-8") for name in names))
        read, prepare = getattr(reader, "read", read_by_names), getattr(reader, "prepare", None)
        return LoadedGrammar(traits, tree_sitter_language, query, read, getattr(reader, "READS_CALLS", False), prepare)
    except (ImportError, AttributeError, ValueError, OSError) as error:
        raise GrammarMissing(language) from error


def parse(loaded: LoadedGrammar, source: bytes, clock: Callable[[], float] = time.thread_time) -> Tree:
    """Parses `source`. `clock`: processor time of a thread in seconds. Raises `ParseStopped`.

    Ctrl-C ends the call at once. The parser runs outside the main thread, so that no signal raises an error inside its
    callbacks: the binding would lose the error or end the process. If Ctrl-C is ignored, it runs in this thread.
    """
    if is_endless(source, loaded.traits):
        raise ParseStopped
    given_up = threading.Event()
    # SIGINT is ignored in the processes that extract files.
    is_ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if threading.current_thread() is not threading.main_thread() or is_ignored:
        return _parse(loaded, source, clock, given_up)
    parsing = _start_parser_thread(os.getpid()).submit(_parse, loaded, source, clock, given_up)
    try:
        return parsing.result()
    finally:
        given_up.set()


def is_endless(source: bytes, traits: LanguageTraits) -> bool:
    """True if parsing `source` could exhaust memory because of an expression that never ends. Comments and strings do
    not count as operators.

    If such an expression ends in an error, tree-sitter's recovery takes memory quadratic in its length, in one step
    that no callback can stop: 9 KB of `x=>` took 3 GB in Java and C, as did `a=*` in TypeScript; 8 KB of `a/*` took
    0.9 GB in Python. Code written by people stays far below the limit.
    """
    if traits.silent is None or not _find_stretches(source):
        return False
    if traits.lines_end_statements:
        depth, parts = 0, list[bytes]()
        for line in traits.silent.sub(b"", source).split(b"\n"):
            depth = max(0, depth + sum(map(line.count, _OPENING)) - sum(map(line.count, _CLOSING)))
            parts += (line, b"\n" if depth or line.endswith(b"\\") else b";")
        code = b"".join(parts)
    else:
        # The parser ignores a comment that is never closed, and searching for its end each time would be slow.
        end = source.rfind(b"*/") + 2 if b"*/" in source else 0
        code = traits.silent.sub(b"", _COMMENT.sub(b"", source[:end]) + source[end:])
    return any(len(_OPERATOR.findall(stretch)) > _MOST_OPERATORS for stretch in _find_stretches(code))


def _find_stretches(source: bytes) -> list[bytes]:
    return [stretch for stretch in source.translate(_ENDS).split(b";") if len(stretch) > _LONG_STRETCH]


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
    nodes_by_name: Captures = defaultdict(list)
    for _, match in cursor.matches(root):
        for name, nodes in match.items():
            nodes_by_name[name] += nodes
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


def read_tree(language: str, source: bytes) -> tuple[Collector, Captures, bytes]:
    """Returns what the grammar of a language reads in a source, the nodes of its query, and the bytes that were parsed.

    Raises `GrammarMissing` and `ParseStopped`.
    """
    loaded = load(language)
    parsed = loaded.prepare(source, language) if loaded.prepare is not None else source
    root = parse(loaded, parsed).root_node
    nodes = query_nodes(loaded, root)
    out = Collector(source, has_error=root.has_error)
    names = {node.id for node in nodes.get("name", ())}  # in `def f(x) do` the grammar sees a call of `f`
    for node in nodes.get("call", ()) if not loaded.reads_calls else ():
        if node.id not in names:
            out.calls.append((node.start_point.row, out.text(node), read_receiver(source, node.start_byte)))
    loaded.read(nodes, out)
    out.branches = [node.start_point.row for node in nodes.get("branch", ())]
    return out, nodes, parsed


_DOTTED = re.compile(r"[^\W\d]\w*(?:[.:][^\W\d]\w*)+")
_DOTS = re.compile(r"[.:]")
_LEVELS = 8  # most levels of a tree between a name and its class or statement


def read_by_names(captures: Captures, out: Collector) -> None:
    """Reads a language that only has a query, with these capture names:

    - `class`, `function`: definitions; a function inside a class is a method
    - `name`: the name of the enclosing definition, if the grammar has no field `name`. If there are several, or one
      with dots such as `M.total`, the last part is the name and the parts before it are the owner
    - `body`: the body of a definition, if the grammar has no field `body`; it lies inside the definition or follows it
    - `title`: a text that names the enclosing definition; calls never use it
    - `base`: a name from which the surrounding class inherits
    - `package`: the package that the file declares
    - `import`: an import statement. Inside it, `import.path` are the segments of a path; then `import.name` is a name
      taken from there, with `import.alias` after it if the file uses another name, or `import.star` stands for all
      names; with none of these, the last segment is imported
    - `call`, `branch`, `note`: as in every query
    """
    kinds = ((FragmentKind.CLASS, "class"), (FragmentKind.FUNCTION, "function"))
    nodes = {node.id: (node, kind) for kind, capture in kinds for node in captures.get(capture, ())}
    texts: dict[str, dict[int, list[str]]] = {"name": {}, "title": {}}
    for capture, by_holder in texts.items():
        for node in captures.get(capture, ()):
            if (holder := _find_outer(node.parent, nodes)) is not None:
                by_holder.setdefault(holder.id, []).append(out.text(node))
    names, titles = texts["name"], {holder_id: found[0] for holder_id, found in texts["title"].items()}
    behind: dict[int, Node] = {}
    inside: dict[int, Node] = {}
    for node in captures.get("body", ()):
        if (before := node.prev_named_sibling) is not None and before.id in nodes:
            behind[before.id] = node
        elif (holder := _find_outer(node.parent, nodes)) is not None:
            inside.setdefault(holder.id, node)
    classes: dict[int, Definition] = {}
    for node, kind in nodes.values():
        parts = names.get(node.id) or [titles.get(node.id) or out.field_text(node, "name")]
        if _DOTTED.fullmatch(parts[-1]):
            parts = [*parts[:-1], *_DOTS.split(parts[-1])]
        definition = out.define(node, kind, parts[-1], owner=".".join(parts[:-1]), body=inside.get(node.id))
        if node.id in titles:
            out.declare(node, TITLE, titles[node.id])
        if (body := behind.get(node.id)) is not None:
            definition.end, definition.last = body.end_byte, last_row(body)
        if kind is FragmentKind.CLASS:
            classes[node.id] = definition
    for node in captures.get("base", ()):
        if (holder := _find_outer(node, classes)) is not None:
            out.add_base(classes[holder.id], read_type_name(out.text(node)))
    for node in captures.get("package", ()):
        out.package = ".".join(filter(None, (out.package, out.text(node))))
    _read_imports(captures, out)


def _read_imports(captures: Captures, out: Collector) -> None:
    statements = {node.id: node for node in captures.get("import", ())}
    parts: dict[int, list[tuple[int, str, str]]] = {node_id: [] for node_id in statements}  # byte, role, text
    for role in ("path", "name", "alias", "star"):
        for node in captures.get(f"import.{role}", ()):
            if (holder := _find_outer(node, statements)) is not None:
                follows_comma = node.prev_sibling is not None and node.prev_sibling.type == ","
                role_here = "next path" if role == "path" and follows_comma else role
                parts[holder.id].append((node.start_byte, role_here, out.text(node)))
    for node_id, node in statements.items():
        out.mark_import(node)
        for path, name, local in _split_imports(sorted(parts[node_id])):
            out.add_import(node, local, path, name)


def _split_imports(parts: list[tuple[int, str, str]]) -> Iterator[tuple[str, str, str]]:
    """Yields (path, name, name in the file) of everything that a statement imports; the name "*" means everything."""
    path: list[str] = []
    named: list[tuple[str, str]] = []
    for _, role, text in [*parts, (0, "next path", "")]:
        if role == "next path":
            for name, local in named or [(path[-1], path[-1])] if path else []:
                yield ".".join(path if named else path[:-1]), name, local
            path, named = [text], []
        elif role == "path":
            path.append(text)
        elif role == "alias":
            named[-1] = named[-1][0], text
        else:
            named.append(("*", "") if role == "star" else (text, text))


def _find_outer(node: Node | None, known: Collection[int]) -> Node | None:
    """Returns the nearest node around `node`, or itself, whose id is one of `known`."""
    current = node
    for _ in range(_LEVELS):
        if current is None or current.id in known:
            return current
        current = current.parent
    return None
