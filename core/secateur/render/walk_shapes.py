"""The walk along the calls of a search: who calls whom among its items, which items are connected, and the next step.

These types are both what the engine answers (`Engine.walk`) and the shape of the field `walk` in the JSON of `search`.
Lists are bounded; what is not listed is counted beside them. All orders are total.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from secateur.ledger import StateName
from secateur.shape import Count, Number, Shape

How = Annotated[
    str, Meta(description="The rule that resolved the call: same_scope, import, annotation, ..., unique_name.")
]
Certainty = Annotated[
    float, Meta(ge=0, le=1, description="Estimated share of correct calls among those found by this rule.")
]


class CallEnd(Shape, frozen=True):
    """The other end of calls from or to an item, and how they were resolved."""

    symbol_id: str
    how: How
    certainty: Certainty
    sites: Annotated[Number, Meta(description="Call sites, counted up to 255.")]
    state: Annotated[StateName | None, Meta(description="The decision; null if it is not a candidate.")]
    followed: Annotated[bool, Meta(description="Whether a search follows it; a guess is shown, and not followed.")]


class WalkedItem(Shape, frozen=True):
    """A fragment with its callers and callees, the most certain first."""

    symbol_id: str
    name: Annotated[str, Meta(description="Its qualified name; empty if it has none.")]
    file_path: str
    line_start: Count
    line_end: Count
    token_count: Count
    state: Annotated[StateName | None, Meta(description="The decision; null if it is not a candidate.")]
    rank: Number | None
    callers: list[CallEnd]
    callers_more: Count
    callees: list[CallEnd]
    callees_more: Count


class Together(Shape, frozen=True):
    """Items in the output that calls or inheritance connect, by rank."""

    symbol_ids: list[str]
    more: Count
    token_count: Count


class CallChain(Shape, frozen=True):
    """A shortest chain of several calls from one item in the output to another, through others that are not in it."""

    symbol_ids: list[str]
    hows: Annotated[list[How], Meta(description="The rule of each call.")]


class NextItem(Shape, frozen=True):
    """A fragment that is not in the output and is one call from it."""

    symbol_id: str
    token_count: Count
    state: Annotated[StateName | None, Meta(description="The decision; null where it is no candidate.")]
    rank: Number | None
    calls: Annotated[list[str], Meta(description="Items that leave and that it calls, by rank.")]
    calls_more: Count
    called_by: Annotated[list[str], Meta(description="Items that leave and that call it, by rank.")]
    called_by_more: Count
    joins: Annotated[Count, Meta(description="Parts of what leaves that it would join; 1 joins nothing.")]


class NextStep(Shape, frozen=True):
    """The fragments that are one call from the output: those that touch most of it first."""

    items: list[NextItem]
    count: Count
    token_count: Count
    candidates: Annotated[Count, Meta(description="Those of them that the search had already found.")]


class DeeperSearch(Shape, frozen=True):
    """The same search with one more step of calls: its additional candidates, and its other decisions."""

    depth: Number
    candidates: Annotated[Count, Meta(description="Candidates that only this step leads to.")]
    token_count: Count
    kept: Annotated[list[str], Meta(description="What would leave and does not now, by rank.")]
    kept_more: Count
    lost: Annotated[list[str], Meta(description="What leaves now and would not, by rank.")]
    lost_more: Count


class Walk(Shape, frozen=True):
    """The calls around the output."""

    nodes: Annotated[
        list[WalkedItem], Meta(description="What leaves and the best of what does not, by rank; then what they name.")
    ]
    nodes_more: Annotated[Count, Meta(description="Items that leave and are not listed.")]
    together: list[Together]
    together_more: Count
    alone: Annotated[list[str], Meta(description="Items that leave and that nothing connects with another, by rank.")]
    alone_more: Count
    chains: list[CallChain]
    next_step: NextStep
    deeper: DeeperSearch | None
