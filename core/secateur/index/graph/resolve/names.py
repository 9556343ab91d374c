"""Resolves names in a file, a module or a class: imports, re-exports, packages, members along the class hierarchy.

All answers are memoised, all recursion is bounded: import cycles, hierarchies that contain themselves and chains of
re-exports of any length are inputs, not accidents.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from secateur.index.graph.resolve.finders import finders
from secateur.index.graph.resolve.implementations import join_implementations
from secateur.index.graph.resolve.symbols import Symbols
from secateur.languages import rules_of
from secateur.languages.syntax.import_targets import EXTERNAL, Finder, Gids, Module, Target, dotted
from secateur.languages.traits import NameRules
from secateur.model import FileFacts, FragmentKind, Import

NESTING = 40
"""Names looked up because of one name: chains of re-exports and of declared types are three or four long in real
code."""

ANCESTORS = 64
"""Classes of one method resolution order that are looked at."""

STARS = 256
"""Star imports looked through for one name."""


def symbols_of(files: Sequence[tuple[str, FileFacts]]) -> Symbols:
    """The names of a repository with their types."""
    symbols = Symbols(files)
    join_implementations(symbols)
    symbols.add_types()
    return symbols


class Names:
    """Lookups over `Symbols`. `Target` answers: definitions, a module, EXTERNAL, None (unknown)."""

    def __init__(self, symbols: Symbols, found_by: Mapping[str, Finder] | None = None) -> None:
        """`found_by`: finds imports, by language family; None: the finders of a repository."""
        self.symbols = symbols
        self.finders = found_by or finders(symbols, {rules.family: rules for rules in symbols.rules})
        self._members: dict[tuple[Module, str], Target] = {}
        self._scopes: dict[tuple[int, str], Target] = {}
        self._orders: dict[int, tuple[Gids, bool]] = {}
        self._fields: dict[tuple[int, str], Target] = {}
        self._base_targets: dict[int, list[tuple[str, Target]]] = {}
        self._constructors: dict[int, Gids] = {}
        self._nesting = 0
        self.subclasses: dict[int, list[int]] = {}
        for gid in symbols.bases:
            for _, target in self.base_targets(gid):
                if isinstance(target, tuple):
                    for base in target:
                        self.subclasses.setdefault(base, []).append(gid)

    # --- modules and files -------------------------------------------------------------------------------------------

    def in_file(self, number: int, name: str) -> Target:
        """Resolves an unqualified `name` at the top level of a file."""
        key = (number, name)
        if key not in self._scopes:
            self._scopes[key] = None  # an import cycle that asks again finds nothing new
            self._scopes[key] = self._nested(lambda: self._in_file(number, name))
        return self._scopes[key]

    def _nested(self, look: Callable[[], Target]) -> Target:
        """`look()`, or None where this name is being looked up for the sake of too many others."""
        if self._nesting >= NESTING:
            return None
        self._nesting += 1
        try:
            return look()
        finally:
            self._nesting -= 1

    def _in_file(self, number: int, name: str) -> Target:
        module, package = self.symbols.modules[number], self.symbols.package_of[number]
        found: Target = module.names.get(name) or self._variable(module, name)
        if found is None and name in module.imports:
            return self.imported(*module.imports[name])
        if found is None and package is not None:
            found = package.names.get(name) or self._variable(package, name)
        if found is None:
            found = self._starred(module, name)
        if found is None and self.symbols.rules[number].has_packages_as_names:
            found = self.finders[self.symbols.family[number]].module(number, name, 0)
        return found

    def member(self, module: Module, name: str) -> Target:
        """Resolves `module.name` from outside the module."""
        if module is EXTERNAL:
            return EXTERNAL
        key = (module, name)
        if key not in self._members:
            self._members[key] = None
            self._members[key] = self._nested(lambda: self._member(module, name))
        return self._members[key]

    def _member(self, module: Module, name: str) -> Target:
        if found := module.names.get(name):
            return found
        if found_variable := self._variable(module, name):
            return found_variable
        rules = self._rules(module)
        # a private import is seen by the modules inside, and nobody else can name it
        if (entry := (module.imports if rules.exports_to_children else module.exports).get(name)) is not None:
            return self.imported(*entry)
        found_star = self._starred(module, name)
        if found_star not in (None, EXTERNAL):
            return found_star
        return self.finders[rules.family].submodule(module, name) if rules.family in self.finders else None

    def _rules(self, module: Module) -> NameRules:
        return self.symbols.rules[module.files[0]] if module.files else rules_of(module.language)

    def _starred(self, module: Module, name: str) -> Target:
        if not module.files:
            return None
        rules = self.symbols.rules[module.files[0]]
        if not rules.follows_stars:
            return None
        outside = False
        for number, statement in module.stars[:STARS]:
            if statement.symbol != "*":
                continue  # imported for its side effects
            source: Target = self.finders[rules.family].module(number, statement.module, statement.level)
            if source is None:
                source = self._path(number, dotted(statement.module))  # everything of a class: Java's static imports
            if source is EXTERNAL:
                outside = True
            elif (found := self.attribute(source, name)) is not None and found is not EXTERNAL:
                return found
        # a name that no scope knows may come from a star import of something outside
        return EXTERNAL if outside and rules.stars_hide_unknown else None

    def _variable(self, module: Module, name: str) -> Target:
        """The class of a module-level variable, as the definition its attributes come from."""
        entry = module.variables.get(name)
        if entry is None or entry[1] == name:
            return None
        number, written = entry
        if written.startswith("="):
            return self.value(self.qualified_in_file(number, written[1:].removesuffix("()")))
        target = self.qualified_in_file(number, written)
        return target if isinstance(target, tuple) and self.is_class(target[0]) else None

    def imported(self, number: int, statement: Import) -> Target:
        """Resolves the names that an import statement binds."""
        rules = self.symbols.rules[number]
        finder = self.finders[rules.family]
        if statement.symbol in ("", "*"):
            if (
                rules.binds_first_segment
                and "." in statement.module
                and statement.local == statement.module.partition(".")[0]
                and not statement.level
            ):
                return finder.module(number, statement.local, 0) or EXTERNAL  # `import a.b` binds `a`
            found = finder.module(number, statement.module, statement.level)
            return found if found is not None else self._path(number, dotted(statement.module))
        if not statement.module and rules.has_default_export:
            return self.in_file(number, statement.symbol)  # exported from this file under another name
        module = finder.module(number, statement.module, statement.level)
        if module is None:
            separator = "." if statement.module and not statement.module.endswith(".") else ""
            return self._path(number, dotted(statement.module) + separator + statement.symbol)
        if statement.symbol == "default":
            return self.default_export(module, statement.local) or module
        return self.member(module, statement.symbol)

    def _path(self, number: int, path: str) -> Target:
        """A dotted path whose longest head is a module and whose rest are members: `com.acme.Outer.Inner`,
        `crate.orders.Cart.new`."""
        rules = self.symbols.rules[number]
        if not rules.has_packages_as_names:
            return EXTERNAL
        segments = path.split(".")
        for cut in range(len(segments) - 1, 0, -1):
            module = self.finders[rules.family].module(number, ".".join(segments[:cut]), 0)
            if module is not None:
                target: Target = module
                for segment in segments[cut:]:
                    target = self.attribute(target, segment)
                return target
        if rules.exports_to_children and (own := self.symbols.modules[number].names.get(segments[0])):  # `use Kind::*`
            target = own
            for segment in segments[1:]:
                target = self.attribute(target, segment)
            return target
        return EXTERNAL

    def default_export(self, module: Module, local: str) -> Gids | None:
        """The definition a default import means: the declared one, else that of its name, of the file's name, or the
        only one there is."""
        if not module.files or not self.symbols.rules[module.files[0]].has_default_export:
            return None
        if isinstance(declared := self.member(module, "default"), tuple):
            return declared
        stem = (
            posixpath.basename(self.symbols.paths[module.files[0]])
            .partition(".")[0]
            .replace("-", "")
            .replace("_", "")
            .lower()
        )
        for name, gids in module.names.items():
            if name in (local, "default") or name.lower() == stem:
                return gids
        return next(iter(module.names.values())) if len(module.names) == 1 else None

    def qualified_in_file(self, number: int, name: str) -> Target:
        """A dotted name in the scope of a file."""
        head, *rest = name.split(".")
        target = self.in_file(number, head)
        if target is None and not rest:
            return self.linked_class(number, head)
        for segment in rest:
            if target is None:
                return None
            target = self.attribute(target, segment)
        return target

    def linked_class(self, number: int, name: str) -> Target:
        """The only class of that name, in languages that need no import to see it."""
        if not self.symbols.rules[number].links_by_name:
            return None
        found = [gid for gid in self.symbols.functions[self.symbols.family[number]].get(name, ()) if self.is_class(gid)]
        return (found[0],) if len(found) == 1 else None

    # --- classes -----------------------------------------------------------------------------------------------------

    def rules_of(self, gid: int) -> NameRules:
        """The rules of the language that a definition is written in."""
        return self.symbols.rules[self.symbols.file_of[gid]]

    def is_class(self, gid: int) -> bool:
        return self.symbols.fragments[gid].kind is FragmentKind.CLASS

    def attribute(self, target: Target, name: str) -> Target:
        """Resolves `target.name`: a member of a module, a method, nested class or field type of a class."""
        if isinstance(target, Module):
            return self.member(target, name)
        if not target or not self.is_class(target[0]):
            return None
        found, _ = self.method(target[0], name)
        if found:
            return found
        return self.field_type(target[0], name)

    def value(self, target: Target) -> Target:
        """The value that reading a name yields: of a method read as a property, the class it is declared to return."""
        if not isinstance(target, tuple) or self.is_class(target[0]):
            return target
        written = self.symbols.returns.get(target[0])
        return self.declared(self.symbols.file_of[target[0]], written) if written else None

    def declares(self, gid: int, name: str) -> int:
        """The class of the order that declares the type of `name`, -1 if none does."""
        return next((owner for owner in self.order(gid)[0] if name in self.symbols.fields.get(owner, ())), -1)

    def field_type(self, gid: int, name: str) -> Target:
        """The class of a field, declared there or in a base; EXTERNAL where the type is declared and not of this
        repository."""
        key = (gid, name)
        if key not in self._fields:
            self._fields[key] = None
            owner = self.declares(gid, name)
            if owner >= 0:
                self._fields[key] = self._nested(
                    lambda: self.declared(self.symbols.file_of[owner], self.symbols.fields[owner][name])
                )
        return self._fields[key]

    def declared(self, number: int, written: str) -> Target:
        """The class a type written in a file means; a type that no scope knows is a builtin or an import from
        outside."""
        target = self.qualified_in_file(number, written)
        if isinstance(target, Module) and target is not EXTERNAL:
            target = self.default_export(target, written)
        return target if target is not None else EXTERNAL

    def base_targets(self, gid: int) -> list[tuple[str, Target]]:
        """(name as written, meaning) of each base of a class."""
        if gid not in self._base_targets:
            self._base_targets[gid] = []  # a class that is needed to find its own base
            number = self.symbols.file_of[gid]
            outer = self.symbols.outer[gid]
            out: list[tuple[str, Target]] = []
            for name in self.symbols.bases.get(gid, ()):
                nested = self.symbols.members.get(outer, {}).get(name) if outer >= 0 else None
                target = nested or self._nested(partial(self.qualified_in_file, number, name))
                if isinstance(target, Module) and target is not EXTERNAL:
                    target = self.default_export(target, name.rpartition(".")[2])
                if isinstance(target, tuple):
                    target = tuple(base for base in target if base != gid and self.is_class(base))[:1] or None
                out.append((name, target))
            self._base_targets[gid] = out
        return self._base_targets[gid]

    def order(self, gid: int) -> tuple[Gids, bool]:
        """Method resolution order (C3 where it exists), and whether a base lies outside or is unknown."""
        if gid in self._orders:
            return self._orders[gid]
        stack = [gid]
        waiting: set[int] = set()
        while stack:
            current = stack[-1]
            if current in self._orders:
                stack.pop()
                continue
            parents = [target[0] for _, target in self.base_targets(current) if isinstance(target, tuple)][:ANCESTORS]
            missing = [
                parent
                for parent in parents
                if parent not in self._orders and parent not in waiting and parent != current
            ]
            waiting.add(current)
            if missing:
                stack.extend(reversed(missing))
                continue
            known = [parent for parent in parents if parent in self._orders]
            opened = any(not isinstance(target, tuple) for _, target in self.base_targets(current)) or any(
                self._orders[parent][1] for parent in known
            )
            merged = _merge([list(self._orders[parent][0]) for parent in known] + [known])
            self._orders[current] = (
                (current, *[owner for owner in merged if owner != current][: ANCESTORS - 1]),
                opened,
            )
            stack.pop()
        return self._orders[gid]

    def method(self, gid: int, name: str, *, skip_own: bool = False) -> tuple[Gids, int]:
        """(definitions, class that holds them) of the first class of the order that has `name`; ((), -1) if none
        has."""
        for owner in self.order(gid)[0][1 if skip_own else 0 :]:
            found = self.symbols.members.get(owner, {}).get(name)
            if found:
                return found, owner
        return (), -1

    def overloads(self, gid: int, name: str) -> Gids:
        """The definitions of `method`; where calls tell overloads apart also those of further classes that take other
        parameters."""
        found, holder = self.method(gid, name)
        if not found or not self.rules_of(gid).calls_carry_arguments or self.is_class(found[0]):
            return found
        taken = {self.symbols.parameters.get(member, "") for member in found}
        for owner in self.order(gid)[0]:
            for member in self.symbols.members.get(owner, {}).get(name, ()) if owner != holder else ():
                if (parameters := self.symbols.parameters.get(member, "")) not in taken:
                    taken.add(parameters)
                    found = (*found, member)
        return found

    def constructor(self, gid: int) -> Gids:
        """The methods that run when the class is called, of the nearest class that has one."""
        if gid not in self._constructors:
            self._constructors[gid] = next(filter(None, map(self._own_constructor, self.order(gid)[0])), ())
        return self._constructors[gid]

    def _own_constructor(self, gid: int) -> Gids:
        members = self.symbols.members.get(gid, {})
        for name in self.rules_of(gid).constructors or (self.symbols.fragments[gid].name,):
            found = tuple(member for member in members.get(name, ()) if not self.is_class(member))
            if found:
                return found
        return ()

    def implementations(self, gid: int, name: str, limit: int) -> list[int]:
        """Definitions of `name` in classes below `gid`, nearest first, at most `limit`."""
        out: list[int] = []
        seen, level = {gid}, [gid]
        while level and len(out) < limit and len(seen) <= ANCESTORS * limit:
            below = [sub for owner in level for sub in self.subclasses.get(owner, ())]
            level = [sub for sub in dict.fromkeys(below) if sub not in seen]
            seen.update(level)
            for sub in level:
                out.extend(self.symbols.members.get(sub, {}).get(name, ()))
        return out[:limit]


def _merge(sequences: list[list[int]]) -> list[int]:
    """C3 linearisation; where the bases contradict each other the first sequence wins instead of an error."""
    out: list[int] = []
    sequences = [sequence for sequence in sequences if sequence]
    while sequences:
        tails = {gid for sequence in sequences for gid in sequence[1:]}
        head = next((sequence[0] for sequence in sequences if sequence[0] not in tails), sequences[0][0])
        out.append(head)
        sequences = [rest for sequence in sequences if (rest := [gid for gid in sequence if gid != head])]
    return out
