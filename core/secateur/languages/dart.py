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
