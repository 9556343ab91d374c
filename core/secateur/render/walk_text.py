"""The walk along the calls of a search: who calls whom among its items, which items are connected, and the next step of
calls; as values and as sections of a report.

The values are both what the engine answers (`Engine.walk`) and the shape of the field `walk` in the JSON of `search`.
Lists are bounded; what is not listed is counted beside them. All orders are total.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated

from msgspec import Meta

from secateur.ledger import State, StateName
from secateur.render.page import Section, count_noun
from secateur.shape import Count, Number, Shape
from secateur.terminal import visible

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

    @property
    def sides(self) -> Sequence[tuple[str, Sequence[CallEnd], int]]:
        """Its callers and its callees: the words for them, those that are listed, and how many more there are."""
        return ("called by", self.callers, self.callers_more), ("calls", self.callees, self.callees_more)


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


ITEMS_SHOWN = 10  # most items whose calls the text shows, and most items of the next step
ENDS_SHOWN = 3  # most callers, and most callees, of each item
NAMES_SHOWN = 8  # most names in one line
# The rules that resolve calls, in words.
RULES: Mapping[str, str] = MappingProxyType(
    {
        "same_scope": "defined in the same scope",
        "self_mro": "found in a base class",
        "super": "super()",
        "import": "imported",
        "package": "same package",
        "annotation": "type of the receiver",
        "constructor": "constructor",
        "default_export": "default export",
        "linkage": "the only definition linked",
        "implementation": "implements what is declared",
        "override": "overrides what is called",
        "unique_name": "guess: the only one of this name",
        "ambiguous": "guess: one of few of this name",
    }
)

_NAMELESS = re.compile(r"L\d+")

GLYPHS: Mapping[str, str] = MappingProxyType({state.label: state.glyph for state in State})


def walk_sections(walk: Walk) -> tuple[Section, ...]:
    """Returns the sections, in the order of a reader's questions."""
    parts: list[str] = []
    for part in walk.together:
        together = f"{len(part.symbol_ids) + part.more:,} together, {part.token_count:,} tokens"
        parts.append(f"  {together}: {_names(part.symbol_ids, part.more)}")
    parts += _more(walk.together_more)
    if walk.alone:
        parts.append(f"  {len(walk.alone) + walk.alone_more:,} alone: {_names(walk.alone, walk.alone_more)}")
    parts = parts or ["  nothing goes out"]
    sections = [Section(parts, title="what hangs together by calls and inheritance")]

    calls: list[str] = []
    shown = [item for item in walk.nodes if item.state not in (None, State.DROPPED.label)]
    for item in shown[:ITEMS_SHOWN]:
        calls.append(f"  #{item.rank} {visible(item.symbol_id)}")
        for word, ends, more in item.sides:
            for end in ends[:ENDS_SHOWN]:
                glyph = f"{GLYPHS[end.state]} " if end.state else ""
                calls.append(f"    {word:<9} {glyph}{visible(end.symbol_id)}  ({rule_of(end)})")
            if rest := len(ends) + more - len(ends[:ENDS_SHOWN]):
                calls.append(f"    {word:<9} … and {rest:,} more")
    calls += _more(len(shown) + walk.nodes_more - ITEMS_SHOWN)
    sections += [Section(calls, title="calls")] if calls else []

    if walk.chains:
        chains = ["  " + " → ".join(map(_name, chain.symbol_ids)) for chain in walk.chains[:ITEMS_SHOWN]]
        chains += _more(len(walk.chains) - ITEMS_SHOWN)
        title = "shortest chains of calls between what goes out, through what does not"
        sections.append(Section(chains, title=title))

    step, further = walk.next_step, list[str]()
    for near in step.items[:ITEMS_SHOWN]:
        sides = ("calls", near.calls, near.calls_more), ("called by", near.called_by, near.called_by_more)
        touched = ", ".join(f"{word} {_names(symbols, more)}" for word, symbols, more in sides if symbols)
        joins = f"; joins {near.joins:,} parts" if near.joins > 1 else ""
        state = "" if near.state is None else f"{GLYPHS[near.state]} #{near.rank} "
        further.append(f"  {state}{visible(near.symbol_id)}  {near.token_count:,} tokens; {touched}{joins}")
    further += _more(step.count - ITEMS_SHOWN)
    if (deeper := walk.deeper) is not None:
        found = f"{count_noun(deeper.candidates, 'further candidate')} ({deeper.token_count:,} tokens)"
        further.append(f"  searched again with --depth {deeper.depth}: {found}")
        for word, ids, more in (("in", deeper.kept, deeper.kept_more), ("out", deeper.lost, deeper.lost_more)):
            further += [f"    {word:<3} {len(ids) + more:,}: {_names(ids, more)}"] if ids else []
        further += [] if deeper.kept or deeper.lost else ["    the same goes out"]
    fragments = f"{count_noun(step.count, 'fragment')}, {step.token_count:,} tokens"
    title = f"one call further: {fragments}, {step.candidates:,} of them candidates"
    return (*sections, Section(further, title=title))


def rule_of(end: CallEnd) -> str:
    """Says how the calls of an end were resolved: "imported, certain 0.96, 2 calls"."""
    sites = "" if end.sites == 1 else f", {end.sites} calls"
    return f"{RULES.get(end.how, end.how)}, certain {end.certainty:.2f}{sites}"


def _names(symbols: Sequence[str], more: int) -> str:
    shown = symbols[:NAMES_SHOWN]
    rest = len(symbols) + more - len(shown)
    return ", ".join(map(_name, shown)) + (f" … and {rest:,} more" if rest > 0 else "")


def _name(symbol: str) -> str:
    path, _, name = symbol.rpartition("::")
    return visible(f"{path.rpartition('/')[2]}::{name}" if _NAMELESS.fullmatch(name) else name)


def _more(count: int) -> list[str]:
    return [f"  … and {count:,} more"] if count > 0 else []
