"""Writes the types of a script's expressions and local variables as text (`scopes.py` defines it), and what its
functions return."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from secateur.languages.ecmascript.exports import is_require
from secateur.languages.ecmascript.nodes import (
    FUNCTIONS,
    guarded,
    member_name,
    operator_of,
    pattern_parts,
    required,
    wraps,
)
from secateur.languages.ecmascript.types import written_type
from secateur.languages.syntax.collector import (
    LONG_FUNCTION,
    LONG_WRAPPER,
    NAME_LENGTH,
    TITLE,
    Captures,
    Collector,
    named_child,
)
from secateur.languages.syntax.flow import Flow, Scope, Step, holds, of_type, places_of, type_of
from secateur.languages.syntax.names import words
from secateur.languages.syntax.scopes import CALLED_ITSELF, DEEPEST, UNKNOWN, called, element, member, value_of

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
_UNTOLD = frozenset({UNKNOWN, *(value_of(name) for name in ("string", "number", "boolean"))})
"""Not recorded: such values stand in for others often, and few methods are called on them."""

_INSIDE = words("await_expression parenthesized_expression non_null_expression spread_element expression_statement")
_VALUES = {"assignment_expression": "right", "augmented_assignment_expression": "right"}
_EACH = words("forEach map filter find findIndex findLast some every flatMap")
"""Methods that call what they are given with the elements of a container."""

_SAME = words("Object.freeze Object.seal Object.assign Array.from structuredClone")
_PROPERTY = words("accessibility_modifier readonly override_modifier")
"""Before a parameter of a constructor: it is a field as well."""

_LEAVES = words("return_statement throw_statement continue_statement break_statement")


class EcmascriptValues(Flow):
    """Reads the values of one file and records calls with their receivers, the types of fields and variables, and what
    functions return.

    `named` are the ids of functions that are definitions by their name, `titles` the titles of test cases by the ids of
    their callbacks.
    """

    def __init__(self, captures: Captures, out: Collector, named: Collection[int], titles: Mapping[int, str]) -> None:
        super().__init__(out)
        self._named = named
        self._titles = titles
        self._elements: dict[int, str] = {}  # id of a callback → the container it is called for each element of
        self.run(_steps(captures, out.source))

    # --- expressions --------------------------------------------------------------------------------------------------

    def expression(self, node: Node | None, depth: int = 0) -> str:
        """An expression as text."""
        if node is None or depth > DEEPEST:
            return UNKNOWN
        kind = node.type
        if kind == "identifier":
            name = self.out.text(node)
            meaning = self.meaning(name)
            return name if meaning is None else meaning
        if kind == "this":
            return next(
                (scope.receiver for scope in reversed(self.scopes) if scope.kind in ("function", "class")), UNKNOWN
            )
        if kind == "super":
            return kind
        if kind == "member_expression":
            name = member_name(self.out.field_text(node, "property"))
            return member(self.expression(node.child_by_field_name("object"), depth + 1), name)
        if kind == "call_expression":
            function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
            if (
                function is not None
                and function.type in ("member_expression", "identifier")
                and self.out.text(function) in _SAME
            ):
                return self.expression(named_child(arguments), depth + 1)
            return called(self.expression(function, depth + 1))
        if kind == "new_expression":
            return called(self.expression(node.child_by_field_name("constructor"), depth + 1))
        if kind == "subscript_expression":
            value = self.expression(node.child_by_field_name("object"), depth + 1)
            return UNKNOWN if value == value_of("Array") else element(value)
        if kind in ("as_expression", "satisfies_expression"):
            return (
                self._of_type(self.out.text(named_child(node, 1)))
                if kind == "as_expression"
                else self.expression(named_child(node), depth + 1)
            )
        if kind in _INSIDE:
            return self.expression(named_child(node), depth + 1)
        if kind in _VALUES:
            return self.expression(node.child_by_field_name(_VALUES[kind]), depth + 1)
        if kind in ("ternary_expression", "binary_expression"):
            sides = ("consequence", "alternative") if kind == "ternary_expression" else ("left", "right")
            if kind == "binary_expression" and operator_of(node) not in ("||", "??", "&&"):
                return UNKNOWN
            texts = [self.expression(node.child_by_field_name(side), depth + 1) for side in sides]
            return next(
                (text for text in (texts[::-1] if operator_of(node) == "&&" else texts) if text != UNKNOWN), UNKNOWN
            )
        return value_of(_LITERALS[kind]) if kind in _LITERALS else UNKNOWN

    def _type(self, text: str) -> str:
        """A declared type; of a type parameter what it is bound to."""
        written = written_type(text)
        name = written.removesuffix("()").rstrip("[]")
        for scope in reversed(self.scopes):
            if name in scope.types:
                return scope.types[name] + written[len(name) :] if scope.types[name] else ""
        return written

    def _of_type(self, text: str) -> str:
        return of_type(self._type(text))

    # --- scopes -------------------------------------------------------------------------------------------------------

    def _open_class(self, node: Node) -> None:
        if node.type != "object":
            self.hide(self.out.field_text(node, "name"))
        scope = Scope("class", node.end_byte, receiver=UNKNOWN if self.hidden() else "this")
        self.scopes.append(scope)
        self._type_parameters(node, scope)

    def _type_parameters(self, node: Node, scope: Scope) -> None:
        parameters = node.child_by_field_name("type_parameters")
        for parameter in parameters.named_children if parameters is not None else ():
            constraint = parameter.child_by_field_name("constraint")
            bound = written_type(self.out.text(named_child(constraint))) if constraint is not None else ""
            scope.types[self.out.field_text(parameter, "name")] = "" if bound.startswith("=") else bound

    def _open_function(self, node: Node) -> None:
        out = self.out
        if node.type in ("function_declaration", "generator_function_declaration"):
            self.hide(out.field_text(node, "name"))
        hidden = self.hidden()
        named = node.id in self._named or node.type == "method_definition"
        rows = node.end_point.row - node.start_point.row
        scope = Scope(
            "function",
            node.end_byte,
            hides=rows < (LONG_FUNCTION if named or node.id in self._titles else LONG_WRAPPER),
        )
        scope.receiver = self._receiver(node, hidden)
        self.scopes.append(scope)
        self._type_parameters(node, scope)
        self._parameters(node, scope)
        returned = node.child_by_field_name("return_type")
        if not hidden and node.id in self._titles:
            out.declare(node, TITLE, self._titles[node.id][:NAME_LENGTH])
        if not named or hidden:
            return
        result = self._type(out.text(returned)) if returned is not None else ""
        if result:
            out.declare(node, "return", result)
        elif returned is None and not any(child.type == "async" for child in node.children[:2]):
            scope.row = node.start_point.row

    def _receiver(self, node: Node, hidden: bool) -> str:
        """The meaning of `this` inside a function: a function inside a method has one of its own, an arrow has not."""
        holder = next((scope for scope in reversed(self.scopes) if scope.kind in ("function", "class")), None)
        if node.type == "arrow_function" or (holder is not None and holder.kind == "class"):
            return holder.receiver if holder is not None else UNKNOWN
        return UNKNOWN if hidden else "this"

    def _parameters(self, node: Node, scope: Scope) -> None:
        single = node.child_by_field_name("parameter")
        parameters = node.child_by_field_name("parameters")
        listed = [single] if single is not None else parameters.named_children if parameters is not None else []
        for position, parameter in enumerate(listed):
            pattern = parameter.child_by_field_name("pattern") or parameter
            annotation = parameter.child_by_field_name("type")
            meaning = self._of_type(self.out.text(annotation)) if annotation is not None else UNKNOWN
            if meaning == UNKNOWN and not position and node.id in self._elements:
                meaning = self._elements[node.id]
            self._bind_pattern(pattern, meaning, scope, declared=annotation is not None)
            first = parameter.child(0) if parameter.child_count else None
            if first is not None and first.type in _PROPERTY and meaning != UNKNOWN and not self.hidden_class():
                self.out.annotations.append(
                    (parameter.start_point.row, f"this.{self.out.text(pattern)}", type_of(meaning))
                )

    def _bind_pattern(self, node: Node, meaning: str, scope: Scope, depth: int = 0, *, declared: bool = False) -> None:
        """Bind the names of a parameter or destructuring pattern in a function."""
        if depth > DEEPEST:
            return
        if node.type in ("identifier", "shorthand_property_identifier_pattern"):
            self.bind(self.out.text(node), meaning, declared=declared, scope=scope)
        elif node.type in ("assignment_pattern", "object_assignment_pattern"):
            left = node.child_by_field_name("left")
            if left is not None:
                self._bind_pattern(
                    left,
                    meaning if meaning != UNKNOWN else self.expression(node.child_by_field_name("right")),
                    scope,
                    depth + 1,
                )
        elif node.type == "rest_pattern" and node.named_child_count:
            self._bind_pattern(node.named_children[0], meaning if declared else UNKNOWN, scope, depth + 1)
        else:
            for name, inner in pattern_parts(node, self.out):
                self._bind_pattern(inner, member(meaning, name) if name else UNKNOWN, scope, depth + 1)

    # --- names --------------------------------------------------------------------------------------------------------

    def _variable(self, node: Node) -> None:
        target, value, annotation = (node.child_by_field_name(name) for name in ("name", "value", "type"))
        scope = self.binder()
        if target is None or (value is not None and is_require(self.out, required(value))):
            return
        if scope.kind == "class":
            return
        defines = value is not None and (value.type in FUNCTIONS or value.type in ("class", "object"))
        if scope.kind == "function":
            if annotation is not None:
                written = self._type(self.out.text(annotation))
                self._bind_pattern(
                    target, of_type(written) if written else self.expression(value), scope, declared=bool(written)
                )
            elif not defines or self.hidden():
                self._bind_pattern(target, self.expression(value), scope)
            return
        if defines or (annotation is None and wraps(value)):
            return
        self._record(
            node, target, self._of_type(self.out.text(annotation)) if annotation is not None else self.expression(value)
        )

    def _record(self, node: Node, target: Node, meaning: str, depth: int = 0) -> None:
        """Record the types of a file's own variables."""
        if meaning in _UNTOLD or depth > DEEPEST:
            return
        if target.type in ("identifier", "shorthand_property_identifier_pattern"):
            self.out.annotations.append((node.start_point.row, self.out.text(target), type_of(meaning)))
        elif target.type == "object_pattern":
            for name, inner in pattern_parts(target, self.out):
                self._record(node, inner, member(meaning, name) if name else UNKNOWN, depth + 1)

    def _assign(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return
        if left.type == "identifier":
            name = self.out.text(left)
            scope = next(
                (scope for scope in reversed(self.scopes) if scope.kind == "function" and name in scope.names), None
            )
            if scope is not None:
                self.bind(name, self.expression(right), scope=scope)
        elif left.type == "member_expression" and right.type not in FUNCTIONS:
            self._field_of(left, self.expression(right))

    def _field_of(self, target: Node, meaning: str) -> None:
        owner, name = target.child_by_field_name("object"), member_name(self.out.field_text(target, "property"))
        if owner is not None and owner.type == "this" and self.expression(owner) == "this" and meaning not in _UNTOLD:
            self.out.annotations.append((target.start_point.row, f"this.{name}", type_of(meaning)))

    def _field(self, node: Node) -> None:
        """`cart = new Cart()`, `cart: Cart` in a class."""
        name, value, annotation = (
            node.child_by_field_name("property") or node.child_by_field_name("name"),
            *map(node.child_by_field_name, ("value", "type")),
        )
        if name is None or self.hidden() or (value is not None and value.type in FUNCTIONS):
            return
        meaning = self._of_type(self.out.text(annotation)) if annotation is not None else self.expression(value)
        if meaning not in _UNTOLD:
            self.out.annotations.append((node.start_point.row, member_name(self.out.text(name)), type_of(meaning)))

    def _member(self, node: Node) -> None:
        """Reads a member that an interface or an abstract class declares."""
        name = member_name(self.out.field_text(node, "name"))
        if node.type == "property_signature":
            written = self._type(self.out.field_text(node, "type"))
            self.out.declare(node, name, written)
        elif (
            node.parent is None or node.parent.type != "class_body" or node.type == "abstract_method_signature"
        ) and not self.hidden_class():
            self.out.declare(node, f"{name}()", self._type(self.out.field_text(node, "return_type")), empty=True)

    def _alias(self, node: Node) -> None:
        """`type Basket = Cart`, which is no definition of its own."""
        if node.end_point.row == node.start_point.row and not self.hidden():
            self.out.declare(node, self.out.field_text(node, "name"), self._type(self.out.field_text(node, "value")))

    def _loop(self, node: Node) -> None:
        left, operator = node.child_by_field_name("left"), self.out.field_text(node, "operator")
        scope = self.function()
        if left is not None and scope is not None:
            container = self.expression(node.child_by_field_name("right")) if operator == "of" else UNKNOWN
            self._bind_pattern(left, UNKNOWN if container == value_of("Array") else element(container), scope)

    # --- what a test tells --------------------------------------------------------------------------------------------

    def _branch(self, node: Node) -> None:
        """Notes what holds where a condition does: in the branch, in the rest of an `&&`."""
        condition, body = guarded(node)
        if body is not None:
            self.scopes.append(Scope("block", body.end_byte, dict(self._tested(condition))))

    def _after(self, node: Node) -> None:
        """Notes what is known behind `if (!(cart instanceof Cart)) return`."""
        condition, body = guarded(node)
        last = (
            (body.named_children[-1] if body.named_child_count else None)
            if body is not None and body.type == "statement_block"
            else body
        )
        negated = named_child(condition) if condition is not None else None
        if (
            last is None
            or last.type not in _LEAVES
            or node.child_by_field_name("alternative") is not None
            or negated is None
            or negated.type != "unary_expression"
        ):
            return
        for name, meaning in self._tested(negated.child_by_field_name("argument")):
            if (scope := self.function()) is not None:
                self.bind(name, meaning, scope=scope)

    def _tested(self, node: Node | None, depth: int = 0) -> Iterator[tuple[str, str]]:
        if node is None or depth > DEEPEST:
            return
        if node.type == "parenthesized_expression":
            yield from self._tested(named_child(node), depth + 1)
        elif node.type == "binary_expression":
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            if operator_of(node) == "&&":
                yield from self._tested(left, depth + 1)
                yield from self._tested(right, depth + 1)
            elif operator_of(node) == "instanceof" and left is not None and left.type == "identifier":
                yield self.out.text(left), of_type(written_type(self.out.text(right)))

    # --- calls and returns --------------------------------------------------------------------------------------------

    def _callee(self, node: Node) -> None:
        out = self.out
        if node.type != "member_expression":
            meaning = self.meaning(out.text(node))
            out.calls.append((node.start_point.row, out.text(node), "" if meaning is None else CALLED_ITSELF + meaning))
            return
        name = node.child_by_field_name("property")
        if name is None:
            return
        receiver = self.expression(node.child_by_field_name("object"))
        out.calls.append((name.start_point.row, out.text(name), receiver))
        if out.text(name) in _EACH and receiver not in (UNKNOWN, value_of("Array")):
            arguments = node.next_named_sibling
            first = named_child(arguments) if arguments is not None and arguments.type == "arguments" else None
            if first is not None and first.type in FUNCTIONS:
                self._elements[first.id] = element(receiver)

    def _element(self, node: Node) -> None:
        """`<Panel />`, `<panels.Main />`; what begins small is a tag of the document."""
        if node.type == "member_expression" or self.out.text(node)[:1].isupper():
            self._callee(node)

    def _super(self, node: Node) -> None:
        self.out.calls.append((node.start_point.row, "constructor", "super"))

    def _return(self, node: Node) -> None:
        scope = self.function()
        value = named_child(node)
        if scope is None:
            return
        if node.type == "yield_expression":
            scope.yields = True
        elif value is not None and value.type not in ("null", "undefined"):
            scope.returned.add(self.expression(value))

    def _result(self, node: Node) -> None:
        """The result of an arrow without a block."""
        if (scope := self.function()) is not None:
            scope.returned.add(self.expression(node))


_STEPS: dict[str, tuple[Callable[[EcmascriptValues, Node], None], bool]] = {
    "class": (EcmascriptValues._open_class, False),
    "object": (EcmascriptValues._open_class, False),
    "function": (EcmascriptValues._open_function, False),
    "lambda": (EcmascriptValues._open_function, False),
    "method": (EcmascriptValues._open_function, False),
    "callee": (EcmascriptValues._callee, False),
    "element": (EcmascriptValues._element, False),
    "super": (EcmascriptValues._super, False),
    "member": (EcmascriptValues._member, False),
    "alias": (EcmascriptValues._alias, False),
    "variable": (EcmascriptValues._variable, True),
    "assigned": (EcmascriptValues._assign, True),
    "field": (EcmascriptValues._field, True),
    "returned": (EcmascriptValues._return, True),
}
"""By capture: what is done with a node, and whether at its end."""


def _steps(captures: Captures, source: bytes) -> Iterator[Step]:
    done: set[tuple[str, int]] = set()
    for name, (step, late) in _STEPS.items():
        for node in captures.get(name, ()):
            if (name, node.id) not in done:  # a match for each of an object's methods
                done.add((name, node.id))
                yield (node.end_byte, 0, 0, step, node) if late else (node.start_byte, 1, -node.end_byte, step, node)
    for node in captures.get("loop", ()):
        right = node.child_by_field_name("right")
        if right is not None:
            yield right.end_byte, 0, 0, EcmascriptValues._loop, node
    for node in captures.get("lambda", ()):
        body = node.child_by_field_name("body")
        if node.type == "arrow_function" and body is not None and body.type != "statement_block":
            yield body.end_byte, 0, 0, EcmascriptValues._result, body
    tests = places_of(b"instanceof", source)
    for node in captures.get("test", ()) if tests else ():
        condition, body = guarded(node) if holds(node, tests) else (None, None)
        if condition is not None and body is not None and holds(condition, tests):
            yield body.start_byte, 1, -body.end_byte - 1, EcmascriptValues._branch, node
            if node.type == "if_statement":
                yield node.end_byte, 0, 0, EcmascriptValues._after, node
