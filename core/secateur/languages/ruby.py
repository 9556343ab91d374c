"""Ruby."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from secateur.languages.syntax.collector import Captures, Collector, named_child
from secateur.languages.syntax.names import dotted, words
from secateur.languages.traits import Grammar, LanguageTraits, NameRules
from secateur.model import FragmentKind

if TYPE_CHECKING:
    from tree_sitter import Node

_BUILTINS = words(
    """
attr_accessor attr_reader attr_writer block_given? catch extend freeze include lambda loop p print printf private proc
protected public puts raise rand require require_relative sleep sprintf throw
"""
)

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
            builtins=_BUILTINS,
            constructors=("initialize",),
            self_words=words("self"),
            super_words=words("super"),
            field_sigil="@",
            instance_method="new",
            class_scope="repository",
            implicit_self=True,
            links_by_name=True,
            follows_stars=False,
            imports_by_path=True,
            imports_by_folders=True,
            opens_types=True,
        ),
        line_comment="#",
        block_comments=False,
    ),
)

QUERY = """
[(class) (module)] @class
(singleton_class) @singleton
[(method) (singleton_method)] @function
(call arguments: (argument_list . [(method) (singleton_method)])) @modified
(call arguments: (argument_list . [(string) (constant) (scope_resolution) (simple_symbol) (pair)]) block: (do_block))
 @titled
(assignment left: (constant) right: (call block: (_))) @struct
(assignment left: [(identifier) (instance_variable)] right: (call)) @made
(assignment left: (identifier) @local)
[(method_parameters (identifier) @local) (block_parameters (identifier) @local)]
((call !receiver method: (identifier) @_word arguments: (argument_list . [(string) (constant) (scope_resolution)]))
 @command
  (#any-of? @_word "require" "require_relative" "load" "include" "extend" "prepend"))
(call method: [(identifier) (constant)] @call)
[(body_statement (identifier) @bare) (then (identifier) @bare) (block_body (identifier) @bare)]
[(if) (unless) (while) (until) (for) (when) (in_clause) (rescue) (conditional) (if_modifier) (unless_modifier)
 (while_modifier) (until_modifier)
 (rescue_modifier) (elsif) "&&" "||" "and" "or"] @branch
(comment) @note
"""

_TITLED = words(
    "describe context it specify feature scenario shared_examples shared_context test should task namespace RSpec"
)
_NEW = re.compile(r"(?:[\w.]+\.)?[A-Z]\w*")


def read(captures: Captures, out: Collector) -> None:
    """Definitions, requires, superclasses and mix-ins, and types told by `Class.new` of a Ruby file."""
    for node in captures.get("modified", ()):
        method = named_child(node.child_by_field_name("arguments"))
        if method is not None:
            out.wrapped[method.id] = node
    for node in captures.get("class", ()):
        _class(node, out)
    for node in captures.get("singleton", ()):
        out.define(node, None, "", methods=True)
    for node in captures.get("function", ()):
        name_node = node.child_by_field_name("name")
        out.define(
            node,
            FragmentKind.FUNCTION,
            out.text(name_node),
            sig_end=node.child_by_field_name("parameters") or name_node,
        )
    for node in captures.get("struct", ()):
        constant = node.child_by_field_name("left")
        definition = out.define(node, FragmentKind.CLASS, out.text(constant), sig_end=constant)
        made = dotted(out.field_text(node.child_by_field_name("right") or node, "receiver"))
        out.base(definition, made)
    for node in captures.get("titled", ()):
        _titled(node, out)
    for node in captures.get("command", ()):
        _command(node, out)
    for node in captures.get("made", ()):
        made = _made(node.child_by_field_name("right"), out)
        if made:
            out.annotate(node, _variable(out.field_text(node, "left")), made)
    local = {out.text(node) for node in captures.get("local", ())}
    for node in captures.get("bare", ()):
        name = out.text(node)
        if name not in local:
            out.calls.append((node.start_point.row, name, ""))
    out.calls = [_constructor(row, name, _variable(receiver)) for row, name, receiver in out.calls]


def _class(node: Node, out: Collector) -> None:
    path = out.field_text(node, "name").replace("::", ".").strip(".").split(".")
    superclass = node.child_by_field_name("superclass")
    definition = out.define(
        node,
        FragmentKind.CLASS,
        path[-1],
        owner=".".join(path[:-1]),
        sig_end=superclass or node.child_by_field_name("name"),
    )
    out.base(definition, dotted(out.text(named_child(superclass))) if superclass is not None else "")


def _titled(node: Node, out: Collector) -> None:
    """`describe Cart do`, `it "adds" do`, `task :build do`: a function named by its title."""
    word = out.field_text(node, "method")
    title = named_child(node.child_by_field_name("arguments"))
    if word in _TITLED and title is not None:
        name = " ".join(out.text(title).strip("\"':").split())
        out.define(node, FragmentKind.FUNCTION, name, body=node.child_by_field_name("block"), sig_end=title)


def _command(node: Node, out: Collector) -> None:
    word = out.field_text(node, "method")
    arguments = node.child_by_field_name("arguments")
    for argument in arguments.named_children if arguments is not None else ():
        if argument.type == "string" and word in ("require", "require_relative", "load"):
            module = out.text(argument).strip("\"'")
            out.import_statement(node)
            out.import_(
                node, "", "./" + module if word == "require_relative" and not module.startswith(".") else module, "*"
            )
        elif argument.type in ("constant", "scope_resolution") and word in ("include", "extend", "prepend"):
            out.bases.append((node.start_point.row, dotted(out.text(argument))))


def _made(call: Node | None, out: Collector) -> str:
    """ "Store" for `Store.new(...)`, else ""."""
    if call is None or out.field_text(call, "method") != "new":
        return ""
    receiver = dotted(out.field_text(call, "receiver"))
    return receiver if _NEW.fullmatch(receiver) else ""


def _variable(text: str) -> str:
    """`@cart.lines` → `self.cart.lines`."""
    return "self." + text.lstrip("@") if text.startswith("@") else text


def _constructor(row: int, name: str, receiver: str) -> tuple[int, str, str]:
    """`Store.new` is a call of `Store`."""
    if name == "new" and _NEW.fullmatch(receiver):
        owner, _, made = receiver.rpartition(".")
        return row, made, owner
    return row, name, receiver
