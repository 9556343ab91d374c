"""Runs a recorded session without a screen: every event through the protocol of kinds.

    with session(os.environ) as opened:
        for step in replay(read_recording(path), opened):
            step.said, step.decided.ledger, step.changes

The decisions are those of the inspector: the same inputs, settings and engine. Of the user's files only the cache is
used, so a recording replays the same on every machine.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import secateur
from msgspec import structs

from secateur_lab.replays import events
from secateur_lab.replays.events import describe_event
from secateur_lab.replays.recording import CANNOT_READ, Recording
from secateur_lab.scenarios import running
from secateur_lab.scenarios.assertions import Moves
from secateur_lab.scenarios.comparison import Aspect, DecisionChange, change_of
from secateur_lab.scenarios.location import root_of
from secateur_lab.scenarios.malformed import ScenarioError
from secateur_lab.scenarios.scenario import FORMAT, Scenario
from secateur_lab.scenarios.toml_writing import nested

DIGEST_DIGITS = 16


@dataclass(frozen=True)
class ReplayStep:
    """One event and what it changed."""

    number: int  # from 1
    event: events.AnyEvent
    kind: str
    said: str  # the event in words
    decided: running.Decided | None = None  # the answer after it, if it could change the output
    refusal: secateur.SecateurError | None = None  # the reason why there is no answer
    changes: tuple[DecisionChange, ...] = ()  # since the answer before; for a comparison, since the baseline
    then: int | None = None  # tokens of the output before it
    differs: str = ""  # difference between the answer and the recorded one


@dataclass
class KindReplay:
    """The state of one kind while a recording runs, like that of its bench on the screen."""

    kind: secateur.Kind[Any, Any]
    inputs: dict[str, Any]
    loaded: secateur.Loaded  # when it was opened
    history: list[secateur.Settings]
    place: int = 0
    decided: running.Decided | None = None
    refusal: secateur.SecateurError | None = None
    baseline: running.Decided | None = None

    @property
    def settings(self) -> secateur.Settings:
        """The settings in force."""
        return self.history[self.place]

    def change(self, settings: secateur.Settings) -> None:
        """Changes the settings; the first change makes the answer before it the baseline."""
        if settings != self.settings:
            self.pin_first()
            self.history[self.place + 1 :] = [settings]
            self.place += 1

    def step(self, by: int) -> bool:
        """Moves one step through the history, or False."""
        if not 0 <= self.place + by < len(self.history):
            return False
        self.pin_first()
        self.place += by
        return True

    def type(self, inputs: Mapping[str, Any]) -> None:
        """Changes the inputs. A new first input removes the baseline: answers to two questions are not comparable."""
        first = self.kind.inputs[0].name
        if first in inputs and inputs[first] != self.inputs[first]:
            self.baseline = None
            self.decided = None
        else:
            self.pin_first()
        self.inputs |= inputs

    def pin_first(self) -> None:
        if self.baseline is None:
            self.baseline = self.decided


def ledger_digest(ledger: secateur.Ledger) -> str:
    """Returns the digest by which a replay checks that its decision is the recorded one."""
    shape = ledger.shape(ledger.listed(running.BEST_DROPPED))
    return sha256(secateur.dumps(shape).encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST_DIGITS]


def root_for(recording: Recording) -> Path:
    """Returns the folder to which the paths of a recording are relative."""
    return recording.path.resolve().parent if recording.head.paths == "here" else root_of(recording.path)


def replay(recording: Recording, session: running.Session) -> Iterator[ReplayStep]:
    """Yields every event of a recording with what it changed. Raises SecateurError: an event cannot be run: it names
    something that does not exist, or an input cannot be read. The message begins with file and line."""
    player = _Player(session, root_for(recording))
    for index, event in enumerate(recording.events):
        try:
            yield replace(player.play(event), number=index + 1)
        except secateur.SecateurError as error:
            raise locate_error(recording, index, error) from error


@dataclass
class _Player:
    session: running.Session
    root: Path
    benches: dict[str, KindReplay] = field(default_factory=dict)
    shown: str = ""

    @property
    def bench(self) -> KindReplay:
        return self.benches[self.shown]

    def play(self, event: events.AnyEvent) -> ReplayStep:
        """Runs one event, without knowing its number."""
        before = self.benches.get(self.shown)
        words = describe_event(event, before.kind if before else None, before.settings if before else None)
        match event:
            case events.Opened():
                kind, inputs, loaded = resolve_opened(event, self.session, self.root)
                self.benches[kind.name] = KindReplay(kind, inputs, loaded, [loaded.settings])
                self.shown = kind.name
            case events.BenchShown(kind=name):
                if name not in self.benches:
                    raise event_error(f"the bench {name} has not been opened", 'open it: {"do": "open", "kind": …}')
                self.shown = name
                return ReplayStep(0, event, name, words, self.bench.decided, self.bench.refusal)
            case events.InputChanged(input=changed):
                bench = self.bench
                given = {name: value for name, value in bench.inputs.items() if value not in (None, "", [], False)}
                outputs = {spec.name for spec in bench.kind.inputs if spec.role == "output"} - set(changed)
                kept = {name: value for name, value in (given | changed).items() if name not in outputs}
                _, inputs = running.check_scenario_inputs(Scenario(FORMAT, bench.kind.name, input=kept), self.root)
                bench.type({name: inputs[name] for name in changed})
            case events.Undone() | events.Redone():
                by, what = (-1, "back") if isinstance(event, events.Undone) else (1, "back any more")
                if not self.bench.step(by):
                    raise event_error(f"there is nothing to take {what}", "remove the event")
            case events.Refreshed():
                self.session.forget()
            case events.Held(id=name):
                self.bench.change(self._hold(name))
            case events.BaselineSet():
                self.bench.baseline = self.bench.decided
            case events.ComparisonShown():
                base, now = self.bench.baseline, self.bench.decided
                if base is None or now is None:
                    raise event_error("there is nothing to compare with", "set a baseline before, or change a setting")
                changes, then = changes_between(base, now), base.ledger.after
                return ReplayStep(0, event, self.shown, words, now, self.bench.refusal, changes, then=then)
            case events.AnswerSeen():
                now = self.bench.decided
                differs = ""
                if now is None:
                    differs = "there is no answer, but there was one in the recording"
                elif ledger_digest(now.ledger) != event.digest:
                    differs = f"{now.ledger.after:,} tokens in the output; {event.after:,} in the recording"
                    differs += "" if now.ledger.after != event.after else ", from other items or for other reasons"
                return ReplayStep(0, event, self.shown, "", now, self.bench.refusal, differs=differs)
            case _ if isinstance(event, events.SettingEvent):
                self.bench.change(settings_after(event, self.bench.settings, self.bench.kind))
        return self._decide(event, words) if event.decides else ReplayStep(0, event, self.shown, words)

    def _hold(self, name: str) -> secateur.Settings:
        bench = self.bench
        entry = bench.decided.by_id.get(name) if bench.decided is not None else None
        if entry is None or bench.decided is None:
            raise event_error(f"unknown item {name}", "`secateur replay --format json` lists them")
        held = bench.kind.hold(bench.decided.outcome, entry.number, bench.settings)
        if isinstance(held, str):
            raise event_error(f"{name} cannot be pinned: {held}", "remove the event")
        return held

    def _decide(self, event: events.AnyEvent, words: str) -> ReplayStep:
        bench, then = self.bench, self.bench.decided
        loaded = structs.replace(bench.loaded, settings=bench.settings)
        material = self.session.material(bench.kind, bench.inputs, loaded, self.root)
        try:
            outcome = secateur.answer_of(
                bench.kind, material, bench.inputs, bench.settings, progress=self.session.progress
            )
        except secateur.UsageError:
            raise
        except secateur.BudgetExceeded as error:
            bench.refusal = error
            return ReplayStep(0, event, self.shown, words, refusal=error)
        bench.decided, bench.refusal = running.decided_of(bench.kind, outcome), None
        changes = changes_between(then, bench.decided) if then is not None else ()
        return ReplayStep(
            0, event, self.shown, words, bench.decided, changes=changes, then=then.ledger.after if then else None
        )


def settings_after(
    event: events.SettingEvent, settings: secateur.Settings, kind: secateur.Kind[Any, Any]
) -> secateur.Settings:
    """Returns the settings after an event. Raises SecateurError: a key does not affect the kind, a value is not
    allowed, or the profile is unknown."""
    match event:
        case events.SettingsChanged(values=values) | events.HintApplied(values=values):
            pass
        case events.ProfileChosen(name=name):
            return secateur.with_values(settings, {"profile": name})
        case events.Pinned(id=id_, on=on):
            values = {"pins": _toggle_id(settings.pins, id_, on), "excludes": _toggle_id(settings.excludes, id_, False)}
        case events.Excluded(id=id_, on=on):
            values = {"excludes": _toggle_id(settings.excludes, id_, on), "pins": _toggle_id(settings.pins, id_, False)}
    running.check_hermetic(values)
    known = running.deciding_keys(kind)
    for name in values:
        if name not in known:
            near = secateur.suggestion(name, known)
            hint = f"did you mean {near}?" if near else "`secateur config` lists the keys"
            raise event_error(f"{secateur.shown(name)} is ignored by kind {kind.name}", hint)
    return secateur.with_values(settings, values)


def _toggle_id(ids: tuple[str, ...], id_: str, on: bool) -> tuple[str, ...]:
    others = tuple(other for other in ids if other != id_)
    return (*others, id_) if on else others


def resolve_opened(
    event: events.Opened, session: running.Session, root: Path
) -> tuple[secateur.Kind[Any, Any], dict[str, Any], secateur.Loaded]:
    """Returns the kind, the inputs and the settings that an event opens. Raises SecateurError: unknown kind, input or
    setting, or a path leads out."""
    kind, inputs = running.check_scenario_inputs(Scenario(FORMAT, event.kind, input=event.input), root)
    return kind, inputs, session.loaded(kind, inputs, nested(event.settings), root)


def locate_error(recording: Recording, index: int, error: secateur.SecateurError) -> secateur.SecateurError:
    """Adds file and line to an error of an event, and replaces "scenario" in shared messages."""
    message, hint, code = error.message, error.hint, error.code
    if isinstance(error, ScenarioError):
        message, hint = (text.replace("a scenario", "a recording") for text in (message, hint))
        message, code = message.removeprefix("settings."), CANNOT_READ
    return secateur.SecateurError(f"{recording.place(index)}: {message}", hint=hint, code=code)


def event_error(what: str, hint: str) -> secateur.SecateurError:
    """Returns the error for an event that cannot be run."""
    return secateur.SecateurError(what, hint=hint, code=CANNOT_READ)


def changes_between(then: running.Decided, now: running.Decided) -> tuple[DecisionChange, ...]:
    """Returns the entries with another state or reason, then those of which only the number of tokens changed."""
    ids: set[str] | None = None
    if now.kind.finds:  # only the best dropped entries are listed: the others are looked up
        both = (*then.listed, *now.listed)
        ids = {listed.id for listed in both if listed.entry.state is not secateur.State.DROPPED}
        then, now = (running.decided_of(answer.kind, answer.outcome, ids) for answer in (then, now))
    aspects: dict[str, Aspect] = {}
    for listed in now.listed:
        what = _aspect(then.by_id.get(listed.id), listed)
        if what is not None and (ids is None or listed.id in ids):
            aspects[listed.id] = what
    before = {id_: then.item(then.by_id[id_]) for id_ in aspects if id_ in then.by_id}
    after = {id_: now.item(now.by_id[id_]) for id_ in aspects}
    new = [item for id_, item in after.items() if id_ not in before and item.leaves]
    moves = Moves([(item, after[id_]) for id_, item in before.items()], new)
    changes = []
    for id_, what in aspects.items():
        because = now.kind.describe(now.outcome, now.by_id[id_].number).because
        changes.append(change_of(what, before.get(id_), after[id_], because, moves))
    none = Moves([], [])
    for was in then.listed:
        if was.id not in now.by_id and (ids is None or was.id in ids):
            changes.append(change_of(Aspect.GONE, then.item(was), None, "", none))
    return tuple(sorted(changes, key=lambda change: change.what is Aspect.TOKENS))


def _aspect(was: running.Listed | None, now: running.Listed) -> Aspect | None:
    if was is None:
        return Aspect.NEW
    if was.entry.state is not now.entry.state:
        return Aspect.STATE
    if was.entry.reason is not now.entry.reason:
        return Aspect.REASON
    return Aspect.TOKENS if was.entry.after != now.entry.after else None
