"""The recipe of a search. Every front end goes through here.

refresh     source -> snapshot              reads what changed
retrieve    query, snapshot -> pool         slow, cached
select      pool, settings -> selection     instant, pure
output      selection -> text

with Engine.open("path/to/repository") as engine:
    selection = engine.search("where is the refund total rounded?")
    print(engine.render(selection))
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from secateur import directories
from secateur.errors import IndexingError
from secateur.index.facts.embedding import Models, vectors_of
from secateur.index.facts.extract import text_of
from secateur.index.facts.snapshot import Snapshot
from secateur.index.graph.code_graph import components, to_networkx
from secateur.index.update.parallel import Extractor
from secateur.index.update.refresh import Changes, IndexStatus, PartialSnapshot, RecordedState
from secateur.index.workspace_index import AnyOpener, open_index, opener_of
from secateur.model import Notice, Pool, Selection
from secateur.progress import Progress, unreported
from secateur.redaction import recognise_in_names, redact
from secateur.render.layouts import pack_format, render_message, render_pack
from secateur.render.search_json import SearchOutput, count_pack, json_report
from secateur.retrieval.cache import ResultCache
from secateur.retrieval.named_symbols import FirstFiles, IndexedSymbol, find_symbol
from secateur.retrieval.results import Preferences, Results, is_fleeting, preferences_of
from secateur.selection import select
from secateur.selection.select import fit_to_budget
from secateur.settings import Settings, condense_notices
from secateur.sources.git import HistoryCommit
from secateur.sources.git_addresses import FetchOptions
from secateur.sources.open import SourceOpener
from secateur.sources.source import Source
from secateur.tokens import Counter, get_counter
from secateur.version import __version__

if TYPE_CHECKING:  # what most searches never use is imported where it is
    import networkx

from msgspec import Struct

from secateur.index.open_index import OpenIndex
from secateur.redaction import redact_typed
from secateur.retrieval.query import parse_with_kind, read_form_lines
from secateur.retrieval.retrieve import Reranker, Retrieval, retrieve_with_model


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
                answered |= read_form_lines(paths, lambda path: lines(folder + path))  # noqa: B023 - called at once
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
            notices=tuple(dict.fromkeys((*about_part, *self.notices, *snapshot.notices, *notices))),
            partial=part.to_dict() if part is not None else None,
        )
        return retrieve_with_model(parsed, retrieval, settings, partial(self._reranker, settings))

    def _reranker(self, settings: Settings) -> Reranker:
        embedder = self.models.embedder(settings.embedding)
        assert embedder is not None
        return Reranker(embedder, self.index.store)


PARTIAL_BYTES = 750 * 1024  # most bytes of text in a partial answer: they are read in about two seconds


class Engine:
    """One source with its index and settings.

    Attributes:
        settings: those of `open`; `retrieve` and `select` take others where a front end changes them.
        source_name: the source for people, e.g. "orders @ 4f2c91d"; text from outside.
        warns_of_index: also of an index that this machine cannot write.
        retrievals: how often the slow phase really ran; a cached answer does not count.
    """

    def __init__(
        self,
        reopen: AnyOpener,
        settings: Settings,
        *,
        cache_dir: Path | None,
        config_dir: Path | None,
        environ: Mapping[str, str] | None = None,
        clock: Callable[[], float] = time.time,
        notices: tuple[Notice, ...] = (),
    ) -> None:
        environ = os.environ if environ is None else environ
        self.settings = settings
        self.warns_of_index, self.retrievals = True, 0
        self._config_dir = config_dir or directories.config_dir(environ)
        self._cache_dir = cache_dir or directories.cache_dir(environ)
        self._clock, self._given = clock, condense_notices(notices)
        self._index, self._models = open_index(reopen, self._cache_dir), Models(environ)
        self._snapshots: WeakKeyDictionary[Pool, Snapshot] = WeakKeyDictionary()  # what each pool was found in
        self._last: tuple[str, float, Pool | None] = (
            "",
            0.0,
            None,
        )  # key of the last pool, the end of its time, the pool
        self._recorded: RecordedState | None = None  # the state that `results` looked up
        self._turn = threading.RLock()  # one retrieval at a time: they share the source and the snapshot

    @classmethod
    def open(
        cls,
        path: str | Path,
        settings: Settings | None = None,
        *,
        rev: str | None = None,
        cache_dir: Path | None = None,
        config_dir: Path | None = None,
        environ: Mapping[str, str] | None = None,
        clock: Callable[[], float] = time.time,
        notices: tuple[Notice, ...] = (),
        fetching: FetchOptions | None = None,
        within: Sequence[Path] | None = None,
    ) -> Engine:
        """Open what `opener_of` takes. `notices`: what every answer is to warn of beside its own.

        Raises:
            UsageError: a revision of a workspace, or its file is malformed.
            RepositoryError: no such folder, not readable, unknown revision.
            IndexingError: another process holds the index for too long.
        """
        settings = settings or Settings()
        opener = opener_of(Path(path), rev, settings.index, fetching, within)
        folders = {"cache_dir": cache_dir, "config_dir": config_dir}
        return cls(opener, settings, **folders, environ=environ, clock=clock, notices=notices)

    @classmethod
    def of(
        cls,
        source: Source,
        settings: Settings | None = None,
        *,
        cache_dir: Path | None = None,
        config_dir: Path | None = None,
    ) -> Engine:
        """Opens an engine on any source as it is now. Files in memory are indexed in memory."""
        return cls(lambda: source, settings or Settings(), cache_dir=cache_dir, config_dir=config_dir)

    def move(self, path: str | Path, rev: str | None) -> None:
        """Go on with another commit of the same folder: only files that differ are read. Texts of earlier pools can no
        longer be asked for."""
        with self._turn:
            self._index.move(SourceOpener(Path(path), rev, self.settings.index))

    def close(self) -> None:
        """Close the index; the next process finds it as it is."""
        try:
            with self._turn, suppress(IndexingError):  # what was asked is answered; who asks next does without
                self._index.save()
        finally:
            self._index.close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def source_name(self) -> str:
        return self._index.source.describe()

    # --- the recipe ---------------------------------------------------------------------------------------------------

    def search(
        self,
        query: str,
        settings: Settings | None = None,
        *,
        format: str = "markdown",
        use_cache: bool = True,
        progress: Progress | None = None,
        partial: bool = False,
    ) -> Selection:
        """Both phases. The rendered pack never exceeds the budget. `partial`: from what `retrieve_partial` finds, if it
        does; `selection.pool.partial` says so."""
        settings = settings or self.settings
        pool = self.retrieve_partial(query, settings, format=format, progress=progress) if partial else None
        if pool is None:
            pool = self.retrieve(query, settings, format=format, use_cache=use_cache, progress=progress)
        return fit_to_budget(self.select(pool, settings), settings, self.pack_tokens)

    def results(self, *, use_cache: bool = True, progress: Progress | None = None) -> Results:
        """Looks at the source, and returns what is kept of its state (REQ-GRAG-004); the next `refresh` reads that."""
        with self._turn:
            self._recorded = self._index.record(self._extractor(self.settings), progress)
            return self._results(self.settings, self._recorded.name, use_cache)

    # --- its steps ----------------------------------------------------------------------------------------------------

    def refresh(self, progress: Progress | None = None, settings: Settings | None = None) -> IndexStatus:
        """Bring the index up to what the source holds now."""
        with self._turn:
            extractor = self._extractor(settings or self.settings)
            recorded, self._recorded = self._recorded or self._index.record(extractor, progress), None
            return self._index.load(recorded, extractor, progress)

    def retrieve(
        self,
        query: str,
        settings: Settings | None = None,
        *,
        format: str = "markdown",
        use_cache: bool = True,
        progress: Progress | None = None,
        refresh: bool = True,
    ) -> Pool:
        """Refreshes the index and finds the candidates; slow. Gives the last pool again where the same was asked within
        `graph_rag.cache_ttl`, unless without `use_cache` (SC-GRAG-005).
        `format` is the pack's, for which costs are bound. Without `refresh` only the first call looks at the source."""
        settings, shape = settings or self.settings, pack_format(format)
        with self._turn:
            status = self.refresh(progress, settings) if refresh or not self._index.status else self._index.status
            key = self._results(settings, status.snapshot, False).pool_key(query, settings, shape)
            last, end, pool = self._last
            if not use_cache or last != key or not 0 < end - self._clock() <= settings.graph_rag.cache_ttl:
                pool = self._found(query, settings, shape)
                last = "" if is_fleeting(pool.warnings) else key
                self._last = last, self._clock() + settings.graph_rag.cache_ttl, pool
            assert pool is not None
            self._snapshots[pool] = self._current()
            return pool

    def retrieve_partial(
        self,
        query: str,
        settings: Settings | None = None,
        *,
        format: str = "markdown",
        progress: Progress | None = None,
    ) -> Pool | None:
        """Finds the candidates in the most promising files, up to PARTIAL_BYTES. Returns None if no more is left to
        read, or no file has a word of the query. The index keeps what it reads; the pool is not cached. It may be
        called while another call reports progress."""
        settings = settings or self.settings
        choose = FirstFiles(query, settings.relevance)
        with self._turn:
            part = self._index.part(self._extractor(settings), choose, PARTIAL_BYTES, progress)
            return self._found(query, settings, pack_format(format), part) if part is not None else None

    def select(self, pool: Pool, settings: Settings | None = None) -> Selection:
        """Decides on the candidates; instant and pure."""
        return select(pool, settings or self.settings)

    def render(self, selection: Selection, format: str = "") -> str:
        """Renders the pack, the text that a model reads, as it was decided for, or in another format, for which the
        budget does not hold. An empty pack says why it is empty."""
        pool = selection.pool
        shown = replace(selection, pool=replace(pool, format=format)) if format not in ("", pool.format) else selection
        if not selection.kept_rows:
            return render_message(shown, self._counter_of(selection))
        return render_pack(shown, partial(self.content, pool), partial(self.sent, selection))

    def report(
        self, selection: Selection, *, explain: bool = False, dropped: int | UnsetType | None = UNSET
    ) -> SearchOutput:
        """Returns the answer that `search --format json` prints, without proofs.

        Args:
            explain: with what each signal is made of.
            dropped: most dropped candidates to list, None: all; without it DROPPED_LISTED.
        """
        texts = partial(self.content, selection.pool), partial(self.sent, selection)
        out = self._counter_of(selection).count(self.render(selection))
        return json_report(
            selection, *texts, out if selection.kept_rows else 0, explain=explain, dropped=dropped, message_tokens=out
        )

    def pack_tokens(self, selection: Selection) -> int:
        """Tokens of the pack, recounted: every output's `token_count`, held to the budget; 0 for no pack."""
        return count_pack(selection, self.render(selection), self._counter_of(selection))

    # --- what is known ------------------------------------------------------------------------------------------------

    def content(self, pool: Pool, row: int) -> str:
        """Text of a candidate, as it is in the source. Raises RepositoryError where its file changed since."""
        return text_of(self._lines(pool, row), int(pool.line_start[row]), int(pool.line_end[row]))

    def signature(self, pool: Pool, row: int) -> str:
        """Declaration lines of a candidate; raises like `content`."""
        return text_of(self._lines(pool, row), int(pool.sig_start[row]), int(pool.sig_end[row]))

    def sent(self, selection: Selection, row: int) -> str:
        """Returns the text that goes out of a candidate, or ""; raises like `content`."""
        out = selection.lines_out(row)
        return text_of(self._lines(selection.pool, row), *out) if out is not None else ""

    def changes_of(self, pool: Pool, row: int, limit: int = 5) -> list[HistoryCommit]:
        """Lists the last commits that changed the file of a candidate, newest first; its hotspot depends on them."""
        return self._index.source.changes_of(pool.path[row], limit)

    def status(self) -> IndexStatus:
        """Reports what is indexed and what was skipped at the last look; looks first if there was none."""
        return self._index.status or self.refresh()

    def changes(self) -> Changes:
        """Lists the differences from the state that was read last, without waiting for a retrieval of another thread;
        nothing is parsed or written. Raises RepositoryError where the source cannot be listed any more."""
        return self._index.changes()

    def unread(self) -> Changes | None:
        """Lists the differences, like `changes`, from the state that any process indexed last; None if none did."""
        with self._turn:
            return self._index.unread(self._extractor(self.settings))

    @property
    def index_bytes(self) -> int:
        """Bytes of the index on disk."""
        return self._index.size()

    def code(self) -> tuple[Snapshot, Callable[[str], list[str]]]:
        """Returns the indexed files and their lines by path, read if need be. A changed file raises RepositoryError."""
        snapshot = self._current()
        return snapshot, lambda path: self._index.lines(snapshot, path)

    def symbol(self, name: str, progress: Progress = unreported) -> IndexedSymbol:
        """Returns the indexed symbol of an id, of `file:line`, or of a name that only one has; see `find_symbol`."""
        snapshot, lines = self.code()
        return find_symbol(snapshot, name, lines, progress)

    @property
    def root(self) -> Path | None:
        """The folder that is searched; None if there is no folder."""
        return self._index.source.root

    def subjects(self, limit: int) -> list[str]:
        """Returns the first lines of the last commits' messages without credentials, newest first."""
        subjects = "\n".join(commit.subject for commit in self._index.source.history(limit))
        return redact(subjects, self.settings)[0].split("\n") if subjects else []

    def graph(self) -> networkx.MultiDiGraph[int]:
        """Returns the call graph as networkx; see `to_networkx`."""
        snapshot = self._current()
        paths = [snapshot.paths[int(file)] for file in snapshot.file]
        return to_networkx(snapshot.graph, [snapshot.symbol_id(row) for row in range(len(snapshot))], paths)

    def components(self) -> list[int]:
        """Sizes of the connected parts of the call graph, largest first."""
        return components(self.graph())

    def counter(self, settings: Settings | None = None) -> Counter:
        """Returns the token counter of the run."""
        return get_counter((settings or self.settings).tokens.counter)

    # --- inside -------------------------------------------------------------------------------------------------------

    def _found(self, query: str, settings: Settings, format_: str, part: PartialSnapshot | None = None) -> Pool:
        self.retrievals += 1
        snapshot = part.snapshot if part is not None else self._current()
        state = SearchedState(self._index, self._models, self._preferences(settings), self._notices, part)
        pool = state.retrieve(query, settings, format_)
        self._snapshots[pool] = snapshot
        recognise_in_names(dict.fromkeys(pool.path))
        return pool

    def _results(self, settings: Settings, snapshot: str, use_cache: bool) -> Results:
        rag, root = settings.graph_rag, self._index.source.root
        cache = None
        if use_cache and settings.redaction.enabled:
            cache = ResultCache.open(root, rag.cache_dir, self._cache_dir, ttl=rag.cache_ttl, clock=self._clock)
        state = [__version__, snapshot, self.source_name, [notice.to_dict() for notice in self._notices]]
        return Results(cache, state, self._preferences(settings))

    def _extractor(self, settings: Settings) -> Extractor:
        vectors = vectors_of(self._models, settings)
        return Extractor.of(settings, self.counter(settings), vectors, self._cache_dir)

    def _current(self) -> Snapshot:
        if self._index.snapshot is None:
            self.refresh()
        assert self._index.snapshot is not None
        return self._index.snapshot

    @property
    def _notices(self) -> tuple[Notice, ...]:
        return (*self._given, *self._index.notices[: None if self.warns_of_index else 0], *self._index.source.notices())

    def _lines(self, pool: Pool, row: int) -> list[str]:
        return self._index.lines_of(self._snapshots.get(pool) or self._current(), pool, row)

    def _counter_of(self, selection: Selection) -> Counter:
        return get_counter(selection.pool.counter)

    def _preferences(self, settings: Settings) -> Preferences:
        return preferences_of(self._config_dir, self._index.source.root, settings.preference, self._clock)
