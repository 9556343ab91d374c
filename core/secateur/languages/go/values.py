"""Writes the types of a Go file's expressions and local variables as text (`scopes.py` defines it)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from secateur.languages.syntax.collector import Collector, named_child
from secateur.languages.syntax.names import words
from secateur.languages.syntax.scopes import DEEPEST, UNKNOWN, Scopes, called, element, member, result, value_of

if TYPE_CHECKING:
    from tree_sitter import Node

_FUNCTIONS = words("function_declaration method_declaration func_literal")
_INSIDE = words("parenthesized_expression slice_expression")
_NOT_BLOCKS = words("for_clause range_clause var_spec_list var_declaration const_declaration statement_list")
_ANONYMOUS = "struct@"
"""Begins the name given to a struct type without one: the byte it starts at follows."""


class GoValues:
    """Types and expressions of one file. Local variables are bound once, in the order of the source."""

    def __init__(self, bindings: Iterable[Node], out: Collector) -> None:
        self._out = out
        self._scopes = Scopes()
        self._types = Scopes()  # type parameters
        self._fields: dict[str, dict[str, str]] = {}  # of struct types without a name
        for node in sorted(bindings, key=lambda node: node.start_byte):
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
            return name if bound is None else bound
        if kind == "qualified_type":
            return self._out.text(node)
        if kind in ("slice_type", "array_type", "implicit_length_array_type"):
            return self._container(node.child_by_field_name("element"), depth)
        if kind in ("map_type", "channel_type"):
            return self._container(node.child_by_field_name("value"), depth)
        if kind == "generic_type":
            return self.type(node.child_by_field_name("type"), depth + 1)
        if kind in ("pointer_type", "parenthesized_type", "type_constraint", "type_elem", "negated_type"):
            return self.type(named_child(node), depth + 1) if node.named_child_count == 1 else ""
        if kind == "function_type":
            results = self.results(node.child_by_field_name("result"), depth + 1)
            return f"{results[0]}()" if results and results[0] else ""
        if kind == "struct_type":
            return self._anonymous(node, depth)
        return ""

    def _container(self, node: Node | None, depth: int) -> str:
        inner = self.type(node, depth + 1)
        return f"{inner}[]" if inner else ""

    def _anonymous(self, node: Node, depth: int) -> str:
        name = f"{_ANONYMOUS}{node.start_byte}"
        if name not in self._fields:
            fields = self._fields[name] = {}
            listed = named_child(node)
            for field in listed.named_children if listed is not None else ():
                for bound in field.children_by_field_name("name"):
                    fields[self._out.text(bound)] = self.type(field.child_by_field_name("type"), depth + 1)
        return name

    def results(self, node: Node | None, depth: int = 0) -> list[str]:
        """The types a function returns."""
        if node is None:
            return []
        if node.type != "parameter_list":
            return [self.type(node, depth)]
        out: list[str] = []
        for child in node.named_children:
            if child.type == "parameter_declaration":
                out += [self.type(child.child_by_field_name("type"), depth)] * max(
                    1, len(child.children_by_field_name("name"))
                )
        return out

    # --- expressions --------------------------------------------------------------------------------------------------

    def expression(self, node: Node | None, depth: int = 0) -> str:
        """An expression as text."""
        if node is None or depth > DEEPEST:
            return UNKNOWN
        kind = node.type
        if kind == "identifier":
            name = self._out.text(node)
            bound = self._scopes.meaning(name, node.start_byte)
            return name if bound is None else bound
        if kind == "selector_expression":
            return self._selected(
                self.expression(node.child_by_field_name("operand"), depth + 1), self._out.field_text(node, "field")
            )
        if kind == "call_expression":
            return self._call(node, depth)
        if kind == "composite_literal":
            return value_of(self.type(node.child_by_field_name("type")))
        if kind == "index_expression":
            return element(self.expression(node.child_by_field_name("operand"), depth + 1))
        if kind == "unary_expression":
            operand = self.expression(node.child_by_field_name("operand"), depth + 1)
            operator = node.child_by_field_name("operator")
            return element(operand) if operator is not None and operator.type == "<-" else operand
        if kind == "type_assertion_expression":
            return value_of(self.type(node.child_by_field_name("type")))
        if kind == "type_conversion_expression":
            type_ = node.child_by_field_name("type")
            if type_ is not None and type_.type == "generic_type":
                return called(self.type(type_))  # or a generic function: both look alike
            return value_of(self.type(type_))
        if kind in _INSIDE:
            return self.expression(node.child_by_field_name("operand") or named_child(node), depth + 1)
        return UNKNOWN

    def _selected(self, owner: str, field: str) -> str:
        if owner.startswith(f"<{_ANONYMOUS}") and owner.endswith(">"):
            return value_of(self._fields.get(owner[1:-1], {}).get(field, ""))
        return member(owner, field)

    def _call(self, node: Node, depth: int) -> str:
        function = node.child_by_field_name("function")
        first = named_child(node.child_by_field_name("arguments"))
        if function is not None and function.type == "identifier":
            name = self._out.text(function)
            if name in ("new", "make"):
                return value_of(self.type(first))
            if name == "append":
                return self.expression(first, depth + 1)
        text = self.expression(function, depth + 1)
        return value_of(text[1:-3]) if text.startswith("<") and text.endswith("()>") else called(text)

    def receiver(self, name: Node) -> str | None:
        """The receiver before a called name, "" for nothing; None for a call of a local variable, which calls no
        definition."""
        parent = name.parent
        if parent is None:
            return ""
        if parent.type == "selector_expression":
            return self.expression(parent.child_by_field_name("operand"))
        if parent.type == "qualified_type":
            return self._out.field_text(parent, "package")
        if name.type == "identifier" and self._scopes.meaning(self._out.text(name), name.start_byte) is not None:
            return None
        return ""

    # --- local variables ----------------------------------------------------------------------------------------------

    def _parameter(self, node: Node) -> None:
        function = node.parent.parent if node.parent is not None else None
        if function is None or function.type not in _FUNCTIONS:
            return
        type_ = node.child_by_field_name("type")
        worth = value_of(
            self._container(type_, 0) if node.type == "variadic_parameter_declaration" else self.type(type_)
        )
        for name in node.children_by_field_name("name"):
            self._scopes.bind(self._out.text(name), worth, name.start_byte, function.end_byte)

    def _type_parameter(self, node: Node) -> None:
        whole = node.parent.parent if node.parent is not None else None
        bound = self.type(node.child_by_field_name("type"))
        for name in node.children_by_field_name("name"):
            self._types.bind(
                self._out.text(name),
                "" if bound == "any" else bound,
                name.start_byte,
                whole.end_byte if whole is not None else node.end_byte,
            )

    def _variable(self, node: Node) -> None:
        """`var a, b T = ...` in a function or, seen by the whole package, outside."""
        type_ = node.child_by_field_name("type")
        value = node.child_by_field_name("value")
        values = value.named_children if value is not None else []
        end = _block_end(node)
        for position, name in enumerate(node.children_by_field_name("name")):
            if name.type != "identifier":
                continue
            worth = value_of(self.type(type_)) if type_ is not None else self._nth(values, position)
            if end:
                self._scopes.bind(self._out.text(name), worth, node.end_byte, end)
            elif worth != UNKNOWN and _ANONYMOUS not in worth:
                self._out.declare(
                    name,
                    self._out.text(name),
                    worth[1:-1] if worth.startswith("<") and worth.endswith(">") else f"={worth}",
                )

    def _nth(self, values: list[Node], position: int) -> str:
        """The worth of variable `position` of as many values, or of one call with as many results."""
        if len(values) == 1:
            return result(self.expression(values[0]), position)
        return self.expression(values[position]) if position < len(values) else UNKNOWN

    def _short(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        values = (
            right.named_children
            if right is not None and right.type == "expression_list"
            else [right]
            if right is not None
            else []
        )
        end = _block_end(node)
        worths = [self._nth(values, position) for position in range(left.named_child_count)] if left is not None else []
        for name, worth in zip(left.named_children if left is not None else (), worths, strict=True):
            text = self._out.text(name)
            # in `cart, err := ...` a name that is there already keeps its type
            if worth != UNKNOWN or self._scopes.meaning(text, node.start_byte) is None:
                self._scopes.bind(text, worth, node.end_byte, end)

    def _range(self, node: Node) -> None:
        left = node.child_by_field_name("left")
        loop = node.parent
        if left is None or loop is None:
            return
        names = left.named_children
        container = self.expression(node.child_by_field_name("right"))
        for position, name in enumerate(names):
            self._scopes.bind(
                self._out.text(name), element(container) if position == 1 else UNKNOWN, node.end_byte, loop.end_byte
            )

    def _type_switch(self, node: Node) -> None:
        alias = named_child(node.child_by_field_name("alias"))
        if alias is None:
            return
        whole = self.expression(node.child_by_field_name("value"))
        for case in node.named_children:
            if case.type in ("type_case", "default_case"):
                types = case.children_by_field_name("type")
                self._scopes.bind(
                    self._out.text(alias),
                    value_of(self.type(types[0])) if len(types) == 1 else whole,
                    case.start_byte,
                    case.end_byte,
                )


_BINDERS = {
    "parameter_declaration": GoValues._parameter,
    "variadic_parameter_declaration": GoValues._parameter,
    "type_parameter_declaration": GoValues._type_parameter,
    "var_spec": GoValues._variable,
    "const_spec": GoValues._variable,
    "short_var_declaration": GoValues._short,
    "receive_statement": GoValues._short,
    "range_clause": GoValues._range,
    "type_switch_statement": GoValues._type_switch,
}


def _block_end(node: Node) -> int:
    """The end of the block that a statement stands in; 0 at the top of a file."""
    block = node.parent
    while block is not None and block.type in _NOT_BLOCKS:
        block = block.parent
    return 0 if block is None or block.type == "source_file" else block.end_byte
