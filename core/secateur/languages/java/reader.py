"""Reads the trees of Java files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from secateur.languages.java.values import JavaValues, is_field_of_type
from secateur.languages.syntax.collector import (
    LONG_WRAPPER,
    Captures,
    Collector,
    Definition,
    field_children,
    named_child,
)
from secateur.languages.syntax.names import read_type_name
from secateur.model import FragmentKind

if TYPE_CHECKING:
    from tree_sitter import Node


READS_CALLS = True


def read(captures: Captures, out: Collector) -> None:
    """Reads definitions, imports, bases, declared types, and calls whose receivers contain no local variables."""
    values = JavaValues(captures.get("binding", ()), out)
    for node in captures.get("package", ()):
        out.package = "".join(
            out.text(child) for child in node.named_children if child.type in ("identifier", "scoped_identifier")
        )
        out.mark_import(node)
    for node in captures.get("import", ()):
        _read_import(node, out)
    for node in captures.get("class", ()):
        _read_class(node, values, out)
    variable_names = {}
    for node in (*captures.get("variables", ()), *captures.get("field", ())):
        for declarator in node.children_by_field_name("declarator"):
            value = declarator.child_by_field_name("value")
            if value is not None:
                variable_names[value.id] = out.field_text(declarator, "name")
    for node in captures.get("anonymous", ()):
        out.define(node, None, variable_names.get(node.id, ""), opens_at=LONG_WRAPPER, methods=True)
    for node in captures.get("constant", ()):
        out.define(node, None, out.field_text(node, "name"), methods=True)
    for node in captures.get("function", ()):
        out.define(node, FragmentKind.FUNCTION, out.field_text(node, "name"))
        out.declare(node, "return", values.format_type(node.child_by_field_name("type")))
        if node.type != "compact_constructor_declaration":
            out.declare(node, "()", values.format_parameters(node.child_by_field_name("parameters")))
    for node in captures.get("declared", ()):
        returned = values.format_type(node.child_by_field_name("type"))
        out.declare(node, out.field_text(node, "name") + "()", returned, empty=True)
    for node in captures.get("field", ()):
        if is_field_of_type(node):
            type_text = values.format_type(node.child_by_field_name("type"))
            for declarator in node.children_by_field_name("declarator"):
                out.declare(declarator, out.field_text(declarator, "name"), type_text)
    for node in captures.get("call", ()):
        out.overloaded_calls.append(
            (node.start_point.row, out.text(node), values.format_receiver(node), values.format_arguments(node))
        )


def _read_class(node: Node, values: JavaValues, out: Collector) -> None:
    name = out.field_text(node, "name")
    definition = out.define(node, FragmentKind.CLASS, name)
    for clause in node.named_children:
        if clause.type in ("superclass", "super_interfaces", "extends_interfaces"):
            for child in clause.named_children:
                for base in child.named_children if child.type == "type_list" else [child]:
                    _read_base(definition, base, values, out)
    for component in field_children(node, "parameters"):
        component_name, type_ = (
            out.field_text(component, "name"),
            values.format_type(component.child_by_field_name("type")),
        )
        out.declare(component, component_name, type_)
        out.declare(component, component_name + "()", type_)
    for constant in field_children(node, "body") if node.type == "enum_declaration" else ():
        if constant.type == "enum_constant":
            out.declare(constant, out.field_text(constant, "name"), name)


def _read_base(definition: Definition, base: Node, values: JavaValues, out: Collector) -> None:
    out.add_base(definition, read_type_name(out.text(base)))
    type_text = values.format_type(base)
    if type_text.endswith("[]"):
        out.annotations.append((definition.sig_first, "[]", type_text[:-2]))


def _read_import(node: Node, out: Collector) -> None:
    out.mark_import(node)
    path = out.text(named_child(node))
    if any(child.type == "asterisk" for child in node.named_children):
        out.add_import(node, "", path, "*")
    else:
        module, _, symbol = path.rpartition(".")
        out.add_import(node, symbol, module, symbol)
