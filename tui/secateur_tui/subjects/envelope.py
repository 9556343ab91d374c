"""A prompt envelope: its sections and fields, and what each stage of trimming makes of them for a
model's budget."""

from __future__ import annotations

import json
from collections.abc import Sequence

from secateur.kinds.base import Outcome
from secateur.kinds.envelope.envelope import TrimmedEnvelope
from secateur.kinds.envelope.kind import Read
from secateur.kinds.envelope.windows import window_of
from secateur.settings import Settings
from secateur.terminal import clip_left, visible

from secateur_tui.state.ledger_answer import LedgerAnswer
from secateur_tui.state.subject import Inputs
from secateur_tui.styled_text import Line, Span, line, wrapped
from secateur_tui.styled_text import fit as fitted
from secateur_tui.subjects.kind_subject import KindSubject

LONGEST_INDENTED = 100_000
"""Characters of JSON that are laid out for reading; no page shows more of it."""

_STAGES = {"summarize": "1 summarize", "truncate": "2 truncate", "drop": "3 drop"}
_STAGE_CELLS, _CHARS_CELLS = 11, 17
_WITH_CHARS = 48
"""Cells from which there is room for the characters too."""


class EnvelopeSubject(KindSubject[Read, TrimmedEnvelope]):
    """The look of the Envelope bench."""

    def notices(self, answer: LedgerAnswer[Outcome[TrimmedEnvelope]]) -> Sequence[tuple[str, str]]:
        report = answer.report
        return [] if report.applied else [(f"it fits as it is: {report.before:,} of {report.budget:,} tokens", "faint")]

    def tail_title(self, answer: LedgerAnswer[Outcome[TrimmedEnvelope]]) -> str:
        return f"{'stage':<{_STAGE_CELLS}} section"

    def tail(self, answer: LedgerAnswer[Outcome[TrimmedEnvelope]], item: int, cells: int) -> Line:
        action = answer.action(item)
        room = cells - _STAGE_CELLS - 1 - (_CHARS_CELLS + 1 if cells >= _WITH_CHARS else 0)
        chars = (
            f" {f'{action.before_chars:,}→{action.after_chars:,} ch':>{_CHARS_CELLS}}" if cells >= _WITH_CHARS else ""
        )
        section = fitted(clip_left(visible(action.section), room), room) if room > 0 else ""
        return line(Span(f"{_STAGES.get(action.action, '–'):<{_STAGE_CELLS}} ", "faint"), section, Span(chars, "faint"))

    def texts(self, answer: LedgerAnswer[Outcome[TrimmedEnvelope]], item: int) -> tuple[str, str]:
        before, after = super().texts(answer, item)
        return _indented(before), _indented(after)

    def facts(self, answer: LedgerAnswer[Outcome[TrimmedEnvelope]], item: int, cells: int) -> list[Line]:
        report = answer.report
        lines = wrapped(f"the whole: {report.before:,} → {report.after:,} tokens of {report.budget:,}", cells)
        return [*lines, *wrapped(f"{report.reserve:,} are kept free for the answer", cells, "faint")]

    def refused(self, material: Read, inputs: Inputs, settings: Settings, cells: int) -> list[Line]:
        window = window_of(inputs["model"], settings.context_budget.windows)
        lines = [
            line(
                Span("what it holds", "bold"),
                f"  {material.tokens:,} tokens",
                Span(f"  of a window of {window:,}" if window else "", "faint"),
            )
        ]
        for section, tokens in material.sizes:
            lines.append(line(f"{tokens:>9,} ", Span(clip_left(visible(section), max(1, cells - 10)), "faint")))
        return lines


def _indented(text: str) -> str:
    """JSON on several lines, for people; as it is where it is long."""
    return json.dumps(json.loads(text), ensure_ascii=False, indent=1) if 0 < len(text) <= LONGEST_INDENTED else text
