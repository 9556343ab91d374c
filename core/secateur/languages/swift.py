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
