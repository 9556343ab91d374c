"""Go."""

from secateur.languages.syntax.names import words
from secateur.languages.traits import TESTED, Grammar, LanguageTraits, NameRules

# First segments of the standard packages.
STANDARD = words(
    """
archive bufio bytes cmp compress container context crypto database debug embed encoding errors expvar flag fmt go hash
html image index io iter log maps math mime net os path plugin reflect regexp runtime slices sort strconv strings
structs sync syscall testing text time unicode unique unsafe
"""
)


RULES = NameRules(
    family="go",
    finder="secateur.languages.go.imports:GoFinder",
    manifests="secateur.languages.go.imports:GoManifests",
    builtins=words(
        "any append bool byte cap clear close complex complex128 complex64 copy delete error float32 float64 imag int"
        " int16 int32 int64 int8 len make max min new panic print println real recover rune string uint uint16 uint32"
        " uint64 uint8 uintptr"
    ),
    packages="directory",
    receivers_are_chains=True,
    embeds_types=True,
    opens_types=True,
)

LANGUAGES = (
    LanguageTraits(
        name="go",
        extensions="go",
        test_names_lower=(("go", TESTED),),
        grammar=Grammar("tree_sitter_go", "secateur.languages.go.reader"),
        rules=RULES,
    ),
)
