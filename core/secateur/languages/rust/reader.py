"""Reads the trees of Rust files: definitions, imports, and types, expressions and local variables in the form of
`scopes.py`.

`Option`, `Result`, futures, boxes and locks are written as the type they wrap, so unwrapping changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from secateur.languages.syntax.collector import IMPLEMENTED, Captures, Collector, field_children, named_child
from secateur.languages.syntax.names import (
    DEEPEST,
    MACRO,
    UNKNOWN,
    call_of,
    element,
    format_container,
    member,
    read_receiver,
    read_type_name,
    value_of,
    words,
)
from secateur.languages.syntax.values import (
    BlockValues,
    Values,
    container_of,
    element_of,
    holder_of,
    inside,
    instance_of,
    through,
    type_in,
)
from secateur.model import FragmentKind

if TYPE_CHECKING:
    from tree_sitter import Node


SELF_TYPE = "=self"  # the type of the receiver itself

_TRANSPARENT = words(
    "Option Result Box Rc Arc Weak Pin Cow RefCell Cell Mutex RwLock OnceCell OnceLock LazyLock Lazy MaybeUninit"
    " ManuallyDrop NonNull Ref RefMut MutexGuard RwLockReadGuard RwLockWriteGuard Poll BoxFuture Future"
)
_CONTAINERS = words(
    "Vec VecDeque HashSet BTreeSet HashMap BTreeMap IndexMap LinkedList BinaryHeap SmallVec Iterator IntoIterator"
    " DoubleEndedIterator Iter IterMut IntoIter Drain Peekable Receiver UnboundedReceiver Sender Stream"
)
_WRAPPERS = words(
    "Some Ok Box.new Rc.new Arc.new Mutex.new RwLock.new RefCell.new Cell.new Pin.new Box.pin Cow.Owned Cow.Borrowed"
)
_SCOPES_OF_CONDITION = words("if_expression while_expression match_arm block closure_expression")
# Methods that call a closure with their receiver or its elements.
_OF_ELEMENTS = words(
    "map filter for_each any all find flat_map filter_map position take_while skip_while inspect and_then is_some_and"
    " is_ok_and map_or map_while retain partition max_by_key min_by_key sort_by_key then"
)

# `dir: Dir` and `dir = Dir::new(` among the tokens of a macro.
_TOKENS = re.compile(
    r"(?:\blet\s+)?(?:\bmut\s+)?\b([a-z_]\w*)\s*(?::\s*(?:&\s*)?(?:mut\s+)?((?:\w+::)*[A-Z]\w*)\b"
    r"|=\s*((?:\w+::)*[A-Z]\w*)::(\w+)\s*\()"
)

_PARAMETERS = words("type_parameter where_predicate")
_PATTERNS_AROUND = words("mut_pattern ref_pattern reference_pattern captured_pattern match_pattern")


class RustValues(BlockValues):
    """Formats the types and expressions of one Rust file."""

    def bind_all(self, nodes: Iterable[Node]) -> None:
        """Binds the names in sorted nodes. Bounds first: `where` follows the parameters whose types it bounds."""
        self._bounds: dict[tuple[str, str], str] = {}  # type, its parameter -> bound in an `impl` block
        ordered = sorted(nodes, key=lambda node: node.type not in _PARAMETERS)
        for node in ordered:
            if node.type in _PARAMETERS:
                item, name, bound = self._split_bound(node)
                if item is not None and item.type == "impl_item" and bound:
                    path = self.format_impl_path(item.child_by_field_name("type"))
                    self._bounds.setdefault((path, self.out.text(name)), bound)
        super().bind_all(ordered)

    # --- types --------------------------------------------------------------------------------------------------------

    def _format_scoped_type(self, node: Node, depth: int) -> str:
        path = node.child_by_field_name("path")
        owner = self.format_path(path, depth)
        first = path.children[0] if path is not None and path.children else path
        if owner in ("", "Self") or self._is_type_parameter(first):
            return ""
        return f"{owner}.{self.out.field_text(node, 'name')}"

    def _format_bounds(self, node: Node, depth: int) -> str:
        bounds = (
            self.format_type(child, depth)
            for child in node.named_children
            if child.type not in ("lifetime", "removed_trait_bound")
        )
        return next((name for name in bounds if name and name not in ("Send", "Sync", "Sized", "Copy", "Clone")), "")

    def _format_function_type(self, node: Node, depth: int) -> str:
        returned = self.format_type(node.child_by_field_name("return_type"), depth)
        return f"{returned}()" if returned else ""

    def _is_type_parameter(self, node: Node | None) -> bool:
        return node is not None and self.types.find_meaning(self.out.text(node), node.start_byte) is not None

    def _format_generic(self, node: Node, depth: int) -> str:
        name = self.format_type(node.child_by_field_name("type"), depth)
        last = name.rpartition(".")[2]
        if last not in _TRANSPARENT and last not in _CONTAINERS:
            return name
        arguments = [child for child in field_children(node, "type_arguments") if child.type != "lifetime"]
        if not arguments:
            return name
        chosen = arguments[1] if last.endswith("Map") and len(arguments) > 1 else arguments[0]
        if chosen.type == "type_binding":
            chosen = chosen.child_by_field_name("type") or chosen
        item = self.format_type(chosen, depth)
        return format_container(item) if last in _CONTAINERS else item

    def format_impl_path(self, node: Node | None) -> str:
        """Returns the path of the type that an `impl` block is for; a type parameter stays as it is."""
        while node is not None and node.type in ("reference_type", "dynamic_type", "pointer_type", "generic_type"):
            node = node.child_by_field_name("type") or node.child_by_field_name("trait")
        return self.out.text(node) if node is not None and node.type == "type_identifier" else self.format_path(node)

    def format_path(self, node: Node | None, depth: int = 0) -> str:
        """Formats a path with dots."""
        if node is None or depth > DEEPEST:
            return ""
        kind = node.type
        if kind in ("scoped_identifier", "scoped_type_identifier"):
            owner = self.format_path(node.child_by_field_name("path"), depth + 1)
            name = self.out.field_text(node, "name")
            return f"{owner}.{name}" if owner else name
        if kind == "bracketed_type":
            if (inner := named_child(node)) is not None and inner.type == "qualified_type":
                item = inner.child_by_field_name("type")
                trait = inner.child_by_field_name("alias")
                return self.format_path(trait if self._is_type_parameter(item) else item, depth + 1)
            return self.format_path(inner, depth + 1)
        if kind == "generic_type":
            return self.format_path(node.child_by_field_name("type"), depth + 1)
        if kind in ("identifier", "type_identifier"):
            return self.format_type_name(node)
        return self.out.text(node) if kind in ("crate", "self", "super", "metavariable") else ""

    # --- expressions --------------------------------------------------------------------------------------------------

    def _format_struct(self, node: Node, _depth: int) -> str:
        name = node.child_by_field_name("name")
        is_scoped = name is not None and name.type == "scoped_type_identifier"
        if name is not None and is_scoped and self.out.field_text(name, "path")[:1].isupper():
            return self.format_path(name)  # a variant of an enum
        instance = self.format_type(name)
        return "self" if instance == SELF_TYPE else value_of(instance)

    def _format_call(self, node: Node, depth: int) -> str:
        text = self.format_expression(node.child_by_field_name("function"), depth)
        if text in _WRAPPERS:
            return self.format_expression(named_child(node.child_by_field_name("arguments")), depth)
        return "self" if text == "Self" else call_of(text)

    def format_receiver(self, name: Node) -> str | None:
        """Returns the receiver of a called name; "" without a receiver; None if a local variable is called."""
        if (parent := name.parent) is None:
            return ""
        if parent.type == "field_expression":
            return self.format_expression(parent.child_by_field_name("value"))
        if parent.type in ("scoped_identifier", "scoped_type_identifier"):
            return self.format_path(parent.child_by_field_name("path"))
        if parent.type == "macro_invocation":
            return MACRO
        before = read_receiver(self.out.source, name.start_byte)  # the tokens of a macro have no tree
        head, dot, rest = before.partition(".")
        if not head:
            local = name.type == "identifier" and self.scopes.find_meaning(self.out.text(name), name.start_byte)
            return None if local else ""
        if (bound := self.scopes.find_meaning(head, name.start_byte)) is None:
            return before
        return f"{bound}{dot}{rest}" if bound != UNKNOWN else UNKNOWN

    # --- local variables ----------------------------------------------------------------------------------------------

    def _split_bound(self, node: Node) -> tuple[Node | None, Node | None, str]:
        """Splits `T: Bound`, in angle brackets or after `where`. Returns the item it applies to, name and bound."""
        item = holder_of(node)
        name = node.child_by_field_name("name") or node.child_by_field_name("left")
        return item, name, self.format_type(node.child_by_field_name("bounds"))

    def _bind_type_parameter(self, node: Node) -> None:
        item, name, bound = self._split_bound(node)
        if item is None or name is None or name.type != "type_identifier":
            return
        if not bound and item.type in ("struct_item", "enum_item"):
            bound = self._bounds.get((self.out.field_text(item, "name"), self.out.text(name)), "")
        if bound or node.type == "type_parameter":
            self.types.bind(self.out.text(name), bound, item.start_byte, item.end_byte)

    def _bind_parameter(self, node: Node) -> None:
        function = holder_of(node)
        if function is not None and function.type in ("function_item", "closure_expression"):
            value = self._format_declared_value(node)
            self._bind_pattern(node.child_by_field_name("pattern"), value, function, node.start_byte)

    def _format_declared_value(self, node: Node) -> str:
        type_ = self.format_type(node.child_by_field_name("type"))
        return "self" if type_ == SELF_TYPE else value_of(type_)

    def _bind_closure(self, node: Node) -> None:
        untyped = [child for child in field_children(node, "parameters") if child.type != "parameter"]
        call = node.parent.parent if node.parent is not None and node.parent.type == "arguments" else None
        function = call.child_by_field_name("function") if call is not None else None
        meaning = UNKNOWN
        if len(untyped) == 1 and function is not None and self.out.field_text(function, "field") in _OF_ELEMENTS:
            meaning = element(self.format_expression(function.child_by_field_name("value")))
        for pattern in untyped:
            self._bind_pattern(pattern, meaning, node, node.start_byte)

    def _bind_let(self, node: Node) -> None:
        if (scope := node.parent) is None:
            return
        is_declared = node.child_by_field_name("type") is not None
        value = node.child_by_field_name("value")
        meaning = self._format_declared_value(node) if is_declared else self.format_expression(value)
        self._bind_pattern(node.child_by_field_name("pattern"), meaning, scope, node.end_byte)

    def _bind_condition(self, node: Node) -> None:
        scope = node.parent
        while scope is not None and scope.type not in _SCOPES_OF_CONDITION:
            scope = scope.parent
        if scope is not None:
            value = self.format_expression(node.child_by_field_name("value"))
            self._bind_pattern(node.child_by_field_name("pattern"), value, scope, node.end_byte)

    def _bind_arm(self, node: Node) -> None:
        match = holder_of(node)
        value = self.format_expression(match.child_by_field_name("value")) if match is not None else UNKNOWN
        self._bind_pattern(named_child(node.child_by_field_name("pattern")), value, node, node.start_byte)

    def _bind_loop(self, node: Node) -> None:
        pattern, value, body = (node.child_by_field_name(name) for name in ("pattern", "value", "body"))
        if pattern is None or body is None:
            return
        meaning = element(self.format_expression(value))
        # `for (key, value) in map`, `for (i, x) in xs.iter().enumerate()`
        if pattern.type == "tuple_pattern" and pattern.named_child_count == 2:
            self._bind_pattern(pattern.named_children[0], UNKNOWN, body, body.start_byte)
            pattern = pattern.named_children[1]
        self._bind_pattern(pattern, meaning, body, body.start_byte)

    def _bind_constant(self, node: Node) -> None:
        scope, name = node.parent, self.out.field_text(node, "name")
        meaning = self._format_declared_value(node)
        if scope is not None and scope.type == "block":
            self.scopes.bind(name, meaning, scope.start_byte, scope.end_byte)
        elif meaning.startswith("<"):
            self.out.declare(node, name, meaning[1:-1])

    def _bind_macro(self, node: Node) -> None:
        """Binds closure parameters and constructed variables in the arguments of a macro, which have no tree."""
        text = self.out.text(node)
        for match in _TOKENS.finditer(text) if "|" in text or "let " in text else ():
            name, type_, owner, function = match.groups()
            path = (type_ or owner).replace("::", ".")
            self.scopes.bind(
                name, value_of(path) if type_ else call_of(member(path, function)), node.start_byte, node.end_byte
            )

    def _bind_pattern(self, node: Node | None, meaning: str, scope: Node, first: int, depth: int = 0) -> None:
        if node is None or depth > DEEPEST:
            return
        kind = node.type
        if kind in ("identifier", "shorthand_field_identifier"):
            if not self.out.text(node)[:1].isupper():
                self.bind(node, meaning, scope, first)
        elif kind in _PATTERNS_AROUND:
            self._bind_pattern(named_child(node, -1), meaning, scope, first, depth + 1)
        elif kind == "or_pattern":
            for child in node.named_children:
                self._bind_pattern(child, meaning, scope, first, depth + 1)
        elif kind in ("tuple_struct_pattern", "struct_pattern"):
            self._bind_parts(node, meaning, scope, first, depth)
        elif kind in ("tuple_pattern", "slice_pattern"):
            inner = element(meaning) if kind == "slice_pattern" else UNKNOWN
            for child in node.named_children:
                self._bind_pattern(child, inner, scope, first, depth + 1)

    def _bind_parts(self, node: Node, meaning: str, scope: Node, first: int, depth: int) -> None:
        """Binds the names in `Some(cart)`, `Cart { lines, .. }` or `Event::Sold { cart, .. }`."""
        type_ = node.child_by_field_name("type")
        name = self.out.text(type_)
        parts = [child for child in node.named_children if type_ is None or child.id != type_.id]
        if name in ("Some", "Ok"):
            self._bind_pattern(parts[0] if parts else None, meaning, scope, first, depth + 1)
            return
        owner, _, variant = self.format_path(type_).rpartition(".")
        if owner.rpartition(".")[2][:1].isupper():
            instance, prefix = "self" if owner == "Self" else value_of(owner), f"{variant}@"
        else:
            # a struct, or a variant that was imported
            instance, prefix = value_of(self.format_path(type_)), f"{name.rpartition('::')[2]}@"
        for position, part in enumerate(parts):
            field, pattern = str(position), part
            if part.type == "field_pattern":
                field = self.out.field_text(part, "name")
                pattern = part.child_by_field_name("pattern") or part.child_by_field_name("name") or part
            self._bind_pattern(
                pattern, member(instance, prefix + field) if name != "Err" else UNKNOWN, scope, first, depth + 1
            )

    TYPES: ClassVar = {
        "type_identifier identifier": lambda values, node, _depth: (
            SELF_TYPE if values.out.text(node) == "Self" else values.format_type_name(node)
        ),
        "scoped_type_identifier": _format_scoped_type,
        "generic_type": _format_generic,
        "array_type slice_type": container_of("element"),
        "reference_type pointer_type": type_in("type"),
        "dynamic_type abstract_type": type_in("trait"),
        "bounded_type trait_bounds": _format_bounds,
        "function_type higher_ranked_trait_bound": _format_function_type,
        "primitive_type": Values.format_text,
    }
    EXPRESSIONS: ClassVar = {
        "identifier self": BlockValues.format_name,
        "field_expression": lambda values, node, depth: member(
            values.format_expression(node.child_by_field_name("value"), depth), values.out.field_text(node, "field")
        ),
        "call_expression": _format_call,
        "scoped_identifier": lambda values, node, _depth: values.format_path(node) or UNKNOWN,
        "generic_function": through("function"),
        "struct_expression": _format_struct,
        "index_expression": element_of(inside()),
        "type_cast_expression": instance_of("type"),
        "try_expression await_expression parenthesized_expression unary_expression unsafe_block": inside(-1),
        "reference_expression": through("value"),
    }
    BINDERS: ClassVar = {
        "macro_invocation": _bind_macro,
        "type_parameter where_predicate": _bind_type_parameter,
        "parameter": _bind_parameter,
        "closure_expression": _bind_closure,
        "let_declaration": _bind_let,
        "let_condition": _bind_condition,
        "match_arm": _bind_arm,
        "for_expression": _bind_loop,
        "const_item static_item": _bind_constant,
    }


READS_CALLS = True


def read(captures: Captures, out: Collector) -> None:
    """Reads definitions, imports, implemented traits, declared types, and calls whose receivers contain no local
    variables."""
    values = RustValues(captures.get("binding", ()), out)
    for node in captures.get("class", ()):
        _read_class(node, values, out)
    for node in captures.get("impl", ()):
        path = values.format_impl_path(node.child_by_field_name("type"))
        definition = out.define(node, FragmentKind.CLASS, path.rpartition(".")[2] or "impl")
        if path:
            out.annotations.append((definition.sig_first, IMPLEMENTED, path))
        if (trait := node.child_by_field_name("trait")) is not None:
            out.add_base(definition, read_type_name(out.text(trait)))
    for node in captures.get("module", ()):
        name = out.field_text(node, "name")
        if node.child_by_field_name("body") is None:
            out.mark_import(node)
            out.add_import(node, name, f"self::{name}", exported=_is_public(node))
        else:
            out.define(node, FragmentKind.CLASS, name, methods=False)
    for node in captures.get("function", ()):
        out.define(node, FragmentKind.FUNCTION, out.field_text(node, "name"))
        out.declare(node, "return", values.format_type(node.child_by_field_name("return_type")))
    for node in captures.get("macro", ()):
        name_node = node.child_by_field_name("name")
        out.define(node, FragmentKind.FUNCTION, out.text(name_node), sig_end=name_node)
    for node in captures.get("alias", ()):
        if node.parent is not None and node.parent.type == "source_file":
            out.declare(node, out.field_text(node, "name"), values.format_type(node.child_by_field_name("type")))
    for node in captures.get("crate", ()):
        name = out.field_text(node, "name")
        out.mark_import(node)
        out.add_import(node, out.field_text(node, "alias") or name, name)
    for node in captures.get("use", ()):
        # Reads a use tree with an explicit stack of (node, path to the node).
        out.mark_import(node)
        exported = _is_public(node)
        start = node.child_by_field_name("argument")
        stack = [(start, "")] if start is not None else []
        while stack:
            item, prefix = stack.pop()
            if item.type == "use_list":
                stack += [(child, prefix) for child in reversed(item.named_children)]
            elif item.type == "scoped_use_list":
                if (inner := item.child_by_field_name("list")) is not None:
                    stack.append((inner, _join(prefix, out.field_text(item, "path"))))
            elif item.type == "use_wildcard":
                out.add_import(node, "", _join(prefix, out.text(named_child(item))), "*", exported=exported)
            elif item.type in ("use_as_clause", "identifier", "scoped_identifier", "self", "crate", "super"):
                aliased = item.type == "use_as_clause"
                path = out.field_text(item, "path") if aliased else out.text(item)
                whole = prefix if path == "self" and prefix else _join(prefix, path)
                module, _, symbol = whole.rpartition("::")
                local = out.field_text(item, "alias") if aliased else symbol
                out.add_import(
                    node, "" if local == "_" else local, module or symbol, symbol if module else "", exported=exported
                )
    for node in captures.get("call", ()):
        if (receiver := values.format_receiver(node)) is not None:
            out.calls.append((node.start_point.row, out.text(node), receiver))


def _read_class(node: Node, values: RustValues, out: Collector) -> None:
    name = out.field_text(node, "name")
    definition = out.define(node, FragmentKind.CLASS, name)
    for bound in field_children(node, "bounds"):
        if bound.type != "lifetime":
            out.add_base(definition, read_type_name(out.text(bound)))
    if (body := node.child_by_field_name("body")) is None:
        return
    _read_fields(body, "", values, out)
    for part in body.named_children:
        if part.type == "function_signature_item":
            returned = values.format_type(part.child_by_field_name("return_type"))
            out.declare(part, out.field_text(part, "name") + "()", returned, empty=True)
        elif part.type == "enum_variant":
            variant = out.field_text(part, "name")
            out.declare(part, variant, name)
            out.declare(part, variant + "()", name)
            if (inner := part.child_by_field_name("body")) is not None:
                _read_fields(inner, variant + "@", values, out)


def _read_fields(body: Node, prefix: str, values: RustValues, out: Collector) -> None:
    if body.type == "ordered_field_declaration_list":
        for position, type_ in enumerate(body.children_by_field_name("type")):
            out.declare(type_, f"{prefix}{position}", values.format_type(type_))
    for field in body.named_children:
        if field.type == "field_declaration":
            out.declare(
                field, prefix + out.field_text(field, "name"), values.format_type(field.child_by_field_name("type"))
            )


def _is_public(node: Node) -> bool:
    first = named_child(node)
    return first is not None and first.type == "visibility_modifier"


def _join(prefix: str, path: str) -> str:
    return f"{prefix}::{path}" if prefix and path else prefix or path
