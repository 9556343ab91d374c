"""Formats the expressions, local variables and return types of a script as text in the form of `scopes.py`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from secateur.languages.ecmascript.exports import is_require
from secateur.languages.ecmascript.nodes import (
    FUNCTIONS,
    normalize_member,
    operator_of,
    split_pattern,
    split_test,
    strip_member,
    wraps,
)
from secateur.languages.ecmascript.types import parse_type
from secateur.languages.syntax.collector import (
    LONG_FUNCTION,
    LONG_WRAPPER,
    NAME_LENGTH,
    TITLE,
    Captures,
    Collector,
    field_children,
    named_child,
)
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

_LITERALS = {
    "string": "string",
    "template_string": "string",
    "number": "number",
    "true": "boolean",
    "false": "boolean",
    "regex": "RegExp",
    "array": "Array",
}
_UNRECORDED = frozenset({UNKNOWN, *(value_of(name) for name in ("string", "number", "boolean"))})
"""Values that are not recorded: they are often placeholders, and few methods are called on them."""

_PASS_THROUGH = words(
    "await_expression parenthesized_expression non_null_expression spread_element expression_statement"
    " satisfies_expression"
)
_VALUES = {"assignment_expression": "right", "augmented_assignment_expression": "right"}
_EACH = words("forEach map filter find findIndex findLast some every flatMap")
"""Methods that call a function with the elements of a container."""

_SAME = words("Object.freeze Object.seal Object.assign Array.from structuredClone")
_PROPERTY = words("accessibility_modifier readonly override_modifier")
"""Modifiers that make a parameter of a constructor a field too."""

_EXITS = words("return_statement throw_statement continue_statement break_statement")


class EcmascriptValues(Flow):
    """Reads the values of one file and records calls with their receivers, the types of fields and variables, and what
    functions return.

    `definitions` are the ids of functions that are definitions; `titles` maps the id of a test's callback to its title.
    """

    def __init__(
        self, captures: Captures, out: Collector, definitions: Collection[int], titles: Mapping[int, str]
    ) -> None:
        super().__init__(out)
        self._definitions = definitions
        self._titles = titles
        self._elements: dict[int, str] = {}  # id of a callback → the element it is called with
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
        if kind == "this":
            return next(
                (scope.receiver for scope in reversed(self.scopes) if scope.kind in ("function", "class")), UNKNOWN
            )
        if kind == "super":
            return kind
        if kind == "member_expression":
            name = normalize_member(self.out.field_text(node, "property"))
            return member(self.format_expression(node.child_by_field_name("object"), depth + 1), name)
        if kind == "call_expression":
            function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
            if (
                function is not None
                and function.type in ("member_expression", "identifier")
                and self.out.text(function) in _SAME
            ):
                return self.format_expression(named_child(arguments), depth + 1)
            return call_of(self.format_expression(function, depth + 1))
        if kind == "new_expression":
            return call_of(self.format_expression(node.child_by_field_name("constructor"), depth + 1))
        if kind == "subscript_expression":
            value = self.format_expression(node.child_by_field_name("object"), depth + 1)
            return UNKNOWN if value == value_of("Array") else element(value)
        if kind == "as_expression":
            return self._format_value(named_child(node, 1))
        if kind in _PASS_THROUGH:
            return self.format_expression(named_child(node), depth + 1)
        if kind in _VALUES:
            return self.format_expression(node.child_by_field_name(_VALUES[kind]), depth + 1)
        if kind in ("ternary_expression", "binary_expression"):
            sides = ("consequence", "alternative") if kind == "ternary_expression" else ("left", "right")
            if kind == "binary_expression" and operator_of(node) not in ("||", "??", "&&"):
                return UNKNOWN
            texts = [self.format_expression(node.child_by_field_name(side), depth + 1) for side in sides]
            return next(
                (text for text in (texts[::-1] if operator_of(node) == "&&" else texts) if text != UNKNOWN), UNKNOWN
            )
        return value_of(_LITERALS[kind]) if kind in _LITERALS else UNKNOWN

    def _resolve_type(self, text: str) -> str:
        """Converts a declared type, and replaces a type parameter by its bound."""
        written = parse_type(text)
        name = written.removesuffix("()").rstrip("[]")
        for scope in reversed(self.scopes):
            if name in scope.types:
                return scope.types[name] + written[len(name) :] if scope.types[name] else ""
        return written

    def _format_value(self, annotation: Node | None, value: Node | None = None) -> str:
        """Formats a value of an annotated type, or an expression if there is no annotation."""
        if annotation is None:
            return self.format_expression(value)
        return value_of_type(self._resolve_type(self.out.text(annotation)))

    # --- scopes -------------------------------------------------------------------------------------------------------

    def _open_class(self, node: Node) -> None:
        if node.type != "object":
            self.hide(self.out.field_text(node, "name"))
        scope = Scope("class", node.end_byte, receiver=UNKNOWN if self.is_hidden() else "this")
        self.scopes.append(scope)
        self._bind_type_parameters(node, scope)

    def _bind_type_parameters(self, node: Node, scope: Scope) -> None:
        for parameter in field_children(node, "type_parameters"):
            constraint = parameter.child_by_field_name("constraint")
            bound = parse_type(self.out.text(named_child(constraint))) if constraint is not None else ""
            scope.types[self.out.field_text(parameter, "name")] = "" if bound.startswith("=") else bound

    def _open_function(self, node: Node) -> None:
        out = self.out
        if node.type in ("function_declaration", "generator_function_declaration"):
            self.hide(out.field_text(node, "name"))
        hidden = self.is_hidden()
        is_definition = node.id in self._definitions or node.type == "method_definition"
        rows = node.end_point.row - node.start_point.row
        scope = Scope(
            "function",
            node.end_byte,
            hides=rows < (LONG_FUNCTION if is_definition or node.id in self._titles else LONG_WRAPPER),
        )
        scope.receiver = self._receiver_of(node, hidden)
        self.scopes.append(scope)
        self._bind_type_parameters(node, scope)
        self._bind_parameters(node, scope)
        returned = node.child_by_field_name("return_type")
        if not hidden and node.id in self._titles:
            out.declare(node, TITLE, self._titles[node.id][:NAME_LENGTH])
        if not is_definition or hidden:
            return
        result = self._resolve_type(out.text(returned)) if returned is not None else ""
        if result:
            out.declare(node, "return", result)
        elif returned is None and not any(child.type == "async" for child in node.children[:2]):
            scope.row = node.start_point.row

    def _receiver_of(self, node: Node, hidden: bool) -> str:
        """Returns the meaning of `this` inside a function. An arrow function has the `this` around it."""
        holder = next((scope for scope in reversed(self.scopes) if scope.kind in ("function", "class")), None)
        if node.type == "arrow_function" or (holder is not None and holder.kind == "class"):
            return holder.receiver if holder is not None else UNKNOWN
        return UNKNOWN if hidden else "this"

    def _bind_parameters(self, node: Node, scope: Scope) -> None:
        single = node.child_by_field_name("parameter")
        for position, parameter in enumerate(field_children(node, "parameters") if single is None else [single]):
            pattern = parameter.child_by_field_name("pattern") or parameter
            annotation = parameter.child_by_field_name("type")
            meaning = self._format_value(annotation)
            if meaning == UNKNOWN and not position and node.id in self._elements:
                meaning = self._elements[node.id]
            self._bind_pattern(pattern, meaning, scope, declared=annotation is not None)
            first = parameter.child(0) if parameter.child_count else None
            if first is not None and first.type in _PROPERTY and meaning != UNKNOWN and not self.is_class_hidden():
                self.out.annotations.append(
                    (parameter.start_point.row, f"this.{self.out.text(pattern)}", type_of(meaning))
                )

    def _bind_pattern(self, node: Node, meaning: str, scope: Scope, depth: int = 0, *, declared: bool = False) -> None:
        """Binds the names of a parameter or destructuring pattern in a function."""
        if depth > DEEPEST:
            return
        if node.type in ("identifier", "shorthand_property_identifier_pattern"):
            self.bind(self.out.text(node), meaning, declared=declared, scope=scope)
        elif node.type in ("assignment_pattern", "object_assignment_pattern"):
            left = node.child_by_field_name("left")
            if left is not None:
                if meaning == UNKNOWN:
                    meaning = self.format_expression(node.child_by_field_name("right"))
                self._bind_pattern(left, meaning, scope, depth + 1)
        elif node.type == "rest_pattern" and node.named_child_count:
            self._bind_pattern(node.named_children[0], meaning if declared else UNKNOWN, scope, depth + 1)
        else:
            for name, inner in split_pattern(node, self.out):
                self._bind_pattern(inner, member(meaning, name) if name else UNKNOWN, scope, depth + 1)

    # --- names --------------------------------------------------------------------------------------------------------

    def _bind_variable(self, node: Node) -> None:
        target, value, annotation = (node.child_by_field_name(name) for name in ("name", "value", "type"))
        scope = self.find_binder()
        if target is None or (value is not None and is_require(self.out, strip_member(value))):
            return
        if scope.kind == "class":
            return
        defines = value is not None and (value.type in FUNCTIONS or value.type in ("class", "object"))
        if scope.kind == "function":
            if annotation is not None:
                written = self._resolve_type(self.out.text(annotation))
                meaning = value_of_type(written) if written else self.format_expression(value)
                self._bind_pattern(target, meaning, scope, declared=bool(written))
            elif not defines or self.is_hidden():
                self._bind_pattern(target, self.format_expression(value), scope)
            return
        if defines or (annotation is None and wraps(value)):
            return
        self._record_variable(node, target, self._format_value(annotation, value))

    def _record_variable(self, node: Node, target: Node, meaning: str, depth: int = 0) -> None:
        """Records the types of variables of the file."""
        if meaning in _UNRECORDED or depth > DEEPEST:
            return
        if target.type in ("identifier", "shorthand_property_identifier_pattern"):
            self.out.annotations.append((node.start_point.row, self.out.text(target), type_of(meaning)))
        elif target.type == "object_pattern":
            for name, inner in split_pattern(target, self.out):
                self._record_variable(node, inner, member(meaning, name) if name else UNKNOWN, depth + 1)

    def _bind_assignment(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return
        if left.type == "identifier":
            name = self.out.text(left)
            scope = next(
                (scope for scope in reversed(self.scopes) if scope.kind == "function" and name in scope.names), None
            )
            if scope is not None:
                self.bind(name, self.format_expression(right), scope=scope)
        elif left.type == "member_expression" and right.type not in FUNCTIONS:
            self._record_field(left, self.format_expression(right))

    def _record_field(self, target: Node, meaning: str) -> None:
        owner, name = target.child_by_field_name("object"), normalize_member(self.out.field_text(target, "property"))
        is_this = owner is not None and owner.type == "this" and self.format_expression(owner) == "this"
        if is_this and meaning not in _UNRECORDED:
            self.out.annotations.append((target.start_point.row, f"this.{name}", type_of(meaning)))

    def _record_declared_field(self, node: Node) -> None:
        """Records `cart = new Cart()` and `cart: Cart` in a class."""
        name, value, annotation = (
            node.child_by_field_name("property") or node.child_by_field_name("name"),
            *map(node.child_by_field_name, ("value", "type")),
        )
        if name is None or self.is_hidden() or (value is not None and value.type in FUNCTIONS):
            return
        meaning = self._format_value(annotation, value)
        if meaning not in _UNRECORDED:
            self.out.annotations.append((node.start_point.row, normalize_member(self.out.text(name)), type_of(meaning)))

    def _record_member(self, node: Node) -> None:
        """Records a member that an interface or an abstract class declares."""
        name = normalize_member(self.out.field_text(node, "name"))
        if node.type == "property_signature":
            written = self._resolve_type(self.out.field_text(node, "type"))
            self.out.declare(node, name, written)
        elif (
            node.parent is None or node.parent.type != "class_body" or node.type == "abstract_method_signature"
        ) and not self.is_class_hidden():
            self.out.declare(
                node, f"{name}()", self._resolve_type(self.out.field_text(node, "return_type")), empty=True
            )

    def _record_alias(self, node: Node) -> None:
        """Records `type Basket = Cart` on one line, which is not a definition."""
        if node.end_point.row == node.start_point.row and not self.is_hidden():
            self.out.declare(
                node, self.out.field_text(node, "name"), self._resolve_type(self.out.field_text(node, "value"))
            )

    def _bind_loop(self, node: Node) -> None:
        left, operator = node.child_by_field_name("left"), self.out.field_text(node, "operator")
        scope = self.find_function()
        if left is not None and scope is not None:
            container = self.format_expression(node.child_by_field_name("right")) if operator == "of" else UNKNOWN
            self._bind_pattern(left, UNKNOWN if container == value_of("Array") else element(container), scope)

    # --- types from tests --------------------------------------------------------------------------------------------

    def _enter_branch(self, node: Node) -> None:
        """Narrows types where a condition is true: in its branch, or in the rest of an `&&`."""
        condition, body = split_test(node)
        if body is not None:
            self.scopes.append(Scope("block", body.end_byte, dict(self._narrow_names(condition))))

    def _leave_test(self, node: Node) -> None:
        """Narrows types after `if (!(cart instanceof Cart)) return`."""
        condition, body = split_test(node)
        last = body
        if body is not None and body.type == "statement_block":
            last = named_child(body, body.named_child_count - 1)
        negated = named_child(condition) if condition is not None else None
        if (
            last is None
            or last.type not in _EXITS
            or node.child_by_field_name("alternative") is not None
            or negated is None
            or negated.type != "unary_expression"
        ):
            return
        for name, meaning in self._narrow_names(negated.child_by_field_name("argument")):
            if (scope := self.find_function()) is not None:
                self.bind(name, meaning, scope=scope)

    def _narrow_names(self, node: Node | None, depth: int = 0) -> Iterator[tuple[str, str]]:
        if node is None or depth > DEEPEST:
            return
        if node.type == "parenthesized_expression":
            yield from self._narrow_names(named_child(node), depth + 1)
        elif node.type == "binary_expression":
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            if operator_of(node) == "&&":
                yield from self._narrow_names(left, depth + 1)
                yield from self._narrow_names(right, depth + 1)
            elif operator_of(node) == "instanceof" and left is not None and left.type == "identifier":
                yield self.out.text(left), value_of_type(parse_type(self.out.text(right)))

    # --- calls and returns --------------------------------------------------------------------------------------------

    def _record_call(self, node: Node) -> None:
        out = self.out
        if node.type != "member_expression":
            meaning = self.find_meaning(out.text(node))
            out.calls.append((node.start_point.row, out.text(node), "" if meaning is None else CALLED_ITSELF + meaning))
            return
        name = node.child_by_field_name("property")
        if name is None:
            return
        receiver = self.format_expression(node.child_by_field_name("object"))
        out.calls.append((name.start_point.row, out.text(name), receiver))
        if out.text(name) in _EACH and receiver not in (UNKNOWN, value_of("Array")):
            arguments = node.next_named_sibling
            first = named_child(arguments) if arguments is not None and arguments.type == "arguments" else None
            if first is not None and first.type in FUNCTIONS:
                self._elements[first.id] = element(receiver)

    def _record_element(self, node: Node) -> None:
        """Records `<Panel />` and `<panels.Main />` as calls; names in lower case are HTML tags."""
        if node.type == "member_expression" or self.out.text(node)[:1].isupper():
            self._record_call(node)

    def _record_super(self, node: Node) -> None:
        self.out.calls.append((node.start_point.row, "constructor", "super"))

    def _record_return(self, node: Node) -> None:
        scope = self.find_function()
        value = named_child(node)
        if scope is None:
            return
        if node.type == "yield_expression":
            scope.yields = True
        elif value is not None and value.type not in ("null", "undefined"):
            scope.returned.add(self.format_expression(value))

    def _record_result(self, node: Node) -> None:
        """Records the result of an arrow function without a block."""
        if (scope := self.find_function()) is not None:
            scope.returned.add(self.format_expression(node))


_ACTIONS: dict[str, tuple[Callable[[EcmascriptValues, Node], None], bool]] = {
    "class": (EcmascriptValues._open_class, False),
    "object": (EcmascriptValues._open_class, False),
    "function": (EcmascriptValues._open_function, False),
    "lambda": (EcmascriptValues._open_function, False),
    "method": (EcmascriptValues._open_function, False),
    "callee": (EcmascriptValues._record_call, False),
    "element": (EcmascriptValues._record_element, False),
    "super": (EcmascriptValues._record_super, False),
    "member": (EcmascriptValues._record_member, False),
    "alias": (EcmascriptValues._record_alias, False),
    "variable": (EcmascriptValues._bind_variable, True),
    "assigned": (EcmascriptValues._bind_assignment, True),
    "field": (EcmascriptValues._record_declared_field, True),
    "returned": (EcmascriptValues._record_return, True),
}
"""By capture: the action for a node, and whether it runs at the end of the node."""


def _list_steps(captures: Captures, source: bytes) -> Iterator[Step]:
    yield from list_steps(captures, _ACTIONS, EcmascriptValues._bind_loop)
    for node in captures.get("lambda", ()):
        body = node.child_by_field_name("body")
        if node.type == "arrow_function" and body is not None and body.type != "statement_block":
            yield body.end_byte, 0, 0, EcmascriptValues._record_result, body
    tests = find_word(b"instanceof", source)
    for node in captures.get("test", ()) if tests else ():
        condition, body = split_test(node) if contains_offset(node, tests) else (None, None)
        if condition is not None and body is not None and contains_offset(condition, tests):
            yield body.start_byte, 1, -body.end_byte - 1, EcmascriptValues._enter_branch, node
            if node.type == "if_statement":
                yield node.end_byte, 0, 0, EcmascriptValues._leave_test, node
