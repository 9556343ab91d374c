"""A code search: its candidates by rank, with the terms of their priority. The pool of a query is read slowly and kept;
to select from it is pure and instant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, cast

from secateur.engine import Engine
from secateur.errors import SecateurError
from secateur.example_queries import ExampleQuery
from secateur.index.update.refresh import IndexStatus
from secateur.kinds.base import Outcome
from secateur.kinds.knobs import Knob
from secateur.kinds.search import knobs
from secateur.kinds.search.kind import Search, SearchDecision
from secateur.model import Channel, Pool, Selection
from secateur.progress import Progress, unreported
from secateur.render.pack import body
from secateur.render.page import count_noun, shown_notices
from secateur.selection.pool_trials import PoolTrials
from secateur.settings import Settings
from secateur.sources.workspace_file import is_workspace
from secateur.terminal import cell_width, clip, visible
from secateur.what_if.trials import Trials
from secateur_lab.scenarios.opened_scenario import OpenedScenario
from secateur_lab.scenarios.running import Decided
from secateur_lab.scenarios.scenario import Recorded

from secateur_tui.glossary import draw_words
from secateur_tui.pages.kind_page import KindPage
from secateur_tui.pages.scene import Scene
from secateur_tui.short_names import shorten_paths
from secateur_tui.state.bench_state import BenchState
from secateur_tui.state.kind_reader import Field, Inputs
from secateur_tui.state.search_answer import SearchAnswer, SearchRequest, restore_answer
from secateur_tui.styled_text import Line, Span, line, wrap_words
from secateur_tui.widgets import blank
from secateur_tui.widgets.candidate_list import CandidateListing, draw_gap, draw_trim_diff
from secateur_tui.widgets.listing import ItemListing
from secateur_tui.widgets.why import draw_why


def draw_first_screen(
    status: IndexStatus | None,
    examples: Sequence[ExampleQuery],
    keys: tuple[str, str, str],
    cells: int,
    *,
    typing: bool,
) -> list[Line]:
    """Draws what can be asked.

    Args:
        keys: of the query, of the help, and of the list of suggested questions.
        typing: whether the keys go to the query.
    """
    query_key, help_key, suggested = keys
    lines: list[Line] = [line(Span("Ask in the words of the task, or name what you mean.", "bold")), ()]
    if examples:
        lines.append(line(Span("This repository suggests:", "faint")))
        lines += [_draw_question(case.query, f"{case.drawn_from}, cut at {case.budget:,}", cells) for case in examples]
        lines.append(())
    known = f", {suggested} lists these questions" if examples and suggested else ""
    if typing:
        hint = f"A pause asks. Esc leaves the query; then {help_key} shows every key{known}."
    else:
        hint = f"{query_key} goes to the query, {help_key} shows every key{known}."
    lines += wrap_words(hint, cells, "faint")
    if status is not None:
        words = f"{count_noun(status.files, 'file')}, {count_noun(status.fragments, 'fragment')} indexed"
        lines += [(), *wrap_words(words, cells, "faint")]
    return lines


def _draw_question(query: str, beside: str, cells: int) -> Line:
    shown = clip(visible(" ".join(query.split())), max(10, cells - 2))
    fits = beside and cell_width(shown) + cell_width(beside) + 4 <= cells  # the question comes first
    return line("  ", Span(shown, "accent"), *([Span(f"  {beside}", "faint")] if fits else []))


INDEXING = "indexing"

PART = "part"
"""The digest of the index that marks a partial answer."""

MEANWHILE = "What you ask now is answered from the files that promise most; the whole answer takes its place."


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
        search = Search()
        super().__init__(search, opened)
        self.engine, self.path, self.rev = engine, path, rev
        query = search.inputs[0]
        self.fields = (Field(query.name, query.title, query.placeholder, lines=query.lines),)
        self.watch = engine
        self._of_workspace = is_workspace((self.outside.base or Path()) / path)
        self.indexed: IndexStatus | None = None

    # --- reading and deciding ---

    @property
    def prepared(self) -> bool:
        return self.indexed is not None

    def prepare(self, progress: Progress) -> None:
        self.indexed = self.engine.refresh(progress)

    def reading_key(self, inputs: Inputs, settings: Settings) -> SearchRequest:
        return SearchRequest(inputs["query"], settings)

    def serves(self, had: SearchRequest, wanted: SearchRequest) -> bool:
        return had.serves(wanted)

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
        return restore_answer(
            recorded,
            SearchAnswer.of(settings, decided.outcome),
            super().make_baseline(recorded, decided, settings).outcome,
        )

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

    def trial_item(self, answer: SearchAnswer, item: int) -> int | None:
        return item if len(answer) else None

    def trial_name(self, answer: SearchAnswer, item: int) -> str:
        pool = answer.selection.pool
        return pool.qualname[item] or pool.path[item].rpartition("/")[2]

    # --- knobs and inputs ---

    def knobs_of(self, settings: Settings) -> Sequence[Knob]:
        return knobs.knobs_of(settings)

    def knob_notes(self, state: BenchState[Any]) -> Mapping[str, str]:
        had = cast("SearchRequest", state.reading.key) if state.reading is not None else None
        depth = had.settings.graph_rag.max_depth if had is not None else 0
        masked = depth > state.settings.graph_rag.max_depth
        answer = state.answer_in_force
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
        answer = _answer(scene)
        return draw_gap(answer.selection, cells, answer.ordered_by) if answer is not None else ()

    def draw_notices(self, scene: Scene, cells: int) -> list[Line]:
        answer = _answer(scene)
        warnings = shown_notices(answer.selection.warnings) if answer is not None else ()
        texts = [shorten_paths(f"! {visible(warning.message)}", cells) for warning in warnings]
        return [part for text in texts for part in wrap_words(text, cells, "warning")]

    def draw_blank(self, scene: Scene, cells: int) -> Sequence[Line]:
        state, keys, jobs, pool = scene.state, scene.keys, scene.jobs, _pool(scene)
        if jobs.error is not None:
            return blank.draw_error(jobs.error, cells)
        if jobs.activity == INDEXING and state.answer is None and (jobs.progress is not None or state.asks):
            meanwhile = "" if state.asks else MEANWHILE
            return blank.draw_progress(self.engine.source_name, jobs.progress, cells, "files", meanwhile)
        if not state.asks:
            shown = keys.first_key("query"), keys.first_key("help"), keys.first_key("suggested")
            return draw_first_screen(self.indexed, scene.examples, shown, cells, typing=scene.typing)
        if pool is not None and not len(pool) and not state.needs_reading:
            return blank.draw_no_match(state.question, pool, self.indexed, cells)
        return [line("searching …")]

    def draw_why(self, scene: Scene, cells: int) -> Sequence[Line]:
        answer = _answer(scene)
        if answer is None or not len(answer):
            return []
        return [
            *draw_why(
                answer,
                scene.state.cursor,
                cells,
                query_lines=scene.query_lines,
                commits=scene.commits,
                exact=scene.exact,
            ),
            (),
            *draw_words(_find_words(answer, scene.state.cursor), cells),
        ]

    def draw_diff(self, scene: Scene, cells: int) -> Sequence[Line]:
        return draw_trim_diff(scene.state.comparison, cells)


def _answer(scene: Scene) -> SearchAnswer | None:
    return cast("SearchAnswer | None", scene.state.answer)


def _pool(scene: Scene) -> Pool | None:
    reading = scene.state.reading
    return cast("Retrieved", reading.material).pool if reading is not None else None


def _find_words(answer: SearchAnswer, row: int) -> Iterator[str]:
    decision, pool = answer.selection.decision(row), answer.selection.pool
    yield from ("priority", *decision.terms)
    yield from ("churn rank", "complexity rank") if decision.terms.get("hotspot") else ()
    yield from (channel.name.lower() for channel in Channel if int(pool.channels[row]) >> channel & 1)
    yield from ("anchor",) if pool.anchor[row] else ()
    yield from (part for part, column in pool.parts.get("relevance", {}).items() if column[row])
