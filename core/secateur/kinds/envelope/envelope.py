"""`trim_context_with_budget` trims a prompt envelope to a token budget (spec context-budget, frozen contract).

An envelope is seven sections of JSON values. `target_snapshot` is never changed; only `dependency_digest` and extension
fields get smaller, in fixed stages, each of which stops as soon as the envelope fits:

1. summarize: lists of the digest keep their first items; the objects after them become references, other items one
   line;
2. truncate: long texts keep their beginning, except names, paths, summaries and digests;
3. drop: objects, then the digest's fields and the extension fields, at last the digest become `path + summary + hash`;
   a text keeps its length and digest.

Within a stage the cut that saves most comes first. The budget limits the envelope's JSON text on one line. Pure: no
clock, no file, the input is never changed. Linear: every text is counted a fixed number of times.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from msgspec import field

from secateur.errors import BudgetExceeded
from secateur.kinds.envelope.degrading import Path, section_of, text_of
from secateur.kinds.envelope.places import value_at
from secateur.kinds.envelope.sections import TARGET, copy_envelope, sections
from secateur.kinds.envelope.stages import CutRecord, Shrinking
from secateur.kinds.envelope.windows import Budget, budget_of
from secateur.ledger import CHARS_AFTER, CHARS_BEFORE, VERBS, WRAPPER, ActionName, LedgerShape, Totals
from secateur.logs import log_report
from secateur.model import Entry, Ledger, Notice, Reason, State, TrimAction, TrimReport
from secateur.settings import ContextBudget, Settings
from secateur.shape import Shape
from secateur.tokens import Counter, get_counter
from secateur.what_if.explanation import ProofFields

AROUND = "envelope"
"""Section of the report's last action: names, punctuation and unchanged fields around the sections."""


class TrimmedSection(Shape, frozen=True, rename="camel"):
    """A section that was trimmed, in characters."""

    section: str
    action: ActionName
    before_chars: int
    after_chars: int


class EnvelopeReport(Totals, frozen=True):
    """The report in the shape that the context-budget spec froze."""

    actions: list[TrimmedSection]


class FrozenOutput(Shape, frozen=True, rename="camel"):
    """Exactly the output of the context-budget spec; the actions of its report are the sections that were trimmed."""

    trimmed_envelope: dict[str, Any]
    trim_report: EnvelopeReport


class EnvelopeOutput(ProofFields, frozen=True):
    """The output of `secateur envelope --format json`: the frozen shape of the context-budget spec, and the ledger."""

    trimmed_envelope: dict[str, Any] = field(name="trimmedEnvelope")
    trim_report: EnvelopeReport = field(name="trimReport")
    ledger: LedgerShape


@dataclass(frozen=True)
class TrimmedEnvelope:
    """An envelope that fits its budget, and the ledger.

    The ledger accounts for the whole envelope: trimmed parts, kept sections, and the wrapper around them;
    characters and tokens of all entries sum to those of the envelope's JSON text before and after.
    """

    envelope: dict[str, Any]
    ledger: Ledger
    reserve: int
    original: Mapping[str, Any]
    places: tuple[
        tuple[Path, int | None], ...
    ]  # of each entry except the wrapper; a position means: from there to the list's end
    notices: tuple[Notice, ...] = ()

    @cached_property
    def report(self) -> TrimReport:
        """The ledger in the frozen shape."""
        return self.ledger.report(_action, reserve=self.reserve)

    def texts(self, index: int) -> tuple[str, str]:
        """The JSON text of the ledger's entry at `index`, before and after; "" for the wrapper."""
        if index >= len(self.places):
            return "", ""
        before, after = (_text_at(value, *self.places[index]) for value in (self.original, self.envelope))
        return before, after

    def output(self) -> FrozenOutput:
        """Exactly the frozen output shape."""
        report = self.report
        actions = [
            TrimmedSection(action.section, action.action, action.before_chars or 0, action.after_chars or 0)
            for action in report.actions
            if action.action != "keep"
        ]
        figures = report.applied, report.before, report.after, report.budget, report.reserve
        return FrozenOutput(self.envelope, EnvelopeReport(*figures, actions))


def trim_context_with_budget(
    *,
    envelope: Mapping[str, Any],
    model: str,
    context_token_budget: int,
    reserve_for_response: int,
) -> dict[str, Any]:
    """Trims an envelope with default settings by the frozen contract: `{"trimmedEnvelope", "trimReport"}`.

    Args:
        context_token_budget: limit of the envelope's JSON text, in tokens; 0 or None: 70 % of the model's window.
        reserve_for_response: tokens kept free for the answer, for the report; 0 or None: the rest of the window, at
            most 30 %.

    Raises:
        PromptComposeError: `AI_PROMPT_COMPOSE_ERROR`: sections are missing or unknown, a value is not JSON, a budget is
            not valid.
        BudgetExceeded: `AI_CONTEXT_BUDGET_EXCEEDED`: the parts that may not be trimmed do not fit.
    """
    return trim_envelope(envelope, model, context_token_budget, reserve_for_response).output().to_dict()


def trim_envelope(
    envelope: Mapping[str, Any],
    model: str,
    context_token_budget: int | None = None,
    reserve_for_response: int | None = None,
    settings: Settings | None = None,
) -> TrimmedEnvelope:
    """Trims an envelope with settings (`[context_budget]`, `tokens.counter`); returns also the full ledger and the
    warnings.

    Raises:
        PromptComposeError, BudgetExceeded: as `trim_context_with_budget`.
        TokenizerError: the counter's data cannot be read.
    """
    settings = settings or Settings()
    rules = settings.context_budget
    counter = get_counter(settings.tokens.counter)
    original = sections(envelope)
    budget = budget_of(model, context_token_budget, reserve_for_response, rules, counter.name)
    trimmed = fit(original, budget, rules, counter)
    log_report("envelope", trimmed.report)
    return trimmed


def fit(original: dict[str, Any], budget: Budget, rules: ContextBudget, counter: Counter) -> TrimmedEnvelope:
    """Trims the checked sections of an envelope to a known budget, with a known counter.

    Raises:
        BudgetExceeded: as `trim_context_with_budget`.
    """
    before = after = counter.count(text_of(original))
    trimmed, cut_record = original, CutRecord()
    if before > budget.context:
        trimmed = copy_envelope(original)
        shrinking = Shrinking(original, trimmed, before, budget.context, rules, counter)
        shrinking.run()
        after, cut_record = shrinking.tokens, shrinking.cut_record
        if not shrinking.fits:
            raise _exceeded_error(trimmed, after, budget.context, counter)
    ledger, places = _ledger(original, trimmed, cut_record, before, after, budget.context, counter)
    return TrimmedEnvelope(trimmed, ledger, budget.reserve, original, places, budget.notices)


def _exceeded_error(envelope: dict[str, Any], tokens: int, budget: int, counter: Counter) -> BudgetExceeded:
    target = counter.count(text_of(envelope[TARGET]))
    if target > budget:
        message = f"{TARGET} alone takes {target:,} tokens, the context budget is {budget:,}"
    else:
        message = (
            f"{tokens:,} tokens are left where the context budget is {budget:,}: {TARGET} takes {target:,}, what may be"
            " trimmed is trimmed"
        )
    return BudgetExceeded(
        message, hint=f"a context budget of {tokens:,} is enough, or make what may not be trimmed smaller"
    )


# --- the ledger -------------------------------------------------------------------------------------------------------


def _ledger(
    original: Any, trimmed: Any, cut_record: CutRecord, before: int, after: int, budget: int, counter: Counter
) -> tuple[Ledger, tuple[tuple[Path, int | None], ...]]:
    """Makes the ledger: one entry per trimmed part, by action and path, none inside another; then the unchanged
    sections, then the wrapper. Returns it with the locations of the entries."""
    rows = cut_record.sections()
    touched = {path[0] for path, *_ in rows}
    rows += [
        ((section,), None, State.KEPT, Reason.TARGET if section == TARGET else Reason.FITS)
        for section in original
        if section not in touched
    ]
    entries = []
    for path, start, state, reason in rows:
        then, now = (_text_at(value, path, start) for value in (original, trimmed))
        name = section_of(path) + ("" if start is None else f"[{start}:]")
        tokens = counter.count(then)
        figures = {CHARS_BEFORE: len(then), CHARS_AFTER: len(now)}
        entries.append(Entry(name, state, reason, tokens, tokens if now == then else counter.count(now), figures))
    around = {
        side: len(text_of(whole)) - sum(int(entry.figures[side]) for entry in entries)
        for side, whole in ((CHARS_BEFORE, original), (CHARS_AFTER, trimmed))
    }
    beside = before - sum(entry.before for entry in entries)
    ledger = Ledger.closed("envelope", budget, entries, after, around=beside, figures=around)
    return ledger, tuple((path, start) for path, start, _, _ in rows)


def action_of(entry: Entry) -> str:
    """Returns the frozen shape's name for the stage that trimmed an entry; "keep" if none did.

    "drop" leaves `path + summary + hash`, so the entry counts as summarised, as does a list of the first stage.
    """
    if entry.state is State.SUMMARISED and entry.reason is not Reason.LONG_LIST:
        return "drop"
    return "truncate" if entry.state is State.SHORTENED else VERBS[entry.state]


def _action(entry: Entry) -> TrimAction:
    """An entry as an action of the frozen shape."""
    section, reason = (AROUND, "around") if entry.id == WRAPPER else (entry.id, entry.reason.label)
    chars = int(entry.figures[CHARS_BEFORE]), int(entry.figures[CHARS_AFTER])
    return TrimAction(section, action_of(entry), reason, entry.before, entry.after, *chars)


def _text_at(value: Any, path: Path, start: int | None) -> str:
    held = value_at(value, path)
    return text_of(held if start is None else held[start:])
