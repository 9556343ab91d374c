"""Resolves expressions, which `languages/syntax/scopes.py` writes as chains of names, to classes, modules and
containers.

Only declared types are followed: those of fields, module-level variables and function results. A chain that leaves the
repository ends as EXTERNAL; a chain that meets an undeclared type ends as unknown.
"""

import re

from msgspec import Struct

from secateur.index.graph.resolve.edges import How
from secateur.index.graph.resolve.names import Names
from secateur.languages.syntax.import_targets import EXTERNAL, Gids, Module, Target
from secateur.languages.traits import ELEMENT_METHODS, SAME_METHODS
from secateur.model import FragmentKind

OF_RECEIVER = "=self"  # the return type of methods that return their receiver
_VARIABLES = 8  # the longest chain of module-level variables that are made from one another

_SEGMENT = re.compile(r"(<[^<>]*>|[^.<>()\[\]#]+)((?:\(\d*\)|\[\]|#\d+)*)(?:\.|$)")
_SUFFIX = re.compile(r"\(\d*\)(?:#\d+)?|\[\]")


class Elements(Struct, frozen=True):
    """A container, with the type of its elements as written in a file, inside a class (-1: outside of classes)."""

    file: int
    cls: int
    written: str


class Function(Struct, frozen=True):
    """A function in a field or variable, with the type that it returns."""

    file: int
    cls: int
    written: str


class Foreign(Struct, frozen=True):
    """A value whose type is not of this repository, with the type as written in a file."""

    file: int
    written: str


Value = Target | Elements | Function | Foreign


class Expressions:
    """Finds the values of expressions. Equal expressions of one class are resolved once."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.symbols = names.symbols
        self._memo: dict[tuple[int, int, str], tuple[Value, How, int]] = {}  # with the depth of the answer
        self._cut: dict[tuple[int, int, str], tuple[Value, How]] = {}  # answers at depth 0 that went too deep
        self._reached = 0  # the greatest depth of the answer that is being worked out

    def receiver(self, file: int, cls: int, text: str) -> tuple[Target, How]:
        """Returns the class or module of an expression in a file, inside class `cls` (-1: outside of classes), and the
        rule that found it."""
        value, how = self.value(file, cls, text)
        return (EXTERNAL if isinstance(value, Elements | Function | Foreign) else value), how

    def value(self, file: int, cls: int, text: str, depth: int = 0) -> tuple[Value, How]:
        """Returns the value of an expression, and the rule that found it.

        The answer must not depend on earlier calls. So one that went too deep, and was cut, is kept only for calls that
        also begin at depth 0.
        """
        key = (file, cls, text)
        if (known := self._memo.get(key)) is not None and depth + known[2] <= _VARIABLES:
            self._reached = max(self._reached, depth + known[2])
            return known[0], known[1]
        if depth == 0 and key in self._cut:
            return self._cut[key]
        if depth > _VARIABLES:
            self._reached = depth
            return None, How.ANNOTATION
        outer, self._reached = self._reached, depth
        answer = self._value(file, cls, text, depth)
        if self._reached <= _VARIABLES:
            self._memo[key] = (*answer, self._reached - depth)
        elif depth == 0:
            self._cut[key] = answer
        self._reached = max(outer, self._reached)
        return answer

    def _value(self, file: int, cls: int, text: str, depth: int) -> tuple[Value, How]:
        if not (segments := _segments(text)):
            return None, How.ANNOTATION
        (head, suffixes), *rest = segments
        value, how = self._head(file, cls, head, suffixes, depth)
        for name, suffixes in rest:
            if value is None or value is EXTERNAL:
                break
            value = self._member(value, name, suffixes, depth)
            how = How.ANNOTATION
        return value, how

    # --- the first name of a chain ------------------------------------------------------------------------------------

    def _head(self, file: int, cls: int, head: str, suffixes: list[str], depth: int) -> tuple[Value, How]:
        how = How.ANNOTATION
        rules = self.symbols.rules[file]
        if head.startswith("<"):
            return self._rest(self.resolve_type(file, cls, head[1:-1], depth), suffixes, depth), how
        if head in rules.self_words and cls >= 0:
            return self._rest((cls,), suffixes, depth), how
        if head in rules.super_words and cls >= 0:
            order, _ = self.names.find_mro(cls)
            return (self._rest((order[1],), suffixes, depth) if len(order) > 1 else EXTERNAL), how
        call = bool(suffixes) and suffixes[0].startswith("(")
        owner = cls if rules.implicit_self else -1
        while owner >= 0:
            if (value := self._of_class(owner, head, suffixes, depth)) is not None:
                return value, how
            owner = self.symbols.outer[owner]
        module, package = self.symbols.modules[file], self.symbols.package_of[file]
        for scope in (module, package):
            if scope is not None and head in scope.variables:
                defined_in, written = scope.variables[head]
                return self._rest(self.resolve_type(defined_in, -1, written, depth), suffixes, depth), how
        if (target := self._scope(file, cls, head)) is None:
            return (EXTERNAL if head in rules.builtins else None), how
        if call and isinstance(target, tuple):
            return self._resolve_call(target, suffixes, depth), how
        if not suffixes:
            how = How.SAME_SCOPE if head in module.names else How.IMPORT if head in module.imports else How.PACKAGE
        return self._rest(target, suffixes, depth), how

    def _scope(self, file: int, cls: int, name: str) -> Target:
        """Resolves a name inside a class: to a class nested in it, in its bases or in the classes around it (in a
        module of Rust also to a function), else in the file."""
        owner = cls
        while owner >= 0:
            definitions, _ = self.names.find_method(owner, name)
            if definitions and (
                self.names.is_class(definitions[0])
                or self.symbols.fragments[definitions[0]].kind is FragmentKind.FUNCTION
            ):
                return definitions
            owner = self.symbols.outer[owner]
        return self.names.resolve_name(file, name)

    # --- types --------------------------------------------------------------------------------------------------------

    def resolve_type(self, file: int, cls: int, written: str, depth: int = 0) -> Value:
        """Returns a value of a type written in a file inside a class; `=...` is the type of an expression."""
        if not written:
            return None
        if written == OF_RECEIVER and cls >= 0:
            return (cls,)
        if written.startswith("="):
            return self.value(file, cls, written[1:], depth + 1)[0]
        if written.endswith("[]"):
            return Elements(file, cls, written[:-2])
        if written.endswith("()"):
            return Function(file, cls, written[:-2])
        head, _, rest = written.partition(".")
        target = self._scope(file, cls, head)
        for segment in rest.split(".") if rest else ():
            target = self.names.resolve_attribute(target, segment) if target is not None else None
        if isinstance(target, Module) or target is None:
            return Foreign(file, written)
        return target if self.names.is_class(target[0]) else None

    # --- members ------------------------------------------------------------------------------------------------------

    def _member(self, value: Value, name: str, suffixes: list[str], depth: int) -> Value:
        if isinstance(value, Elements | Function | Foreign):
            rules = self.symbols.rules[value.file]
            if isinstance(value, Elements):
                if name in SAME_METHODS:
                    return self._rest(value, suffixes[1:], depth)
                if name in ELEMENT_METHODS:
                    return self._rest(
                        self.resolve_type(value.file, value.cls, value.written, depth), suffixes[1:], depth
                    )
            elif len(suffixes) != 1 or not suffixes[0].startswith("("):
                return EXTERNAL
            return Foreign(value.file, returned) if (returned := rules.library.returns.get(name)) else EXTERNAL
        if isinstance(value, Module):
            if name in value.variables:
                file, written = value.variables[name]
                return self._rest(self.resolve_type(file, -1, written, depth), suffixes, depth)
            target = self.names.resolve_member(value, name)
            if isinstance(target, tuple) and suffixes and suffixes[0].startswith("("):
                return self._resolve_call(target, suffixes, depth)
            return self._rest(target, suffixes, depth)
        if not value or not self.names.is_class(value[0]):
            return None
        member = self._of_class(value[0], name, suffixes, depth)
        if member is None and name in self.names.rules_of_definition(value[0]).wrappers:
            return self._rest(value, suffixes[1:], depth)
        return member

    def _of_class(self, cls: int, name: str, suffixes: list[str], depth: int) -> Value:
        """Resolves `name` on a value of a class: to the result of a method, a field, or a nested class."""
        call = bool(suffixes) and suffixes[0].startswith("(")
        if not call and not self._attributes_call(cls) and (field := self._find_declared(cls, name, depth)) is not None:
            return self._rest(field, suffixes, depth)  # a field and a method may have the same name in such a language
        if definitions := self.names.overloads(cls, name):
            if self.names.is_class(definitions[0]):
                return self._rest(definitions, suffixes, depth)
            if call or self._attributes_call(cls):
                return self._resolve_call(definitions, suffixes if call else ["()", *suffixes], depth, cls)
            return None
        if call and (declared := self._find_declared(cls, f"{name}()", depth)) is not None:
            return self._rest(declared, suffixes[1:], depth)
        if (field := self._find_declared(cls, name, depth)) is not None:
            return self._rest(field, suffixes, depth)
        if name in ELEMENT_METHODS and (held := self._find_declared(cls, "[]", depth)) is not None:
            return self._rest(held, suffixes[1:], depth)
        _, variant, field_of_struct = name.partition("@")
        return self._of_class(cls, field_of_struct, suffixes, depth) if variant else None

    def _find_declared(self, cls: int, name: str, depth: int) -> Value:
        owner = self.names.find_declaring_class(cls, name)
        if owner < 0:
            return None
        return self.resolve_type(self.symbols.file_of[owner], owner, self.symbols.fields[owner][name], depth)

    def _attributes_call(self, gid: int) -> bool:
        """Tells whether reading an attribute may run a method, and calling a class makes an instance."""
        return self.names.rules_of_definition(gid).names_are_values

    def _resolve_call(self, definitions: Gids, suffixes: list[str], depth: int, cls: int = -1) -> Value:
        """Returns the value of a call on a value of class `cls`: an instance of a class, or the result type that all
        called functions declare."""
        if self.names.is_class(definitions[0]):
            return self._rest(definitions[:1], suffixes[1:], depth)
        count, _, result_number = suffixes[0][1:].partition(")")
        fitting = [gid for gid in definitions if takes(self.symbols.parameters.get(gid), int(count))] if count else []
        if result_number:
            written = {self.symbols.further_returns.get((gid, int(result_number[1:])), "") for gid in definitions}
        else:
            written = {self.symbols.returns.get(gid, "") for gid in fitting or definitions}
        if len(written) != 1:
            return None
        gid, result = (fitting or definitions)[0], written.pop()
        inside = cls if result == OF_RECEIVER and cls >= 0 else self.symbols.class_of[gid]
        return self._rest(self.resolve_type(self.symbols.file_of[gid], inside, result, depth), suffixes[1:], depth)

    def _rest(self, value: Value, suffixes: list[str], depth: int) -> Value:
        for suffix in suffixes:
            if value is None or value is EXTERNAL:
                return value
            if suffix == "[]":
                if isinstance(value, Elements):
                    value = self.resolve_type(value.file, value.cls, value.written, depth)
                elif isinstance(value, tuple) and (held := self._find_declared(value[0], "[]", depth)) is not None:
                    value = held
                elif isinstance(value, tuple) and self.names.rules_of_definition(value[0]).wrappers:
                    continue
                elif isinstance(value, tuple) and self._attributes_call(value[0]) and self.names.is_class(value[0]):
                    self._reached = max(self._reached, depth)
                    if depth > _VARIABLES:  # an iterator may return itself again and again
                        return None
                    value = self._of_class(value[0], "__getitem__", ["()"], depth + 1) or self._of_class(
                        value[0], "__iter__", ["()", "[]"], depth + 1
                    )
                else:
                    return None
            elif isinstance(value, Function):
                value = self.resolve_type(value.file, value.cls, value.written, depth)
            elif isinstance(value, tuple) and self._attributes_call(value[0]):
                value = self._resolve_call(value, [suffix], depth)
            else:
                return None
        return value


def takes(parameters: str | None, arguments: int) -> bool:
    """Tells whether a function with parameters "(A,B...)" can be called with this number of arguments."""
    if parameters is None:
        return False
    wanted = split(parameters)
    return len(wanted) == arguments or bool(wanted and wanted[-1].endswith("...") and arguments >= len(wanted) - 1)


def split(text: str) -> list[str]:
    """Splits "(A,B)" into its parts."""
    inside = text[1:-1]
    return inside.split(",") if inside else []


def _segments(text: str) -> list[tuple[str, list[str]]]:
    """Splits a chain into (name, its suffixes) for each link; empty if the text is not a chain."""
    out: list[tuple[str, list[str]]] = []
    at = 0
    while at < len(text):
        if (match := _SEGMENT.match(text, at)) is None:
            return []
        out.append((match[1], _SUFFIX.findall(match[2])))
        at = match.end()
    return out
