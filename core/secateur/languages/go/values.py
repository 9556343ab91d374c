"""Formats the types, expressions and local variables of a Go file as text in the form of `scopes.py`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from secateur.languages.syntax.collector import Collector, field_children, named_child
from secateur.languages.syntax.names import words
from secateur.languages.syntax.scopes import DEEPEST, UNKNOWN, Scopes, call_of, element, member, result, value_of

if TYPE_CHECKING:
    from tree_sitter import Node

_FUNCTIONS = words("function_declaration method_declaration func_literal")
_PASS_THROUGH = words("parenthesized_expression slice_expression")
_NOT_BLOCKS = words("for_clause range_clause var_spec_list var_declaration const_declaration statement_list")
_ANONYMOUS = "struct@"
"""Prefix of the name given to an anonymous struct type; its first byte follows."""


class GoValues:
    """Formats the types and expressions of one file. Local variables are bound once, in source order."""

    def __init__(self, bindings: Iterable[Node], out: Collector) -> None:
        self._out = out
        self._scopes = Scopes()
        self._types = Scopes()  # type parameters
        self._fields: dict[str, dict[str, str]] = {}  # of struct types without a name
        for node in sorted(bindings, key=lambda node: node.start_byte):
            _BINDERS[node.type](self, node)

    # --- types --------------------------------------------------------------------------------------------------------

    def format_type(self, node: Node | None, depth: int = 0) -> str:
        """Formats a type; "" for a type that the text form cannot express."""
        if node is None or depth > DEEPEST:
            return ""
        kind = node.type
        if kind in ("type_identifier", "identifier"):
            name = self._out.text(node)
            constraint = self._types.find_meaning(name, node.start_byte)
            return name if constraint is None else constraint
        if kind == "qualified_type":
            return self._out.text(node)
        if kind in ("slice_type", "array_type", "implicit_length_array_type"):
            return self._format_container(node.child_by_field_name("element"), depth)
        if kind in ("map_type", "channel_type"):
            return self._format_container(node.child_by_field_name("value"), depth)
        if kind == "generic_type":
            return self.format_type(node.child_by_field_name("type"), depth + 1)
        if kind in ("pointer_type", "parenthesized_type", "type_constraint", "type_elem", "negated_type"):
            return self.format_type(named_child(node), depth + 1) if node.named_child_count == 1 else ""
        if kind == "function_type":
            results = self.format_results(node.child_by_field_name("result"), depth + 1)
            return f"{results[0]}()" if results and results[0] else ""
        if kind == "struct_type":
            return self._name_struct(node, depth)
        return ""

    def _format_container(self, node: Node | None, depth: int) -> str:
        inner = self.format_type(node, depth + 1)
        return f"{inner}[]" if inner else ""

    def _name_struct(self, node: Node, depth: int) -> str:
        name = f"{_ANONYMOUS}{node.start_byte}"
        if name not in self._fields:
            fields = self._fields[name] = {}
            field_list = named_child(node)
            for field in field_list.named_children if field_list is not None else ():
                for field_name in field.children_by_field_name("name"):
                    fields[self._out.text(field_name)] = self.format_type(field.child_by_field_name("type"), depth + 1)
        return name

    def format_results(self, node: Node | None, depth: int = 0) -> list[str]:
        """Returns the types of the results of a function."""
        if node is None:
            return []
        if node.type != "parameter_list":
            return [self.format_type(node, depth)]
        out: list[str] = []
        for child in node.named_children:
            if child.type == "parameter_declaration":
                out += [self.format_type(child.child_by_field_name("type"), depth)] * max(
                    1, len(child.children_by_field_name("name"))
                )
        return out

    # --- expressions --------------------------------------------------------------------------------------------------

    def format_expression(self, node: Node | None, depth: int = 0) -> str:
        """Formats an expression."""
        if node is None or depth > DEEPEST:
            return UNKNOWN
        kind = node.type
        if kind == "identifier":
            name = self._out.text(node)
            meaning = self._scopes.find_meaning(name, node.start_byte)
            return name if meaning is None else meaning
        if kind == "selector_expression":
            return self._select_field(
                self.format_expression(node.child_by_field_name("operand"), depth + 1),
                self._out.field_text(node, "field"),
            )
        if kind == "call_expression":
            return self._format_call(node, depth)
        if kind == "composite_literal":
            return value_of(self.format_type(node.child_by_field_name("type")))
        if kind == "index_expression":
            return element(self.format_expression(node.child_by_field_name("operand"), depth + 1))
        if kind == "unary_expression":
            operand = self.format_expression(node.child_by_field_name("operand"), depth + 1)
            operator = node.child_by_field_name("operator")
            return element(operand) if operator is not None and operator.type == "<-" else operand
        if kind == "type_assertion_expression":
            return value_of(self.format_type(node.child_by_field_name("type")))
        if kind == "type_conversion_expression":
            type_ = node.child_by_field_name("type")
            if type_ is not None and type_.type == "generic_type":
                return call_of(self.format_type(type_))  # a generic call parses like a conversion
            return value_of(self.format_type(type_))
        if kind in _PASS_THROUGH:
            return self.format_expression(node.child_by_field_name("operand") or named_child(node), depth + 1)
        return UNKNOWN

    def _select_field(self, owner: str, field: str) -> str:
        if owner.startswith(f"<{_ANONYMOUS}") and owner.endswith(">"):
            return value_of(self._fields.get(owner[1:-1], {}).get(field, ""))
        return member(owner, field)

    def _format_call(self, node: Node, depth: int) -> str:
        function = node.child_by_field_name("function")
        first = named_child(node.child_by_field_name("arguments"))
        if function is not None and function.type == "identifier":
            name = self._out.text(function)
            if name in ("new", "make"):
                return value_of(self.format_type(first))
            if name == "append":
                return self.format_expression(first, depth + 1)
        text = self.format_expression(function, depth + 1)
        if text.startswith("<") and text.endswith("()>"):  # `<T()>`, a value of a function type that returns T
            return value_of(text[1:-3])
        return call_of(text)

    def format_receiver(self, name: Node) -> str | None:
        """Returns the receiver of a called name; "" without a receiver; None if a local variable is called."""
        parent = name.parent
        if parent is None:
            return ""
        if parent.type == "selector_expression":
            return self.format_expression(parent.child_by_field_name("operand"))
        if parent.type == "qualified_type":
            return self._out.field_text(parent, "package")
        if name.type == "identifier" and self._scopes.find_meaning(self._out.text(name), name.start_byte) is not None:
            return None
        return ""

    # --- local variables ----------------------------------------------------------------------------------------------

    def _bind_parameter(self, node: Node) -> None:
        function = node.parent.parent if node.parent is not None else None
        if function is None or function.type not in _FUNCTIONS:
            return
        type_ = node.child_by_field_name("type")
        value = value_of(
            self._format_container(type_, 0)
            if node.type == "variadic_parameter_declaration"
            else self.format_type(type_)
        )
        for name in node.children_by_field_name("name"):
            self._scopes.bind(self._out.text(name), value, name.start_byte, function.end_byte)

    def _bind_type_parameter(self, node: Node) -> None:
        definition = node.parent.parent if node.parent is not None else None
        constraint = self.format_type(node.child_by_field_name("type"))
        for name in node.children_by_field_name("name"):
            self._types.bind(
                self._out.text(name),
                "" if constraint == "any" else constraint,
                name.start_byte,
                definition.end_byte if definition is not None else node.end_byte,
            )

    def _bind_variables(self, node: Node) -> None:
        """Binds `var a, b T = ...` in a function; at package level, declares it for the whole package."""
        type_ = node.child_by_field_name("type")
        values = field_children(node, "value")
        end = _find_block_end(node)
        for position, name in enumerate(node.children_by_field_name("name")):
            if name.type != "identifier":
                continue
            value = value_of(self.format_type(type_)) if type_ is not None else self._format_value_at(values, position)
            if end:
                self._scopes.bind(self._out.text(name), value, node.end_byte, end)
            elif value != UNKNOWN and _ANONYMOUS not in value:
                self._out.declare(
                    name,
                    self._out.text(name),
                    value[1:-1] if value.startswith("<") and value.endswith(">") else f"={value}",
                )

    def _format_value_at(self, values: list[Node], position: int) -> str:
        """Returns the value of the variable at `position`: one of several values, or a result of the only call."""
        if len(values) == 1:
            return result(self.format_expression(values[0]), position)
        return self.format_expression(values[position]) if position < len(values) else UNKNOWN

    def _bind_short(self, node: Node) -> None:
        right = node.child_by_field_name("right")
        values = [] if right is None else [right]
        if right is not None and right.type == "expression_list":
            values = right.named_children
        end = _find_block_end(node)
        names = field_children(node, "left")
        meanings = [self._format_value_at(values, position) for position in range(len(names))]  # before a name is bound
        for name, value in zip(names, meanings, strict=True):
            text = self._out.text(name)
            # In `cart, err := ...` an existing name keeps its type.
            if value != UNKNOWN or self._scopes.find_meaning(text, node.start_byte) is None:
                self._scopes.bind(text, value, node.end_byte, end)

    def _bind_range(self, node: Node) -> None:
        left = node.child_by_field_name("left")
        loop = node.parent
        if left is None or loop is None:
            return
        names = left.named_children
        container = self.format_expression(node.child_by_field_name("right"))
        for position, name in enumerate(names):
            self._scopes.bind(
                self._out.text(name), element(container) if position == 1 else UNKNOWN, node.end_byte, loop.end_byte
            )

    def _bind_type_switch(self, node: Node) -> None:
        alias = named_child(node.child_by_field_name("alias"))
        if alias is None:
            return
        value = self.format_expression(node.child_by_field_name("value"))
        for case in node.named_children:
            if case.type in ("type_case", "default_case"):
                types = case.children_by_field_name("type")
                self._scopes.bind(
                    self._out.text(alias),
                    value_of(self.format_type(types[0])) if len(types) == 1 else value,
                    case.start_byte,
                    case.end_byte,
                )


_BINDERS = {
    "parameter_declaration": GoValues._bind_parameter,
    "variadic_parameter_declaration": GoValues._bind_parameter,
    "type_parameter_declaration": GoValues._bind_type_parameter,
    "var_spec": GoValues._bind_variables,
    "const_spec": GoValues._bind_variables,
    "short_var_declaration": GoValues._bind_short,
    "receive_statement": GoValues._bind_short,
    "range_clause": GoValues._bind_range,
    "type_switch_statement": GoValues._bind_type_switch,
}


def _find_block_end(node: Node) -> int:
    """Returns the end of the block around a statement; 0 at the top of a file."""
    block = node.parent
    while block is not None and block.type in _NOT_BLOCKS:
        block = block.parent
    return 0 if block is None or block.type == "source_file" else block.end_byte
