"""The benches whose items are the entries of a pruner's ledger; the `Subject` holds what differs between them.

Reading and measuring happen once, on the engine's thread and with progress. Every turn of a knob decides again, on that
thread too, so no decision blocks the screen. While a decision takes longer than a moment the old answer is dimmed;
knobs turned meanwhile are collected, and only the last settings are decided next.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from secateur.errors import BudgetExceeded, SecateurError
from secateur.kinds.base import Kind, Outcome
from secateur.kinds.knobs import Knob, round_step
from secateur.progress import Progress
from secateur.replays.recorder import Observation
from secateur.scenarios.opened_scenario import OpenedScenario, recorded_ledger
from secateur.scenarios.running import Decided
from secateur.scenarios.scenario import Recorded
from secateur.settings import Settings
from secateur.terminal import visible
from textual import on
from textual.containers import Horizontal
from textual.content import Content
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input

from secateur_tui.background import Cancelled
from secateur_tui.benches.ledger_entries import entry_ids, item_of_entry, observed
from secateur_tui.benches.ledger_jobs import decided, read
from secateur_tui.benches.scenario_bench import ScenarioBench
from secateur_tui.state.input_files import FileWatch, typed_path
from secateur_tui.state.ledger_answer import LedgerAnswer
from secateur_tui.state.ledger_state import LedgerState, Reading
from secateur_tui.state.subject import Subject
from secateur_tui.styled_text import Line, Span, clipped, line, wrapped
from secateur_tui.widgets import blank
from secateur_tui.widgets.knob_panel import KnobPanel
from secateur_tui.widgets.ledger_bar import draw_budget
from secateur_tui.widgets.ledger_list import LedgerList, draw_header, draw_item
from secateur_tui.widgets.ledger_pages import draw_diff, draw_preview, draw_why
from secateur_tui.widgets.line_view import DrawnView
from secateur_tui.widgets.query_input import QueryInput
from secateur_tui.widgets.title import TitleFacts

PATIENCE = 0.1
"""Seconds a decision may take before the old one is dimmed: below it a screen seems to answer at once, and dimming
would flicker."""


class LedgerBench(ScenarioBench):
    """Shows a `LedgerState`."""

    CSS_PATH = ["bench.tcss", "items.tcss", "ledger.tcss"]  # noqa: RUF012 - Textual declares it

    def __init__(self, state: LedgerState, opened: OpenedScenario | None = None) -> None:
        super().__init__(opened)
        self.state: LedgerState = state
        self.name_of_bench = state.subject.name  # type: ignore[misc]
        self.noun = state.subject.noun  # type: ignore[misc]
        self._watch = FileWatch()
        self._reads: Hashable = None  # what is being read, as `LedgerState.key`; None: nothing
        self._late = False  # whether an answer is awaited longer than a moment
        self._patience: Timer | None = None

    @property
    def subject(self) -> Subject[Any, Any]:
        """The subject of the bench."""
        return self.state.subject

    # --- what the skeleton asks for ---

    def compose_input(self) -> Iterable[Widget]:
        with Horizontal(id="fields"):
            for field in self.subject.fields:
                widget = QueryInput(
                    self.state.inputs[field.name],
                    field.placeholder,
                    lines=field.lines,
                    id=f"field-{field.name}",
                    classes="input",
                )
                widget.border_title = field.title
                yield widget

    def compose_list(self) -> Widget:
        return LedgerList(self._draw_item, id="list")

    def compose_knobs(self) -> Iterable[Widget]:
        panel = KnobPanel(self.state.settings, lambda _: self.subject.knobs, id="knobs")
        panel.border_title = "Knobs"
        yield panel

    def compose_page(self, page: str) -> Widget:
        return DrawnView(self._draw_preview, id=page) if page == "preview" else super().compose_page(page)

    def title_facts(self) -> TitleFacts:
        state = self.state
        return TitleFacts(
            source=state.path or "nothing open",
            profile=state.settings.profile,
            changed=state.changed,
            counter=state.settings.tokens.counter,
            count=(len(state.answer), "item") if self.listed and state.answer is not None else None,
            fresh=not self.stale if self.error is None and state.reading is not None else None,
            stale=self.stale,
            remedy=f"{key} reads again" if (key := self.app.keymap.shown("refresh")) else "",
            activity=self.activity,
            benches=self.app.bench_titles(self.name_of_bench),
        )

    def draw_budget(self, cells: int) -> Sequence[Line]:
        state = self.state
        if state.answer is None or state.refusal is not None:
            budget = self.subject.budget
            told = f"{budget.label} {self._budget:,}" if self._budget else f"no {budget.label} yet"
            if not isinstance(state.refusal, BudgetExceeded):
                return [line("·" * cells), line(told)]
            return [line(Span("▚" * cells, "error")), line(told, Span("  not met", "bold error"))]
        return draw_budget(state.answer, state.comparison, cells)

    def unavailable(self, action: str) -> str:
        state = self.state
        if action in ("copy", "refresh") and not state.path:
            return "nothing is open yet"
        if action == "hold":
            held = (
                self.subject.hold(state.answer, state.cursor, state.settings)
                if state.answer is not None and self.listed
                else "nothing is open yet"
            )
            return held if isinstance(held, str) else ""
        return super().unavailable(action)

    @property
    def strategy_knob(self) -> Knob | None:
        return self.subject.strategy

    @property
    def _budget(self) -> int:
        return self.subject.budget_in_force(
            self.state.settings, self.state.answer if self.state.asked == self.state.wanted else None
        )

    def budget_turned(self, direction: int) -> Settings:
        return self.subject.budget.put(self.state.settings, round_step(self._budget, direction))

    def knob_turned(self, knob: Knob, direction: int, *, fine: bool = False) -> Settings:
        budget = self.subject.budget
        return (
            self.budget_turned(direction)
            if knob == budget and not fine
            else super().knob_turned(knob, direction, fine=fine)
        )

    @property
    def listed(self) -> bool:
        return self.state.answer is not None and len(self.state.answer) > 0 and self.state.refusal is None

    @property
    def outdated(self) -> bool:
        return self._late and self.state.needs_answer

    # --- life ---

    def on_mount(self) -> None:
        super().on_mount()
        self.go_to(self._empty_field or self.home)
        self._answer()

    def on_unmount(self) -> None:
        self.subject.release()

    @property
    def watched(self) -> FileWatch:
        return self._watch

    def read_again(self) -> None:
        self._answer(again=True)

    # --- the scenario ---

    @property
    def kind(self) -> Kind[Any, Any]:
        return self.subject.kind

    @property
    def given(self) -> Mapping[str, Any]:
        return self.subject.given(self.state.inputs)

    @property
    def outcome(self) -> Outcome[Any] | None:
        state = self.state
        return (
            state.answer.result if state.answer is not None and not state.refusal and not state.needs_answer else None
        )

    @property
    def entry_number(self) -> int | None:
        return self.subject.entry_number(self._shown, self.state.cursor) if self.listed else None

    @property
    def entry_id(self) -> str:
        return ""

    def baseline_of(self, recorded: Recorded, decided: Decided) -> LedgerAnswer[Any]:
        return LedgerAnswer(self.state.settings, recorded_ledger(recorded, decided), None).prepared()

    # --- reading and deciding, on the engine's thread ---

    def decide(self) -> None:
        self._answer()

    def _answer(self, again: bool = False) -> None:
        """Starts a job where one is needed. While the wanted material is being read no new job starts: the running one
        decides under the latest settings."""
        if again or (self.state.needs_answer and self._reads != self.state.key):
            self.run_worker(self._serve(again), group="engine", exclusive=True)
        self.paint()

    async def _serve(self, again: bool) -> None:
        """Reads what is to be read, then decides. A newer job cancels this one."""
        self.job += 1
        job, thread, state, subject = self.job, self.app.thread, self.state, self.subject
        if self._patience is None:
            self._patience = self.set_timer(PATIENCE, self._be_late)
        try:
            self._reads = None
            if again or state.needs_reading:
                self.act("reading")
                self._watch.read(subject.place(state.path))
                self._reads = key = state.key
                inputs, settings = dict(state.inputs), state.settings
                material = await thread.run(lambda: read(subject, inputs, settings, self._reporting(job)))
                state.read(Reading(key, material))
                self._reads, self.progress, self.stale = None, None, ""
                self.paint()
            if state.reading is not None and not state.needs_reading:
                asked, material, baseline = state.wanted, state.reading.material, state.baseline
                state.accept(
                    asked, await thread.run(lambda: decided(subject, material, asked, baseline, self._reporting(job)))
                )
        except SecateurError as error:
            if job == self.job:
                state.forget()
                self.error = error
        except Cancelled:
            return
        if job == self.job:  # a job that was cancelled leaves this to the one that took its place
            self.activity, self.progress, self._reads, self._late = "", None, None, False
            if self._patience is not None:
                self._patience.stop()
                self._patience = None
            self.paint()

    def _reporting(self, job: int) -> Progress:
        """Returns a progress function for a job on the engine's thread; it ends the job once a newer one has taken its
        place."""

        def report(phase: str, done: int, total: int) -> None:
            if job != self.job:
                raise Cancelled
            self.report_progress(phase, done, total)

        return report

    def _be_late(self) -> None:
        if self._patience is None:
            return  # the answer came while the timer's call was in the queue: stopping a timer does not take it out
        self._late = True
        self.activity = self.activity or "deciding"
        self.paint()

    # --- input ---

    def _field(self, number: int) -> QueryInput:
        return self.query_one(f"#field-{self.subject.fields[number].name}", QueryInput)

    @property
    def _empty_field(self) -> QueryInput | None:
        """The first field in which nothing was typed."""
        return next(
            (
                self._field(number)
                for number, field in enumerate(self.subject.fields)
                if not (field.optional or self.state.inputs[field.name])
            ),
            None,
        )

    @on(Input.Submitted, ".input")
    def _submitted(self) -> None:
        changed = False
        for number, field in enumerate(self.subject.fields):
            if self._field(number).value != visible(self.state.inputs[field.name]):
                text = self._field(number).text.strip()
                changed |= self.state.type(field.name, typed_path(text) if number == 0 else text)
                self._field(number).put(self.state.inputs[field.name])
        if changed or self.error is not None:
            self.error = None
            self._answer()
        self.go_home()

    def do_query(self) -> None:
        self.remove_class("-show-pages", "-show-knobs")
        wrong = self._field(0) if self.error is not None else None  # what could not be read is what wants typing
        self.go_to(wrong or self._empty_field or self._field(0))

    def do_back(self) -> None:
        for number, field in enumerate(self.subject.fields):
            self._field(number).put(self.state.inputs[field.name])
        super().do_back()

    # --- looking ---

    def do_hold(self) -> None:
        if self.state.answer is not None:
            held = self.subject.hold(self.state.answer, self.state.cursor, self.state.settings)
            if not isinstance(held, str):
                self.change(held)

    def observation(self) -> Observation | None:
        at_work = self.activity or self.error is not None or self.state.reading is None or self.state.needs_answer
        return None if at_work else observed(self.kind, self.given, self.state, self.entry, self.page)

    @property
    def answered(self) -> bool:
        return self.standing and not self.at_work and (self.error is not None or not self.state.needs_answer)

    def item_of(self, entry: str) -> int | None:
        answer = self.state.answer
        return item_of_entry(self.subject, answer, entry) if answer is not None else None

    def take_state(self, state: LedgerState) -> None:
        super().take_state(state)
        self._reads, self._late = None, False
        if self.standing:
            for number, field in enumerate(self.subject.fields):
                self._field(number).put(state.inputs[field.name])

    def type(self, texts: Mapping[str, str]) -> None:
        """Types texts into fields and reads or decides what follows from them."""
        for name, text in texts.items():
            self.state.type(name, text)
            self.query_one(f"#field-{name}", QueryInput).put(text)
        self._answer()

    @property
    def entry(self) -> str:
        number = self.entry_number
        return entry_ids(self._shown.result).get(number, "") if number is not None else ""

    def command(self) -> str:
        return self.in_folder(self.subject.command(self.state.inputs, self.state.settings, self.state.opened))

    def cursor_moved(self) -> None:
        for page, _ in self.pages:
            self.query_one(f"#{page}", DrawnView).scroll_to(y=0, animate=False, immediate=True)

    # --- painting ---

    def paint_list(self) -> None:
        self.query_one("#list", LedgerList).show(self.state.answer if self.listed else None, self.state.cursor)
        described = self.subject.described(self.state.reading.material) if self.state.reading is not None else ""
        self._field(0).border_subtitle = Content(visible(described))

    def _draw_item(self, item: int, cells: int) -> Line:
        answer = self._shown
        lead, state = self.subject.lead(answer, item), self.state
        return draw_item(
            answer, state.comparison, item, lead, lambda room: self.subject.tail(answer, item, room), cells
        )

    def draw_columns(self, cells: int) -> Line:
        if self.state.answer is None:
            return ()
        return clipped(
            draw_header(
                self._shown,
                self.state.comparison,
                self.subject.lead_title(self._shown),
                self.subject.tail_title(self._shown),
            ),
            cells,
        )

    def draw_notices(self, cells: int) -> list[Line]:
        if self.state.answer is None:
            return []
        told = [
            *self.subject.notices(self._shown),
            *((f"! {notice.message}", "warning") for notice in self._shown.warnings),
        ]
        return [part for text, role in told for part in wrapped(visible(text), cells, role)]

    def draw_blank(self, cells: int) -> Sequence[Line]:
        state = self.state
        if self.error is not None:
            return blank.draw_error(self.error, cells)
        if not state.path:
            return self.subject.draw_prompt(self.app.keymap.shown("query"), cells)
        if self.activity == "reading":
            return blank.draw_progress(state.path, self.progress, cells)
        if state.refusal is not None and state.reading is not None:
            below = self.subject.refused(state.reading.material, state.inputs, state.settings, cells)
            return [*blank.draw_error(state.refusal, cells), (), *below]
        return [line("nothing is in it" if state.answer is not None else "deciding …")]

    def paint_knobs(self) -> None:
        if self.standing:
            self.query_one("#knobs", KnobPanel).show(self.state.settings, self.state.opened, {}, self._notes)

    @property
    def _notes(self) -> Mapping[str, str]:
        budget = self.subject.budget
        derived = not budget.value(self.state.settings) and self._budget
        return {budget.key: f"  {self._budget:,} follows from the model"} if derived else {}

    @property
    def _shown(self) -> LedgerAnswer[Any]:
        assert self.state.answer is not None
        return self.state.answer

    def draw_why(self, cells: int) -> Sequence[Line]:
        return draw_why(self.subject, self._shown, self.state.cursor, cells) if self.listed else []

    def draw_diff(self, cells: int) -> Sequence[Line]:
        return (
            draw_diff(self.subject, self._shown, self.state.comparison, self.state.cursor, cells) if self.listed else []
        )

    def _draw_preview(self, cells: int) -> Sequence[Line]:
        return draw_preview(self.subject, self._shown, self.state.cursor, cells) if self.listed else []

    def paint_preview(self) -> None:
        self.query_one("#preview", DrawnView).repaint()
