"""Dart, resolved by scopes and names."""

from __future__ import annotations

from secateur.languages.syntax.endless import JAVA_SILENT
from secateur.languages.syntax.names import words
from secateur.languages.traits import TESTED, Grammar, LanguageTraits, NameRules

LANGUAGES = (
    LanguageTraits(
        name="dart",
        extensions="dart",
        test_names_lower=(("dart", TESTED),),
        grammar=Grammar("tree_sitter_dart", __name__),
        silent=JAVA_SILENT,
        rules=NameRules(
            family="dart",
            builtins=words(
                "DateTime Duration Exception Function Future Iterable List Map Null Object Set Stream String Uri assert"
                " bool double dynamic identical int num print setState"
            ),
            self_words=words("this"),
            super_words=words("super"),
            implicit_self=True,
            links_by_name=True,
        ),
        triple_quotes=True,
        keywords=words(
            "abstract as assert async await base break case catch class const continue covariant default deferred do"
            " else enum export extends extension external factory false final finally for get if implements import in"
            " interface is late library mixin new null on operator part required rethrow return sealed set static super"
            " switch sync this throw true try typedef var void while with yield"
        ),
    ),
)

QUERY = """
[(class_definition) (mixin_declaration (identifier) @name) (extension_declaration) (enum_declaration)] @class
[(method_signature [(function_signature name: (_) @name) (getter_signature name: (_) @name)
  (setter_signature name: (_) @name)])
 (method_signature (constructor_signature name: (identifier) @name))
 (method_signature (factory_constructor_signature (identifier) @name))
 (declaration (constructor_signature name: (identifier) @name))] @function
(program [(function_signature name: (_) @name) (getter_signature name: (_) @name) (setter_signature name: (_) @name)]
 @function)
([(method_signature) (function_signature) (getter_signature) (setter_signature)] . (function_body) @body)
(class_definition superclass: (superclass (type_identifier) @base))
(class_definition superclass: (superclass (mixins (type_identifier) @base)))
(class_definition interfaces: (interfaces (type_identifier) @base))
(import_or_export) @import
((identifier) @call . (selector (argument_part)))
((selector (unconditional_assignable_selector (identifier) @call)) . (selector (argument_part)))
((selector (conditional_assignable_selector (identifier) @call)) . (selector (argument_part)))
(new_expression (type_identifier) @call)
(const_object_expression (type_identifier) @call)
[(if_statement) (for_statement) (while_statement) (do_statement) (switch_statement_case) (catch_clause)
 (conditional_expression) (if_element) (for_element) (logical_and_operator) (logical_or_operator)] @branch
[(comment) (documentation_comment) (annotation)] @note
(mixin_declaration (class_body) @body)
"""
