"""Python."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from secateur.model import Kind
from secateur.repository.syntax.collector import Captures, Collector, named_child
from secateur.repository.syntax.names import dotted, type_name

if TYPE_CHECKING:
    from tree_sitter import Node

QUERY = """
(function_definition) @function
(class_definition) @class
(decorated_definition) @wrapper
(call function: (identifier) @call)
(call function: (attribute attribute: (identifier) @call))
(import_statement) @import
(import_from_statement) @import_from
(future_import_statement) @future
[(typed_parameter) (typed_default_parameter)] @parameter
(assignment type: (type)) @declared
(assignment left: [(identifier) (attribute)] right: (call)) @made
(assignment left: (attribute) right: (identifier)) @stored
(with_item value: (as_pattern (call) alias: (as_pattern_target (identifier)))) @opened
[(if_statement) (elif_clause) (for_statement) (while_statement) (except_clause) (case_clause) (conditional_expression)
 (boolean_operator) (for_in_clause) (if_clause)] @branch
(comment) @note
"""

_TARGET = re.compile(r"\w+|self\.\w+")


def read(captures: Captures, out: Collector) -> None:
    """Definitions, imports, bases and types of a Python module."""
    out.exports_imports = True
    for node in captures.get("wrapper", ()):
        inner = node.child_by_field_name("definition")
        if inner is not None:
            out.wrapped[inner.id] = node
    for node in captures.get("class", ()):
        definition = out.define(node, Kind.CLASS, out.field_text(node, "name"))
        parents = node.child_by_field_name("superclasses")
        for parent in parents.named_children if parents is not None else ():
            if parent.type in ("identifier", "attribute", "subscript"):
                out.base(definition, type_name(out.text(parent)))
    for node in captures.get("function", ()):
        out.define(node, Kind.FUNCTION, out.field_text(node, "name"))
        returned = node.child_by_field_name("return_type")
        if returned is not None:
            out.annotate(node, "return", out.text(returned))
    for node in captures.get("future", ()):
        out.import_statement(node)
    _imports(captures, out)
    _types(captures, out)


def _imports(captures: Captures, out: Collector) -> None:
    for node in captures.get("import", ()):
        out.import_statement(node)
        for item in node.named_children:
            if item.type == "aliased_import":
                out.import_(node, out.field_text(item, "alias"), out.field_text(item, "name"))
            elif item.type == "dotted_name":
                module = out.text(item)
                top = module.split(".", 1)[0]
                # `import a.b` binds `a`, and loads `a.b` besides.
                out.import_(node, top, top)
                if module != top:
                    out.import_(node, "", module)
    for node in captures.get("import_from", ()):
        out.import_statement(node)
        origin = node.child_by_field_name("module_name")
        written = out.text(origin)
        module = written.lstrip(". \t")
        level = len(written) - len(module) - written[: len(written) - len(module)].count(" ")
        for item in node.named_children:
            if origin is not None and item.id == origin.id:
                continue
            if item.type == "aliased_import":
                out.import_(node, out.field_text(item, "alias"), module, out.field_text(item, "name"), level=level)
            elif item.type == "dotted_name":
                name = out.text(item)
                out.import_(node, name, module, name, level=level)
            elif item.type == "wildcard_import":
                out.import_(node, "", module, "*", level=level)


def _types(captures: Captures, out: Collector) -> None:
    parameters: dict[str, list[tuple[int, str]]] = {}  # name → (byte, type), to follow `self.cart = cart`
    for node in captures.get("parameter", ()):
        name_node = node.child_by_field_name("name") or named_child(node)
        name, found = out.text(name_node), type_name(out.field_text(node, "type"))
        if found and name.isidentifier():
            out.annotations.append((node.start_point.row, name, found))
            parameters.setdefault(name, []).append((node.start_byte, found))
    for node in captures.get("declared", ()):
        name = out.field_text(node, "left")
        if _TARGET.fullmatch(name):
            out.annotate(node, name, out.field_text(node, "type"))
    for node in captures.get("made", ()):
        right = node.child_by_field_name("right")
        name = out.field_text(node, "left")
        if right is not None and _TARGET.fullmatch(name):
            _made(out, node, name, right)
    for node in captures.get("opened", ()):
        pattern = node.child_by_field_name("value")
        alias = pattern.child_by_field_name("alias") if pattern is not None else None
        if pattern is not None and alias is not None:
            _made(out, node, out.text(alias), named_child(pattern))
    for node in captures.get("stored", ()):
        name, value = out.field_text(node, "left"), out.field_text(node, "right")
        if value in parameters and _TARGET.fullmatch(name):
            earlier = [found for start, found in parameters[value] if start < node.start_byte]
            if earlier:
                out.annotations.append((node.start_point.row, name, earlier[-1]))


def _made(out: Collector, node: Node, name: str, call: Node | None) -> None:
    """`name = Cart(...)` tells a type when the callee is written like a class."""
    callee = call.child_by_field_name("function") if call is not None else None
    if callee is None or callee.type not in ("identifier", "attribute"):
        return
    made = dotted(out.text(callee))
    last = made.rsplit(".", 1)[-1].lstrip("_")
    if last[:1].isupper() and not (last.isupper() and len(last) > 1):
        out.annotations.append((node.start_point.row, name, made))
