"""The keys of the settings: derived from the dataclasses, looked up, checked one at a time, written as a JSON
schema."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

from secateur.errors import ConfigError
from secateur.nearest import nearest, nearest_key
from secateur.settings.schema import Settings

FILE_NAME = "secateur.toml"

FLAGS: Mapping[str, str] = {
    "profile": "--profile",
    "budget": "--budget",
    "index.trust_git_dir": "--trust-git-dir",
    "graph_rag.top_k": "--top-k",
    "graph_rag.max_depth": "--depth",
    "smart_pruning.strategy": "--strategy",
    "smart_pruning.priority_weights.relevance": "--weights: relevance",
    "smart_pruning.priority_weights.hotspot": "--weights: hotspot",
    "smart_pruning.priority_weights.distance": "--weights: distance",
    "context_prune.max_tokens": "--max-tokens",
    "context_prune.strategy": "--strategy",
    "context_prune.sliding_window_size": "--window",
    "context_prune.sliding_window_overlap": "--overlap",
    "conversation_prune.strategy": "--strategy",
    "conversation_prune.safe_zone_tokens": "--safe-zone",
    "conversation_prune.group_size": "--group-size",
    "conversation_prune.keep_last": "--keep-last",
    "conversation_prune.keep_tools": "--keep-tools",
    "chunking.max_chunk_tokens": "--max-tokens",
    "chunking.context_lines": "--context",
    "tokens.counter": "--counter",
    "index.workers": "--workers",
}
"""What the user typed to set a key with a flag of its own: errors and origins speak of that."""

REPOSITORY_KEYS: frozenset[str] = frozenset(
    f"{table}.{name}" if table else name
    for table, names in {
        "": "profile profiles",
        "graph_rag": "token_budget max_depth top_k",
        "smart_pruning": "strategy signature_share",
        "smart_pruning.priority_weights": "relevance hotspot distance",
        "relevance": (
            "pool lexical title name description path file siblings semantic mention place history callers callees"
            " tests"
        ),
        "relevance.hold_back": "test documentation example vendored generated header region prose copy",
        "index": "ignore max_file_kb",
        "context_prune": "strategy max_tokens full_file_share",
        "conversation_prune": "strategy safe_zone_tokens",
        "context_budget": "tokens reserve context_share",
        "chunking": "max_chunk_tokens ignore rules max_file_kb context_lines",
    }.items()
    for name in names.split()
)
"""What a repository's own file may set: profiles, weights, strategies, budgets and shares of them, depth, `top_k`,
ignore rules, and what `chunk` shows of a change, which is read at the base of what is compared. All else counts from
the user's configuration and the command line alone."""

LOWERED_ONLY = frozenset({"index.max_file_kb", "chunking.max_file_kb"})
"""Of these the keys that cost the machine: a repository may set less than the default and not more."""

LONGEST_SHOWN = 60
"""Letters of a wrong value that an error repeats."""


@dataclass(frozen=True, slots=True)
class Key:
    """One key of the schema."""

    name: str  # dotted
    kind: type
    item: type | None  # of lists and tables
    default: Any
    doc: str
    low: float | None
    high: float | None
    choices: tuple[str, ...]
    # "any": a repository's own file too; "user": the user's files and the command line; "run": the command line alone
    scope: str

    def allowed(self) -> str:
        """What may stand there, in words."""
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


@cache
def keys() -> Mapping[str, Key]:
    """All keys by dotted name, in the order of the schema."""
    return {key.name: key for key in _walk(Settings, "")}


@cache
def _hints(schema: type) -> Mapping[str, Any]:
    return get_type_hints(schema)


def _walk(schema: type, prefix: str) -> Iterator[Key]:
    hints = _hints(schema)
    for spec in fields(schema):
        name, hint = prefix + spec.name, hints[spec.name]
        if is_dataclass(hint):
            assert isinstance(hint, type)
            yield from _walk(hint, name + ".")
            continue
        origin, args = get_origin(hint), get_args(hint)
        kind = hint if origin is None else tuple if origin is tuple else dict
        default = spec.default if spec.default_factory is MISSING else spec.default_factory()
        meta = spec.metadata
        item = None if origin is None else args[0] if kind is tuple else args[1]
        scope = "run" if meta["scope"] == "run" else "any" if name in REPOSITORY_KEYS else "user"
        yield Key(name, kind, item, default, meta["doc"], meta["low"], meta["high"], meta["choices"], scope)


def lookup(settings: Settings, name: str) -> Any:
    """The value of a dotted key."""
    value: Any = settings
    for part in name.split("."):
        value = getattr(value, part)
    return value


def build(schema_type: type, prefix: str, values: Mapping[str, Any]) -> Any:
    """An instance of a settings class from dotted keys and values; what is missing has its default."""
    hints = _hints(schema_type)
    arguments: dict[str, Any] = {}
    for spec in fields(schema_type):
        name, hint = prefix + spec.name, hints[spec.name]
        if is_dataclass(hint):
            assert isinstance(hint, type)
            arguments[spec.name] = build(hint, name + ".", values)
        elif name in values:
            arguments[spec.name] = values[name]
    return schema_type(**arguments)


def known(name: str, place: str) -> None:
    """Raise ConfigError, with the nearest key, if there is no such key."""
    if name in keys():
        return
    tables = dict.fromkeys(key.rpartition(".")[0] for key in keys() if "." in key)
    inside = [key for key in keys() if key.rpartition(".")[0] == name != ""]
    near = nearest_key(name, (*keys(), *tables))
    hint = (
        f"{name} is a table of {', '.join(inside)}"
        if inside
        else f"did you mean {near}?"
        if near
        else "secateur config lists all keys"
    )
    raise ConfigError(f"{place}: unknown key {name}", hint=hint)


def checked(name: str, value: Any, place: str) -> Any:
    """The value as settings hold it; raises ConfigError if its type or range is wrong."""
    key = keys()[name]
    if key.kind is tuple:
        if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
            raise _bad(key, value, place)
        return tuple(value)
    if key.kind is dict:
        if not isinstance(value, Mapping):
            raise _bad(key, value, place)
        if name != "profiles" and not all(_is(item, key.item) for item in value.values()):
            raise _bad(key, value, place)
        return dict(value)
    if not _is(value, key.kind):
        raise _bad(key, value, place)
    if key.kind is float:
        value = float(value)
    if (
        (key.choices and value not in key.choices)
        or (key.low is not None and value < key.low)
        or (key.high is not None and value > key.high)
    ):
        raise _bad(key, value, place)
    return value


def _is(value: Any, kind: type | None) -> bool:
    if kind is bool or isinstance(value, bool):
        return kind is bool and isinstance(value, bool)
    if isinstance(value, int):
        return kind is int or (kind is float and abs(value) <= sys.float_info.max)
    if isinstance(value, float):
        return kind is float and math.isfinite(value)
    return kind is str and isinstance(value, str)


def _bad(key: Key, value: Any, place: str) -> ConfigError:
    typed = place in FLAGS.values()
    shown = str(value) if typed and value != "" else repr(value)
    if len(shown) > LONGEST_SHOWN:
        shown = shown[: LONGEST_SHOWN - 3] + "..."
    near = nearest(value, key.choices) if isinstance(value, str) else ""
    hint = (
        f"did you mean {near}? " if near else ""
    ) + f"{place if typed else key.name} takes {key.allowed()} (default {key.default!r})"
    return ConfigError(
        f"{place} {shown} is not allowed" if typed else f"{place}: {key.name} = {shown} is not allowed", hint=hint
    )


def schema() -> dict[str, Any]:
    """The JSON schema of `secateur.toml`, derived from the settings."""
    root: dict[str, Any] = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": FILE_NAME}
    root |= {"type": "object", "properties": {}, "additionalProperties": False}
    for key in keys().values():
        if key.scope == "run":
            continue
        node = root
        *tables, leaf = key.name.split(".")
        for table in tables:
            node = node["properties"].setdefault(
                table, {"type": "object", "properties": {}, "additionalProperties": False}
            )
        node["properties"][leaf] = _key_schema(key)
    return root


def _key_schema(key: Key) -> dict[str, Any]:
    words = {bool: "boolean", int: "integer", float: "number", str: "string", tuple: "array", dict: "object"}
    out: dict[str, Any] = {"type": words[key.kind], "description": key.doc}
    if key.name != "profiles":
        out["default"] = list(key.default) if key.kind is tuple else key.default
    if key.kind is tuple:
        out["items"] = {"type": "string"}
    if key.low is not None:
        out["minimum"] = key.low
    if key.high is not None:
        out["maximum"] = key.high
    if key.choices:
        out["enum"] = list(key.choices)
    return out
