"""A prompt envelope: its sections and fields, and what each stage of trimming makes of them for a
model's budget."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from secateur.errors import PromptComposeError, UsageError, not_utf8
from secateur.kinds.envelope.envelope import TrimmedEnvelope, fit
from secateur.kinds.envelope.sections import parsed, sections
from secateur.kinds.envelope.windows import Budget, budget_of, window_of
from secateur.kinds.knobs import Knob
from secateur.model import TrimAction
from secateur.progress import Progress, unreported
from secateur.settings import Settings
from secateur.terminal import clip_left, visible
from secateur.tokens import get_counter

from secateur_tui.state.command_lines import CommandWords
from secateur_tui.state.input_files import read_file
from secateur_tui.state.ledger_answer import LedgerAnswer
from secateur_tui.state.subject import Field, Inputs, Subject
from secateur_tui.styled_text import Line, Span, line, wrapped
from secateur_tui.styled_text import fit as fitted

LARGEST = 256 << 20
"""Bytes above which a file is no envelope, as for `secateur envelope`."""

LONGEST_INDENTED = 100_000
"""Characters of JSON that are laid out for reading; no page shows more of it."""

_TABLE = "context_budget."
_STAGES = {"summarize": "1 summarize", "truncate": "2 truncate", "drop": "3 drop"}
_STAGE_CELLS, _CHARS_CELLS = 11, 17
_WITH_CHARS = 48
"""Cells from which there is room for the characters too."""


@dataclass(frozen=True)
class OpenedEnvelope:
    """An envelope and what its sections hold."""

    sections: dict[str, Any]
    sizes: tuple[TrimAction, ...]  # the ledger of the envelope as it is
    tokens: int


class EnvelopeSubject(Subject[OpenedEnvelope, TrimmedEnvelope]):
    """See `Subject`."""

    name = "envelope"
    noun = "Sections"
    fields: ClassVar[Sequence[Field]] = (
        Field("path", "Envelope", "the file of an envelope"),
        Field("model", "Model", "the model it is for"),
    )
    prompt = "A prompt envelope can be opened here: a JSON object with its seven sections, and the model it is for."
    budget = Knob(_TABLE + "tokens", "budget", fine_step=10, rounded=True, mutable=True)
    knobs: ClassVar[Sequence[Knob]] = (
        budget,
        Knob(_TABLE + "reserve", "reserve", fine_step=10, rounded=True, mutable=True),
        Knob(_TABLE + "keep_items", "keep items", mutable=True),
        Knob(_TABLE + "keep_chars", "keep chars", step=50, fine_step=10),
        Knob(_TABLE + "context_share", "share", step=0.05, fine_step=0.01),
    )
    reasons: ClassVar[Mapping[str, str]] = {
        "target": "the target snapshot comes back as it is, always",
        "fits": "there was no need to cut it",
        "around": "it is what stands around the sections: names, punctuation, fields that were not touched",
        "long_list": "stage 1: lists of the digest keep their first items",
        "long_text": "stage 2: long texts keep their beginning",
        "reference_only": "stage 3: only path, summary and hash are left",
        "summary_shortened": "after the stages: all summaries are shortened evenly",
        "summary_dropped": "after the stages: summaries go, the last entry's first; path and hash stay",
        "hash_dropped": "after the stages: hashes go, the last entry's first; the path stays",
        "entries_dropped": "after the stages: entries go, the last first; their number and digest stay",
    }

    # --- deciding ---

    def read(self, inputs: Inputs, settings: Settings, progress: Progress) -> OpenedEnvelope:
        progress("reading", 0, 0)
        try:
            text = read_file(inputs["path"], LARGEST).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise not_utf8(inputs["path"], error, PromptComposeError) from error
        held = sections(parsed(text))
        progress("counting", 0, 0)
        whole = fit(held, Budget(sys.maxsize, 0), settings.context_budget, get_counter(settings.tokens.counter)).report
        return OpenedEnvelope(held, whole.actions, whole.before)

    def decide(
        self,
        material: OpenedEnvelope,
        inputs: Inputs,
        settings: Settings,
        progress: Progress = unreported,  # noqa: ARG002
    ) -> LedgerAnswer[TrimmedEnvelope]:
        rules, counter = settings.context_budget, get_counter(settings.tokens.counter)
        if not inputs["model"].strip() and not rules.tokens:
            raise UsageError(
                "no model is named, and no budget is set",
                hint="name the model in the field beside the envelope's, or turn the budget",
            )
        trimmed = fit(material.sections, budget_of(inputs["model"], None, None, rules, counter.name), rules, counter)
        return LedgerAnswer(settings, trimmed.report, trimmed, trimmed.notices)

    def budget_in_force(self, settings: Settings, ledger: LedgerAnswer[TrimmedEnvelope] | None) -> int:
        return ledger.report.budget if ledger is not None else settings.context_budget.tokens

    # --- wording ---

    def described(self, material: OpenedEnvelope) -> str:
        return f"{len(material.sections)} sections, {material.tokens:,} tokens"

    def notices(self, ledger: LedgerAnswer[TrimmedEnvelope]) -> Sequence[tuple[str, str]]:
        report = ledger.report
        return [] if report.applied else [(f"it fits as it is: {report.before:,} of {report.budget:,} tokens", "faint")]

    def tail_title(self, ledger: LedgerAnswer[TrimmedEnvelope]) -> str:  # noqa: ARG002 - the same for all
        return f"{'stage':<{_STAGE_CELLS}} section"

    def tail(self, ledger: LedgerAnswer[TrimmedEnvelope], item: int, cells: int) -> Line:
        action = ledger.action(item)
        room = cells - _STAGE_CELLS - 1 - (_CHARS_CELLS + 1 if cells >= _WITH_CHARS else 0)
        chars = (
            f" {f'{action.before_chars:,}→{action.after_chars:,} ch':>{_CHARS_CELLS}}" if cells >= _WITH_CHARS else ""
        )
        section = fitted(clip_left(visible(action.section), room), room) if room > 0 else ""
        return line(Span(f"{_STAGES.get(action.action, '–'):<{_STAGE_CELLS}} ", "faint"), section, Span(chars, "faint"))

    def texts(self, ledger: LedgerAnswer[TrimmedEnvelope], item: int) -> tuple[str, str]:
        before, after = ledger.result.texts(item)
        return _indented(before), _indented(after)

    def facts(self, ledger: LedgerAnswer[TrimmedEnvelope], item: int, cells: int) -> list[Line]:  # noqa: ARG002 - the same for all
        report = ledger.report
        lines = wrapped(f"the whole: {report.before:,} → {report.after:,} tokens of {report.budget:,}", cells)
        return [*lines, *wrapped(f"{report.reserve:,} are kept free for the answer", cells, "faint")]

    def refused(self, material: OpenedEnvelope, inputs: Inputs, settings: Settings, cells: int) -> list[Line]:
        window = window_of(inputs["model"], settings.context_budget.windows)
        lines = [
            line(
                Span("what it holds", "bold"),
                f"  {material.tokens:,} tokens",
                Span(f"  of a window of {window:,}" if window else "", "faint"),
            )
        ]
        for action in material.sizes:
            lines.append(
                line(f"{action.before:>9,} ", Span(clip_left(visible(action.section), max(1, cells - 10)), "faint"))
            )
        return lines

    def command(self, inputs: Inputs, settings: Settings, opened: Settings) -> str:
        spelled = CommandWords("envelope", settings, opened)
        spelled.words("--model", inputs["model"])
        rules = settings.context_budget
        if rules.tokens:
            spelled.flag("--context-budget", str(rules.tokens), _TABLE + "tokens")
        if rules.reserve:
            spelled.flag("--reserve", str(rules.reserve), _TABLE + "reserve")
        spelled.differing((_TABLE, "tokens."))
        return spelled.line(inputs["path"])


def _indented(text: str) -> str:
    """JSON on several lines, for people; as it is where it is long."""
    return json.dumps(json.loads(text), ensure_ascii=False, indent=1) if 0 < len(text) <= LONGEST_INDENTED else text
