"""Go."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from secateur.model import Kind
from secateur.repository.syntax.collector import Captures, Collector, named_child

if TYPE_CHECKING:
    from tree_sitter import Node

QUERY = """
[(function_declaration) (method_declaration)] @function
(type_declaration) @types
(import_declaration) @imports
(import_spec) @import
(package_clause) @package
(call_expression function: (identifier) @call)
(call_expression function: (selector_expression field: (field_identifier) @call))
(composite_literal type: (type_identifier) @call)
(composite_literal type: (qualified_type name: (type_identifier) @call))
[(parameter_declaration) (field_declaration) (var_spec)] @typed
(short_var_declaration right: (expression_list [(composite_literal) (unary_expression operand: (composite_literal))])) @made
[(if_statement) (for_statement) (expression_case) (type_case) (communication_case) "&&" "||"] @branch
(comment) @note
"""

_RECEIVER = re.compile(r"[\w\s]*?\*?\s*(\w+)\s*(?:\[[^\]]*\])?\s*,?\s*\)")
_VERSION = re.compile(r"v\d+")
_IMPORT_NOISE = re.compile(r"^go-|[-.]go$|\.v\d+$")


def read(captures: Captures, out: Collector) -> None:
    """Definitions, imports, embedded types and declared types of a Go file."""
    for node in captures.get("package", ()):
        out.package = out.text(named_child(node))
    for node in captures.get("imports", ()):
        out.import_statement(node)
    for node in captures.get("import", ()):
        _import(node, out)
    for node in captures.get("function", ()):
        receiver = _RECEIVER.search(out.field_text(node, "receiver"))
        out.define(node, Kind.FUNCTION, out.field_text(node, "name"), owner=receiver[1] if receiver else "")
        result = node.child_by_field_name("result")
        if result is not None:
            first = named_child(result) if result.type == "parameter_list" else result
            out.annotate(node, "return", out.text(first))
    for node in captures.get("types", ()):
        specs = [spec for spec in node.named_children if spec.type == "type_spec"]
        for spec in specs:
            _type(spec, node if len(specs) == 1 else spec, out)
    for node in captures.get("typed", ()):
        found = out.field_text(node, "type")
        for name in node.children_by_field_name("name"):
            out.annotate(name, out.text(name), found)
    for node in captures.get("made", ()):
        _made(node, out)


def _import(node: Node, out: Collector) -> None:
    module = out.field_text(node, "path").strip('"`')
    alias = out.field_text(node, "name")
    if alias == ".":
        out.import_(node, "", module, "*")
    elif alias == "_":
        out.import_(node, "", module)
    else:
        out.import_(node, alias or _package_name(module), module)


def _package_name(module: str) -> str:
    """The name a package most likely has: the last element of its path that is no version, without the usual affixes."""
    parts = module.split("/")
    last = parts[-2] if len(parts) > 1 and _VERSION.fullmatch(parts[-1]) else parts[-1]
    return _IMPORT_NOISE.sub("", last) or last


def _type(spec: Node, outer: Node, out: Collector) -> None:
    name = spec.child_by_field_name("name")
    definition = out.define(spec, Kind.CLASS, out.text(name), outer=outer, sig_end=name)
    shape = spec.child_by_field_name("type")
    members = shape.named_children if shape is not None else []
    if members and members[0].type == "field_declaration_list":
        members = members[0].named_children
    for member in members:
        if member.type == "field_declaration" and member.child_by_field_name("name") is None:
            out.base(definition, out.field_text(member, "type").lstrip("*").split("[", 1)[0])
        elif member.type == "type_elem" and member.named_child_count == 1:
            out.base(definition, out.text(member).split("[", 1)[0].lstrip("~"))


def _made(node: Node, out: Collector) -> None:
    """`cart := Cart{...}`, `a, b := &A{}, &B{}`."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None:
        return
    for name, value in zip(left.named_children, right.named_children, strict=False):
        literal = value.child_by_field_name("operand") if value.type == "unary_expression" else value
        if literal is not None and literal.type == "composite_literal":
            out.annotate(node, out.text(name), out.field_text(literal, "type"))
