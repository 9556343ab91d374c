"""Swift, resolved by scopes and names: files of one module need no imports for each other."""

from __future__ import annotations

from secateur.languages.syntax.endless import JAVA_SILENT
from secateur.languages.syntax.names import words
from secateur.languages.traits import CAMEL_CASE_TEST, Grammar, LanguageTraits, NameRules

LANGUAGES = (
    LanguageTraits(
        name="swift",
        extensions="swift",
        test_names=(("swift", CAMEL_CASE_TEST + r"|\w+(Spec|Suite)"),),
        grammar=Grammar("tree_sitter_swift", __name__),
        silent=JAVA_SILENT,
        rules=NameRules(
            family="swift",
            builtins=words(
                "Any Array Bool Character Data Date Dictionary Double Error Float Int Int64 Never Optional Result Set"
                " String UInt URL UUID Void abs assert debugPrint fatalError max min precondition print zip"
            ),
            constructors=("init",),
            self_words=words("self"),
            super_words=words("super"),
            implicit_self=True,
            links_by_name=True,
            opens_types=True,
        ),
        triple_quotes=True,
        keywords=words(
            "actor as associatedtype async await break case catch class continue default defer deinit do else enum"
            " extension fallthrough false fileprivate final for func guard if import in init inout internal is lazy let"
            " mutating nil open override private protocol public repeat rethrows return self some static struct"
            " subscript super switch throw throws true try typealias var weak where while"
        ),
    ),
)

QUERY = """
[(class_declaration) (protocol_declaration)] @class
[(function_declaration) (protocol_function_declaration)] @function
(init_declaration "init" @name) @function
(deinit_declaration "deinit" @name) @function
(subscript_declaration "subscript" @name) @function
(class_declaration (inheritance_specifier inherits_from: (_) @base))
(protocol_declaration (inheritance_specifier inherits_from: (_) @base))
(import_declaration) @import
(call_expression . [(simple_identifier) @call
 (navigation_expression suffix: (navigation_suffix suffix: (simple_identifier) @call))
 (prefix_expression target: (navigation_expression suffix: (navigation_suffix suffix: (simple_identifier) @call)))])
[(if_statement) (guard_statement) (for_statement) (while_statement) (repeat_while_statement) (switch_entry)
 (catch_block) (ternary_expression) "&&" "||"] @branch
[(comment) (multiline_comment) (attribute)] @note
"""
