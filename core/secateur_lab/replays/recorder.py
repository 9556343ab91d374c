"""Records a session: a front end reports the state of a bench whenever it has come to rest, and the recorder writes
what was done since as events.

    recorder = Recorder(Path("tour.replay.jsonl"), session, clock=time.monotonic)
    recorder.observe(Observation(kind, inputs, settings, ledger, ...))
    recorder.close()

Every event is a line that is on disk before the next one is written: a crash loses no event.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from secateur import Kind, Ledger, OutputLines, Settings, UsageError, lookup, shown, with_values, write_output

from secateur_lab.replays import events
from secateur_lab.replays.recording import FORMAT, SUFFIX
from secateur_lab.replays.replaying import ledger_digest
from secateur_lab.scenarios.location import PlacedInputs, root_of
from secateur_lab.scenarios.running import Session, deciding_keys, settings_to_save

REST = 1.0  # seconds that the cursor must stay on an item to count


@dataclass(frozen=True)
class Observation:
    """A bench at rest: its answer belongs to its inputs and settings."""

    kind: Kind[Any, Any]
    inputs: Mapping[str, Any]  # by name of the kind's inputs
    settings: Settings
    ledger: Ledger | None  # None: there is no answer, because a budget cannot be met
    looked_at: str  # id of the entry at the cursor, or ""
    pinned: bool  # whether the baseline is this answer
    page: str
    held: Callable[[str], Settings | None]  # the settings after an entry of this answer is held or released
    hinted: str = ""  # id of the entry whose hint led to these settings; "" if none did


@dataclass
class _RecordedBench:
    seen: Observation
    history: list[Settings]
    place: int = 0
    digest: str = ""
    pinned: bool = False

    @property
    def settings(self) -> Settings:
        return self.history[self.place]


@dataclass
class Recorder:
    """See the module docstring.

    Args:
        path: the recording's file; its name ends in `.replay.jsonl`.
        session: for settings without the user's files.
        clock: seconds from any start.

    Raises:
        UsageError: the name is not that of a recording, or the file exists.
        SecateurError: `OUTPUT`: the file cannot be written; methods raise it too.
    """

    path: Path
    session: Session
    clock: Callable[[], float]
    _benches: dict[str, _RecordedBench] = field(default_factory=dict)
    _shown: str = ""
    _look: tuple[float, events.CursorPlaced] | None = None  # the cursor's position, not written yet
    _copied: set[Path] = field(default_factory=set)
    _caption: str = ""  # of the last stop, not written yet
    _last: float = 0.0  # when the last event was written

    def __post_init__(self) -> None:
        if not self.path.name.endswith(SUFFIX) or self.path.name == SUFFIX:
            raise UsageError(f"{shown(self.path)} is not the name of a recording", hint=f"its name ends in {SUFFIX}")
        try:
            self._file = OutputLines(self.path)
        except FileExistsError as error:
            raise UsageError(f"{shown(self.path)} already exists", hint="choose another name") from error
        self._start = self.clock()
        self._file.add(events.json_line({"replay": FORMAT}))
        inputs = self.path.with_name(self.path.name.removesuffix(SUFFIX) + ".replay.inputs")
        self._placed = PlacedInputs(inputs, root_of(self.path), Path.cwd(), noun="recording")

    def observe(self, seen: Observation) -> None:
        """Writes what was done on a bench since the last observation. Raises UsageError: it reads a folder outside the
        repository that holds the recording."""
        name = seen.kind.name
        if (written := self._benches.get(name)) is None:
            given = self._given(seen)
            environment = self.session.environment(self._placed.root)
            settings = settings_to_save(seen.kind, seen.kind.blank_inputs() | given, seen.settings, environment)
            written = self._benches[name] = _RecordedBench(seen, [seen.settings], pinned=seen.pinned)
            self._shown = name
            self._event(events.Opened(kind=name, input=given, settings=settings))
        else:
            if self._shown != name:
                self._event(events.BenchShown(kind=name))
            self._shown = name
            self._write_inputs(written, seen)
            self._write_settings(written, seen)
            if seen.pinned and not written.pinned:
                self._event(events.BaselineSet())
            if seen.page != written.seen.page:
                self._event(events.PageShown(name=seen.page))  # type: ignore[arg-type]
            written.seen, written.pinned = seen, seen.pinned
        digest = ledger_digest(seen.ledger) if seen.ledger is not None else written.digest
        if seen.ledger is not None and digest != written.digest:
            written.digest = digest
            self._event(events.AnswerSeen(after=seen.ledger.after, digest=digest))

    def look(self, id_: str) -> None:
        """Notes that the cursor was put on an entry; this is written if it stays there."""
        self._flush_look(rested=True)
        self._look = self._at(), events.CursorPlaced(id=id_)

    @property
    def caption(self) -> str:
        """The caption of what is shown now; empty if it has none yet."""
        return self._caption

    def set_caption(self, text: str) -> None:
        """Adds a caption to what is shown now, or changes it; an empty one is removed. It is written with the next
        event, so that it can still be changed."""
        self._flush_look(rested=False)
        self._caption = text.strip()

    def close(self) -> None:
        """Ends the recording. A recording without events is removed."""
        self._flush_look(rested=True)
        self._flush_caption()
        self._file.close(remove=not self._benches)

    # --- what was done ------------------------------------------------------------------------------------------------

    def _given(self, seen: Observation) -> dict[str, Any]:
        inputs = {spec.name: self._name_samples(seen.inputs.get(spec.name)) for spec in seen.kind.inputs}
        given = self._placed.given(seen.kind, inputs)
        for path, data in self._placed.copies.items():
            if path not in self._copied:
                write_output(path, data.decode("utf-8", "surrogateescape"), make_folder=1)
                self._copied.add(path)
        return given

    def _name_samples(self, value: Any) -> Any:
        """Names samples in an input, because the path where they were unpacked is not valid elsewhere."""
        if isinstance(value, list):
            return [self._name_samples(item) for item in value]
        return self.session.environment(self._placed.root).name_of(value) if isinstance(value, str) else value

    def _write_inputs(self, written: _RecordedBench, seen: Observation) -> None:
        if dict(seen.inputs) == dict(written.seen.inputs):
            return
        given = self._given(seen)
        blank = seen.kind.blank_inputs()
        before = {**blank, **self._given(written.seen)}
        changed = {name: value for name, value in (blank | given).items() if value != before[name]}
        if changed:
            self._event(
                events.InputChanged(input={name: "" if value is None else value for name, value in changed.items()})
            )

    def _write_settings(self, written: _RecordedBench, seen: Observation) -> None:
        kind, old, new = seen.kind, written.settings, seen.settings
        if _same(old, new, kind):
            return
        index, history = written.place, written.history
        if index and _same(history[index - 1], new, kind):
            written.place -= 1
            self._event(events.Undone())
        elif index + 1 < len(history) and _same(history[index + 1], new, kind):
            written.place += 1
            self._event(events.Redone())
        else:
            for event, settings in _changes(written.seen, seen, old):
                written.history[written.place + 1 :] = [settings]
                written.place += 1
                self._event(event)

    # --- writing ------------------------------------------------------------------------------------------------------

    def _at(self) -> float:
        return max(0.0, self.clock() - self._start)

    def _flush_look(self, *, rested: bool) -> None:
        if self._look is not None:
            at, event = self._look
            self._look = None
            if not rested or self._at() - at >= REST:
                self._flush_caption()
                self._last = at
                self._file.add(events.line_of(msgspec.structs.replace(event, at=at)))

    def _flush_caption(self) -> None:
        """Writes the caption at the time of the last event: what it took to type it makes no stop of its own."""
        if self._caption:
            self._file.add(events.line_of(events.Captioned(at=self._last, text=self._caption)))
            self._caption = ""

    def _event(self, event: events.AnyEvent) -> None:
        self._flush_look(rested=False)
        self._flush_caption()
        self._last = self._at()
        self._file.add(events.line_of(msgspec.structs.replace(event, at=self._last)))


def _same(a: Settings, b: Settings, kind: Kind[Any, Any]) -> bool:
    return a == b or (a.profile == b.profile and all(lookup(a, key) == lookup(b, key) for key in deciding_keys(kind)))


def _changes(before: Observation, seen: Observation, old: Settings) -> list[tuple[events.AnyEvent, Settings]]:
    kind, new = seen.kind, seen.settings
    if seen.looked_at and before.held(seen.looked_at) == new:
        return [(events.Held(id=seen.looked_at), new)]
    out: list[tuple[events.AnyEvent, Settings]] = []
    if new.profile != old.profile:
        old = with_values(old, {"profile": new.profile})
        out.append((events.ProfileChosen(name=new.profile), old))
        if _same(old, new, kind):
            return [(out[0][0], new)]
    keys = [key for key in deciding_keys(kind) if lookup(old, key) != lookup(new, key)]
    for name, event in (("pins", events.Pinned), ("excludes", events.Excluded)):
        if keys == [name]:
            moved = set(lookup(old, name)) ^ set(lookup(new, name))
            if len(moved) == 1:
                (id_,) = moved
                return [*out, (event(id=id_, on=id_ in lookup(new, name)), new)]
    values = {key: msgspec.to_builtins(lookup(new, key)) for key in keys}
    if seen.hinted and not out:
        return [(events.HintApplied(id=seen.hinted, values=values), new)]
    return [*out, (events.SettingsChanged(values=values), new)]
