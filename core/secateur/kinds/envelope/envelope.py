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

If no budget is given, it is derived from the context window of the model. The table of windows is data
(`windows.toml`); `[context_budget] windows` adds to it and overrides it. A name matches exactly, or without the
additions of providers (`openai/`, `us.anthropic.`, a date, `-latest`, `-preview`, `-v1:0`); dots and dashes are equal
(`claude-opus-4.6`). Nothing is guessed from a family: a model that matches nothing has no known window.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from types import MappingProxyType
from typing import Any

import tomli
from msgspec import field

from secateur.errors import BudgetExceeded, PromptComposeError
from secateur.kinds.envelope.ledger_entries import CutRecord, Known, Remembered, make_ledger, text_at
from secateur.kinds.envelope.sections import TARGET, Path, pinned_paths, section_of, sections, text_of, value_at
from secateur.kinds.envelope.stages import Shrinking
from secateur.kinds.report_logs import log_report
from secateur.ledger import CHARS_AFTER, CHARS_BEFORE, VERBS, WRAPPER, ActionName, LedgerShape, Totals
from secateur.model import Entry, Ledger, Notice, Reason, State, TrimAction, TrimReport
from secateur.render.page import listed
from secateur.settings import ContextBudget, Settings
from secateur.shape import Shape
from secateur.suggestions import suggestion
from secateur.terminal import clip
from secateur.tokens import Counter, counter_for, get_counter, tokenizer_warning
from secateur.what_if import ProofFields

_ROWS = tomli.loads(files("secateur.kinds.envelope").joinpath("windows.toml").read_text("utf-8"))["windows"]
# Tokens of each model's window, prompt and answer together.
WINDOWS: Mapping[str, int] = MappingProxyType({model: row["tokens"] for row in _ROWS for model in row["models"]})

LONGEST_NAME = 200  # longest name of a model that is looked up, in characters
_PREFIX = re.compile(r"^(?:[a-z-]{2,12}\.)?(?:anthropic|meta|mistral|openai|deepseek|qwen)\.")
_SUFFIX = re.compile(r"(?:-\d{8}|-\d{4}-\d{2}-\d{2}|-\d{4}|-\d{3}|@\d{8}|[-:@]latest|-preview|-instruct|-v\d(?::\d)?)$")


@dataclass(frozen=True, slots=True)
class Budget:
    """The tokens of one call: for the context, and reserved for the answer."""

    context: int
    reserve: int
    notices: tuple[Notice, ...] = ()


def window_of(model: str, more: Mapping[str, int] | None = None) -> int | None:
    """Tokens of the model's window, None if unknown. `more` overrides the table; case does not matter.

    >>> window_of("openai/gpt-4o-2024-08-06")
    128000
    """
    if len(model) > LONGEST_NAME:
        return None
    known = {_normalise(name): size for name, size in (*WINDOWS.items(), *(more or {}).items())}
    name = model.strip().casefold()
    for candidate in (name, name.rpartition("/")[2], _PREFIX.sub("", name.rpartition("/")[2])):
        while _normalise(candidate) not in known and _SUFFIX.search(candidate):
            candidate = _SUFFIX.sub("", candidate)
        if _normalise(candidate) in known:
            return known[_normalise(candidate)]
    return None


def _normalise(name: str) -> str:
    return name.casefold().replace(".", "-")


def budget_of(model: str, context: int | None, reserve: int | None, settings: ContextBudget, counter: str) -> Budget:
    """Returns budget and reserve: the caller's, else `context_budget.tokens` and `reserve`; 0 is derived from the
    model's window (70 / 30).

    A derived part leaves room for the given one. For a model with a given budget and an unknown window, only the
    caller's reserve counts. Raises PromptComposeError: a budget is negative or not an integer; or none is given, and
    the window is unknown or completely reserved.
    """
    if not isinstance(model, str):
        message = f"model is a {type(model).__name__}, not a text"
        raise PromptComposeError(message, hint="name the model, for example gpt-4o")
    context = _check_number("context_token_budget", context) or settings.tokens
    reserve = _check_number("reserve_for_response", reserve) or settings.reserve
    window = window_of(model, settings.windows)
    other = tokenizer_warning(model, counter)
    notices = [Notice("other_tokenizer", other)] if other else []
    if window is None:
        if not context and not model.strip():
            hint = "name the model the envelope is for, or set a budget"
            raise PromptComposeError("no model is named, and no budget is set", hint=hint)
        if not context:
            near = suggestion(model, (*WINDOWS, *settings.windows))
            guess = f"did you mean {near}? " if near else ""
            hint = f"{guess}give a context budget, or set context_budget.windows"
            message = f"the window of model {model[:100]!r} is not known, so no budget follows from it"
            raise PromptComposeError(message, hint=hint)
        if not model.strip():
            return Budget(context, reserve)
        message = f"The window of model {model[:100]!r} is not known: the budget is taken as given."
        notices.append(Notice("unknown_window", message))
        return Budget(context, reserve, tuple(notices))
    share = window * 7 // 10
    if not context:
        context = min(share, window - reserve)
        if context < 1:
            message = f"reserve_for_response {reserve:,} leaves nothing of the {window:,} tokens of {model}"
            raise PromptComposeError(message, hint="reserve less, or give a context budget")
    reserve = reserve or max(0, min(window - share, window - context))
    if context + reserve > window:
        both = f"Budget {context:,} and reserve {reserve:,} together"
        notices.append(Notice("window_overrun", f"{both} are more than the {window:,} tokens of {model}."))
    return Budget(context, reserve, tuple(notices))


def _check_number(name: str, value: int | None) -> int:
    if value is None:
        return 0
    hint = "0 or None: derived from the model's window"
    if isinstance(value, bool) or not isinstance(value, int):
        raise PromptComposeError(f"{name} is a {type(value).__name__}, not an integer", hint=hint)
    if value < 0:
        raise PromptComposeError(f"{name} is negative", hint=hint)
    return value


_PINS_NAMED, _LONGEST_PIN = 3, 120  # pins that an error names, and characters of a name
AROUND = "envelope"  # section of the report's last action: names, punctuation and unchanged fields around the sections


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
    # of each entry except the wrapper; a position means: from there to the list's end
    places: tuple[tuple[Path, int | None], ...]
    notices: tuple[Notice, ...] = ()
    counter: str = ""  # the name of the counter

    @cached_property
    def report(self) -> TrimReport:
        """The ledger in the frozen shape."""
        return self.ledger.report(_action, reserve=self.reserve)

    def texts(self, index: int) -> tuple[str, str]:
        """The JSON text of the ledger's entry at `index`, before and after; "" for the wrapper."""
        if index >= len(self.places):
            return "", ""
        return text_at(self.original, *self.places[index]), text_at(self.envelope, *self.places[index])

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
    *, envelope: Mapping[str, Any], model: str, context_token_budget: int, reserve_for_response: int
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
    counter = counter_for(model if isinstance(model, str) else "", get_counter(settings.tokens.counter))
    original = sections(envelope)
    budget = budget_of(model, context_token_budget, reserve_for_response, settings.context_budget, counter.name)
    trimmed = fit(original, budget, counter, settings.pins)
    log_report("envelope", trimmed.report)
    return trimmed


def fit(
    original: dict[str, Any],
    budget: Budget,
    counter: Counter,
    pins: Collection[str] = (),
    remembered: Remembered | None = None,
) -> TrimmedEnvelope:
    """Trims the checked sections of an envelope to a known budget, with a known counter; what pins name stays whole.
    `remembered`: of earlier decisions on it. Raises BudgetExceeded: as `trim_context_with_budget`."""
    known = remembered.known if remembered is not None else Known()
    text = known.once("text", lambda: text_of(original))
    before = after = known.once(counter.name, lambda: counter.count(text))
    trimmed, cut_record = original, CutRecord()
    pinned = frozenset(pinned_paths(original, pins).values())
    if before > budget.context:
        shrinking = Shrinking(original, before, budget.context, counter, pinned, remembered)
        shrinking.run()
        trimmed, after, cut_record = shrinking.trimmed, shrinking.tokens, shrinking.cut_record
        if not shrinking.fits:
            raise _exceeded_error(trimmed, after, budget.context, counter, pinned)
    ledger, places = make_ledger(
        original, text, trimmed, cut_record, pinned, before, after, budget.context, counter, known
    )
    return TrimmedEnvelope(trimmed, ledger, budget.reserve, original, places, budget.notices, counter.name)


def _exceeded_error(
    envelope: dict[str, Any], tokens: int, budget: int, counter: Counter, pinned: Collection[Path]
) -> BudgetExceeded:
    target = counter.count(text_of(envelope[TARGET]))
    if target > budget:
        message = f"{TARGET} alone takes {target:,} tokens, the context budget is {budget:,}"
    else:
        message = f"{tokens:,} tokens are left where the context budget is {budget:,}"
        message += f": {TARGET} takes {target:,}, what may be trimmed is trimmed"
    if pinned:
        held = sum(counter.count(text_of(value_at(envelope, path))) for path in pinned)
        names = listed([clip(name, _LONGEST_PIN) for name in sorted(map(section_of, pinned))], _PINS_NAMED)
        message += f"; pinned parts take {held:,} ({names})"
    other = "remove pins" if pinned else "make the parts smaller that may not be trimmed"
    return BudgetExceeded(message, hint=f"a context budget of {tokens:,} is enough, or {other}")


def action_of(entry: Entry) -> str:
    """Returns the frozen shape's name for the stage that trimmed an entry; "keep" if none did.

    "drop" leaves `path + summary + hash`, so the entry counts as summarised, as does a list of the first stage.
    """
    if entry.state is State.SUMMARISED and entry.reason is not Reason.LONG_LIST:
        return "drop"
    return "truncate" if entry.state is State.SHORTENED else VERBS[entry.state]


def _action(entry: Entry) -> TrimAction:
    section, reason = (AROUND, "around") if entry.id == WRAPPER else (entry.id, entry.reason.label)
    chars = int(entry.figures[CHARS_BEFORE]), int(entry.figures[CHARS_AFTER])
    return TrimAction(section, action_of(entry), reason, entry.before, entry.after, *chars)
