"""The arguments and answers of the tools: their types, and the JSON schemas made from them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct
from secateur import UsageError, suggestion

MOST_BUDGET = 200_000
"""Most tokens of a budget: the largest windows hold a few of these."""

MOST_PINS, MOST_FILES = 50, 200
"""Most names in one call."""

QUERY_CHARS = 100_000
"""Most characters of a question: ten times the longest issue texts."""

_NAME_CHARS = 4_096

Query = Annotated[str, Meta(max_length=QUERY_CHARS)]
Name = Annotated[str, Meta(max_length=_NAME_CHARS)]
Budget = Annotated[int, Meta(ge=0, le=MOST_BUDGET, description="most tokens of the text; 0: as configured")]
Folder = Annotated[
    str, Meta(max_length=_NAME_CHARS, description="folder or workspace.toml; may be left out if there is one root")
]
Cursor = Annotated[
    str, Meta(max_length=_NAME_CHARS, description="`next` of an answer, with the same arguments: its next page")
]


class ToolCall(Struct, forbid_unknown_fields=True):
    """The arguments of a tool."""


class SearchCall(ToolCall):
    query: Annotated[str, Meta(max_length=QUERY_CHARS, description="a question, names, an error message or an issue")]
    path: Folder = ""
    budget: Budget = 0
    profile: Annotated[str, Meta(max_length=100, description="recommended, spec, or a user's own")] = ""
    pins: Annotated[list[Name], Meta(max_length=MOST_PINS, description="ids to keep first")] = []
    cursor: Cursor = ""


class ExpandCall(ToolCall):
    symbol: Annotated[
        str, Meta(min_length=1, max_length=_NAME_CHARS, description="an id of an answer, a name, or file:line")
    ]
    path: Folder = ""
    steps: Annotated[int, Meta(ge=1, le=3, description="calls to follow, both ways")] = 1
    cursor: Cursor = ""


class PruneCall(ToolCall):
    text: Annotated[str, Meta(description="a log, a diff or other output")] = ""
    messages: Annotated[list[Any], Meta(description="OpenAI or Anthropic messages")] = []
    files: Annotated[list[Name], Meta(max_length=MOST_FILES, description="paths or patterns")] = []
    request: Annotated[str, Meta(max_length=QUERY_CHARS, description="what it is for; files need one")] = ""
    kind: Annotated[str, Meta(max_length=100, description="log, diff, conversation, envelope, files; else any")] = ""
    strategy: Annotated[str, Meta(max_length=100, description="of the kind, e.g. extract, truncate")] = ""
    model: Annotated[str, Meta(max_length=100, description="the model an envelope is for")] = ""
    path: Folder = ""
    budget: Budget = 0
    cursor: Cursor = ""


class ExplainCall(ToolCall):
    item: Annotated[str, Meta(max_length=_NAME_CHARS, description="id of an item, kept or left out")]
    result: Annotated[str, Meta(max_length=_NAME_CHARS, description="`result` of a search, prune or review")] = ""
    query: Annotated[str, Meta(max_length=QUERY_CHARS, description="without a result: the search to repeat")] = ""
    path: Folder = ""
    budget: Budget = 0
    profile: Annotated[str, Meta(max_length=100)] = ""


class ReviewCall(ToolCall):
    path: Folder = ""
    base: Annotated[str, Meta(max_length=_NAME_CHARS, description="revision; else the main branch")] = ""
    head: Annotated[
        str, Meta(max_length=_NAME_CHARS, description="revision; `worktree`: files as they are; else HEAD")
    ] = ""
    budget: Annotated[int, Meta(ge=0, le=MOST_BUDGET, description="most tokens of a chunk; 0: one page")] = 0
    cursor: Cursor = ""


class ToolAnswer(Struct, omit_defaults=True):
    """The structured content of a result."""


class ResultItem(Struct, omit_defaults=True):
    id: str
    state: str
    reason: str
    tokens: int
    file: str = ""
    lines: str = ""
    redacted: Annotated[list[str], Meta(description="credentials that were removed")] = []


class Freshness(Struct, omit_defaults=True):
    commit: str
    indexed: Annotated[str, Meta(description="when the files were checked")]
    changed: Annotated[list[str], Meta(description="files changed since")] = []
    changed_more: int = 0


class PrunedAnswer(ToolAnswer):
    result: Annotated[str, Meta(description="name of this result, for explain")]
    kind: str
    text: Annotated[str, Meta(description="what was kept")]
    tokens: int
    budget: int
    before: Annotated[int, Meta(description="tokens of the whole input")]
    items: list[ResultItem] = []
    items_more: int = 0
    left_out: Annotated[list[ResultItem], Meta(description="some of what was left out; for a search, the best")] = []
    left_out_more: int = 0
    warnings: list[str] = []
    freshness: Freshness | None = None
    page: int = 1
    pages: int = 1
    next: Annotated[str, Meta(description="cursor of the next page")] = ""


class CallNeighbour(Struct, omit_defaults=True):
    id: str
    at: Annotated[str, Meta(description="file:line")]
    how: Annotated[str, Meta(description="rule that resolved the call")]
    certainty: float
    sites: int
    step: int = 1
    via: Annotated[str, Meta(description="the id that leads to it")] = ""


class ExpandedSymbol(ToolAnswer):
    id: str
    at: str
    kind: str
    text: Annotated[str, Meta(description="its source")]
    tokens: int
    callers: list[CallNeighbour] = []
    callers_more: int = 0
    callees: list[CallNeighbour] = []
    callees_more: int = 0
    warnings: list[str] = []
    freshness: Freshness | None = None
    page: int = 1
    pages: int = 1
    next: str = ""


class TurningChange(Struct, omit_defaults=True):
    change: Annotated[str, Meta(description="setting and value")]
    also: Annotated[str, Meta(description="what else it changes")] = ""


class ExplainedItem(ToolAnswer):
    item: ResultItem
    before: int
    turns: Annotated[list[TurningChange], Meta(description="each alone turns the decision, whole or not; proven")]
    nothing: Annotated[str, Meta(description="why nothing turns it")] = ""
    facts: dict[str, str] = {}
    decided_again: Annotated[int, Meta(description="trials behind this")] = 0
    freshness: Freshness | None = None


def convert(arguments: Mapping[str, Any], kind: type[ToolCall]) -> ToolCall:
    """Converts the arguments of a call.

    Raises:
        UsageError: an argument is unknown, missing, of another type or out of range; it is named.
    """
    fields = [field.name for field in msgspec.structs.fields(kind)]
    for name in arguments:
        if name not in fields:
            near = suggestion(name[:100], fields)
            raise UsageError(
                f"unknown argument {name[:100]!r}",
                hint=(f"did you mean {near}? " if near else "") + f"arguments: {', '.join(fields)}",
            )
    try:
        return msgspec.convert(dict(arguments), kind)
    except (msgspec.ValidationError, RecursionError) as error:
        message = str(error).replace(" - at `$.", " (argument `") + (")" if " - at `$." in str(error) else "")
        raise UsageError(f"the arguments do not fit: {message}", hint=f"arguments: {', '.join(fields)}") from error


@cache
def schema_of(kind: type[Struct]) -> dict[str, Any]:
    """Returns a short JSON schema of a type."""
    written = msgspec.json.schema(kind)
    definitions = written.get("$defs", {})
    plain = _simplify(written, definitions)
    assert isinstance(plain, dict)
    return plain


def _simplify(value: Any, definitions: Mapping[str, Any], *, properties: bool = False) -> Any:
    """Removes references, titles, defaults and docstrings of types from a schema."""
    if isinstance(value, list):
        return [_simplify(item, definitions) for item in value]
    if not isinstance(value, dict):
        return value
    if "$ref" in value and not properties:
        named = definitions[value["$ref"].rpartition("/")[2]]
        own = {name: item for name, item in value.items() if name == "description"}
        return _simplify({name: item for name, item in named.items() if name != "description"} | own, definitions)
    if "anyOf" in value and not properties:  # what may be left out is never sent as null
        (only,) = (item for item in value["anyOf"] if item != {"type": "null"})
        return _simplify(only, definitions)
    left_out = () if properties else ("title", "default", "$defs", "maxLength")  # the server checks these itself
    kept = {
        name: _simplify(item, definitions, properties=name == "properties" and not properties)
        for name, item in value.items()
        if name not in left_out
    }
    if not properties and kept.get("type") == "object" and "properties" in kept and "required" in kept:
        kept = {name: item for name, item in kept.items() if name != "required" or item}
    return kept
