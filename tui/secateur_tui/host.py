"""The application as its screens and widgets see it: themes, keys, threads, messages. `app.py` adds the benches.

Guards that keep an error inside a widget from ending a session, and pasted text from being taken for keys.

Textual ends the application at any exception of a handler: whatever was tuned would be lost for a key that came at the
wrong moment. Textual's own widgets are guarded where their actions are run and where it reports errors (`Host`), ours
by `Guarded` too.

Themes of the inspector: the program's own and the user's `themes` folder beside the configuration; and from roles of
styled text to the terminal styles of a theme.

A theme that cannot be used degrades: it is left out, the default takes its place, and a notice says which file, which
key, and why. `secateur.render.report.looks` reads them.

Roles are looked up here and not in the stylesheets: two dozen component classes on every widget make Textual match
thousands of rules on each change of focus, which takes longer than deciding about a hundred thousand candidates.
"""

from __future__ import annotations

import os
import re
import sys
import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar, runtime_checkable

from rich.style import Style
from secateur import directories
from secateur.errors import SecateurError
from secateur.kinds import registry
from secateur.model import Notice
from secateur.recognised import without_recognised
from secateur.render.report.looks import PALETTE, SIGNALS, STATES, ThemeError, read_colours
from secateur.settings import Settings
from secateur.system.processes import ENDING, hasten_end
from secateur.terminal import visible
from secateur_lab.replays.recorder import Observation, Recorder
from textual import events
from textual._context import active_message_pump
from textual._xterm_parser import BRACKETED_PASTE_END, BRACKETED_PASTE_START, XTermParser
from textual.actions import ActionParseResult
from textual.app import App, ScreenStackError
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.command import CommandPalette
from textual.css.query import NoMatches
from textual.dom import DOMNode
from textual.driver import Driver
from textual.drivers._writer_thread import WriterThread
from textual.message import Message
from textual.message_pump import MessagePump
from textual.screen import ModalScreen
from textual.theme import Theme
from textual.worker import WorkerFailed

from secateur_tui import actions
from secateur_tui.background import Courtesy, EngineThread
from secateur_tui.styled_text import describe_error

DEFAULT_THEME = "secateur-dark"

BASE_COLOURS = tuple(name for name in PALETTE if name != "faint")  # colours Textual's own themes have too


def load_themes(folders: Iterable[Path]) -> tuple[dict[str, Theme], tuple[Notice, ...]]:
    """Themes by name, later folders winning, and a notice for each file that is left out."""
    themes: dict[str, Theme] = {}
    notices: list[Notice] = []
    for folder in folders:
        for path in sorted(folder.glob("*.toml")) if folder.is_dir() else ():
            try:
                read = read_colours(path)
            except ThemeError as error:
                notices.append(Notice("broken_theme", f"theme {path.name} is left out: {error}"))
                continue
            base: dict[str, Any] = {key: read.colours[key] for key in BASE_COLOURS}
            # of the stylesheets, beside Textual's own: `$faint`, `$state-kept`, `$signal-relevance`, ...
            faint, idle, focus = (read.colours[key] for key in ("faint", "panel", "primary"))
            variables = {"faint": faint, "border-idle": idle, "border-focus": focus}
            variables |= {f"state-{key}": read.colours[key] for key in STATES}
            variables |= {f"signal-{key}": read.colours[key] for key in SIGNALS}
            themes[path.stem] = Theme(name=read.name, dark=read.dark, variables=variables, **base)
    return themes, tuple(notices)


# Variable of the theme that colours a role.
_COLOURS = {
    "faint": "faint",
    "accent": "accent",
    "warning": "warning",
    "error": "error",
    "success": "success",
    "kept": "state-kept",
    "shortened": "state-shortened",
    "summarised": "state-summarised",
    "dropped": "state-dropped",
    "relevance": "signal-relevance",
    "hotspot": "signal-hotspot",
    "distance": "signal-distance",
    "preference": "signal-preference",
    "boost": "signal-boost",
    "up": "success",
    "down": "error",
    "key": "accent",
    "string": "success",
    "comment": "faint",
    "keyword": "signal-relevance",
    "number": "signal-hotspot",
}

_GROUNDS = {"cursor": "panel", "cursor-blurred": "surface"}  # variable of the theme behind a role

_BOLD = frozenset({"bold", "key", "cursor", "match"})
_ITALIC = frozenset({"comment"})
_UNDERLINED = frozenset({"match"})

ROLES = frozenset({"bold", *_UNDERLINED, *_COLOURS, *_GROUNDS})


class Palette:
    """Styles by role. A role may be several names; later ones lie on top. Unknown names add nothing."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._single = {
            role: Style(
                color=variables[_COLOURS[role]] if role in _COLOURS else None,
                bgcolor=variables[_GROUNDS[role]] if role in _GROUNDS else None,
                bold=True if role in _BOLD else None,
                italic=True if role in _ITALIC else None,
                underline=True if role in _UNDERLINED else None,
            )
            for role in sorted(ROLES)
        }
        self.style = lru_cache(maxsize=512)(self._style)

    def _style(self, role: str) -> Style:
        style = Style.null()
        for name in role.split():
            style += self._single.get(name, Style.null())
        return style


R = TypeVar("R")


@runtime_checkable
class Survivor(Protocol):
    """An application that may go on after an error."""

    def survive(self, error: Exception) -> bool:
        """Says what happened, and returns whether the application goes on."""
        ...


class Guarded(MessagePump):
    """A widget or a screen whose handlers may fail: the message is lost, the application says so and goes on. Stands
    before the class of Textual. What fails while it is set up is not survived: there would be nothing to go on with."""

    async def _dispatch_message(self, message: Message) -> None:
        try:
            await super()._dispatch_message(message)
        except Exception as error:
            app = self.app
            if not (self._is_mounted and isinstance(app, Survivor) and app.survive(error)):
                raise


# The bindings of an application do not reach below a screen on top.
_LEAVE = Binding("ctrl+c", "app.help_quit", show=False, priority=True)


class Dialogue(ModalScreen[R]):
    """A screen on top that is closed once: keys typed ahead must not close what lies below it too. A dismissed screen
    of Textual takes the top one off, whichever that is."""

    BINDINGS: ClassVar[list[BindingType]] = [_LEAVE]

    def dismiss(self, result: R | None = None) -> AwaitComplete:
        return super().dismiss(result) if self.is_active else AwaitComplete()


class PatientPalette(CommandPalette):
    """The command palette, closed once as a `Dialogue`. PgUp and PgDn do nothing while its list has no height yet:
    there `OptionList` of Textual 8 raises KeyError."""

    BINDINGS: ClassVar[list[BindingType]] = [_LEAVE]

    def dismiss(self, result: None = None) -> AwaitComplete:
        return super().dismiss(result) if self.is_active else AwaitComplete()

    def _action_command_list(self, action: str) -> None:
        with suppress(KeyError):
            super()._action_command_list(action)


# A title, a command for a device or the like, behind its escape: all that it says but its end.
_STRING = r"[\]PX^_][^\x07\x1b\r\n]{0,4096}"

# The parts of pasted text that are taken out: colours and other control sequences with all that they say, and any other
# escape.
_SEQUENCE = re.compile(rf"\x1b(?:\[[0-?]*[ -/]*[@-~]|{_STRING}(?:\x07|\x1b\\))?")

# The beginning of a sequence that ends in the next read.
_CUT_SEQUENCE = re.compile(rf"\x1b(?:\[[0-?]{{0,64}}[ -/]{{0,8}}|{_STRING}\x1b?)?\Z")

# Keys and movements of the mouse that are more than a character.
_KEYS = re.compile(r"\x1b(?:\[M...|\[[0-?]*[ -/]*[@-~]|O.|.)?", re.DOTALL)

_COLOUR = re.compile(r"\x1b\[[\d;]*m")  # a colour, which no key sends

# The most characters that arrive together as keys, unless a key is held down. More are a paste, by a terminal that does
# not mark pastes.
MOST_TYPED = 24

# Seconds after a part of such a paste in which whatever comes belongs to it: terminals send a long one in parts.
_PASTE_SECONDS = 0.5


class PasteParser(XTermParser):
    """Reads what a terminal sends; pasted text loses its escapes. `XTermParser` of Textual 8 ends a paste at the first
    escape in it, and takes the rest for keys."""

    def __init__(self, debug: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._pasted_at = clock, float("-inf")  # when a part of an unmarked paste came last
        self._pasting, self._rest = False, ""  # the end of what came last, where a mark or sequence may have begun
        super().__init__(debug)

    def feed(self, data: str) -> Iterable[Message]:
        text = self._clean(data)
        return super().feed(text) if text or not data else ()  # nothing at all would be the end of the input

    def _clean(self, data: str) -> str:
        if not self._pasting and BRACKETED_PASTE_START not in self._rest + data and self._is_unmarked(data):
            return BRACKETED_PASTE_START + _SEQUENCE.sub("", data) + BRACKETED_PASTE_END
        passed = []
        while data:
            if self._pasting:
                inside, end, data = (self._rest + data).partition(BRACKETED_PASTE_END)
                cut = None if end else _CUT_SEQUENCE.search(inside)
                self._pasting, self._rest = not end, cut[0] if cut else ""
                passed += [_SEQUENCE.sub("", inside[: len(inside) - len(self._rest)]), end]
            else:
                before, start, after = (self._rest + data).partition(BRACKETED_PASTE_START)
                passed.append((before + start)[len(self._rest) :])  # keys wait for nothing
                self._pasting, self._rest = bool(start), "" if start else before[1 - len(BRACKETED_PASTE_START) :]
                data = after
        return "".join(passed)

    def _is_unmarked(self, data: str) -> bool:
        """Tells whether this is no key: it has a colour or too many characters, or goes on with such a paste."""
        typed, now = _KEYS.sub("", data), self._clock()
        going_on = bool(typed) and now - self._pasted_at < _PASTE_SECONDS
        many = len(typed) > MOST_TYPED and len(set(typed)) > 1
        if going_on or many or _COLOUR.search(data):
            self._pasted_at = now
            return True
        return False


class EndingWriter(WriterThread):
    """Writes to the terminal. One that is gone ends the program as its signal does, which not every terminal sends:
    the thread of Textual 8 ends alone, and whoever writes waits for ever."""

    def run(self) -> None:
        try:
            super().run()
        except OSError:
            os.kill(os.getpid(), ENDING[-1])
            while self._queue.get() is not None:
                pass  # there is room again for who waits to write


def guarded_driver(driver: type[Driver]) -> type[Driver]:
    """Makes a driver read with `PasteParser` and write with `EndingWriter`."""
    for replaced, ours in (("XTermParser", PasteParser), ("WriterThread", EndingWriter)):
        if hasattr(module := sys.modules.get(driver.__module__), replaced):
            setattr(module, replaced, ours)  # a driver has no other place for it
    return driver


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
