"""The traits of one language, as a record: how its files are recognised, read and shown, and how names are resolved in
it.

A module or package of `secateur.languages` gives the records of its languages as `LANGUAGES`. A record is light: the
module that reads trees and the module that follows imports are named in it and imported at first use.

    LANGUAGES = (LanguageTraits(name="lua", extensions="lua", line_comment="--"),)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from secateur.languages.syntax.names import words

BUILTIN_METHODS = words(
    """
add all any append apply as_bytes as_mut as_ref as_str assert_called call capitalize catch charAt chars clear clone
close collect concat contains copy count debug decode delete discard drain emit encode end endsWith endswith entries
equals error every exception exists expect extend extract fetch filter find findIndex first flat flatMap flatten flush
fold forEach format from get getattr group groups has hasNext hasOwnProperty hashCode includes index indexOf info insert
into into_iter isEmpty is_empty is_none is_some isdigit items iter join keys last len length list log lower lstrip map
match max min next ok open partition pop popitem post print push push_back put query raise_for_status read readline
readlines recv reduce remove removeAll render replace reset resolve reverse rfind rsplit rstrip run save search seek
select send set setdefault shift size slice some sort splice split splitlines start startsWith startswith stop stream
strftime strip strptime sub substring sum tell test then title toArray toJSON toLowerCase toString toUpperCase to_owned
to_string translate trim trunc truncate unshift unwrap unwrap_or update upper value values view wait warn warning write
writelines zfill zip
"""
)
"""Methods of builtin types, streams and loggers."""

ELEMENT_METHODS = words(
    """
back elementAt find findFirst findAny first floor ceiling front get getFirst getLast getOrDefault getValue last lower
higher next nextElement orElse orElseGet orElseThrow peek peekFirst peekLast pollFirst pollLast poll pop popFirst
popLast pop_back pop_front previous remove removeFirst removeLast take get_mut get_unchecked first_mut last_mut
front_mut back_mut entry or_insert or_insert_with or_default nth min max min_by max_by min_by_key max_by_key load join
into_inner
"""
)
"""Methods that yield an element of a container."""

SAME_METHODS = words(
    """
iter iter_mut into_iter iterator listIterator stream parallelStream values entrySet descendingIterator descendingMap
subList limit skip filter sorted distinct toList rev chain cloned copied peekable enumerate by_ref drain as_slice
as_mut_slice to_vec clone step_by take_while skip_while windows values_mut into_values as_ref as_mut collect unwrap
expect borrow borrow_mut lock read write
"""
)
"""Methods that yield a container of the same elements."""


CAMEL_CASE_TEST = r".*[a-z0-9_](Test|Tests|TestCase|TestCases|IT|ITCase)"
TESTED = r".*[-_](tests?|unittest)"
TEST_FILE = r"test_.*|" + TESTED


@dataclass(frozen=True, slots=True)
class Grammar:
    """A wheel with a tree-sitter grammar, and the module that knows its trees.

    That module offers `QUERY` (or `query(language)`) and, unless the captures are those of `syntax/by_names.py`,
    `read(captures, collector)`; with `READS_CALLS` that also gathers the calls. Shared capture names: `call` (name of
    a called function), `branch` (a decision point), `note` (comments and attributes that may lead a definition).
    """

    wheel: str  # import name
    reader: str  # module
    entry: str = "language"  # function of the wheel that returns the language


@dataclass(frozen=True, kw_only=True)
class LibraryTypes:
    """Types of a language's standard library, as far as arguments of them tell overloads apart."""

    root: str = ""
    """The type of every value."""
    wider: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Types of numbers that a type of numbers becomes, the nearest first."""
    boxed: Mapping[str, str] = field(default_factory=dict)
    """The classes of plain types."""
    above: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Types that an argument of a type may also be."""
    no_functions: frozenset[str] = frozenset()
    """Types that no function literal has."""
    returns: Mapping[str, str] = field(default_factory=dict)
    """Types that methods return, whichever class they are of."""

    @cached_property
    def unboxed(self) -> Mapping[str, str]:
        return {boxed: plain for plain, boxed in self.boxed.items()}

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.boxed) | frozenset(self.above) | {name for above in self.above.values() for name in above}

    def knows(self, written: str) -> bool:
        """Tells whether a type, or that of the elements of an array, is one of the library."""
        return written in self._known or written.removesuffix("[]") in self._known


@dataclass(frozen=True, slots=True, kw_only=True)
class NameRules:
    """The rules by which a family of languages resolves names: languages whose files can call one another.

    The defaults are those of a language that is resolved by scopes and names only.
    """

    family: str
    finder: str = ""
    """Class that finds what an import means, as module:class; "": imports are paths of files."""
    manifests: str = ""
    """Class that reads which packages a repository provides and requires (`packages.Manifests`), as module:class."""
    builtins: frozenset[str] = frozenset()
    """Names that mean a builtin when no scope of the repository knows them, called or as a receiver."""
    standard_modules: frozenset[str] = frozenset()
    """Modules of the standard library, by the first part of their names, that a repository is likely to shadow."""
    builtin_methods: frozenset[str] = BUILTIN_METHODS
    """Methods of builtin types: a definition of that name says nothing about an unknown receiver."""
    element_methods: frozenset[str] = ELEMENT_METHODS
    """Methods that yield an element of a container."""
    same_methods: frozenset[str] = SAME_METHODS
    """Methods that yield a container of the same elements."""
    library: LibraryTypes = field(default_factory=LibraryTypes)
    constructors: tuple[str, ...] = ()
    """Methods that run when a class is called; none: they carry the name of the class."""

    # --- names that stand for something
    self_words: frozenset[str] = frozenset()
    """Receivers that are the own class or an instance of it."""
    super_words: frozenset[str] = frozenset()
    """Receivers that are what the own class inherits from."""
    super_is_constructor: bool = True
    """A plain call of one of `super_words` runs the constructor of the base class."""
    field_sigil: str = ""
    """Begins the name of a field of the own instance."""
    variable_sigil: str = ""
    """Begins the name of a variable."""
    instance_method: str = ""
    """Method of every class that makes an instance."""

    # --- where names are seen
    packages: str = ""
    """Files share the names of a package that is "declared" in them, or of their "directory"; "": they share none."""
    class_scope: str = "file"
    """The range in which the parts of a class of one name are one class: in its "file", its "package", the
    "repository"."""
    implicit_self: bool = False
    """A plain name may be a member of the own class."""
    links_by_name: bool = False
    """Files see the functions of other files without importing them."""
    guesses_functions: bool = False
    """A plain name that no scope knows may be the only function of that name."""
    has_namespaces: bool = False
    """A receiver may be a namespace that any file reopens."""
    has_inner_modules: bool = False
    """A class may be a module written inside a file, which holds plain functions."""
    has_packages_as_names: bool = False
    """A dotted path may begin with a package that is not imported."""

    # --- imports
    exports_imports: bool = False
    """Others can import from a file what it imports."""
    exports_to_children: bool = False
    """The modules below a file see what it imports, exported or not."""
    names_need_import: bool = False
    """Only files that import a module see its names."""
    binds_first_segment: bool = False
    """`import a.b` binds `a`."""
    has_default_export: bool = False
    """A module may be what one of its definitions is; a file exports names of its own by statements."""
    follows_stars: bool = True
    """Names that a star import brings are looked up in what is imported."""
    stars_hide_unknown: bool = False
    """A name that no scope knows comes from a star import of something outside, where there is one."""
    stars_pass_on: bool = False
    """Files that import a file also see the names that a star import brings into it."""
    imports_by_path: bool = False
    """Imports name modules by their path alone; elsewhere a class may be part of the name of a module."""
    imports_by_folders: bool = False
    """Imports may name any folder of the path of a file."""
    roots_from_imports: bool = False
    """The first part of import names is inferred from the imports of all files."""
    crates_from_imports: bool = False
    """The names of crates are inferred from what is imported and from what their roots offer."""
    folders_are_modules: bool = False
    """A folder can be imported."""

    # --- values and types
    receivers_are_chains: bool = False
    """The reader writes receivers as chains with local variables replaced (`syntax/scopes.py`)."""
    names_are_values: bool = False
    """Variables hold functions and classes as often as instances, and reading an attribute may run a method."""
    calls_carry_arguments: bool = False
    """The reader writes the arguments of calls, which tell overloads apart."""
    embeds_types: bool = False
    """A type takes in the methods of types it embeds; an interface is met by methods alone."""
    opens_types: bool = False
    """A type may get methods that its own hierarchy does not show."""
    wrappers: frozenset[str] = frozenset()
    """Methods of optional values, results, pointers and locks that yield what they hold; such wrappers are written as
    what they hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageTraits:
    """One language. Texts of several words are tables written in one string."""

    name: str
    """The vocabulary of `FileFacts.language` and `Pool.language`."""
    extensions: str = ""
    """Lower case, without the dot."""
    file_names: str = ""
    """Whole names of files in lower case."""
    file_prefixes: str = ""
    """Beginnings of names of files in lower case, with the dot."""
    interpreters: str = ""
    """Programs that the first line of a script names."""
    claims: re.Pattern[bytes] | None = None
    """Found in the first bytes of a file of one of `claimed` extensions, it makes the file one of this language."""
    claimed: str = ""
    test_names: tuple[tuple[str, str], ...] = ()
    """Names of files that hold tests: extensions, and a pattern of what stands before them. Words in CamelCase need
    the capital: `Latest.java` is no test."""
    test_names_lower: tuple[tuple[str, str], ...] = ()
    """The same for names in lower case."""
    spec_files: str = ""
    """Extensions of files that are tests in a folder `spec`; elsewhere it holds specifications."""

    grammar: Grammar | None = None
    """None: files are sections or blocks of lines."""
    silent: re.Pattern[bytes] | None = None
    """Comments and strings, in which operators do not count. None: the parser recovers from any sequence of
    operators (`syntax/endless.py`)."""
    lines_end_statements: bool = False
    is_often_minified: bool = False
    """Files with long lines were written by a tool."""
    rules: NameRules | None = None
    """None: names of this language are not resolved."""

    line_comment: str = "//"
    """Begins a comment up to the end of a line; "": there is none."""
    block_comments: bool = True
    """`/* ... */` is a comment."""
    triple_quotes: bool = False
    """A string between three quotes may have several lines."""
    is_code: bool = True
    """The inspector colours it."""
    keywords: frozenset[str] | None = None
    """Words that the inspector colours; None: those that are common to many languages."""
