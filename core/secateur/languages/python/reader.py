"""Reads the trees of Python files: definitions and imports, and expressions, local variables, declared and return types
as text in the form of `scopes.py`.

Everything is read in one pass in source order: a name means its last value. Names that no function binds stay as they
are: they belong to the file, and the resolver knows them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

from secateur.languages.syntax.collector import LONG_FUNCTION, Captures, Collector, field_children, named_child
from secateur.languages.syntax.names import (
    DEEPEST,
    UNKNOWN,
    call_of,
    element,
    format_container,
    member,
    read_type_name,
    value_of,
    words,
)
from secateur.languages.syntax.values import END, START, Flow, Scope, inside, through, value_of_type
from secateur.model import FragmentKind

if TYPE_CHECKING:
    from tree_sitter import Node


SELF_TYPE = "=self"  # the type of the receiver itself: `Self`

_WRAPPERS = words(
    "Optional Annotated ClassVar Final Required NotRequired ReadOnly Awaitable InitVar AbstractContextManager"
    " ContextManager TypeGuard Union"
)
_CONTAINERS = words(
    "list List Sequence MutableSequence Iterable Iterator Collection Container set Set frozenset FrozenSet MutableSet"
    " AbstractSet deque Deque AsyncIterable AsyncIterator Generator AsyncGenerator Reversible ValuesView KeysView tuple"
    " Tuple"
)
_MAPPINGS = words("dict Dict Mapping MutableMapping defaultdict DefaultDict OrderedDict")
_UNINFORMATIVE = words("None Any object NoReturn Never Literal LiteralString")
_NAME = re.compile(r"[^\W\d]\w*(?:\s*\.\s*[^\W\d]\w*)*")
_LENGTH = 300


@lru_cache(maxsize=4096)
def parse_type(text: str, depth: int = 0) -> str:
    """Converts a type; "" for a type without information.

    `Cart | None` → `Cart`, `list["Cart"]` → `Cart[]`, `dict[str, Cart]` → `Cart[]`, `Callable[[], Cart]` → `Cart()`,
    `type[Cart]` → `=Cart`.
    """
    if depth > DEEPEST:
        return ""
    for part in _split(text[:_LENGTH].strip().strip("\"'"), "|"):
        if (match := _NAME.match(part)) is None or match[0] == "None":
            continue
        name = re.sub(r"\s", "", match[0])
        last = name.rpartition(".")[2]
        rest = part[match.end() :].strip()
        has_arguments = rest.startswith("[") and rest.endswith("]")
        arguments = _split(rest[1:-1], ",") if has_arguments else ()
        return _format_type(name, last, [parse_type(argument, depth + 1) for argument in arguments])
    return ""


def _format_type(name: str, last: str, arguments: list[str]) -> str:
    if last == "Self":
        return SELF_TYPE
    if last in _UNINFORMATIVE:
        return ""
    if last in ("type", "Type"):
        return f"={arguments[0]}" if arguments and arguments[0].replace(".", "").isidentifier() else name
    if last in _WRAPPERS:
        return next(filter(None, arguments), "")
    if last == "Coroutine":
        return arguments[-1] if arguments else ""
    if last == "Callable":
        return f"{arguments[-1]}()" if arguments and arguments[-1] and not arguments[-1].startswith("=") else ""
    if last in ("tuple", "Tuple") and len(set(arguments[: 2 if arguments[1:] == [""] else None])) > 1:
        return name  # its items have different types
    if arguments and last in _CONTAINERS | _MAPPINGS:
        return format_container(arguments[0 if last in _CONTAINERS else -1]) or name
    return name


def _split(text: str, separator: str) -> Iterator[str]:
    depth = start = 0
    for at, character in enumerate(text):
        if character in "[(":
            depth += 1
        elif character in "])":
            depth -= 1
        elif character == separator and not depth:
            yield text[start:at].strip().strip("\"'")
            start = at + 1
    yield text[start:].strip().strip("\"'")


# Functions that return their argument or a container of its elements.
_SAME = words("list tuple set frozenset sorted reversed iter deepcopy copy")

_PATTERNS = words("pattern_list tuple_pattern list_pattern expression_list tuple list")
_MANAGER = re.compile(r"@[\w.]*contextmanager\b")
_STATIC = re.compile(r"@staticmethod\b")


class PythonValues(Flow):
    """Reads the values of one Python file."""

    MEMBER = "attribute"
    UNRECORDED = frozenset({UNKNOWN, "<str>", "<int>", "<float>", "<bool>"})
    EXITS = words("return_statement raise_statement continue_statement break_statement")
    TEST = (b"isinstance", "branch")
    LITERALS: ClassVar = {
        "string concatenated_string": "<str>",
        "integer": "<int>",
        "float": "<float>",
        "true false": "<bool>",
        "list list_comprehension": "<list>",
        "dictionary dictionary_comprehension": "<dict>",
        "set set_comprehension": "<set>",
        "tuple": "<tuple>",
        "generator_expression": "<Generator>",
    }

    # --- expressions --------------------------------------------------------------------------------------------------

    def _format_attribute(self, node: Node, depth: int) -> str:
        name = self.out.field_text(node, "attribute")
        owner = self.format_expression(node.child_by_field_name("object"), depth)
        return owner if name == "__class__" else member(owner, name)

    def _format_subscript(self, node: Node, depth: int) -> str:
        value = self.format_expression(node.child_by_field_name("value"), depth)
        index = node.child_by_field_name("subscript")
        return value if index is not None and index.type == "slice" else _format_element(value)

    def _format_choice(self, node: Node, depth: int) -> str:
        other = 2 if node.type == "conditional_expression" else 1
        return self.format_first((named_child(node), named_child(node, other)), depth)

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
            if (plain and name in _SAME) or self.out.text(function) in ("copy.deepcopy", "copy.copy"):
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
        self.hide(node)
        self.scopes.append(Scope("class", node.end_byte))

    def _open_function(self, node: Node) -> None:
        self.hide(node)
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

    def _bind_parameters(self, node: Node, scope: Scope, method: bool = False, result: str = "") -> None:
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
        self._bind_parameters(node, scope)

    def _open_comprehension(self, node: Node) -> None:
        self.scopes.append(Scope("inner", node.end_byte))
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
            meaning = value_of_type(written) if written or right is None else self.format_expression(right)
            self._bind_target(left, meaning, declared=bool(written))
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
        name = self.out.text(node)
        if node.type == "identifier" and self.find_binder().kind in ("function", "inner"):
            self.bind(name, meaning, declared=declared)
        elif node.type == "attribute":
            owner, _, attribute = name.rpartition(".")
            if self.find_meaning(owner) in ("self", "cls") and not self.is_class_hidden():
                self.annotate(node, f"self.{attribute}", meaning)
        elif node.type == "identifier" and not self.is_hidden():
            self.annotate(node, name, meaning)

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
                    name, _format_element(self.format_expression(parts[position] if position < len(parts) else None))
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

    def split_test(self, node: Node) -> tuple[Node | None, Node | None]:
        if node.type in ("if_statement", "elif_clause"):
            return node.child_by_field_name("condition"), node.child_by_field_name("consequence")
        if self.is_conjunction(node):
            return node.child_by_field_name("left"), node.child_by_field_name("right")
        return (named_child(node, 1), named_child(node)) if node.type == "conditional_expression" else (None, None)

    def is_conjunction(self, node: Node) -> bool:
        return node.type == "boolean_operator" and node.child_count > 1 and node.children[1].type == "and"

    def read_test(self, node: Node) -> tuple[Node | None, str] | None:
        if node.type != "call" or self.out.field_text(node, "function") != "isinstance":
            return None
        arguments = node.child_by_field_name("arguments")
        type_ = named_child(arguments, 1)
        if type_ is None or type_.type not in ("identifier", "attribute"):
            return None
        return named_child(arguments), self.out.text(type_)

    def find_negated(self, condition: Node) -> Node | None:
        return condition.child_by_field_name("argument") if condition.type == "not_operator" else None

    EXPRESSIONS: ClassVar = {
        "identifier": Flow.format_name,
        "attribute": _format_attribute,
        "call": _format_call,
        "subscript": _format_subscript,
        "await parenthesized_expression as_pattern": inside(),
        "conditional_expression boolean_operator": _format_choice,
        "assignment": through("right"),
        "named_expression": through("value"),
    }
    ACTIONS = (
        ("class", _open_class, START),
        ("function", _open_function, START),
        ("lambda", _open_lambda, START),
        ("comprehension", _open_comprehension, START),
        ("callee", Flow.record_call, START),
        ("assigned", _bind_assignment, END),
        (
            "walrus",
            lambda values, node: values.bind(
                values.out.field_text(node, "name"), values.format_expression(node.child_by_field_name("value"))
            ),
            END,
        ),
        ("alias", _bind_alias, END),
        ("returned", Flow.record_return, END),
        ("loop", _bind_loop, "right"),
    )


def _format_element(container: str) -> str:
    return UNKNOWN if container in PythonValues.LITERALS.values() else element(container)


def read(captures: Captures, out: Collector) -> None:
    """Reads the definitions, imports and bases of a Python module; `PythonValues` reads calls and types."""
    out.exports_imports = True
    for node in captures.get("wrapper", ()):
        if (inner := node.child_by_field_name("definition")) is not None:
            out.wrapped[inner.id] = node
    for node in captures.get("class", ()):
        definition = out.define(node, FragmentKind.CLASS, out.field_text(node, "name"))
        for parent in field_children(node, "superclasses"):
            if parent.type in ("identifier", "attribute", "subscript"):
                out.add_base(definition, read_type_name(out.text(parent)))
    for node in captures.get("function", ()):
        out.define(node, FragmentKind.FUNCTION, out.field_text(node, "name"))
    for node in captures.get("future", ()):
        out.mark_import(node)
    for node in captures.get("import", ()):
        out.mark_import(node)
        for item in node.named_children:
            if item.type == "aliased_import":
                out.add_import(node, out.field_text(item, "alias"), out.field_text(item, "name"))
            elif item.type == "dotted_name":
                module = out.text(item)
                top = module.split(".", 1)[0]
                # `import a.b` binds `a`, and also loads `a.b`.
                out.add_import(node, top, top)
                if module != top:
                    out.add_import(node, "", module)
    for node in captures.get("import_from", ()):
        out.mark_import(node)
        origin = node.child_by_field_name("module_name")
        written = out.text(origin)
        module = written.lstrip(". \t")
        level = len(written) - len(module) - written[: len(written) - len(module)].count(" ")
        for item in node.named_children:
            if origin is not None and item.id == origin.id:
                continue
            if item.type == "aliased_import":
                out.add_import(node, out.field_text(item, "alias"), module, out.field_text(item, "name"), level=level)
            elif item.type == "dotted_name":
                name = out.text(item)
                out.add_import(node, name, module, name, level=level)
            elif item.type == "wildcard_import":
                out.add_import(node, "", module, "*", level=level)
    PythonValues(captures, out)
