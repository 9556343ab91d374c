"""A workspace whose parts workers search: each the same plain search, with the statistics of the whole workspace. The
process that asks puts their candidates together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from secateur.executors.kept import keep_open
from secateur.index.elsewhere.members import MembersHere, members_here
from secateur.index.elsewhere.places import MemberPlace, PartPlace, WorkspacePlace
from secateur.index.facts.joined_snapshot import PartSnapshot
from secateur.index.facts.workspace_statistics import WorkspaceStatistics
from secateur.index.text_lines import TextLines
from secateur.model import FloatArray, IntArray
from secateur.retrieval.candidates import SearchResult
from secateur.retrieval.rerank import Reranker
from secateur.retrieval.search import SearchQuestion, search
from secateur.retrieval.searched import SnapshotFunction

if TYPE_CHECKING:
    from secateur.index.elsewhere.workspace import WorkspaceElsewhere
from collections.abc import Collection, Mapping
from dataclasses import replace
from itertools import accumulate

import msgspec

from secateur.index.facts.names import NEAR_LIMIT
from secateur.index.facts.snapshot import Snapshot
from secateur.index.graph.code_graph import Direction, Reach
from secateur.model import UNREACHABLE, union
from secateur.retrieval.candidates import (
    CallWalk,
    Candidates,
    PartEvidence,
    PartFew,
    PartSteps,
    anchors_of,
    joined_rows,
    rows_in_part,
    taken_rows,
)
from secateur.retrieval.evidence import BestFew, Lines, near_by_calls
from secateur.retrieval.relevance import (
    COMPARED,
    Rerank,
    Scores,
    Texts,
    best_rows,
    relevance,
    similarity_alone,
    total,
    weights_for,
)
from secateur.retrieval.rerank import document_of
from secateur.retrieval.search import (
    BOTH,
    ChosenRows,
    ScoredFragments,
    anchor_rows,
    eligible_rows,
    follow_calls,
    pinned_rows,
    relevant_rows,
    score_fragments,
    search_result,
    walked_channels,
)
from secateur.settings import Relevance

SPARE_ANCHORS = 3
"""Times top_k likely anchors of a part: among all parts the order of its fragments is a little another."""


def search_part(question: SearchQuestion, snapshot: Snapshot, lines: Lines | None) -> SearchResult:
    """The likely candidates of a part, in the order of their rows.

    Copies are looked for among the best of all parts, so that here none is one, and as many more may be candidates as
    they leave behind. Whether the best of all is good enough for anchors is not known either.
    """
    settings, weights = question.settings, weights_for(question.query, question.settings.relevance)
    weights = replace(weights, penalty=replace(weights.penalty, duplicate=0.0))
    rules, rag = replace(settings.relevance, pool_cap=settings.relevance.pool_cap + COMPARED), settings.graph_rag
    found = score_fragments(question, snapshot, lines, weights)
    score = found.scores.relevance
    inside = rows_in_part(snapshot, rag.only)
    eligible = eligible_rows(found.scores, 1.0, settings)
    first, anchors = anchor_rows(score, eligible, inside, found.texts.tokens, SPARE_ANCHORS * rag.top_k)
    reached, pinned = follow_calls(snapshot, anchors, settings), pinned_rows(snapshot, settings)
    compared = best_rows(_first_score(question, found, weights), max(COMPARED, rules.reranked))
    rows = union(reached[0].nodes.astype(np.int64), union(pinned, relevant_rows(score, inside, rules)))
    rows = union(rows, union(compared, best_rows(score, 1)))
    alone = {row: follow_calls(snapshot, np.array([row]), settings) for row in anchors.tolist()}
    result = search_result(question, snapshot, found, ChosenRows(first, anchors, inside, reached, rows))
    part = PartEvidence(
        columns={name: column[rows] for name, column in found.evidence.columns.items()},
        kept=found.kept[rows],
        vectors=found.texts.vectors[rows],
        present=found.scores.present,
        few={name: _few(one, rows) for name, one in found.evidence.few.items()},
        steps=(_steps(alone, 0), _steps(alone, 1), _steps(alone, 2)),
        hubs=[(root, hub, snapshot.symbol_id(hub)) for root, (reach, _, _) in alone.items() for hub in reach.hubs],
        pinned=np.isin(rows, pinned),
        documents=_documents(snapshot, lines, rows, compared[: rules.reranked]) if question.model and lines else {},
        size=len(snapshot),
    )
    return msgspec.structs.replace(result, part=part)


def _first_score(question: SearchQuestion, found: ScoredFragments, weights: Relevance) -> FloatArray:
    """The score by which fragments are compared with each other, and with the query by a better model."""
    if question.settings.graph_rag.anchors == "embedding":
        return found.evidence.columns["semantic"]
    return found.kept * total(found.evidence.columns, weights)


def _few(few: BestFew, rows: IntArray) -> PartFew:
    columns = [few.column(count) for count in range(len(few.keys[0]) + 1)]
    largest = np.array([column.max(initial=0.0) for column in columns])
    return PartFew(few.keys, few.most, np.stack([column[rows] for column in columns]), largest)


def _steps(alone: Mapping[int, tuple[Reach, Reach, Reach]], kind: int) -> PartSteps:
    """The steps of a kind, from each anchor alone."""
    reaches = [reached[kind] for reached in alone.values()]

    def behind(name: str) -> IntArray:
        columns = [np.zeros(0, dtype=np.int64), *(getattr(reach, name) for reach in reaches)]
        return np.concatenate(columns).astype(np.int64)

    ways = [BOTH.index(Direction(edge)) if edge else -1 for reach in reaches for edge in reach.predecessor_edge]
    return PartSteps(
        root=np.repeat(np.array([*alone], dtype=np.int64), [len(reach) for reach in reaches]),
        node=behind("nodes"),
        predecessor=behind("predecessor"),
        depth=behind("depth"),
        confidence=behind("confidence"),
        way=np.array(ways, dtype=np.int64),
    )


def _documents(snapshot: Snapshot, lines: Lines, rows: IntArray, chosen: IntArray) -> dict[int, str]:
    """The texts of the chosen rows, by their place among the candidates."""
    places = np.flatnonzero(np.isin(rows, chosen)).tolist()
    return {place: document_of(snapshot, lines, int(rows[place])) for place in places}


def merge(found: Sequence[SearchResult], question: SearchQuestion, rerank: Rerank | None = None) -> SearchResult:
    """The result of all parts, each of which `search` was asked for with `part`."""
    settings = question.settings
    parts = [one.part for one in found if one.part is not None]
    sizes = [len(one.candidates) for one in found]
    rows = joined_rows([one.candidates for one in found])
    begins = _begins([part.size for part in parts])
    number = rows.number + np.repeat(begins, sizes)
    scores = _scores(question, parts, rows, rerank)
    eligible = eligible_rows(scores, found[0].occurring, settings) & rows.anchor
    inside = ~rows.elsewhere if settings.graph_rag.only else None
    first, anchors = anchor_rows(scores.relevance, eligible, inside, rows.tokens, settings.graph_rag.top_k)
    walk = _walk(parts, number, anchors)
    pinned = np.concatenate([part.pinned for part in parts])
    chosen = pinned | (walk.distance != UNREACHABLE)
    if len(first):
        chosen[relevant_rows(scores.relevance, inside, settings.relevance)] = True
    order = np.lexsort((number, rows.tokens, -scores.relevance))
    best = int(np.argmax(scores.relevance)) if len(rows) else -1
    suggestions: dict[str, list[str]] = {}
    for one in found:
        for written, near in one.suggestions.items():
            suggestions[written] = [*dict.fromkeys([*suggestions.get(written, ()), *near])][:NEAR_LIMIT]
    merged = msgspec.structs.replace(
        rows,
        relevance=scores.relevance,
        parts=scores.parts,
        channels=walked_channels(scores.channels, scores.relevance, walk, settings.relevance),
        anchor=np.isin(np.arange(len(rows)), anchors),
        number=number,
        walk=walk,
    )
    return msgspec.structs.replace(
        found[0],
        candidates=taken_rows(merged, order[chosen[order]]),
        suggestions=suggestions,
        anchors=len(first),
        best=float(scores.relevance[first[0]]) if len(first) else 0.0,
        nearest=(float(scores.relevance[best]), rows.symbol_id[best]) if best >= 0 else (-1.0, ""),
        relevant=sum(one.relevant for one in found) - int(((rows.relevance > 0) & (scores.relevance == 0)).sum()),
        hubs=_hubs(parts, begins, set(number[anchors].tolist())),
        known=[symbol for one in found for symbol in one.known],
        part=None,
    )


def _scores(question: SearchQuestion, parts: Sequence[PartEvidence], rows: Candidates, rerank: Rerank | None) -> Scores:
    columns = {name: np.concatenate([part.columns[name] for part in parts]) for name in parts[0].columns}
    for name in parts[0].few:
        columns[name] = _of_best_few(name, [part.few[name] for part in parts])
    weights = weights_for(question.query, question.settings.relevance)
    if question.settings.graph_rag.anchors == "embedding":
        return similarity_alone(columns, weights, rerank)
    kept, vectors = (
        np.concatenate(arrays) for arrays in zip(*((part.kept, part.vectors) for part in parts), strict=True)
    )
    texts = Texts(rows.path, np.arange(len(rows)), rows.tokens, vectors)
    return relevance(columns, kept, texts, weights, rerank, frozenset().union(*(part.present for part in parts)))


def _of_best_few(name: str, parts: Sequence[PartFew]) -> FloatArray:
    """The column of all candidates, where the best few are those of all parts together."""
    owner = np.repeat(np.arange(len(parts)), [len(part.keys[0]) for part in parts])
    keys = [np.concatenate(columns) for columns in zip(*(part.keys for part in parts), strict=True)]
    best = np.lexsort((np.arange(len(owner)), *reversed(keys)))[: parts[0].most]
    counts = np.bincount(owner[best], minlength=len(parts)).tolist()
    column = np.concatenate([part.columns[count] for part, count in zip(parts, counts, strict=True)])
    if name != "near":
        return column
    return near_by_calls(column, max(part.largest[count] for part, count in zip(parts, counts, strict=True)))


def _walk(parts: Sequence[PartEvidence], number: IntArray, anchors: IntArray) -> CallWalk:
    """The walk from the anchors, of what was reached from each of them alone. `number`: of each candidate among the
    rows of all parts, ascending."""
    of_all, calling, called = (
        _steps_of_all([part.steps[kind] for part in parts], _begins([part.size for part in parts])) for kind in range(3)
    )
    depth, predecessor, way = _nearest(of_all, number, anchors)
    deepest = int(depth.max(initial=0))
    depths = [_nearest(steps, number, anchors)[0] for steps in (calling, called)]
    links = []
    for steps in (calling, called):
        near = np.flatnonzero(np.isin(steps.root, number[anchors]))
        columns = (column[near].tolist() for column in (steps.root, steps.node, steps.depth))
        links.append(anchors_of(zip(*columns, strict=True), number))
    return CallWalk(
        distance=np.where(depth < 0, UNREACHABLE, depth + 1),
        predecessor=predecessor,
        predecessor_edge=[str(BOTH[one]) if one >= 0 else "" for one in way.tolist()],
        caller_depth=np.where(depths[0] > deepest, 0, np.maximum(depths[0], 0)),
        callee_depth=np.where(depths[1] > deepest, 0, np.maximum(depths[1], 0)),
        calls=links[0],
        called=links[1],
    )


def _hubs(parts: Sequence[PartEvidence], begins: Sequence[int], anchors: Collection[int]) -> list[str]:
    """The symbol ids of hubs that the anchors led to, by their rows."""
    hubs = {
        begin + hub: symbol
        for part, begin in zip(parts, begins, strict=True)
        for root, hub, symbol in part.hubs
        if begin + root in anchors
    }
    return [symbol for _, symbol in sorted(hubs.items())]


def _nearest(steps: PartSteps, number: IntArray, anchors: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Per candidate the fewest steps from an anchor (-1: none lead there), the row before it and the direction of the
    last step: of equally many the most certain one, then from what was found first."""
    depth, predecessor, way = (np.full(len(number), -1) for _ in range(3))
    found_first = np.full(len(number), len(number))
    found_first[anchors] = np.arange(len(anchors))
    steps = taken_rows(steps, np.flatnonzero(np.isin(steps.root, number[anchors])))
    for level in range(int(steps.depth.max(initial=-1)) + 1):
        new = taken_rows(steps, np.flatnonzero(steps.depth == level))
        place = np.searchsorted(number, new.node)
        before = found_first[np.searchsorted(number, np.maximum(new.predecessor, number[0]))]
        order = np.lexsort((new.way, before, -new.confidence, place))
        order = order[depth[place[order]] < 0]
        order = order[np.flatnonzero(np.diff(place[order], prepend=-1))]
        at = place[order]
        depth[at], predecessor[at], way[at] = level, new.predecessor[order], new.way[order]
        if level:
            found_first[at[np.lexsort((at, -new.confidence[order]))]] = np.arange(len(at))
    return depth, predecessor, way


def _steps_of_all(parts: Sequence[PartSteps], begins: Sequence[int]) -> PartSteps:
    return joined_rows(
        [
            msgspec.structs.replace(
                steps,
                root=steps.root + begin,
                node=steps.node + begin,
                predecessor=np.where(steps.predecessor >= 0, steps.predecessor + begin, -1),
            )
            for steps, begin in zip(parts, begins, strict=True)
        ]
    )


def _begins(sizes: Sequence[int]) -> list[int]:
    return [0, *accumulate(sizes)][:-1]


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PartTask:
    """A function of one part of a workspace, with the file of the store that holds the statistics of the whole."""

    place: WorkspacePlace
    statistics: str
    part: PartPlace
    function: SnapshotFunction[Any]
    argument: Any


@dataclass(frozen=True, slots=True)
class SearchedParts:
    """See the module docstring, and `Searched`."""

    workspace: WorkspaceElsewhere

    def search(self, question: SearchQuestion, reranker: Reranker | None) -> SearchResult:
        """As `Searched.search`. A part that is all is answered from as where it is searched here."""
        if len(self.workspace.parts.places) == 1 and reranker is None:
            return self.each(search, question)[0]
        return merged_result(self.each(search_part, question), question, reranker)

    def each(self, function: SnapshotFunction[T], argument: Any) -> list[T]:
        """As `Searched.each`."""
        workspace, parts = self.workspace, self.workspace.parts
        tasks = [PartTask(workspace.place, parts.file, part, function, argument) for part in parts.places]
        return workspace.all(answered_by_part, tasks, [part.file for part in parts.places])

    def frequency(self, term: int) -> int:
        """As `Searched.frequency`."""
        return self.workspace.parts.statistics.counts["body"].count(term)


def merged_result(found: Sequence[SearchResult], question: SearchQuestion, reranker: Reranker | None) -> SearchResult:
    """The result of all parts; `reranker` as of `Searched.search`."""
    if reranker is None:
        return merge(found, question)
    texts: dict[int, str] = {}
    begin = 0
    for one in found:
        texts |= {begin + place: text for place, text in one.part.documents.items()} if one.part is not None else {}
        begin += len(one.candidates)

    def rerank(rows: IntArray) -> FloatArray:
        similarity, told = np.zeros(len(rows)), np.array([row in texts for row in rows.tolist()], dtype=np.bool_)
        documents = [texts[row] for row in rows[told].tolist()]
        similarity[told] = reranker.similarity(question.query.text_for_model, documents)
        return similarity

    return merge(found, question, rerank)


# --- in a worker ------------------------------------------------------------------------------------------------------


def answered_by_part(task: PartTask) -> Any:
    """The result of a function for one part."""
    of = task.place, task.statistics
    here = keep_open("parts", of, lambda: PartsHere(task.statistics, members_here(task.place)))
    return task.function(task.argument, here.snapshot(task.part), here.lines(task.part))


class PartsHere:
    """The parts that this worker has mapped."""

    def __init__(self, statistics: str, members: MembersHere) -> None:
        self._members = members
        self._statistics = WorkspaceStatistics.from_arrays(members.store.require(statistics))
        self._mapped: dict[str, PartSnapshot] = {}
        self._texts = TextLines()

    def snapshot(self, part: PartPlace) -> PartSnapshot:
        """A part, mapped. Raises SecateurError: it is not in the store, or damaged there."""
        if part.file not in self._mapped:
            self._mapped[part.file] = PartSnapshot(self._members.store.require(part.file), self._statistics)
        return self._mapped[part.file]

    def lines(self, part: PartPlace) -> Callable[[str], list[str]]:
        """The lines of a file by its path; raises RepositoryError where it changed since."""

        def of(path: str) -> list[str]:
            name, _, own = path.partition("/")
            return self._texts.of(self.snapshot(part), path, lambda: self._read(part, name, own))

        return of

    def _read(self, part: PartPlace, name: str, path: str) -> bytes | None:
        self._members.make_room(1)
        member = next(one for one in part.members if one.name == name)
        return next((data for _, data in self._members.open_member(MemberPlace(member)).source.read([path])), None)

    def close(self) -> None:
        """Let go of the parts."""
        self._mapped.clear()
