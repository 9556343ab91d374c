"""A workspace whose parts workers search: each the same plain search, with the statistics of the whole workspace. The
process that asks puts their candidates together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from secateur.executors.kept import kept
from secateur.index.elsewhere.members import MembersHere, members_here
from secateur.index.elsewhere.places import MemberPlace, PartPlace, WorkspacePlace
from secateur.index.facts.joined_snapshot import PartSnapshot
from secateur.index.facts.workspace_statistics import WorkspaceStatistics
from secateur.index.text_lines import TextLines
from secateur.model import FloatArray, IntArray
from secateur.retrieval.candidates import SearchResult
from secateur.retrieval.merge_parts import merge
from secateur.retrieval.part_search import search_part
from secateur.retrieval.rerank import Reranker
from secateur.retrieval.search import SearchQuestion, search
from secateur.retrieval.searched import SnapshotFunction

if TYPE_CHECKING:
    from secateur.index.elsewhere.workspace import WorkspaceElsewhere

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
    here = kept("parts", of, lambda: PartsHere(task.statistics, members_here(task.place)))
    return task.function(task.argument, here.snapshot(task.part), here.lines(task.part))


class PartsHere:
    """The parts that this worker has mapped."""

    def __init__(self, statistics: str, members: MembersHere) -> None:
        self._members = members
        self._statistics = WorkspaceStatistics.from_arrays(members.store.needed(statistics))
        self._mapped: dict[str, PartSnapshot] = {}
        self._texts = TextLines()

    def snapshot(self, part: PartPlace) -> PartSnapshot:
        """A part, mapped. Raises SecateurError: it is not in the store, or damaged there."""
        if part.file not in self._mapped:
            self._mapped[part.file] = PartSnapshot(self._members.store.needed(part.file), self._statistics)
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
        return next((data for _, data in self._members.opened(MemberPlace(member)).source.read([path])), None)

    def close(self) -> None:
        """Let go of the parts."""
        self._mapped.clear()
