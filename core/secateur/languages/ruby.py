"""Ruby."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from secateur.languages.syntax.collector import Captures, Collector, field_children, named_child
from secateur.languages.syntax.names import read_dotted_name, words
from secateur.languages.traits import Grammar, LanguageTraits, NameRules
from secateur.model import FragmentKind

if TYPE_CHECKING:
    from tree_sitter import Node


LANGUAGES = (
    LanguageTraits(
        name="ruby",
        extensions="rb rake gemspec ru",
        file_names="rakefile gemfile guardfile podfile vagrantfile brewfile",
        interpreters="ruby",
        test_names_lower=(("rb", r"test_.*|.*[-_](tests?|unittest)|.*_spec|spec_helper|.*\.(test|tests|spec|specs)"),),
        spec_files="rb",
        grammar=Grammar("tree_sitter_ruby", __name__),
        rules=NameRules(
            family="ruby",
            builtins=words(
                "attr_accessor attr_reader attr_writer block_given? catch extend freeze include lambda loop p print"
                " printf private proc protected public puts raise rand require require_relative sleep sprintf throw"
            ),
            constructors=("initialize",),
            self_words=words("self"),
            super_words=words("super"),
            field_sigil="@",
            instance_method="new",
            class_scope="repository",
            implicit_self=True,
            links_by_name=True,
            follows_stars=False,
            opens_types=True,
        ),
        line_comment="#",
        block_comments=False,
    ),
)


_TITLED_CALLS = words(
    "describe context it specify feature scenario shared_examples shared_context test should task namespace RSpec"
)
_CLASS_NAME = re.compile(r"(?:[\w.]+\.)?[A-Z]\w*")


def read(captures: Captures, out: Collector) -> None:
    """Reads the definitions, requires, superclasses, mix-ins, and types from `Class.new` of a Ruby file."""
    for node in captures.get("modified", ()):
        if (method := named_child(node.child_by_field_name("arguments"))) is not None:
            out.wrapped[method.id] = node
    for node in captures.get("class", ()):
        path = out.field_text(node, "name").replace("::", ".").strip(".").split(".")
        superclass = node.child_by_field_name("superclass")
        last = superclass or node.child_by_field_name("name")
        definition = out.define(node, FragmentKind.CLASS, path[-1], owner=".".join(path[:-1]), sig_end=last)
        out.add_base(definition, read_dotted_name(out.text(named_child(superclass))) if superclass is not None else "")
    for node in captures.get("singleton", ()):
        out.define(node, None, "", methods=True)
    for node in captures.get("function", ()):
        name_node = node.child_by_field_name("name")
        last = node.child_by_field_name("parameters") or name_node
        out.define(node, FragmentKind.FUNCTION, out.text(name_node), sig_end=last)
    for node in captures.get("struct", ()):
        constant = node.child_by_field_name("left")
        definition = out.define(node, FragmentKind.CLASS, out.text(constant), sig_end=constant)
        out.add_base(
            definition, read_dotted_name(out.field_text(node.child_by_field_name("right") or node, "receiver"))
        )
    for node in captures.get("titled", ()):
        # Defines a function named by its title: `describe Cart do`, `it "adds" do`, `task :build do`.
        word = out.field_text(node, "method")
        title = named_child(node.child_by_field_name("arguments"))
        if word in _TITLED_CALLS and title is not None:
            name = " ".join(out.text(title).strip("\"':").split())
            out.define(node, FragmentKind.FUNCTION, name, body=node.child_by_field_name("block"), sig_end=title)
    for node in captures.get("command", ()):
        word = out.field_text(node, "method")
        for argument in field_children(node, "arguments"):
            if argument.type == "string" and word in ("require", "require_relative", "load"):
                module = out.text(argument).strip("\"'")
                out.mark_import(node)
                is_plain = word == "require_relative" and not module.startswith(".")
                out.add_import(node, "", "./" + module if is_plain else module, "*")
            elif argument.type in ("constant", "scope_resolution") and word in ("include", "extend", "prepend"):
                out.bases.append((node.start_point.row, read_dotted_name(out.text(argument))))
    for node in captures.get("creation", ()):
        if created := _read_new(node.child_by_field_name("right"), out):
            out.annotate(node, _normalize_receiver(out.field_text(node, "left")), created)
    local = {out.text(node) for node in captures.get("local", ())}
    for node in captures.get("bare", ()):
        name = out.text(node)
        if name not in local:
            out.calls.append((node.start_point.row, name, ""))
    out.calls = [_resolve_new(row, name, _normalize_receiver(receiver)) for row, name, receiver in out.calls]


def _read_new(call: Node | None, out: Collector) -> str:
    if call is None or out.field_text(call, "method") != "new":
        return ""
    receiver = read_dotted_name(out.field_text(call, "receiver"))
    return receiver if _CLASS_NAME.fullmatch(receiver) else ""


def _normalize_receiver(text: str) -> str:
    """Converts `@cart.lines` to `self.cart.lines`."""
    return "self." + text.lstrip("@") if text.startswith("@") else text


def _resolve_new(row: int, name: str, receiver: str) -> tuple[int, str, str]:
    if name == "new" and _CLASS_NAME.fullmatch(receiver):
        owner, _, class_name = receiver.rpartition(".")
        return row, class_name, owner
    return row, name, receiver
