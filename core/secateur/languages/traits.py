"""The traits of one language: how its files are recognised, read and shown, and how its names are resolved.

A module or package of `secateur.languages` lists the records of its languages in `LANGUAGES`. A record only names the
modules that read trees and follow imports; they are imported at first use.

    LANGUAGES = (LanguageTraits(name="lua", extensions="lua", line_comment="--"),)
"""

import re
from collections.abc import Mapping
from functools import cached_property

from msgspec import Struct, field

from secateur.languages.syntax.names import words

# Methods of builtin types, streams and loggers: such a name tells nothing about an unknown receiver.
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

# Methods that yield an element of a container.
ELEMENT_METHODS = words(
    """
back elementAt find findFirst findAny first floor ceiling front get getFirst getLast getOrDefault getValue last lower
higher next nextElement orElse orElseGet orElseThrow peek peekFirst peekLast pollFirst pollLast poll pop popFirst
popLast pop_back pop_front previous remove removeFirst removeLast take get_mut get_unchecked first_mut last_mut
front_mut back_mut entry or_insert or_insert_with or_default nth min max min_by max_by min_by_key max_by_key load join
into_inner
"""
)

# Methods that yield a container of the same elements.
SAME_METHODS = words(
    """
iter iter_mut into_iter iterator listIterator stream parallelStream values entrySet descendingIterator descendingMap
subList limit skip filter sorted distinct toList rev chain cloned copied peekable enumerate by_ref drain as_slice
as_mut_slice to_vec clone step_by take_while skip_while windows values_mut into_values as_ref as_mut collect unwrap
expect borrow borrow_mut lock read write
"""
)


_QUOTED = rb"\"[^\"\n]*\"|'[^'\n]*'"
C_SILENT = re.compile(rb"//[^\n]*|^[ \t]*#[^\n]*|" + _QUOTED, re.MULTILINE)
JAVA_SILENT = re.compile(rb"//[^\n]*|" + _QUOTED)
SCRIPT_SILENT = re.compile(rb"//[^\n]*|`[^`]*`|" + _QUOTED)
PYTHON_SILENT = re.compile(rb"#[^\n]*|\"\"\".*?\"\"\"|'''.*?'''|" + _QUOTED, re.DOTALL)
SHELL_SILENT = re.compile(rb"(?:^|(?<=\s))#[^\n]*|" + _QUOTED, re.MULTILINE)

CAMEL_CASE_TEST = r".*[a-z0-9_](Test|Tests|TestCase|TestCases|IT|ITCase)"
TESTED = r".*[-_](tests?|unittest)"
TEST_FILE = r"test_.*|" + TESTED


class Grammar(Struct, frozen=True):
    """A wheel with a tree-sitter grammar, and the module that knows its trees.

    That module has `read(captures, collector)`, which may be missing if the query uses the capture names of
    `read_by_names`. With `READS_CALLS`, `read` collects the calls too. Every query uses the capture names `call`
    (name of a called function), `branch` (a decision point) and `note` (comments and attributes that may precede a
    definition).
    """

    wheel: str  # import name
    reader: str  # module
    entry: str = "language"  # function of the wheel that returns the language
    queries: str = ""  # files of the folder `queries`, read as one query; "": the file with the language's name


class LibraryTypes(Struct, frozen=True, kw_only=True, dict=True):
    """Types of a language's standard library, as far as they are needed to choose between overloads."""

    root: str = ""  # the type that every value has
    wider: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Number types that a number type converts to, nearest first."""
    boxed: Mapping[str, str] = field(default_factory=dict)  # the class that boxes each primitive type
    supertypes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Supertypes of a type: parameters of these types accept it too."""
    no_functions: frozenset[str] = frozenset()  # types that a function literal never has
    returns: Mapping[str, str] = field(default_factory=dict)  # return types of methods by name, in any class

    @cached_property
    def unboxed(self) -> Mapping[str, str]:
        return {boxed: plain for plain, boxed in self.boxed.items()}

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.boxed).union(self.supertypes, *self.supertypes.values())

    def knows(self, type_: str) -> bool:
        """Tells whether the library has a type, or the element type of an array."""
        return type_ in self._known or type_.removesuffix("[]") in self._known


class NameRules(Struct, frozen=True, kw_only=True):
    """The rules for resolving names in a family of languages, whose files can call each other.

    The defaults suit a language that is resolved by scopes and names only.
    """

    family: str
    finder: str = ""  # class that resolves imports, as module:class; "": imports are file paths
    manifests: str = ""
    """Class that reads the packages a repository provides and requires (`packages.Manifests`), as module:class."""
    builtins: frozenset[str] = frozenset()
    """Names of builtins: functions and receivers that no scope of the repository defines."""
    library: LibraryTypes = field(default_factory=LibraryTypes)
    constructors: tuple[str, ...] = ()
    """Methods that run when a class is called; (): constructors have the name of the class."""

    # --- names with a fixed meaning
    self_words: frozenset[str] = frozenset()  # receivers that mean the enclosing class or its instance
    super_words: frozenset[str] = frozenset()  # receivers that mean the base class
    super_is_constructor: bool = True  # a plain call of one of `super_words` runs the constructor of the base class
    field_sigil: str = ""  # prefix of the name of an instance's field
    variable_sigil: str = ""  # prefix of the name of a variable
    instance_method: str = ""  # class method that creates an instance: `new` in Ruby

    # --- where names are visible
    packages: str = ""
    """Files share names by the package "declared" in them or by "directory"; "": files share no names."""
    class_scope: str = "file"
    """Definitions with one class name are one class within this range: "file", "package" or "repository"."""
    implicit_self: bool = False  # a plain name may be a member of the enclosing class
    links_by_name: bool = False  # files can use functions of other files without importing them
    guesses_functions: bool = False  # a plain name that no scope defines means the only function with that name
    has_namespaces: bool = False  # a receiver may be a namespace that any file can add to
    has_inner_modules: bool = False  # a class may be a module inside a file, which contains plain functions
    has_packages_as_names: bool = False  # a dotted path may start with a package that the file does not import

    # --- imports
    shared_imports: tuple[str, ...] = ()
    """Ends of the paths of files whose star imports also count for the files in their folder and below it."""
    exports_imports: bool = False  # files can import names that another file has imported
    exports_to_children: bool = False  # submodules can use everything that their parent imports, exported or not
    binds_first_segment: bool = False  # `import a.b` binds `a`
    has_default_export: bool = False  # a module may have a default export, and exports its names by statements
    follows_stars: bool = True  # names from a star import are looked up in the imported module
    stars_hide_unknown: bool = False
    """A name that no scope defines comes from a star import of an outside module, if the file has one."""

    # --- values and types
    receivers_are_chains: bool = False
    """The reader writes receivers as chains with local variables replaced (`syntax/scopes.py`)."""
    names_are_values: bool = False
    """Variables hold functions and classes as often as instances, and reading an attribute may run a method."""
    calls_carry_arguments: bool = False  # the reader records the arguments of calls, which distinguish overloads
    embeds_types: bool = False
    """A type gets the methods of embedded types; any type with the methods of an interface implements it."""
    opens_types: bool = False  # a type may have methods that neither it nor its base classes define
    wrappers: frozenset[str] = frozenset()
    """Methods of optional values, results, pointers and locks that return the wrapped value. A wrapper is recorded as
    the wrapped type."""


class LanguageTraits(Struct, frozen=True, kw_only=True):
    """One language. A string with several words is a list."""

    name: str  # the value of `FileFacts.language` and `Pool.language`
    extensions: str = ""  # lower case, without the dot
    file_names: str = ""  # complete file names, in lower case
    file_prefixes: str = ""  # beginnings of file names, in lower case and with the dot
    interpreters: str = ""  # programs in the first line of a script
    claims: re.Pattern[bytes] | None = None
    """A file with one of the `claimed` extensions has this language if its first bytes match this pattern."""
    claimed: str = ""
    test_names: tuple[tuple[str, str], ...] = ()
    """Names of test files: extensions, and a pattern for the name before the extension. Case matters: `Latest.java` is
    not a test."""
    test_names_lower: tuple[tuple[str, str], ...] = ()  # the same, but the name is converted to lower case first
    spec_files: str = ""  # extensions of files that are tests if they lie in a folder `spec`

    grammar: Grammar | None = None  # none: files are split into sections or blocks of lines
    silent: re.Pattern[bytes] | None = None
    """Comments and strings, whose operators do not count in `grammar.is_endless`. None: the parser recovers from any
    sequence of operators."""
    lines_end_statements: bool = False
    is_often_minified: bool = False  # a tool wrote the files that have long lines
    rules: NameRules | None = None  # none: names of this language are not resolved

    line_comment: str = "//"  # starts a comment that ends with the line; "": the language has no such comments
    block_comments: bool = True  # `/* ... */` is a comment.
    triple_quotes: bool = False  # strings in triple quotes may span lines
    is_code: bool = True  # the inspector colours it
    keywords: frozenset[str] | None = None  # words that the inspector colours; None: keywords common to many languages
