"""Tables of settings: the keys that their fields are, what fields share, and the checks of values, wherever a table is
made.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any, Literal, TypeGuard, get_args, get_origin

import msgspec
from msgspec import Meta, Struct, structs
from msgspec.structs import force_setattr

from secateur.errors import ConfigError, wrong_value
from secateur.suggestions import suggestion

Share = Annotated[float, Meta(ge=0, le=1)]
Weight = Annotated[float, Meta(ge=0, le=10)]  # weight of a term of the priority

Part = Annotated[float, Meta(ge=0, le=4)]  # weight of a part of relevance

Limit = Annotated[int, Meta(ge=0, le=100_000_000)]  # a maximum number of tokens


def about(sentence: str, *, flag: str = "", scope: str = "user", lowered_only: bool = False) -> Meta:
    """Describes a setting in `secateur config`, in the JSON schema and in docs/configuration.md.

    Args:
        flag: the flag that sets it, if it has its own; errors and origins name that flag.
        scope: who may set it. "any": also a repository's own file. Such keys are profiles, weights, strategies, budgets
            and shares of them, depth, `top_k`, ignore rules, and what `chunk` shows of a change, which is read at the
            base of the comparison. "user": the user's files and the command line. "run": only the command line.
        lowered_only: a larger value costs the machine, so a repository may only set less than the default.
    """
    return Meta(description=sentence, extra={"flag": flag, "scope": scope, "lowered_only": lowered_only})


# Prefix of the keys for kinds of other distributions: `[kinds.NAME]` is the table that the kind declares.
OF_KINDS = "kinds."

# By type, or by the origin of a generic type: the `Key.kind`.
_KINDS: Mapping[Any, type] = {
    **{plain: plain for plain in (bool, int, float, str, tuple, dict)},
    Literal: str,
    Mapping: dict,
}


class Key(Struct, frozen=True):
    """One key of the settings: type, range, default and description.

    >>> keys()["graph_rag.max_depth"].allowed()
    'an integer from 1 to 4'
    """

    name: str  # dotted
    type: Any  # the type that values are converted to, with its range
    kind: type  # the type without its range: bool, int, float, str, tuple or dict
    default: Any
    doc: str
    low: float | None
    high: float | None
    choices: tuple[str, ...]
    flag: str  # the flag that sets it; "" if it has none
    scope: str  # "any", "user" or "run": who may set it (`about`)
    lowered_only: bool  # a repository may only set a value below the default

    def allowed(self) -> str:
        """Returns the allowed values, in words."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        word = {
            bool: "true or false",
            int: "an integer",
            float: "a number",
            str: "text",
            tuple: "a list of texts",
            dict: "a table",
        }[self.kind]
        if self.low is not None and self.high is not None:
            return f"{word} from {self.low:g} to {self.high:g}"
        return f"{word} of at least {self.low:g}" if self.low is not None else word


class Table(Struct, frozen=True):
    """The base of all tables: a value out of its range, or of another type, is an error where the table is made.

    Defaults are not looked at, so that a step of a knob checks what it changes.
    """

    def __post_init__(self) -> None:
        table: Any = type(self)
        for name, default in zip(self.__struct_fields__, self.__struct_defaults__, strict=True):
            value = getattr(self, name)
            if value is default or isinstance(value, Table) or (not value and hasattr(default, "factory")):
                continue
            if (key := keys_in(table).get(name)) is not None:
                force_setattr(self, name, check_key_value(key, value, table.__name__))
            elif name + "." != OF_KINDS:
                raise ConfigError(f"{name} is a table, not {value!r}", hint="make it of the class that its default has")


@cache
def keys_in(table: type) -> Mapping[str, Key]:
    """Returns the keys of a table and of those inside it, by their names there."""
    return {key.name: key for key in walk_keys(table, "")}


def walk_keys(table: type, prefix: str) -> Iterator[Key]:
    for entry in structs.fields(table):
        name, hint = prefix + entry.encode_name, entry.type
        default = entry.default if entry.default_factory is msgspec.NODEFAULT else entry.default_factory()
        if name + "." == OF_KINDS:
            continue
        if default is msgspec.NODEFAULT:
            raise ConfigError(f"{name} has no default")
        if is_table(hint):
            yield from walk_keys(hint, name + ".")
            continue
        bare, *metas = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        metas = [meta for meta in metas if isinstance(meta, Meta)]
        origin = get_origin(bare)
        kind = _KINDS.get(origin or bare)
        choices = get_args(bare) if origin is Literal else ()
        if kind is None or (kind is tuple and get_args(bare) != (str, ...)) or not all(type(x) is str for x in choices):
            raise ConfigError(f"{name} has a type that settings cannot have")
        metadata = next((meta for meta in reversed(metas) if meta.extra), about(""))
        yield Key(
            name=name,
            type=hint,
            kind=kind,
            default=default,
            doc=next((meta.description for meta in metas if meta.description), ""),
            low=next((meta.ge for meta in metas if meta.ge is not None), None),
            high=next((meta.le for meta in metas if meta.le is not None), None),
            choices=choices,
            **(metadata.extra or {}),
        )


def is_table(hint: Any) -> TypeGuard[type[Struct]]:
    return isinstance(hint, type) and issubclass(hint, Struct)


def replace_in_table(table: Any, values: Mapping[str, Any]) -> Any:
    """Returns a table with other values, by nested tables."""
    new = dict(values)
    for name, value in values.items():
        old = getattr(table, name)
        if isinstance(old, Table):
            new[name] = replace_in_table(old, value)
    return structs.replace(table, **new)


def check_key_value(key: Key, value: Any, place: str) -> Any:
    """Converts a value as settings hold it; raises ConfigError if its type or range is wrong."""
    # A set has no order, but a list of texts needs one; no range holds a value that is not a number.
    if isinstance(value, set | frozenset) or (isinstance(value, float) and not math.isfinite(value)):
        raise _bad(key, value, place)
    try:
        return msgspec.convert(value, key.type)
    except msgspec.ValidationError:
        raise _bad(key, value, place) from None


def _bad(key: Key, value: Any, place: str) -> ConfigError:
    typed = place == key.flag
    shown = wrong_value(str(value) if typed and value != "" else repr(value))
    near = suggestion(value, key.choices) if isinstance(value, str) else ""
    return ConfigError(
        f"{place} {shown} is not allowed" if typed else f"{place}: {key.name} = {shown} is not allowed",
        hint=(f"did you mean {near}? " if near else "")
        + f"{place if typed else key.name} takes {key.allowed()} (default {key.default!r})",
    )
