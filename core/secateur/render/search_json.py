"""Converts a selection to the JSON of `search`, with its ledger. Numbers are rounded to six digits.

A model or a log that asked for 4,000 tokens must not get 250,000 characters of dropped candidates. So what is listed
besides kept candidates is limited. A kept candidate always has every field, and its entry in the ledger. Repeated facts
are cut first: actions of kept candidates, which the ledger has too; then their callers and callees; then dropped
candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, cached_property
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType, structs

from secateur import model
from secateur.ledger import VERBS, WRAPPER, LedgerShape, Notice, Sums, WhatIf, plain_action
from secateur.render.page import notices_of
from secateur.shape import SCHEMA_VERSION, Count, Number, Shape, Version, written_size
from secateur.tokens import Counter
from secateur.what_if import CurveShape, KnobRanges, NotExaminedShape, NotKnownShape, Ranges

JSON_LIMIT = 40_000  # most characters of `dropped`, `graph` and `report.actions` together
DROPPED_LISTED = 20  # dropped candidates that are listed by default
_SLACK = 800  # characters for the brackets of these lists, and for the entries that count unlisted items


def fit_extent(*lists: Sequence[int]) -> tuple[int, ...]:
    """Returns how many items of each list fit into JSON_LIMIT. The last items of the first list are cut first.

    Args:
        lists: characters of each item, best first.
    """
    over = sum(map(sum, lists)) - (JSON_LIMIT - _SLACK)
    counts = []
    for sizes in lists:
        count = len(sizes)
        while over > 0 and count > 0:
            count -= 1
            over -= sizes[count]
        counts.append(count)
    return tuple(counts)


WRAPPER_SECTION, _HEADINGS = "pack", "headings"  # the wrapper in the context-budget spec's report


def count_pack(selection: model.Selection, pack: str, counter: Counter) -> int:
    """Counts the tokens of the rendered pack; 0 if nothing goes out: a message about that is not context."""
    return counter.count(pack) if selection.kept_rows else 0


class _Entries(Sequence[model.Entry]):
    def __init__(self, selection: model.Selection, after: Callable[[], int]) -> None:
        self._selection, self._after = selection, after
        self._position = cache(lambda: {row: position for position, row in enumerate(selection.pack_rows, 1)})

    def __len__(self) -> int:
        return len(self._selection) + 1

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [self[row] for row in range(len(self))[number]]
        row, selection = range(len(self))[number], self._selection
        if row == len(selection):
            return model.Entry(
                WRAPPER, model.State.KEPT, model.Reason.WRAPPER, 0, self._after() - int(selection.tokens_after.sum())
            )
        decision = selection.decision(row)
        return model.Entry(
            selection.pool.symbol_id[row],
            decision.state,
            decision.reason,
            decision.tokens_before,
            decision.tokens_after,
            decision.figures,
            decision.terms,
            self._position().get(row),
            selection.pool.redactions.get(row, ()),
        )


class SelectionLedger(model.Ledger, frozen=True, eq=False, dict=True):
    """The ledger of a search, over the columns of its selection: an entry for each of 100,000 rows costs a second."""

    selection: model.Selection

    @cached_property
    def ids(self) -> Sequence[str]:
        return [*self.selection.pool.symbol_id, WRAPPER]

    @cached_property
    def number_of(self) -> Mapping[str, int]:
        return self.selection.pool.row_of

    @cached_property
    def order(self) -> Sequence[int]:
        return self.selection.order.data

    @cached_property
    def rank(self) -> Sequence[int]:
        return self.selection.rank.data

    @cached_property
    def redactions(self) -> Sequence[tuple[int, model.Redaction]]:
        taken = self.selection.pool.redactions
        return [(row, redaction) for row in (self.order if taken else ()) for redaction in taken.get(row, ())]

    @cached_property
    def sums(self) -> Mapping[model.State, Sums]:
        masks, before, after = self.selection.state, self.selection.pool.tokens, self.selection.tokens_after
        rows = {state: masks == state for state in model.State}
        return {state: Sums(int(at.sum()), int(before[at].sum()), int(after[at].sum())) for state, at in rows.items()}

    def listed(self, dropped: int | None, ids: Collection[str] = ()) -> Sequence[int]:
        selection, row_of = self.selection, self.number_of
        if dropped == 0 and not ids:
            return selection.kept_rows  # nothing else is put in order
        rows = {*selection.kept_rows, *selection.dropped_rows[:dropped], *(row_of[id_] for id_ in ids if id_ in row_of)}
        return sorted(rows, key=lambda row: self.rank[row])


def search_ledger(selection: model.Selection, count: Callable[[], int]) -> model.Ledger:
    """Returns the ledger of a code search. `count`: counts the tokens of the pack."""
    count, before = cache(count), int(selection.pool.tokens.sum())
    return SelectionLedger("search", selection.budget, before, count, _Entries(selection, count), selection)


def search_action(entry: model.Entry) -> model.TrimAction | None:
    """Returns an entry of a code search as an action; None for a wrapper without tokens."""
    if entry.id == WRAPPER:
        return model.TrimAction(WRAPPER_SECTION, VERBS[entry.state], _HEADINGS, 0, entry.after) if entry.after else None
    return plain_action(entry)


DIGITS = 6  # digits after the point: the quantum of scores

Relation = Literal["anchor", "caller", "callee", "both", "related"]


class CandidateFields(Shape, frozen=True):
    """The fields of every candidate."""

    file_path: str
    line_start: Count
    line_end: Count
    line_range: str
    symbol_id: str
    kind: str
    language: str
    relevance_score: float
    hotspot_score: float
    distance: Annotated[Count | None, Meta(description="null: no path reaches it.")]
    depth: int | None
    path: Annotated[list[str], Meta(description="Ids from the anchor to the last step before it.")]
    relation: Relation | None
    priority: float
    terms: dict[str, float]
    source: Literal["graph", "embedding"]
    channels: list[str]
    token_count: Count
    decision: model.DecisionShape
    parts: Annotated[
        dict[str, dict[str, float]] | UnsetType, Meta(description="With --explain: the terms of each signal.")
    ] = UNSET


class DroppedCandidate(CandidateFields, frozen=True):
    """A candidate that is not in the output."""

    what_if: Annotated[WhatIf | UnsetType | None, Meta(description="With --explain.")] = UNSET


class Candidate(CandidateFields, frozen=True, kw_only=True):
    """A candidate in the output: it always has every field, however many candidates there are."""

    content: str
    what_if: Annotated[WhatIf | UnsetType | None, Meta(description="With --explain.")] = UNSET


class Neighbour(Shape, frozen=True):
    """A caller or a callee of `anchors`, which may be one itself; `depth` counts the calls to the nearest."""

    symbol_id: str
    file_path: str
    depth: Number
    anchors: Annotated[list[str], Meta(description="Symbols of the anchors, nearest first.")]


class Neighbours(Shape, frozen=True):
    """The callers and callees of the anchors that are in the output."""

    callers: list[Neighbour]
    callees: list[Neighbour]


class QueryKindShape(Shape, frozen=True):
    """The kind of the query, the name that it asks about, and the reason for that kind."""

    kind: str
    subject: str
    because: str


class PartialShape(Shape, frozen=True):
    """The part of the repository behind an answer that was made before the rest was indexed."""

    files: Count
    of: Count
    bytes: Count
    of_bytes: Count


class SearchOutput(Shape, frozen=True, kw_only=True):
    """The output of `secateur search --format json`."""

    schema_version: Version
    source: str
    query: str
    token_count: Annotated[Count, Meta(description="Of the pack.")]
    budget: Count
    counter: str
    embedding: str
    anchored_by: str
    profile: str
    query_kind: Annotated[QueryKindShape, Meta(description="Unless `relevance.query_kind` is off.")] | UnsetType = UNSET
    format: (
        Annotated[Literal["xml"], Meta(description="Of the pack that this is decided for, if not Markdown.")]
        | UnsetType
    ) = UNSET
    partial: Annotated[PartialShape, Meta(description="With --partial, before all is indexed.")] | UnsetType = UNSET
    message_tokens: Annotated[Count, Meta(description="If no candidate is in the output.")] | UnsetType = UNSET
    candidates: list[Candidate]
    dropped: list[DroppedCandidate]
    graph: Neighbours
    report: model.TrimReport
    ledger: LedgerShape
    warnings: list[Notice]
    ranges: Ranges | UnsetType = UNSET
    knob_ranges: KnobRanges | UnsetType = UNSET
    curve: CurveShape | UnsetType = UNSET
    not_known: NotKnownShape | UnsetType = UNSET
    not_examined: NotExaminedShape | UnsetType = UNSET


def json_report(
    selection: model.Selection,
    content: Callable[[int], str],
    shortened: Callable[[int], str],
    pack_tokens: int,
    *,
    explain: bool = False,
    dropped: int | UnsetType | None = UNSET,
    message_tokens: int = 0,
) -> SearchOutput:
    """Returns the output of `search --format json` for `dumps_report`.

    JSON_LIMIT holds unless `explain` or more than DROPPED_LISTED are asked for; a notice `json_shortened` says what is
    not listed.

    Args:
        content: text of a pool row; asked only for rows kept whole.
        shortened: what goes out of a pool row; asked only for shortened rows.
        pack_tokens: from `count_pack`, for the rendered pack.
        dropped: most entries of `dropped`, best first; the ledger counts the rest in one entry. None: all; by default
            DROPPED_LISTED.
        message_tokens: of what the pack says where nothing goes out.
    """
    dropped = DROPPED_LISTED if dropped is UNSET else dropped
    kept, others = selection.kept_rows, selection.dropped_rows[:dropped]
    pool, ledger = selection.pool, search_ledger(selection, lambda: pack_tokens)
    graph = []  # callers and callees of the anchors in the output, in the order of rank (SC-GRAG-002)
    for links in (pool.calls, pool.called):
        neighbours = {}
        for row in kept if links else ():
            if near := links[row]:
                ids = [pool.symbol_id[anchor] for anchor, _ in near]
                neighbours[row] = Neighbour(pool.symbol_id[row], pool.path[row], near[0][1], ids)
        graph.append(neighbours)
    everything = extent = tuple(map(len, (kept, kept, others)))
    items = {row: _candidate(selection, row, explain) for row in (*kept, *others)}
    if not explain and dropped is not None and dropped <= DROPPED_LISTED:
        entries = {row: ledger.entries[row] for row in (*kept, *others)}
        action = {row: written_size(action_) for row, entry in entries.items() if (action_ := search_action(entry))}
        extent = fit_extent(
            [action[row] for row in kept],
            [sum(written_size(at[row]) for at in graph if row in at) for row in kept],
            [written_size(items[row]) + action[row] + written_size(entries[row].shape()) for row in others],
        )
    acting, linked, most = extent
    listed = others[:most]
    notices = list(notices_of(selection))
    if extent != everything:
        names = "actions of kept candidates", "kept candidates in the graph", "dropped candidates"
        parts = zip(names, extent, everything, strict=True)
        shown = ", ".join(f"{count:,} of {of:,} {name}" for name, count, of in parts if count < of)
        limits = f"To stay within {JSON_LIMIT:,} characters beside what is kept"
        notices.append(Notice("json_shortened", f"{limits}, this lists {shown}; --dropped all lists everything."))
    report = ledger.report(search_action, numbers=[*kept[:acting], *listed])
    sent = [(row, (shortened if selection.state[row] == model.State.SHORTENED else content)(row)) for row in kept]
    return SearchOutput(
        schema_version=SCHEMA_VERSION,
        source=pool.source,
        query=pool.query,
        token_count=pack_tokens,
        budget=selection.budget,
        counter=pool.counter,
        format="xml" if pool.format == "xml" else UNSET,
        embedding=pool.facts.get("embedding", "none"),
        anchored_by=pool.anchored_by,
        profile=selection.profile,
        query_kind=QueryKindShape(**told) if (told := pool.facts.get("query_kind")) else UNSET,
        partial=PartialShape(**part) if (part := pool.facts.get("partial")) else UNSET,
        message_tokens=UNSET if kept else message_tokens,
        candidates=[Candidate(**structs.asdict(items[row]), content=text) for row, text in sent],
        dropped=[DroppedCandidate(**structs.asdict(items[row])) for row in listed],
        graph=Neighbours(*([at[row] for row in kept[:linked] if row in at] for at in graph)),
        report=report,
        ledger=ledger.shape([*kept, *listed]),
        warnings=notices,
    )


def _candidate(selection: model.Selection, row: int, explain: bool) -> CandidateFields:
    pool, decision = selection.pool, selection.decision(row)
    start, end, distance = int(pool.line_start[row]), int(pool.line_end[row]), int(pool.distance[row])
    reached = distance != model.UNREACHABLE
    mask = int(pool.channels[row])
    parts = {
        signal: {part: _number(column[row]) for part, column in columns.items()}
        for signal, columns in (pool.parts.items() if explain else ())
    }
    return CandidateFields(
        file_path=pool.path[row],
        line_start=start,
        line_end=end,
        line_range=f"{start}-{end}",
        symbol_id=pool.symbol_id[row],
        kind=pool.kind[row],
        language=pool.language[row],
        relevance_score=_number(pool.relevance[row]),
        hotspot_score=_number(pool.hotspot[row]),
        distance=distance if reached else None,
        depth=distance - 1 if reached else None,
        path=[pool.symbol_id[step] for step in pool.call_path(row)[:-1]],
        relation=_relation(pool, row),
        priority=_number(decision.priority),
        terms={name: _number(term) for name, term in decision.terms.items()},
        source="graph" if not pool.anchor[row] and pool.predecessor[row] >= 0 else "embedding",
        channels=[channel.name.lower() for channel in model.Channel if mask >> channel & 1],
        token_count=decision.tokens_after or decision.tokens_before,
        decision=decision.shape(),
        parts=parts if explain else UNSET,
    )


def _relation(pool: model.Pool, row: int) -> Relation | None:
    """Returns the relation of a candidate to the anchors: "anchor"; "caller" if calls lead only from it to one;
    "callee" if calls lead only from one to it; "both" on a cycle; "related" if only calls in both directions connect
    them, such as another callee of a caller; None if no calls do."""
    if pool.anchor[row]:
        return "anchor"
    if pool.caller_depth[row] and pool.callee_depth[row]:
        return "both"
    if pool.caller_depth[row] or pool.callee_depth[row]:
        return "caller" if pool.caller_depth[row] else "callee"
    return "related" if pool.predecessor[row] >= 0 else None


def _number(value: float) -> float:
    return round(float(value), DIGITS) + 0.0  # no negative zero
