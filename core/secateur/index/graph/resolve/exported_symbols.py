"""The parts of a file that the resolver reads, and those that can change the meaning of names in other files.

All of `resolve` goes by names: an answer about a file depends on the definitions, imports, bases and declared types
that bear a name the file writes, or a name that one of those leads to. So an edit that leaves the definitions of a name
as they were leaves every file alone that does not write the names that did change; in Python, where the names of a
module are seen only by those who import it, also every file that does not. Where a rule goes by something else (the
roots of packages, the module path Go imports agree on), everything is resolved anew.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field, fields
from hashlib import blake2b
from operator import attrgetter

import msgspec

from secateur.index.graph.resolve.symbols import DEFINITIONS
from secateur.languages import languages, rules_of
from secateur.languages.ecmascript.manifests import MANIFEST
from secateur.languages.syntax.import_targets import folder_of
from secateur.languages.traits import NameRules
from secateur.model import Annotation, Call, FileFacts, FragmentKind, Import

_WORD = re.compile(r"\w+")

_CONSTRUCTORS = {name for traits in languages().values() if traits.rules for name in traits.rules.constructors}
_OF_CLASS = re.compile("|".join(["__.*", "default", *sorted(_CONSTRUCTORS)]))
"""Members that are meant by the name of their class: what runs when it is called, indexed, or gone through."""

_GLUED = re.compile(r"\w\*|\*\w")
"""A pattern of a manifest whose star is a part of a word: the words of what it stands for are not those of the place it
leads to."""

_VARIABLE = re.compile(r"\$?\w+")

_CALL = tuple(column.name for column in fields(Call) if column.name != "line")
"""The fields of a call site that the resolver reads."""

_ROOTS = frozenset({"__init__", "index", "lib", "main", "mod"})
"""Files that stand for their folder: a new one changes what other names of the repository begin with."""


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
        """Note a name of a file; `top`: it belongs to the file itself, not to a class."""
        if top and rules.names_need_import:
            self.scoped.add((_module_of(path), name))
        else:
            self.names.add(name)


def digest_of_links(facts: FileFacts, size: int) -> bytes:
    """Identity of all that the resolver reads of a file: everything but lines, complexity and problems."""
    calls = sorted(Counter(map(attrgetter(*_CALL), facts.calls)).items())
    read = facts.language, facts.package, _shape(facts), calls, facts.imports, facts.bases, facts.annotations
    return blake2b(msgspec.msgpack.encode(read), digest_size=size).digest()


def same_exports(before: FileFacts, after: FileFacts) -> bool:
    """Tells whether the names of other files, and this file's own scopes, keep their meaning: only calls and the types
    of locals differ."""
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
    """Import names from which their first part is inferred, in languages that infer it: all but those of the standard
    library."""
    return {
        statement.module
        for facts in files
        if (rules := rules_of(facts.language)).roots_from_imports
        for statement in facts.imports
        if statement.module.partition("/")[0] not in rules.standard_modules
    }


def manifests_lead_to(files: Iterable[FileFacts], modules: set[str]) -> bool:
    """Tells whether a manifest of JavaScript may lead to files of such names: imports may mean them by names that have
    nothing of their paths."""
    for facts in files:
        for said in facts.annotations if facts.language == MANIFEST else ():
            stem = said.type.rpartition("/")[2].partition(".")[0]
            if not modules.isdisjoint(_WORD.findall(stem)) or _GLUED.search(said.name) or _GLUED.search(said.type):
                return True
    return False


def difference(path: str, before: FileFacts | None, after: FileFacts | None) -> Difference | None:
    """The names that an edit of one file may change elsewhere; None where that cannot be told.

    Args:
        before, after: None for a file that was not there, or is not there any more.
    """
    facts = after or before
    assert facts is not None
    rules, stem = rules_of(facts.language), path.rpartition("/")[2].partition(".")[0]
    out = Difference()
    if _manifest(before) != _manifest(after):
        return None  # what it says of import names, others go by
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
    if rules.crates_from_imports and (stem in _ROOTS or _imported(before) != _imported(after)) and changed:
        return None  # names of crates are told from what is imported and what their roots offer
    if rules.has_default_export and _tops(before) != _tops(after):
        if stem in _ROOTS:
            return None
        out.modules |= set(_WORD.findall(stem))  # a default import means what the file defines, by no name of its own
    for known in filter(None, (before, after)):
        for name, owner in _owned(known):
            if name in out.names and _OF_CLASS.fullmatch(name):
                out.add(path, rules, owner, top=owner in _tops(known))
        out.classes |= {
            fragment.name
            for fragment in known.fragments
            if fragment.kind is FragmentKind.CLASS and fragment.name in changed
        }
    return out


def _imported(facts: FileFacts | None) -> set[tuple[str, str]]:
    return {(statement.module, statement.symbol) for statement in facts.imports} if facts else set()


def _manifest(facts: FileFacts | None) -> tuple[str, tuple[Annotation, ...]]:
    return (facts.package, facts.annotations) if facts is not None and facts.language == MANIFEST else ("", ())


def importable_folders(files: Iterable[tuple[str, FileFacts | None]]) -> set[str]:
    """Folders that can be imported: those with files of such a language below them, marked as packages or not."""
    known = (path for path, facts in files if facts is not None and rules_of(facts.language).folders_are_modules)
    folders = set(map(folder_of, known))
    return {folder[:end] for folder in folders for end, sign in enumerate(f"{folder}/") if sign == "/" and end}


def follow(path: str, facts: FileFacts, known: Difference, reached: Set[str]) -> tuple[bool, Difference]:
    """Tells whether a file sees changed names through its imports, and what else changes its meaning because of what
    the file says.

    `reached`: changed names of Python modules that the file writes together with the module: a package that is imported
    leads to its modules.

    Names lead to others by imports, declared types, base classes, and from a class to its members.
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
            out.add(path, rules, statement.local, top=True)  # a module, which others may know by this name only
    seen |= known.names
    for annotation in facts.annotations:
        if not _local(facts, annotation) and not seen.isdisjoint(_WORD.findall(annotation.type)):
            bound, holder = _bound(facts, annotation), _holder(facts, annotation)
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
        out.names |= {name for name, owner in _owned(facts) if owner in classes}
        out.names |= {
            _bound(facts, a) for a in facts.annotations if not _local(facts, a) and _holder(facts, a) in classes
        }
    return sees, out - known


def _visible(path: str, rules: NameRules, statement: Import, known: Difference) -> set[str]:
    """The changed names of modules that a statement brings into sight."""
    if not rules.names_need_import or not known.scoped:
        return set()
    words = set(_WORD.findall(statement.module)) | {statement.symbol}
    if statement.level and not statement.module:
        words |= set(path.split("/"))
    names = {name for module, name in known.scoped if module in words}
    # of `from m import a` only `a` is seen, unless `a` is itself a module with changed names
    whole = statement.symbol in ("", "*") or any(module == statement.symbol for module, _ in known.scoped)
    return names if whole else names & {statement.symbol}


def _shape(facts: FileFacts) -> list[tuple[str, str, str, int, bool]]:
    return [(f.kind.value, f.name, f.qualname, f.parent, f.sig_end >= f.line_end) for f in facts.fragments]


def _outward(facts: FileFacts) -> dict[tuple[str, bool], list[object]]:
    """By name, and by whether the name belongs to the file itself: everything a file says of it to others, in order."""
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
            out.setdefault((_bound(facts, annotation), _top(facts, annotation)), []).append(declared)
    for statement in facts.imports:
        if statement.local in ("", "*"):
            if rules.stars_pass_on and statement.symbol == "*":
                out.setdefault(("*", True), []).append(statement)
        elif statement.exported or rules.exports_imports:
            out.setdefault((statement.local, True), []).append(statement)
    return out


def _local(facts: FileFacts, annotation: Annotation) -> bool:
    """Tells whether a declared type is that of a variable seen inside one function only."""
    if (
        not 0 <= annotation.fragment < len(facts.fragments)
        or annotation.name == "return"
        or not _VARIABLE.fullmatch(annotation.name)
    ):
        return False
    return facts.fragments[annotation.fragment].kind not in (FragmentKind.CLASS, FragmentKind.REGION)


def _bound(facts: FileFacts, annotation: Annotation) -> str:
    """The name that a declared type says something of: for results, parameters and elements that of what has them."""
    words: list[str] = _WORD.findall(annotation.name)
    if words and words[0] != "return":
        return words[-1]
    return (
        facts.fragments[annotation.fragment].name
        if 0 <= annotation.fragment < len(facts.fragments)
        else annotation.name
    )


def _owner(facts: FileFacts, position: int) -> str:
    """The class that a fragment is a member of, by its last name."""
    return (
        facts.fragments[position].qualname.rpartition(".")[0].rpartition(".")[2]
        if 0 <= position < len(facts.fragments)
        else ""
    )


def _owned(facts: FileFacts) -> Iterator[tuple[str, str]]:
    for position, fragment in enumerate(facts.fragments):
        if fragment.name and (owner := _owner(facts, position)):
            yield fragment.name, owner


def _holder(facts: FileFacts, annotation: Annotation) -> str:
    """The class, by its last name, that a field with a declared type belongs to; "" for none."""
    if not 0 <= annotation.fragment < len(facts.fragments):
        return ""
    fragment = facts.fragments[annotation.fragment]
    return fragment.name if fragment.kind is FragmentKind.CLASS else _owner(facts, annotation.fragment)


def _top(facts: FileFacts, annotation: Annotation) -> bool:
    """Tells whether a declared type says something of a name of the file itself."""
    if not 0 <= annotation.fragment < len(facts.fragments):
        return False
    fragment = facts.fragments[annotation.fragment]
    return fragment.kind is FragmentKind.REGION or (fragment.kind is FragmentKind.FUNCTION and fragment.parent < 0)


def _module_of(path: str) -> str:
    """The last part of a module's name."""
    folder, _, base = path.rpartition("/")
    stem = base.partition(".")[0]
    return folder.rpartition("/")[2] if stem == "__init__" else stem


def _tops(facts: FileFacts | None) -> list[str]:
    """Top-level names in order."""
    return (
        [fragment.name for fragment in facts.fragments if fragment.kind in DEFINITIONS and fragment.parent < 0]
        if facts
        else []
    )
