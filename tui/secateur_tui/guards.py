"""Guards that keep an error inside a widget from ending a session, and pasted text from being taken for keys.

Textual ends the application at any exception of a handler: whatever was tuned would be lost for a key that came at the
wrong moment. Textual's own widgets are guarded where their actions are run and where it reports errors (`Host`), ours
by `Guarded` too.
"""

import os
import re
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import ClassVar, Protocol, TypeVar, runtime_checkable

from secateur.system.processes import ENDING
from textual._xterm_parser import BRACKETED_PASTE_END, BRACKETED_PASTE_START, XTermParser
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.command import CommandPalette
from textual.driver import Driver
from textual.drivers._writer_thread import WriterThread
from textual.message import Message
from textual.message_pump import MessagePump
from textual.screen import ModalScreen

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
