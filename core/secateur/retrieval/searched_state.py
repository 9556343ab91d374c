"""Holds one state of a repository for queries: its snapshot, the models, and the notices about it."""

from __future__ import annotations

from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from secateur.index.facts.embedding import Models, vectors_of
from secateur.index.facts.snapshot import Snapshot
from secateur.index.open_index import OpenIndex
from secateur.index.update.partial import PartialSnapshot
from secateur.model import Notice, Pool
from secateur.redaction import redact_typed
from secateur.retrieval.evidence.phrases import Lines
from secateur.retrieval.preference import Preferences
from secateur.retrieval.query import parse_with_kind, read_form_lines
from secateur.retrieval.retrieve import Reranker, Retrieval, retrieve_with_model
from secateur.settings import Settings
from secateur.tokens import get_counter


def _lines_below(lines: Lines, folder: str, path: str) -> list[str]:
    return lines(folder + path)


class SearchedState(Struct, frozen=True):
    """Holds the state that an index has read, or a part of it."""

    index: OpenIndex  # has a snapshot unless `part` is set
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
        index, part, snapshot = self.index, self.part, self.snapshot
        lines = partial(index.lines, snapshot)
        if index.only and not settings.graph_rag.only:
            settings = replace(settings, graph_rag=replace(settings.graph_rag, only=index.only))
        text, rules = redact_typed(query, settings.redaction), settings.relevance
        answered = set[str]()  # lines of issue forms
        if rules.issue_forms and len(text.splitlines()) > 1:  # a single line counts in full
            for folder, paths in snapshot.own_paths.items():
                answered |= read_form_lines(paths, partial(_lines_below, lines, folder))
        parsed, notices = parse_with_kind(text, snapshot.body.frequency, rules.query_kind, frozenset(answered))
        name = part.name if part is not None else index.status.snapshot if index.status else ""
        about_part = (part.notice,) if part is not None else ()
        retrieval = Retrieval(
            snapshot=snapshot,
            lines=lines,
            embedder=vectors_of(self.models, settings),
            counter=get_counter(settings.tokens.counter),
            commit=index.source.commit or name,
            format=form,
            preferences=self.preferences,
            notices=tuple(dict.fromkeys((*about_part, *self.notices, *index.warnings(snapshot), *notices))),
            partial=part.to_dict() if part is not None else None,
        )
        return retrieve_with_model(parsed, retrieval, settings, partial(self._reranker, settings))

    def _reranker(self, settings: Settings) -> Reranker:
        embedder = self.models.embedder(settings.embedding)
        assert embedder is not None
        return Reranker(embedder, self.index.store)
