"""Searches a workspace whose parts workers hold. Each part runs the same plain search with the statistics of the whole
workspace; the process that asks merges their candidates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from secateur.executors.executor import keep_open
from secateur.index.elsewhere.members import MembersHere, members_here
from secateur.index.elsewhere.places import MemberPlace, PartPlace, WorkspacePlace
from secateur.index.facts.joined_snapshot import PartSnapshot
from secateur.index.facts.snapshot import Snapshot
from secateur.index.facts.workspace_statistics import WorkspaceStatistics
from secateur.index.graph.code_graph import Direction, Reach
from secateur.index.opened_index import TextLines
from secateur.model import FloatArray, IntArray, union
from secateur.retrieval.candidates import PartEvidence, PartFew, PartSteps, SearchResult, rows_in_part
from secateur.retrieval.evidence.columns import BestFew, Lines
from secateur.retrieval.part_merging import merge_parts
from secateur.retrieval.relevance import COMPARED, best_rows, total, weights_for
from secateur.retrieval.rerank import Reranker, document_of
from secateur.retrieval.search import (
    BOTH,
    ChosenRows,
    ScoredFragments,
    SearchQuestion,
    anchor_rows,
    eligible_rows,
    follow_calls,
    pinned_rows,
    relevant_rows,
    score_fragments,
    search,
    search_result,
)
from secateur.retrieval.searched import SnapshotFunction
from secateur.settings import Relevance

if TYPE_CHECKING:
    from secateur.index.elsewhere.workspace import WorkspaceElsewhere


T = TypeVar("T")


class SearchedParts(Struct, frozen=True):
    """Implements `Searched` for a workspace whose parts workers hold; see the module docstring."""

    workspace: WorkspaceElsewhere

    def search(self, question: SearchQuestion, reranker: Reranker | None) -> SearchResult:
        """See `Searched.search`. If there is only one part, it is searched like a snapshot in this process."""
        if len(self.workspace.parts.places) == 1 and reranker is None:
            return self.each(search, question)[0]
        return merge_results(self.each(search_part, question), question, reranker)

    def each(self, function: SnapshotFunction[T], argument: Any) -> list[T]:
        """See `Searched.each`."""
        workspace, parts = self.workspace, self.workspace.parts
        tasks = [PartTask(workspace.place, parts.file, part, function, argument) for part in parts.places]
        return workspace.all(answer_part, tasks, [part.file for part in parts.places])

    def frequency(self, term: int) -> int:
        """See `Searched.frequency`."""
        return self.workspace.parts.statistics.counts["body"].count(term)


def merge_results(results: Sequence[SearchResult], question: SearchQuestion, reranker: Reranker | None) -> SearchResult:
    """Merges the results of all parts. For `reranker` see `Searched.search`."""
    if reranker is None:
        return merge_parts(results, question)
    texts: dict[int, str] = {}
    begin = 0
    for result in results:
        documents = result.part.documents if result.part is not None else {}
        texts |= {begin + position: text for position, text in documents.items()}
        begin += len(result.candidates)

    def rerank(rows: IntArray) -> FloatArray:
        similarity, has_text = np.zeros(len(rows)), np.array([row in texts for row in rows.tolist()], dtype=np.bool_)
        documents = [texts[row] for row in rows[has_text].tolist()]
        similarity[has_text] = reranker.similarity(question.query.text_for_model, documents)
        return similarity

    return merge_parts(results, question, rerank)


class PartTask(Struct, frozen=True):
    """Says which function a worker calls on which part. `statistics` is the file of the store that holds the statistics
    of the whole workspace."""

    place: WorkspacePlace
    statistics: str
    part: PartPlace
    function: SnapshotFunction[Any]
    argument: Any


def answer_part(task: PartTask) -> Any:
    """Calls the function of a task on its part. Runs in a worker, which keeps its parts mapped for the next task."""
    key = task.place, task.statistics
    parts = keep_open("parts", key, lambda: MappedParts(task.statistics, members_here(task.place)))
    return task.function(task.argument, parts.snapshot(task.part), parts.lines(task.part))


class MappedParts:
    """Holds the parts that this worker has mapped into memory."""

    def __init__(self, statistics: str, members: MembersHere) -> None:
        self._members = members
        self._statistics = WorkspaceStatistics.from_arrays(members.store.require(statistics))
        self._mapped: dict[str, PartSnapshot] = {}
        self._texts = TextLines()

    def snapshot(self, part: PartPlace) -> PartSnapshot:
        """Maps a part. Raises SecateurError if the store does not hold it, or holds it damaged."""
        if part.file not in self._mapped:
            self._mapped[part.file] = PartSnapshot(self._members.store.require(part.file), self._statistics)
        return self._mapped[part.file]

    def lines(self, part: PartPlace) -> Callable[[str], list[str]]:
        """Returns a function that reads the lines of a file by its path. It raises RepositoryError if the file changed
        since it was indexed."""

        def read_lines(path: str) -> list[str]:
            name, _, path_in_member = path.partition("/")
            return self._texts.of(self.snapshot(part), path, lambda: self._read(part, name, path_in_member))

        return read_lines

    def _read(self, part: PartPlace, name: str, path: str) -> bytes | None:
        self._members.make_room(1)
        member = next(member for member in part.members if member.name == name)
        return next((data for _, data in self._members.open_member(MemberPlace(member)).source.read([path])), None)

    def close(self) -> None:
        """Lets go of the parts."""
        self._mapped.clear()


SPARE_ANCHORS = 4
"""Factor on top_k for the likely anchors of a part: the scores among all parts may order its fragments differently."""


def search_part(question: SearchQuestion, snapshot: Snapshot, lines: Lines | None) -> SearchResult:
    """Searches one part and returns its likely candidates, in the order of their rows.

    Merging looks for copies among the best of all parts. So no fragment counts as a copy here, and COMPARED more become
    candidates: they replace the copies that merging will find. It is not known here either whether the best fragment of
    all parts is good enough for anchors.
    """
    settings, weights = question.settings, weights_for(question.query, question.settings.relevance)
    weights = replace(weights, penalty=replace(weights.penalty, duplicate=0.0))
    rules, rag = replace(settings.relevance, pool_cap=settings.relevance.pool_cap + COMPARED), settings.graph_rag
    scored = score_fragments(question, snapshot, lines, weights)
    score = scored.scores.relevance
    inside = rows_in_part(snapshot, rag.only)
    eligible = eligible_rows(scored.scores, 1.0, settings)
    first, anchors = anchor_rows(score, eligible, inside, scored.texts.tokens, SPARE_ANCHORS * rag.top_k)
    reached, pinned = follow_calls(snapshot, anchors, settings), pinned_rows(snapshot, settings)
    compared = best_rows(_score_for_comparing(question, scored, weights), max(COMPARED, rules.reranked))
    rows = union(reached[0].nodes.astype(np.int64), union(pinned, relevant_rows(score, inside, rules)))
    rows = union(rows, union(compared, best_rows(score, 1)))
    alone = {row: follow_calls(snapshot, np.array([row]), settings) for row in anchors.tolist()}
    result = search_result(question, snapshot, scored, ChosenRows(first, anchors, inside, reached, rows))
    part = PartEvidence(
        columns={name: column[rows] for name, column in scored.evidence.columns.items()},
        kept=scored.kept[rows],
        vectors=scored.texts.vectors[rows],
        present=scored.scores.present,
        best_few={name: _gather_best_few(column, rows) for name, column in scored.evidence.best_few.items()},
        steps=(_gather_steps(alone, 0), _gather_steps(alone, 1), _gather_steps(alone, 2)),
        hubs=[(root, hub, snapshot.symbol_id(hub)) for root, (reach, _, _) in alone.items() for hub in reach.hubs],
        pinned=np.isin(rows, pinned),
        documents=_read_documents(snapshot, lines, rows, compared[: rules.reranked])
        if question.model and lines
        else {},
        size=len(snapshot),
    )
    return msgspec.structs.replace(result, part=part)


def _score_for_comparing(question: SearchQuestion, scored: ScoredFragments, weights: Relevance) -> FloatArray:
    """Returns the score that decides which fragments are compared with each other, and with the query by a better
    model."""
    if question.settings.graph_rag.anchors == "embedding":
        return scored.evidence.columns["semantic"]
    return scored.kept * total(scored.evidence.columns, weights)


def _gather_best_few(best_few: BestFew, rows: IntArray) -> PartFew:
    columns = [best_few.column(count) for count in range(len(best_few.keys[0]) + 1)]
    largest = np.array([column.max(initial=0.0) for column in columns])
    return PartFew(best_few.keys, best_few.most, np.stack([column[rows] for column in columns]), largest)


def _gather_steps(alone: Mapping[int, tuple[Reach, Reach, Reach]], kind: int) -> PartSteps:
    """Gathers the steps of one kind as columns. `alone` holds what calls reach from each anchor alone."""
    reaches = [reached[kind] for reached in alone.values()]

    def join_column(name: str) -> IntArray:
        columns = [np.zeros(0, dtype=np.int64), *(getattr(reach, name) for reach in reaches)]
        return np.concatenate(columns).astype(np.int64)

    ways = [BOTH.index(Direction(edge)) if edge else -1 for reach in reaches for edge in reach.predecessor_edge]
    return PartSteps(
        root=np.repeat(np.array([*alone], dtype=np.int64), [len(reach) for reach in reaches]),
        node=join_column("nodes"),
        predecessor=join_column("predecessor"),
        depth=join_column("depth"),
        confidence=join_column("confidence"),
        way=np.array(ways, dtype=np.int64),
    )


def _read_documents(snapshot: Snapshot, lines: Lines, rows: IntArray, chosen: IntArray) -> dict[int, str]:
    """Reads the texts of the chosen rows, by their position among the candidates."""
    positions = np.flatnonzero(np.isin(rows, chosen)).tolist()
    return {position: document_of(snapshot, lines, int(rows[position])) for position in positions}
