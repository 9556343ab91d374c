"""C#."""

from secateur.languages.syntax.collector import Captures, Collector
from secateur.languages.syntax.names import read_type_name, words
from secateur.languages.traits import C_SILENT, CAMEL_CASE_TEST, Grammar, LanguageTraits, NameRules
from secateur.model import FragmentKind

LANGUAGES = (
    LanguageTraits(
        name="csharp",
        extensions="cs csx",
        test_names=(("cs", CAMEL_CASE_TEST + r"|Test[A-Z0-9]\w*"),),
        grammar=Grammar("tree_sitter_c_sharp", __name__),
        silent=C_SILENT,
        rules=NameRules(
            family="csharp",
            finder="secateur.languages.syntax.import_targets:PackageFinder",
            builtins=words(
                "Activator ArgumentException ArgumentNullException Array Console Convert DateTime Directory Enum"
                " Environment Exception File GC Guid InvalidOperationException Math Path String Task Thread TimeSpan"
                " Type nameof typeof"
            ),
            self_words=words("this"),
            super_words=words("base"),
            packages="declared",
            shared_imports=("GlobalUsings.cs", "_Imports.razor", "_ViewImports.cshtml"),
            class_scope="package",
            implicit_self=True,
            guesses_functions=True,
            has_packages_as_names=True,
        ),
        triple_quotes=True,
    ),
)


_PROPERTY_LINES = 3  # a property with at most this many lines stays in the header of its class


def read(captures: Captures, out: Collector) -> None:
    """Reads the definitions, usings, bases and types of a C# file."""
    for node in captures.get("namespace", ()):
        out.package = out.package or out.field_text(node, "name")
    for node in captures.get("using", ()):
        out.mark_import(node)
        alias = node.child_by_field_name("name")
        others = [out.text(child) for child in node.named_children if alias is None or child.id != alias.id]
        target = others[-1] if others else ""
        if alias is not None:
            module, _, symbol = target.rpartition(".")
            out.add_import(node, out.text(alias), module, symbol)
        elif target:
            out.add_import(node, "", target, "*", exported=out.text(node).startswith("global"))
    for node in captures.get("class", ()):
        definition = out.define(node, FragmentKind.CLASS, out.field_text(node, "name"))
        for clause in node.named_children:
            if clause.type == "base_list":
                for base in clause.named_children:
                    if base.type != "argument_list":
                        out.add_base(definition, read_type_name(out.text(base)))
    for node in captures.get("function", ()):
        operator = out.field_text(node, "operator") or out.field_text(node, "type")
        name = out.field_text(node, "name") or f"operator {operator}"
        out.define(node, FragmentKind.FUNCTION, "~" + name if node.type == "destructor_declaration" else name)
        out.annotate(node, "return", out.field_text(node, "returns") or out.field_text(node, "type"))
    for node in captures.get("property", ()):
        if name := out.field_text(node, "name"):
            out.annotate(node, name, out.field_text(node, "type"))
        body = node.child_by_field_name("accessors") or node.child_by_field_name("value")
        if body is not None and node.end_point.row - node.start_point.row + 1 > _PROPERTY_LINES:
            out.define(node, FragmentKind.FUNCTION, name or "this", body=body)
    for node in captures.get("typed", ()):
        out.annotate(node, out.field_text(node, "name"), out.field_text(node, "type"))
    for node in captures.get("variables", ()):
        type_node = node.child_by_field_name("type")
        for declarator in node.named_children:
            if declarator.type != "variable_declarator":
                continue
            name = out.field_text(declarator, "name")
            if type_node is not None and type_node.type != "implicit_type":
                out.annotate(declarator, name, out.text(type_node))
                continue
            for value in declarator.named_children:
                if value.type == "object_creation_expression":
                    out.annotate(declarator, name, out.field_text(value, "type"))
