"""Writes the types of a Rust file's expressions and local variables as text (`scopes.py` defines it).

`Option`, `Result`, futures, boxes and locks are what they hold: who unwraps one still has the same thing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from secateur.languages.syntax.collector import Collector, named_child
from secateur.languages.syntax.names import receiver_before, words
from secateur.languages.syntax.scopes import DEEPEST, MACRO, UNKNOWN, Scopes, called, element, member, value_of

if TYPE_CHECKING:
    from tree_sitter import Node

SELF_TYPE = "=self"
"""The type of the receiver itself."""

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
_INSIDE = words(
    "try_expression await_expression reference_expression parenthesized_expression unary_expression unsafe_block"
)
_SCOPES_OF_CONDITION = words("if_expression while_expression match_arm block closure_expression")
_OF_ELEMENTS = words(
    "map filter for_each any all find flat_map filter_map position take_while skip_while inspect and_then is_some_and"
    " is_ok_and map_or map_while retain partition max_by_key min_by_key sort_by_key then"
)
"""Methods that hand what they are called on, or its elements, to a closure."""

_TOKENS = re.compile(
    r"(?:\blet\s+)?(?:\bmut\s+)?\b([a-z_]\w*)\s*(?::\s*(?:&\s*)?(?:mut\s+)?((?:\w+::)*[A-Z]\w*)\b"
    r"|=\s*((?:\w+::)*[A-Z]\w*)::(\w+)\s*\()"
)
"""`dir: Dir` and `dir = Dir::new(` among the tokens of a macro."""

_PARAMETERS = words("type_parameter where_predicate")
_PATTERNS_AROUND = words("mut_pattern ref_pattern reference_pattern captured_pattern match_pattern")


class RustValues:
    """Types and expressions of one file. Local variables are bound once, in the order of the source."""

    def __init__(self, bindings: Iterable[Node], out: Collector) -> None:
        self._out = out
        self._scopes = Scopes()
        self._types = Scopes()  # type parameters
        self._bounds: dict[
            tuple[str, str], str
        ] = {}  # type, its parameter -> what a block that implements it demands of that
        ordered = sorted(bindings, key=lambda node: node.start_byte)
        for node in ordered:
            if node.type in _PARAMETERS:
                self._demand(node)
        # `where` stands behind the parameters whose types it bounds
        for node in sorted(ordered, key=lambda node: node.type not in _PARAMETERS):
            _BINDERS[node.type](self, node)

    # --- types --------------------------------------------------------------------------------------------------------

    def type(self, node: Node | None, depth: int = 0) -> str:
        """A type as text; "" for one that has no name."""
        if node is None or depth > DEEPEST:
            return ""
        kind = node.type
        if kind in ("type_identifier", "identifier"):
            name = self._out.text(node)
            bound = self._types.meaning(name, node.start_byte)
            return SELF_TYPE if name == "Self" else name if bound is None else bound
        if kind == "scoped_type_identifier":
            path = node.child_by_field_name("path")
            owner = self.path(path, depth + 1)
            first = path.children[0] if path is not None and path.children else path
            parameter = first is not None and self._types.meaning(self._out.text(first), first.start_byte) is not None
            return "" if parameter or owner in ("", "Self") else f"{owner}.{self._out.field_text(node, 'name')}"
        if kind == "generic_type":
            return self._generic(node, depth)
        if kind in ("array_type", "slice_type"):
            return self._container(node.child_by_field_name("element") or named_child(node), depth)
        if kind in ("reference_type", "pointer_type"):
            return self.type(node.child_by_field_name("type"), depth + 1)
        if kind in ("dynamic_type", "abstract_type"):
            return self.type(node.child_by_field_name("trait"), depth + 1)
        if kind in ("bounded_type", "trait_bounds"):
            found = (
                self.type(child, depth + 1)
                for child in node.named_children
                if child.type not in ("lifetime", "removed_trait_bound")
            )
            return next((name for name in found if name and name not in ("Send", "Sync", "Sized", "Copy", "Clone")), "")
        if kind in ("function_type", "higher_ranked_trait_bound"):
            returned = self.type(node.child_by_field_name("return_type"), depth + 1)
            return f"{returned}()" if returned else ""
        return self._out.text(node) if kind == "primitive_type" else ""

    def _container(self, node: Node | None, depth: int) -> str:
        inner = self.type(node, depth + 1)
        return f"{inner}[]" if inner and not inner.startswith("=") else ""

    def _generic(self, node: Node, depth: int) -> str:
        name = self.type(node.child_by_field_name("type"), depth + 1)
        last = name.rpartition(".")[2]
        if last not in _TRANSPARENT and last not in _CONTAINERS:
            return name
        listed = node.child_by_field_name("type_arguments")
        arguments = [child for child in listed.named_children if child.type != "lifetime"] if listed is not None else []
        if not arguments:
            return name
        chosen = arguments[1] if last.endswith("Map") and len(arguments) > 1 else arguments[0]
        if chosen.type == "type_binding":
            chosen = chosen.child_by_field_name("type") or chosen
        return self._container(chosen, depth) if last in _CONTAINERS else self.type(chosen, depth + 1)

    def implemented(self, node: Node | None) -> str:
        """The path of the type that a block implements, a type parameter as it is."""
        while node is not None and node.type in ("reference_type", "dynamic_type", "pointer_type", "generic_type"):
            node = node.child_by_field_name("type") or node.child_by_field_name("trait")
        return self._out.text(node) if node is not None and node.type == "type_identifier" else self.path(node)

    def path(self, node: Node | None, depth: int = 0) -> str:
        """The text before `::` in a path."""
        if node is None or depth > DEEPEST:
            return ""
        kind = node.type
        if kind in ("scoped_identifier", "scoped_type_identifier"):
            owner = self.path(node.child_by_field_name("path"), depth + 1)
            name = self._out.field_text(node, "name")
            return f"{owner}.{name}" if owner else name
        if kind == "bracketed_type":
            inner = named_child(node)
            if inner is not None and inner.type == "qualified_type":
                whole = inner.child_by_field_name("type")
                parameter = (
                    whole is not None and self._types.meaning(self._out.text(whole), whole.start_byte) is not None
                )
                return self.path(inner.child_by_field_name("alias") if parameter else whole, depth + 1)
            return self.path(inner, depth + 1)
        if kind == "generic_type":
            return self.path(node.child_by_field_name("type"), depth + 1)
        if kind in ("identifier", "type_identifier"):
            name = self._out.text(node)
            bound = self._types.meaning(name, node.start_byte)
            return name if bound is None else bound
        return self._out.text(node) if kind in ("crate", "self", "super", "metavariable") else ""

    # --- expressions --------------------------------------------------------------------------------------------------

    def expression(self, node: Node | None, depth: int = 0) -> str:
        """An expression as text."""
        if node is None or depth > DEEPEST:
            return UNKNOWN
        kind = node.type
        if kind in ("identifier", "self"):
            name = self._out.text(node)
            bound = self._scopes.meaning(name, node.start_byte)
            return name if bound is None else bound
        if kind == "field_expression":
            return member(
                self.expression(node.child_by_field_name("value"), depth + 1), self._out.field_text(node, "field")
            )
        if kind == "call_expression":
            return self._call(node, depth)
        if kind == "scoped_identifier":
            return self.path(node) or UNKNOWN
        if kind == "generic_function":
            return self.expression(node.child_by_field_name("function"), depth + 1)
        if kind == "struct_expression":
            return self._made(node)
        if kind == "index_expression":
            return element(self.expression(named_child(node), depth + 1))
        if kind == "type_cast_expression":
            return value_of(self.type(node.child_by_field_name("type")))
        if kind in _INSIDE:
            return self.expression(
                node.child_by_field_name("value") or named_child(node, node.named_child_count - 1), depth + 1
            )
        return UNKNOWN

    def _made(self, node: Node) -> str:
        name = node.child_by_field_name("name")
        if (
            name is not None
            and name.type == "scoped_type_identifier"
            and self._out.field_text(name, "path")[:1].isupper()
        ):
            return self.path(name)  # a variant of an enum
        made = self.type(name)
        return "self" if made == SELF_TYPE else value_of(made)

    def _call(self, node: Node, depth: int) -> str:
        function = node.child_by_field_name("function")
        text = self.expression(function, depth + 1)
        if text in _WRAPPERS:
            return self.expression(named_child(node.child_by_field_name("arguments")), depth + 1)
        return "self" if text == "Self" else called(text)

    def receiver(self, name: Node) -> str | None:
        """The receiver before a called name, "" for nothing; None for a call of a local variable."""
        parent = name.parent
        if parent is None:
            return ""
        if parent.type == "field_expression":
            return self.expression(parent.child_by_field_name("value"))
        if parent.type in ("scoped_identifier", "scoped_type_identifier"):
            return self.path(parent.child_by_field_name("path"))
        if parent.type == "macro_invocation":
            return MACRO
        before = receiver_before(self._out.source, name.start_byte)  # of tokens there is no tree
        head, dot, rest = before.partition(".")
        if not head:
            local = name.type == "identifier" and self._scopes.meaning(self._out.text(name), name.start_byte)
            return None if local else ""
        bound = self._scopes.meaning(head, name.start_byte)
        return before if bound is None else f"{bound}{dot}{rest}" if bound != UNKNOWN else UNKNOWN

    # --- local variables ----------------------------------------------------------------------------------------------

    def _bounded(self, node: Node) -> tuple[Node | None, Node | None, str]:
        """Of `T: Bound`, in angle brackets or behind `where`: what it holds for, the name, the bound."""
        whole = node.parent.parent if node.parent is not None else None
        return (
            whole,
            node.child_by_field_name("name") or node.child_by_field_name("left"),
            self.type(node.child_by_field_name("bounds")),
        )

    def _demand(self, node: Node) -> None:
        whole, name, bound = self._bounded(node)
        if whole is not None and whole.type == "impl_item" and bound:
            self._bounds.setdefault((self.implemented(whole.child_by_field_name("type")), self._out.text(name)), bound)

    def _type_parameter(self, node: Node) -> None:
        whole, name, bound = self._bounded(node)
        if whole is None or name is None or name.type != "type_identifier":
            return
        if not bound and whole.type in ("struct_item", "enum_item"):
            bound = self._bounds.get((self._out.field_text(whole, "name"), self._out.text(name)), "")
        if bound or node.type == "type_parameter":
            self._types.bind(self._out.text(name), bound, whole.start_byte, whole.end_byte)

    def _parameter(self, node: Node) -> None:
        function = node.parent.parent if node.parent is not None else None
        if function is not None and function.type in ("function_item", "closure_expression"):
            self._pattern(node.child_by_field_name("pattern"), self.typed(node), node.start_byte, function.end_byte)

    def typed(self, node: Node) -> str:
        """A value of the type written beside a name."""
        type_ = self.type(node.child_by_field_name("type"))
        return "self" if type_ == SELF_TYPE else value_of(type_)

    def _closure(self, node: Node) -> None:
        parameters = node.child_by_field_name("parameters")
        untyped = (
            [child for child in parameters.named_children if child.type != "parameter"]
            if parameters is not None
            else []
        )
        call = node.parent.parent if node.parent is not None and node.parent.type == "arguments" else None
        function = call.child_by_field_name("function") if call is not None else None
        worth = UNKNOWN
        if (
            len(untyped) == 1
            and function is not None
            and function.type == "field_expression"
            and self._out.field_text(function, "field") in _OF_ELEMENTS
        ):
            worth = element(self.expression(function.child_by_field_name("value")))
        for pattern in untyped:
            self._pattern(pattern, worth, node.start_byte, node.end_byte)

    def _let(self, node: Node) -> None:
        scope = node.parent
        if scope is None:
            return
        value = node.child_by_field_name("value")
        worth = self.typed(node) if node.child_by_field_name("type") is not None else self.expression(value)
        self._pattern(node.child_by_field_name("pattern"), worth, node.end_byte, scope.end_byte)

    def _condition(self, node: Node) -> None:
        scope = node.parent
        while scope is not None and scope.type not in _SCOPES_OF_CONDITION:
            scope = scope.parent
        if scope is not None:
            self._pattern(
                node.child_by_field_name("pattern"),
                self.expression(node.child_by_field_name("value")),
                node.end_byte,
                scope.end_byte,
            )

    def _arm(self, node: Node) -> None:
        match = node.parent.parent if node.parent is not None else None
        value = self.expression(match.child_by_field_name("value")) if match is not None else UNKNOWN
        self._pattern(named_child(node.child_by_field_name("pattern")), value, node.start_byte, node.end_byte)

    def _loop(self, node: Node) -> None:
        pattern, value, body = (node.child_by_field_name(name) for name in ("pattern", "value", "body"))
        if pattern is None or body is None:
            return
        worth = element(self.expression(value))
        if (
            pattern.type == "tuple_pattern" and pattern.named_child_count == 2
        ):  # `for (key, value) in map`, `for (i, x) in xs.iter().enumerate()`
            self._pattern(pattern.named_children[0], UNKNOWN, body.start_byte, body.end_byte)
            pattern = pattern.named_children[1]
        self._pattern(pattern, worth, body.start_byte, body.end_byte)

    def _constant(self, node: Node) -> None:
        scope, name = node.parent, self._out.field_text(node, "name")
        worth = self.typed(node)
        if scope is not None and scope.type == "block":
            self._scopes.bind(name, worth, scope.start_byte, scope.end_byte)
        elif worth.startswith("<"):
            self._out.declare(node, name, worth[1:-1])

    def _macro(self, node: Node) -> None:
        """Closure parameters and constructed variables in the arguments of a macro, which are tokens without a tree."""
        text = self._out.text(node)
        for match in _TOKENS.finditer(text) if "|" in text or "let " in text else ():
            name, type_, owner, function = match.groups()
            worth = value_of(type_.replace("::", ".")) if type_ else called(member(owner.replace("::", "."), function))
            self._scopes.bind(name, worth, node.start_byte, node.end_byte)

    def _pattern(self, node: Node | None, worth: str, first: int, last: int, depth: int = 0) -> None:
        """Binds the names of a pattern that is matched with an expression."""
        if node is None or depth > DEEPEST:
            return
        kind = node.type
        if kind in ("identifier", "shorthand_field_identifier"):
            name = self._out.text(node)
            if not name[:1].isupper():
                self._scopes.bind(name, worth, first, last)
        elif kind in _PATTERNS_AROUND:
            self._pattern(named_child(node, node.named_child_count - 1), worth, first, last, depth + 1)
        elif kind == "or_pattern":
            for child in node.named_children:
                self._pattern(child, worth, first, last, depth + 1)
        elif kind in ("tuple_struct_pattern", "struct_pattern"):
            self._taken_apart(node, worth, first, last, depth)
        elif kind in ("tuple_pattern", "slice_pattern"):
            inner = element(worth) if kind == "slice_pattern" else UNKNOWN
            for child in node.named_children:
                self._pattern(child, inner, first, last, depth + 1)

    def _taken_apart(self, node: Node, worth: str, first: int, last: int, depth: int) -> None:
        """`Some(cart)`, `Cart { lines, .. }`, `Event::Sold { cart, .. }`."""
        type_ = node.child_by_field_name("type")
        name = self._out.text(type_)
        parts = [child for child in node.named_children if type_ is None or child.id != type_.id]
        if name in ("Some", "Ok"):
            self._pattern(parts[0] if parts else None, worth, first, last, depth + 1)
            return
        owner, _, variant = self.path(type_).rpartition(".")
        if owner.rpartition(".")[2][:1].isupper():
            made, prefix = "self" if owner == "Self" else value_of(owner), f"{variant}@"
        else:
            made, prefix = (
                value_of(self.path(type_)),
                f"{name.rpartition('::')[2]}@",
            )  # a struct, or a variant that was imported
        for position, part in enumerate(parts):
            field, pattern = str(position), part
            if part.type == "field_pattern":
                field = self._out.field_text(part, "name")
                pattern = part.child_by_field_name("pattern") or part.child_by_field_name("name") or part
            self._pattern(pattern, member(made, prefix + field) if name != "Err" else UNKNOWN, first, last, depth + 1)


_BINDERS = {
    "macro_invocation": RustValues._macro,
    "type_parameter": RustValues._type_parameter,
    "where_predicate": RustValues._type_parameter,
    "parameter": RustValues._parameter,
    "closure_expression": RustValues._closure,
    "let_declaration": RustValues._let,
    "let_condition": RustValues._condition,
    "match_arm": RustValues._arm,
    "for_expression": RustValues._loop,
    "const_item": RustValues._constant,
    "static_item": RustValues._constant,
}
