"""Java."""

from __future__ import annotations

from typing import TYPE_CHECKING

from secateur.model import Kind
from secateur.repository.syntax.collector import LONG_WRAPPER, Captures, Collector, named_child
from secateur.repository.syntax.names import type_name

if TYPE_CHECKING:
    from tree_sitter import Node

QUERY = """
[(class_declaration) (interface_declaration) (enum_declaration) (record_declaration) (annotation_type_declaration)] @class
[(method_declaration body: (_)) (constructor_declaration) (compact_constructor_declaration)] @function
(object_creation_expression (class_body)) @anonymous
(package_declaration) @package
(import_declaration) @import
(method_invocation name: (identifier) @call)
(object_creation_expression type: (type_identifier) @call)
(object_creation_expression type: (generic_type . (type_identifier) @call))
(object_creation_expression type: (scoped_type_identifier (type_identifier) @call .))
[(field_declaration) (local_variable_declaration)] @variables
[(formal_parameter) (enhanced_for_statement) (resource)] @typed
[(if_statement) (for_statement) (enhanced_for_statement) (while_statement) (do_statement) (switch_label) (catch_clause) (ternary_expression) "&&" "||"] @branch
[(line_comment) (block_comment)] @note
"""


def read(captures: Captures, out: Collector) -> None:
    """Definitions, imports, bases and types of a Java file."""
    for node in captures.get("package", ()):
        out.package = "".join(out.text(child) for child in node.named_children if child.type in ("identifier", "scoped_identifier"))
        out.import_statement(node)
    for node in captures.get("import", ()):
        _import(node, out)
    for node in captures.get("class", ()):
        definition = out.define(node, Kind.CLASS, out.field_text(node, "name"))
        for clause in node.named_children:
            if clause.type in ("superclass", "super_interfaces", "extends_interfaces"):
                for child in clause.named_children:
                    for base in child.named_children if child.type == "type_list" else [child]:
                        out.base(definition, type_name(out.text(base)))
    named = {}
    for node in captures.get("variables", ()):
        for declarator in node.children_by_field_name("declarator"):
            value = declarator.child_by_field_name("value")
            if value is not None:
                named[value.id] = out.field_text(declarator, "name")
    for node in captures.get("anonymous", ()):
        out.define(node, None, named.get(node.id, ""), opens_at=LONG_WRAPPER, methods=True)
    for node in captures.get("function", ()):
        out.define(node, Kind.FUNCTION, out.field_text(node, "name"))
        out.annotate(node, "return", out.field_text(node, "type"))
    for node in captures.get("typed", ()):
        out.annotate(node, out.field_text(node, "name"), out.field_text(node, "type"))
    for node in captures.get("variables", ()):
        written = out.field_text(node, "type")
        for declarator in node.children_by_field_name("declarator"):
            value = declarator.child_by_field_name("value")
            found = out.field_text(value, "type") if written == "var" and value is not None and value.type == "object_creation_expression" else written
            out.annotate(declarator, out.field_text(declarator, "name"), found)


def _import(node: Node, out: Collector) -> None:
    out.import_statement(node)
    path = out.text(named_child(node))
    if any(child.type == "asterisk" for child in node.named_children):
        out.import_(node, "", path, "*")
    else:
        module, _, symbol = path.rpartition(".")
        out.import_(node, symbol, module, symbol)
