"""Java."""

from secateur.languages.syntax.names import words
from secateur.languages.traits import CAMEL_CASE_TEST, JAVA_SILENT, Grammar, LanguageTraits, LibraryTypes, NameRules

_WIDER = {
    "char": ("int", "long", "float", "double"),
    "byte": ("short", "int", "long", "float", "double"),
    "short": ("int", "long", "float", "double"),
    "int": ("long", "float", "double"),
    "long": ("float", "double"),
    "float": ("double",),
}
_BOXED = {
    "int": "Integer",
    "char": "Character",
    "long": "Long",
    "double": "Double",
    "float": "Float",
    "boolean": "Boolean",
    "byte": "Byte",
    "short": "Short",
}
_SUPERTYPES = {
    "String": ("CharSequence", "Comparable"),
    "StringBuilder": ("CharSequence", "Appendable"),
    "StringBuffer": ("CharSequence", "Appendable"),
    "Class": ("Type", "AnnotatedElement"),
    "StringWriter": ("Writer", "Appendable"),
    "PrintWriter": ("Writer", "Appendable"),
    "StringReader": ("Reader",),
    "InputStreamReader": ("Reader",),
    "BufferedReader": ("Reader",),
    "FileInputStream": ("InputStream",),
    "ByteArrayInputStream": ("InputStream",),
    "BigDecimal": ("Number",),
    "BigInteger": ("Number",),
    **dict.fromkeys(_BOXED.values(), ("Number", "Comparable")),
}
_RETURNS = {
    "String": (
        "toString trim strip substring toLowerCase toUpperCase getName getSimpleName replace replaceAll"
        " concat repeat name getMessage format"
    ),
    "int": "length size indexOf lastIndexOf hashCode compareTo intValue ordinal nextInt codePointAt",
    "boolean": (
        "isEmpty equals contains containsKey startsWith endsWith hasNext matches booleanValue equalsIgnoreCase add"
    ),
    "char": "charAt charValue",
    "long": "longValue count",
    "double": "doubleValue",
    "float": "floatValue",
    "Class": "getClass getType",
    "char[]": "toCharArray",
    "byte[]": "getBytes",
}

# Types of the standard library.
LIBRARY = LibraryTypes(
    root="Object",
    wider=_WIDER,
    boxed=_BOXED,
    supertypes=_SUPERTYPES,
    no_functions=words("String Object Class CharSequence"),
    returns={name: type_ for type_, names in _RETURNS.items() for name in names.split()},
)

RULES = NameRules(
    family="java",
    finder="secateur.languages.syntax.import_targets:PackageFinder",
    manifests="secateur.languages.java.manifests:JavaManifests",
    builtins=words(
        "Arrays BigDecimal Boolean Byte Character Class Collections Collectors Double Duration Exception Files Float"
        " IllegalArgumentException IllegalStateException Instant Integer List LocalDate LocalDateTime Long Map Math"
        " Object Objects Optional Path Paths Pattern Runtime RuntimeException Set Short Stream String StringBuilder"
        " System Thread UUID"
    ),
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
