"""Writes the types of a Java file's expressions and local variables as text (`scopes.py` defines it)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from secateur.languages.syntax.collector import Collector, named_child
from secateur.languages.syntax.names import words
from secateur.languages.syntax.scopes import DEEPEST, UNKNOWN, Scopes, called, element, member, value_of

if TYPE_CHECKING:
    from tree_sitter import Node

_CONTAINERS = words(
    "List ArrayList LinkedList CopyOnWriteArrayList Set HashSet LinkedHashSet TreeSet SortedSet NavigableSet EnumSet"
    " Collection Iterable Iterator ListIterator Queue Deque ArrayDeque PriorityQueue BlockingQueue"
    " ConcurrentLinkedQueue Stack Vector Enumeration Stream Optional Supplier Callable Future CompletableFuture"
    " AtomicReference WeakReference SoftReference Reference ThreadLocal Provider Map HashMap LinkedHashMap TreeMap"
    " SortedMap NavigableMap ConcurrentMap ConcurrentHashMap WeakHashMap EnumMap IdentityHashMap Hashtable Entry"
)
"""Library types whose last type argument is what they hold."""

_LITERALS = {
    "string_literal": "String",
    "text_block": "String",
    "character_literal": "char",
    "true": "boolean",
    "false": "boolean",
    "class_literal": "Class",
    "decimal_floating_point_literal": "double",
    "null_literal": "null",
    "lambda_expression": "->",
    "method_reference": "->",
}
_INTEGERS = words("decimal_integer_literal hex_integer_literal octal_integer_literal binary_integer_literal")
_BOXES = {
    "Integer": "int",
    "Long": "long",
    "Double": "double",
    "Float": "float",
    "Short": "short",
    "Byte": "byte",
    "Character": "char",
    "Boolean": "boolean",
}
_NUMBERS = ("<int>", "<long>", "<float>", "<double>")
_COMPARISONS = words("== != < > <= >= && ||")
_OF_ELEMENTS = words(
    "forEach forEachOrdered map filter anyMatch allMatch noneMatch flatMap mapToInt mapToLong mapToObj removeIf"
    " ifPresent peek takeWhile dropWhile sorted collect reduce min max replaceAll ifPresentOrElse"
)
"""Methods that hand the elements of a container to a function."""

_ANNOTATION = re.compile(r"@[\w.]+(?:\([^()]*\))?\s*")
_GENERIC = re.compile(r"<[^<>]*>")
_TYPE_LENGTH = 300
_ARGUMENT_LENGTH = 48
"""Characters of an argument that are worth comparing with the types of parameters."""


class JavaValues:
    """Types and expressions of one file. Local variables are bound once, in the order of the source."""

    def __init__(self, bindings: Iterable[Node], out: Collector) -> None:
        self._out = out
        self._scopes = Scopes()
        self._types = Scopes()  # type parameters
        for node in sorted(bindings, key=lambda node: node.start_byte):
            _BINDERS[node.type](self, node)

    # --- types --------------------------------------------------------------------------------------------------------

    def type(self, node: Node | None, unbound: str = "", depth: int = 0) -> str:
        """A type as text; `unbound` for a type parameter that may be anything, "" for what has no name."""
        if node is None or depth > DEEPEST:
            return ""
        kind = node.type
        if kind == "type_identifier":
            name = self._out.text(node)
            bound = self._types.meaning(name, node.start_byte)
            return name if bound is None else bound or unbound
        if kind == "generic_type":
            base, arguments = named_child(node), named_child(node, node.named_child_count - 1)
            name = self.type(base, unbound, depth + 1)
            if name.rpartition(".")[2] in _CONTAINERS and arguments is not None and arguments.named_child_count:
                held = self.type(arguments.named_children[-1], "Object", depth + 1)
                return f"{held}[]" if held else ""
            return name
        if kind == "array_type":
            inner = self.type(node.child_by_field_name("element"), unbound, depth + 1)
            dimensions = self._out.field_text(node, "dimensions").count("[")
            return inner + "[]" * dimensions if inner else ""
        if kind in ("wildcard", "annotated_type", "catch_type", "pattern", "type_bound"):
            children = [child for child in node.named_children if "annotation" not in child.type]
            return (
                self.type(children[-1 if kind == "annotated_type" else 0], unbound, depth + 1)
                if children
                else "Object"
                if kind == "wildcard"
                else ""
            )
        text = _ANNOTATION.sub("", self._out.text(node)[:_TYPE_LENGTH])
        while "<" in text:
            shorter = _GENERIC.sub("", text)
            if shorter == text:
                return ""
            text = shorter
        return "".join(text.split())

    # --- expressions --------------------------------------------------------------------------------------------------

    def expression(self, node: Node | None, depth: int = 0) -> str:
        """An expression as text."""
        if node is None or depth > DEEPEST:
            return UNKNOWN
        kind = node.type
        if kind in ("identifier", "this", "super"):
            name = self._out.text(node)
            bound = self._scopes.meaning(name, node.start_byte)
            return name if bound is None else bound
        if kind == "field_access":
            owner, field = node.child_by_field_name("object"), node.child_by_field_name("field")
            if field is not None and field.type == "this":
                return value_of(self._out.text(owner))
            if self._out.text(owner) in _BOXES and self._out.text(field).isupper():
                return value_of(_BOXES[self._out.text(owner)])  # `Integer.MAX_VALUE`
            return member(self.expression(owner, depth + 1), self._out.text(field))
        if kind == "method_invocation":
            owner, name = node.child_by_field_name("object"), self._out.field_text(node, "name")
            return called(member(self.expression(owner, depth + 1), name) if owner is not None else name, _count(node))
        if kind == "object_creation_expression":
            return value_of(self.type(node.child_by_field_name("type")))
        if kind == "array_access":
            return element(self.expression(node.child_by_field_name("array"), depth + 1))
        if kind == "array_creation_expression":
            return value_of(self.type(node.child_by_field_name("type")) + "[]")
        if kind == "cast_expression":
            return value_of(self.type(node.child_by_field_name("type")))
        if kind == "parenthesized_expression":
            return self.expression(named_child(node), depth + 1)
        if kind == "assignment_expression":
            return self.expression(node.child_by_field_name("right"), depth + 1)
        if kind == "ternary_expression":
            first = self.expression(node.child_by_field_name("consequence"), depth + 1)
            return (
                self.expression(node.child_by_field_name("alternative"), depth + 1)
                if first in (UNKNOWN, "<null>")
                else first
            )
        if kind == "binary_expression":
            return self._binary(node, depth)
        if kind == "unary_expression":
            return self.expression(node.child_by_field_name("operand"), depth + 1)
        if kind in _INTEGERS:
            return "<long>" if self._out.text(node).endswith(("l", "L")) else "<int>"
        return value_of(_LITERALS.get(kind, ""))

    def _binary(self, node: Node, depth: int) -> str:
        operator = self._out.field_text(node, "operator")
        if operator in _COMPARISONS:
            return "<boolean>"
        sides = [self.expression(node.child_by_field_name(side), depth + 1) for side in ("left", "right")]
        if operator == "+" and "<String>" in sides:
            return "<String>"
        ranks = [_NUMBERS.index(side) if side in _NUMBERS else -1 for side in sides]
        return _NUMBERS[max(*ranks, 0)] if min(ranks) >= 0 else sides[0] if sides[0] == sides[1] else UNKNOWN

    def receiver(self, name: Node) -> str:
        """The receiver before a called name, "" for nothing."""
        parent = name.parent
        if parent is None:
            return ""
        if parent.type == "method_invocation":
            owner = parent.child_by_field_name("object")
            if owner is not None:
                return self.expression(owner)
            anonymous = self._scopes.meaning("this", name.start_byte)
            return f"{anonymous}?" if anonymous is not None and anonymous != UNKNOWN else ""
        return self.type(parent).rpartition(".")[0] if parent.type == "scoped_type_identifier" else ""

    def arguments(self, name: Node) -> str:
        """The arguments of a call, written `(a,b)`."""
        call = name.parent
        while call is not None and call.type in ("generic_type", "scoped_type_identifier"):
            call = call.parent
        listed = call.child_by_field_name("arguments") if call is not None else None
        if listed is None:
            return ""
        found = [self.expression(child, DEEPEST - 3) for child in listed.named_children if "comment" not in child.type]
        return f"({','.join(text if len(text) <= _ARGUMENT_LENGTH else UNKNOWN for text in found)})"

    def parameters(self, node: Node | None) -> str:
        """The types of parameters, written `(A,B...)`."""
        found: list[str] = []
        for child in node.named_children if node is not None else ():
            if child.type == "formal_parameter":
                found.append(
                    self.type(child.child_by_field_name("type"), "Object")
                    + "[]" * self._out.field_text(child, "dimensions").count("[")
                )
            elif child.type == "spread_parameter":
                found.append(self.type(self._spread_type(child), "Object") + "...")
        return f"({','.join(found)})"

    def _spread_type(self, node: Node) -> Node | None:
        return next(
            (child for child in node.named_children if child.type not in ("modifiers", "variable_declarator")), None
        )

    # --- local variables ----------------------------------------------------------------------------------------------

    def _bind(self, name: Node | None, meaning: str, scope: Node | None, first: int = 0) -> None:
        if name is not None and scope is not None:
            self._scopes.bind(self._out.text(name), meaning, first or name.start_byte, scope.end_byte)

    def _type_parameter(self, node: Node) -> None:
        whole = node.parent.parent if node.parent is not None else None
        bound = next((child for child in node.named_children if child.type == "type_bound"), None)
        name = next((child for child in node.named_children if child.type == "type_identifier"), None)
        if whole is not None and name is not None:
            # what names its own bound (`T extends Node<T>`) is read while the parameter is not bound yet
            self._types.bind(
                self._out.text(name), self.type(bound) if bound is not None else "", whole.start_byte, whole.end_byte
            )

    def _parameter(self, node: Node) -> None:
        function = node.parent.parent if node.parent is not None else None
        if node.type == "spread_parameter":
            declarator = next((child for child in node.named_children if child.type == "variable_declarator"), None)
            inner = self.type(self._spread_type(node))
            self._bind(
                declarator and declarator.child_by_field_name("name"), value_of(f"{inner}[]" if inner else ""), function
            )
            return
        self._bind(
            node.child_by_field_name("name"),
            value_of(self._dimensioned(node, self.type(node.child_by_field_name("type")))),
            function,
        )

    def _dimensioned(self, node: Node, type_: str) -> str:
        return type_ + "[]" * self._out.field_text(node, "dimensions").count("[") if type_ else ""

    def _lambda(self, node: Node) -> None:
        parameters = node.child_by_field_name("parameters")
        if parameters is None or parameters.type == "formal_parameters":
            return
        names = [parameters] if parameters.type == "identifier" else parameters.named_children
        call = node.parent.parent if node.parent is not None and node.parent.type == "argument_list" else None
        of_elements = call is not None and self._out.field_text(call, "name") in _OF_ELEMENTS and len(names) == 1
        owner = call.child_by_field_name("object") if call is not None and of_elements else None
        for name in names:
            self._bind(name, element(self.expression(owner)), node)

    def _caught(self, node: Node) -> None:
        types = next((child for child in node.named_children if child.type == "catch_type"), None)
        self._bind(node.child_by_field_name("name"), value_of(self.type(types)), node.parent)

    def _loop(self, node: Node) -> None:
        type_ = node.child_by_field_name("type")
        value = node.child_by_field_name("value")
        worth = element(self.expression(value)) if self._out.text(type_) == "var" else value_of(self.type(type_))
        self._bind(node.child_by_field_name("name"), worth, node, value.end_byte if value is not None else 0)

    def _resource(self, node: Node) -> None:
        statement = node.parent.parent if node.parent is not None else None
        self._bind(node.child_by_field_name("name"), self._worth(node, node), statement)

    def _worth(self, declaration: Node, declarator: Node) -> str:
        type_ = declaration.child_by_field_name("type")
        if type_ is not None and self._out.text(type_) == "var":
            return self.expression(declarator.child_by_field_name("value"))
        return value_of(self._dimensioned(declarator, self.type(type_)))

    def _variables(self, node: Node) -> None:
        """Local variables, and fields of classes that have no fragment of their own."""
        scope = node.parent
        if node.type != "local_variable_declaration":
            if fields_of_type(node):
                return
            first = scope.start_byte if scope is not None else 0
        for declarator in node.children_by_field_name("declarator"):
            if node.type == "local_variable_declaration":
                first = declarator.end_byte
            self._bind(declarator.child_by_field_name("name"), self._worth(node, declarator), scope, first)

    def _pattern(self, node: Node) -> None:
        """`x instanceof Cart cart`, `case Cart cart`, `case Order(Cart cart)`."""
        if node.type == "instanceof_expression":
            type_, name = node.child_by_field_name("right"), node.child_by_field_name("name")
        else:
            type_, name = named_child(node), named_child(node, node.named_child_count - 1)
        if name is None or name.type != "identifier":
            return
        scope = node.parent
        while scope is not None and scope.type not in (
            "block",
            "switch_rule",
            "switch_block_statement_group",
            "class_body",
            "lambda_expression",
        ):
            scope = scope.parent
        self._bind(name, value_of(self.type(type_)), scope)

    def _anonymous(self, node: Node) -> None:
        """In the body of an anonymous class `this` is a value of what it extends."""
        body = named_child(node, node.named_child_count - 1) or node
        made = value_of(self.type(node.child_by_field_name("type")))
        for word in ("this", "super"):
            self._scopes.bind(word, made, body.start_byte, body.end_byte)


_BINDERS = {
    "type_parameter": JavaValues._type_parameter,
    "formal_parameter": JavaValues._parameter,
    "spread_parameter": JavaValues._parameter,
    "lambda_expression": JavaValues._lambda,
    "catch_formal_parameter": JavaValues._caught,
    "enhanced_for_statement": JavaValues._loop,
    "resource": JavaValues._resource,
    "local_variable_declaration": JavaValues._variables,
    "field_declaration": JavaValues._variables,
    "instanceof_expression": JavaValues._pattern,
    "type_pattern": JavaValues._pattern,
    "record_pattern_component": JavaValues._pattern,
    "object_creation_expression": JavaValues._anonymous,
}


def _count(call: Node) -> int:
    """Arguments of a call."""
    listed = call.child_by_field_name("arguments")
    return sum(1 for child in listed.named_children if "comment" not in child.type) if listed is not None else 0


_TYPES = words(
    "class_declaration interface_declaration enum_declaration record_declaration annotation_type_declaration"
)


def fields_of_type(node: Node) -> bool:
    """Tells whether a field belongs to a class that is a fragment, not to an anonymous class or one inside a
    function."""
    holder = node.parent
    while holder is not None and holder.type in (
        "class_body",
        "enum_body_declarations",
        "enum_body",
        "interface_body",
        "annotation_type_body",
    ):
        holder = holder.parent
    return holder is not None and holder.type in _TYPES and (holder.parent is None or holder.parent.type != "block")
