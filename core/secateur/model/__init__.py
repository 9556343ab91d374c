"""The nouns every other module speaks: fragments and facts of files, the pool of a query, decisions, selections, the
ledger.

All are frozen. A `Pool` is columns (numpy arrays of one length), because ten thousand candidates must be ranked again
within one frame of the screen. A `Selection` is columns over the same rows, and makes a `Decision` object only for a
row that is looked at. Scores are in [0, 1] and rounded to 1e-6 before they are ordered, so that the order does not
depend on the processor.

The facts that parsing finds in one file: its fragments, calls, imports, base classes and declared types.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from secateur.ledger import Entry, Ledger, ModelCall, Notice, Reason, Redaction, State, TrimAction, TrimReport
from secateur.model.pool import (
    QUANTUM,
    UNREACHABLE,
    BoolArray,
    Channel,
    FloatArray,
    IntArray,
    LineRange,
    Pool,
    add_columns,
    distinct,
    falling,
    union,
)
from secateur.model.selection import LEAST_SAYING, NEVER_OUT, Decision, DecisionShape, Selection, Turn


class FragmentKind(StrEnum):
    """The kinds of fragments."""

    FUNCTION = "function"
    METHOD = "method"
    CLASS = "class"  # the header of a class, struct, interface, trait or enum: its lines outside of methods
    REGION = "region"  # module-level code outside functions: imports, constants, statements
    SECTION = "section"  # a section of a document or of a configuration file
    BLOCK = "block"  # a block of lines of any other text


class Fragment(Struct, frozen=True):
    """One piece of one file. Fragments of a file are disjoint and together hold every non-blank line exactly once.

    Lines are 1-based and inclusive. `line_start` includes leading comments and decorators that belong to the
    definition; `sig_start..sig_end` are the lines of the declaration itself (`def f(` ... `:`), equal to `line_start`
    without a declaration.
    """

    kind: FragmentKind
    name: str  # last segment ("total"); "" for regions and blocks, the heading for sections
    qualname: str  # "Cart.total"; regions: ""
    line_start: int
    line_end: int
    sig_start: int
    sig_end: int
    parent: int = -1  # position, in the same file, of the class fragment that holds it; -1 at module level
    complexity: int = 1  # 1 + decision points (branches, loops, cases, boolean operators)


class Call(Struct, frozen=True):
    """A call site: `receiver.name(...)` inside fragment number `fragment` of the file."""

    fragment: int
    name: str  # "total"
    # "" plain call; "self" / "cls" / "this" / "super"; dotted text ("cart", "orders.money"), or a chain as
    # `syntax/scopes.py` writes it
    receiver: str
    line: int
    # "(<String>,cart.lines)" in languages whose functions may share a name and differ in parameters; else ""
    arguments: str = ""


class Import(Struct, frozen=True):
    """One name that an import brings into the file."""

    local: str  # the name in this file; "" if no name is bound (an import for its side effects)
    module: str  # as written: "orders.money", "./rank", "example.com/courier/internal/route"
    symbol: str  # the imported name; "" = the module itself; "*" = everything
    level: int = 0  # leading dots of a Python relative import
    exported: bool = False  # a re-export: other files can import `local` from this one


class Base(Struct, frozen=True):
    """A base class, interface or embedded type of the class fragment number `fragment`."""

    fragment: int
    name: str  # dotted text as written


class Annotation(Struct, frozen=True):
    """A declared type that helps to resolve receivers: `name: Type` for a parameter, field or local of a fragment."""

    fragment: int  # the fragment in whose scope the name is bound (a class fragment for fields)
    name: str  # "cart"; "self.cart" for a field assigned in a method
    type: str  # last dotted name of the type, without generics: "Cart", "money.Money"


class FileFacts(Struct, frozen=True):
    """The facts that parsing finds in one file. They depend on the language of its path and on its bytes alone."""

    language: str  # "python", ..., "markdown", "text"
    fragments: tuple[Fragment, ...]
    calls: tuple[Call, ...] = ()
    imports: tuple[Import, ...] = ()
    bases: tuple[Base, ...] = ()
    annotations: tuple[Annotation, ...] = ()
    package: str = ""  # Go/Java/C#/PHP/Rust: the declared package, namespace or module
    problems: tuple[str, ...] = ()  # "syntax_errors", "grammar_missing:go", "invalid_utf8", ...


__all__ = [
    "LEAST_SAYING",
    "NEVER_OUT",
    "QUANTUM",
    "UNREACHABLE",
    "Annotation",
    "Base",
    "BoolArray",
    "Call",
    "Channel",
    "Decision",
    "DecisionShape",
    "Entry",
    "FileFacts",
    "FloatArray",
    "Fragment",
    "FragmentKind",
    "Import",
    "IntArray",
    "Ledger",
    "LineRange",
    "ModelCall",
    "Notice",
    "Pool",
    "Reason",
    "Redaction",
    "Selection",
    "State",
    "TrimAction",
    "TrimReport",
    "Turn",
    "add_columns",
    "distinct",
    "falling",
    "union",
]
