"""The arguments and answers of the tools: their types, and the JSON schemas made from them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct
from secateur import UsageError, suggestion

MOST_BUDGET = 200_000  # most tokens of a budget: the largest windows hold a few of these
MOST_PINS, MOST_FILES = 50, 200  # most names in one call
QUERY_CHARS = 100_000  # most characters of a question: ten times the longest issue texts

_NAME_CHARS = 4_096

# An argument for programs: accepted, but not in the schemas, of which each word costs every request of an agent.
UNLISTED = Meta(extra_json_schema={"unlisted": True})

Name = Annotated[str, Meta(max_length=_NAME_CHARS)]
Budget = Annotated[int, Meta(ge=0, le=MOST_BUDGET)]


class ToolCall(Struct, forbid_unknown_fields=True):
    """The arguments of a tool."""


class PagedCall(ToolCall, kw_only=True):
    """The arguments of a tool whose answers have pages."""

    cursor: Name = ""  # `next` of the answer before


class SearchCall(PagedCall):
    query: Annotated[str, Meta(max_length=QUERY_CHARS, description="question, names or error")]
    path: Name = ""  # a folder or the file of a workspace; else the root
    detail: Literal["names", "source"] = "names"
    budget: Budget = 0
    profile: Annotated[str, Meta(max_length=100), UNLISTED] = ""
    pins: Annotated[list[Name], Meta(max_length=MOST_PINS, description="ids to pin")] = []


class ExpandCall(PagedCall):
    symbol: Annotated[Name, Meta(min_length=1, description="id, name or file:line")]
    path: Name = ""
    steps: Annotated[int, Meta(ge=1, le=3)] = 1  # calls to follow, both ways


class PruneCall(PagedCall):
    text: str = ""
    messages: list[Any] = []
    files: Annotated[list[Name], Meta(max_length=MOST_FILES, description="paths or patterns")] = []
    request: Annotated[str, Meta(max_length=QUERY_CHARS, description="what for")] = ""
    kind: Annotated[str, Meta(max_length=100), UNLISTED] = ""
    strategy: Annotated[str, Meta(max_length=100), UNLISTED] = ""
    model: Annotated[str, Meta(max_length=100), UNLISTED] = ""  # that an envelope is for
    path: Name = ""
    budget: Budget = 0


class ExplainCall(ToolCall):
    item: Annotated[Name, Meta(description="id")]
    result: Name = ""
    query: Annotated[str, Meta(max_length=QUERY_CHARS), UNLISTED] = ""  # without a result: the search to repeat
    path: Annotated[Name, UNLISTED] = ""
    budget: Annotated[Budget, UNLISTED] = 0
    profile: Annotated[str, Meta(max_length=100), UNLISTED] = ""


class ReviewCall(PagedCall):
    path: Name = ""
    base: Name = ""  # else the main branch
    head: Annotated[Name, Meta(description="or worktree")] = ""
    budget: Budget = 0  # of a chunk


class RecallCall(ToolCall):
    digest: Annotated[str, Meta(min_length=12, max_length=64)]
    lines: Annotated[str, Meta(max_length=40, description="10-80")] = ""


class ToolAnswer(Struct, omit_defaults=True):
    """The answer of a tool: its text goes to the model, all else to programs, which costs no tokens."""


class PagedAnswer(ToolAnswer, kw_only=True):
    """An answer with pages."""

    warnings: list[str] = []
    freshness: Freshness | None = None
    page: int = 1
    pages: int = 1
    next: str = ""  # cursor of the next page


class ResultItem(Struct, omit_defaults=True):
    id: str
    state: str
    reason: str
    tokens: int
    file: str = ""
    lines: str = ""
    redacted: list[str] = []  # credentials that were removed


class Freshness(Struct, omit_defaults=True):
    commit: str
    indexed: str  # when its files were checked
    changed: list[str] = []
    changed_more: int = 0


class PrunedAnswer(PagedAnswer):
    result: str  # its name, for `explain`
    kind: str
    text: str  # of this page
    tokens: int
    budget: int
    before: int  # tokens of the whole input
    names: bool = False  # the text lists places instead of source
    items: list[ResultItem] = []
    items_more: int = 0
    left_out: list[ResultItem] = []
    left_out_more: int = 0


class RecalledText(ToolAnswer):
    text: str
    tokens: int  # of what was asked for
    more: int = 0  # lines of it that have no room in an answer, at its end


class CallNeighbour(Struct, omit_defaults=True):
    id: str
    at: str
    how: str
    certainty: float
    sites: int
    step: int = 1
    via: str = ""  # the id that leads to it


class ExpandedSymbol(PagedAnswer):
    id: str
    at: str
    kind: str
    text: str
    tokens: int
    callers: list[CallNeighbour] = []
    callers_more: int = 0
    callees: list[CallNeighbour] = []
    callees_more: int = 0


class TurningChange(Struct, omit_defaults=True):
    change: str
    also: str = ""


class ExplainedItem(ToolAnswer):
    item: ResultItem
    before: int
    turns: list[TurningChange]  # each alone turns the decision
    nothing: str = ""
    facts: dict[str, str] = {}
    decided_again: int = 0
    freshness: Freshness | None = None


def convert(arguments: Mapping[str, Any], kind: type[ToolCall]) -> ToolCall:
    """Converts the arguments of a call. Raises UsageError: an argument is unknown, missing, of another type or out of
    range; it is named."""
    fields = [field.name for field in msgspec.structs.fields(kind)]
    unknown = next((name[:100] for name in arguments if name not in fields), None)
    if unknown is not None:
        near = suggestion(unknown, fields)
        hint = (f"did you mean {near}? " if near else "") + f"arguments: {', '.join(fields)}"
        raise UsageError(f"unknown argument {unknown!r}", hint=hint)
    try:
        return msgspec.convert(dict(arguments), kind)
    except (msgspec.ValidationError, RecursionError) as error:
        message = str(error).replace(" - at `$.", " (argument `") + (")" if " - at `$." in str(error) else "")
        raise UsageError(f"the arguments do not fit: {message}", hint=f"arguments: {', '.join(fields)}") from error


# Left out of schemas, because each costs every request: the server checks these itself.
_CHECKED = frozenset({"title", "default", "minimum", "maximum", "minLength", "maxLength", "maxItems"})


@cache
def schema_of(kind: type[ToolCall]) -> dict[str, Any]:
    """Returns a short JSON schema of the arguments of a tool."""

    def shortened(schema: Any) -> Any:
        if not isinstance(schema, dict):
            return schema
        return {name: shortened(value) for name, value in schema.items() if name not in _CHECKED}

    (written,) = msgspec.json.schema(kind)["$defs"].values()
    listed = ((name, value) for name, value in written["properties"].items() if "unlisted" not in value)
    properties = {name: shortened(value) for name, value in listed}
    required = {"required": written["required"]} if written["required"] else {}
    return {"type": "object", "properties": properties, **required}
