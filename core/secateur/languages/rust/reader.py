"""Reads the trees of Rust files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from secateur.languages.rust.values import RustValues
from secateur.languages.syntax.collector import IMPLEMENTED, Captures, Collector, field_children, named_child
from secateur.languages.syntax.names import read_type_name
from secateur.model import FragmentKind

if TYPE_CHECKING:
    from tree_sitter import Node


READS_CALLS = True


def read(captures: Captures, out: Collector) -> None:
    """Reads definitions, imports, implemented traits, declared types, and calls whose receivers contain no local
    variables."""
    values = RustValues(captures.get("binding", ()), out)
    for node in captures.get("class", ()):
        _read_class(node, values, out)
    for node in captures.get("impl", ()):
        _read_implementation(node, values, out)
    for node in captures.get("module", ()):
        name = out.field_text(node, "name")
        if node.child_by_field_name("body") is None:
            out.mark_import(node)
            out.add_import(node, name, f"self::{name}", exported=_is_public(node))
        else:
            out.define(node, FragmentKind.CLASS, name, methods=False)
    for node in captures.get("function", ()):
        out.define(node, FragmentKind.FUNCTION, out.field_text(node, "name"))
        out.declare(node, "return", values.format_type(node.child_by_field_name("return_type")))
    for node in captures.get("macro", ()):
        name_node = node.child_by_field_name("name")
        out.define(node, FragmentKind.FUNCTION, out.text(name_node), sig_end=name_node)
    for node in captures.get("alias", ()):
        if node.parent is not None and node.parent.type == "source_file":
            out.declare(node, out.field_text(node, "name"), values.format_type(node.child_by_field_name("type")))
    for node in captures.get("crate", ()):
        name = out.field_text(node, "name")
        out.mark_import(node)
        out.add_import(node, out.field_text(node, "alias") or name, name)
    for node in captures.get("use", ()):
        _read_use(node, out)
    for node in captures.get("call", ()):
        receiver = values.format_receiver(node)
        if receiver is not None:
            out.calls.append((node.start_point.row, out.text(node), receiver))


def _read_class(node: Node, values: RustValues, out: Collector) -> None:
    name = out.field_text(node, "name")
    definition = out.define(node, FragmentKind.CLASS, name)
    for bound in field_children(node, "bounds"):
        if bound.type != "lifetime":
            out.add_base(definition, read_type_name(out.text(bound)))
    body = node.child_by_field_name("body")
    if body is None:
        return
    _read_fields(body, "", values, out)
    for member in body.named_children:
        if member.type == "function_signature_item":
            returned = values.format_type(member.child_by_field_name("return_type"))
            out.declare(member, out.field_text(member, "name") + "()", returned, empty=True)
        elif member.type == "enum_variant":
            variant = out.field_text(member, "name")
            out.declare(member, variant, name)
            out.declare(member, variant + "()", name)
            inner = member.child_by_field_name("body")
            if inner is not None:
                _read_fields(inner, variant + "@", values, out)


def _read_fields(body: Node, prefix: str, values: RustValues, out: Collector) -> None:
    """Reads fields by name, or by index if they have no name; `prefix` is the variant that contains them."""
    if body.type == "ordered_field_declaration_list":
        for position, type_ in enumerate(body.children_by_field_name("type")):
            out.declare(type_, f"{prefix}{position}", values.format_type(type_))
    for field in body.named_children:
        if field.type == "field_declaration":
            out.declare(
                field, prefix + out.field_text(field, "name"), values.format_type(field.child_by_field_name("type"))
            )


def _read_implementation(node: Node, values: RustValues, out: Collector) -> None:
    path = values.format_impl_path(node.child_by_field_name("type"))
    definition = out.define(node, FragmentKind.CLASS, path.rpartition(".")[2] or "impl")
    if path:
        out.annotations.append((definition.sig_first, IMPLEMENTED, path))
    trait = node.child_by_field_name("trait")
    if trait is not None:
        out.add_base(definition, read_type_name(out.text(trait)))


def _is_public(node: Node) -> bool:
    first = named_child(node)
    return first is not None and first.type == "visibility_modifier"


def _read_use(node: Node, out: Collector) -> None:
    """Reads a use tree with an explicit stack of (node, path to the node)."""
    out.mark_import(node)
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
            out.add_import(node, "", _join(prefix, out.text(named_child(item))), "*", exported=exported)
        elif item.type in ("use_as_clause", "identifier", "scoped_identifier", "self", "crate", "super"):
            aliased = item.type == "use_as_clause"
            path = out.field_text(item, "path") if aliased else out.text(item)
            whole = prefix if path == "self" and prefix else _join(prefix, path)
            module, _, symbol = whole.rpartition("::")
            local = out.field_text(item, "alias") if aliased else symbol
            out.add_import(
                node, "" if local == "_" else local, module or symbol, symbol if module else "", exported=exported
            )


def _join(prefix: str, path: str) -> str:
    return f"{prefix}::{path}" if prefix and path else prefix or path
