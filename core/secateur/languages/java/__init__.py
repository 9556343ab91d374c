"""Java."""

from __future__ import annotations

from secateur.languages.java.library import LIBRARY
from secateur.languages.syntax.names import words
from secateur.languages.traits import CAMEL_CASE_TEST, JAVA_SILENT, Grammar, LanguageTraits, NameRules

_BUILTINS = words(
    """
Arrays BigDecimal Boolean Byte Character Class Collections Collectors Double Duration Exception Files Float
IllegalArgumentException IllegalStateException Instant Integer List LocalDate LocalDateTime Long Map Math Object Objects
Optional Path Paths Pattern Runtime RuntimeException Set Short Stream String StringBuilder System Thread UUID
"""
)

RULES = NameRules(
    family="java",
    finder="secateur.languages.syntax.import_targets:PackageFinder",
    manifests="secateur.languages.java.manifests:JavaManifests",
    builtins=_BUILTINS,
    self_words=words("this"),
    super_words=words("super"),
    packages="declared",
    implicit_self=True,
    has_packages_as_names=True,
    stars_hide_unknown=True,
    receivers_are_chains=True,
    calls_carry_arguments=True,
    library=LIBRARY,
)

LANGUAGES = (
    LanguageTraits(
        name="java",
        extensions="java",
        test_names=(("java", CAMEL_CASE_TEST + r"|Test[A-Z0-9]\w*|\w+(Spec|Suite)"),),
        grammar=Grammar("tree_sitter_java", "secateur.languages.java.reader"),
        silent=JAVA_SILENT,
        rules=RULES,
        triple_quotes=True,
    ),
)
