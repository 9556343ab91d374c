"""Imports and exports of JavaScript and TypeScript: ES modules, `require`, `module.exports`.

A name that is exported under another name is recorded as an exported `Import` from the module "", the file itself:
`export { total as sum }` gives `Import("sum", "", "total", exported=True)`. A default export has the name "default".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from secateur.languages.syntax.collector import Captures, Collector, named_child

if TYPE_CHECKING:
    from tree_sitter import Node

_DEFAULT = "default"
_EXPORT_WORDS = 12  # most decorators and keywords at the start of an export statement that are read

_DECLARATIONS = frozenset(
    {"function_declaration", "generator_function_declaration", "class_declaration", "abstract_class_declaration"}
)


def read_modules(captures: Captures, out: Collector) -> None:
    """Records what a module imports and what it exports under another name."""
    locals_: dict[str, tuple[str, str]] = {}  # local name → module, symbol
    for node in captures.get("import", ()):
        out.mark_import(node)
        module = _read_string(node.child_by_field_name("source"), out)
        names: list[tuple[str, str]] = []
        for clause in node.named_children:
            if clause.type == "import_require_clause":
                name = named_child(clause)
                module = _read_string(clause.child_by_field_name("source"), out)
                names.append((out.text(name), ""))
            if clause.type != "import_clause":
                continue
            for part in clause.named_children:
                if part.type == "identifier":
                    names.append((out.text(part), _DEFAULT))
                elif part.type == "namespace_import":
                    names.append((out.text(named_child(part)), ""))
                elif part.type == "named_imports":
                    names += [
                        _split_specifier(item, out)[::-1]
                        for item in part.named_children
                        if item.type == "import_specifier"
                    ]
        for local, symbol in names:
            locals_[local] = (module, symbol)
            out.add_import(node, local, module, symbol)
        if not names and module:
            out.add_import(node, "", module)
    bound: set[int] = set()
    for node in captures.get("bind", ()):
        if node.type == "variable_declarator":
            _read_require(node, out, locals_, bound)
        elif node.type == "assignment_expression":
            _read_assigned_exports(node, out, bound)
    for node in captures.get("load", ()):
        if node.id not in bound:
            out.add_import(node, "", read_first_string(node, out))
    for node in captures.get("export", ()):
        _read_export(node, out, locals_)


def is_require(out: Collector, call: Node) -> bool:
    """True for `require("...")`."""
    is_call = call.type == "call_expression" and out.field_text(call, "function") == "require"
    return is_call and bool(read_first_string(call, out))


def held_names(value: Node, out: Collector) -> Iterator[tuple[str, str]]:
    """Yields key and name of each member of an object that is a name: `{ sum: total, tax }`."""
    for item in value.named_children:
        key, target = item.child_by_field_name("key") or item, item.child_by_field_name("value") or item
        if target.type in ("identifier", "shorthand_property_identifier"):
            yield _read_string(key, out), out.text(target)


def _read_string(node: Node | None, out: Collector) -> str:
    return out.text(node).strip("\"'`")


def read_first_string(call: Node, out: Collector) -> str:
    """Returns the first argument of a call if it is a string, else ""."""
    first = named_child(call.child_by_field_name("arguments"))
    return _read_string(first, out) if first is not None and first.type == "string" else ""


def _split_specifier(node: Node, out: Collector) -> tuple[str, str]:
    name = _read_string(node.child_by_field_name("name"), out)
    alias = node.child_by_field_name("alias")
    return name, _read_string(alias, out) if alias is not None else name


def _read_require(node: Node, out: Collector, locals_: dict[str, tuple[str, str]], bound: set[int]) -> None:
    """Reads `const rank = require("./rank")`, `const { a, b: c } = require("./rank")` and
    `const a = require("./rank").a`."""
    value = node.child_by_field_name("value")
    symbol = ""
    if value is not None and value.type == "member_expression":
        symbol = out.field_text(value, "property")
        value = value.child_by_field_name("object")
    target = node.child_by_field_name("name")
    if value is None or target is None or not is_require(out, value):
        return
    bound.add(value.id)
    out.mark_import(node)
    module = read_first_string(value, out)
    names: list[tuple[str, str]] = []
    if target.type == "identifier":
        names.append((out.text(target), symbol))
    elif target.type == "object_pattern":
        for item in target.named_children:
            if item.type == "shorthand_property_identifier_pattern":
                names.append((out.text(item), out.text(item)))
            elif item.type == "pair_pattern":
                names.append((out.field_text(item, "value"), out.field_text(item, "key")))
    for local, name in names:
        locals_[local] = (module, name)
        out.add_import(node, local, module, name)


def _read_assigned_exports(node: Node, out: Collector, bound: set[int]) -> None:
    """Reads `module.exports = Cart`, `exports.sum = total`, `module.exports = { sum: total }` and `module.exports =
    require("./x")`."""
    left, value = out.field_text(node, "left"), node.child_by_field_name("right")
    if value is None or not left.startswith(("module.exports", "exports.")):
        return
    name = left.removeprefix("module.").removeprefix("exports").lstrip(".") or _DEFAULT
    if value.type == "identifier":
        _rename(node, out, name, out.text(value))
    elif value.type in ("function_expression", "class") and name == _DEFAULT:
        _rename(node, out, name, out.field_text(value, "name"))
    elif is_require(out, value):
        bound.add(value.id)
        local, symbol = ("", "*") if name == _DEFAULT else (name, "")
        out.add_import(node, local, read_first_string(value, out), symbol, exported=True)
    elif value.type == "object" and name == _DEFAULT:
        for key, target in held_names(value, out):
            _rename(value, out, key, target)


def _rename(node: Node, out: Collector, exported: str, local: str) -> None:
    if local and local != exported:
        out.add_import(node, exported, "", local, exported=True)


def _read_export(node: Node, out: Collector, locals_: dict[str, tuple[str, str]]) -> None:
    source = node.child_by_field_name("source")
    module = _read_string(source, out)
    if source is not None:
        out.mark_import(node)
    declaration, value = node.child_by_field_name("declaration"), node.child_by_field_name("value")
    is_default = any(child.type == "default" for child in node.children[:_EXPORT_WORDS])
    if is_default and declaration is not None and declaration.type in _DECLARATIONS:
        _rename(node, out, _DEFAULT, out.field_text(declaration, "name"))
    elif is_default and value is not None and value.type == "identifier":
        name = out.text(value)
        out.add_import(node, _DEFAULT, *locals_.get(name, ("", name)), exported=True)
    elif is_default and value is not None and value.type in ("function_expression", "class"):
        _rename(node, out, _DEFAULT, out.field_text(value, "name"))
    elif is_default and value is not None and value.type == "object":
        # With functions of its own, the object's members are found as those of the module.
        members = list(held_names(value, out))
        for key, target in members if len(members) == value.named_child_count else ():
            out.declare(node, f"{_DEFAULT}.{key}", f"={target}")
    for clause in node.named_children:
        if clause.type == "namespace_export":
            out.add_import(node, _read_string(named_child(clause), out), module, exported=True)
        elif clause.type == "export_clause":
            for item in clause.named_children:
                if item.type == "export_specifier":
                    name, alias = _split_specifier(item, out)
                    if module:
                        out.add_import(item, alias, module, name, exported=True)
                    elif name in locals_:
                        out.add_import(item, alias, *locals_[name], exported=True)
                    else:
                        _rename(item, out, alias, name)
    if module and any(child.type == "*" for child in node.children[:_EXPORT_WORDS]):
        out.add_import(node, "", module, "*", exported=True)
