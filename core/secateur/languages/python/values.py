"""Formats the expressions, local variables and return types of a Python file as text in the form of `scopes.py`.

Everything is read in one pass in source order: a name means its last value. Names that no function binds stay as they
are: they belong to the file, and the resolver knows them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from secateur.languages.python.types import SELF_TYPE, parse_type
from secateur.languages.syntax.collector import LONG_FUNCTION, Captures, Collector, field_children, named_child
from secateur.languages.syntax.flow import (
    Flow,
    Scope,
    Step,
    contains_offset,
    find_word,
    list_steps,
    type_of,
    value_of_type,
)
from secateur.languages.syntax.names import words
from secateur.languages.syntax.scopes import CALLED_ITSELF, DEEPEST, UNKNOWN, call_of, element, member, value_of

if TYPE_CHECKING:
    from tree_sitter import Node

_SAME = words("list tuple set frozenset sorted reversed iter deepcopy copy")
"""Functions that return their argument or a container of its elements."""

_LITERALS = {
    "string": "str",
    "concatenated_string": "str",
    "integer": "int",
    "float": "float",
    "true": "bool",
    "false": "bool",
    "list": "list",
    "dictionary": "dict",
    "set": "set",
    "tuple": "tuple",
    "list_comprehension": "list",
    "dictionary_comprehension": "dict",
    "set_comprehension": "set",
    "generator_expression": "Generator",
}
_BUILTIN = frozenset(value_of(name) for name in _LITERALS.values())
_UNRECORDED = frozenset({UNKNOWN, *(value_of(name) for name in ("str", "int", "float", "bool"))})
"""Values that are not recorded: they are often placeholders, and few methods are called on them."""

_PATTERNS = words("pattern_list tuple_pattern list_pattern expression_list tuple list")
_PASS_THROUGH = words("await parenthesized_expression as_pattern")
_EXITS = words("return_statement raise_statement continue_statement break_statement")
_MANAGER = re.compile(r"@[\w.]*contextmanager\b")
_STATIC = re.compile(r"@staticmethod\b")


class PythonValues(Flow):
    """Reads the values of one file and records calls with their receivers, the types of fields and variables, and what
    functions return."""

    def __init__(self, captures: Captures, out: Collector) -> None:
        super().__init__(out)
        self.run(_list_steps(captures, out.source))

    # --- expressions --------------------------------------------------------------------------------------------------

    def format_expression(self, node: Node | None, depth: int = 0) -> str:
        """Formats an expression."""
        if node is None or depth > DEEPEST:
            return UNKNOWN
        kind = node.type
        if kind == "identifier":
            name = self.out.text(node)
            meaning = self.find_meaning(name)
            return name if meaning is None else meaning
        if kind == "attribute":
            name = self.out.field_text(node, "attribute")
            owner = self.format_expression(node.child_by_field_name("object"), depth + 1)
            return owner if name == "__class__" else member(owner, name)
        if kind == "call":
            return self._format_call(node, depth + 1)
        if kind == "subscript":
            value = self.format_expression(node.child_by_field_name("value"), depth + 1)
            index = node.child_by_field_name("subscript")
            return value if index is not None and index.type == "slice" else _format_element(value)
        if kind in _PASS_THROUGH:
            return self.format_expression(named_child(node), depth + 1)
        if kind in ("conditional_expression", "boolean_operator"):
            sides = (named_child(node), named_child(node, 2 if kind == "conditional_expression" else 1))
            return next(
                (text for text in (self.format_expression(side, depth + 1) for side in sides) if text != UNKNOWN),
                UNKNOWN,
            )
        if kind in ("assignment", "named_expression"):
            return self.format_expression(
                node.child_by_field_name("right" if kind == "assignment" else "value"), depth + 1
            )
        return value_of(_LITERALS[kind]) if kind in _LITERALS else UNKNOWN

    def _format_call(self, node: Node, depth: int) -> str:
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is not None and function.type in ("identifier", "attribute"):
            name = self.out.text(function).rpartition(".")[2]
            plain = function.type == "identifier" and self.find_meaning(name) is None
            if plain and name == "super":
                return "super"
            if plain and name == "type" and arguments is not None and arguments.named_child_count == 1:
                return self.format_expression(named_child(arguments), depth)
            if name == "cast" and arguments is not None and arguments.named_child_count > 1:
                return value_of(parse_type(self.out.text(named_child(arguments))))
            if (plain and name in _SAME) or (
                name in ("deepcopy", "copy")
                and function.type == "attribute"
                and self.out.text(function) == f"copy.{name}"
            ):
                return self.format_expression(named_child(arguments), depth)
            if name == "TypeVar":
                keywords = field_children(node, "arguments")
                bound = next((child for child in keywords if self.out.field_text(child, "name") == "bound"), None)
                return value_of(parse_type(self.out.field_text(bound, "value"))) if bound is not None else UNKNOWN
            if plain and name == "next":
                return _format_element(self.format_expression(named_child(arguments), depth))
        return call_of(self.format_expression(function, depth))

    # --- scopes -------------------------------------------------------------------------------------------------------

    def _open_class(self, node: Node) -> None:
        self.hide(self.out.field_text(node, "name"))
        self.scopes.append(Scope("class", node.end_byte))

    def _open_function(self, node: Node) -> None:
        self.hide(self.out.field_text(node, "name"))
        out = self.out
        hidden = self.is_hidden()
        method = not hidden and self.scopes[-1].kind == "class"
        wrapper = out.wrapped.get(node.id)
        decorators = (
            out.source[wrapper.start_byte : node.start_byte].decode("utf-8", "replace") if wrapper is not None else ""
        )
        scope = Scope("function", node.end_byte, manager=bool(_MANAGER.search(decorators)))
        scope.hides = node.end_point.row - node.start_point.row < LONG_FUNCTION
        returned = node.child_by_field_name("return_type")
        result = parse_type(out.text(returned)) if returned is not None else ""
        self.scopes.append(scope)
        self._bind_parameters(node, scope, method and not _STATIC.search(decorators), result)
        if scope.manager and result.endswith("[]"):
            result = result[:-2]
        if result and result in (scope.declared.get("self"), SELF_TYPE):
            result = SELF_TYPE
        if not hidden and result:
            out.declare(node, "return", result)
        elif not hidden and returned is None:
            scope.row = node.start_point.row

    def _bind_parameters(self, node: Node, scope: Scope, method: bool, result: str) -> None:
        for position, parameter in enumerate(field_children(node, "parameters")):
            name_node = parameter.child_by_field_name("name") or (
                parameter if parameter.type == "identifier" else named_child(parameter)
            )
            splat = name_node is not None and name_node.type in ("list_splat_pattern", "dictionary_splat_pattern")
            name = self.out.text(named_child(name_node) if splat else name_node)
            type_ = parse_type(self.out.field_text(parameter, "type"))
            if method and not position:
                scope.names[name] = "cls" if name == "cls" else "self"
                if type_ and type_ == result:
                    scope.declared["self"] = type_
                continue
            scope.names[name] = value_of_type(f"{type_}[]" if splat and type_ else type_)
            if type_:
                scope.declared[name] = scope.names[name]

    def _open_lambda(self, node: Node) -> None:
        self.scopes.append(scope := Scope("inner", node.end_byte))
        self._bind_parameters(node, scope, False, "")

    def _open_comprehension(self, node: Node) -> None:
        scope = Scope("inner", node.end_byte)
        self.scopes.append(scope)
        for clause in node.named_children:
            if clause.type == "for_in_clause":
                self._bind_loop(clause)

    # --- names --------------------------------------------------------------------------------------------------------

    def _bind_assignment(self, node: Node) -> None:
        left, right, type_ = (node.child_by_field_name(name) for name in ("left", "right", "type"))
        if left is None:
            return
        if type_ is not None:
            written = parse_type(self.out.text(type_))
            self._bind_target(
                left,
                value_of_type(written) if written or right is None else self.format_expression(right),
                declared=bool(written),
            )
        else:
            self._unpack(left, right)

    def _unpack(self, left: Node, right: Node | None, depth: int = 0) -> None:
        if left.type not in _PATTERNS or depth > DEEPEST:
            self._bind_target(left, self.format_expression(right))
            return
        values = right.named_children if right is not None and right.type in _PATTERNS else []
        for position, name in enumerate(left.named_children):
            self._unpack(name, values[position] if len(values) == left.named_child_count else None, depth + 1)

    def _bind_target(self, node: Node, meaning: str, declared: bool = False) -> None:
        """Binds a variable of a function, or records the type of a field, or of a variable of a class or module."""
        name = self.out.text(node)
        if node.type == "identifier" and self.find_binder().kind in ("function", "inner"):
            self.bind(name, meaning, declared=declared)
        elif node.type == "attribute":
            owner, _, attribute = name.rpartition(".")
            if (
                self.find_meaning(owner) in ("self", "cls")
                and meaning not in _UNRECORDED
                and not self.is_class_hidden()
            ):
                self.out.annotations.append((node.start_point.row, f"self.{attribute}", type_of(meaning)))
        elif node.type == "identifier" and meaning not in _UNRECORDED and not self.is_hidden():
            self.out.annotations.append((node.start_point.row, name, type_of(meaning)))

    def _bind_walrus(self, node: Node) -> None:
        self.bind(self.out.field_text(node, "name"), self.format_expression(node.child_by_field_name("value")))

    def _bind_alias(self, node: Node) -> None:
        """Binds `file` in `with open() as file`, and `error` in `except Failed as error`."""
        alias = named_child(node.child_by_field_name("alias"))
        if alias is not None and alias.type == "identifier":
            self._bind_target(alias, self.format_expression(named_child(node)))

    def _bind_loop(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None:
            return
        if left.type not in _PATTERNS:
            self._bind_target(left, _format_element(self.format_expression(right)))
            return
        parts = self._find_containers(right)
        for position, name in enumerate(left.named_children):
            if name.type == "identifier":
                self._bind_target(
                    name,
                    _format_element(self.format_expression(parts[position]))
                    if position < len(parts) and parts[position]
                    else UNKNOWN,
                )

    def _find_containers(self, node: Node | None) -> list[Node | None]:
        """Returns the containers whose elements a loop unpacks from `enumerate(carts)`, `zip(carts, rates)` or
        `carts.items()`."""
        function = node.child_by_field_name("function") if node is not None and node.type == "call" else None
        arguments = node.child_by_field_name("arguments") if node is not None else None
        name = self.out.text(function)
        if name == "enumerate":
            return [None, named_child(arguments)]
        if name == "zip":
            return list(arguments.named_children) if arguments is not None else []
        if function is not None and name.endswith(".items"):
            return [None, function.child_by_field_name("object")]
        return []

    # --- types from tests --------------------------------------------------------------------------------------------

    def _enter_branch(self, node: Node) -> None:
        """Narrows types where a condition is true: in its branch, or in the rest of an `and`."""
        condition, body = _split_test(node)
        if body is not None:
            self.scopes.append(Scope("block", body.end_byte, dict(self._narrow_names(condition))))

    def _leave_test(self, node: Node) -> None:
        """Narrows types after `if not isinstance(cart, Cart): return` and `assert isinstance(cart, Cart)`."""
        condition = node.child_by_field_name("condition") or named_child(node)
        if node.type == "if_statement":
            body = node.child_by_field_name("consequence")
            last = body.named_children[-1] if body is not None and body.named_child_count else None
            negated = (
                condition is not None and condition.type == "not_operator" and last is not None and last.type in _EXITS
            )
            condition = (
                condition.child_by_field_name("argument")
                if condition is not None and negated and node.child_by_field_name("alternative") is None
                else None
            )
        for name, meaning in self._narrow_names(condition):
            self.bind(name, meaning)

    def _narrow_names(self, node: Node | None, depth: int = 0) -> Iterator[tuple[str, str]]:
        if node is None or depth > DEEPEST:
            return
        if node.type == "parenthesized_expression":
            yield from self._narrow_names(named_child(node), depth + 1)
        elif node.type == "boolean_operator" and node.child_count > 1 and node.children[1].type == "and":
            for side in node.named_children:
                yield from self._narrow_names(side, depth + 1)
        elif node.type == "call" and self.out.field_text(node, "function") == "isinstance":
            arguments = node.child_by_field_name("arguments")
            value, class_ = named_child(arguments), named_child(arguments, 1)
            if (
                value is not None
                and value.type == "identifier"
                and class_ is not None
                and class_.type in ("identifier", "attribute")
            ):
                yield self.out.text(value), value_of_type(self.out.text(class_))

    # --- calls and returns --------------------------------------------------------------------------------------------

    def _record_call(self, node: Node) -> None:
        if node.type == "identifier":
            name = self.out.text(node)
            meaning = self.find_meaning(name)
            self.out.calls.append((node.start_point.row, name, "" if meaning is None else CALLED_ITSELF + meaning))
        elif (attribute := node.child_by_field_name("attribute")) is not None:
            receiver = self.format_expression(node.child_by_field_name("object"))
            self.out.calls.append((attribute.start_point.row, self.out.text(attribute), receiver))

    def _record_return(self, node: Node) -> None:
        value = named_child(node)
        scope = self.find_function()
        if scope is None:
            return
        if node.type == "yield":
            scope.yields = True
            if not scope.manager:
                return
        if value is not None and value.type != "none":
            scope.returned.add(self.format_expression(value))


def _format_element(container: str) -> str:
    return UNKNOWN if container in _BUILTIN else element(container)


_ACTIONS: dict[str, tuple[Callable[[PythonValues, Node], None], bool]] = {
    "class": (PythonValues._open_class, False),
    "function": (PythonValues._open_function, False),
    "lambda": (PythonValues._open_lambda, False),
    "comprehension": (PythonValues._open_comprehension, False),
    "callee": (PythonValues._record_call, False),
    "assigned": (PythonValues._bind_assignment, True),
    "walrus": (PythonValues._bind_walrus, True),
    "alias": (PythonValues._bind_alias, True),
    "returned": (PythonValues._record_return, True),
}
"""By capture: the action for a node, and whether it runs at the end of the node."""


def _split_test(node: Node) -> tuple[Node | None, Node | None]:
    """Returns a condition and the code that only runs if it is true."""
    if node.type in ("if_statement", "elif_clause"):
        return node.child_by_field_name("condition"), node.child_by_field_name("consequence")
    if node.type == "boolean_operator" and node.child_count > 1 and node.children[1].type == "and":
        return node.child_by_field_name("left"), node.child_by_field_name("right")
    return (named_child(node, 1), named_child(node)) if node.type == "conditional_expression" else (None, None)


def _list_steps(captures: Captures, source: bytes) -> Iterator[Step]:
    """Yields the actions for a file."""
    yield from list_steps(captures, _ACTIONS, PythonValues._bind_loop)
    tests = find_word(b"isinstance", source)
    for node in captures.get("branch", ()) if tests else ():
        condition, body = _split_test(node) if contains_offset(node, tests) else (None, None)
        if condition is not None and body is not None and contains_offset(condition, tests):
            yield body.start_byte, 1, -body.end_byte - 1, PythonValues._enter_branch, node
    for node in captures.get("test", ()) if tests else ():
        if contains_offset(node, tests):
            yield node.end_byte, 0, 0, PythonValues._leave_test, node
