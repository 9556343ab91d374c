"""Works out which names an edit of a file can change in other files.

The resolver uses names: the edges of a file depend on the definitions, imports, bases and declared types with a name
that the file contains, and on the names that these lead to. So after an edit only the files must be resolved again that
contain a changed name; in Python, where a name of a module is visible only after an import, only those that also import
the module. A few rules use something else (the roots of packages, the module path that Go imports share); an edit that
touches these has everything resolved again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field
from hashlib import blake2b
from operator import attrgetter

import msgspec

from secateur.index.graph.resolve.symbols import DEFINITIONS
from secateur.languages import languages, rules_of
from secateur.languages.ecmascript.imports import MANIFEST
from secateur.languages.syntax.import_targets import folder_of
from secateur.languages.traits import NameRules
from secateur.model import Annotation, Call, FileFacts, FragmentKind, Import

_WORD = re.compile(r"\w+")

_CONSTRUCTORS = {name for traits in languages().values() if traits.rules for name in traits.rules.constructors}
_OF_CLASS = re.compile("|".join(["__.*", "default", *sorted(_CONSTRUCTORS)]))
"""Members that are used through the name of their class: they run when it is called, indexed or iterated."""

_GLUED = re.compile(r"\w\*|\*\w")
"""A pattern in a manifest whose star is a part of a word, so that the words of an import are not words of the path."""

_VARIABLE = re.compile(r"\$?\w+")

_CALL = tuple(name for name in Call.__struct_fields__ if name != "line")
"""The fields of a call site that the resolver reads."""

_ROOTS = frozenset({"__init__", "index", "lib", "main", "mod"})
"""Files that stand for their folder. A new one changes how other names of the repository begin."""


@dataclass(slots=True)
class Difference:
    """Names whose meaning may have changed."""

    names: set[str] = field(default_factory=set)  # wherever they are written
    scoped: set[tuple[str, str]] = field(default_factory=set)  # (module, name): where the module is imported
    classes: set[str] = field(default_factory=set)  # classes whose ancestors may have changed
    modules: set[str] = field(default_factory=set)  # words of paths where a file came or went

    def __or__(self, other: Difference) -> Difference:
        return Difference(
            self.names | other.names,
            self.scoped | other.scoped,
            self.classes | other.classes,
            self.modules | other.modules,
        )

    def __sub__(self, other: Difference) -> Difference:
        return Difference(
            self.names - other.names,
            self.scoped - other.scoped,
            self.classes - other.classes,
            self.modules - other.modules,
        )

    def __bool__(self) -> bool:
        return bool(self.names or self.scoped or self.classes or self.modules)

    def add(self, path: str, rules: NameRules, name: str, *, top: bool) -> None:
        """Adds a name of a file. `top`: the name belongs to the file itself, not to a class."""
        if top and rules.names_need_import:
            self.scoped.add((_module_of(path), name))
        else:
            self.names.add(name)


def digest_of_links(facts: FileFacts, size: int) -> bytes:
    """Returns the digest of all facts that the resolver reads: everything but lines, complexity and problems."""
    calls = sorted(Counter(map(attrgetter(*_CALL), facts.calls)).items())
    read = facts.language, facts.package, _shape(facts), calls, facts.imports, facts.bases, facts.annotations
    return blake2b(msgspec.msgpack.encode(read), digest_size=size).digest()


def same_exports(before: FileFacts, after: FileFacts) -> bool:
    """Tells whether an edit changes only calls and the types of local variables, so that all names keep their
    meaning."""
    shape = _shape(after)
    same = (before.language, before.package, before.imports, before.bases) == (
        after.language,
        after.package,
        after.imports,
        after.bases,
    )
    return (
        same
        and _shape(before) == shape
        and [a for a in before.annotations if not _local(before, a)]
        == [a for a in after.annotations if not _local(after, a)]
    )


def import_roots(files: Iterable[FileFacts]) -> set[str]:
    """Returns the imported names that package roots are inferred from, in languages that infer them. The standard
    library is left out."""
    return {
        statement.module
        for facts in files
        if (rules := rules_of(facts.language)).roots_from_imports
        for statement in facts.imports
        if statement.module.partition("/")[0] not in rules.standard_modules
    }


def manifests_lead_to(files: Iterable[FileFacts], modules: set[str]) -> bool:
    """Tells whether a manifest of JavaScript may map an import name to files with such names. The import name then need
    not contain a word of the path."""
    for facts in files:
        for entry in facts.annotations if facts.language == MANIFEST else ():
            stem = entry.type.rpartition("/")[2].partition(".")[0]
            if not modules.isdisjoint(_WORD.findall(stem)) or _GLUED.search(entry.name) or _GLUED.search(entry.type):
                return True
    return False


def difference(path: str, before: FileFacts | None, after: FileFacts | None) -> Difference | None:
    """Finds the names that an edit of one file may change elsewhere; None if everything must be resolved again.
    `before`, `after`: the facts before and after the edit; None for a file that is new or gone."""
    facts = after or before
    assert facts is not None
    rules, stem = rules_of(facts.language), path.rpartition("/")[2].partition(".")[0]
    out = Difference()
    if _manifest(before) != _manifest(after):
        return None  # imports of all other files depend on it
    if before is None or after is None:
        if rules.roots_from_imports or stem in _ROOTS:
            return None
        out.modules |= set(_WORD.findall(path if rules.imports_by_folders else stem))
        out.names |= set(_WORD.findall(facts.package))
    elif (before.language, before.package) != (after.language, after.package) or bool(before.fragments) != bool(
        after.fragments
    ):
        return None
    old, new = (_outward(known) if known else {} for known in (before, after))
    for name, top in old.keys() | new.keys():
        if old.get((name, top)) != new.get((name, top)):
            if name == "*":
                return None
            out.add(path, rules, name, top=top)
    changed = out.names | {name for _, name in out.scoped}
    if rules.crates_from_imports and (stem in _ROOTS or _list_imports(before) != _list_imports(after)) and changed:
        return None  # names of crates are inferred from imports and from the names in their roots
    if rules.has_default_export and _tops(before) != _tops(after):
        if stem in _ROOTS:
            return None
        out.modules |= set(
            _WORD.findall(stem)
        )  # a default import gives the definition any name, so go by the name of the file
    for known in filter(None, (before, after)):
        for name, owner in _list_members(known):
            if name in out.names and _OF_CLASS.fullmatch(name):
                out.add(path, rules, owner, top=owner in _tops(known))
        out.classes |= {
            fragment.name
            for fragment in known.fragments
            if fragment.kind is FragmentKind.CLASS and fragment.name in changed
        }
    return out


def _list_imports(facts: FileFacts | None) -> set[tuple[str, str]]:
    return {(statement.module, statement.symbol) for statement in facts.imports} if facts else set()


def _manifest(facts: FileFacts | None) -> tuple[str, tuple[Annotation, ...]]:
    return (facts.package, facts.annotations) if facts is not None and facts.language == MANIFEST else ("", ())


def importable_folders(files: Iterable[tuple[str, FileFacts | None]]) -> set[str]:
    """Returns the folders that can be imported: those with files of such a language in or below them."""
    known = (path for path, facts in files if facts is not None and rules_of(facts.language).folders_are_modules)
    folders = set(map(folder_of, known))
    return {folder[:end] for folder in folders for end, sign in enumerate(f"{folder}/") if sign == "/" and end}


def follow(path: str, facts: FileFacts, known: Difference, reached: Set[str]) -> tuple[bool, Difference]:
    """Tells whether a file sees changed names through its imports, and returns the further names that change because of
    this file.

    A changed name changes others through imports, declared types, base classes, and from a class to its members.
    `reached`: changed names of Python modules that the file contains together with the name of the module, because an
    imported package leads to its modules.
    """
    rules = rules_of(facts.language)
    out = Difference()
    seen: set[str] = (
        {name for module, name in known.scoped if module == _module_of(path)} if rules.names_need_import else set()
    )
    if rules.names_need_import and facts.imports:
        seen |= reached
    sees = bool(seen)
    for statement in facts.imports:
        visible = _visible(path, rules, statement, known)
        sees |= bool(visible)
        seen |= visible
        words = set(_WORD.findall(statement.module))
        by_module = not known.modules.isdisjoint(words) or (
            not rules.imports_by_path and not known.names.isdisjoint(words)
        )
        if (
            by_module
            or statement.symbol in known.names
            or statement.symbol in visible
            or not known.modules.isdisjoint(_WORD.findall(statement.symbol))
        ):
            if statement.local not in ("", "*"):
                out.add(path, rules, statement.local, top=True)
            sees = True
        if statement.symbol == "*":
            for name in visible:
                out.add(path, rules, name, top=True)
        elif visible and statement.local not in {statement.symbol, *statement.module.split(".")}:
            out.add(path, rules, statement.local, top=True)  # a module that others may see under this name only
    seen |= known.names
    for annotation in facts.annotations:
        if not _local(facts, annotation) and not seen.isdisjoint(_WORD.findall(annotation.type)):
            bound, holder = _find_subject(facts, annotation), _holder(facts, annotation)
            out.add(path, rules, bound, top=_top(facts, annotation))
            if holder and _OF_CLASS.fullmatch(bound):
                out.add(path, rules, holder, top=holder in _tops(facts))
    for base in facts.bases:
        if 0 <= base.fragment < len(facts.fragments) and not seen.isdisjoint(_WORD.findall(base.name)):
            name = facts.fragments[base.fragment].name
            out.add(path, rules, name, top=facts.fragments[base.fragment].parent < 0)
            out.classes.add(name)
    classes = known.classes | out.classes
    if classes:
        out.names |= {name for name, owner in _list_members(facts) if owner in classes}
        out.names |= {
            _find_subject(facts, a) for a in facts.annotations if not _local(facts, a) and _holder(facts, a) in classes
        }
    return sees, out - known


def _visible(path: str, rules: NameRules, statement: Import, known: Difference) -> set[str]:
    """Returns the changed names that an import statement makes visible."""
    if not rules.names_need_import or not known.scoped:
        return set()
    words = set(_WORD.findall(statement.module)) | {statement.symbol}
    if statement.level and not statement.module:
        words |= set(path.split("/"))
    names = {name for module, name in known.scoped if module in words}
    # `from m import a` makes only `a` visible, unless `a` is itself a module with changed names
    whole = statement.symbol in ("", "*") or any(module == statement.symbol for module, _ in known.scoped)
    return names if whole else names & {statement.symbol}


def _shape(facts: FileFacts) -> list[tuple[str, str, str, int, bool]]:
    return [(f.kind.value, f.name, f.qualname, f.parent, f.sig_end >= f.line_end) for f in facts.fragments]


def _outward(facts: FileFacts) -> dict[tuple[str, bool], list[object]]:
    """Collects what other files see of each name, in order. The key also tells whether the name is at the top level."""
    rules = rules_of(facts.language)
    out: dict[tuple[str, bool], list[object]] = {}
    classes: set[str] = set()
    for position, fragment in enumerate(facts.fragments):
        if (
            fragment.kind in DEFINITIONS
            and fragment.name
            and not (fragment.kind is FragmentKind.CLASS and fragment.qualname in classes)
        ):
            top = fragment.parent < 0 and fragment.kind is not FragmentKind.METHOD
            definition = (
                fragment.kind,
                fragment.qualname,
                _owner(facts, position),
                fragment.sig_end >= fragment.line_end,
            )
            out.setdefault((fragment.name, top), []).append(definition)
        if fragment.kind is FragmentKind.CLASS:
            classes.add(fragment.qualname)
    for base in facts.bases:
        if 0 <= base.fragment < len(facts.fragments):
            fragment = facts.fragments[base.fragment]
            out.setdefault((fragment.name, fragment.parent < 0), []).append(base.name)
    for annotation in facts.annotations:
        if not _local(facts, annotation):
            declared = _holder(facts, annotation), annotation.name, annotation.type
            out.setdefault((_find_subject(facts, annotation), _top(facts, annotation)), []).append(declared)
    for statement in facts.imports:
        if statement.local in ("", "*"):
            if rules.stars_pass_on and statement.symbol == "*":
                out.setdefault(("*", True), []).append(statement)
        elif statement.exported or rules.exports_imports:
            out.setdefault((statement.local, True), []).append(statement)
    return out


def _local(facts: FileFacts, annotation: Annotation) -> bool:
    """Tells whether a declared type belongs to a local variable of a function."""
    if (
        not 0 <= annotation.fragment < len(facts.fragments)
        or annotation.name == "return"
        or not _VARIABLE.fullmatch(annotation.name)
    ):
        return False
    return facts.fragments[annotation.fragment].kind not in (FragmentKind.CLASS, FragmentKind.REGION)


def _find_subject(facts: FileFacts, annotation: Annotation) -> str:
    """Returns the name that a declared type is about; for results, parameters and elements the name of their owner."""
    words: list[str] = _WORD.findall(annotation.name)
    if words and words[0] != "return":
        return words[-1]
    return (
        facts.fragments[annotation.fragment].name
        if 0 <= annotation.fragment < len(facts.fragments)
        else annotation.name
    )


def _owner(facts: FileFacts, position: int) -> str:
    """Returns the last name of the class that a fragment is a member of."""
    return (
        facts.fragments[position].qualname.rpartition(".")[0].rpartition(".")[2]
        if 0 <= position < len(facts.fragments)
        else ""
    )


def _list_members(facts: FileFacts) -> Iterator[tuple[str, str]]:
    """Yields (name, last name of its class) for each member of a class."""
    for position, fragment in enumerate(facts.fragments):
        if fragment.name and (owner := _owner(facts, position)):
            yield fragment.name, owner


def _holder(facts: FileFacts, annotation: Annotation) -> str:
    """Returns the last name of the class that a field with a declared type belongs to; "" outside of classes."""
    if not 0 <= annotation.fragment < len(facts.fragments):
        return ""
    fragment = facts.fragments[annotation.fragment]
    return fragment.name if fragment.kind is FragmentKind.CLASS else _owner(facts, annotation.fragment)


def _top(facts: FileFacts, annotation: Annotation) -> bool:
    """Tells whether a declared type is about a top-level name."""
    if not 0 <= annotation.fragment < len(facts.fragments):
        return False
    fragment = facts.fragments[annotation.fragment]
    return fragment.kind is FragmentKind.REGION or (fragment.kind is FragmentKind.FUNCTION and fragment.parent < 0)


def _module_of(path: str) -> str:
    """Returns the last part of a module's name."""
    folder, _, base = path.rpartition("/")
    stem = base.partition(".")[0]
    return folder.rpartition("/")[2] if stem == "__init__" else stem


def _tops(facts: FileFacts | None) -> list[str]:
    """Lists the top-level names in order."""
    return (
        [fragment.name for fragment in facts.fragments if fragment.kind in DEFINITIONS and fragment.parent < 0]
        if facts
        else []
    )
