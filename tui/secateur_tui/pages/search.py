"""A code search: its candidates by rank, with the terms of their priority. The pool of a query is read slowly and kept;
to select from it is pure and instant."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
from secateur.engine import Engine
from secateur.errors import SecateurError
from secateur.index.update.refresh import IndexStatus
from secateur.kinds.base import Outcome
from secateur.kinds.knobs import Knob
from secateur.kinds.search import knobs
from secateur.kinds.search.kind import Search, SearchDecision
from secateur.model import Channel, Pool, Reason, Selection
from secateur.progress import Progress, unreported
from secateur.render.layouts import body
from secateur.render.page import shown_notices
from secateur.selection.pool_trials import PoolTrials
from secateur.settings import Settings
from secateur.sources.workspace_file import is_workspace
from secateur.terminal import cell_width, clip, visible
from secateur.what_if.trials import Trials
from secateur_lab.scenarios.check import OpenedScenario
from secateur_lab.scenarios.running import Decided, Listed
from secateur_lab.scenarios.scenario import Recorded

from secateur_tui.glossary import draw_words
from secateur_tui.pages.kind_page import KindPage, Scene
from secateur_tui.short_names import shorten_paths
from secateur_tui.state.answer import SearchAnswer
from secateur_tui.state.bench_state import BenchState, Inputs
from secateur_tui.styled_text import Line, Span, line, wrap_words
from secateur_tui.widgets import item_pages
from secateur_tui.widgets.candidates import CandidateListing, draw_gap, draw_trim_diff, draw_why
from secateur_tui.widgets.listing import ItemListing

INDEXING = "indexing"

PART = "part"  # the digest of the index that marks a partial answer

MEANWHILE = "What you ask now is answered from the most promising files, until the whole answer is ready."


@dataclass(frozen=True, eq=False)
class Retrieved:
    """A pool, and the digest of the index it was retrieved from."""

    pool: Pool
    snapshot: str


class SearchPage(KindPage[Any, SearchDecision]):
    """`SearchPage(engine, path, rev)`; path and rev as the command line has them."""

    instant: bool = True
    preparing: ClassVar[str] = INDEXING
    reading: ClassVar[str] = "searching"
    nothing_asked: ClassVar[str] = "there is no query yet"
    listing_type: ClassVar[type[ItemListing]] = CandidateListing
    knobs_title: ClassVar[str] = "Weights"

    def __init__(self, engine: Engine, path: str, rev: str | None = None, opened: OpenedScenario | None = None) -> None:
        super().__init__(Search(), opened)
        self.engine, self.path, self.rev = engine, path, rev
        self.fields = (self.kind.inputs[0],)
        self.watch = engine
        self._of_workspace = is_workspace((self.outside.base or Path()) / path)
        self.indexed: IndexStatus | None = None

    # --- reading and deciding ---

    @property
    def prepared(self) -> bool:
        return self.indexed is not None

    def prepare(self, progress: Progress) -> None:
        self.indexed = self.engine.refresh(progress)

    def reading_key(self, inputs: Inputs, settings: Settings) -> tuple[int, str, object]:
        return settings.graph_rag.max_depth, inputs["query"], knobs.pool_key(settings)

    def serves(self, had: Any, wanted: Any) -> bool:
        """Tells whether a pool of no smaller depth was retrieved: a smaller depth is a mask on it."""
        return bool(had[0] >= wanted[0] and had[1:] == wanted[1:])

    def start_watching(self, inputs: Inputs) -> None:
        """Does nothing: the engine knows what it has read."""

    def read(self, inputs: Inputs, settings: Settings, progress: Progress) -> Retrieved:
        pool = self.engine.retrieve(inputs["query"], settings)
        self.indexed = self.engine.status()
        return Retrieved(pool, self.indexed.snapshot)

    def read_part(self, inputs: Inputs, settings: Settings, progress: Progress) -> Retrieved | None:
        """Returns None for a scenario, whose decisions are compared with whole answers only."""
        if self.scenario is not None:
            return None
        pool = self.engine.retrieve_partial(inputs["query"], settings, progress=progress)
        return Retrieved(pool, PART) if pool is not None else None

    def is_part(self, material: Retrieved) -> bool:
        return material.snapshot == PART

    def release(self) -> None:
        """Does nothing: the application closes the engine."""

    def fresh(self, material: Retrieved | None) -> bool | None:
        if self.indexed is None:
            return None
        return material is None or material.snapshot == self.indexed.snapshot

    def decide(
        self, material: Retrieved, inputs: Inputs, settings: Settings, progress: Progress = unreported
    ) -> SearchAnswer:
        selection = self.engine.select(material.pool, settings)
        return SearchAnswer.of(settings, Search().outcome_of(self.engine, selection, settings))

    def _leaving_parts(self, answer: Any, outcome: Outcome[SearchDecision]) -> Iterator[tuple[int, str]]:
        for row, text in super()._leaving_parts(answer, outcome):
            yield row, body(text)

    def make_baseline(self, recorded: Recorded, decided: Decided, settings: Settings) -> Any:
        """Returns the recorded decisions over the candidates of now and those that are gone. What was not recorded did
        not leave; its rank is not known."""
        ledger, ranks = decided.ledger, {item.id: item.rank or 0 for item in recorded.items}
        numbers = range(len(ledger.entries) - 1)
        every = tuple(Listed(row, ledger.ids[row], ledger.entries[row], ledger.rank[row]) for row in numbers)
        answer = super().make_baseline(recorded, replace(decided, listed=every), settings)
        rank = np.array([ranks.get(id_, 0) for id_ in answer.ids], dtype=np.int64)
        order = np.lexsort((rank, rank == 0))
        order = order[answer.reason[order] != Reason.WRAPPER]
        return replace(answer, rank=rank, order=order, leaving=order[answer.after[order] > 0])

    # --- items ---

    def source_text(self, answer: SearchAnswer, item: int) -> str:
        try:
            return self.engine.content(answer.selection.pool, item)
        except SecateurError:  # the file changed: its text is not the text that was found
            return ""

    # --- proofs ---

    def trials(self, state: BenchState[Any]) -> Trials | None:
        answer: Any = state.answer
        if answer is None:
            return None
        return PoolTrials(answer.selection.pool, answer.settings, answer.selection, self._count_pack)

    def _count_pack(self, selection: Selection) -> int:
        try:
            return self.engine.pack_tokens(selection)
        except SecateurError:  # a file changed: its text is not the text that was found
            return selection.used + selection.last_line

    # --- knobs and inputs ---

    def knobs_of(self, settings: Settings) -> Sequence[Knob]:
        return knobs.knobs_of(settings)

    def knob_notes(self, state: BenchState[Any]) -> Mapping[str, str]:
        key: Any = state.reading.key if state.reading is not None else (0,)
        depth, answer = key[0], state.answer_in_force
        masked = depth > state.settings.graph_rag.max_depth
        short = isinstance(answer, SearchAnswer) and answer.ordered_by != answer.selection.strategy
        return {
            **({knobs.DEPTH.key: f"  of {depth} retrieved"} if masked else {}),
            **({knobs.STRATEGY.key: "  here by priority"} if short else {}),
        }

    def given(self, inputs: Inputs) -> dict[str, Any]:
        none = self.kind.blank_inputs()
        return none | {"query": inputs["query"], "path": self.path, "rev": self.rev or none["rev"]}

    # --- drawing ---

    def source(self, scene: Scene) -> str:
        return self.engine.source_name

    def counter(self, scene: Scene) -> str:
        pool = _pool(scene)
        return pool.counter if pool is not None else super().counter(scene)

    def count_items(self, scene: Scene) -> tuple[int, str] | None:
        pool = _pool(scene)
        return (len(pool), "candidate") if pool is not None else None

    def listing(self, scene: Scene) -> ItemListing:
        listing = super().listing(scene)
        listing.of_workspace = self._of_workspace
        return listing

    def draw_caption(self, scene: Scene, cells: int) -> Line:
        answer: Any = scene.state.answer
        return draw_gap(answer.selection, cells, answer.ordered_by) if answer is not None else ()

    def draw_notices(self, scene: Scene, cells: int) -> list[Line]:
        answer: Any = scene.state.answer
        warnings = shown_notices(answer.selection.warnings) if answer is not None else ()
        texts = [shorten_paths(f"! {visible(warning.message)}", cells) for warning in warnings]
        return [part for text in texts for part in wrap_words(text, cells, "warning")]

    def draw_blank(self, scene: Scene, cells: int) -> Sequence[Line]:
        state, jobs, pool = scene.state, scene.jobs, _pool(scene)
        if jobs.error is not None:
            return item_pages.draw_error(jobs.error, cells)
        if jobs.activity == INDEXING and state.answer is None and (jobs.progress is not None or state.asks):
            return item_pages.draw_progress(
                self.engine.source_name, jobs.progress, cells, "files", "" if state.asks else MEANWHILE
            )
        if not state.asks:
            return self._draw_first_screen(scene, cells)
        if pool is not None and not len(pool) and not state.needs_reading:
            return item_pages.draw_no_match(state.question, pool, self.indexed, cells)
        return [line("searching …")]

    def _draw_first_screen(self, scene: Scene, cells: int) -> list[Line]:
        keys, status = scene.keys, self.indexed
        lines: list[Line] = [line(Span("Ask in the words of the task, or name what you mean.", "bold")), ()]
        if scene.examples:
            lines.append(line(Span("This repository suggests:", "faint")))
            for case in scene.examples:
                shown = clip(visible(" ".join(case.query.split())), max(10, cells - 2))
                beside = f"{case.drawn_from}, cut at {case.budget:,}"
                fits = cell_width(shown) + cell_width(beside) + 4 <= cells  # the question comes first
                lines.append(line("  ", Span(shown, "accent"), Span(f"  {beside}" if fits else "", "faint")))
            lines.append(())
        suggested = keys.first_key("suggested")
        known = f", {suggested} lists these questions" if scene.examples and suggested else ""
        hint = f"{keys.first_key('query')} goes to the query, {keys.first_key('help')} shows every key{known}."
        if scene.typing:
            hint = f"A pause asks. Esc leaves the query; then {keys.first_key('help')} shows every key{known}."
        return [*lines, *wrap_words(hint, cells, "faint"), *item_pages.draw_indexed(status, cells)]

    def draw_why(self, scene: Scene, cells: int) -> Sequence[Line]:
        answer, row = scene.state.answer, scene.state.cursor
        if not isinstance(answer, SearchAnswer) or not len(answer):
            return []
        decision, pool = answer.selection.decision(row), answer.selection.pool
        words = ["priority", *decision.terms]
        words += ["churn rank", "complexity rank"] if decision.terms.get("hotspot") else []
        words += [channel.name.lower() for channel in Channel if int(pool.channels[row]) >> channel & 1]
        words += ["anchor"] if pool.anchor[row] else []
        words += [part for part, column in pool.parts.get("relevance", {}).items() if column[row]]
        drawn = draw_why(answer, row, cells, query_lines=scene.query_lines, commits=scene.commits)
        return [*drawn, (), *draw_words(words, cells)]

    def draw_diff(self, scene: Scene, cells: int) -> Sequence[Line]:
        return draw_trim_diff(scene.state.comparison, cells)


def _pool(scene: Scene) -> Pool | None:
    reading = scene.state.reading
    return cast("Retrieved", reading.material).pool if reading is not None else None
