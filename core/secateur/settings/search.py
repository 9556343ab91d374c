"""Tables of a search: `[graph_rag]`, `[smart_pruning]`, `[relevance]`, `[preference]`.

Tables of settings: the keys that their fields are, what fields share, and the checks of values, wherever a table is
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
    """Describes a setting in `secateur config`, in the JSON schema and in docs/reference/configuration.md.

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


class GraphRag(Table, frozen=True):
    """`[graph_rag]`: the table of the graph-rag spec."""

    enabled: Annotated[
        bool, about("Follow callers and callees from the anchors; off: anchors only, `source` says `embedding`.")
    ] = True
    max_depth: Annotated[
        int, Meta(ge=1, le=4), about("Steps of calls followed from an anchor.", flag="--depth", scope="any")
    ] = 2
    token_budget: Annotated[
        int,
        Meta(ge=4000, le=16000),
        about("Tokens of the pack. An explicit --budget takes any integer from 0.", scope="any"),
    ] = 8000
    cache_ttl: Annotated[int, Meta(ge=60, le=3600), about("Seconds a query's answer is kept.")] = 300
    top_k: Annotated[int, Meta(ge=5, le=50), about("Anchors of a query.", flag="--top-k", scope="any")] = 10
    only: Annotated[
        tuple[str, ...],
        about(
            "The part of the repository that answers come from, as globs of its files or folders; calls are still"
            " followed through the rest. Empty: all of it.",
            flag="--only",
        ),
    ] = ()
    anchors: Annotated[
        Literal["mixed", "embedding"],
        about(
            "How anchors are chosen: `mixed` (by relevance, from words and vectors) or `embedding` (REQ-GRAG-001 "
            "literally: relevance is the vectors' similarity)."
        ),
    ] = "mixed"
    cache_dir: Annotated[
        str,
        about(
            "Folder of the result cache, relative to the repository. Empty: the repository's folder in your "
            "cache folder. The spec uses `.devbooks/cache/graph-context`."
        ),
    ] = ""


class PriorityWeights(Table, frozen=True):
    """`[smart_pruning.priority_weights]`: REQ-SP-002."""

    relevance: Annotated[Weight, about("Weight of relevance.", flag="--weights: relevance", scope="any")] = 0.4
    hotspot: Annotated[Weight, about("Weight of the hotspot score.", flag="--weights: hotspot", scope="any")] = 0.3
    distance: Annotated[Weight, about("Weight of 1 / distance.", flag="--weights: distance", scope="any")] = 0.3


# By signal: the key of its weight. Knobs, flags and proofs are made of these.
WEIGHT_KEYS = {
    **{name: f"smart_pruning.priority_weights.{name}" for name in PriorityWeights.__struct_fields__},
    "preference": "preference.weight",
}


class SmartPruning(Table, frozen=True):
    """`[smart_pruning]`: how the pool becomes a selection."""

    strategy: Annotated[
        Literal["priority", "relevance", "density"],
        about("Order of the greedy selection.", flag="--strategy", scope="any"),
    ] = "priority"
    signature_share: Annotated[
        float,
        Meta(ge=0, le=0.5),
        about("Share of the budget for declarations of fragments that did not fit whole.", scope="any"),
    ] = 0.0
    density_exponent: Annotated[
        float,
        Meta(ge=0, le=2),
        about(
            "Strategy `density` divides by the size to this power: 0 ignores size, 1 orders by evidence per token."
            " Short queries (see `relevance.query_kind`) ignore size."
        ),
    ] = 0.2
    priority_weights: PriorityWeights = PriorityWeights()


class Penalty(Table, frozen=True):
    """`[relevance.penalty]`: the share of its relevance that a fragment of a kind loses, unless a short query asks for
    that kind."""

    test: Annotated[Share, about("Tests.", scope="any")] = 0.0
    documentation: Annotated[Share, about("Documents.", scope="any")] = 0.0
    example: Annotated[Share, about("Examples and demos.", scope="any")] = 0.0
    vendored: Annotated[Share, about("Code by others that is kept in the repository.", scope="any")] = 0.0
    generated: Annotated[Share, about("Generated code.", scope="any")] = 0.0
    header: Annotated[Share, about("Headers of classes: declaration and fields without methods.", scope="any")] = 0.0
    region: Annotated[Share, about("Module-level code: imports, constants.", scope="any")] = 0.0
    prose: Annotated[Share, about("Sections and blocks of text and configuration.", scope="any")] = 0.0
    duplicate: Annotated[Share, about("Fragments with nearly the same text as a better candidate.", scope="any")] = 0.0


class Relevance(Table, frozen=True):
    """`[relevance]`: the parts of relevance: a weighted mean of values in [0, 1], minus a penalty, on a curve
    (`retrieval.relevance`)."""

    pool: Annotated[
        Literal["anchors", "all"],
        about(
            "Candidates: `anchors` (top_k and what their calls reach) or `all` (every fragment with relevance).",
            scope="any",
        ),
    ] = "anchors"
    query_kind: Annotated[
        Literal["off", "auto", "symbol", "usage", "message", "phrase", "question", "issue", "trace"],
        about(
            "Kind of the query, which decides what answers it: a definition, callers, ... `auto`: detected from its"
            " text; `off`: all queries are treated alike.",
            flag="--query-kind",
            scope="any",
        ),
    ] = "off"
    lexical: Annotated[Part, about("Weight of the code-aware word match in the fragment's text.", scope="any")] = 0.5
    title: Annotated[
        Part, about("Weight of the match of the query's first line in the fragment's text.", scope="any")
    ] = 0.0
    name: Annotated[Part, about("Weight of words of the query in the fragment's qualified name.", scope="any")] = 0.15
    path: Annotated[Part, about("Weight of words of the query in the file's path.", scope="any")] = 0.05
    file: Annotated[Part, about("Weight of the match of the first line with the whole file.", scope="any")] = 0.0
    semantic: Annotated[Part, about("Weight of the embedding similarity.", scope="any")] = 0.3
    mention: Annotated[Part, about("Weight of names in the query; rare names count more.", scope="any")] = 0.0
    definition: Annotated[
        Part, about("Weight of a name that the query asks for, with kind `symbol` or `phrase`.", scope="any")
    ] = 0.0
    usage: Annotated[
        Part, about("Weight of callers and holders of the name in the query, with kind `usage`.", scope="any")
    ] = 0.0
    history: Annotated[
        Part, about("Weight of commits that touched the file and whose message resembles the query.", scope="any")
    ] = 0.0
    title_name: Annotated[
        Part, about("Weight of the share of the qualified name that the query's first line spells out.", scope="any")
    ] = 0.0
    phrase: Annotated[
        Part, about("Weight of messages in the fragment's string literals that the query quotes verbatim.", scope="any")
    ] = 0.0
    named_file: Annotated[
        Part, about("Weight of a file that the query names outside of stack traces, or links to.", scope="any")
    ] = 0.0
    trace: Annotated[
        Part, about("Weight of stack frames and linked lines; frames near the error count more.", scope="any")
    ] = 0.0
    near: Annotated[Part, about("Weight of a short call path to the best matches.", scope="any")] = 0.0
    no_match_threshold: Annotated[
        Share,
        about(
            "Best relevance below which a query with hardly any word from this repository has no answer: no anchors, "
            "`no_match`."
        ),
    ] = 0.35
    low_threshold: Annotated[
        Share, about("Best relevance below which the answer warns that the query may not be about this repository.")
    ] = 0.45
    issue_forms: Annotated[
        bool, about("Ignore lines of a query that come from the repository's issue form (`.github/ISSUE_TEMPLATE`).")
    ] = False
    penalty: Penalty = Penalty()


class Preference(Table, frozen=True):
    """`[preference]`: intent preference (SC-SP-007)."""

    enabled: Annotated[bool, about("Give preferred symbols a term of their own.")] = False
    weight: Annotated[Weight, about("Weight of the preference term.")] = 0.2
