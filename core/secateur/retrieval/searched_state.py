"""Holds one state of a repository for queries: its snapshot, the models, and the notices about it."""

from __future__ import annotations

from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from secateur.index.facts.degraded import warn_of_partly_read
from secateur.index.facts.models import Models, vectors_of
from secateur.index.facts.snapshot import Snapshot
from secateur.index.open_index import OpenIndex
from secateur.index.open_workspace import OpenWorkspace
from secateur.index.opened_index import OpenedIndex
from secateur.index.update.partial import PartialSnapshot
from secateur.model import Notice, Pool
from secateur.redaction import redact_typed
from secateur.retrieval.evidence.columns import Lines
from secateur.retrieval.preference import Preferences
from secateur.retrieval.query import Query, parse_with_kind, read_form_lines
from secateur.retrieval.rerank import Reranker
from secateur.retrieval.retrieve import Retrieval, retrieve_with_model
from secateur.retrieval.searched import Searched, SearchedSnapshot
from secateur.settings import Settings


def prepare_query(text: str, searched: Searched, settings: Settings) -> tuple[Query, tuple[Notice, ...]]:
    """Removes credentials from the text of a query and parses it. Returns the query, and notices about how it was
    read."""
    text, rules = redact_typed(text, settings.redaction), settings.relevance
    form: frozenset[str] = frozenset()
    if rules.issue_forms and len(text.splitlines()) > 1:  # a single line counts in full
        form = form.union(*searched.each(lines_of_forms, None))
    return parse_with_kind(text, searched.frequency, rules.query_kind, form)


def lines_of_forms(_: object, snapshot: Snapshot, lines: Lines | None) -> frozenset[str]:
    """Reads the lines of the issue forms of each repository in a snapshot."""
    if lines is None:
        return frozenset()
    of_forms: set[str] = set()
    for folder, paths in snapshot.own_paths.items():
        of_forms |= read_form_lines(paths, partial(_lines_below, lines, folder))
    return frozenset(of_forms)


def _lines_below(lines: Lines, folder: str, path: str) -> list[str]:
    return lines(folder + path)


class SearchedState(Struct, frozen=True):
    """Holds the state that an index has read, or a part of it."""

    index: OpenedIndex  # has a snapshot unless `part` is set
    models: Models
    preferences: Preferences
    notices: tuple[Notice, ...]  # about the source, the index and the engine's input
    part: PartialSnapshot | None = None

    @property
    def snapshot(self) -> Snapshot:
        """The snapshot that is searched."""
        snapshot = self.part.snapshot if self.part is not None else self.index.snapshot
        assert snapshot is not None
        return snapshot

    def retrieve(self, query: str, settings: Settings, form: str) -> Pool:
        """Runs the slow phase. `form` is the format of the pack. Raises what `retrieve_with_model` raises."""
        index, part, searched = self.index, self.part, self._searched
        if index.only and not settings.graph_rag.only:
            settings = replace(settings, graph_rag=replace(settings.graph_rag, only=index.only))
        parsed, notices = prepare_query(query, searched, settings)
        name = part.name if part is not None else index.status.snapshot if index.status else ""
        about_part = (part.notice,) if part is not None else ()
        facts = index.facts(self.snapshot)
        retrieval = Retrieval(
            searched=searched,
            embedder=vectors_of(self.models, settings),
            counter=self.models.counter(settings.tokens.counter),
            commit=index.source.commit or name,
            format=form,
            preferences=self.preferences,
            notices=tuple(
                dict.fromkeys(
                    (*about_part, *self.notices, *facts.notices, *warn_of_partly_read(facts.partly_read), *notices)
                )
            ),
            partial=part.to_dict() if part is not None else None,
        )
        return retrieve_with_model(parsed, retrieval, settings, partial(self._reranker, settings))

    def _reranker(self, settings: Settings) -> Reranker:
        embedder = self.models.embedder(settings.embedding)
        assert embedder is not None
        return Reranker(embedder, self.index.store)

    @property
    def _searched(self) -> Searched:
        if self.part is not None or isinstance(self.index, OpenIndex | OpenWorkspace):
            return SearchedSnapshot(self.snapshot, partial(self.index.lines, self.snapshot))
        from secateur.index.elsewhere.workspace import WorkspaceElsewhere  # most searches have no workers
        from secateur.retrieval.searched_parts import SearchedParts

        assert isinstance(self.index, WorkspaceElsewhere)
        return SearchedParts(self.index)
