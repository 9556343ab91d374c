"""PHP, with the HTML around it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from secateur.languages.syntax.collector import LONG_WRAPPER, Captures, Collector, named_child
from secateur.languages.syntax.names import read_type_name, words
from secateur.languages.traits import CAMEL_CASE_TEST, Grammar, LanguageTraits, NameRules
from secateur.model import FragmentKind

if TYPE_CHECKING:
    from tree_sitter import Node


LANGUAGES = (
    LanguageTraits(
        name="php",
        extensions="php phtml php5 php7 inc",
        interpreters="php",
        test_names=(("php", CAMEL_CASE_TEST + r"|Test[A-Z0-9]\w*"),),
        test_names_lower=(("php", r"test_.*"),),
        spec_files="php",
        grammar=Grammar("tree_sitter_php", __name__, "language_php"),
        rules=NameRules(
            family="php",
            finder="secateur.languages.syntax.import_targets:PackageFinder",
            builtins=words(
                "array_filter array_key_exists array_keys array_map array_merge array_pop array_push array_shift"
                " array_slice array_values count define empty explode file_get_contents function_exists implode"
                " in_array intval is_array is_callable is_null is_numeric is_object is_string isset json_decode"
                " json_encode preg_match preg_replace printf sprintf str_replace strlen strpos strtolower strtoupper"
                " substr trigger_error trim unset var_dump"
            ),
            constructors=("__construct",),
            self_words=words("self this static"),
            super_words=words("super parent"),
            variable_sigil="$",
            packages="declared",
            links_by_name=True,
            has_packages_as_names=True,
        ),
    ),
)


_FILE = re.compile(r"""["']([^"']+)["']""")
_HERE = re.compile(r"__DIR__|dirname\s*\(\s*__FILE__\s*\)")
_RECEIVERS = {"parent": "super", "static": "self"}


def read(captures: Captures, out: Collector) -> None:
    """Reads the definitions, uses and includes, bases and types of a PHP file."""
    for node in captures.get("namespace", ()):
        out.package = out.package or out.field_text(node, "name")
    for node in captures.get("use", ()):
        out.mark_import(node)
        prefix = ""
        clauses: list[Node] = []
        for child in node.named_children:
            if child.type == "namespace_name":
                prefix = out.text(child)
            elif child.type == "namespace_use_clause":
                clauses.append(child)
            elif child.type == "namespace_use_group":
                clauses += [clause for clause in child.named_children if clause.type == "namespace_use_clause"]
        for clause in clauses:
            names = [out.text(child) for child in clause.named_children if child.type in ("name", "qualified_name")]
            name = names[0] if names else ""
            whole = (f"{prefix}\\{name}" if prefix else name).lstrip("\\")
            module, _, symbol = whole.rpartition("\\")
            out.add_import(node, out.field_text(clause, "alias") or symbol, module, symbol)
    for node in captures.get("require", ()):
        text = out.text(node)
        if file := _FILE.search(text):
            out.add_import(node, "", "." + file[1] if _HERE.search(text) and file[1].startswith("/") else file[1], "*")
    for node in captures.get("class", ()):
        definition = out.define(node, FragmentKind.CLASS, out.field_text(node, "name"))
        for clause in node.named_children:
            if clause.type in ("base_clause", "class_interface_clause"):
                for base in clause.named_children:
                    out.add_base(definition, read_type_name(out.text(base)))
    for node in captures.get("mixin", ()):
        out.bases += [
            (node.start_point.row, read_type_name(out.text(base)))
            for base in node.named_children
            if base.type in ("name", "qualified_name")
        ]
    for node in captures.get("function", ()):
        out.define(node, FragmentKind.FUNCTION, out.field_text(node, "name"))
        out.annotate(node, "return", out.field_text(node, "return_type"))
    for node in captures.get("scope", ()):
        out.define(node, None, "", opens_at=LONG_WRAPPER, methods=node.type == "anonymous_class")
    for node in captures.get("parameter", ()):
        name, type_ = out.field_text(node, "name").lstrip("$&. "), out.field_text(node, "type")
        out.annotate(node, name, type_)
        if node.type == "property_promotion_parameter":
            out.annotate(node, f"this.{name}", type_)
    for node in captures.get("property", ()):
        for element in node.named_children:
            if element.type == "property_element":
                out.annotate(node, out.field_text(element, "name").lstrip("$"), out.field_text(node, "type"))
    for node in captures.get("creation", ()):
        created = named_child(node.child_by_field_name("right"))
        if created is not None and created.type in ("name", "qualified_name"):
            out.annotate(node, _normalize_receiver(out.field_text(node, "left")), out.text(created))
    out.calls = [(row, name, _normalize_receiver(receiver)) for row, name, receiver in out.calls]


def _normalize_receiver(text: str) -> str:
    """Converts `$this->store` to `this.store`, and `parent` to `super`."""
    name = text.replace("$", "").replace("->", ".").replace("?.", ".")
    return _RECEIVERS.get(name, name)
