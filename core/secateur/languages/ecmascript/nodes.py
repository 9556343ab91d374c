"""Answers small questions about the nodes of a script's tree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from secateur.languages.syntax.collector import Collector, named_child
from secateur.languages.syntax.names import words

if TYPE_CHECKING:
    from tree_sitter import Node

FUNCTIONS = words("arrow_function function_expression generator_function")
"""Nodes that are functions without being declarations."""


def member_name(name: str) -> str:
    """The name of a member in a chain: without quotes, and apart from others where it is private."""
    return name.strip("\"'").replace("#", "$$")


def operator_of(node: Node) -> str:
    """The operator of an expression; "" where it has none."""
    operator = node.child_by_field_name("operator")
    return operator.type if operator is not None else ""


def required(value: Node) -> Node:
    """The node that a member is taken of; other nodes as they are."""
    return value.child_by_field_name("object") or value if value.type == "member_expression" else value


def wraps(value: Node | None) -> bool:
    """Tells whether a call is given the function or object that a definition is made of: `memo(() => ...)`."""
    first = (
        named_child(value.child_by_field_name("arguments"))
        if value is not None and value.type == "call_expression"
        else None
    )
    return first is not None and (first.type in FUNCTIONS or first.type == "object")


def pattern_parts(pattern: Node, out: Collector) -> Iterator[tuple[str, Node]]:
    """Yields (member, what is bound to it) of a destructuring pattern; "" where no member has a name."""
    for child in pattern.named_children:
        if child.type == "pair_pattern":
            value = child.child_by_field_name("value")
            if value is not None:
                yield out.field_text(child, "key").strip("\"'"), value
        elif child.type == "shorthand_property_identifier_pattern":
            yield out.text(child), child
        elif child.type == "object_assignment_pattern":
            yield out.field_text(child, "left"), child
        elif pattern.type in ("array_pattern", "object_pattern"):
            yield "", child


def guarded(node: Node) -> tuple[Node | None, Node | None]:
    """Returns a condition and what is only reached where it holds."""
    if node.type == "binary_expression":
        return node.child_by_field_name("left"), node.child_by_field_name("right")
    return node.child_by_field_name("condition"), node.child_by_field_name("consequence")
