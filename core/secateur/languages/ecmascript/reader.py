"""Reads the trees of JavaScript, JSX, TypeScript and TSX."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from secateur.languages.ecmascript.exports import is_require, read_modules
from secateur.languages.ecmascript.values import FUNCTIONS, EcmascriptValues
from secateur.languages.syntax.collector import LONG_OBJECT, LONG_WRAPPER, Captures, Collector, named_child
from secateur.languages.syntax.names import read_dotted_name, read_type_name, words
from secateur.model import FragmentKind

if TYPE_CHECKING:
    from tree_sitter import Node


_TEST_CALLS = words("describe it test context suite specify fdescribe fit xdescribe xit bench")
_NO_OWNER = words("exports module prototype window global globalThis self root this default")
# Least lines of a wrapped function (`const Panel = memo(() => ...)`) that is named after its variable.
_WRAPPED_LINES = 3

_QUOTES = "\"'`"
_STRING_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


def read(captures: Captures, out: Collector) -> None:
    """Reads the definitions, imports, exports, bases and types of a script or module."""
    _EcmascriptReader(captures, out).read()


class _EcmascriptReader:
    """Names values after their variables or members, then records them as definitions."""

    def __init__(self, captures: Captures, out: Collector) -> None:
        self.captures = captures
        self.out = out
        self.names: dict[int, tuple[str, str, Node]] = {}  # id of a value → name, owner, statement
        self.titles: dict[int, str] = {}  # id of a test's callback → title of the test
        self.definitions: set[int] = set()  # ids of functions that are definitions

    def read(self) -> None:
        for node in self.captures.get("export", ()):
            if (inner := node.child_by_field_name("declaration")) is not None:
                self.out.wrapped[inner.id] = node
                continue
            if (value := node.child_by_field_name("value")) is not None:
                name = self._read_own_name(value) or ("" if value.type == "object" else "default")
                self.names[value.id] = (name, "", node)
        for node in self.captures.get("bind", ()):
            self._name_value(node)
        for node in self.captures.get("field", ()):
            value = node.child_by_field_name("value")
            name_node = node.child_by_field_name("property") or node.child_by_field_name("name")
            name = self.out.text(name_node).strip(_QUOTES)
            if value is not None and name_node is not None and value.type in FUNCTIONS:
                self.names[value.id] = (name, "", node)
        for node in self.captures.get("titled", ()):
            # Defines `describe("a cart", () => ...)` as a function named by its title.
            callee = self.out.field_text(node, "function")
            arguments = node.child_by_field_name("arguments")
            if callee.split(".", 1)[0] not in _TEST_CALLS or arguments is None:
                continue
            title, callback = named_child(arguments), named_child(arguments, 1)
            if title is None or callback is None:
                continue
            name = " ".join(_STRING_ESCAPE.sub(r"\1", self.out.text(title)[1:-1]).split())
            self.titles[callback.id] = name or callee
            self.out.define(node, FragmentKind.FUNCTION, name or callee, body=callback.child_by_field_name("body"))
        self._define_all()
        EcmascriptValues(self.captures, self.out, self.definitions, self.titles)
        read_modules(self.captures, self.out)

    def _name_value(self, node: Node) -> None:
        kind = node.type
        target = node.child_by_field_name({"pair": "key", "assignment_expression": "left"}.get(kind, "name"))
        value = node.child_by_field_name("right" if kind == "assignment_expression" else "value")
        if target is None or value is None or target.type in ("object_pattern", "array_pattern"):
            return
        if value.type == "new_expression":
            return
        name, owner = self._split_target(target)
        if value.type == "call_expression":
            value = self._unwrap_function(name, value) if kind == "variable_declarator" else None
        if value is None or value.type in ("member_expression", "identifier"):
            return
        if kind == "pair" and value.start_point.row == value.end_point.row:
            return  # a one-line member says little without its object
        own = self._read_own_name(value) if name == "default" else ""
        self.names[value.id] = (own or name, owner, node)

    def _read_own_name(self, value: Node) -> str:
        """Returns "run" for the values `function run() {}` and `class run {}`."""
        return self.out.field_text(value, "name") if value.type in FUNCTIONS or value.type == "class" else ""

    def _split_target(self, target: Node) -> tuple[str, str]:
        """Returns name and owner of a target: `Foo.prototype.bar` → ("bar", "Foo"), `exports.run` → ("run", "")."""
        text = self.out.text(target)
        if target.type in ("string", "property_identifier", "identifier", "private_property_identifier", "number"):
            return text.strip(_QUOTES), ""
        if not (path := read_dotted_name(text)):
            return "", ""
        if path == "module.exports":
            return "default", ""
        parts = [part for part in path.split(".") if part not in _NO_OWNER]
        return (parts[-1], ".".join(parts[:-1])) if parts else ("", "")

    def _unwrap_function(self, name: str, call: Node) -> Node | None:
        """Returns the function in `const Panel = memo(() => ...)` if it is long and named like a component or hook."""
        first = named_child(call.child_by_field_name("arguments"))
        if first is None or is_require(self.out, call):
            return None
        if first.type == "object":
            return first  # Object.freeze({...}), defineComponent({...})
        lines = first.end_point.row - first.start_point.row + 1
        is_component = name[:1].isupper() or (name.startswith("use") and name[3:4].isupper())
        return first if first.type in FUNCTIONS and is_component and lines >= _WRAPPED_LINES else None

    def _define_all(self) -> None:
        out = self.out
        for node in self.captures.get("class", ()):
            name, owner, outer = self.names.get(node.id, (out.field_text(node, "name"), "", node))
            definition = out.define(
                node, FragmentKind.CLASS, name or out.field_text(node, "name") or "default", outer=outer, owner=owner
            )
            bases: list[Node] = []
            for child in node.named_children:
                if child.type == "class_heritage":
                    clauses = [clause for clause in child.named_children if clause.type.endswith("s_clause")]
                    for clause in clauses or [child]:
                        bases += [base for base in clause.named_children if base.type != "type_arguments"]
                elif child.type == "extends_type_clause":
                    bases += child.named_children
            for base in bases:
                out.add_base(definition, read_type_name(out.text(base)))
        for node in self.captures.get("namespace", ()):
            out.define(node, FragmentKind.CLASS, out.field_text(node, "name").strip(_QUOTES), methods=False)
        for node in self.captures.get("alias", ()):
            if node.end_point.row > node.start_point.row:
                name_node = node.child_by_field_name("name")
                out.define(node, FragmentKind.CLASS, out.text(name_node), sig_end=name_node)
        for node in self.captures.get("function", ()):
            out.define(node, FragmentKind.FUNCTION, out.field_text(node, "name"))
            self.definitions.add(node.id)
        for node in self.captures.get("method", ()):
            out.define(node, FragmentKind.FUNCTION, out.field_text(node, "name").strip(_QUOTES))
        objects: set[int] = set()
        for node in self.captures.get("object", ()):
            if node.id not in objects:  # a match for each of its methods
                objects.add(node.id)
                name, owner, outer = self.names.get(node.id, ("", "", node))
                name = "" if name == "default" else name
                if name and outer.type != "pair":
                    self.out.define(
                        node,
                        FragmentKind.CLASS,
                        name,
                        outer=outer,
                        owner=owner,
                        opens_at=LONG_OBJECT,
                        body=named_child(node),
                    )
                else:
                    self.out.define(node, None, name, owner=owner, opens_at=LONG_OBJECT, methods=True)
        for node in self.captures.get("lambda", ()):
            if node.id in self.titles:
                continue
            name, owner, outer = self.names.get(node.id, ("", "", node))
            if name:
                out.define(node, FragmentKind.FUNCTION, name, outer=outer, owner=owner)
                self.definitions.add(node.id)
            else:
                out.define(node, None, "", opens_at=LONG_WRAPPER, methods=False)
