"""Resolves call sites to definitions: the rules, strongest first, and the confidence of each.

Scope, then `self` and the class hierarchy, then imports and packages, then the receiver's declared type, then the only
definition of that name. A rule that knows the answer to be outside the repository ends the search: no guess by name
follows it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto

from secateur.index.graph.resolve import expressions
from secateur.index.graph.resolve.edges import CONFIDENCE, TRUSTED, How
from secateur.index.graph.resolve.names import Names
from secateur.index.graph.resolve.overloads import Overloads
from secateur.index.graph.resolve.symbols import OVERLOADS, plain_receiver
from secateur.languages.rust.imports import crate_of
from secateur.languages.syntax.import_targets import EXTERNAL, Gids, Module, Target, dotted
from secateur.languages.syntax.scopes import CALLED_ITSELF, MACRO
from secateur.model import FragmentKind

IMPLEMENTATIONS = 8
"""Implementations or overrides linked per call: a call on a widely implemented interface says little about each of
them."""

AMBIGUOUS = 3
"""Definitions of one name that are still worth a mention when the receiver is unknown."""

OVERLOAD_PENALTY = 100
"""Per mille taken off where a name has several definitions in the scope that was found and only one of them is
called."""

_PLAIN = re.compile(r"[\w.$@]+")


class CallStatus(Enum):
    """Says how a call site was resolved."""

    RESOLVED = auto()
    GUESSED = auto()
    EXTERNAL = auto()
    UNRESOLVED = auto()


@dataclass(frozen=True, slots=True)
class CallResolution:
    """Targets of a call site, each (definition, per mille, rule), and its status."""

    status: CallStatus
    targets: tuple[tuple[int, int, How], ...] = ()


OUTSIDE = CallResolution(CallStatus.EXTERNAL)
UNKNOWN = CallResolution(CallStatus.UNRESOLVED)


class CallResolver:
    """Answers call sites; equal sites of one scope share an answer."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.symbols = names.symbols
        self.expressions = expressions.Expressions(names)
        self.overloads = Overloads(self.expressions)
        self._memo: dict[tuple[int, int, str, str], CallResolution] = {}
        self._on_classes: dict[tuple[int, str, How, bool], CallResolution] = {}

    def resolve(self, number: int, gid: int, written: str, name: str, arguments: str = "") -> CallResolution:
        """The outcome of `written.name(arguments)` in file `number` inside fragment `gid`; `written` is "" for a plain
        call."""
        outcome = self._any_overload(number, gid, written, name)
        if arguments and len(outcome.targets) > 1:
            return CallResolution(
                outcome.status, self.overloads.select(number, self.symbols.class_of[gid], outcome.targets, arguments)
            )
        return outcome

    def _any_overload(self, number: int, gid: int, written: str, name: str) -> CallResolution:
        receiver = plain_receiver(written, self.symbols.rules[number])
        local = receiver.partition(".")[0] if receiver else name
        cls = self.symbols.class_of[gid]
        if local in self.symbols.locals.get(gid, ()) or (not receiver and number in self.symbols.nests_functions):
            return self._resolve(number, gid, cls, receiver, name)
        key = (number, cls, receiver, name)
        if key not in self._memo:
            self._memo[key] = self._resolve(number, gid, cls, receiver, name)
        return self._memo[key]

    def _resolve(self, number: int, gid: int, cls: int, receiver: str, name: str) -> CallResolution:
        if not receiver:
            return self._bare(number, gid, cls, name)
        if receiver.startswith(CALLED_ITSELF):
            return self._value_called(number, cls, receiver[len(CALLED_ITSELF) :])
        if receiver == MACRO:
            return self._macro(number, cls, name)
        if receiver.endswith("?"):
            return self._inside_anonymous(number, gid, cls, receiver[:-1], name)
        rules = self.symbols.rules[number]
        head = receiver.partition(".")[0]
        if receiver in rules.self_words and cls >= 0:
            return self._on_class(cls, name, How.SAME_SCOPE, own=True)
        if cls >= 0 and receiver in rules.super_words:
            return self._on_super(cls, name)
        target, how = self._receiver(number, gid, cls, receiver, head)
        if target is EXTERNAL:
            return OUTSIDE
        if isinstance(target, Module):
            return self._in_module(target, name, how)
        if target and self.names.is_class(target[0]):
            if name == rules.instance_method:
                return self._called(target, How.CONSTRUCTOR)
            return self._on_class(target[0], name, how)
        if rules.has_namespaces and (inside := self._in_namespace(rules.family, receiver, name)):
            return self._linked(number, inside)
        return self._by_name(number, name, method=True)

    def _inside_anonymous(self, number: int, gid: int, cls: int, extended: str, name: str) -> CallResolution:
        """A plain call in a class without a name: a method of what it extends, else what it would mean around the
        class."""
        target, _ = self.expressions.receiver(number, cls, extended)
        if isinstance(target, tuple) and (
            self.names.method(target[0], name)[0] or self.names.declares(target[0], f"{name}()") >= 0
        ):
            return self._on_class(target[0], name, How.SELF_MRO)
        return self._bare(number, gid, cls, name)

    def _in_namespace(self, family: str, namespace: str, name: str) -> list[int]:
        """Functions of a namespace, wherever it is reopened."""
        tail = f".{namespace}.{name}"
        return [
            gid
            for gid in self.symbols.functions[family].get(name, ())
            if f".{self.symbols.fragments[gid].qualname}".endswith(tail)
        ]

    # --- plain calls --------------------------------------------------------------------------------------------------

    def _bare(self, number: int, gid: int, cls: int, name: str) -> CallResolution:
        rules = self.symbols.rules[number]
        if name in rules.super_words and cls >= 0 and rules.super_is_constructor:
            return self._on_super(cls, "")
        if (written := self.symbols.locals.get(gid, {}).get(name)) is not None:
            target = self.names.declared(number, dotted(written))
            return OUTSIDE if target is EXTERNAL else self._callable_instance(target)
        if number in self.symbols.nests_functions and (inner := self._nested_function(number, gid, name)) >= 0:
            return self._called((inner,), How.SAME_SCOPE)
        opened = False
        if rules.implicit_self:
            owner = cls
            while owner >= 0:
                found, holder = self.names.method(owner, name)
                if found and self.symbols.fragments[holder].name == name:
                    return self._called((holder,), How.SAME_SCOPE)  # a constructor, by the name of its class
                if found or (rules.calls_carry_arguments and self.names.declares(owner, f"{name}()") >= 0):
                    return (
                        self._on_class(owner, name, How.SAME_SCOPE, own=True)
                        if rules.calls_carry_arguments
                        else self._called(found, How.SAME_SCOPE if holder == cls else How.SELF_MRO)
                    )
                opened |= self.names.order(owner)[1]
                owner = self.symbols.outer[owner]
        if rules.has_inner_modules and (found := self._in_modules(cls, name)):
            return self._called(found, How.SAME_SCOPE)
        module = self.symbols.modules[number]
        if name in module.names:
            return self._called(module.names[name], How.SAME_SCOPE)
        target = self.names.in_file(number, name)
        if target is EXTERNAL:
            return OUTSIDE
        if isinstance(target, Module):
            return self._called(self.names.default_export(target, name), How.DEFAULT_EXPORT)
        if target:
            if name in module.variables:
                return (
                    self._variable_called(*module.variables[name])
                    if rules.names_are_values
                    else self._callable_instance(target)
                )
            entry = module.imports.get(name)
            default = entry is not None and entry[1].symbol in ("default", "") and rules.has_default_export
            return self._called(target, How.DEFAULT_EXPORT if default else How.IMPORT if entry else How.PACKAGE)
        if cls >= 0 and rules.implicit_self and opened:
            return OUTSIDE
        return self._by_name(number, name, method=False)

    def _in_modules(self, cls: int, name: str) -> Gids:
        """Definitions that a plain name means in the modules written inside a file that hold a class: never a method.
        `Self` is the class."""
        if name == "Self" and cls >= 0:
            plain = any(
                self.symbols.fragments[gid].kind is FragmentKind.FUNCTION
                for found in self.symbols.members.get(cls, {}).values()
                for gid in found
            )
            return () if plain else (cls,)  # in a module: of a type inside a function
        while cls >= 0:
            found = self.symbols.members.get(cls, {}).get(name, ())
            if found and self.symbols.fragments[found[0]].kind is not FragmentKind.METHOD:
                return found
            cls = self.symbols.outer[cls]
        return ()

    def _macro(self, number: int, cls: int, name: str) -> CallResolution:
        """A macro: one that the file knows, else, as macros are seen in all that follows their definition, the
        only one of its crate or of all."""
        rules = self.symbols.rules[number]
        if name in rules.builtins:
            return OUTSIDE
        outcome = self._bare(number, -1, cls, name)
        if outcome is not UNKNOWN:
            return outcome
        found = [gid for gid in self.symbols.functions[rules.family].get(name, ()) if not self.names.is_class(gid)]
        here = crate_of(self.symbols.paths[number])
        near = [gid for gid in found if crate_of(self.symbols.paths[self.symbols.file_of[gid]]) == here] or found
        return self._called(near, How.LINKAGE) if len(near) == 1 else UNKNOWN

    def _nested_function(self, number: int, gid: int, name: str) -> int:
        """The function `name` defined inside the calling function or one that holds it; -1 if there is none."""
        qualified, scope = self.symbols.qualified[number], self.symbols.fragments[gid].qualname
        while scope:
            holder, inner = qualified.get(scope), qualified.get(f"{scope}.{name}")
            if (
                inner is not None
                and inner not in self.symbols.titles
                and holder is not None
                and not self.names.is_class(holder)
            ):
                return inner
            scope = scope.rpartition(".")[0]
        return -1

    def _variable_called(self, number: int, written: str) -> CallResolution:
        """A call of a field or variable of which a type is written in file `number`."""
        return self._value_called(number, -1, written[1:] if written.startswith("=") else f"<{written}>")

    def _value_called(self, number: int, cls: int, value: str) -> CallResolution:
        """A call of what an expression is: a function, a class, or an instance that can be called."""
        target, how = self.expressions.receiver(number, cls, value)
        if target is EXTERNAL:
            return OUTSIDE
        if isinstance(target, Module) or not target:
            return UNKNOWN
        if not self.names.is_class(target[0]):
            return self._called(target, how)
        called = self._callable_instance(target)
        if called is not UNKNOWN or value.endswith((")", ">", "]")):
            return called
        return self._called(target, how)

    def _callable_instance(self, target: Target) -> CallResolution:
        if isinstance(target, tuple) and self.names.is_class(target[0]):
            found, _ = self.names.method(target[0], "__call__")
            if found:
                return self._called(found, How.ANNOTATION)
        return UNKNOWN

    # --- receivers ----------------------------------------------------------------------------------------------------

    def _receiver(self, number: int, gid: int, cls: int, receiver: str, head: str) -> tuple[Target, How]:
        """The class or module a receiver is, and by which rule."""
        rules = self.symbols.rules[number]
        if rules.receivers_are_chains:
            return self.expressions.receiver(number, cls, receiver)
        how = How.ANNOTATION
        if not _PLAIN.fullmatch(receiver):
            return None, how
        rest = receiver.split(".")[1:]
        target: Target
        if head in rules.self_words and cls >= 0:
            target = (cls,)
        elif (written := self.symbols.locals.get(gid, {}).get(head)) is not None:
            target = self.names.declared(number, written)
        elif cls >= 0 and rules.implicit_self and (of_field := self.names.field_type(cls, head)) is not None:
            target = of_field
        else:
            target = self.names.in_file(number, head)
            if target is None:
                if head in rules.builtins:
                    return EXTERNAL, how
                target = self.names.linked_class(number, head)
                how = How.LINKAGE
            elif head not in self.symbols.modules[number].variables:
                module = self.symbols.modules[number]
                how = How.SAME_SCOPE if head in module.names else How.IMPORT if head in module.imports else How.PACKAGE
        for segment in rest:
            if target is None:
                break
            before = target
            target = self.names.attribute(target, segment)
            if isinstance(before, tuple) and how is not How.LINKAGE:
                how = How.ANNOTATION
            target = self.names.value(target)
        return target, how

    def _in_module(self, module: Module, name: str, how: How) -> CallResolution:
        target = self.names.member(module, name)
        if isinstance(target, Module) and target is not EXTERNAL:
            target = self.names.default_export(target, name)
        if target is EXTERNAL:
            return OUTSIDE
        if target is None and (default := self.names.default_export(module, name)) and self.names.is_class(default[0]):
            found, _ = self.names.method(default[0], name)
            return self._called(found, How.DEFAULT_EXPORT)
        return self._called(target if isinstance(target, tuple) else None, how)

    def _on_super(self, cls: int, name: str) -> CallResolution:
        order, opened = self.names.order(cls)
        if name and len(order) > 1 and self.names.rules_of(cls).calls_carry_arguments:
            outcome = self._on_class(order[1], name, How.SUPER)
            return OUTSIDE if outcome is UNKNOWN and opened else outcome
        if name and name not in ("constructor", "__construct"):
            found, _ = self.names.method(cls, name, skip_own=True)
        else:
            found = self.names.constructor(order[1]) if len(order) > 1 else ()
        if found:
            return self._called(found, How.SUPER)
        return OUTSIDE if opened or len(order) == 1 else UNKNOWN

    def _on_class(self, cls: int, name: str, how: How, *, own: bool = False) -> CallResolution:
        """A method called on an instance of a class or on the class, with what implements or overrides it."""
        key = (cls, name, how, own)
        if key not in self._on_classes:
            self._on_classes[key] = self._method_called(cls, name, how, own)
        return self._on_classes[key]

    def _method_called(self, cls: int, name: str, how: How, own: bool) -> CallResolution:
        rules = self.names.rules_of(cls)
        found, holder = self.names.method(cls, name)
        if found:
            rule = How.SELF_MRO if own and holder != cls else how
            base = self._called(self.names.overloads(cls, name), rule)
            declared_only = all(self._has_no_body(gid) for gid in found)
            below = How.IMPLEMENTATION if declared_only else How.OVERRIDE
            extra = [
                (gid, CONFIDENCE[below], below)
                for gid in self.names.implementations(cls, name, IMPLEMENTATIONS)
                if gid not in found
            ]
            declaring = self.names.declares(cls, f"{name}()") if rules.calls_carry_arguments else -1
            if declaring >= 0:
                extra.append((declaring, CONFIDENCE[rule], rule))
            return CallResolution(base.status, (*base.targets, *extra))
        if (owner := self.names.declares(cls, f"{name}()")) >= 0:
            return self._declared_only(owner, cls, name, how)
        if rules.names_are_values and (owner := self.names.declares(cls, name)) >= 0:
            return self._variable_called(self.symbols.file_of[owner], self.symbols.fields[owner][name])
        field = self.names.field_type(cls, name)
        if isinstance(field, tuple):
            return self._callable_instance(field)
        below_only = self.names.implementations(cls, name, IMPLEMENTATIONS) if not rules.embeds_types else []
        if below_only:
            return CallResolution(
                CallStatus.RESOLVED,
                tuple((gid, CONFIDENCE[How.IMPLEMENTATION], How.IMPLEMENTATION) for gid in below_only),
            )
        if field is EXTERNAL or self.names.order(cls)[1] or name in rules.wrappers:
            return OUTSIDE
        number = self.symbols.file_of[cls]
        guess = own or rules.opens_types  # a mixin's host, or an interface met by its methods alone
        return self._by_name(number, name, method=True) if guess else UNKNOWN

    def _declared_only(self, owner: int, cls: int, name: str, how: How) -> CallResolution:
        """A method that a class only declares, without a fragment of its own: the class, and what implements it,
        followed where that is one method."""
        below = self.names.implementations(cls, name, IMPLEMENTATIONS)
        # what embeds an interface need not be what is called
        alone = len(below) == 1 and not self.names.rules_of(owner).embeds_types
        confidence = CONFIDENCE[How.IMPLEMENTATION if alone else How.OVERRIDE]
        return CallResolution(
            CallStatus.RESOLVED,
            ((owner, CONFIDENCE[how], how), *((gid, confidence, How.IMPLEMENTATION) for gid in below)),
        )

    def _has_no_body(self, gid: int) -> bool:
        fragment = self.symbols.fragments[gid]
        return fragment.sig_end >= fragment.line_end

    # --- the last resort ----------------------------------------------------------------------------------------------

    def _by_name(self, number: int, name: str, *, method: bool) -> CallResolution:
        family, rules = self.symbols.family[number], self.symbols.rules[number]
        if method:
            if name in rules.builtin_methods or name.startswith("__"):
                return UNKNOWN
            found = self.symbols.methods.get(family, {}).get(name, ())
        else:
            if name in rules.builtins:
                return OUTSIDE
            found = self.symbols.functions.get(family, {}).get(name, ())
            if rules.links_by_name:
                return self._linked(number, found)
            if not rules.guesses_functions:
                return UNKNOWN  # lexically scoped, and no scope knows the name: a builtin, a parameter, a local
        if not found or len(found) > AMBIGUOUS:
            return UNKNOWN
        how = How.UNIQUE_NAME if len(found) == 1 else How.AMBIGUOUS
        return CallResolution(CallStatus.GUESSED, tuple((gid, CONFIDENCE[how], how) for gid in found))

    def _linked(self, number: int, found: list[int] | Gids) -> CallResolution:
        """A function of a language that links by name: the one in an included file or its namesake, else the only
        one."""
        if not found:
            return UNKNOWN
        if len(found) > 1:
            folder = self.symbols.paths[number].rpartition("/")[0]
            near = [
                gid
                for gid in found[: 8 * IMPLEMENTATIONS]
                if self.symbols.paths[self.symbols.file_of[gid]].rpartition("/")[0] == folder
            ]
            near = near or list(found[: 8 * IMPLEMENTATIONS])
            places = {(self.symbols.file_of[gid], self.symbols.fragments[gid].qualname) for gid in near}
            if len(places) != 1 or len(near) > OVERLOADS:
                return (
                    CallResolution(
                        CallStatus.GUESSED, tuple((gid, CONFIDENCE[How.AMBIGUOUS], How.AMBIGUOUS) for gid in found)
                    )
                    if len(found) <= AMBIGUOUS
                    else UNKNOWN
                )
            found = near
        return self._called(tuple(found), How.LINKAGE)

    def _called(self, found: Gids | list[int] | None, how: How) -> CallResolution:
        """Edges to definitions; a class is an edge to itself and to its constructor."""
        if not found:
            return UNKNOWN
        confidence = CONFIDENCE[how] - (OVERLOAD_PENALTY if len(found) > 1 else 0)
        targets: list[tuple[int, int, How]] = []
        for gid in found:
            if self.names.is_class(gid):
                made = min(confidence, CONFIDENCE[How.CONSTRUCTOR])
                targets.append((gid, made, How.CONSTRUCTOR))
                targets.extend((member, made, How.CONSTRUCTOR) for member in self.names.constructor(gid))
            else:
                targets.append((gid, confidence, how))
        return CallResolution(CallStatus.RESOLVED if confidence >= TRUSTED else CallStatus.GUESSED, tuple(targets))
