"""The application as its screens and widgets see it: themes, keys, threads, messages. `app.py` adds the benches."""

from __future__ import annotations

import os
import re
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from secateur import directories
from secateur.errors import SecateurError
from secateur.kinds import registry
from secateur.model import Notice
from secateur.recognised import without_recognised
from secateur.settings import Settings
from secateur.system.processes import hasten_end
from secateur.terminal import visible
from secateur_lab.replays.recorder import Observation, Recorder
from textual import events
from textual._context import active_message_pump
from textual.actions import ActionParseResult
from textual.app import App, ScreenStackError
from textual.css.query import NoMatches
from textual.dom import DOMNode
from textual.driver import Driver
from textual.worker import WorkerFailed

from secateur_tui import actions
from secateur_tui.background import Courtesy, EngineThread
from secateur_tui.guards import Guarded, PatientPalette, guarded_driver
from secateur_tui.styled_text import describe_error
from secateur_tui.themes import BASE_COLOURS, DEFAULT_THEME, Palette, load_themes

_WEB_FONT = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)  # matches the rules of a picture that would fetch a font
_LAST_SECONDS = 1.0  # seconds from a signal that asks for an end, as of a closed terminal, to the end at the latest


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds of rest before something slow starts."""

    debounce: float = 0.12  # after the last key of a query: a pause in typing, too short to be felt
    rest: float = 0.25  # before proofs are worked out: longer than the time between two steps of a knob held down
    watch: float = 2.0  # between two looks whether files have changed; 0: only when the terminal comes to the front
    proves: bool = True  # whether proofs are worked out at all
    proof: float = 10.0  # of processor time that the proofs for an item may take


@dataclass(frozen=True, slots=True)
class RecordedStop:
    """A stop of a recording as it is drawn."""

    number: int  # from 1
    of: int
    done: str  # what was done
    caption: str
    no_next: str  # why there is no way forwards; "" where there is one
    no_previous: str


class Host(Guarded, App[int]):
    """See the module docstring.

    Attributes:
        keymap: which keys do what.
        environ: variables by which the cache and the settings of the user are found.
        follows: tells whether what changed on disk is read and asked again, and not only named.
        thread: runs what retrieves, reads and decides.
        watcher: looks for changes on disk: that must neither wait for a retrieval nor hold one up.
        prover: proves hints.
        judge: reads and decides the cases of `--cases`.
        cases: folders of judged cases and scenarios that knobs are turned against.
        notices: what was wrong with kinds of other distributions, themes and keys.
        courtesy: makes the prover wait while keys arrive.
        recorder: writes down what is done; None: nothing does.
        first_time: tells whether something is said about the repository for the first time; it is told once.
    """

    SURVIVES: ClassVar[bool] = True  # an error inside a widget does not end the session

    def __init__(self, settings: Settings, theme_folders: Sequence[Path] = (), pace: Pace | None = None) -> None:
        super().__init__()
        self.animation_level = "none"
        self._survived = ""
        self.environ: Mapping[str, str] = os.environ
        self.follows = False
        self.pace = pace or Pace()
        self.thread, self.watcher, self.prover = EngineThread(), EngineThread(), EngineThread()
        self.judge = EngineThread()
        self.cases: Sequence[Path] = ()
        self.courtesy = Courtesy()
        self.recorder: Recorder | None = None
        self.first_time: Callable[[str], bool] = lambda _: False
        self.keymap = actions.make_keymap(settings.ui.keys)
        self.set_keymap(actions.list_overrides(self.keymap))
        self._palette: tuple[str, Palette] | None = None
        self._themes, theme_notices = load_themes((directories.data_dir("themes"), *theme_folders))
        self.notices: tuple[Notice, ...] = (*registry.problems(), *theme_notices, *self.keymap.notices)
        for theme in self._themes.values():
            self.register_theme(theme)
        if settings.ui.theme not in self._themes:
            known = ", ".join(self._themes)
            message = f"there is no usable theme {settings.ui.theme}; {DEFAULT_THEME} takes its place; themes: {known}"
            self.notices += (Notice("no_theme", message),)
        self.theme = settings.ui.theme if settings.ui.theme in self._themes else DEFAULT_THEME

    def run(self, **options: Any) -> int | None:
        hasten_end(_LAST_SECONDS)
        return super().run(**options)

    def get_driver_class(self) -> type[Driver]:
        return guarded_driver(super().get_driver_class())

    def on_unmount(self) -> None:
        for thread in (self.thread, self.watcher, self.prover, self.judge):
            thread.close()

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.InputEvent | events.Paste):
            self.courtesy.give_way(self.pace.rest)
        await super().on_event(event)

    # --- going on after an error ---

    def survive(self, error: Exception) -> bool:
        """Says once for each error that a part of the screen failed, and returns whether the session goes on."""
        if self._ended_by(error):
            return True
        if not self.SURVIVES:
            return False
        message = f"{type(error).__name__}: {error}"
        if message != self._survived:
            self._survived = message
            self.say(f"A part of the screen failed; what was tuned is kept ({message})")
        return True

    async def run_action(
        self,
        action: str | ActionParseResult,
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        try:
            return await super().run_action(action, default_namespace, namespaces)
        except Exception as error:
            if not self.survive(error):
                raise
            return True

    def action_command_palette(self) -> None:
        if not isinstance(self.screen, PatientPalette):
            self.push_screen(PatientPalette(id="--command-palette"))

    def _ended_by(self, error: Exception) -> bool:
        """Tells whether the session has ended and this follows from it: a key typed ahead finds no screen, and a screen
        that was about to open lacks some of its parts."""
        cause = error.error if isinstance(error, WorkerFailed) else error
        return isinstance(cause, ScreenStackError | NoMatches) and (self._exit or not self._screen_stack)

    def _handle_exception(self, error: Exception) -> None:
        if self._ended_by(error):
            return
        if not (active_message_pump.get(self)._is_mounted and self.survive(error)):
            super()._handle_exception(error)

    @property
    def stop(self) -> RecordedStop | None:
        """The stop of the recording that is shown; None where none is played."""
        return None

    def replay(self, by: int) -> None:
        """Shows a stop of the recording further on (1) or back (-1)."""

    @property
    @abstractmethod
    def at_work(self) -> bool:
        """Tells whether anything is still under way that will change the screen."""

    @abstractmethod
    def show_bench(self, name: str) -> None:
        """Switches to another bench; each stays as it was left."""

    def picture(self) -> str:
        """Returns the screen as SVG, which loads nothing: the font's name stays, with monospace behind it."""
        return _WEB_FONT.sub("", self.export_screenshot())

    def say(self, message: str) -> None:
        """Shows a passing message in place of the one before; text from outside is allowed in it."""
        self.clear_notifications()
        self.place_messages()
        self.notify(visible(message, keep_newlines=True), severity="warning", markup=False)

    def place_messages(self) -> None:
        """Finds the place for passing messages; the application knows which row they may not cover."""

    def copy_to_clipboard(self, text: str) -> None:
        """Copies a text; a credential that was recognised, typed or read, stays behind."""
        super().copy_to_clipboard(without_recognised(text))

    def observe(self, seen: Observation | None) -> None:
        """Records what was done on a bench, where the session is recorded; None: it has not come to rest."""
        if self.recorder is not None and seen is not None:
            self._record(self.recorder.observe, seen)

    def look(self, entry: str) -> None:
        """Records which entry is looked at, where the session is recorded."""
        if self.recorder is not None and entry:
            self._record(self.recorder.look, entry)

    def _record(self, record: Callable[[Any], object], what: Observation | str) -> None:
        try:
            record(what)
        except SecateurError as error:
            self.recorder = None
            self.say(f"the recording ends here: {describe_error(error)}")

    @property
    def palette(self) -> Palette:
        """Styles of the present theme."""
        if self._palette is None or self._palette[0] != self.theme:
            theme = self.current_theme
            colours = {**theme.variables, **{name: getattr(theme, name) for name in BASE_COLOURS}}
            self._palette = self.theme, Palette(colours)
        return self._palette[1]

    def next_theme(self) -> None:
        names = sorted(self._themes)
        self.theme = names[(names.index(self.theme) + 1) % len(names)]
