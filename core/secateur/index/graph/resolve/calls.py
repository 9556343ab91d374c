"""Resolves call sites to definitions, by rules of decreasing confidence.

The order is: scope, `self` and the class hierarchy, imports and packages, the declared type of the receiver, the only
definition of that name. A rule that finds the call to leave the repository ends the search, so no guess by name
follows.
"""

import re
from enum import Enum, auto

from msgspec import Struct

from secateur.index.graph.resolve import expressions
from secateur.index.graph.resolve.edges import CONFIDENCE, TRUSTED, How
from secateur.index.graph.resolve.expressions import Elements, Expressions, Foreign, Value, split
from secateur.index.graph.resolve.names import Names
from secateur.index.graph.resolve.symbols import OVERLOADS, plain_receiver
from secateur.languages.rust.imports import crate_of
from secateur.languages.syntax.import_targets import EXTERNAL, Gids, Module, Target, use_dots
from secateur.languages.syntax.names import CALLED_ITSELF, MACRO
from secateur.languages.traits import BUILTIN_METHODS
from secateur.model import FragmentKind

CallTarget = tuple[int, int, How]  # (definition, confidence per mille, rule)
_UNDECIDED = 3  # so many definitions that fit equally well are too many to trust any of them

# Grades of how well an argument fits a parameter; an unknown type fits a little.
_EXACT, _SUBCLASS, _CONVERTED, _ANYTHING, _UNKNOWN = 8, 6, 4, 2, 3


class Overloads:
    """Selects among definitions of one name in one class."""

    def __init__(self, expressions: Expressions) -> None:
        self._expressions = expressions
        self._names = expressions.names
        self._symbols = expressions.symbols

    def select(self, file: int, cls: int, targets: tuple[CallTarget, ...], arguments: str) -> tuple[CallTarget, ...]:
        """Drops the targets that do not fit the arguments, which are written in a file inside class `cls`."""
        passed = split(arguments)
        called: dict[int, int] = {}  # definition -> how well it fits
        refused: set[int] = set()
        declaring: list[int] = []  # classes that declare a method of that name without a body
        for gid, _, how in targets:
            if gid in self._symbols.parameters:
                fit = self._fit(file, cls, passed, gid)
                if how in (How.IMPLEMENTATION, How.OVERRIDE):
                    if fit < 0:
                        refused.add(gid)
                else:
                    called[gid] = fit
            elif how is not How.CONSTRUCTOR and self._names.is_class(gid):
                declaring.append(gid)
        best = max(called.values(), default=-1)
        if best >= 0 or declaring:
            refused.update(gid for gid, fit in called.items() if fit < max(best, 0))
        if best >= 0:
            refused.update(declaring)
        undecided = sum(gid not in refused for gid in called) >= _UNDECIDED
        kept = [target for target in targets if target[0] not in refused] or list(targets)
        return tuple(
            (gid, CONFIDENCE[How.AMBIGUOUS], how) if undecided and gid in called else (gid, confidence, how)
            for gid, confidence, how in kept
        )

    def _fit(self, file: int, cls: int, passed: list[str], gid: int) -> int:
        """Scores how well arguments fit the parameters of a definition; -1 if they do not fit."""
        if (wanted := split(self._symbols.parameters[gid])) and wanted[-1].endswith("..."):
            if len(passed) < len(wanted) - 1:
                return -1
            last = wanted.pop().removesuffix("...")
            if len(passed) == len(wanted) + 1 and passed[-1].endswith("[]>"):
                wanted.append(f"{last}[]")
            else:
                wanted += [last] * (len(passed) - len(wanted))
            total = 0  # a definition with exactly as many parameters wins over a variadic one
        elif len(passed) != len(wanted):
            return -1
        else:
            total = 1
        for argument, parameter in zip(passed, wanted, strict=True):
            value, _ = self._expressions.value(file, cls, argument)
            fit = self._fits(file, value, gid, parameter)
            if fit < 0:
                return -1
            total += 2 * fit
        return total

    def _fits(self, file: int, value: Value, gid: int, parameter: str) -> int:
        written = ""  # the name of a foreign or container type
        if isinstance(value, Elements):
            written = f"{value.written}[]"
        elif isinstance(value, Foreign):
            written = value.written
        library = self._symbols.rules[file].library
        plain = parameter.rpartition(".")[2]
        if written == "null":
            return -1 if parameter in library.boxed else _UNKNOWN if parameter != library.root else _ANYTHING
        if written == "->":
            refused = parameter in library.boxed or plain in library.no_functions or parameter.endswith("[]")
            return -1 if refused else _UNKNOWN
        if not written and not isinstance(value, tuple):
            return _UNKNOWN if parameter != library.root else _ANYTHING
        if written:
            if written.rpartition(".")[2] == plain:
                return _EXACT
            if parameter in library.wider.get(written, ()):
                return _SUBCLASS - library.wider[written].index(parameter) % 3
            if library.boxed.get(written, library.unboxed.get(written)) == parameter or plain in (
                *library.supertypes.get(written, ()),
                *library.supertypes.get(library.boxed.get(written, ""), ()),
            ):
                return _CONVERTED
            if parameter == library.root or (parameter == f"{library.root}[]" and written.endswith("[]")):
                return _ANYTHING
            known = library.knows(written) and (library.knows(parameter) or self._class(gid, parameter) is not None)
            return -1 if known else _UNKNOWN - 2
        if (wanted := self._class(gid, parameter)) is None and plain == library.root:
            return _ANYTHING
        if wanted is None:
            return -1 if library.knows(parameter) or parameter.endswith("[]") else _UNKNOWN - 2
        own = value[0] if isinstance(value, tuple) else -1
        if own == wanted:
            return _EXACT
        order, opened = self._names.find_mro(own)
        return _SUBCLASS if wanted in order else _UNKNOWN - 2 if opened else -1

    def _class(self, gid: int, written: str) -> int | None:
        value = self._expressions.resolve_type(self._symbols.file_of[gid], self._symbols.class_of[gid], written)
        return value[0] if isinstance(value, tuple) else None


IMPLEMENTATIONS = 8  # the most implementations or overrides that a call is linked to: of many, each is unlikely
AMBIGUOUS = 3  # the most definitions of a name that a call is linked to if its receiver is unknown

# Confidence (per mille) that is subtracted if a name has several definitions in its scope: only one of them is called.
OVERLOAD_PENALTY = 100

_PLAIN = re.compile(r"[\w.$@]+")


class CallStatus(Enum):
    """The result of resolving a call site."""

    RESOLVED = auto()
    GUESSED = auto()
    EXTERNAL = auto()
    UNRESOLVED = auto()


class CallResolution(Struct, frozen=True):
    """The status of a call site, and its targets: (definition, confidence per mille, rule)."""

    status: CallStatus
    targets: tuple[tuple[int, int, How], ...] = ()


OUTSIDE = CallResolution(CallStatus.EXTERNAL)
UNKNOWN = CallResolution(CallStatus.UNRESOLVED)


class CallResolver:
    """Resolves call sites. Equal call sites of one scope are resolved once."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.symbols = names.symbols
        self.expressions = expressions.Expressions(names)
        self.overloads = Overloads(self.expressions)
        self._memo: dict[tuple[int, int, str, str], CallResolution] = {}
        self._on_classes: dict[tuple[int, int, str, How, bool], CallResolution] = {}

    def resolve(self, file: int, gid: int, written: str, name: str, arguments: str = "") -> CallResolution:
        """Resolves `written.name(arguments)` in a file, inside fragment `gid`; `written` is "" for a plain call."""
        receiver = plain_receiver(written, self.symbols.rules[file])
        local = receiver.partition(".")[0] if receiver else name
        cls = self.symbols.class_of[gid]
        if local in self.symbols.locals.get(gid, ()) or (not receiver and file in self.symbols.nests_functions):
            outcome = self._resolve(file, gid, cls, receiver, name)
        else:
            key = (file, cls, receiver, name)
            if key not in self._memo:
                self._memo[key] = self._resolve(file, gid, cls, receiver, name)
            outcome = self._memo[key]
        if arguments and len(outcome.targets) > 1:
            return CallResolution(outcome.status, self.overloads.select(file, cls, outcome.targets, arguments))
        return outcome

    def _resolve(self, file: int, gid: int, cls: int, receiver: str, name: str) -> CallResolution:
        if not receiver:
            return self._bare(file, gid, cls, name)
        if receiver.startswith(CALLED_ITSELF):
            return self._value_called(file, cls, receiver[len(CALLED_ITSELF) :])
        if receiver == MACRO:
            return self._macro(file, cls, name)
        if receiver.endswith("?"):
            return self._inside_anonymous(file, gid, cls, receiver[:-1], name)
        rules = self.symbols.rules[file]
        head = receiver.partition(".")[0]
        if receiver in rules.self_words and cls >= 0:
            return self._on_class(cls, name, How.SAME_SCOPE, own=True)
        if cls >= 0 and receiver in rules.super_words:
            return self._on_super(cls, name)
        target, how = self._receiver(file, gid, cls, receiver, head)
        if target is EXTERNAL:
            return OUTSIDE
        if isinstance(target, Module):
            return self._in_module(target, name, how)
        if target and self.names.is_class(target[0]):
            if name == rules.instance_method:
                return self._make_edges(target, How.CONSTRUCTOR)
            return self._on_class(target[0], name, how)
        if rules.has_namespaces:
            named, tail = self.symbols.functions[self.symbols.family[file]].get(name, ()), f".{receiver}.{name}"
            inside = [other for other in named if f".{self.symbols.fragments[other].qualname}".endswith(tail)]
            if inside:
                return self._link_by_name(file, inside)
        return self._by_name(file, name, method=True)

    def _inside_anonymous(self, file: int, gid: int, cls: int, extended: str, name: str) -> CallResolution:
        """Resolves a plain call in a class without a name: to a method of the class that it extends, else as a call
        outside of the anonymous class."""
        target, _ = self.expressions.receiver(file, cls, extended)
        if isinstance(target, tuple) and (
            self.names.find_method(target[0], name)[0] or self.names.find_declaring_class(target[0], f"{name}()") >= 0
        ):
            return self._on_class(target[0], name, How.SELF_MRO)
        return self._bare(file, gid, cls, name)

    # --- plain calls --------------------------------------------------------------------------------------------------

    def _bare(self, file: int, gid: int, cls: int, name: str) -> CallResolution:
        rules = self.symbols.rules[file]
        if name in rules.super_words and cls >= 0 and rules.super_is_constructor:
            return self._on_super(cls, "")
        if (written := self.symbols.locals.get(gid, {}).get(name)) is not None:
            target = self.names.resolve_type(file, use_dots(written))
            return OUTSIDE if target is EXTERNAL else self._callable_instance(target)
        if file in self.symbols.nests_functions and (inner := self._nested_function(file, gid, name)) >= 0:
            return self._make_edges((inner,), How.SAME_SCOPE)
        opened = False
        if rules.implicit_self:
            owner = cls
            while owner >= 0:
                methods, holder = self.names.find_method(owner, name)
                if methods and self.symbols.fragments[holder].name == name:
                    return self._make_edges((holder,), How.SAME_SCOPE)  # a constructor, by the name of its class
                if methods or (
                    rules.calls_carry_arguments and self.names.find_declaring_class(owner, f"{name}()") >= 0
                ):
                    if rules.calls_carry_arguments:
                        return self._on_class(owner, name, How.SAME_SCOPE, own=True)
                    return self._make_edges(methods, How.SAME_SCOPE if holder == cls else How.SELF_MRO)
                opened |= self.names.find_mro(owner)[1]
                owner = self.symbols.outer[owner]
        if rules.has_inner_modules and (inside := self._in_modules(cls, name)):
            return self._make_edges(inside, How.SAME_SCOPE)
        module = self.symbols.modules[file]
        if name in module.names:
            return self._make_edges(module.names[name], How.SAME_SCOPE)
        if (target := self.names.resolve_name(file, name)) is EXTERNAL:
            return OUTSIDE
        if isinstance(target, Module):
            return self._make_edges(self.names.default_export(target, name), How.DEFAULT_EXPORT)
        if target:
            if name in module.variables:
                if rules.names_are_values:
                    return self._variable_called(*module.variables[name])
                return self._callable_instance(target)
            entry = module.imports.get(name)
            default = entry is not None and entry[1].symbol in ("default", "") and rules.has_default_export
            return self._make_edges(target, How.DEFAULT_EXPORT if default else How.IMPORT if entry else How.PACKAGE)
        if cls >= 0 and rules.implicit_self and opened:
            return OUTSIDE
        return self._by_name(file, name, method=False)

    def _in_modules(self, cls: int, name: str) -> Gids:
        """Returns the definitions of a plain name in the modules that surround a class inside its file, never a method.
        `Self` is the class itself."""
        if name == "Self" and cls >= 0:
            is_module = any(
                self.symbols.fragments[gid].kind is FragmentKind.FUNCTION
                for definitions in self.symbols.members.get(cls, {}).values()
                for gid in definitions
            )
            return () if is_module else (cls,)  # in a module, `Self` is a type inside a function
        while cls >= 0:
            definitions = self.symbols.members.get(cls, {}).get(name, ())
            if definitions and self.symbols.fragments[definitions[0]].kind is not FragmentKind.METHOD:
                return definitions
            cls = self.symbols.outer[cls]
        return ()

    def _macro(self, file: int, cls: int, name: str) -> CallResolution:
        """Resolves a macro: to one that the file knows, else to the only one of the crate or of the repository. A macro
        is visible in all code after its definition."""
        if name in self.symbols.rules[file].builtins:
            return OUTSIDE
        if (outcome := self._bare(file, -1, cls, name)) is not UNKNOWN:
            return outcome
        named = self.symbols.functions[self.symbols.family[file]].get(name, ())
        macros = [gid for gid in named if not self.names.is_class(gid)]
        here = crate_of(self.symbols.paths[file])
        near = [gid for gid in macros if crate_of(self.symbols.paths[self.symbols.file_of[gid]]) == here] or macros
        return self._make_edges(near, How.LINKAGE) if len(near) == 1 else UNKNOWN

    def _nested_function(self, file: int, gid: int, name: str) -> int:
        qualified, scope = self.symbols.qualified[file], self.symbols.fragments[gid].qualname
        while scope:
            holder, inner = qualified.get(scope), qualified.get(f"{scope}.{name}")
            in_function = holder is not None and not self.names.is_class(holder)
            if inner is not None and inner not in self.symbols.titles and in_function:
                return inner
            scope = scope.rpartition(".")[0]
        return -1

    def _variable_called(self, file: int, written: str) -> CallResolution:
        return self._value_called(file, -1, written[1:] if written.startswith("=") else f"<{written}>")

    def _value_called(self, file: int, cls: int, value: str) -> CallResolution:
        target, how = self.expressions.receiver(file, cls, value)
        if target is EXTERNAL:
            return OUTSIDE
        if isinstance(target, Module) or not target:
            return UNKNOWN
        if not self.names.is_class(target[0]):
            return self._make_edges(target, how)
        called = self._callable_instance(target)
        is_value = called is not UNKNOWN or value.endswith((")", ">", "]"))
        return called if is_value else self._make_edges(target, how)

    def _callable_instance(self, target: Target) -> CallResolution:
        if isinstance(target, tuple) and self.names.is_class(target[0]):
            methods, _ = self.names.find_method(target[0], "__call__")
            if methods:
                return self._make_edges(methods, How.ANNOTATION)
        return UNKNOWN

    # --- receivers ----------------------------------------------------------------------------------------------------

    def _receiver(self, file: int, gid: int, cls: int, receiver: str, head: str) -> tuple[Target, How]:
        rules = self.symbols.rules[file]
        if rules.receivers_are_chains:
            return self.expressions.receiver(file, cls, receiver)
        how = How.ANNOTATION
        if not _PLAIN.fullmatch(receiver):
            return None, how
        target: Target
        if head in rules.self_words and cls >= 0:
            target = (cls,)
        elif (written := self.symbols.locals.get(gid, {}).get(head)) is not None:
            target = self.names.resolve_type(file, written)
        elif cls >= 0 and rules.implicit_self and (of_field := self.names.field_type(cls, head)) is not None:
            target = of_field
        else:
            if (target := self.names.resolve_name(file, head)) is None:
                if head in rules.builtins:
                    return EXTERNAL, how
                target = self.names.find_unimported_class(file, head)
                how = How.LINKAGE
            elif head not in self.symbols.modules[file].variables:
                module = self.symbols.modules[file]
                how = How.SAME_SCOPE if head in module.names else How.IMPORT if head in module.imports else How.PACKAGE
        for segment in receiver.split(".")[1:]:
            if target is None:
                break
            before = target
            target = self.names.resolve_attribute(target, segment)
            if isinstance(before, tuple) and how is not How.LINKAGE:
                how = How.ANNOTATION
            target = self.names.resolve_value(target)
        return target, how

    def _in_module(self, module: Module, name: str, how: How) -> CallResolution:
        target = self.names.resolve_member(module, name)
        if isinstance(target, Module) and target is not EXTERNAL:
            target = self.names.default_export(target, name)
        if target is EXTERNAL:
            return OUTSIDE
        if target is None and (default := self.names.default_export(module, name)) and self.names.is_class(default[0]):
            methods, _ = self.names.find_method(default[0], name)
            return self._make_edges(methods, How.DEFAULT_EXPORT)
        return self._make_edges(target if isinstance(target, tuple) else None, how)

    def _on_super(self, cls: int, name: str) -> CallResolution:
        order, opened = self.names.find_mro(cls)
        if name and len(order) > 1 and self.names.rules_of_definition(cls).calls_carry_arguments:
            outcome = self._on_class(order[1], name, How.SUPER)
            return OUTSIDE if outcome is UNKNOWN and opened else outcome
        if name and name not in ("constructor", "__construct"):
            methods, _ = self.names.find_method(cls, name, skip_own=True)
        else:
            methods = self.names.constructor(order[1]) if len(order) > 1 else ()
        if methods:
            return self._make_edges(methods, How.SUPER)
        return OUTSIDE if opened or len(order) == 1 else UNKNOWN

    def _on_class(self, cls: int, name: str, how: How, *, own: bool = False) -> CallResolution:
        key = (self.names.asker, cls, name, how, own)
        if key not in self._on_classes:
            self._on_classes[key] = self._method_called(cls, name, how, own)
        return self._on_classes[key]

    def _method_called(self, cls: int, name: str, how: How, own: bool) -> CallResolution:
        rules = self.names.rules_of_definition(cls)
        methods, holder = self.names.find_method(cls, name)
        if methods:
            rule = How.SELF_MRO if own and holder != cls else how
            base = self._make_edges(self.names.overloads(cls, name), rule)
            fragments = [self.symbols.fragments[gid] for gid in methods]
            declared_only = all(fragment.sig_end >= fragment.line_end for fragment in fragments)
            below = How.IMPLEMENTATION if declared_only else How.OVERRIDE
            extra = [
                (gid, CONFIDENCE[below], below)
                for gid in self.names.implementations(cls, name, IMPLEMENTATIONS)
                if gid not in methods
            ]
            declaring = self.names.find_declaring_class(cls, f"{name}()") if rules.calls_carry_arguments else -1
            if declaring >= 0:
                extra.append((declaring, CONFIDENCE[rule], rule))
            return CallResolution(base.status, (*base.targets, *extra))
        if (owner := self.names.find_declaring_class(cls, f"{name}()")) >= 0:
            return self._declared_only(owner, cls, name, how)
        if rules.names_are_values and (owner := self.names.find_declaring_class(cls, name)) >= 0:
            return self._variable_called(self.symbols.file_of[owner], self.symbols.fields[owner][name])
        field = self.names.field_type(cls, name)
        if isinstance(field, tuple):
            return self._callable_instance(field)
        below_only = self.names.implementations(cls, name, IMPLEMENTATIONS) if not rules.embeds_types else []
        if below_only:
            targets = tuple((gid, CONFIDENCE[How.IMPLEMENTATION], How.IMPLEMENTATION) for gid in below_only)
            return CallResolution(CallStatus.RESOLVED, targets)
        if field is EXTERNAL or self.names.find_mro(cls)[1] or name in rules.wrappers:
            return OUTSIDE
        if own or rules.opens_types:  # the class that uses a mixin, or an interface implemented elsewhere, may have it
            return self._by_name(self.symbols.file_of[cls], name, method=True)
        return UNKNOWN

    def _declared_only(self, owner: int, cls: int, name: str, how: How) -> CallResolution:
        """Resolves a call of a method that a class only declares, without a fragment of its own: to the class and to
        the implementations. A single implementation is trusted."""
        below = self.names.implementations(cls, name, IMPLEMENTATIONS)
        # a type that embeds an interface need not be the one that is called
        is_certain = len(below) == 1 and not self.names.rules_of_definition(owner).embeds_types
        confidence = CONFIDENCE[How.IMPLEMENTATION if is_certain else How.OVERRIDE]
        return CallResolution(
            CallStatus.RESOLVED,
            ((owner, CONFIDENCE[how], how), *((gid, confidence, How.IMPLEMENTATION) for gid in below)),
        )

    # --- the last resort ----------------------------------------------------------------------------------------------

    def _by_name(self, file: int, name: str, *, method: bool) -> CallResolution:
        family, rules = self.symbols.family[file], self.symbols.rules[file]
        if method:
            if name in BUILTIN_METHODS or name.startswith("__"):
                return UNKNOWN
            candidates = self.symbols.methods.get(family, {}).get(name, ())
        else:
            if name in rules.builtins:
                return OUTSIDE
            candidates = self.symbols.functions.get(family, {}).get(name, ())
            if rules.links_by_name:
                return self._link_by_name(file, candidates)
            if not rules.guesses_functions:
                return UNKNOWN  # no scope of a lexically scoped language knows it: a builtin, a parameter or a local
        if not candidates or len(candidates) > AMBIGUOUS:
            return UNKNOWN
        how = How.UNIQUE_NAME if len(candidates) == 1 else How.AMBIGUOUS
        return CallResolution(CallStatus.GUESSED, tuple((gid, CONFIDENCE[how], how) for gid in candidates))

    def _link_by_name(self, file: int, candidates: list[int] | Gids) -> CallResolution:
        """Resolves a call in a language that links by name: to a function of the same folder, else to the only one."""
        if not candidates:
            return UNKNOWN
        near = list(candidates)
        if len(candidates) > 1:
            folder = self.symbols.paths[file].rpartition("/")[0]
            first = candidates[: 8 * IMPLEMENTATIONS]
            same_folder = [
                gid for gid in first if self.symbols.paths[self.symbols.file_of[gid]].rpartition("/")[0] == folder
            ]
            near = same_folder or list(first)
            definitions = {(self.symbols.file_of[gid], self.symbols.fragments[gid].qualname) for gid in near}
            if len(definitions) != 1 or len(near) > OVERLOADS:
                if len(candidates) > AMBIGUOUS:
                    return UNKNOWN
                return CallResolution(
                    CallStatus.GUESSED, tuple((gid, CONFIDENCE[How.AMBIGUOUS], How.AMBIGUOUS) for gid in candidates)
                )
        return self._make_edges(tuple(near), How.LINKAGE)

    def _make_edges(self, definitions: Gids | list[int] | None, how: How) -> CallResolution:
        if not definitions:
            return UNKNOWN
        confidence = CONFIDENCE[how] - (OVERLOAD_PENALTY if len(definitions) > 1 else 0)
        targets: list[tuple[int, int, How]] = []
        for gid in definitions:
            if self.names.is_class(gid):
                constructed = min(confidence, CONFIDENCE[How.CONSTRUCTOR])
                targets.append((gid, constructed, How.CONSTRUCTOR))
                targets.extend((member, constructed, How.CONSTRUCTOR) for member in self.names.constructor(gid))
            else:
                targets.append((gid, confidence, how))
        return CallResolution(CallStatus.RESOLVED if confidence >= TRUSTED else CallStatus.GUESSED, tuple(targets))
