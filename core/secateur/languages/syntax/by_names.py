"""Reads languages that only have a query, with these capture names:

- `class`, `function`: definitions; a function inside a class is a method
- `name`: the name of the enclosing definition, if the grammar has no field `name`. If there are several, or one with
  dots such as `M.total`, the last part is the name and the parts before it are the owner
- `body`: the body of a definition, if the grammar has no field `body`; it lies inside the definition or follows it
- `title`: a text that names the enclosing definition; calls never use it
- `base`: a name from which the surrounding class inherits
- `package`: the package that the file declares
- `import`: an import statement. Inside it, `import.path` are the segments of a path; then `import.name` is a name taken
  from there, with `import.alias` after it if the file uses another name, or `import.star` stands for all names; with
  none of these, the last segment is imported
- `call`, `branch`, `note`: as in every query
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from secateur.languages.syntax.collector import TITLE, Captures, Collector, Definition, last_row
from secateur.languages.syntax.names import read_type_name
from secateur.model import FragmentKind

if TYPE_CHECKING:
    from tree_sitter import Node

_DOTTED = re.compile(r"[^\W\d]\w*(?:[.:][^\W\d]\w*)+")
_DOTS = re.compile(r"[.:]")
_LEVELS = 8
"""Most levels of a tree between a name and its class or statement."""


def read_by_names(captures: Captures, out: Collector) -> None:
    """Reads the definitions, imports and bases of a file."""
    kinds = ((FragmentKind.CLASS, "class"), (FragmentKind.FUNCTION, "function"))
    nodes = {node.id: (node, kind) for kind, capture in kinds for node in captures.get(capture, ())}
    names: dict[int, list[str]] = {}
    for node in captures.get("name", ()):
        if (holder := _find_outer(node.parent, nodes)) is not None:
            names.setdefault(holder.id, []).append(out.text(node))
    titles: dict[int, str] = {}
    for node in captures.get("title", ()):
        if (holder := _find_outer(node.parent, nodes)) is not None:
            titles.setdefault(holder.id, out.text(node))
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
