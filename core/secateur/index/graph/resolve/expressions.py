"""Resolves expressions: from the chains of names that `languages/syntax/scopes.py` writes to classes, modules and
containers.

Only declared types are followed: of fields, of module-level variables, of what functions return. Whatever a chain meets
that is not of this repository ends it as EXTERNAL; whatever says nothing of its type ends it as unknown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from secateur.index.graph.resolve.edges import How
from secateur.index.graph.resolve.names import Names
from secateur.languages.syntax.import_targets import EXTERNAL, Gids, Module, Target
from secateur.model import FragmentKind

OF_RECEIVER = "=self"
"""The type of methods that return what they are called on."""

_VARIABLES = 8
"""Module-level variables made from one another that are followed."""

_SEGMENT = re.compile(r"(<[^<>]*>|[^.<>()\[\]#]+)((?:\(\d*\)|\[\]|#\d+)*)(?:\.|$)")
_SUFFIX = re.compile(r"\(\d*\)(?:#\d+)?|\[\]")


@dataclass(frozen=True, slots=True)
class Elements:
    """A container, by the type of its elements as written in a file inside a class (-1: in none)."""

    number: int
    cls: int
    written: str


@dataclass(frozen=True, slots=True)
class Function:
    """A function kept in a field or variable, by the type it returns."""

    number: int
    cls: int
    written: str


@dataclass(frozen=True, slots=True)
class Foreign:
    """A value of a type that is not of this repository, as written in a file."""

    number: int
    written: str


Value = Target | Elements | Function | Foreign


class Expressions:
    """Values of expressions; equal ones of one class share an answer."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.symbols = names.symbols
        self._memo: dict[
            tuple[int, int, str], tuple[Value, How, int]
        ] = {}  # and how many variables deep that was found
        self._cut: dict[
            tuple[int, int, str], tuple[Value, How]
        ] = {}  # what is deeper than is followed, asked from the top
        self._reached = 0

    def receiver(self, number: int, cls: int, text: str) -> tuple[Target, How]:
        """The class or module an expression in file `number`, inside class `cls` (-1: in none), is, and by which
        rule."""
        value, how = self.value(number, cls, text)
        return (EXTERNAL if isinstance(value, Elements | Function | Foreign) else value), how

    def value(self, number: int, cls: int, text: str, depth: int = 0) -> tuple[Value, How]:
        """The value of an expression, and the rule that tells it: the same whatever was asked before, so an answer that
        went too deep is remembered for the top alone."""
        key = (number, cls, text)
        known = self._memo.get(key)
        if known is not None and depth + known[2] <= _VARIABLES:
            self._reached = max(self._reached, depth + known[2])
            return known[0], known[1]
        if depth == 0 and key in self._cut:
            return self._cut[key]
        if depth > _VARIABLES:
            self._reached = depth
            return None, How.ANNOTATION
        outer, self._reached = self._reached, depth
        found = self._value(number, cls, text, depth)
        if self._reached <= _VARIABLES:
            self._memo[key] = (*found, self._reached - depth)
        elif depth == 0:
            self._cut[key] = found
        self._reached = max(outer, self._reached)
        return found

    def _value(self, number: int, cls: int, text: str, depth: int) -> tuple[Value, How]:
        segments = _segments(text)
        if not segments:
            return None, How.ANNOTATION
        (head, suffixes), *rest = segments
        value, how = self._head(number, cls, head, suffixes, depth)
        for name, suffixes in rest:
            if value is None or value is EXTERNAL:
                break
            value = self._member(value, name, suffixes, depth)
            how = How.ANNOTATION
        return value, how

    # --- the first name of a chain ------------------------------------------------------------------------------------

    def _head(self, number: int, cls: int, head: str, suffixes: list[str], depth: int) -> tuple[Value, How]:
        how = How.ANNOTATION
        rules = self.symbols.rules[number]
        if head.startswith("<"):
            return self._rest(self.typed(number, cls, head[1:-1], depth), suffixes, depth), how
        if head in rules.self_words and cls >= 0:
            return self._rest((cls,), suffixes, depth), how
        if head in rules.super_words and cls >= 0:
            order, _ = self.names.order(cls)
            return (self._rest((order[1],), suffixes, depth) if len(order) > 1 else EXTERNAL), how
        call = bool(suffixes) and suffixes[0].startswith("(")
        owner = cls if rules.implicit_self else -1
        while owner >= 0:
            if (found := self._of_class(owner, head, suffixes, depth)) is not None:
                return found, how
            owner = self.symbols.outer[owner]
        module, package = self.symbols.modules[number], self.symbols.package_of[number]
        for scope in (module, package):
            if scope is not None and head in scope.variables:
                return self._rest(self._variable(scope, head, depth), suffixes, depth), how
        target = self._scope(number, cls, head)
        if target is None:
            return (EXTERNAL if head in rules.builtins else None), how
        if call and isinstance(target, tuple):
            return self._called(target, suffixes, depth), how
        if not suffixes:
            how = How.SAME_SCOPE if head in module.names else How.IMPORT if head in module.imports else How.PACKAGE
        return self._rest(target, suffixes, depth), how

    def _scope(self, number: int, cls: int, name: str) -> Target:
        """The meaning of a name inside a class: a class nested in it, in what it inherits from or in what holds it (a
        function only in a module of Rust), else what it means in the file."""
        owner = cls
        while owner >= 0:
            found, _ = self.names.method(owner, name)
            if found and (
                self.names.is_class(found[0]) or self.symbols.fragments[found[0]].kind is FragmentKind.FUNCTION
            ):
                return found
            owner = self.symbols.outer[owner]
        return self.names.in_file(number, name)

    def _variable(self, scope: Module, name: str, depth: int) -> Value:
        number, written = scope.variables[name]
        return self.typed(number, -1, written, depth)

    # --- types --------------------------------------------------------------------------------------------------------

    def typed(self, number: int, cls: int, written: str, depth: int = 0) -> Value:
        """A value of a type written in a file inside a class; `=...` is the type of an expression."""
        if not written:
            return None
        if written == OF_RECEIVER and cls >= 0:
            return (cls,)
        if written.startswith("="):
            return self.value(number, cls, written[1:], depth + 1)[0]
        if written.endswith("[]"):
            return Elements(number, cls, written[:-2])
        if written.endswith("()"):
            return Function(number, cls, written[:-2])
        head, _, rest = written.partition(".")
        target = self._scope(number, cls, head)
        for segment in rest.split(".") if rest else ():
            target = self.names.attribute(target, segment) if target is not None else None
        if isinstance(target, Module) or target is None:
            return Foreign(number, written)
        return target if self.names.is_class(target[0]) else None

    # --- members ------------------------------------------------------------------------------------------------------

    def _member(self, value: Value, name: str, suffixes: list[str], depth: int) -> Value:
        if isinstance(value, Elements | Function | Foreign):
            rules = self.symbols.rules[value.number]
            if isinstance(value, Elements):
                if name in rules.same_methods:
                    return self._rest(value, suffixes[1:], depth)
                if name in rules.element_methods:
                    return self._rest(self.typed(value.number, value.cls, value.written, depth), suffixes[1:], depth)
            elif len(suffixes) != 1 or not suffixes[0].startswith("("):
                return EXTERNAL
            return Foreign(value.number, returned) if (returned := rules.library.returns.get(name)) else EXTERNAL
        if isinstance(value, Module):
            if name in value.variables:
                return self._rest(self._variable(value, name, depth), suffixes, depth)
            target = self.names.member(value, name)
            call = bool(suffixes) and suffixes[0].startswith("(")
            return (
                self._called(target, suffixes, depth)
                if call and isinstance(target, tuple)
                else self._rest(target, suffixes, depth)
            )
        if not value or not self.names.is_class(value[0]):
            return None
        found = self._of_class(value[0], name, suffixes, depth)
        if found is None and name in self.names.rules_of(value[0]).wrappers:
            return self._rest(value, suffixes[1:], depth)
        return found

    def _of_class(self, cls: int, name: str, suffixes: list[str], depth: int) -> Value:
        """`name` on a value of a class: what its method returns, its field, a class nested in it."""
        call = bool(suffixes) and suffixes[0].startswith("(")
        if not call and not self._attributes_call(cls) and (field := self._declared(cls, name, depth)) is not None:
            return self._rest(field, suffixes, depth)  # methods and fields are named apart
        found = self.names.overloads(cls, name)
        if found:
            if self.names.is_class(found[0]):
                return self._rest(found, suffixes, depth)
            if call:
                return self._called(found, suffixes, depth, cls)
            return self._called(found, ["()", *suffixes], depth, cls) if self._attributes_call(cls) else None
        if call and (declared := self._declared(cls, f"{name}()", depth)) is not None:
            return self._rest(declared, suffixes[1:], depth)
        if (field := self._declared(cls, name, depth)) is not None:
            return self._rest(field, suffixes, depth)
        if name in self.names.rules_of(cls).element_methods and (held := self._declared(cls, "[]", depth)) is not None:
            return self._rest(held, suffixes[1:], depth)
        _, variant, field_of_struct = name.partition("@")
        return self._of_class(cls, field_of_struct, suffixes, depth) if variant else None

    def _declared(self, cls: int, name: str, depth: int) -> Value:
        """Resolves a name that a class or one above it declares."""
        owner = self.names.declares(cls, name)
        return (
            self.typed(self.symbols.file_of[owner], owner, self.symbols.fields[owner][name], depth)
            if owner >= 0
            else None
        )

    def _attributes_call(self, gid: int) -> bool:
        """Tells whether reading an attribute may run a method, and calling a class makes an instance."""
        return self.names.rules_of(gid).names_are_values

    def _called(self, found: Gids, suffixes: list[str], depth: int, cls: int = -1) -> Value:
        """The value that calling definitions on a value of class `cls` yields: of a class an instance, of functions
        what all of them are declared to return."""
        if self.names.is_class(found[0]):
            return self._rest(found[:1], suffixes[1:], depth)
        count, _, number = suffixes[0][1:].partition(")")
        taking = [gid for gid in found if takes(self.symbols.parameters.get(gid), int(count))] if count else []
        if number:
            written = {self.symbols.further_returns.get((gid, int(number[1:])), "") for gid in found}
        else:
            written = {self.symbols.returns.get(gid, "") for gid in taking or found}
        if len(written) != 1:
            return None
        gid, result = (taking or found)[0], written.pop()
        inside = cls if result == OF_RECEIVER and cls >= 0 else self.symbols.class_of[gid]
        value = self.typed(self.symbols.file_of[gid], inside, result, depth)
        return self._rest(value, suffixes[1:], depth)

    def _rest(self, value: Value, suffixes: list[str], depth: int) -> Value:
        """`value` called and indexed."""
        for suffix in suffixes:
            if value is None or value is EXTERNAL:
                return value
            if suffix == "[]":
                if isinstance(value, Elements):
                    value = self.typed(value.number, value.cls, value.written, depth)
                elif isinstance(value, tuple) and (held := self._declared(value[0], "[]", depth)) is not None:
                    value = held
                elif isinstance(value, tuple) and self.names.rules_of(value[0]).wrappers:
                    continue
                elif isinstance(value, tuple) and self._attributes_call(value[0]) and self.names.is_class(value[0]):
                    self._reached = max(self._reached, depth)
                    if depth > _VARIABLES:  # an iterator that gives itself
                        return None
                    value = self._of_class(value[0], "__getitem__", ["()"], depth + 1) or self._of_class(
                        value[0], "__iter__", ["()", "[]"], depth + 1
                    )
                else:
                    return None
            elif isinstance(value, Function):
                value = self.typed(value.number, value.cls, value.written, depth)
            elif isinstance(value, tuple) and self._attributes_call(value[0]):
                value = self._called(value, [suffix], depth)
            else:
                return None
        return value


def takes(parameters: str | None, arguments: int) -> bool:
    """Tells whether a function of parameters "(A,B...)" can be called with this number of arguments."""
    if parameters is None:
        return False
    wanted = split(parameters)
    return len(wanted) == arguments or bool(wanted and wanted[-1].endswith("...") and arguments >= len(wanted) - 1)


def split(text: str) -> list[str]:
    """The parts of "(A,B)"."""
    inside = text[1:-1]
    return inside.split(",") if inside else []


def _segments(text: str) -> list[tuple[str, list[str]]]:
    """(name, what follows it) of each link of a chain; none if it is no chain."""
    out: list[tuple[str, list[str]]] = []
    at = 0
    while at < len(text):
        match = _SEGMENT.match(text, at)
        if match is None:
            return []
        out.append((match[1], _SUFFIX.findall(match[2])))
        at = match.end()
    return out
