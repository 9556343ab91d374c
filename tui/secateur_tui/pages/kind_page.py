"""The looks of any kind of context: what is drawn of its answer, line by line. A kind that wants columns, facts or a
bar of its own has a module here with a subclass; a kind of another distribution has this one.

Every `draw_…` takes the scene and the width in cells, and knows no widget.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, TypeVar

import numpy as np
from secateur.directories import current_folder
from secateur.errors import BudgetExceeded
from secateur.kinds.base import budget_in_force
from secateur.kinds.run import trials_of
from secateur.ledger import WRAPPER
from secateur.terminal import visible
from secateur.what_if.trials import Trials

from secateur_tui.pages.scene import Scene
from secateur_tui.state.bench_state import BenchState
from secateur_tui.state.ledger_answer import LedgerAnswer, Sum
from secateur_tui.state.subject import Subject
from secateur_tui.styled_text import Line, Span, line, wrapped
from secateur_tui.widgets import blank, ledger_pages
from secateur_tui.widgets.budget_bar import BudgetFrame, BudgetPicture, draw_budget, item_at, reach_of
from secateur_tui.widgets.ledger_list import LedgerListing
from secateur_tui.widgets.listing import ItemListing
from secateur_tui.widgets.text_page import ItemText

_LAST = np.iinfo(np.int64).max
"""The position of what stands nowhere in particular."""


@lru_cache(maxsize=4)
def ledger_picture(answer: LedgerAnswer[Any]) -> BudgetPicture:
    """The picture of an answer; what stands nowhere in particular comes last."""
    entries, sums = answer.entries, dict(answer.sums)
    count = len(entries)
    if count and entries[-1].id == WRAPPER:  # it stands last, and is no item
        wrapper, count = entries[-1], count - 1
        items, before, after = sums[wrapper.state]
        sums[wrapper.state] = Sum(items - 1, before - wrapper.before, after - wrapper.after)
    tokens = np.fromiter((entry.after for entry in entries), np.int64, count)
    states = np.fromiter((entry.state for entry in entries), np.int64, count)
    places = (_LAST if entry.position is None else entry.position for entry in entries)
    rows = np.argsort(np.fromiter(places, np.int64, count), kind="stable")
    rows = rows[tokens[rows] > 0]
    further = (f"reserve {answer.reserve:,}",) if answer.reserve else ()
    around = answer.ledger.after - int(tokens.sum())
    frame = BudgetFrame(answer.ledger.budget, rows, tokens[rows], states[rows], around)
    return BudgetPicture((frame,), sums, further=further)


M = TypeVar("M")
P = TypeVar("P")


class KindPage(Subject[M, P]):
    """See the module docstring."""

    knobs_title: ClassVar[str] = "Knobs"
    first_warnings: ClassVar[Collection[str]] = ()  # codes of the warnings that stand above all other notices

    # --- proofs ---

    def trials(self, state: BenchState[Any]) -> Trials | None:
        """Returns what the answer can be decided with again; None where there is nothing to decide from."""
        answer: Any = state.answer
        if state.reading is None or answer is None:
            return None
        return trials_of(self.kind, state.reading.material, self.given(state.inputs), answer.settings, answer.outcome)

    def trial_item(self, answer: Any, item: int) -> int | None:
        """Returns the number of an item among those of `trials`; None: it is none."""
        return answer.entry_number(item)

    def trial_name(self, answer: Any, item: int) -> str:
        """Returns the short name of an item of `trials`."""
        return str(answer.outcome.ledger.ids[item])

    # --- the title line ---

    def source(self, scene: Scene) -> str:
        """Returns the name of what is read; text from outside."""
        question = scene.state.question
        if question.rstrip("/") in (".", "..") and (folder := current_folder()) is not None:
            return folder.name if question[:2] != ".." else folder.parent.name  # people know a folder by its name
        return question or "nothing open"

    def counter(self, scene: Scene) -> str:
        """Returns the counter of tokens."""
        return scene.state.settings.tokens.counter

    def counted(self, scene: Scene) -> tuple[int, str] | None:
        """Returns how many of what there are."""
        return (len(scene.state.answer), "item") if scene.state.listed and scene.state.answer is not None else None

    # --- the budget ---

    def budget_now(self, state: BenchState[Any]) -> int:
        """Returns the budget in force."""
        answer = state.answer_in_force
        return budget_in_force(self.kind, state.settings, answer.outcome if answer is not None else None)

    def draw_budget(self, scene: Scene, cells: int) -> Sequence[Line]:
        """Draws the headline of the budget, and the two lines below it."""
        state = scene.state
        if state.answer is None or state.refusal is not None:
            now = self.budget_now(state)
            told = f"{self.kind.budget.label} {now:,}" if now else f"no {self.kind.budget.label} yet"
            if not isinstance(state.refusal, BudgetExceeded):
                return [line(told), (), line("·" * cells)]
            return [line(f"{told} · not met"), (), line(Span("▚" * cells, "error"))]
        item = state.cursor
        said = self.listing(scene).said(item) if item < len(state.answer) else ""
        return draw_budget(self.picture(state.answer), self._picture_then(state), item, said, cells)

    def segment_at(self, scene: Scene, cell: int, cells: int) -> int | None:
        """Returns the item whose segment of the bar is in a cell; None where none is."""
        state = scene.state
        if state.answer is None or state.refusal is not None:
            return None
        picture = self.picture(state.answer)
        return item_at(picture, cell, cells, reach_of(picture, self._picture_then(state)))

    def ready(self, answer: Any, baseline: Any) -> None:
        super().ready(answer, baseline)
        self.picture(answer)

    def picture(self, answer: Any) -> BudgetPicture:
        """Returns the picture of the budget of an answer."""
        return ledger_picture(answer)

    def _picture_then(self, state: BenchState[Any]) -> BudgetPicture | None:
        """The picture of the baseline; None while nothing has changed since."""
        return self.picture(state.baseline) if state.comparison is not None else None

    def knob_notes(self, state: BenchState[Any]) -> Mapping[str, str]:
        """Returns words beside knobs, by their keys."""
        derived = not self.kind.budget.value(state.settings) and self.budget_now(state)
        return {self.kind.budget.key: f"  {self.budget_now(state):,} follows from the model"} if derived else {}

    # --- the list ---

    def listing(self, scene: Scene) -> ItemListing:
        """Returns what the list shows of the answer."""
        answer = _ledger(scene)
        return LedgerListing(self, answer, scene.state.comparison, scene.crossings)

    def draw_caption(self, scene: Scene, cells: int) -> Line:
        """Draws the line in the lower border of the list."""
        return ()

    def draw_notices(self, scene: Scene, cells: int) -> list[Line]:
        """Draws every notice about the answer."""
        if scene.state.answer is None:
            return []
        answer = _ledger(scene)
        warned = sorted(answer.warnings, key=lambda notice: notice.code not in self.first_warnings)
        first = sum(notice.code in self.first_warnings for notice in warned)
        told = [(f"! {notice.message}", "warning") for notice in warned]
        told[first:first] = self.notices(answer)
        return [part for text, role in told for part in wrapped(visible(text), cells, role)]

    def draw_blank(self, scene: Scene, cells: int) -> Sequence[Line]:
        """Draws what stands in place of the items: an error, progress, or the kind of emptiness."""
        state = scene.state
        if scene.jobs.error is not None:
            return blank.draw_error(scene.jobs.error, cells)
        if not state.asks:
            return self.draw_prompt(scene.keys.shown("query"), cells)
        if scene.jobs.activity == self.reading:
            return blank.draw_progress(state.question, scene.jobs.progress, cells)
        if state.refusal is not None and state.reading is not None:
            below = self.refused(state.reading.material, state.inputs, state.settings, cells)
            return [*blank.draw_error(state.refusal, cells), (), *below]
        return self.draw_empty(scene, cells)

    def draw_empty(self, scene: Scene, cells: int) -> Sequence[Line]:
        """Draws that an answer holds nothing, or is awaited."""
        return [line("nothing is in it" if scene.state.answer is not None else "deciding …")]

    def draw_prompt(self, field_key: str, cells: int) -> list[Line]:
        """Draws what stands in place of the items while nothing is asked."""
        return [
            *wrapped(self.kind.wording.opening, cells, "bold"),
            (),
            *wrapped(f"{field_key} goes to the field for it; Enter reads it.", cells, "faint"),
        ]

    # --- the pages beside it ---

    def draw_why(self, scene: Scene, cells: int) -> Sequence[Line]:
        """Draws why the item at the cursor was decided so."""
        return ledger_pages.draw_why(self, _ledger(scene), scene.state.cursor, cells) if scene.state.listed else []

    def text_of(self, scene: Scene) -> ItemText | None:
        """Returns the text of the item at the cursor; None: there is none."""
        return ledger_pages.text_of(self, _ledger(scene), scene.state.cursor) if scene.state.listed else None

    def draw_diff(self, scene: Scene, cells: int) -> Sequence[Line]:
        """Draws what changed since the baseline."""
        state = scene.state
        if not state.listed:
            return []
        return ledger_pages.draw_diff(self, _ledger(scene), state.comparison, state.cursor, cells)


def _ledger(scene: Scene) -> LedgerAnswer[Any]:
    assert isinstance(scene.state.answer, LedgerAnswer)
    return scene.state.answer
