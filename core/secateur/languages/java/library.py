"""Types of Java's standard library."""

from __future__ import annotations

from secateur.languages.syntax.names import words
from secateur.languages.traits import LibraryTypes

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

LIBRARY = LibraryTypes(
    root="Object",
    wider=_WIDER,
    boxed=_BOXED,
    supertypes=_SUPERTYPES,
    no_functions=words("String Object Class CharSequence"),
    returns={name: type_ for type_, names in _RETURNS.items() for name in names.split()},
)
