"""Kotlin, resolved by scopes, packages and names."""

from __future__ import annotations

from secateur.languages.syntax.endless import JAVA_SILENT
from secateur.languages.syntax.names import words
from secateur.languages.traits import CAMEL_CASE_TEST, Grammar, LanguageTraits, NameRules

LANGUAGES = (
    LanguageTraits(
        name="kotlin",
        extensions="kt kts",
        test_names=(
            ("kt kts", CAMEL_CASE_TEST),
            ("kt", r"Test[A-Z0-9]\w*|\w+(Spec|Suite)"),
        ),
        grammar=Grammar("tree_sitter_kotlin", __name__),
        silent=JAVA_SILENT,
        rules=NameRules(
            family="kotlin",
            finder="secateur.languages.syntax.import_targets:PackageFinder",
            builtins=words(
                "Any Boolean Byte Char Double Float Int List Long Map Pair Regex Set Short String Triple Unit also"
                " apply arrayOf check emptyList emptyMap error let listOf mapOf mutableListOf mutableMapOf print"
                " println repeat require requireNotNull run setOf takeIf to with"
            ),
            self_words=words("this"),
            super_words=words("super"),
            packages="declared",
            class_scope="package",
            implicit_self=True,
        ),
        triple_quotes=True,
        keywords=words(
            "abstract annotation as break by catch class companion const constructor continue data do else enum false"
            " final finally for fun if import in infix init inline interface internal is lateinit null object open"
            " operator out override package private protected public return sealed super suspend this throw true try"
            " typealias val var vararg when where while"
        ),
    ),
)
