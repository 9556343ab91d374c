"""Searches a workspace whose parts workers hold. Each part runs the same plain search with the statistics of the whole
workspace; the process that asks merges their candidates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from msgspec import Struct

from secateur.executors.executor import keep_open
from secateur.index.elsewhere.members import MembersHere, members_here
from secateur.index.elsewhere.places import MemberPlace, PartPlace, WorkspacePlace
from secateur.index.facts.joined_snapshot import PartSnapshot
from secateur.index.facts.workspace_statistics import WorkspaceStatistics
from secateur.index.text_lines import TextLines
from secateur.model import FloatArray, IntArray
from secateur.retrieval.candidates import SearchResult
from secateur.retrieval.part_merging import merge_parts
from secateur.retrieval.part_search import search_part
from secateur.retrieval.rerank import Reranker
from secateur.retrieval.search import SearchQuestion, search
from secateur.retrieval.searched import SnapshotFunction

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
