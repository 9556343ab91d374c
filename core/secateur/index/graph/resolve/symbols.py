"""The names of a repository: the definitions and imports of each file and package, and the members, fields and bases of
each class.

All tables are dictionaries that are built in one pass over the facts, so that a lookup never scans. A definition is a
global fragment number. A name may have several (overloads, conditional definitions), so its value is a tuple.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate

from secateur.languages import rules_of
from secateur.languages.rust.imports import crate_of
from secateur.languages.syntax.collector import IMPLEMENTED, TITLE
from secateur.languages.syntax.import_targets import Gids, Module, folder_of, folders_above, use_dots
from secateur.languages.traits import NameRules
from secateur.model import FileFacts, Fragment, FragmentKind, Import

# The most definitions of a name that a scope keeps: enough for overloads, and few enough for generated code.
OVERLOADS = 6

SELECTED_OVERLOADS = 32  # the same for languages whose calls choose an overload by their arguments

DEFINITIONS = frozenset({FragmentKind.FUNCTION, FragmentKind.METHOD, FragmentKind.CLASS})


def plain_receiver(text: str, rules: NameRules) -> str:
    """Writes a receiver or variable as dotted names, without sigils and a decorator's `@`. A field of the own instance
    begins with "self."."""
    if text.isidentifier():
        return text
    name = use_dots(text)
    if rules.field_sigil and name.startswith(rules.field_sigil):
        return f"self.{name.lstrip(rules.field_sigil)}"
    return name.lstrip("@" + rules.variable_sigil) if name.startswith("@") or rules.variable_sigil else name


def add_name(names: dict[str, Gids], name: str, gid: int, most: int = OVERLOADS) -> None:
    """Adds a definition of `name`, unless it has `most` already."""
    known = names.get(name, ())
    if len(known) < most:
        names[name] = (*known, gid)


class Symbols:
    """Tables over the facts of all files. `symbols_of` in `names.py` makes and completes them.

    `file` is the number of a file, `gid` the global number of a fragment: `offset[file] + position`.
    """

    def __init__(self, files: Sequence[tuple[str, FileFacts]], *, of_members: bool = False) -> None:
        """`of_members`: paths begin with the name of a repository. Names of different repositories never mix."""
        split = [path.partition("/") if of_members else ("", "", path) for path, _ in files]
        self.member_of = [member for member, _, _ in split]  # of each file
        self.paths = [path for _, _, path in split]  # in the repository
        self.facts = [facts for _, facts in files]
        self.rules = [rules_of(facts.language) for facts in self.facts]
        # of languages; that of a member begins with the name of the member
        self.family = ["".join((*part[:2], rules.family)) for part, rules in zip(split, self.rules, strict=True)]
        self.offset = [0, *accumulate(len(facts.fragments) for facts in self.facts)]
        self.fragments: list[Fragment] = [fragment for facts in self.facts for fragment in facts.fragments]
        self.file_of = [file for file, facts in enumerate(self.facts) for _ in facts.fragments]
        # the class of a definition; the class of a class is itself, or, for a further part of it, the first part
        self.class_of = [-1] * len(self.fragments)
        self.outer = [-1] * len(self.fragments)  # the class that holds a definition
        self.members: dict[int, dict[str, Gids]] = {}  # class -> name -> definitions
        self.fields: dict[int, dict[str, str]] = {}  # class -> field -> type as written
        self.locals: dict[int, dict[str, str]] = {}  # fragment -> variable -> type as written
        self.returns: dict[int, str] = {}  # function -> type as written
        self.further_returns: dict[tuple[int, int], str] = {}  # (function, result number from 1) -> type as written
        self.parameters: dict[int, str] = {}  # function -> types of its parameters as written, "(A,B...)"
        self.bases: dict[int, list[str]] = {}  # class -> base names as written
        self.modules = [Module(path, files=[file]) for file, path in enumerate(self.paths)]
        self.packages: dict[tuple[str, str], Module] = {}  # (family, package or directory) -> its names
        self.package_of: list[Module | None] = [None] * len(files)
        self.qualified: list[dict[str, int]] = [{} for _ in files]  # per file: qualified name -> definition
        self.titles: set[int] = set()  # definitions that have a title for a name
        self.nests_functions: set[int] = set()  # files in which functions hold fragments of their own
        self.functions: dict[str, dict[str, list[int]]] = {}  # family -> name -> functions and classes
        self.methods: dict[str, dict[str, list[int]]] = {}  # family -> name -> methods
        # first parts of classes that may have several: impl blocks, partial and reopened classes
        self._classes: dict[tuple[str, str | int, str], int] = {}
        self._detached: list[int] = []
        self.failed: set[int] = set()  # files over which an error was raised: some of their names are missing
        for file in range(len(files)):
            with self._isolating(file):
                self._add_file(file)
        shared: dict[tuple[str, str], list[tuple[int, Import]]] = {}  # (family, folder) -> imports
        for path, family, rules, module in zip(self.paths, self.family, self.rules, self.modules, strict=True):
            if path.endswith(rules.shared_imports):
                shared.setdefault((family, folder_of(path)), []).extend(module.stars)
        for path, family, module in zip(self.paths, self.family, self.modules, strict=True):
            for folder in folders_above(folder_of(path)) if shared else ():
                module.stars += shared.get((family, folder), ())
        for gid in self._detached:
            with self._isolating(self.file_of[gid]):
                self._attach(gid)

    def add_types(self) -> None:
        """Adds bases and declared types. Call it when the parts of each class are joined."""
        for file in range(len(self.facts)):
            with self._isolating(file):
                self._add_types(file)

    @contextmanager
    def _isolating(self, file: int) -> Iterator[None]:
        """Notes a file whose processing raises an error: it loses some of its names, and the other files lose none."""
        try:
            yield
        except Exception:
            self.failed.add(file)

    def join(self, gid: int, whole: int) -> None:
        """Makes a class, with its members, a further part of another."""
        for name, members in self.members.pop(gid, {}).items():
            for member in members:
                self.outer[member] = whole
                if self.fragments[member].kind is not FragmentKind.CLASS:
                    self.class_of[member] = whole
                add_name(self.members.setdefault(whole, {}), name, member)
        self.members[gid] = {}
        for position in range(self.offset[self.file_of[gid]], self.offset[self.file_of[gid] + 1]):
            if self.class_of[position] == gid:
                self.class_of[position] = whole

    def region_of(self, file: int) -> int:
        """Returns the fragment that stands for a file: its first region, else its first fragment; -1 for an empty
        file."""
        first = self.offset[file]
        for position, fragment in enumerate(self.facts[file].fragments):
            if fragment.kind is FragmentKind.REGION:
                return first + position
        return first if self.facts[file].fragments else -1

    def _add_file(self, file: int) -> None:
        facts, module, first = self.facts[file], self.modules[file], self.offset[file]
        family, rules = self.family[file], self.rules[file]
        functions, methods = self.functions.setdefault(family, {}), self.methods.setdefault(family, {})
        package = self._package(file)
        titled = [a for a in facts.annotations if a.name == TITLE and 0 <= a.fragment < len(facts.fragments)]
        titles = {facts.fragments[a.fragment].qualname for a in titled if facts.fragments[a.fragment].name == a.type}
        for position, fragment in enumerate(facts.fragments):
            if fragment.kind not in DEFINITIONS or not fragment.name:
                continue
            gid = first + position
            holder = self.qualified[file].get(fragment.qualname.rpartition(".")[0])
            nested = holder is not None and self.fragments[holder].kind is not FragmentKind.CLASS
            if nested:
                self.nests_functions.add(file)
            self.qualified[file].setdefault(fragment.qualname, gid)
            if fragment.kind is FragmentKind.CLASS:
                scope: str | int = file
                if rules.class_scope == "repository":
                    scope = ""
                elif rules.class_scope == "package" and package is not None:
                    scope = package.name
                self.class_of[gid] = self._classes.setdefault((family, scope, fragment.qualname), gid)
                self.members.setdefault(gid, {})
                if self.class_of[gid] != gid:
                    continue
            if fragment.parent >= 0:
                owner = self._whole(first + fragment.parent)
                self.outer[gid] = owner
                if fragment.kind is not FragmentKind.CLASS:
                    self.class_of[gid] = owner
                held_by = fragment.qualname.rpartition(".")[0]
                if rules.calls_carry_arguments and held_by != self.fragments[owner].qualname:
                    continue  # a member of a class without a name, which no call can reach by name
                most = SELECTED_OVERLOADS if rules.calls_carry_arguments else OVERLOADS
                add_name(self.members.setdefault(owner, {}), fragment.name, gid, most)
            elif fragment.kind is FragmentKind.METHOD and "." in fragment.qualname:
                self._detached.append(gid)  # its class may stand in another file: Go, Rust, C++
            elif fragment.qualname in titles:
                self.titles.add(gid)
                continue
            elif not nested:
                add_name(module.names, fragment.name, gid)
                if "." in fragment.qualname:
                    add_name(module.names, fragment.qualname, gid)
                if package is not None:
                    add_name(package.names, fragment.name, gid)
            table = methods if fragment.kind is FragmentKind.METHOD else functions
            table.setdefault(fragment.name, []).append(gid)
        for statement in facts.imports:
            if statement.local and statement.local != "*":
                known = module.imports.get(statement.local)
                if known is not None and known[1].module == f"self::{statement.local}" and not known[1].symbol:
                    # `mod serve; pub use serve::serve`: the module is still found by its path
                    del module.imports[statement.local]
                module.imports.setdefault(statement.local, (file, statement))
                if statement.exported or rules.exports_imports:
                    module.exports.setdefault(statement.local, (file, statement))
            else:
                module.stars.append((file, statement))

    def _whole(self, gid: int) -> int:
        """Returns the first part of the class that a fragment is a part of."""
        return self.class_of[gid] if self.class_of[gid] >= 0 else gid

    def _package(self, file: int) -> Module | None:
        rules, directory = self.rules[file], folder_of(self.paths[file])
        if not rules.packages:
            return None
        declared = use_dots(self.facts[file].package)
        name = f"{directory}:{declared}" if rules.packages == "directory" else declared or f"/{directory}"
        key = (self.family[file], name)
        package = self.packages.setdefault(key, Module(key[1]))
        package.files.append(file)
        self.package_of[file] = package
        return package

    def _attach(self, gid: int) -> None:
        """Attaches a method that is written outside its class to the class of that name in its file or package, else to
        the only class of that name in the repository."""
        fragment, file = self.fragments[gid], self.file_of[gid]
        owner_name = fragment.qualname.rpartition(".")[0]
        last = owner_name.rpartition(".")[2]
        package = self.package_of[file]
        near = (
            self.modules[file].names.get(owner_name)
            or self.modules[file].names.get(last)
            or (package.names.get(last) if package else None)
        )
        if not near:
            named = self.functions[self.family[file]].get(last, ())
            classes = [known for known in named if self.fragments[known].kind is FragmentKind.CLASS]
            near = tuple(classes) if len(classes) == 1 else ()
        for owner in near:
            if self.fragments[owner].kind is FragmentKind.CLASS:
                owner = self.class_of[owner]
                self.class_of[gid] = self.outer[gid] = owner
                add_name(self.members[owner], fragment.name, gid)
                return

    def _add_types(self, file: int) -> None:
        facts, first = self.facts[file], self.offset[file]
        for base in facts.bases:
            if 0 <= base.fragment < len(facts.fragments):
                self.bases.setdefault(self._whole(first + base.fragment), []).append(use_dots(base.name))
        for annotation in facts.annotations:
            if not 0 <= annotation.fragment < len(facts.fragments):
                continue
            gid, kind = first + annotation.fragment, facts.fragments[annotation.fragment].kind
            if annotation.name == IMPLEMENTED:
                continue
            name, written = plain_receiver(annotation.name, self.rules[file]), use_dots(annotation.type)
            prefix, _, attribute = name.partition(".")
            if prefix in ("self", "this", "cls") and attribute:
                if self.class_of[gid] >= 0:
                    self.fields.setdefault(self.class_of[gid], {}).setdefault(attribute, written)
            elif name in ("return", "()") or name.startswith("return#"):
                if kind is FragmentKind.CLASS:
                    pass  # it belongs to a function in the class that is not a fragment
                elif name == "return":
                    self.returns.setdefault(gid, written)
                elif name == "()":
                    self.parameters.setdefault(gid, written)
                elif name[7:].isdecimal():
                    self.further_returns.setdefault((gid, int(name[7:])), written)
            elif kind is FragmentKind.CLASS:
                self.fields.setdefault(self._whole(gid), {}).setdefault(name, written)
            elif kind not in DEFINITIONS and attribute:
                holder = self.modules[file].objects.setdefault(prefix, Module(prefix, files=[file]))
                holder.variables.setdefault(attribute, (file, written))
            elif kind not in DEFINITIONS:
                self.modules[file].variables.setdefault(name, (file, written))
                if (package := self.package_of[file]) is not None:
                    package.variables.setdefault(name, (file, written))
            else:
                self.locals.setdefault(gid, {}).setdefault(name, written)


_RELATIVE = frozenset({"crate", "self", "super"})


def join_implementations(symbols: Symbols) -> None:
    """Makes each implementation block of Rust a part of its type, if that is declared in another file."""
    blocks: dict[int, str] = {}  # fragment -> path of its type
    for file, facts in enumerate(symbols.facts):
        for annotation in facts.annotations:
            if annotation.name == IMPLEMENTED and 0 <= annotation.fragment < len(facts.fragments):
                blocks[symbols.offset[file] + annotation.fragment] = annotation.type
    families = {symbols.family[symbols.file_of[gid]] for gid in blocks}
    declared: dict[str, list[int]] = {}  # name -> types, the first part of each
    owned: set[int] = set()
    for name, known in (item for family in sorted(families) for item in symbols.functions.get(family, {}).items()):
        for gid in known:
            if symbols.fragments[gid].kind is FragmentKind.CLASS:
                declared.setdefault(name, []).append(gid)
    for gid, fragment in enumerate(symbols.fragments):
        if fragment.kind is FragmentKind.CLASS and gid not in blocks and symbols.class_of[gid] >= 0:
            owned.add(symbols.class_of[gid])
    for gid, path in blocks.items():
        if symbols.class_of[gid] == gid and gid not in owned:
            own = symbols.modules[symbols.file_of[gid]].names
            own.pop(symbols.fragments[gid].qualname, None)  # a block declares no name
            member = symbols.member_of[symbols.file_of[gid]]
            candidates = [
                known
                for known in declared.get(path.rpartition(".")[2], ())
                if known in owned and known != gid and symbols.member_of[symbols.file_of[known]] == member
            ]
            if (whole := _choose_type(symbols, gid, path, candidates)) >= 0:
                symbols.join(gid, whole)


def _choose_type(symbols: Symbols, gid: int, path: str, candidates: list[int]) -> int:
    """Returns the type that a block means, -1 if that is not clear: the one in the module that its path or import
    names, else the only one of its crate, else, for an imported name, the only one of the repository."""
    file = symbols.file_of[gid]
    statement = symbols.modules[file].imports.get(path.partition(".")[0])
    written = path.split(".")[:-1] or (re.split(r"::|\.", statement[1].module) if statement is not None else [])
    module = next((segment for segment in reversed(written) if segment not in _RELATIVE), "")
    here = crate_of(symbols.paths[file])
    near = [known for known in candidates if crate_of(symbols.paths[symbols.file_of[known]]) == here]
    for group in (near, candidates if written else []):
        named = [
            known for known in group if module and module in re.split(r"[/.]", symbols.paths[symbols.file_of[known]])
        ]
        for chosen in (named, group):
            if len(chosen) == 1:
                return chosen[0]
    return -1
