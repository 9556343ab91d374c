"""Reads the trees of Java files: definitions, imports, and types, expressions and local variables in the form of
`scopes.py`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from secateur.languages.java import LIBRARY
from secateur.languages.syntax.collector import LONG_WRAPPER, Captures, Collector, field_children, named_child
from secateur.languages.syntax.names import DEEPEST, UNKNOWN, call_of, element, member, read_type_name, value_of, words
from secateur.languages.syntax.values import BlockValues, element_of, holder_of, inside, instance_of, through
from secateur.model import FragmentKind

if TYPE_CHECKING:
    from tree_sitter import Node


# Library types whose last type argument is the element type.
_CONTAINERS = words(
    "List ArrayList LinkedList CopyOnWriteArrayList Set HashSet LinkedHashSet TreeSet SortedSet NavigableSet EnumSet"
    " Collection Iterable Iterator ListIterator Queue Deque ArrayDeque PriorityQueue BlockingQueue"
    " ConcurrentLinkedQueue Stack Vector Enumeration Stream Optional Supplier Callable Future CompletableFuture"
    " AtomicReference WeakReference SoftReference Reference ThreadLocal Provider Map HashMap LinkedHashMap TreeMap"
    " SortedMap NavigableMap ConcurrentMap ConcurrentHashMap WeakHashMap EnumMap IdentityHashMap Hashtable Entry"
)

_NUMBERS = ("<int>", "<long>", "<float>", "<double>")
_COMPARISONS = words("== != < > <= >= && ||")
# Methods that call a function with the elements of a container.
_OF_ELEMENTS = words(
    "forEach forEachOrdered map filter anyMatch allMatch noneMatch flatMap mapToInt mapToLong mapToObj removeIf"
    " ifPresent peek takeWhile dropWhile sorted collect reduce min max replaceAll ifPresentOrElse"
)

_PATTERN_SCOPES = words("block switch_rule switch_block_statement_group class_body lambda_expression")
_TYPE_BODIES = words("class_body enum_body_declarations enum_body interface_body annotation_type_body")
_TYPES = words(
    "class_declaration interface_declaration enum_declaration record_declaration annotation_type_declaration"
)
_ANNOTATION = re.compile(r"@[\w.]+(?:\([^()]*\))?\s*")
_GENERIC = re.compile(r"<[^<>]*>")
_TYPE_LENGTH = 300
_ARGUMENT_LENGTH = 48  # most characters of an argument that is compared with the types of parameters


class JavaValues(BlockValues):
    """Formats the types and expressions of one Java file."""

    # --- types --------------------------------------------------------------------------------------------------------

    def format_type(self, node: Node | None, depth: int = 0, unbound: str = "") -> str:
        """Formats a type: `unbound` for a type parameter without a bound, "" for a type without a name."""
        if node is None or depth > DEEPEST:
            return ""
        kind = node.type
        if kind == "type_identifier":
            name = self.out.text(node)
            bound = self.types.find_meaning(name, node.start_byte)
            return name if bound is None else bound or unbound
        if kind == "generic_type":
            base, arguments = named_child(node), named_child(node, -1)
            name = self.format_type(base, depth + 1, unbound)
            if name.rpartition(".")[2] in _CONTAINERS and arguments is not None and arguments.named_child_count:
                item_type = self.format_type(arguments.named_children[-1], depth + 1, "Object")
                return f"{item_type}[]" if item_type else ""
            return name
        if kind == "array_type":
            return self._add_dimensions(node, self.format_type(node.child_by_field_name("element"), depth + 1, unbound))
        if kind in ("wildcard", "annotated_type", "catch_type", "pattern", "type_bound"):
            children = [child for child in node.named_children if "annotation" not in child.type]
            if not children:
                return "Object" if kind == "wildcard" else ""
            return self.format_type(children[-1 if kind == "annotated_type" else 0], depth + 1, unbound)
        text = _ANNOTATION.sub("", self.out.text(node)[:_TYPE_LENGTH])
        while "<" in text:
            shorter = _GENERIC.sub("", text)
            if shorter == text:
                return ""
            text = shorter
        return "".join(text.split())

    # --- expressions --------------------------------------------------------------------------------------------------

    def _format_field(self, node: Node, depth: int) -> str:
        owner, field = node.child_by_field_name("object"), node.child_by_field_name("field")
        text = self.out.text(owner)
        if field is not None and field.type == "this":
            return value_of(text)
        if text in LIBRARY.unboxed and self.out.text(field).isupper():
            return value_of(LIBRARY.unboxed[text])  # `Integer.MAX_VALUE`
        return member(self.format_expression(owner, depth), self.out.text(field))

    def _format_call(self, node: Node, depth: int) -> str:
        owner, name = node.child_by_field_name("object"), self.out.field_text(node, "name")
        function = member(self.format_expression(owner, depth), name) if owner is not None else name
        return call_of(function, len(_list_arguments(node)))

    def _format_choice(self, node: Node, depth: int) -> str:
        return self.format_first(
            map(node.child_by_field_name, ("consequence", "alternative")), depth, useless=(UNKNOWN, "<null>")
        )

    def _format_binary(self, node: Node, depth: int) -> str:
        operator = self.out.field_text(node, "operator")
        if operator in _COMPARISONS:
            return "<boolean>"
        sides = [self.format_expression(node.child_by_field_name(side), depth) for side in ("left", "right")]
        if operator == "+" and "<String>" in sides:
            return "<String>"
        ranks = [_NUMBERS.index(side) if side in _NUMBERS else -1 for side in sides]
        if min(ranks) >= 0:
            return _NUMBERS[max(ranks)]
        return sides[0] if sides[0] == sides[1] else UNKNOWN

    def format_receiver(self, name: Node) -> str:
        """Returns the receiver of a called name; "" without a receiver."""
        if (parent := name.parent) is None:
            return ""
        if parent.type == "method_invocation":
            if (owner := parent.child_by_field_name("object")) is not None:
                return self.format_expression(owner)
            anonymous = self.scopes.find_meaning("this", name.start_byte)
            return f"{anonymous}?" if anonymous is not None and anonymous != UNKNOWN else ""
        return self.format_type(parent).rpartition(".")[0] if parent.type == "scoped_type_identifier" else ""

    def format_arguments(self, name: Node) -> str:
        """Formats the arguments of a call: `(a,b)`."""
        call = name.parent
        while call is not None and call.type in ("generic_type", "scoped_type_identifier"):
            call = call.parent
        if call is None or call.child_by_field_name("arguments") is None:
            return ""
        texts = [self.format_expression(argument, DEEPEST - 3) for argument in _list_arguments(call)]
        return f"({','.join(text if len(text) <= _ARGUMENT_LENGTH else UNKNOWN for text in texts)})"

    def format_parameters(self, node: Node | None) -> str:
        """Formats the types of parameters: `(A,B...)`."""
        types: list[str] = []
        for child in node.named_children if node is not None else ():
            if child.type == "formal_parameter":
                type_ = self.format_type(child.child_by_field_name("type"), unbound="Object")
                types.append(type_ + "[]" * self.out.field_text(child, "dimensions").count("["))
            elif child.type == "spread_parameter":
                types.append(self.format_type(self._find_spread_type(child), unbound="Object") + "...")
        return f"({','.join(types)})"

    def _find_spread_type(self, node: Node) -> Node | None:
        return next(
            (child for child in node.named_children if child.type not in ("modifiers", "variable_declarator")), None
        )

    # --- local variables ----------------------------------------------------------------------------------------------

    def _bind_type_parameter(self, node: Node) -> None:
        whole, bound, name = holder_of(node), _find_child(node, "type_bound"), _find_child(node, "type_identifier")
        if whole is not None and name is not None:
            # A bound that contains the parameter (`T extends Node<T>`) is read before the parameter is bound.
            self.types.bind(self.out.text(name), self.format_type(bound), whole.start_byte, whole.end_byte)

    def _bind_parameter(self, node: Node) -> None:
        function = holder_of(node)
        if node.type == "spread_parameter":
            declarator = _find_child(node, "variable_declarator")
            inner = self.format_type(self._find_spread_type(node))
            name, type_ = declarator and declarator.child_by_field_name("name"), f"{inner}[]" if inner else ""
        else:
            type_ = self._add_dimensions(node, self.format_type(node.child_by_field_name("type")))
            name = node.child_by_field_name("name")
        self.bind(name, value_of(type_), function)

    def _add_dimensions(self, node: Node, type_: str) -> str:
        return type_ and type_ + "[]" * self.out.field_text(node, "dimensions").count("[")

    def _bind_lambda(self, node: Node) -> None:
        parameters = node.child_by_field_name("parameters")
        if parameters is None or parameters.type == "formal_parameters":
            return
        names = [parameters] if parameters.type == "identifier" else parameters.named_children
        call = node.parent.parent if node.parent is not None and node.parent.type == "argument_list" else None
        of_elements = call is not None and self.out.field_text(call, "name") in _OF_ELEMENTS and len(names) == 1
        owner = call.child_by_field_name("object") if call is not None and of_elements else None
        for name in names:
            self.bind(name, element(self.format_expression(owner)), node)

    def _bind_loop(self, node: Node) -> None:
        type_ = node.child_by_field_name("type")
        value = node.child_by_field_name("value")
        is_var = self.out.text(type_) == "var"
        meaning = element(self.format_expression(value)) if is_var else value_of(self.format_type(type_))
        self.bind(node.child_by_field_name("name"), meaning, node, value.end_byte if value is not None else 0)

    def _format_declared_value(self, declaration: Node, declarator: Node) -> str:
        type_ = declaration.child_by_field_name("type")
        if type_ is not None and self.out.text(type_) == "var":
            return self.format_expression(declarator.child_by_field_name("value"))
        return value_of(self._add_dimensions(declarator, self.format_type(type_)))

    def _bind_variables(self, node: Node) -> None:
        scope = node.parent
        if node.type != "local_variable_declaration":
            if is_field_of_type(node):
                return
            first = scope.start_byte if scope is not None else 0
        for declarator in node.children_by_field_name("declarator"):
            if node.type == "local_variable_declaration":
                first = declarator.end_byte
            value = self._format_declared_value(node, declarator)
            self.bind(declarator.child_by_field_name("name"), value, scope, first)

    def _bind_pattern(self, node: Node) -> None:
        """Binds `cart` in `x instanceof Cart cart`, `case Cart cart`, `case Order(Cart cart)`."""
        if node.type == "instanceof_expression":
            type_, name = node.child_by_field_name("right"), node.child_by_field_name("name")
        else:
            type_, name = named_child(node), named_child(node, -1)
        if name is None or name.type != "identifier":
            return
        scope = node.parent
        while scope is not None and scope.type not in _PATTERN_SCOPES:
            scope = scope.parent
        self.bind(name, value_of(self.format_type(type_)), scope)

    def _bind_anonymous(self, node: Node) -> None:
        body = named_child(node, -1) or node
        instance = value_of(self.format_type(node.child_by_field_name("type")))
        for word in ("this", "super"):
            self.scopes.bind(word, instance, body.start_byte, body.end_byte)

    EXPRESSIONS: ClassVar = {
        "identifier this super": BlockValues.format_name,
        "field_access": _format_field,
        "method_invocation": _format_call,
        "object_creation_expression cast_expression": instance_of("type"),
        "array_access": element_of(through("array")),
        "array_creation_expression": lambda values, node, _depth: value_of(
            values.format_type(node.child_by_field_name("type")) + "[]"
        ),
        "parenthesized_expression": inside(),
        "assignment_expression": through("right"),
        "ternary_expression": _format_choice,
        "binary_expression": _format_binary,
        "unary_expression": through("operand"),
        "decimal_integer_literal hex_integer_literal octal_integer_literal binary_integer_literal": (
            lambda values, node, _depth: "<long>" if values.out.text(node).endswith(("l", "L")) else "<int>"
        ),
    }
    LITERALS: ClassVar = {
        "string_literal text_block": "<String>",
        "character_literal": "<char>",
        "true false": "<boolean>",
        "class_literal": "<Class>",
        "decimal_floating_point_literal": "<double>",
        "null_literal": "<null>",
        "lambda_expression method_reference": "<->>",
    }
    BINDERS: ClassVar = {
        "type_parameter": _bind_type_parameter,
        "formal_parameter spread_parameter": _bind_parameter,
        "lambda_expression": _bind_lambda,
        "catch_formal_parameter": lambda values, node: values.bind(
            node.child_by_field_name("name"), value_of(values.format_type(_find_child(node, "catch_type"))), node.parent
        ),
        "enhanced_for_statement": _bind_loop,
        "resource": lambda values, node: values.bind(
            node.child_by_field_name("name"), values._format_declared_value(node, node), holder_of(node)
        ),
        "local_variable_declaration field_declaration": _bind_variables,
        "instanceof_expression type_pattern record_pattern_component": _bind_pattern,
        "object_creation_expression": _bind_anonymous,
    }


def _find_child(node: Node, type_: str) -> Node | None:
    return next((child for child in node.named_children if child.type == type_), None)


def _list_arguments(call: Node) -> list[Node]:
    return [child for child in field_children(call, "arguments") if "comment" not in child.type]


def is_field_of_type(node: Node) -> bool:
    """Tells whether a field belongs to a class with its own fragment, not to an anonymous or local class."""
    holder = node.parent
    while holder is not None and holder.type in _TYPE_BODIES:
        holder = holder.parent
    return holder is not None and holder.type in _TYPES and (holder.parent is None or holder.parent.type != "block")


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
        out.mark_import(node)
        path = out.text(named_child(node))
        if any(child.type == "asterisk" for child in node.named_children):
            out.add_import(node, "", path, "*")
        else:
            module, _, symbol = path.rpartition(".")
            out.add_import(node, symbol, module, symbol)
    for node in captures.get("class", ()):
        _read_class(node, values, out)
    variable_names = {}
    for node in (*captures.get("variables", ()), *captures.get("field", ())):
        for declarator in node.children_by_field_name("declarator"):
            if (value := declarator.child_by_field_name("value")) is not None:
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
                    out.add_base(definition, read_type_name(out.text(base)))
                    type_text = values.format_type(base)
                    if type_text.endswith("[]"):
                        out.annotations.append((definition.sig_first, "[]", type_text[:-2]))
    for component in field_children(node, "parameters"):
        type_ = values.format_type(component.child_by_field_name("type"))
        for suffix in ("", "()"):
            out.declare(component, out.field_text(component, "name") + suffix, type_)
    for constant in field_children(node, "body") if node.type == "enum_declaration" else ():
        if constant.type == "enum_constant":
            out.declare(constant, out.field_text(constant, "name"), name)
