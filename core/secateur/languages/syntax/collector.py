"""Collects the facts that a language module reads from one tree. Positions are rows (from 0) and bytes.

A `Definition` has a body: it becomes a fragment, a container of fragments, or only a scope, as `partition.py` decides.
Calls, bases and annotations have a row; `partition.py` finds the fragment that contains it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field

from secateur.languages.syntax.names import read_type_name
from secateur.model import FragmentKind, Import

if TYPE_CHECKING:
    from tree_sitter import Node

Captures = dict[str, "list[Node]"]

ALWAYS = 0  # `opens_at` of classes and namespaces: inner definitions are always separate fragments

# A function with more lines that mostly holds other functions (a factory, a module wrapper) is a container of
# fragments.
LONG_FUNCTION = 150

# The same for a function without a name: an immediately invoked wrapper, a callback that holds a module.
LONG_WRAPPER = 30

LONG_OBJECT = 15  # the methods of longer object literals become fragments
NAME_LENGTH = 120  # most characters of a name; titles of tests and C declarators can be arbitrarily long
IMPLEMENTED = "<>"  # annotation of a fragment that is an `impl` block; its type is the path of the type it is for

# Annotation of a fragment that is named by a title, which is the annotation's type; calls never use titles.
TITLE = "#title"


class Definition(Struct):
    """A definition or scope in a tree. `kind` None: a scope whose own lines belong to the definition around it."""

    kind: FragmentKind | None
    name: str  # "" for scopes that add nothing to qualified names
    start: int  # bytes, decorators and wrappers included
    end: int
    first: int  # rows
    last: int
    sig_first: int
    sig_last: int
    opens_at: int  # if it has more lines, inner definitions become fragments
    owner: str = ""  # its type, if it is defined outside of the type: "Cart" of Go's `func (c *Cart) Total`
    methods: bool = False  # functions right inside it are methods
    is_text: bool = False  # it adds nothing to the qualified names of what is inside
    parent: int = -1  # the rest is filled in by partition.py
    qualname: str = ""
    inner_rows: int = 0
    depth: int = 0
    open: bool = False


class Collector(Struct):
    """Gathers the facts of one file. Positions in `Node`s refer to `source`."""

    source: bytes
    definitions: list[Definition] = field(default_factory=list)
    calls: list[tuple[int, str, str]] = field(default_factory=list)  # row, name, receiver
    branches: list[int] = field(default_factory=list)  # rows of decision points
    overloaded_calls: list[tuple[int, str, str, str]] = field(default_factory=list)  # the same and the arguments
    imports: list[tuple[int, Import]] = field(default_factory=list)  # row, import
    import_rows: list[tuple[int, int]] = field(default_factory=list)  # first and last row of each import statement
    bases: list[tuple[int, str]] = field(default_factory=list)  # row of the declaration, name
    annotations: list[tuple[int, str, str]] = field(default_factory=list)  # row, name, type
    package: str = ""
    has_error: bool = False  # some of the source is not understood
    exports_imports: bool = False  # other files can import this file's imports (Python)
    wrapped: dict[int, Node] = field(default_factory=dict)  # id of a declaration → its decorated or exported statement

    def text(self, node: Node | None) -> str:
        """Returns the source text of `node`; "" for None."""
        if node is None:
            return ""
        return self.source[node.start_byte : node.end_byte].decode("utf-8", errors="replace")

    def field_text(self, node: Node, name: str) -> str:
        """Returns the source text of a field of `node`; "" if it has none."""
        return self.text(node.child_by_field_name(name))

    def define(
        self,
        node: Node,
        kind: FragmentKind | None,
        name: str,
        *,
        body: Node | None = None,
        outer: Node | None = None,
        owner: str = "",
        opens_at: int | None = None,
        methods: bool | None = None,
        sig_end: Node | None = None,
    ) -> Definition:
        """Adds a definition. `outer` is the statement whose value it is; decorators and `export` around it come from
        `wrapped`.

        The signature runs from the declaration to the last token before `body` (or to the end of `sig_end`).
        """
        declaration = whole = outer or node
        while whole.id in self.wrapped:
            whole = self.wrapped[whole.id]
        first, last = whole.start_point.row, last_row(whole)
        sig_first = _find_declaration_row(declaration)
        body = body or node.child_by_field_name("body")
        if sig_end is None and body is not None:
            sig_end = body.prev_sibling
            while sig_end is not None and (sig_end.is_extra or sig_end.type == "field_initializer_list"):
                sig_end = sig_end.prev_sibling
        sig_last = last_row(sig_end) if sig_end is not None else body.start_point.row if body is not None else last
        if opens_at is None:
            opens_at = ALWAYS if kind is FragmentKind.CLASS or kind is None else LONG_FUNCTION
        definition = Definition(
            kind,
            name[:NAME_LENGTH],
            whole.start_byte,
            whole.end_byte,
            first,
            last,
            sig_first,
            max(sig_first, min(sig_last, last)),
            opens_at,
            owner,
            kind is FragmentKind.CLASS if methods is None else methods,
        )
        self.definitions.append(definition)
        return definition

    def add_base(self, definition: Definition, name: str) -> None:
        """Adds a base class or interface to a class definition."""
        if name:
            self.bases.append((definition.sig_first, name))

    def annotate(self, node: Node, name: str, type_text: str) -> None:
        """Records the type of a name bound at `node`; built-in types are left out."""
        if name and (name_of_type := read_type_name(type_text)):
            self.annotations.append((node.start_point.row, name, name_of_type))

    def declare(self, node: Node, name: str, type_: str, *, empty: bool = False) -> None:
        """Records a type in the form of `scopes.py`, also a built-in one; "" only if `empty`."""
        if name and (type_ or empty):
            self.annotations.append((node.start_point.row, name, type_))

    def add_import(
        self, node: Node, local: str, module: str, symbol: str = "", *, level: int = 0, exported: bool = False
    ) -> None:
        """Records one imported name."""
        self.imports.append((node.start_point.row, Import(local, module, symbol, level, exported)))

    def mark_import(self, node: Node) -> None:
        """Marks the rows of `node` as imports: they are split from their region."""
        self.import_rows.append((node.start_point.row, last_row(node)))


def last_row(node: Node) -> int:
    """Returns the last row with text of `node`: some grammars end nodes after the line break."""
    end = node.end_point
    return end.row - (end.column == 0 and end.row > node.start_point.row)


_ATTRIBUTES = frozenset(
    {"decorator", "attribute_list", "annotation", "marker_annotation", "comment", "line_comment", "block_comment"}
)


def _find_declaration_row(node: Node) -> int:
    for child in node.children:
        for part in child.children if child.type == "modifiers" else (child,):
            if part.type not in _ATTRIBUTES:
                return part.start_point.row
    return node.start_point.row


def named_child(node: Node | None, index: int = 0) -> Node | None:
    """Returns the named child at an index (-1: the last); None if the index is out of range."""
    if node is None:
        return None
    count = node.named_child_count
    if index < 0:
        index += count
    return node.named_child(index) if 0 <= index < count else None


def field_children(node: Node | None, name: str) -> list[Node]:
    """Returns the named children of a field of `node`; [] without a node or field."""
    field_node = node.child_by_field_name(name) if node is not None else None
    return field_node.named_children if field_node is not None else []
