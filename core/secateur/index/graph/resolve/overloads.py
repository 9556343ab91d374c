"""Chooses among definitions of one name by the number and the types of a call's arguments."""

from __future__ import annotations

from secateur.index.graph.resolve.edges import CONFIDENCE, How
from secateur.index.graph.resolve.expressions import Elements, Expressions, Foreign, Value, split

CallTarget = tuple[int, int, How]  # (definition, confidence per mille, rule)
_UNDECIDED = 3  # so many definitions that fit equally well are too many to trust any of them

_EXACT, _SUBCLASS, _CONVERTED, _ANYTHING, _UNKNOWN = 8, 6, 4, 2, 3
"""Grades of how well an argument fits a parameter; an unknown type fits a little."""


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
        """Returns the class of this repository that a parameter is declared as."""
        value = self._expressions.resolve_type(self._symbols.file_of[gid], self._symbols.class_of[gid], written)
        return value[0] if isinstance(value, tuple) else None
