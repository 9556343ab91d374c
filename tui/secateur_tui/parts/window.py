"""A page about what fills a conversation's window, tool by tool; for a coding agent's session also how full the model's
window is, when it will be full, and what pruning at every request does to it.

What it is drawn with is imported when the page is: most sessions look at no conversation."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial, partialmethod
from typing import TYPE_CHECKING, Any, cast

from secateur.settings import Settings
from secateur.terminal import cell_width, visible

from secateur_tui.frame import Tab
from secateur_tui.screen import ScreenPart
from secateur_tui.styled_text import Line, Span, clip_line, line, wrap_words

if TYPE_CHECKING:
    from secateur.kinds.conversation.decisions import MeasuredTranscript
    from secateur.kinds.conversation.folds import LiveLedger

    from secateur_tui.pages.conversation import ConversationPage

PAGE = "window"
_CUTS, _REST = "window-cuts", "window-rest"
_GAUGE_CELLS = 40  # the largest width of the gauge, in cells

# The pause before the ledger of a followed session is made again, as a multiple of the time it took: at most a quarter
# of a processor.
REST_OF_LEDGERS = 3


class FilledWindow(ScreenPart):
    """See the module docstring. The live ledger is made once the page rests in sight, and where a session is
    followed."""

    _live: LiveLedger | None = None
    _of: tuple[MeasuredTranscript, Settings] | None = None  # that it was made for
    _took = 0.0

    do_window = partialmethod(ScreenPart.open_page, PAGE)

    @property
    def tabs(self) -> Sequence[Tab]:
        if self.bench.name_of_bench != "conversation":
            return ()
        return (Tab(PAGE, "Window", self._draw, self._decide_later),)

    def no_window(self) -> str:
        return "" if self.tabs else "only conversations fill a window"

    def state_taken(self) -> None:
        self._of = None
        self._show_ledger(None)

    def painted(self) -> None:
        wanted = self._wanted
        if self._of is not None and (wanted is None or wanted[1] is not self._of[1]):
            self._show_ledger(None)  # it is of other settings
        if self._is_following:
            self._decide_later()

    @property
    def _is_following(self) -> bool:
        return self.app.follows

    @property
    def _wanted(self) -> tuple[MeasuredTranscript, Settings] | None:
        reading = self.state.reading
        return (reading.material, self.state.settings) if reading is not None and self.tabs else None

    def _is_decided_for(self, wanted: tuple[MeasuredTranscript, Settings]) -> bool:
        return self._of is not None and all(known is value for known, value in zip(self._of, wanted, strict=True))

    def _decide_later(self) -> None:
        from secateur.kinds.conversation.folds import recorded_ledger
        from secateur.kinds.conversation.session_facts import session_facts

        wanted = self._wanted
        if self._is_following and self.jobs.waits(_REST):
            return  # a session that grows faster than it rests is decided on all the same
        if wanted is None or self._is_decided_for(wanted):
            return
        if session_facts(wanted[0]) is not None or recorded_ledger(wanted[0]) is not None:
            self.jobs.after(_REST, max(self.app.pace.rest, REST_OF_LEDGERS * self._took), self._decide)

    def _decide(self) -> None:
        from secateur.kinds.conversation.folds import live_ledger

        wanted, start = self._wanted, time.perf_counter()
        if wanted is None or not (self.bench.page == PAGE or self._is_following):
            return
        if self.jobs.runs(_CUTS) or self._is_decided_for(wanted):
            return

        def take(ledger: LiveLedger | None) -> None:
            self._of, self._took = wanted, time.perf_counter() - start
            self._show_ledger(ledger)

        make, prover = partial(live_ledger, *wanted), self.app.prover
        self.jobs.work_out(_CUTS, make, take, lambda _: take(None), thread=prover)

    def job_ended(self, group: str) -> None:
        wanted = self._wanted
        if group == _CUTS and wanted is not None and self._of is not None and self._of[0] is wanted[0]:
            self.bench.paint()

    def _show_ledger(self, ledger: LiveLedger | None) -> None:
        self._live = ledger
        if self.tabs:
            cast("ConversationPage", self.kind_page).live = ledger

    # --- drawing ---

    def _draw(self, cells: int) -> Sequence[Line]:
        from secateur.kinds.conversation.folds import describe_cut, describe_ledger
        from secateur.kinds.conversation.session_facts import session_facts
        from secateur.kinds.conversation.session_report import content_rows, session_line, window_lines
        from secateur.kinds.conversation.window_contents import STALE, dead_weight, window_contents

        wanted, lines = self._wanted, list[Line]()
        if wanted is None:
            return [line(Span("nothing is open yet", "faint"))]
        measured, settings = wanted
        facts, total = session_facts(measured, settings.context_budget.windows), measured.total
        if facts is not None:
            lines += wrap_words(visible(session_line(facts)), cells, "bold")
            window, forecast = window_lines(facts)
            if facts.window:
                width = min(_GAUGE_CELLS, cells)
                full = min(width, round(width * facts.filled / facts.window))
                lines.append(line(Span("█" * full, "accent"), Span("░" * (width - full), "faint")))
            dead = dead_weight(measured)
            share = f"{dead / total:.0%}" if total else "nothing"
            dead_words = f"dead weight: {dead:,} of the {total:,} tokens counted, {share}"
            lines += [
                drawn for words in (window, f"forecast: {forecast}", dead_words) for drawn in wrap_words(words, cells)
            ]
            lines.append(())
        shares = window_contents(measured)
        titles = "what fills the window", "tokens", "share", "dead", "results", *(reason.label for reason in STALE)
        drawn = zip(content_rows(shares, total), shares, strict=True)
        rows = ((*row[:3], f"{share.dead:,}" if share.dead else "", *row[3:]) for row, share in drawn)
        lines += _table([titles, *rows], cells)
        if facts is not None and self._live is None:
            lines += [(), line(Span("deciding …", "faint"))]
        if self._live is not None:
            words = "pruned before every request, as `Live` does (profile recommended)"
            lines += [(), *wrap_words(words, cells, "faint"), *wrap_words(describe_ledger(self._live), cells)]
            lines += [part for cut in self._live.cuts for part in wrap_words(describe_cut(cut), cells)]
        return lines


def _table(rows: Sequence[Sequence[Any]], cells: int) -> list[Line]:
    count = len(rows[0])
    widths = [max(cell_width(row[column]) for row in rows) for column in range(count)]
    while count > 2 and sum(widths[:count]) + count - 1 > cells:
        count -= 1
    widths[0] = max(1, min(widths[0], cells - sum(widths[1:count]) - count + 1))
    drawn: list[Line] = []
    for index, row in enumerate(rows):
        first = clip_line(line(row[0]), widths[0])
        rest = "".join(f" {row[column]:>{widths[column]}}" for column in range(1, count))
        pad = " " * max(0, widths[0] - sum(cell_width(span.text) for span in first))
        role = "" if index else "faint"
        drawn.append(line(*(Span(span.text, role) for span in first), Span(pad + rest, role)))
    return drawn
