"""Rust."""

from secateur.languages.syntax.names import words
from secateur.languages.traits import Grammar, LanguageTraits, NameRules

_WRAPPERS = words(
    """
unwrap unwrap_or unwrap_or_else unwrap_or_default unwrap_unchecked expect ok ok_or ok_or_else clone cloned copied as_ref
as_mut as_deref as_deref_mut borrow borrow_mut lock read write try_lock get_mut get_or_insert_with into_inner to_owned
take replace or_insert or_insert_with or_default or or_else filter inspect context with_context map_err await deref
deref_mut as_pin_mut get_ref into_iter iter by_ref downgrade upgrade into try_into
"""
)

RULES = NameRules(
    family="rust",
    finder="secateur.languages.rust.imports:RustFinder",
    builtins=words(
        "Box Err None Ok Some String Vec assert assert_eq assert_ne bail cfg concat dbg debug_assert drop ensure env"
        " eprint eprintln file format format_args include include_bytes include_str info line matches panic print"
        " println stringify todo trace unimplemented unreachable vec warn write writeln"
    ),
    self_words=words("self Self"),
    has_inner_modules=True,
    has_packages_as_names=True,
    exports_to_children=True,
    receivers_are_chains=True,
    opens_types=True,
    wrappers=_WRAPPERS,
)

LANGUAGES = (
    LanguageTraits(
        name="rust",
        extensions="rs",
        test_names_lower=(("rs", r"(conftest|tests?)|.*[-_](tests?|unittest)"),),
        grammar=Grammar("tree_sitter_rust", "secateur.languages.rust.reader"),
        rules=RULES,
    ),
)
