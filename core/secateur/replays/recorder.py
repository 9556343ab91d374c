"""Records a session: a front end says how a bench looks whenever it has come to rest, and the recorder writes what was
done since, as events.

    recorder = Recorder(Path("tour.replay.jsonl"), session, clock=time.monotonic)
    recorder.observe(Observation(kind, inputs, settings, ledger, ...))
    recorder.close()

Every event is a line that is on disk before the next one begins: a crash loses nothing that was written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from secateur.directories import cache_dir
from secateur.errors import UsageError, shown, unwritable
from secateur.kinds.base import Kind
from secateur.ledger import Ledger
from secateur.output_files import make_folder, new_output, write_output
from secateur.recognised import without_recognised
from secateur.replays.events import (
    AnswerSeen,
    AnyEvent,
    BaselineSet,
    BenchShown,
    CursorPlaced,
    Excluded,
    Held,
    HintApplied,
    InputChanged,
    Opened,
    PageShown,
    Pinned,
    ProfileChosen,
    Redone,
    SettingsChanged,
    Undone,
    json_line,
    line_of,
)
from secateur.replays.recording import FORMAT, SUFFIX
from secateur.replays.replaying import ledger_digest
from secateur.scenarios.location import SAMPLE, root_of
from secateur.scenarios.placed_inputs import PlacedInputs
from secateur.scenarios.running import Session, deciding_keys, settings_of
from secateur.settings import Settings, lookup, with_profile
from secateur.sources import samples

REST = 1.0
"""Seconds that the cursor stays on an item until that was meant."""


@dataclass(frozen=True)
class Observation:
    """A bench at rest: the answer is that of its inputs and settings."""

    kind: Kind[Any, Any]
    inputs: Mapping[str, Any]  # by name of the kind's inputs
    settings: Settings
    ledger: Ledger | None  # None: there is no answer, because a budget cannot be met
    looked_at: str  # id of the entry at the cursor; "" for none
    pinned: bool  # whether the baseline is this answer
    page: str
    held: Callable[[str], Settings | None]  # the settings with what an entry of this answer holds kept, or no longer
    hinted: str = ""  # id of the entry for which a hint was applied that led to these settings; "" for none


@dataclass
class _Written:
    """The state of a bench as the recording has it by now."""

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
        path: of the recording; its name ends in `.replay.jsonl`.
        session: for the settings that count where nothing of the user does.
        clock: seconds from any start.
        base: the folder that relative inputs start from; None: the working folder.

    Raises:
        UsageError: it is no name of a recording, the file exists.
        SecateurError: `OUTPUT`: the file cannot be written; of each method too.
    """

    path: Path
    session: Session
    clock: Callable[[], float]
    base: Path | None = None
    _benches: dict[str, _Written] = field(default_factory=dict)
    _shown: str = ""
    _look: tuple[float, CursorPlaced] | None = None  # the cursor is there, and that is not written yet
    _copied: set[Path] = field(default_factory=set)

    def __post_init__(self) -> None:
        if not self.path.name.endswith(SUFFIX) or self.path.name == SUFFIX:
            raise UsageError(f"{shown(self.path)} is no name of a recording", hint=f"its name ends in {SUFFIX}")
        try:
            self._file = new_output(self.path)
        except FileExistsError as error:
            raise UsageError(f"{shown(self.path)} exists already", hint="choose another name") from error
        self._start = self.clock()
        self._line(json_line({"replay": FORMAT}))
        inputs = self.path.with_name(self.path.name.removesuffix(SUFFIX) + ".replay.inputs")
        self._placed = PlacedInputs(inputs, root_of(self.path), self.base or Path.cwd(), noun="recording")

    def observe(self, seen: Observation) -> None:
        """Writes what was done on a bench since it was observed last.

        Raises:
            UsageError: it reads a folder outside the repository that holds the recording.
        """
        name = seen.kind.name
        written = self._benches.get(name)
        if written is None:
            self._open(seen)
        else:
            if self._shown != name:
                self._event(BenchShown(kind=name))
            self._shown = name
            self._typed(written, seen)
            self._turned(written, seen)
            if seen.pinned and not written.pinned:
                self._event(BaselineSet())
            if seen.page != written.seen.page:
                self._event(PageShown(name=seen.page))  # type: ignore[arg-type]
            written.seen, written.pinned = seen, seen.pinned
        self._decided(self._benches[name], seen)

    def look(self, id_: str) -> None:
        """Notes that the cursor was put on an entry. It is written when it stays there."""
        self._flush_look(rested=True)
        self._look = self._at(), CursorPlaced(id=id_)

    def close(self) -> None:
        """Ends the recording. One without an event is removed."""
        self._flush_look(rested=True)
        self._file.close()
        if not self._benches:
            self.path.unlink(missing_ok=True)

    # --- what was done ------------------------------------------------------------------------------------------------

    def _open(self, seen: Observation) -> None:
        given = self._given(seen)
        kind, root = seen.kind, self._placed.root
        told = settings_of(kind, kind.blank() | given, seen.settings, self.session.environment(root))
        self._benches[kind.name] = _Written(seen, [seen.settings], pinned=seen.pinned)
        self._shown = kind.name
        self._event(Opened(kind=kind.name, input=given, settings=told))

    def _given(self, seen: Observation) -> dict[str, Any]:
        inputs = {one.name: self._named(seen.inputs.get(one.name)) for one in seen.kind.inputs}
        given = self._placed.given(seen.kind, inputs)
        for place, data in self._placed.copies.items():
            if place not in self._copied:
                make_folder(place.parent)
                write_output(place, data.decode("utf-8", "surrogateescape"))
                self._copied.add(place)
        return given

    def _named(self, value: Any) -> Any:
        """An input with samples by their name: where they were unpacked is nobody else's place."""
        if isinstance(value, list):
            return [self._named(one) for one in value]
        unpacked = cache_dir(self.session.environ) / "samples"
        if not isinstance(value, str) or not value.startswith(str(unpacked)):
            return value
        _, name, *inside = (*Path(value).relative_to(unpacked).parts, "", "")
        return "/".join(part for part in (SAMPLE + name, *inside) if part) if name in samples.names() else value

    def _typed(self, written: _Written, seen: Observation) -> None:
        if dict(seen.inputs) == dict(written.seen.inputs):
            return
        given = self._given(seen)
        before = {**seen.kind.blank(), **self._given(written.seen)}
        changed = {name: value for name, value in (seen.kind.blank() | given).items() if value != before[name]}
        if changed:
            self._event(InputChanged(input={name: "" if value is None else value for name, value in changed.items()}))

    def _turned(self, written: _Written, seen: Observation) -> None:
        kind, old, new = seen.kind, written.settings, seen.settings
        if _same(old, new, kind):
            return
        place, history = written.place, written.history
        if place and _same(history[place - 1], new, kind):
            written.place -= 1
            self._event(Undone())
        elif place + 1 < len(history) and _same(history[place + 1], new, kind):
            written.place += 1
            self._event(Redone())
        else:
            for event, settings in _changes(written.seen, seen, old):
                written.history[written.place + 1 :] = [settings]
                written.place += 1
                self._event(event)

    def _decided(self, written: _Written, seen: Observation) -> None:
        if seen.ledger is not None:
            digest = ledger_digest(seen.ledger)
            if digest != written.digest:
                written.digest = digest
                self._event(AnswerSeen(after=seen.ledger.after, digest=digest))

    # --- writing ------------------------------------------------------------------------------------------------------

    def _at(self) -> float:
        return max(0.0, self.clock() - self._start)

    def _flush_look(self, *, rested: bool) -> None:
        """Writes where the cursor is, unless it only passed there."""
        if self._look is not None:
            at, event = self._look
            self._look = None
            if not rested or self._at() - at >= REST:
                self._line(line_of(msgspec.structs.replace(event, at=at)))

    def _event(self, event: AnyEvent) -> None:
        self._flush_look(rested=False)
        self._line(line_of(msgspec.structs.replace(event, at=self._at())))

    def _line(self, text: str) -> None:
        try:
            self._file.write(without_recognised(text) + "\n")
            self._file.flush()
        except (OSError, ValueError) as error:
            raise unwritable(self.path, error) from error


def _same(one: Settings, other: Settings, kind: Kind[Any, Any]) -> bool:
    """Tells whether a replay decides the same under both."""
    return one == other or (
        one.profile == other.profile and all(lookup(one, key) == lookup(other, key) for key in deciding_keys(kind))
    )


def _changes(before: Observation, seen: Observation, old: Settings) -> list[tuple[AnyEvent, Settings]]:
    """The events that lead from one state of the settings to another, each with the settings after it."""
    kind, new = seen.kind, seen.settings
    if seen.looked_at and before.held(seen.looked_at) == new:
        return [(Held(id=seen.looked_at), new)]
    out: list[tuple[AnyEvent, Settings]] = []
    if new.profile != old.profile:
        old = with_profile(old, new.profile)
        out.append((ProfileChosen(name=new.profile), old))
        if _same(old, new, kind):
            return [(out[0][0], new)]
    keys = [key for key in deciding_keys(kind) if lookup(old, key) != lookup(new, key)]
    for name, event in (("pins", Pinned), ("excludes", Excluded)):
        if keys == [name]:
            moved = set(lookup(old, name)) ^ set(lookup(new, name))
            if len(moved) == 1:
                (id_,) = moved
                return [*out, (event(id=id_, on=id_ in lookup(new, name)), new)]
    values = {key: msgspec.to_builtins(lookup(new, key)) for key in keys}
    if seen.hinted and not out:
        return [(HintApplied(id=seen.hinted, values=values), new)]
    return [*out, (SettingsChanged(values=values), new)]
