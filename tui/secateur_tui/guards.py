"""Guards that keep an error inside a widget from ending a session.

Textual ends the application at any exception of a handler: whatever was tuned would be lost for a key that came at the
wrong moment. Textual's own widgets are guarded where their actions are run and where it reports errors (`Host`), ours
by `Guarded` too.
"""

from __future__ import annotations

from contextlib import suppress
from typing import ClassVar, Protocol, TypeVar, runtime_checkable

from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.command import CommandPalette
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


_LEAVE = Binding("ctrl+c", "app.help_quit", show=False, priority=True)
"""The bindings of an application do not reach below a screen on top."""


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
