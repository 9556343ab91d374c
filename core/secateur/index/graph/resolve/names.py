"""Resolves names in a file, a module or a class: imports, re-exports, packages, members along the class hierarchy.

All answers are memoised, and all recursion is bounded: import cycles, classes that inherit from themselves and chains
of re-exports of any length are normal input.
"""

import posixpath
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module

from secateur.index.graph.resolve.members import FilesOfMember, MemberFinder, Members, Visibility
from secateur.index.graph.resolve.symbols import Symbols, join_implementations
from secateur.languages import rules_of
from secateur.languages.packages import manifests_of
from secateur.languages.syntax.import_targets import EXTERNAL, Files, Finder, Gids, Module, PathFinder, Target, use_dots
from secateur.languages.traits import NameRules
from secateur.model import FileFacts, FragmentKind, Import

# The deepest chain of lookups for one name. In real code, re-exports and declared types make chains of three or four.
NESTING = 40

ANCESTORS = 64  # the most classes of one method resolution order
STARS = 256  # the most star imports that are searched for one name


def symbols_of(files: Sequence[tuple[str, FileFacts]], *, of_members: bool = False) -> Symbols:
    """Collects the names of a repository, or of the members of a workspace, and their types."""
    symbols = Symbols(files, of_members=of_members)
    join_implementations(symbols)
    symbols.add_types()
    return symbols


class Names:
    """Looks names up in `Symbols`. A `Target` is definitions, a module, EXTERNAL, or None if unknown."""

    def __init__(self, symbols: Symbols, members: Members | None = None) -> None:
        """`members`: those of a workspace, whose names `symbols` holds."""
        self.symbols = symbols
        self.visibility = Visibility(members, symbols) if members is not None else None
        self.asker = 0  # the member whose files are resolved
        self.finders = _member_finders(symbols, members) if members is not None else _finders(symbols)
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

    def resolve_name(self, file: int, name: str) -> Target:
        """Resolves an unqualified `name` at the top level of a file."""
        key = (file, name)
        if key not in self._scopes:
            self._scopes[key] = None  # the answer inside an import cycle that comes back to this name
            self._scopes[key] = self._limit_nesting(lambda: self._resolve_name(file, name))
        return self._scopes[key]

    def _limit_nesting(self, look: Callable[[], Target]) -> Target:
        """Calls `look`; returns None if the lookups are nested too deeply."""
        if self._nesting >= NESTING:
            return None
        self._nesting += 1
        try:
            return look()
        finally:
            self._nesting -= 1

    def _resolve_name(self, file: int, name: str) -> Target:
        module, package = self.symbols.modules[file], self.symbols.package_of[file]
        target: Target = module.names.get(name) or module.objects.get(name) or self._find_variable_class(module, name)
        if target is None and name in module.imports:
            return self.resolve_import(*module.imports[name])
        if target is None and package is not None:
            target = package.names.get(name) or self._find_variable_class(package, name)
        if target is None:
            target = self._find_starred(module, name)
        if target is None and self.symbols.rules[file].has_packages_as_names:
            target = self.finders[self.symbols.family[file]].find_module(file, name, 0)
        return target

    def resolve_member(self, module: Module, name: str) -> Target:
        """Resolves `module.name` from outside the module."""
        if module is EXTERNAL:
            return EXTERNAL
        key = (module, name)
        if key not in self._members:
            self._members[key] = None
            self._members[key] = self._limit_nesting(lambda: self._resolve_member(module, name))
        return self._members[key]

    def _resolve_member(self, module: Module, name: str) -> Target:
        if definitions := module.names.get(name):
            return definitions
        if variable := module.objects.get(name) or self._find_variable_class(module, name):
            return variable
        rules = self.symbols.rules[module.files[0]] if module.files else rules_of(module.language)
        # only submodules can reach a private import, so all imports are searched
        if (entry := (module.imports if rules.exports_to_children else module.exports).get(name)) is not None:
            return self.resolve_import(*entry)
        starred = self._find_starred(module, name)
        if starred not in (None, EXTERNAL):
            return starred
        family = self.symbols.family[module.files[0]] if module.files else module.family
        return self.finders[family].find_submodule(module, name) if family in self.finders else None

    def _find_starred(self, module: Module, name: str) -> Target:
        if not module.files:
            return None
        rules = self.symbols.rules[module.files[0]]
        if not rules.follows_stars:
            return None
        outside = False
        for file, statement in module.stars[:STARS]:
            if statement.symbol != "*":
                continue  # imported for its side effects
            source: Target = self.finders[self.symbols.family[file]].find_module(
                file, statement.module, statement.level
            )
            if source is None:
                # Java's static imports of all members of a class
                source = self._resolve_path(file, use_dots(statement.module))
            if source is EXTERNAL:
                outside = True
            elif (target := self.resolve_attribute(source, name)) is not None and target is not EXTERNAL:
                return target
        # the star import of an external module may bring any name into scope
        return EXTERNAL if outside and rules.stars_hide_unknown else None

    def _find_variable_class(self, module: Module, name: str) -> Target:
        if (entry := module.variables.get(name)) is None or entry[1] == name:
            return None
        file, written = entry
        if written.startswith("="):
            target = self.resolve_dotted_name(file, written[1:].removesuffix("()"))
            is_alias = not written.endswith("()") and self.symbols.rules[file].names_are_values
            if is_alias and isinstance(target, tuple):
                is_alias = self.symbols.fragments[target[0]].kind is FragmentKind.FUNCTION
            return target if is_alias else self.resolve_value(target)
        target = self.resolve_dotted_name(file, written)
        return target if isinstance(target, tuple) and self.is_class(target[0]) else None

    def resolve_import(self, file: int, statement: Import) -> Target:
        """Resolves the names that an import statement binds."""
        rules = self.symbols.rules[file]
        finder = self.finders[self.symbols.family[file]]
        if statement.symbol in ("", "*"):
            if (
                rules.binds_first_segment
                and "." in statement.module
                and statement.local == statement.module.partition(".")[0]
                and not statement.level
            ):
                return finder.find_module(file, statement.local, 0) or EXTERNAL  # `import a.b` binds `a`
            module = finder.find_module(file, statement.module, statement.level)
            return module if module is not None else self._resolve_path(file, use_dots(statement.module))
        if not statement.module and rules.has_default_export:
            return self.resolve_name(file, statement.symbol)  # exported from this file under another name
        if (module := finder.find_module(file, statement.module, statement.level)) is None:
            separator = "." if statement.module and not statement.module.endswith(".") else ""
            return self._resolve_path(file, use_dots(statement.module) + separator + statement.symbol)
        if statement.symbol == "default":
            return module.objects.get("default") or self.default_export(module, statement.local) or module
        return self.resolve_member(module, statement.symbol)

    def _resolve_path(self, file: int, path: str) -> Target:
        """Resolves a dotted path: its longest head that is a module, then members: `com.acme.Outer.Inner`,
        `crate.orders.Cart.new`."""
        rules = self.symbols.rules[file]
        if not rules.has_packages_as_names:
            return EXTERNAL
        segments = path.split(".")
        for cut in range(len(segments) - 1, 0, -1):
            module = self.finders[self.symbols.family[file]].find_module(file, ".".join(segments[:cut]), 0)
            if module is not None:
                target: Target = module
                for segment in segments[cut:]:
                    target = self.resolve_attribute(target, segment)
                return target
        if rules.exports_to_children and (own := self.symbols.modules[file].names.get(segments[0])):  # `use Kind::*`
            target = own
            for segment in segments[1:]:
                target = self.resolve_attribute(target, segment)
            return target
        return EXTERNAL

    def default_export(self, module: Module, local: str) -> Gids | None:
        """Returns the definition that a default import means: the declared default export, else the definition with the
        local name or the name of the file, else the only definition."""
        if not module.files or not self.symbols.rules[module.files[0]].has_default_export:
            return None
        if isinstance(declared := self.resolve_member(module, "default"), tuple):
            return declared
        stem = posixpath.basename(self.symbols.paths[module.files[0]]).partition(".")[0]
        stem = stem.replace("-", "").replace("_", "").lower()
        for name, gids in module.names.items():
            if name in (local, "default") or name.lower() == stem:
                return gids
        return next(iter(module.names.values())) if len(module.names) == 1 else None

    def resolve_dotted_name(self, file: int, name: str) -> Target:
        """Resolves a dotted name in the scope of a file."""
        head, *rest = name.split(".")
        if (target := self.resolve_name(file, head)) is None and not rest:
            return self.find_unimported_class(file, head)
        for segment in rest:
            if target is None:
                return None
            target = self.resolve_attribute(target, segment)
        return target

    def find_unimported_class(self, file: int, name: str) -> Target:
        """Returns the only class of that name, in languages that see it without an import."""
        if not self.symbols.rules[file].links_by_name:
            return None
        named = self.symbols.functions[self.symbols.family[file]].get(name, ())
        classes = [gid for gid in named if self.is_class(gid)]
        return (classes[0],) if len(classes) == 1 else None

    # --- classes -----------------------------------------------------------------------------------------------------

    def rules_of_definition(self, gid: int) -> NameRules:
        """Returns the rules of the language that a definition is written in."""
        return self.symbols.rules[self.symbols.file_of[gid]]

    def is_class(self, gid: int) -> bool:
        return self.symbols.fragments[gid].kind is FragmentKind.CLASS

    def resolve_attribute(self, target: Target, name: str) -> Target:
        """Resolves `target.name`: a member of a module, a method, nested class or field type of a class."""
        if isinstance(target, Module):
            return self.resolve_member(target, name)
        if not target or not self.is_class(target[0]):
            return None
        definitions, _ = self.find_method(target[0], name)
        return definitions or self.field_type(target[0], name)

    def resolve_value(self, target: Target) -> Target:
        """Returns what reading a name yields: for a property, the class that its method is declared to return."""
        if not isinstance(target, tuple) or self.is_class(target[0]):
            return target
        written = self.symbols.returns.get(target[0])
        return self.resolve_type(self.symbols.file_of[target[0]], written) if written else None

    def find_declaring_class(self, gid: int, name: str) -> int:
        """Returns the first class of the resolution order that declares the type of `name`; -1 if no class does."""
        return next((owner for owner in self.find_mro(gid)[0] if name in self.symbols.fields.get(owner, ())), -1)

    def field_type(self, gid: int, name: str) -> Target:
        """Returns the class of a field that the class or a base declares; EXTERNAL if that type is not of this
        repository."""
        key = (gid, name)
        if key not in self._fields:
            self._fields[key] = None
            owner = self.find_declaring_class(gid, name)
            if owner >= 0:
                self._fields[key] = self._limit_nesting(
                    lambda: self.resolve_type(self.symbols.file_of[owner], self.symbols.fields[owner][name])
                )
        return self._fields[key]

    def resolve_type(self, file: int, written: str) -> Target:
        """Returns the class that a type written in a file means; EXTERNAL for a type that no scope knows."""
        target = self.resolve_dotted_name(file, written)
        if isinstance(target, Module) and target is not EXTERNAL:
            target = self.default_export(target, written)
        return target if target is not None else EXTERNAL

    def base_targets(self, gid: int) -> list[tuple[str, Target]]:
        """Returns (name as written, meaning) for each base of a class."""
        if gid not in self._base_targets:
            self._base_targets[gid] = []  # the answer if finding a base needs this class again
            file = self.symbols.file_of[gid]
            outer = self.symbols.outer[gid]
            out: list[tuple[str, Target]] = []
            for name in self.symbols.bases.get(gid, ()):
                nested = self.symbols.members.get(outer, {}).get(name) if outer >= 0 else None
                target = nested or self._limit_nesting(partial(self.resolve_dotted_name, file, name))
                if isinstance(target, Module) and target is not EXTERNAL:
                    target = self.default_export(target, name.rpartition(".")[2])
                if isinstance(target, tuple):
                    target = tuple(base for base in target if base != gid and self.is_class(base))[:1] or None
                out.append((name, target))
            self._base_targets[gid] = out
        return self._base_targets[gid]

    def find_mro(self, gid: int) -> tuple[Gids, bool]:
        """Returns the method resolution order (C3 if it exists), and whether a base is external or unknown."""
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
            opened = any(self._orders[parent][1] for parent in known)
            opened = opened or any(not isinstance(target, tuple) for _, target in self.base_targets(current))
            merged = _merge([list(self._orders[parent][0]) for parent in known] + [known])
            self._orders[current] = (current, *[gid for gid in merged if gid != current][: ANCESTORS - 1]), opened
            stack.pop()
        return self._orders[gid]

    def find_method(self, gid: int, name: str, *, skip_own: bool = False) -> tuple[Gids, int]:
        """Returns the definitions of `name` in the first class of the resolution order that has it, and that class;
        ((), -1) if no class has it."""
        for owner in self.find_mro(gid)[0][1 if skip_own else 0 :]:
            if definitions := self.symbols.members.get(owner, {}).get(name):
                return definitions, owner
        return (), -1

    def overloads(self, gid: int, name: str) -> Gids:
        """Returns the definitions that `find_method` finds. In languages with overloading, adds definitions with other
        parameters from later classes."""
        definitions, holder = self.find_method(gid, name)
        if not definitions or not self.rules_of_definition(gid).calls_carry_arguments or self.is_class(definitions[0]):
            return definitions
        taken = {self.symbols.parameters.get(member, "") for member in definitions}
        for owner in self.find_mro(gid)[0]:
            for member in self.symbols.members.get(owner, {}).get(name, ()) if owner != holder else ():
                if (parameters := self.symbols.parameters.get(member, "")) not in taken:
                    taken.add(parameters)
                    definitions = (*definitions, member)
        return definitions

    def constructor(self, gid: int) -> Gids:
        """Returns the constructors that run when the class is called, from the nearest class that has one."""
        if gid not in self._constructors:
            self._constructors[gid] = next(filter(None, map(self._own_constructor, self.find_mro(gid)[0])), ())
        return self._constructors[gid]

    def _own_constructor(self, gid: int) -> Gids:
        members = self.symbols.members.get(gid, {})
        for name in self.rules_of_definition(gid).constructors or (self.symbols.fragments[gid].name,):
            constructors = tuple(member for member in members.get(name, ()) if not self.is_class(member))
            if constructors:
                return constructors
        return ()

    def implementations(self, gid: int, name: str, limit: int) -> list[int]:
        """Returns at most `limit` definitions of `name` in subclasses of `gid`, nearest first."""
        out: list[int] = []
        seen, level = {gid}, [gid]
        while level and len(out) < limit and len(seen) <= ANCESTORS * limit:
            below = [sub for owner in level for sub in self.subclasses.get(owner, ())]
            level = [
                sub
                for sub in dict.fromkeys(below)
                if sub not in seen and (self.visibility is None or self.visibility.sees(self.asker, sub))
            ]
            seen.update(level)
            for sub in level:
                out.extend(self.symbols.members.get(sub, {}).get(name, ()))
        return out[:limit]


def _merge(sequences: list[list[int]]) -> list[int]:
    """Merges the orders of the bases by C3. If they contradict each other, the first order wins instead of an error."""
    out: list[int] = []
    sequences = [sequence for sequence in sequences if sequence]
    while sequences:
        tails = {gid for sequence in sequences for gid in sequence[1:]}
        head = next((sequence[0] for sequence in sequences if sequence[0] not in tails), sequences[0][0])
        out.append(head)
        sequences = [rest for sequence in sequences if (rest := [gid for gid in sequence if gid != head])]
    return out


def _finders(files: Files | FilesOfMember) -> dict[str, Finder]:
    rules = {family: rules_of(facts.language) for family, facts in zip(files.family, files.facts, strict=True)}
    finders: dict[str, Finder] = dict.fromkeys(rules, PathFinder(files))
    for family, of_family in rules.items():
        if of_family.finder:
            module, _, name = of_family.finder.partition(":")
            finders[family] = getattr(import_module(module), name)(files, family)
    return finders


def _member_finders(symbols: Symbols, members: Members) -> dict[str, Finder]:
    files = [FilesOfMember(symbols, name) for name in members.names]
    own = [_finders(of_member) for of_member in files]
    found: dict[str, Finder] = {}
    for name, of_member, by_family, uses in zip(members.names, files, own, members.uses, strict=True):
        for key, finder in by_family.items():
            family = key.removeprefix(f"{name}/")
            manifests = manifests_of().get(family)
            used = {
                package.name: (provider_finder, package.folder)
                for (of_family, _), (provider, package) in uses.items()
                if of_family == family
                and (provider_finder := own[provider].get(f"{members.names[provider]}/{family}")) is not None
            }
            found[key] = MemberFinder(finder, of_member.first, manifests.separator if manifests else "", used)
    return found
