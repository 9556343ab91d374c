"""Scala 2 and 3, resolved by scopes, packages and names."""

from __future__ import annotations

from secateur.languages.syntax.endless import JAVA_SILENT
from secateur.languages.syntax.names import words
from secateur.languages.traits import CAMEL_CASE_TEST, Grammar, LanguageTraits, NameRules

LANGUAGES = (
    LanguageTraits(
        name="scala",
        extensions="scala sc sbt",
        test_names=(("scala", CAMEL_CASE_TEST + r"|Test[A-Z0-9]\w*|\w+(Spec|Suite)"),),
        grammar=Grammar("tree_sitter_scala", __name__),
        silent=JAVA_SILENT,
        rules=NameRules(
            family="scala",
            finder="secateur.languages.syntax.import_targets:PackageFinder",
            builtins=words(
                "Array Boolean Byte Char Double Either Float Int Iterator Left List Long Map Math Nil None Option"
                " Right Seq Set Short Some StringBuilder System Unit Vector assert assume identity implicitly locally"
                " print printf println require summon"
            ),
            constructors=("apply",),
            self_words=words("this"),
            super_words=words("super"),
            packages="declared",
            class_scope="package",
            implicit_self=True,
            has_packages_as_names=True,
        ),
        triple_quotes=True,
        keywords=words(
            "abstract case catch class def do else end enum export extends extension false final finally for forSome"
            " given if implicit import inline lazy match new null object opaque override package private protected"
            " return sealed super then this throw trait transparent true try type using val var while with yield"
        ),
    ),
)
