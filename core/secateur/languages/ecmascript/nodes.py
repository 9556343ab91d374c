"""Helpers for the syntax nodes of a script."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from secateur.languages.syntax.collector import Collector, named_child
from secateur.languages.syntax.names import words

if TYPE_CHECKING:
    from tree_sitter import Node

FUNCTIONS = words("arrow_function function_expression generator_function")
"""Nodes that are functions but not declarations."""


def normalize_member(name: str) -> str:
    """Returns the name of a member in a chain: without quotes, and marked if it is private."""
    return name.strip("\"'").replace("#", "$$")


def operator_of(node: Node) -> str:
    """Returns the operator of an expression; "" if it has none."""
    operator = node.child_by_field_name("operator")
    return operator.type if operator is not None else ""


def strip_member(value: Node) -> Node:
    """Returns the object of a member expression; other nodes as they are."""
    return value.child_by_field_name("object") or value if value.type == "member_expression" else value


def wraps(value: Node | None) -> bool:
    """Tells whether a value is a call that wraps a function or object: `memo(() => ...)`."""
    if value is None or value.type != "call_expression":
        return False
    first = named_child(value.child_by_field_name("arguments"))
    return first is not None and (first.type in FUNCTIONS or first.type == "object")


def split_pattern(pattern: Node, out: Collector) -> Iterator[tuple[str, Node]]:
    """Yields (member, pattern bound to it) of a destructuring pattern; the member is "" in an array or rest."""
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


def split_test(node: Node) -> tuple[Node | None, Node | None]:
    """Returns a condition and the code that only runs if it is true."""
    if node.type == "binary_expression":
        return node.child_by_field_name("left"), node.child_by_field_name("right")
    return node.child_by_field_name("condition"), node.child_by_field_name("consequence")
