"""C and C++."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from secateur.languages.syntax.collector import Captures, Collector, named_child
from secateur.languages.syntax.macros import mask_macros
from secateur.languages.syntax.names import read_type_name, words
from secateur.languages.traits import C_SILENT, CAMEL_CASE_TEST, TEST_FILE, TESTED, Grammar, LanguageTraits, NameRules
from secateur.model import FragmentKind

if TYPE_CHECKING:
    from tree_sitter import Node


_CPP_SIGNS = re.compile(
    rb"^[ \t]*(?:class\s+\w+|namespace\b|template\s*<|using\s+\w|public:|private:|protected:)|\bstd::|^[ \t]*#["
    rb" \t]*include[ \t]*<[a-z_]+>",
    re.MULTILINE,
)

RULES = NameRules(
    family="c",
    builtins=words(
        "abort abs assert atoi calloc close exit fclose fflush fgets fopen fprintf fputs fread free fseek fwrite"
        " getenv isalpha isdigit isspace malloc memcmp memcpy memmove memset open perror printf putchar puts qsort read"
        " realloc scanf sizeof snprintf sprintf sscanf strcat strchr strcmp strcpy strdup strerror strlen strncmp"
        " strncpy strrchr strstr strtol strtoul tolower toupper vsnprintf write"
    ),
    self_words=words("this"),
    implicit_self=True,
    links_by_name=True,
    has_namespaces=True,
    follows_stars=False,
    opens_types=True,
)

LANGUAGES = (
    LanguageTraits(
        name="c",
        extensions="c h",
        test_names_lower=(("c h", TEST_FILE),),
        grammar=Grammar("tree_sitter_c", __name__),
        silent=C_SILENT,
        rules=RULES,
    ),
    LanguageTraits(
        name="cpp",
        extensions="cc cpp cxx c++ hh hpp hxx h++ ipp inl tpp cu cuh ino",
        claims=_CPP_SIGNS,
        claimed="h",
        test_names=(("cc cpp", CAMEL_CASE_TEST),),
        test_names_lower=(("cc cpp hpp", r"test_.*"), ("cc cpp cxx hpp", TESTED)),
        grammar=Grammar("tree_sitter_cpp", __name__, queries="c cpp"),
        silent=C_SILENT,
        rules=RULES,
    ),
)


_DECLARATORS = words(
    "pointer_declarator reference_declarator parenthesized_declarator attributed_declarator init_declarator"
    " array_declarator function_declarator"
)
_DEEPEST_DECLARATOR = 12  # most layers of pointers, arrays and functions around a name that are read

_TEMPLATE_ARGUMENTS = re.compile(r"<[^<>]*>")
_TEST_MACROS = words("TEST TEST_F TEST_P TYPED_TEST TYPED_TEST_P TEST_CASE SCENARIO BOOST_AUTO_TEST_CASE BENCHMARK_F")
_MACRO_CALL = re.compile(rb"([A-Z][A-Z0-9_]+)\s*(?=\()")
_CREATED_TYPE = re.compile(r"(?:std::)?make_(?:unique|shared)\s*<\s*([\w:]+)|new\s+([\w:]+)|([\w:]*[A-Z]\w*)\s*[({]")
_VALUE_LENGTH = 200  # most characters of an initial value that are searched for a type

_IDENTIFIERS = frozenset({"identifier", "field_identifier", "type_identifier"})
prepare = mask_macros


def read(captures: Captures, out: Collector) -> None:
    """Reads the definitions, includes, bases and types of a C or C++ file."""
    for node in captures.get("include", ()):
        out.mark_import(node)
        out.add_import(node, "", out.text(node).strip('<>" '), "*")
    templates = {}
    for node in captures.get("template", ()):
        if (declaration := named_child(node, -1)) is not None:
            templates[declaration.id] = node
    for node in captures.get("namespace", ()):
        out.define(
            node, None, re.sub(r"(?:(?<!\s)\s+)?::\s*(?:inline\s+)?", ".", out.field_text(node, "name")), methods=False
        )
    _read_classes(captures, templates, out)
    for node in captures.get("function", ()):
        _read_function(node, templates.get(node.id, node), out)
    for node in captures.get("typed", ()):
        declared_type = out.field_text(node, "type")
        for declarator in node.children_by_field_name("declarator"):
            bound = _skip_declarators(declarator, "function_declarator")
            if bound is None or bound.type not in _IDENTIFIERS:
                continue
            type_ = declared_type
            if type_ == "auto":
                value = declarator.child_by_field_name("value")
                match = _CREATED_TYPE.match(out.text(value)[:_VALUE_LENGTH]) if value is not None else None
                type_ = next(filter(None, match.groups()), "") if match else ""
            out.annotate(declarator, out.text(bound), type_)


def _read_classes(captures: Captures, templates: dict[int, Node], out: Collector) -> None:
    typedefs: dict[int, tuple[str, Node]] = {}
    for node in captures.get("typedef", ()):
        shape = node.child_by_field_name("type")
        declarator = node.child_by_field_name("declarator")
        if shape is not None and declarator is not None:
            typedefs[shape.id] = (out.text(declarator).lstrip("* "), node)
    members = {
        shape.id for node in captures.get("member", ()) if (shape := node.child_by_field_name("type")) is not None
    }
    for node in captures.get("class", ()):
        if node.id in members:
            continue  # `struct { ... } position;` is a field
        name, outer = typedefs.get(node.id, ("", templates.get(node.id, node)))
        path = [part.strip() for part in (_strip_template_arguments(out.field_text(node, "name")) or name).split("::")]
        if not path[-1]:
            continue
        definition = out.define(node, FragmentKind.CLASS, path[-1], outer=outer, owner=".".join(path[:-1]))
        for clause in node.named_children:
            if clause.type == "base_class_clause":
                for base in clause.named_children:
                    if base.type in ("type_identifier", "qualified_identifier", "template_type"):
                        out.add_base(definition, read_type_name(out.text(base)))


def _skip_declarators(node: Node | None, stop: str = "") -> Node | None:
    for _ in range(_DEEPEST_DECLARATOR):
        if node is None or node.type not in _DECLARATORS or node.type == stop:
            return node
        node = node.child_by_field_name("declarator") or named_child(node)
    return None


def _read_function(node: Node, outer: Node, out: Collector) -> None:
    declarator = _skip_declarators(node.child_by_field_name("declarator"), "function_declarator")
    name, owner, parameters = "", "", None
    if declarator is not None and declarator.type == "identifier":
        # `EXPORT_MACRO namespace a {` looks like a function without parameters: its contents are at module level.
        out.define(node, None, "", methods=False)
        return
    if declarator is not None:
        parameters = declarator.child_by_field_name("parameters")
        is_function = declarator.type == "function_declarator"
        inner = _skip_declarators(declarator.child_by_field_name("declarator")) if is_function else declarator
        name, owner = _split_qualified_name(inner, out)
    macro = _MACRO_CALL.match(out.source, node.start_byte)
    if macro is not None and parameters is not None and macro.end() == parameters.start_byte:
        name = _name_in_macro(name, macro[1].decode(), out.text(parameters)[1:-1], node.start_point.column)
    else:
        out.annotate(node, "return", out.field_text(node, "type"))
    out.define(node, FragmentKind.FUNCTION, name or "anonymous", outer=outer, owner=owner)
    for parameter in parameters.named_children if parameters is not None else ():
        bound = _skip_declarators(parameter.child_by_field_name("declarator"))
        if bound is not None and bound.type == "identifier":
            out.annotate(parameter, out.text(bound), out.field_text(parameter, "type"))


def _name_in_macro(name: str, macro: str, arguments: str, column: int) -> str:
    """Returns the name of a function that starts with a macro; `name` if the arguments do not contain it."""
    parts = [part.strip('" \r\n\t') for part in arguments.split(",")]
    if macro in _TEST_MACROS:
        return ".".join(parts)
    if column or not parts[0].isidentifier():
        return name
    return f"sys_{parts[0]}" if "SYSCALL_DEFINE" in macro else parts[0]


def _strip_template_arguments(name: str) -> str:
    for _ in range(_DEEPEST_DECLARATOR):
        name, replaced = _TEMPLATE_ARGUMENTS.subn("", name)
        if not replaced:
            break
    return name


def _split_qualified_name(node: Node | None, out: Collector) -> tuple[str, str]:
    """Returns name and owner of `ns::Cart<T>::total`: ("total", "ns.Cart")."""
    scopes: list[str] = []
    for _ in range(_DEEPEST_DECLARATOR):
        if node is None or node.type != "qualified_identifier":
            break
        scopes.append(_strip_template_arguments(out.field_text(node, "scope")))
        node = node.child_by_field_name("name")
    if node is not None and node.type == "template_function":
        node = node.child_by_field_name("name")
    if node is not None and node.type == "operator_cast":
        name = "operator " + out.field_text(node, "type")
    else:
        name = "".join(out.text(node).split())
    return name, ".".join(filter(None, scopes))
