"""Reads the trees of Go files: definitions, imports, and types, expressions and local variables in the form of
`scopes.py`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from secateur.languages.syntax.collector import Captures, Collector, field_children, named_child
from secateur.languages.syntax.names import UNKNOWN, call_of, element, format_container, member, result, value_of, words
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
    type_of,
)
from secateur.model import FragmentKind

if TYPE_CHECKING:
    from tree_sitter import Node


_FUNCTIONS = words("function_declaration method_declaration func_literal")
_NOT_BLOCKS = words("for_clause range_clause var_spec_list var_declaration const_declaration statement_list")
_ANONYMOUS = "struct@"  # prefix of the name given to an anonymous struct type; its first byte follows


class GoValues(BlockValues):
    """Formats the types and expressions of one Go file."""

    def __init__(self, bindings: Iterable[Node], out: Collector) -> None:
        self._fields: dict[str, dict[str, str]] = {}  # of struct types without a name
        super().__init__(bindings, out)

    # --- types --------------------------------------------------------------------------------------------------------

    def _format_function_type(self, node: Node, depth: int) -> str:
        results = self.format_results(node.child_by_field_name("result"), depth)
        return f"{results[0]}()" if results and results[0] else ""

    def _name_struct(self, node: Node, depth: int) -> str:
        name = f"{_ANONYMOUS}{node.start_byte}"
        if name not in self._fields:
            fields = self._fields[name] = {}
            field_list = named_child(node)
            for field in field_list.named_children if field_list is not None else ():
                for field_name in field.children_by_field_name("name"):
                    fields[self.out.text(field_name)] = self.format_type(field.child_by_field_name("type"), depth)
        return name

    def format_results(self, node: Node | None, depth: int = 0) -> list[str]:
        """Returns the types of the results of a function."""
        if node is None:
            return []
        if node.type != "parameter_list":
            return [self.format_type(node, depth)]
        declared = [child for child in node.named_children if child.type == "parameter_declaration"]
        types = [self.format_type(child.child_by_field_name("type"), depth) for child in declared]
        counts = [max(1, len(child.children_by_field_name("name"))) for child in declared]
        return [type_ for type_, count in zip(types, counts, strict=True) for _ in range(count)]

    # --- expressions --------------------------------------------------------------------------------------------------

    def _format_selector(self, node: Node, depth: int) -> str:
        owner = self.format_expression(node.child_by_field_name("operand"), depth)
        field = self.out.field_text(node, "field")
        if owner.startswith(f"<{_ANONYMOUS}") and owner.endswith(">"):
            return value_of(self._fields.get(owner[1:-1], {}).get(field, ""))
        return member(owner, field)

    def _format_call(self, node: Node, depth: int) -> str:
        function = node.child_by_field_name("function")
        first = named_child(node.child_by_field_name("arguments"))
        if function is not None and function.type == "identifier":
            name = self.out.text(function)
            if name in ("new", "make"):
                return value_of(self.format_type(first))
            if name == "append":
                return self.format_expression(first, depth)
        text = self.format_expression(function, depth)
        if text.startswith("<") and text.endswith("()>"):  # `<T()>`, a value of a function type that returns T
            return value_of(text[1:-3])
        return call_of(text)

    def _format_unary(self, node: Node, depth: int) -> str:
        operand = self.format_expression(node.child_by_field_name("operand"), depth)
        operator = node.child_by_field_name("operator")
        return element(operand) if operator is not None and operator.type == "<-" else operand

    def _format_conversion(self, node: Node, _depth: int) -> str:
        if (type_ := node.child_by_field_name("type")) is not None and type_.type == "generic_type":
            return call_of(self.format_type(type_))  # a generic call parses like a conversion
        return value_of(self.format_type(type_))

    def format_receiver(self, name: Node) -> str | None:
        """Returns the receiver of a called name; "" without a receiver; None if a local variable is called."""
        if (parent := name.parent) is None:
            return ""
        if parent.type == "selector_expression":
            return self.format_expression(parent.child_by_field_name("operand"))
        if parent.type == "qualified_type":
            return self.out.field_text(parent, "package")
        if name.type == "identifier" and self.scopes.find_meaning(self.out.text(name), name.start_byte) is not None:
            return None
        return ""

    # --- local variables ----------------------------------------------------------------------------------------------

    def _bind_parameter(self, node: Node) -> None:
        if (function := holder_of(node)) is None or function.type not in _FUNCTIONS:
            return
        written = self.format_type(node.child_by_field_name("type"))
        value = value_of(format_container(written) if node.type == "variadic_parameter_declaration" else written)
        for name in node.children_by_field_name("name"):
            self.bind(name, value, function)

    def _bind_type_parameter(self, node: Node) -> None:
        definition = holder_of(node)
        constraint = self.format_type(node.child_by_field_name("type"))
        for name in node.children_by_field_name("name"):
            self.types.bind(
                self.out.text(name),
                "" if constraint == "any" else constraint,
                name.start_byte,
                definition.end_byte if definition is not None else node.end_byte,
            )

    def _bind_variables(self, node: Node) -> None:
        """Binds `var a, b T = ...` in a function; at package level, declares it for the whole package."""
        type_ = node.child_by_field_name("type")
        values = field_children(node, "value")
        block = _find_block(node)
        for position, name in enumerate(node.children_by_field_name("name")):
            if name.type != "identifier":
                continue
            value = value_of(self.format_type(type_)) if type_ is not None else self._format_value_at(values, position)
            if block is not None:
                self.bind(name, value, block, node.end_byte)
            elif value != UNKNOWN and _ANONYMOUS not in value:
                self.out.declare(name, self.out.text(name), type_of(value))

    def _format_value_at(self, values: list[Node], position: int) -> str:
        if len(values) == 1:
            return result(self.format_expression(values[0]), position)
        return self.format_expression(values[position]) if position < len(values) else UNKNOWN

    def _bind_short(self, node: Node) -> None:
        right, block, names = node.child_by_field_name("right"), _find_block(node), field_children(node, "left")
        values = [] if right is None else right.named_children if right.type == "expression_list" else [right]
        meanings = [self._format_value_at(values, position) for position in range(len(names))]  # before a name is bound
        for name, value in zip(names, meanings, strict=True):
            # In `cart, err := ...` an existing name keeps its type.
            if value != UNKNOWN or self.scopes.find_meaning(self.out.text(name), node.start_byte) is None:
                self.bind(name, value, block, node.end_byte)

    def _bind_range(self, node: Node) -> None:
        left = node.child_by_field_name("left")
        loop = node.parent
        if left is None or loop is None:
            return
        container = self.format_expression(node.child_by_field_name("right"))
        for position, name in enumerate(left.named_children):
            self.bind(name, element(container) if position == 1 else UNKNOWN, loop, node.end_byte)

    def _bind_type_switch(self, node: Node) -> None:
        if (alias := named_child(node.child_by_field_name("alias"))) is None:
            return
        value = self.format_expression(node.child_by_field_name("value"))
        for case in node.named_children:
            if case.type in ("type_case", "default_case"):
                types = case.children_by_field_name("type")
                self.bind(
                    alias, value_of(self.format_type(types[0])) if len(types) == 1 else value, case, case.start_byte
                )

    TYPES: ClassVar = {
        "type_identifier identifier": BlockValues.format_type_name,
        "qualified_type": Values.format_text,
        "slice_type array_type implicit_length_array_type": container_of("element"),
        "map_type channel_type": container_of("value"),
        "generic_type": type_in("type"),
        "pointer_type parenthesized_type type_constraint type_elem negated_type": lambda values, node, depth: (
            values.format_type(named_child(node), depth) if node.named_child_count == 1 else ""
        ),
        "function_type": _format_function_type,
        "struct_type": _name_struct,
    }
    EXPRESSIONS: ClassVar = {
        "identifier": BlockValues.format_name,
        "selector_expression": _format_selector,
        "call_expression": _format_call,
        "composite_literal type_assertion_expression": instance_of("type"),
        "index_expression": element_of(through("operand")),
        "unary_expression": _format_unary,
        "type_conversion_expression": _format_conversion,
        "parenthesized_expression": inside(),
        "slice_expression": through("operand"),
    }
    BINDERS: ClassVar = {
        "parameter_declaration variadic_parameter_declaration": _bind_parameter,
        "type_parameter_declaration": _bind_type_parameter,
        "var_spec const_spec": _bind_variables,
        "short_var_declaration receive_statement": _bind_short,
        "range_clause": _bind_range,
        "type_switch_statement": _bind_type_switch,
    }


def _find_block(node: Node) -> Node | None:
    block = node.parent
    while block is not None and block.type in _NOT_BLOCKS:
        block = block.parent
    return None if block is None or block.type == "source_file" else block


_RECEIVER = re.compile(r"(?<!\w)(\w+)\s*+(?:\[[^\[\]]*\]\s*+)?(?:,\s*+)?\)")
_VERSION = re.compile(r"v\d+")
_IMPORT_NOISE = re.compile(r"^go-|[-.]go$|\.v\d+$")

READS_CALLS = True


def read(captures: Captures, out: Collector) -> None:
    """Reads definitions, imports, embedded and declared types, and calls whose receivers contain no local variables."""
    values = GoValues(captures.get("binding", ()), out)
    for node in captures.get("package", ()):
        out.package = out.text(named_child(node))
    for node in captures.get("imports", ()):
        out.mark_import(node)
    for node in captures.get("import", ()):
        module = out.field_text(node, "path").strip('"`')
        alias = out.field_text(node, "name")
        if alias == ".":
            out.add_import(node, "", module, "*")
        elif alias == "_":
            out.add_import(node, "", module)
        else:  # a package is likely called by the last part of its path that is not a version, without usual affixes
            parts = module.split("/")
            last = parts[-2] if len(parts) > 1 and _VERSION.fullmatch(parts[-1]) else parts[-1]
            out.add_import(node, alias or _IMPORT_NOISE.sub("", last) or last, module)
    for node in captures.get("function", ()):
        receiver = _RECEIVER.search(out.field_text(node, "receiver"))
        out.define(node, FragmentKind.FUNCTION, out.field_text(node, "name"), owner=receiver[1] if receiver else "")
        for index, type_ in enumerate(values.format_results(node.child_by_field_name("result"))):
            out.declare(node, f"return#{index}" if index else "return", type_)
    for node in captures.get("types", ()):
        specs = [spec for spec in node.named_children if spec.type in ("type_spec", "type_alias")]
        for spec in specs:
            if spec.type == "type_spec":
                _read_type(spec, node if len(specs) == 1 else spec, values, out)
            else:
                out.declare(spec, out.field_text(spec, "name"), values.format_type(spec.child_by_field_name("type")))
    for node in captures.get("call", ()):
        if (call_receiver := values.format_receiver(node)) is not None:
            out.calls.append((node.start_point.row, out.text(node), call_receiver))


def _read_type(spec: Node, outer: Node, values: GoValues, out: Collector) -> None:
    name = spec.child_by_field_name("name")
    definition = out.define(spec, FragmentKind.CLASS, out.text(name), outer=outer, sig_end=name)
    if (shape := spec.child_by_field_name("type")) is None:
        return
    written = values.format_type(shape)
    if written.endswith("[]"):
        out.declare(spec, "[]", written[:-2])
    if (parts := shape.named_children) and parts[0].type == "field_declaration_list":
        parts = parts[0].named_children
    for part in parts:
        if part.type == "field_declaration":
            names = part.children_by_field_name("name")
            written = values.format_type(part.child_by_field_name("type"))
            if not names:
                out.add_base(definition, written)
                out.declare(part, written.rpartition(".")[2], written)
            for field in names:
                out.declare(field, out.text(field), written)
        elif part.type == "method_elem":
            results = values.format_results(part.child_by_field_name("result"))
            out.declare(part, out.field_text(part, "name") + "()", results[0] if results else "", empty=True)
        elif part.type == "type_elem" and part.named_child_count == 1:
            out.add_base(definition, values.format_type(named_child(part)))
