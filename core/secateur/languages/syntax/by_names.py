"""The reader of languages that are known by names only: what a query of shared capture names finds, without a line of
code of their own.

- `class`, `function`: definitions; a function inside a class is a method
- `name`: the name of the definition it is a child of, where the grammar has no field `name`
- `base`: a name that the class around it inherits from
- `package`: the package that the file declares
- `import`: an import statement; `import.path` inside it: a dotted path whose last part the file then knows;
  `import.star`: of which it knows everything
- `call`, `branch`, `note`: as in every query
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from secateur.languages.syntax.collector import Captures, Collector, Definition
from secateur.languages.syntax.names import type_name
from secateur.model import Kind

if TYPE_CHECKING:
    from tree_sitter import Node

_LEVELS = 8
"""Levels of a tree between a name and the class or statement that it belongs to."""


def read_by_names(captures: Captures, out: Collector) -> None:
    """Definitions, imports and bases of a file."""
    names = {node.parent.id: node for node in captures.get("name", ()) if node.parent is not None}
    classes: dict[int, Definition] = {}
    for kind, capture in ((Kind.CLASS, "class"), (Kind.FUNCTION, "function")):
        for node in captures.get(capture, ()):
            definition = out.define(node, kind, out.text(names.get(node.id) or node.child_by_field_name("name")))
            if kind is Kind.CLASS:
                classes[node.id] = definition
    for node in captures.get("base", ()):
        if (holder := _around(node, classes)) is not None:
            out.base(classes[holder.id], type_name(out.text(node)))
    for node in captures.get("package", ()):
        out.package = ".".join(filter(None, (out.package, out.text(node))))
    _imports(captures, out)


def _imports(captures: Captures, out: Collector) -> None:
    statements = {node.id: node for node in captures.get("import", ())}
    for node in statements.values():
        out.import_statement(node)
    for node in captures.get("import.path", ()):
        if (statement := _around(node, statements)) is not None:
            module, _, name = out.text(node).rpartition(".")
            out.import_(statement, name, module, name)
    for node in captures.get("import.star", ()):
        if (statement := _around(node, statements)) is not None:
            out.import_(statement, "", out.text(node), "*")


def _around(node: Node, known: Collection[int]) -> Node | None:
    """The nearest node around `node`, itself included, whose id is one of `known`."""
    found: Node | None = node
    for _ in range(_LEVELS):
        if found is None or found.id in known:
            return found
        found = found.parent
    return None
