"""Reads the trees of Python files."""

from __future__ import annotations

from secateur.languages.python.values import PythonValues
from secateur.languages.syntax.collector import Captures, Collector, field_children
from secateur.languages.syntax.names import read_type_name
from secateur.model import FragmentKind


def read(captures: Captures, out: Collector) -> None:
    """Reads the definitions, imports and bases of a Python module; `PythonValues` reads calls and types."""
    out.exports_imports = True
    for node in captures.get("wrapper", ()):
        inner = node.child_by_field_name("definition")
        if inner is not None:
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
    _read_imports(captures, out)
    PythonValues(captures, out)


def _read_imports(captures: Captures, out: Collector) -> None:
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
