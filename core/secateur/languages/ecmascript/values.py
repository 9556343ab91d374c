"""Formats expressions, local variables, declared and return types of a script as text in the form of `scopes.py`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

from secateur.languages.ecmascript.exports import held_names, is_require, read_first_string
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
from secateur.languages.syntax.names import DEEPEST, UNKNOWN, call_of, element, format_container, member, words
from secateur.languages.syntax.values import END, START, Flow, Scope, inside, through, type_of, value_of_type

if TYPE_CHECKING:
    from tree_sitter import Node


_WRAPPERS = words("Promise PromiseLike Awaited Partial Required Readonly NonNullable Omit Pick Extract Exclude")
_CONTAINERS = words(
    "Array ReadonlyArray Set ReadonlySet WeakSet Iterable Iterator IterableIterator AsyncIterable AsyncIterator"
    " AsyncIterableIterator Generator AsyncGenerator"
)
_MAPPINGS = words("Map ReadonlyMap WeakMap Record")
_UNINFORMATIVE = words("any unknown never void undefined null object infer keyof unique")
_PREFIX = re.compile(r"\A(?:\s|readonly\b|abstract\b|asserts\b)*")
_NAME = re.compile(r"[^\W\d][\w$]*(?:\s*\.\s*[^\W\d][\w$]*)*|\$[\w$]*")
_LENGTH = 300
_OPENING, _CLOSING = "<([{", ">)]}"


@lru_cache(maxsize=4096)
def parse_type(text: str, depth: int = 0) -> str:
    """Converts a type; "" for a type without information.

    `Cart | null` → `Cart`, `readonly Cart[]` → `Cart[]`, `Map<string, Cart>` → `Cart[]`, `() => Cart` → `Cart()`,
    `typeof Cart` → `=Cart`, `this` → `=self`.
    """
    if depth > DEEPEST:
        return ""
    text = text[:_LENGTH].strip().lstrip(":|& \t\r\n")
    arrow = list(_split(text, "=>"))
    if len(arrow) > 1:
        returned = parse_type(arrow[-1], depth + 1)
        if text.startswith(("new ", "abstract new ")):
            return f"={returned}" if returned.replace(".", "").isidentifier() else ""
        return f"{returned}()" if returned and not returned.startswith("=") else ""
    if len(list(_split(text, "?"))) > 1:
        return ""  # a conditional type
    return next(filter(None, (_parse_single(next(_split(part, "&")), depth) for part in _split(text, "|"))), "")


def _parse_single(text: str, depth: int) -> str:
    text = _PREFIX.sub("", text.strip(), count=1)
    if text.startswith("typeof "):
        name = text[7:].strip()
        return f"={name}" if _NAME.fullmatch(name) else ""
    if text.endswith("[]"):
        return format_container(parse_type(text[:-2], depth + 1)) or "Array"
    if text.startswith("(") and text.endswith(")"):
        return parse_type(text[1:-1], depth + 1)
    if (match := _NAME.match(text)) is None:
        return ""
    name, rest = re.sub(r"\s", "", match[0]), text[match.end() :].strip()
    if name == "this" and not rest:
        return "=self"
    if name in _UNINFORMATIVE or (rest and not (rest.startswith("<") and rest.endswith(">"))):
        return ""
    arguments = [parse_type(argument, depth + 1) for argument in _split(rest[1:-1], ",")] if rest else []
    if name in _WRAPPERS:
        return arguments[0] if arguments else ""
    if arguments and name in _CONTAINERS | _MAPPINGS:
        return format_container(arguments[0 if name in _CONTAINERS else -1]) or name
    return name


def _split(text: str, separator: str) -> Iterator[str]:
    depth = start = 0
    for at, character in enumerate(text):
        if character == ">" and text[at - 1 : at] == "=":
            if separator == "=>" and not depth:
                yield text[start : at - 1]
                start = at + 1
        elif character in _OPENING:
            depth += 1
        elif character in _CLOSING:
            depth -= 1
        elif (
            character == separator
            and not depth
            and not (separator == "?" and text[at + 1 : at + 2] in (":", ",", ")", ""))
        ):
            yield text[start:at]
            start = at + 1
    yield text[start:]


# Nodes that are functions but not declarations.
FUNCTIONS = words("arrow_function function_expression generator_function")

_ARRAY = "<Array>"
_LOADED = "import "  # begins the local name of a module that `import()` loads
# Methods that call a function with the elements of a container.
_EACH = words("forEach map filter find findIndex findLast some every flatMap")

_SAME = words("Object.freeze Object.seal Object.assign Array.from structuredClone")
# Modifiers that make a parameter of a constructor a field too.
_PROPERTY = words("accessibility_modifier readonly override_modifier")


class EcmascriptValues(Flow):
    """Reads the values of one script.

    `definitions` are the ids of functions that are definitions; `titles` maps the id of a test's callback to its title.
    """

    MEMBER = "property"
    UNRECORDED = frozenset({UNKNOWN, "<string>", "<number>", "<boolean>"})
    EXITS = words("return_statement throw_statement continue_statement break_statement")
    TEST = (b"instanceof", "test")
    LITERALS: ClassVar = {
        "string template_string": "<string>",
        "number": "<number>",
        "true false": "<boolean>",
        "regex": "<RegExp>",
        "array": _ARRAY,
        "super": "super",
    }

    def __init__(
        self, captures: Captures, out: Collector, definitions: Collection[int], titles: Mapping[int, str]
    ) -> None:
        self._definitions = definitions
        self._titles = titles
        self._elements: dict[int, str] = {}  # id of a callback → the element it is called with
        super().__init__(captures, out)

    # --- expressions --------------------------------------------------------------------------------------------------

    def _format_call(self, node: Node, depth: int) -> str:
        function = node.child_by_field_name("constructor" if node.type == "new_expression" else "function")
        if (
            node.type == "call_expression"
            and function is not None
            and function.type in ("member_expression", "identifier")
            and self.out.text(function) in _SAME
        ):
            return self.format_expression(named_child(node.child_by_field_name("arguments")), depth)
        if function is not None and function.type == "import" and (path := read_first_string(node, self.out)):
            local = _LOADED + path.replace(".", ",")  # a dot would separate two names
            self.out.add_import(node, local, path)
            return local
        return call_of(self.format_expression(function, depth))

    def _format_item(self, node: Node, depth: int) -> str:
        value = self.format_expression(node.child_by_field_name("object"), depth)
        return UNKNOWN if value == _ARRAY else element(value)

    def _format_choice(self, node: Node, depth: int) -> str:
        operator = _operator_of(node)
        if node.type == "binary_expression" and operator not in ("||", "??", "&&"):
            return UNKNOWN
        sides = ["consequence", "alternative"] if node.type == "ternary_expression" else ["left", "right"]
        return self.format_first(map(node.child_by_field_name, reversed(sides) if operator == "&&" else sides), depth)

    def _resolve_type(self, text: str) -> str:
        written = parse_type(text)
        name = written.removesuffix("()").rstrip("[]")
        for scope in reversed(self.scopes):
            if name in scope.types:
                return scope.types[name] + written[len(name) :] if scope.types[name] else ""
        return written

    def _format_value(self, annotation: Node | None, value: Node | None = None) -> str:
        if annotation is None:
            return self.format_expression(value)
        return value_of_type(self._resolve_type(self.out.text(annotation)))

    # --- scopes -------------------------------------------------------------------------------------------------------

    def _open_class(self, node: Node) -> None:
        if node.type != "object":
            self.hide(node)
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
            self.hide(node)
        hidden = self.is_hidden()
        is_definition = node.id in self._definitions or node.type == "method_definition"
        rows = node.end_point.row - node.start_point.row
        scope = Scope(
            "function",
            node.end_byte,
            hides=rows < (LONG_FUNCTION if is_definition or node.id in self._titles else LONG_WRAPPER),
        )
        holder = self._find_holder()
        inherits = node.type == "arrow_function" or holder.kind == "class"  # an arrow function has the `this` around it
        scope.receiver = holder.receiver if inherits else UNKNOWN if hidden else "this"
        self.scopes.append(scope)
        self._bind_type_parameters(node, scope)
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
                self.out.declare(parameter, f"this.{self.out.text(pattern)}", type_of(meaning))
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

    def _find_holder(self) -> Scope:
        return next(scope for scope in reversed(self.scopes) if scope.kind in ("module", "function", "class"))

    def _bind_pattern(self, node: Node, meaning: str, scope: Scope, depth: int = 0, *, declared: bool = False) -> None:
        if depth > DEEPEST:
            return
        if node.type in ("identifier", "shorthand_property_identifier_pattern"):
            self.bind(self.out.text(node), meaning, declared=declared, scope=scope)
        elif node.type in ("assignment_pattern", "object_assignment_pattern"):
            if (left := node.child_by_field_name("left")) is not None:
                if meaning == UNKNOWN:
                    meaning = self.format_expression(node.child_by_field_name("right"))
                self._bind_pattern(left, meaning, scope, depth + 1)
        elif node.type == "rest_pattern" and node.named_child_count:
            self._bind_pattern(node.named_children[0], meaning if declared else UNKNOWN, scope, depth + 1)
        else:
            for name, inner in _split_pattern(node, self.out):
                self._bind_pattern(inner, member(meaning, name) if name else UNKNOWN, scope, depth + 1)

    # --- names --------------------------------------------------------------------------------------------------------

    def _bind_variable(self, node: Node) -> None:
        target, value, annotation = (node.child_by_field_name(name) for name in ("name", "value", "type"))
        scope = self.find_binder()
        loaded = (
            value.child_by_field_name("object") if value is not None and value.type == "member_expression" else None
        )
        if target is None or scope.kind == "class" or (value is not None and is_require(self.out, loaded or value)):
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
        if value is not None and value.type == "call_expression" and annotation is None:
            first = named_child(value.child_by_field_name("arguments"))
            defines = first is not None and (first.type in FUNCTIONS or first.type == "object")  # `memo(() => ...)`
            value = first if defines else value
        if value is not None and value.type in ("as_expression", "satisfies_expression"):
            value = named_child(value)
        if value is not None and value.type == "object":
            for key, held in held_names(value, self.out):
                self.out.declare(node, f"{self.out.text(target)}.{key}", f"={held}")
            return
        if defines:
            return
        self._record_variable(node, target, self._format_value(annotation, value))

    def _record_variable(self, node: Node, target: Node, meaning: str, depth: int = 0) -> None:
        if meaning in self.UNRECORDED or depth > DEEPEST:
            return
        if target.type in ("identifier", "shorthand_property_identifier_pattern"):
            self.annotate(node, self.out.text(target), meaning)
        elif target.type == "object_pattern":
            for name, inner in _split_pattern(target, self.out):
                self._record_variable(node, inner, member(meaning, name) if name else UNKNOWN, depth + 1)

    def _bind_assignment(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return
        if left.type == "identifier":
            name = self.out.text(left)
            for scope in [scope for scope in self.scopes if scope.kind == "function" and name in scope.names][-1:]:
                self.bind(name, self.format_expression(right), scope=scope)
        elif left.type == "member_expression" and right.type not in FUNCTIONS:
            owner = left.child_by_field_name("object")
            if owner is not None and owner.type == "this" and self.format_expression(owner) == "this":
                name = _normalize_member(self.out.field_text(left, "property"))
                self.annotate(left, f"this.{name}", self.format_expression(right))

    def _record_declared_field(self, node: Node) -> None:
        name, value, annotation = (
            node.child_by_field_name("property") or node.child_by_field_name("name"),
            *map(node.child_by_field_name, ("value", "type")),
        )
        if name is None or self.is_hidden() or (value is not None and value.type in FUNCTIONS):
            return
        self.annotate(node, _normalize_member(self.out.text(name)), self._format_value(annotation, value))

    def _record_member(self, node: Node) -> None:
        name = _normalize_member(self.out.field_text(node, "name"))
        if node.type == "property_signature":
            self.out.declare(node, name, self._resolve_type(self.out.field_text(node, "type")))
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
            self._bind_pattern(left, UNKNOWN if container == _ARRAY else element(container), scope)

    # --- calls, results and tests -------------------------------------------------------------------------------------

    def _record_call(self, node: Node) -> None:
        self.record_call(node)
        _, name, receiver = self.out.calls[-1]
        is_loaded = name == "then" and receiver.startswith(_LOADED)
        if node.type == "member_expression" and (is_loaded or name in _EACH) and receiver not in (UNKNOWN, _ARRAY):
            arguments = node.next_named_sibling
            first = named_child(arguments) if arguments is not None and arguments.type == "arguments" else None
            if first is not None and first.type in FUNCTIONS:
                self._elements[first.id] = receiver if is_loaded else element(receiver)

    def _record_element(self, node: Node) -> None:
        """Records `<Panel />` and `<panels.Main />` as calls; names in lower case are HTML tags."""
        if node.type == "member_expression" or self.out.text(node)[:1].isupper():
            self._record_call(node)

    def _record_result(self, node: Node) -> None:
        body, scope = node.child_by_field_name("body"), self.find_function()
        if node.type == "arrow_function" and body is not None and body.type != "statement_block" and scope is not None:
            scope.returned.add(self.format_expression(body))

    def split_test(self, node: Node) -> tuple[Node | None, Node | None]:
        if node.type == "binary_expression":
            return node.child_by_field_name("left"), node.child_by_field_name("right")
        return node.child_by_field_name("condition"), node.child_by_field_name("consequence")

    def is_conjunction(self, node: Node) -> bool:
        return node.type == "binary_expression" and _operator_of(node) == "&&"

    def read_test(self, node: Node) -> tuple[Node | None, str] | None:
        if node.type != "binary_expression" or _operator_of(node) != "instanceof":
            return None
        return node.child_by_field_name("left"), parse_type(self.out.field_text(node, "right"))

    def find_negated(self, condition: Node) -> Node | None:
        inner = named_child(condition)
        negates = inner is not None and inner.type == "unary_expression"
        return inner.child_by_field_name("argument") if inner is not None and negates else None

    EXPRESSIONS: ClassVar = {
        "identifier": Flow.format_name,
        "this": lambda values, _node, _depth: values._find_holder().receiver,
        "member_expression": lambda values, node, depth: member(
            values.format_expression(node.child_by_field_name("object"), depth),
            _normalize_member(values.out.field_text(node, "property")),
        ),
        "call_expression new_expression": _format_call,
        "subscript_expression": _format_item,
        "as_expression": lambda values, node, _depth: values._format_value(named_child(node, 1)),
        "await_expression parenthesized_expression non_null_expression spread_element": inside(),
        "expression_statement satisfies_expression": inside(),
        "assignment_expression augmented_assignment_expression": through("right"),
        "ternary_expression binary_expression": _format_choice,
    }
    ACTIONS = (
        ("class", _open_class, START),
        ("object", _open_class, START),
        ("function", _open_function, START),
        ("lambda", _open_function, START),
        ("method", _open_function, START),
        ("callee", _record_call, START),
        ("element", _record_element, START),
        ("super", lambda values, node: values.out.calls.append((node.start_point.row, "constructor", "super")), START),
        ("member", _record_member, START),
        ("alias", _record_alias, START),
        ("variable", _bind_variable, END),
        ("assigned", _bind_assignment, END),
        ("field", _record_declared_field, END),
        ("returned", Flow.record_return, END),
        ("loop", _bind_loop, "right"),
        ("lambda", _record_result, "body"),
    )


def _normalize_member(name: str) -> str:
    """Returns the name of a member in a chain: without quotes, and marked if it is private."""
    return name.strip("\"'").replace("#", "$$")


def _operator_of(node: Node) -> str:
    operator = node.child_by_field_name("operator")
    return operator.type if operator is not None else ""


def _split_pattern(pattern: Node, out: Collector) -> Iterator[tuple[str, Node]]:
    """Yields (member, pattern bound to it) of a destructuring pattern; the member is "" in an array or rest."""
    for child in pattern.named_children:
        if child.type == "pair_pattern":
            if (value := child.child_by_field_name("value")) is not None:
                yield out.field_text(child, "key").strip("\"'"), value
        elif child.type == "shorthand_property_identifier_pattern":
            yield out.text(child), child
        elif child.type == "object_assignment_pattern":
            yield out.field_text(child, "left"), child
        elif pattern.type in ("array_pattern", "object_pattern"):
            yield "", child
