"""Shows a recorded session on the benches of the inspector: one stop after another, forwards and back.

A stop is a run of events that follow one another within a second, so that a knob that was turned five times is one
stop, and a caption stands with what it is about. Forwards the events are done on the benches; back, what the benches
knew at the stop before is put there again, and nothing is decided anew.
"""

import asyncio
import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from msgspec.structs import replace
from secateur.engine import Engine
from secateur.errors import SecateurError
from secateur.kinds.base import Kind
from secateur.model import Notice
from secateur.settings import Settings
from secateur.terminal import visible
from secateur_lab.replays.events import (
    AnswerSeen,
    AnyEvent,
    BaselineSet,
    BenchShown,
    Captioned,
    ComparisonShown,
    CursorPlaced,
    Held,
    InputChanged,
    Opened,
    PageShown,
    Redone,
    Refreshed,
    SettingEvent,
    Undone,
    describe_event,
)
from secateur_lab.replays.recording import Recording
from secateur_lab.replays.replaying import locate_error, resolve_opened, root_for, settings_after
from secateur_lab.scenarios.running import Session

from secateur_tui.host import RecordedStop
from secateur_tui.pages.search import SearchPage
from secateur_tui.parts.asking import Asking
from secateur_tui.screen import Bench
from secateur_tui.state.bench_state import BenchState

_ACTIONS: Mapping[type[AnyEvent], str] = {Undone: "undo", Redone: "redo", Refreshed: "refresh", BaselineSet: "ghost"}

TOGETHER = 1.0  # seconds within which an event belongs to the stop of the one before
_LOOK_EVERY = 0.01  # seconds between two looks at whether the answer is there


@dataclass(frozen=True)
class Stop:
    """A place where a recording can be looked at."""

    events: tuple[AnyEvent, ...]
    at: float  # seconds from the start


@dataclass(frozen=True)
class Opening:
    """Something that is opened: its kind, the inputs, and the settings that count for it."""

    kind: Kind[Any, Any]
    inputs: Mapping[str, Any]
    settings: Settings
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True)
class _Snapshot:
    """All that a stop is shown from."""

    bench: str
    states: Mapping[str, BenchState[Any]]  # bench -> its state
    in_page: Mapping[str, bool]  # bench -> whether the keys go to the open page
    caption: str
    done: str


class ReplayStage(Protocol):
    """The application, as far as a player needs it."""

    def bench(self, name: str) -> Bench | None: ...

    def present(self) -> Bench: ...

    def show_bench(self, name: str) -> None: ...

    def add_search(self, state: BenchState[Any]) -> None: ...


@dataclass
class ReplayPlayer:
    """See the module docstring. `stage` is set by the application that shows it."""

    recording: Recording
    session: Session
    own: Settings  # of the user: theme and keys alone count
    place: int = 0  # the stop that is shown
    caption: str = ""
    done: str = ""
    error: SecateurError | None = None
    stage: ReplayStage = field(init=False)
    _wanted: int = 0
    _moving: bool = False
    _snapshots: list[_Snapshot] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.stops = group_stops(self.recording.events)
        self.root = root_for(self.recording)

    @property
    def drawn(self) -> RecordedStop:
        """The stop that is shown."""
        no_next = "this is the end of the recording" if self._wanted + 1 >= len(self.stops) else ""
        no_previous = "this is the beginning of the recording" if self._wanted == 0 else ""
        return RecordedStop(self.place + 1, len(self.stops), self.done, self.caption, no_next, no_previous)

    @property
    def busy(self) -> bool:
        """Tells whether a stop is being reached."""
        return self._moving or not self._snapshots

    def first(self) -> Opening:
        """Returns the opening that the recording begins with.

        Raises:
            SecateurError: it cannot be opened; the message begins with file and line.
        """
        event = self.recording.events[0]
        assert isinstance(event, Opened)
        try:
            return self._opening(event)
        except SecateurError as error:
            raise locate_error(self.recording, 0, error) from error

    def open_engine(self, opening: Opening) -> Engine:
        """Opens the engine of a search, for which nothing of the user counts but the cache."""
        environment, inputs = self.session.environment(self.root), opening.inputs
        return Engine.open(
            environment.folder_of(inputs["path"]),
            opening.settings,
            rev=inputs["rev"] or None,
            notices=opening.notices,
            environ=environment.environ,
            within=environment.within,
        )

    # --- moving -------------------------------------------------------------------------------------------------------

    async def begin(self) -> None:
        """Shows the first stop; what is opened first is open already."""
        self._moving = True
        await self._answered()
        event, *further = self.stops[0].events
        self.done = describe_event(event, None, None)
        await self._play(further)
        self._moving = False

    async def move(self, by: int) -> None:
        """Shows a stop further on or back. Moves that are asked for meanwhile follow."""
        self._wanted = min(max(self._wanted + by, 0), len(self.stops) - 1)
        if self._moving or not self._snapshots:
            return
        self._moving = True
        try:
            while self.place != self._wanted and self.error is None:
                if self._wanted > self.place and self.place + 1 == len(self._snapshots):
                    self._restore(self._snapshots[self.place])  # somebody may have turned a knob meanwhile
                    self.place, self.caption, self.done = self.place + 1, "", ""
                    await self._play(self.stops[self.place].events)
                else:
                    self.place += 1 if self._wanted > self.place else -1
                    self._restore(self._snapshots[self.place])
        finally:
            self._moving = False
            self._wanted = self.place
            self.stage.present().repaint_frame()

    async def _play(self, events: Sequence[AnyEvent]) -> None:
        for event in events:
            try:
                bench = self.stage.present()
                sentence = describe_event(event, bench.kind_page.kind, bench.state.settings)
                if isinstance(event, Captioned):
                    self.caption = " ".join(part for part in (self.caption, sentence) if part)
                elif sentence:
                    self.done = " · ".join(part for part in (self.done, sentence) if part)
                await self._do(event, bench)
                await self._answered()
            except SecateurError as error:
                index = next(index for index, other in enumerate(self.recording.events) if other is event)
                self.error = locate_error(self.recording, index, error)
                message = self.error.message
                self.caption = visible(f"{message}; {error.hint}" if error.hint else message)
                break
        benches = self._benches()
        states = {name: copy.copy(bench.state) for name, bench in benches.items()}
        in_page = {name: bench.in_page for name, bench in benches.items() if bench.is_mounted}
        self._snapshots.append(_Snapshot(self.stage.present().name_of_bench, states, in_page, self.caption, self.done))
        self.stage.present().repaint_frame()

    async def _answered(self) -> None:
        while not self.stage.present().answered:
            await asyncio.sleep(_LOOK_EVERY)

    # --- doing events -------------------------------------------------------------------------------------------------

    async def _do(self, event: AnyEvent, bench: Bench) -> None:
        match event:
            case Opened():
                opening = self._opening(event)
                name = opening.kind.name
                if (opened := self.stage.bench(name)) is None:
                    self.stage.add_search(self._searching(opening))
                else:
                    page, state = opened.kind_page, None
                    if name != "search":
                        state = BenchState(page, opening.settings, page.texts_of(opening.inputs))
                    self._replace_state(opened, state or self._searching(opening))
                self.stage.show_bench(name)
            case BenchShown(kind=kind):
                self.stage.show_bench(kind)
            case InputChanged(input=changed):
                self._type(bench, changed)
            case Held(id=id_):
                _go_to_entry(bench, id_)
                if reason := bench.unavailable("hold"):
                    raise SecateurError(f"{id_} cannot be pinned: {reason}", hint="leave the event out")
                bench.do("hold")
            case Undone() | Redone() | Refreshed() | BaselineSet():
                bench.do(_ACTIONS[type(event)])
            case ComparisonShown():
                bench.show_page("diff")
            case CursorPlaced(id=id_):
                _go_to_entry(bench, id_)
            case PageShown(name=name):
                bench.show_page(name)
            case AnswerSeen():
                return
            case _ if isinstance(event, SettingEvent):
                bench.change(settings_after(event, bench.state.settings, bench.kind_page.kind))
        await asyncio.sleep(0)  # what was posted is on its way

    def _opening(self, event: Opened) -> Opening:
        kind, inputs, loaded = resolve_opened(event, self.session, self.root)
        return Opening(kind, inputs, replace(loaded.settings, ui=self.own.ui), loaded.notices)

    def _searching(self, opening: Opening) -> BenchState[Any]:
        inputs = opening.inputs
        page = SearchPage(self.open_engine(opening), inputs["path"], inputs["rev"] or None)
        return BenchState(page, opening.settings, {"query": visible(inputs["query"], keep_newlines=True)})

    def _replace_state(self, bench: Bench, state: BenchState[Any]) -> None:
        state.page = bench.page
        bench.take_state(state)
        if bench.is_mounted:
            bench.read_again()

    def _type(self, bench: Bench, changed: Mapping[str, Any]) -> None:
        state, page = bench.state, bench.kind_page
        inputs = {**bench.given, **changed}
        if isinstance(page, SearchPage) and set(changed) != {"query"}:
            other = self._searching(Opening(page.kind, inputs, state.opened))
            other.history = state.history
            self._replace_state(bench, other)
            return
        texts = {name: visible(text, keep_newlines=True) for name, text in page.texts_of(inputs).items()}
        bench.part(Asking).type({name: text for name, text in texts.items() if text != state.inputs[name]})

    # --- going back ---------------------------------------------------------------------------------------------------

    def _benches(self) -> dict[str, Bench]:
        names = sorted({event.kind for event in self.recording.events if isinstance(event, Opened)})
        return {name: bench for name in names if (bench := self.stage.bench(name)) is not None}

    def _restore(self, snapshot: _Snapshot) -> None:
        self.caption, self.done = snapshot.caption, snapshot.done
        for name, bench in self._benches().items():
            if name not in snapshot.states:
                continue
            bench.take_state(copy.copy(snapshot.states[name]))
            if bench.standing:  # the answer is among what it knew, and nothing is decided anew
                bench.go_home()
                if snapshot.in_page.get(name, False):
                    bench.show_page(bench.page)
                bench.paint()
        if self.stage.present().name_of_bench != snapshot.bench:
            self.stage.show_bench(snapshot.bench)


def group_stops(events: Sequence[AnyEvent]) -> tuple[Stop, ...]:
    """Groups the events of a recording into stops."""
    runs: list[list[AnyEvent]] = []
    last = 0.0
    for event in events:
        shown = not isinstance(event, AnswerSeen)
        if runs and (not shown or event.at - last < TOGETHER):
            runs[-1].append(event)
        else:
            runs.append([event])
        last = event.at if shown else last
    return tuple(Stop(tuple(run), run[0].at) for run in runs)


def _go_to_entry(bench: Bench, entry: str) -> None:
    """Puts the cursor on an entry of the ledger. Raises SecateurError if there is no such entry."""
    state = bench.state
    item = state.answer.item_of(entry) if state.answer is not None else None
    if item is None:
        raise SecateurError(f"unknown item {entry}", hint="what was read has changed since it was recorded")
    bench.move_cursor(item, in_place=True)  # a stop looks the same, whichever stop was before
