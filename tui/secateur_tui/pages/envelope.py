"""A prompt envelope: its sections and fields, and what each stage of trimming makes of them for a
model's budget."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from secateur.kinds.envelope.envelope import TrimmedEnvelope, action_of, window_of
from secateur.kinds.envelope.kind import Read
from secateur.ledger import CHARS_AFTER, CHARS_BEFORE
from secateur.model import State
from secateur.settings import Settings
from secateur.terminal import clip_left, visible

from secateur_tui.pages.kind_page import KindPage
from secateur_tui.short_names import ListColumn
from secateur_tui.state.answer import ShownAnswer
from secateur_tui.state.bench_state import BenchState, Inputs
from secateur_tui.styled_text import Line, Span, line, wrap_words
from secateur_tui.widgets.budget_bar import BudgetPicture, picture_of
from secateur_tui.widgets.listing import ItemListing

LONGEST_INDENTED = 100_000  # characters of JSON that are laid out for reading; no page shows more of it

_STAGES = {"summarize": "1 summarize", "truncate": "2 truncate", "drop": "3 drop"}
_STAGE_CELLS, _CHARS_CELLS = 11, 13


class EnvelopeListing(ItemListing):
    """Sections and fields, each with the stage that trimmed it, and its characters."""

    titles: ClassVar[tuple[str, str]] = ("section", "")
    ordered_by: ClassVar[str] = "stage"

    def own_columns(self) -> Sequence[ListColumn]:
        return (
            ListColumn.fixed("stage", "stage", _STAGE_CELLS, 5, right=False),
            ListColumn.fixed("characters", "characters", _CHARS_CELLS, 7),
        )

    def cell(self, item: int, column: ListColumn, cells: int) -> Line:
        entry = self.answer.entries[item]
        if column.id == "stage":
            return line(Span(_STAGES.get(action_of(entry), "–"), "faint"))
        if column.id == "characters":
            before, after = entry.figures[CHARS_BEFORE], entry.figures[CHARS_AFTER]
            return line(Span(f"{before:,}→{after:,}" if before != after else f"{before:,}", "faint"))
        return super().cell(item, column, cells)


class EnvelopePage(KindPage[Read, TrimmedEnvelope]):
    """The look of the Envelope bench."""

    listing_type = EnvelopeListing

    def picture(self, answer: ShownAnswer[TrimmedEnvelope]) -> BudgetPicture:
        reserve = answer.outcome.payload.reserve if answer.outcome.payload is not None else 0
        return picture_of(answer, (f"reserve {reserve:,}",) if reserve else ())

    def notices(self, answer: ShownAnswer[TrimmedEnvelope]) -> Sequence[tuple[str, str]]:
        ledger = answer.ledger
        whole = all(entry.state is State.KEPT for entry in ledger.entries)
        return [(f"it fits as it is: {ledger.before:,} of {ledger.budget:,} tokens", "faint")] if whole else []

    def texts(self, answer: ShownAnswer[TrimmedEnvelope], item: int) -> tuple[str, str]:
        before, after = super().texts(answer, item)
        return _indent_json(before), _indent_json(after)

    def facts(self, answer: ShownAnswer[TrimmedEnvelope], item: int, cells: int) -> list[Line]:
        ledger = answer.ledger
        lines = wrap_words(f"the whole: {ledger.before:,} → {ledger.after:,} tokens of {ledger.budget:,}", cells)
        return [*lines, *wrap_words(f"{answer.outcome.payload.reserve:,} are kept free for the answer", cells, "faint")]

    def knob_notes(self, state: BenchState[Any]) -> Mapping[str, str]:
        answer = state.answer_in_force
        reserve = answer.outcome.payload.reserve if answer is not None else 0
        derived = reserve and not state.settings.context_budget.reserve
        note = {"context_budget.reserve": f"  {reserve:,} is the rest of the window"} if derived else {}
        return {**super().knob_notes(state), **note}

    def explain_refusal(self, material: Read, inputs: Inputs, settings: Settings, cells: int) -> list[Line]:
        window = window_of(inputs["model"], settings.context_budget.windows)
        of_window = Span(f"  of a window of {window:,}" if window else "", "faint")
        lines = [line(Span("what it holds", "bold"), f"  {material.tokens:,} tokens", of_window)]
        for section, tokens in material.sizes:
            lines.append(line(f"{tokens:>9,} ", Span(clip_left(visible(section), max(1, cells - 10)), "faint")))
        return lines


def _indent_json(text: str) -> str:
    return json.dumps(json.loads(text), ensure_ascii=False, indent=1) if 0 < len(text) <= LONGEST_INDENTED else text
