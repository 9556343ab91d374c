"""The Search bench: a query, its candidates, and the knobs that decide which of them go out.

`retrieve` is slow and runs on the engine's thread, after the typing paused; `select` is pure and runs at once on every
step of a knob, once for a burst of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, cast

from secateur.errors import SecateurError
from secateur.kinds.base import Outcome
from secateur.kinds.knobs import Knob
from secateur.kinds.search import knobs
from secateur.kinds.search.kind import Search, listed_ledger
from secateur.model import Pool
from secateur.replays.recorder import Observation
from secateur.scenarios.opened_scenario import OpenedScenario
from secateur.scenarios.running import BEST_DROPPED, Decided
from secateur.scenarios.scenario import Recorded
from secateur.settings import Settings
from secateur.terminal import visible
from textual import on
from textual.widget import Widget
from textual.widgets import Input

from secateur_tui.background import Cancelled
from secateur_tui.benches.what_if_bench import WhatIfBench
from secateur_tui.state.command_lines import search_command
from secateur_tui.state.recorded_search import recorded_answer
from secateur_tui.state.search_engine import SearchEngine, Status
from secateur_tui.state.search_state import SearchAnswer, SearchState
from secateur_tui.styled_text import Line, line, wrapped
from secateur_tui.widgets import blank
from secateur_tui.widgets.budget_bar import draw_budget, draw_gap
from secateur_tui.widgets.candidate_list import CandidateList, Columns, draw_header
from secateur_tui.widgets.knob_panel import KnobPanel
from secateur_tui.widgets.preview import Preview, PreviewText
from secateur_tui.widgets.query_input import QueryInput
from secateur_tui.widgets.title import TitleFacts
from secateur_tui.widgets.trim_diff import draw_trim_diff
from secateur_tui.widgets.why import draw_why

if TYPE_CHECKING:
    from secateur.engine import Engine


class SearchBench(WhatIfBench):
    """See the module docstring."""

    CSS_PATH = ["bench.tcss", "items.tcss"]  # noqa: RUF012 - Textual declares it
    search: ClassVar[Search] = Search()
    name_of_bench: ClassVar[str] = search.name
    noun: ClassVar[str] = search.noun

    def __init__(
        self, state: SearchState, path: str, rev: str | None = None, opened: OpenedScenario | None = None
    ) -> None:
        super().__init__(opened)
        self.state, self._path, self._rev = state, path, rev  # as the command line has them
        self._indexed: Status | None = None
        self._found_in = ""  # snapshot the pool was retrieved from
        self._preview_of: tuple[Pool, int] | None = None
        self._preview: PreviewText | None = None
        self._counting: list[SearchAnswer] = []

    # --- what the skeleton asks for ---

    def compose_input(self) -> Iterable[Widget]:
        query = self.search.inputs[0]
        field = QueryInput(self.state.query, query.placeholder, lines=query.lines, id="query", classes="input")
        field.border_title = query.title
        yield field

    def compose_list(self) -> Widget:
        return CandidateList(id="list")

    def compose_knobs(self) -> Iterable[Widget]:
        panel = KnobPanel(self.state.settings, knobs.knobs_of, with_ranges=True, id="knobs")
        panel.border_title = "Weights"
        yield panel

    def compose_page(self, page: str) -> Widget:
        return Preview(id=page) if page == "preview" else super().compose_page(page)

    def title_facts(self) -> TitleFacts:
        state = self.state
        return TitleFacts(
            source=state.engine.source_name,
            profile=state.settings.profile,
            changed=state.changed,
            counter=state.pool.counter if state.pool is not None else state.settings.tokens.counter,
            count=(len(state.pool), "candidate") if state.pool is not None else None,
            fresh=self._fresh,
            stale=self.stale,
            remedy=f"{key} reads again" if (key := self.app.keymap.shown("refresh")) else "",
            activity=self.activity,
            benches=self.app.bench_titles(self.name_of_bench),
        )

    def draw_budget(self, cells: int) -> Sequence[Line]:
        answer = self.state.answer
        if answer is None:
            return [line("·" * cells), line(f"budget {self.state.settings.effective_budget:,}")]
        return draw_budget(answer, self.state.baseline if self.state.comparison else None, cells)

    def unavailable(self, action: str) -> str:
        if action == "copy" and self.state.wanted is None:
            return "there is no query yet"
        return super().unavailable(action)

    @property
    def strategy_knob(self) -> Knob:
        return self.search.strategy

    def budget_turned(self, direction: int) -> Settings:
        return knobs.budget_turned(self.state.settings, direction)

    @property
    def listed(self) -> bool:
        return self.state.answer is not None and len(self.state.answer.selection) > 0

    @property
    def outdated(self) -> bool:
        return self.state.needs_pool

    # --- life ---

    def on_mount(self) -> None:
        super().on_mount()
        self.go_to(self.query_one("#query") if self.state.wanted is None else self.home)
        self.paint()
        self._ask_engine(refresh=True)

    @property
    def watched(self) -> SearchEngine:
        return self.state.engine

    def read_again(self) -> None:
        self._ask_engine(refresh=True)

    @property
    def _fresh(self) -> bool | None:
        """Tells whether the answer was found in what is on disk, as of the last look; None while that is unknown."""
        if self._indexed is None or self.error is not None:
            return None
        return not self.stale and (self.state.pool is None or self._found_in == self._indexed.snapshot)

    # --- the scenario ---

    @property
    def kind(self) -> Search:
        return self.search

    @property
    def given(self) -> Mapping[str, Any]:
        blank = self.search.blank()
        return blank | {"query": self.state.query, "path": self._path, "rev": self._rev or blank["rev"]}

    @property
    def outcome(self) -> Outcome[Any] | None:
        answer = self.state.answer
        if answer is None or self.state.needs_pool:
            return None
        return self.search.outcome_of(cast("Engine", self.state.engine), answer.selection, answer.settings)

    @property
    def entry_number(self) -> int | None:
        return (
            int(self.state.answer.selection.rank[self.state.cursor]) - 1 if self.state.answer and self.listed else None
        )

    @property
    def entry_id(self) -> str:
        return self.state.pool.symbol_id[self.state.cursor] if self.state.pool is not None else ""

    def baseline_of(self, recorded: Recorded, decided: Decided) -> SearchAnswer:
        selection = decided.outcome.payload.selection
        return recorded_answer(recorded, SearchAnswer(self.state.settings, selection), self.state.settings)

    # --- asking: slow, on the engine's thread ---

    @on(Input.Changed, "#query")
    def _typed(self) -> None:
        field = self.query_one("#query", QueryInput)
        if field.value != visible(self.state.query) and self.state.ask(field.text):
            self.error = None
            self.paint()
            self.after_pause(self._ask_engine)

    @on(Input.Submitted, "#query")
    def _submitted(self) -> None:
        self.go_home()

    def _ask_engine(self, refresh: bool = False) -> None:
        if refresh or (self.state.needs_pool and self.error is None):
            self.run_worker(self._serve(refresh or self._indexed is None), group="engine", exclusive=True)

    async def _serve(self, refresh: bool) -> None:
        """Refreshes the index where asked to, then retrieves what is wanted. A newer job cancels this one."""
        self.job += 1
        job, thread, engine = self.job, self.app.thread, self.state.engine
        try:
            if refresh:
                self.act("indexing")
                self._indexed = await thread.run(lambda: engine.refresh(self.report_progress))
                self.progress, self.stale = None, ""
            wanted = self.state.wanted
            if wanted is not None and (refresh or self.state.needs_pool):
                self.act("searching")
                pool = await thread.run(lambda: engine.retrieve(wanted.query, wanted.settings))
                self._indexed, self.stale = await thread.run(engine.status), ""
                if job == self.job and self.state.accept(wanted, pool):
                    self._found_in = self._indexed.snapshot
        except SecateurError as error:
            if job == self.job:
                self.error = error
        except Cancelled:
            return
        finally:
            if job == self.job:
                self.activity = ""
                self.paint()

    # --- turning: instant ---

    def decide(self) -> None:
        if self.state.needs_pool:
            self.error = None
            self.after_pause(self._ask_engine)
        else:
            self.state.reselect()
        self.paint()

    # --- looking ---

    def do_query(self) -> None:
        self.remove_class("-show-pages", "-show-knobs")
        self.go_to(self.query_one("#query"))

    def observation(self) -> Observation | None:
        state, answer = self.state, self.state.answer
        if self.activity or self.error is not None or answer is None or answer.recounted is None:
            return None
        if state.needs_pool or answer.settings is not state.settings:
            return None
        ledger, _ = listed_ledger(answer.selection, answer.recounted, BEST_DROPPED)
        pinned = state.baseline is answer
        return Observation(self.kind, self.given, state.settings, ledger, self.entry, pinned, self.page, lambda _: None)

    @property
    def answered(self) -> bool:
        state = self.state
        if not self.standing or self.at_work:
            return False
        decided = state.answer is not None and state.answer.settings is state.settings
        return self.error is not None or state.wanted is None or (decided and not state.needs_pool)

    def item_of(self, entry: str) -> int | None:
        return self.state.pool.row_of.get(entry) if self.state.pool is not None else None

    def take(self, state: SearchState, path: str, rev: str | None) -> None:
        """Takes another state, of something else that is searched."""
        self.take_state(state)
        self._path, self._rev, self._status, self._found_in = path, rev, None, ""

    def take_state(self, state: SearchState) -> None:
        super().take_state(state)
        self._preview_of, self._preview, self._counting = None, None, []
        if self.standing:
            self.query_one("#query", QueryInput).put(state.query)

    def ask(self, query: str) -> None:
        """Types a query and asks it."""
        if self.state.ask(query):
            self.query_one("#query", QueryInput).put(query)
            self._ask_engine()

    @property
    def entry(self) -> str:
        pool = self.state.pool
        return str(pool.symbol_id[self.state.cursor]) if pool is not None and len(pool) else ""

    def command(self) -> str:
        state = self.state
        return self.in_folder(search_command(state.query, self._path, state.settings, state.opened, self._rev))

    # --- painting ---

    def paint_list(self) -> None:
        self.query_one("#list", CandidateList).show(self.state.answer, self.state.comparison, self.state.cursor)
        self.prove_after_rest()
        self._recount()

    def _recount(self) -> None:
        """Counts the packs on screen: a decision charges an upper bound, and the command line prints the counted
        figure."""
        uncounted = [
            answer
            for answer in (self.state.answer, self.state.baseline)
            if answer is not None and answer.recounted is None
        ]
        if uncounted and not self.state.needs_pool and self._counting != uncounted:
            self._counting = uncounted
            self.run_worker(self._count(uncounted), group="recount", exclusive=True)

    async def _count(self, answers: list[SearchAnswer]) -> None:
        for answer in answers:
            try:
                answer.recounted = await self.app.thread.run(partial(self.state.engine.pack_tokens, answer.selection))
            except (
                SecateurError,
                Cancelled,
            ):  # a file changed meanwhile: what is on screen stays a bound, and the title says that it is stale
                return
        self.paint()

    def draw_columns(self, cells: int) -> Line:
        return draw_header(Columns.of(self.query_one("#list", CandidateList).line_count(), cells))

    def draw_caption(self, cells: int) -> Line:
        return draw_gap(self.state.answer.selection, cells) if self.state.answer else ()

    def paint_knobs(self) -> None:
        if not self.standing:
            return
        depth = self.state.request.settings.graph_rag.max_depth if self.state.request else 0
        masked = depth > self.state.settings.graph_rag.max_depth
        notes = {knobs.DEPTH.key: f"  of {depth} retrieved"} if masked else {}
        self.query_one("#knobs", KnobPanel).show(self.state.settings, self.state.opened, self.ranges, notes)

    def paint_preview(self) -> None:
        state = self.state
        if state.answer is None or not len(state.answer.selection):
            self.query_one("#preview", Preview).show(None, None, 0)
            return
        wanted = (state.answer.selection.pool, state.cursor)
        if self._preview_of != wanted:
            self._preview_of, self._preview = wanted, None
            self.run_worker(self._read_preview(*wanted), group="preview", exclusive=True)
        self.query_one("#preview", Preview).show(self._preview, state.answer, state.cursor)

    async def _read_preview(self, pool: Pool, row: int) -> None:
        try:
            content = await self.app.thread.run(lambda: self.state.engine.content(pool, row))
        except SecateurError as error:
            content = f"{error.message}\n{error.hint}"
        if self._preview_of == (pool, row):
            self._preview = PreviewText.of(content, pool.language[row], int(pool.line_start[row]))
            self.paint_page()

    def draw_notices(self, cells: int) -> list[Line]:
        warnings = self.state.answer.selection.warnings if self.state.answer else ()
        return [part for warning in warnings for part in wrapped(f"! {visible(warning.message)}", cells, "warning")]

    def draw_blank(self, cells: int) -> Sequence[Line]:
        state, keys = self.state, self.app.keymap
        if self.error is not None:
            return blank.draw_error(self.error, cells)
        if (
            self.activity == "indexing"
            and state.answer is None
            and (self.progress is not None or state.wanted is not None)
        ):
            return blank.draw_progress(state.engine.source_name, self.progress, cells)
        if state.wanted is None:
            return blank.draw_no_query(self._indexed, keys.shown("query"), keys.shown("help"), cells)
        if state.pool is not None and not len(state.pool) and not state.needs_pool:
            return blank.draw_no_match(state.query, state.pool, self._indexed, cells)
        return [line("searching …")]

    def draw_why(self, cells: int) -> Sequence[Line]:
        answer, row = self.state.answer, self.state.cursor
        if answer is None or not len(answer.selection):
            return []
        return draw_why(answer, row, self.hints, self.proving, cells)

    def draw_diff(self, cells: int) -> Sequence[Line]:
        baseline, answer = self.state.baseline, self.state.answer
        return draw_trim_diff(
            self.state.comparison, (baseline.tokens if baseline else 0, answer.tokens if answer else 0), cells
        )
