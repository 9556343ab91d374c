"""Prompt envelopes as a kind of context: an envelope within the budget of a model."""

import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from msgspec import structs

from secateur.errors import PromptComposeError, not_utf8
from secateur.kind_places import place_of
from secateur.kinds.base import PIN, Delivery, Flag, Input, Kind, Outcome, Wording
from secateur.kinds.envelope.envelope import Budget, EnvelopeOutput, TrimmedEnvelope, budget_of, fit
from secateur.kinds.envelope.ledger_entries import Remembered
from secateur.kinds.envelope.sections import (
    SECTIONS,
    TARGET,
    Path,
    digest_of,
    parse_envelope,
    pinned_paths,
    sections,
    text_of,
)
from secateur.kinds.environment import ALONE, Deciding, Environment, Inputs
from secateur.kinds.kind_trials import KindTrials, Left
from secateur.kinds.knobs import Knob, warn_unknown_pins
from secateur.ledger import Notice, State
from secateur.redaction import Redactor
from secateur.render.page import Column, Page, Section, change, count_noun, sentence
from secateur.settings import Settings
from secateur.terminal import visible
from secateur.tokens import Counter, counter_for, get_counter
from secateur.what_if.trials import Trials

_TABLE = "context_budget."
_SHORT = 1_000  # a shorter text, in characters, is faster to count than to look up
# Action, tokens, characters and name of a section.
_COLUMNS = Column(10, gap=0), Column(19, right=True, gap=1), Column(23, right=True), Column()


@dataclass(frozen=True)
class Read:
    """The checked sections of an envelope, and their tokens."""

    sections: dict[str, Any]
    tokens: int
    sizes: tuple[tuple[str, int], ...]  # tokens of each section, then of the wrapper
    redactor: Redactor | None = None  # the redactor that read it
    notices: tuple[Notice, ...] = ()
    counted: dict[tuple[str, bytes], int] = field(default_factory=dict, repr=False, compare=False)
    remembered: Remembered | None = field(default=None, repr=False, compare=False)  # of the trials of one explanation


class _CachingCounter:
    """Counts each long text once: proofs trim an envelope hundreds of times, and nine of ten texts repeat."""

    def __init__(self, counter: Counter, counted: dict[tuple[str, bytes], int]) -> None:
        self.name, self.exact, self.load = counter.name, counter.exact, counter.load
        self._count, self._counted = counter.count, counted

    def count(self, text: str) -> int:
        if len(text) < _SHORT:
            return self._count(text)
        key = self.name, digest_of(text)
        if key not in self._counted:
            self._counted[key] = self._count(text)
        return self._counted[key]

    def count_many(self, texts: Iterable[str]) -> list[int]:
        return [self.count(text) for text in texts]


class Envelope(Kind[Read, TrimmedEnvelope]):
    """See `Kind`; spec context-budget."""

    name = "envelope"
    wording = Wording(
        "Envelope",
        place_of("envelope").about,
        "Sections",
        "A prompt envelope can be opened here: a JSON object with its seven sections, and the model it is for.",
    )
    inputs: ClassVar[Sequence[Input]] = (
        Input(
            "path",
            "the envelope, a JSON object with its seven sections; - reads stdin",
            positional=True,
            required=True,
            title="Envelope",
            placeholder="the file of an envelope",
        ),
        Input(
            "model",
            "the model that reads it; its window sets the budget if none is given",
            metavar="M",
            title="Model",
            placeholder="the model it is for",
        ),
    )
    flags: ClassVar[Sequence[Flag]] = (
        Flag(
            _TABLE + "tokens",
            "N",
            "most tokens of the envelope (default, or 0: 70 % of the window)",
            least=0,
            derived=True,
        ),
        Flag(
            _TABLE + "reserve",
            "N",
            "tokens kept free for the answer (default, or 0: the rest of the window)",
            least=0,
            derived=True,
        ),
        PIN,
    )
    budget = Knob(_TABLE + "tokens", "budget", fine_step=10, rounded=True, mutable=True)
    knobs: ClassVar[Sequence[Knob]] = (
        budget,
        Knob(_TABLE + "reserve", "reserve", fine_step=10, rounded=True, mutable=True),
    )
    formats = ("json", "text")
    one_line = ("trimmedEnvelope",)

    def recognises(self, path: Any, head: str) -> bool:
        first = head.removeprefix("{").lstrip()
        return head.startswith("{") and any(first.startswith(f'"{section}"') for section in SECTIONS)

    def read(self, inputs: Inputs, settings: Settings, environment: Environment) -> Read:
        environment.progress("reading", 0, 0)
        path = inputs["path"]
        try:
            text = environment.bytes_of(path, "envelope").decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise not_utf8(path, error, PromptComposeError) from error
        held = sections(parse_envelope(text))
        environment.progress("counting", 0, 0)
        counter = counter_for(inputs["model"] or "", get_counter(settings.tokens.counter))
        whole = fit(held, Budget(sys.maxsize, 0), counter).report
        sizes = tuple((action.section, action.before) for action in whole.actions)
        redactor = environment.redactor
        taken = redactor.within(text_of(held[TARGET])) if redactor is not None else ()
        notices: tuple[Notice, ...] = ()
        if taken:  # the target is promised to stay unchanged
            message = f"{count_noun(len(taken), 'credential')} in {TARGET} replaced by a marker"
            notices = (Notice("target_redacted", f"{message}: --no-redact leaves it as it is."),)
        return Read(held, whole.before, sizes, redactor, notices)

    def decide(
        self, material: Read, inputs: Inputs, settings: Settings, during: Deciding = ALONE
    ) -> Outcome[TrimmedEnvelope]:
        counter = counter_for(inputs["model"] or "", get_counter(settings.tokens.counter))
        counter = _CachingCounter(counter, material.counted)
        budget = budget_of(inputs["model"] or "", None, None, settings.context_budget, counter.name)
        trimmed = fit(material.sections, budget, counter, settings.pins, material.remembered)
        known = {*trimmed.ledger.ids, *pinned_paths(material.sections, settings.pins)}
        notices = *material.notices, *trimmed.notices, *warn_unknown_pins(settings, known)
        return Outcome(self.name, settings, trimmed, lambda: trimmed.ledger, notices)

    def unknown(self, outcome: Outcome[TrimmedEnvelope], ids: Collection[str]) -> Sequence[str]:
        return sorted(set(super().unknown(outcome, ids)).difference(pinned_paths(dict(outcome.payload.original), ids)))

    def trials(self, material: Read, inputs: Inputs, settings: Settings, outcome: Outcome[TrimmedEnvelope]) -> Trials:
        return KindTrials(
            self, replace(material, remembered=Remembered()), inputs, settings, outcome, find_entries=_find_entries
        )

    def described(self, material: Read) -> str:
        return f"{count_noun(len(material.sections), 'section')}, {count_noun(material.tokens, 'token')}"

    def output(self, outcome: Outcome[TrimmedEnvelope]) -> EnvelopeOutput:
        frozen = outcome.payload.output()
        return EnvelopeOutput(frozen.trimmed_envelope, frozen.trim_report, outcome.ledger.shape())

    def page(self, outcome: Outcome[TrimmedEnvelope], *, verbose: bool = False) -> Page:
        """Every section once; the sums are those of the first line."""
        report = outcome.payload.report
        verb = "trimmed" if report.applied else "fits as it is"
        whole = f"{change(report.before, report.after)} tokens ({outcome.payload.counter})"
        head = f"{verb}: {whole}, budget {report.budget:,}, {report.reserve:,} kept free for the answer"
        rows = [("action", "tokens", "characters", "section")]
        for action, entry in zip(report.actions, outcome.ledger.entries, strict=True):
            tokens = change(action.before, action.after)
            characters = change(action.before_chars or 0, action.after_chars or 0)
            because = "" if entry.state is State.KEPT else f": {visible(sentence(entry))}"
            rows.append((action.action, tokens, characters, visible(action.section) + because))
        return Page([("", head)], [Section(rows, columns=_COLUMNS)])

    def texts(self, outcome: Outcome[TrimmedEnvelope], index: int) -> tuple[str, str]:
        return outcome.payload.texts(index)

    def leaving(self, outcome: Outcome[TrimmedEnvelope], form: str = "") -> str:
        return text_of(outcome.payload.envelope)

    def deliver(self, delivery: Delivery, outcome: Outcome[TrimmedEnvelope], inputs: Inputs) -> Delivery:
        """Prints the warnings as messages: the frozen shape has no field for them."""
        return structs.replace(delivery, said=tuple(f"warning: {notice.message}" for notice in outcome.notices))


def _find_entries(asked: Outcome[TrimmedEnvelope], outcome: Outcome[TrimmedEnvelope]) -> Sequence[Left]:
    entries = [(*place, entry) for place, entry in zip(outcome.payload.places, outcome.ledger.entries, strict=False)]
    trimmed = _TrimmedPlaces((path, start, entry.state) for path, start, entry in entries)
    rows = {path for path, _, _ in entries}
    tokens, cut = defaultdict[Path, int](int), defaultdict[Path, int](int)
    for path, _, entry in entries:
        for length in range(len(path) + 1):
            tokens[path[:length]] += entry.after
            cut[path[:length]] += entry.before - entry.after

    def left_at(path: Path, start: int | None, before: int) -> int:
        if start is None and path not in rows and path in cut:  # what is kept of it has no row of its own
            return max(0, before - cut[path])
        head = ((*path, position) for position in range(start or 0))
        return tokens[path] - sum(tokens[place] for place in head if place in tokens)

    found = []
    for (path, start), entry in zip(asked.payload.places, asked.ledger.entries, strict=False):
        state = trimmed.state_at(path, start)  # kept: whole, within a larger one
        found.append((state, entry.before if state is State.KEPT else left_at(path, start, entry.before)))
    return found


class _TrimmedPlaces:
    def __init__(self, rows: Iterable[tuple[Path, int | None, State]]) -> None:
        self._rows = [row for row in rows if row[2] is not State.KEPT]
        self._at = {path: index for index, (path, _, _) in enumerate(self._rows)}
        self._within = defaultdict[Path, list[int]](list)
        for index, (path, _, _) in enumerate(self._rows):
            for length in range(len(path)):
                self._within[path[:length]].append(index)

    def state_at(self, path: Path, start: int | None) -> State:
        """The state of the value at a path, or of the end of the list there: kept, unless one of the trimmed places
        holds it or lies in it. The first such place counts."""
        states: dict[int, State] = {}
        for length in range(len(path) + 1):
            if (index := self._at.get(path[:length])) is not None:
                _, begin, state = self._rows[index]
                if length == len(path):
                    states[index] = state if begin is None or start is not None else State.SHORTENED
                elif _reaches(path[length], begin):
                    states[index] = state
        for index in self._within.get(path, ()):
            if _reaches(self._rows[index][0][len(path)], start):
                states[index] = State.SHORTENED
                break
        return states[min(states)] if states else State.KEPT


def _reaches(step: str | int, start: int | None) -> bool:
    return start is None or not isinstance(step, int) or step >= start
