"""Rust."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from secateur.model import Kind
from secateur.repository.syntax.collector import Captures, Collector, named_child
from secateur.repository.syntax.names import type_name

if TYPE_CHECKING:
    from tree_sitter import Node

QUERY = """
(function_item) @function
(macro_definition) @macro
[(struct_item) (enum_item) (union_item) (trait_item)] @class
(impl_item) @impl
(mod_item) @module
(use_declaration) @use
(extern_crate_declaration) @crate
(call_expression function: (identifier) @call)
(call_expression function: (scoped_identifier name: (identifier) @call))
(call_expression function: (field_expression field: (field_identifier) @call))
(generic_function function: (identifier) @call)
(generic_function function: (scoped_identifier name: (identifier) @call))
(generic_function function: (field_expression field: (field_identifier) @call))
(struct_expression name: (type_identifier) @call)
(struct_expression name: (scoped_type_identifier name: (type_identifier) @call))
(macro_invocation macro: (identifier) @call)
(macro_invocation macro: (scoped_identifier name: (identifier) @call))
(token_tree (identifier) @call . (token_tree "("))
[(parameter) (let_declaration) (field_declaration) (const_item) (static_item)] @typed
[(if_expression) (while_expression) (for_expression) (loop_expression) (match_arm) "&&" "||"] @branch
[(line_comment) (block_comment) (attribute_item)] @note
"""

_HEAD = re.compile(r"(?:&\s*(?:'\w+\s*)?|mut\s+|dyn\s+|\*\s*(?:const|mut)\s+|\()*((?:\w+::)*)(\w+)")
_MADE = re.compile(r"((?:\w+::)*[A-Z]\w*)(?:::<[^>]*>)?::(?:new|default|with_\w+|from\w*|open|builder)$")
_NAME = re.compile(r"(?:mut\s+)?(\w+)")


def read(captures: Captures, out: Collector) -> None:
    """Definitions, imports, implemented traits and types of a Rust file."""
    for node in captures.get("class", ()):
        definition = out.define(node, Kind.CLASS, out.field_text(node, "name"))
        bounds = node.child_by_field_name("bounds")
        for bound in bounds.named_children if bounds is not None else ():
            if bound.type != "lifetime":
                out.base(definition, type_name(out.text(bound)))
    for node in captures.get("impl", ()):
        head = _HEAD.match(out.field_text(node, "type"))
        definition = out.define(node, Kind.CLASS, head[2] if head else "impl")
        trait = node.child_by_field_name("trait")
        if trait is not None:
            out.base(definition, type_name(out.text(trait)))
    for node in captures.get("module", ()):
        name = out.field_text(node, "name")
        if node.child_by_field_name("body") is None:
            out.import_statement(node)
            out.import_(node, name, f"self::{name}", exported=_is_public(node))
        else:
            out.define(node, Kind.CLASS, name, methods=False)
    for node in captures.get("function", ()):
        out.define(node, Kind.FUNCTION, out.field_text(node, "name"))
        returned = node.child_by_field_name("return_type")
        if returned is not None:
            out.annotate(node, "return", out.text(returned))
    for node in captures.get("macro", ()):
        name_node = node.child_by_field_name("name")
        out.define(node, Kind.FUNCTION, out.text(name_node), sig_end=name_node)
    for node in captures.get("crate", ()):
        name = out.field_text(node, "name")
        out.import_statement(node)
        out.import_(node, out.field_text(node, "alias") or name, name)
    for node in captures.get("use", ()):
        _use(node, out)
    for node in captures.get("typed", ()):
        _typed(node, out)


def _is_public(node: Node) -> bool:
    first = named_child(node)
    return first is not None and first.type == "visibility_modifier"


def _use(node: Node, out: Collector) -> None:
    """A use tree, with an explicit stack of (node, path that leads to it)."""
    out.import_statement(node)
    exported = _is_public(node)
    start = node.child_by_field_name("argument")
    stack = [(start, "")] if start is not None else []
    while stack:
        item, prefix = stack.pop()
        if item.type == "use_list":
            stack += [(child, prefix) for child in reversed(item.named_children)]
        elif item.type == "scoped_use_list":
            inner = item.child_by_field_name("list")
            if inner is not None:
                stack.append((inner, _join(prefix, out.field_text(item, "path"))))
        elif item.type == "use_wildcard":
            out.import_(node, "", _join(prefix, out.text(named_child(item))), "*", exported=exported)
        elif item.type in ("use_as_clause", "identifier", "scoped_identifier", "self", "crate", "super"):
            aliased = item.type == "use_as_clause"
            path = out.field_text(item, "path") if aliased else out.text(item)
            whole = prefix if path == "self" and prefix else _join(prefix, path)
            module, _, symbol = whole.rpartition("::")
            local = out.field_text(item, "alias") if aliased else symbol
            out.import_(node, "" if local == "_" else local, module or symbol, symbol if module else "", exported=exported)


def _join(prefix: str, path: str) -> str:
    return f"{prefix}::{path}" if prefix and path else prefix or path


def _typed(node: Node, out: Collector) -> None:
    bound = node.child_by_field_name("pattern") or node.child_by_field_name("name")
    name = _NAME.fullmatch(out.text(bound))
    if name is None:
        return
    written = node.child_by_field_name("type")
    if written is not None:
        out.annotate(node, name[1], out.text(written))
        return
    value = node.child_by_field_name("value")
    while value is not None and value.type in ("try_expression", "await_expression", "reference_expression"):
        value = value.child_by_field_name("value") or named_child(value)
    if value is None:
        return
    if value.type == "struct_expression":
        out.annotate(node, name[1], out.field_text(value, "name"))
    elif value.type == "call_expression":
        made = _MADE.fullmatch(out.field_text(value, "function"))
        if made:
            out.annotate(node, name[1], made[1])
