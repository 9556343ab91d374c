"""Reads the trees of Go files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from secateur.languages.go.values import GoValues
from secateur.languages.syntax.collector import Captures, Collector, named_child
from secateur.model import FragmentKind

if TYPE_CHECKING:
    from tree_sitter import Node


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
        _read_import(node, out)
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
        call_receiver = values.format_receiver(node)
        if call_receiver is not None:
            out.calls.append((node.start_point.row, out.text(node), call_receiver))


def _read_import(node: Node, out: Collector) -> None:
    module = out.field_text(node, "path").strip('"`')
    alias = out.field_text(node, "name")
    if alias == ".":
        out.add_import(node, "", module, "*")
    elif alias == "_":
        out.add_import(node, "", module)
    else:
        out.add_import(node, alias or _guess_package_name(module), module)


def _guess_package_name(module: str) -> str:
    """Guesses the name of a package: the last part of its path that is not a version, without usual affixes."""
    parts = module.split("/")
    last = parts[-2] if len(parts) > 1 and _VERSION.fullmatch(parts[-1]) else parts[-1]
    return _IMPORT_NOISE.sub("", last) or last


def _read_type(spec: Node, outer: Node, values: GoValues, out: Collector) -> None:
    """Reads a type: embedded types, types of fields and elements, and return types of declared methods."""
    name = spec.child_by_field_name("name")
    definition = out.define(spec, FragmentKind.CLASS, out.text(name), outer=outer, sig_end=name)
    shape = spec.child_by_field_name("type")
    if shape is None:
        return
    written = values.format_type(shape)
    if written.endswith("[]"):
        out.declare(spec, "[]", written[:-2])
    members = shape.named_children
    if members and members[0].type == "field_declaration_list":
        members = members[0].named_children
    for member in members:
        type_ = member.child_by_field_name("type")
        if member.type == "field_declaration":
            names = member.children_by_field_name("name")
            written = values.format_type(type_)
            if not names:
                out.add_base(definition, written)
                out.declare(member, written.rpartition(".")[2], written)
            for field in names:
                out.declare(field, out.text(field), written)
        elif member.type == "method_elem":
            results = values.format_results(member.child_by_field_name("result"))
            out.declare(member, out.field_text(member, "name") + "()", results[0] if results else "", empty=True)
        elif member.type == "type_elem" and member.named_child_count == 1:
            out.add_base(definition, values.format_type(named_child(member)))
