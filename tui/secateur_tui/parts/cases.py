"""Shows beside the knobs what the settings are worth for judged cases and scenarios (`inspect --cases FOLDER`).

Their inputs are read on a thread of their own, which gives way to keys; from then on every turn of a knob decides all
of them. A page names the items on whose account a scenario changes.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from secateur.errors import SecateurError
from secateur.render.page import count_noun
from secateur.settings import Settings
from secateur.terminal import visible

from secateur_tui.background import Cancelled
from secateur_tui.frame import Tab
from secateur_tui.jobs import Report
from secateur_tui.screen import Bench, ScreenPart
from secateur_tui.styled_text import Line, Span, choose_fitting, clip_line, describe_error, line, wrap_words

if TYPE_CHECKING:  # most sessions have no cases, and would start later
    from secateur_tui.state.held_cases import CasesResult, HeldCases, MovedItem

PAGE = "cases"

MOST_ROWS = 200  # rows of the page; what follows is counted


class Cases(ScreenPart):
    """See the module docstring."""

    def __init__(self, bench: Bench) -> None:
        super().__init__(bench)
        self._held: HeldCases | None = None
        self._wrong = ""  # why there are no cases
        self._unwanted = threading.Event()  # ends what is under way
        self._reached = (0, 0)  # cases that are read, of all
        self._reading = self._cancelled = False
        self._result: CasesResult | None = None
        self._moved: Sequence[MovedItem] = ()
        self._settings: Settings | None = None  # that the result is for
        self._asked: Settings | None = None  # that are measured, or were last

    @property
    def _folders_given(self) -> bool:
        return bool(self.app.cases) and not self.kind_page.unopened

    def no_cases(self) -> str:
        return "" if self._folders_given else "no cases are at hand; secateur inspect --cases FOLDER reads them"

    @property
    def tabs(self) -> Sequence[Tab]:
        return (Tab(PAGE, "Cases", self._draw),) if self._folders_given else ()

    # --- reading and measuring ---

    def mounted(self) -> None:
        if self._folders_given:
            self._start()

    def refreshing(self) -> None:
        """Reads the cases again: files on disk may have changed."""
        if self._folders_given:
            self._held, self._result = None, None
            self._start()

    def painted(self) -> None:
        if self._held is not None and self._asked is not self.state.settings:
            self._start()
        self._show()

    def cancel(self) -> bool:
        if not self._reading:
            return False
        self._unwanted.set()
        self._reading, self._cancelled = False, True
        self.jobs.cancel(PAGE)
        self._show()
        return True

    def do_cases(self) -> None:
        self.bench.show_page(PAGE)
        if self._cancelled:
            self._start()

    def _start(self) -> None:
        self._unwanted.set()
        unwanted, settings = threading.Event(), self.state.settings
        self._unwanted, self._asked, self._cancelled = unwanted, settings, False

        def end(wrong: SecateurError | None) -> None:
            self._reading, self._wrong = False, describe_error(wrong) if wrong is not None else ""
            self._show()

        self.jobs.work_out(PAGE, partial(self._measure, settings, unwanted), end, end, thread=self.app.judge)

    def _measure(self, settings: Settings, unwanted: threading.Event) -> None:
        """Measures the cases, on their thread. What is not in memory under these settings is read first, once keys have
        stopped to arrive."""
        from secateur_lab.evaluation.measuring import open_measurer

        from secateur_tui.state.held_cases import HeldCases

        def stop() -> None:
            if unwanted.is_set() or self.app.judge.closing.is_set():
                raise Cancelled

        def give_way(*_: object) -> None:
            self.app.courtesy.wait(unwanted.is_set)
            stop()

        def show(done: int, total: int) -> None:
            if unwanted is self._unwanted and not self._cancelled:
                self._reading, self._reached = True, (done, total)
                self._show()

        def reached(done: int, total: int) -> None:
            self.bench.post_message(Report(partial(show, done, total), PAGE))
            give_way()

        if (held := self._held) is None:
            held = HeldCases(self.kind, self.state.opened)
            held.find(self.app.cases)
        self._held = held
        if (result := held.measure(settings, stop)) is None:
            with open_measurer(self.app.environ, give_way) as measurer:
                held.read(settings, measurer, reached)
            result = held.measure(settings, stop)
        if result is not None:
            moved = held.moved(result)
            self._result, self._moved, self._settings = result, moved, settings

    # --- drawing ---

    def _show(self) -> None:
        panel = self.bench.knobs
        panel.tell(PAGE, self._draw_line(max(1, panel.content_cells)) if self._folders_given else ())
        if self.bench.page == PAGE:
            self.bench.paint_page()

    @property
    def _percent(self) -> str:
        done, total = self._reached
        return f"… {100 * done // total} %" if self._reading and total else "…"

    def _draw_line(self, cells: int) -> Line:
        held, result, head = self._held, self._result, " cases   "
        if self._wrong:
            return clip_line(line(head, Span(visible(self._wrong), "error")), cells)
        if self._cancelled or held is None or result is None or held.start is None:
            return line(head, Span("cancelled" if self._cancelled else self._percent, "faint"))
        recall = result.describe_recall(held.start)
        if self._settings is not self.state.settings:
            return line(head, Span(f"{self._percent}  {recall}", "faint"))
        changed, role = f"{_count_cases(self._moved):,} of {len(held):,} change", "bold" if self._moved else ""
        told = [Span("  ".join(filter(None, words)), role) for words in ((recall, changed), (recall or changed,))]
        return choose_fitting([line(head, told[0]), line(" ", told[0]), line(head, told[1]), line(" ", told[1])], cells)

    def _draw(self, cells: int) -> Sequence[Line]:
        held, result = self._held, self._result
        if self._wrong:
            return wrap_words(visible(self._wrong), cells, "error")
        if self._cancelled:
            key = self.key(PAGE)
            return wrap_words(f"cancelled; {key} reads on" if key else "cancelled", cells, "faint")
        if held is None or held.start is None or result is None or self._settings is not self.state.settings:
            (done, total), back = self._reached, self.key("back")
            words = f"reading the cases {self._percent}, {done:,} of {total:,}" if total else "reading the cases …"
            return wrap_words(words + (f"; {back} cancels" if back else ""), cells, "faint")
        broken = _count_cases([item for item in self._moved if item.breaks])
        parts = [count_noun(len(held), "case"), result.describe_recall(held.start)]
        parts += [f"{_count_cases(self._moved):,} change", f"{broken:,} break an assertion" if broken else ""]
        apart = [f"{held.set_aside:,} held out for secateur evaluate"] if held.set_aside else []
        apart += [f"{held.others:,} of another kind"] if held.others else []
        lines = wrap_words(" · ".join(filter(None, parts)), cells, "bold")
        lines += [*(wrap_words(" · ".join(apart), cells, "faint") if apart else []), ()]
        if not self._moved:
            words = "No item that a case names is decided otherwise than at the start."
            lines += wrap_words(words, cells, "faint")
        before = None
        for item in self._moved[:MOST_ROWS]:
            if item.case is not before:
                lines.append(clip_line(line(Span(visible(f"{item.case.name}  {item.case.about}"), "faint")), cells))
            before = item.case
            lines += _draw_item(item, cells)
        if (more := len(self._moved) - MOST_ROWS) > 0:
            lines += wrap_words(f"and {count_noun(more, 'more item')}", cells, "faint")
        lines += [()] if held.left_out else []
        for case in held.left_out:
            why = describe_error(case.error)
            lines += wrap_words(visible(f"! {why if case.name in why else f'{case.name}: {why}'}"), cells, "warning")
        return lines


def _count_cases(moved: Sequence[MovedItem]) -> int:
    return len({item.case.path for item in moved})


def _draw_item(item: MovedItem, cells: int) -> list[Line]:
    sign, role = ("✗", "error") if item.breaks else ("−", "warning") if item.loses else ("+", "success")
    asserted = f"{item.asserted} " if item.asserted else ""
    head, *rest = wrap_words(visible(f"{asserted}{item.id}: {item.was} → {item.now}"), max(1, cells - 4))
    return [(Span(f"  {sign} ", role), *head), *((Span("    "), *more) for more in rest)]
