"""A part of the screen: some actions of the registry, with what follows from them. The screen holds the parts that
`secateur_tui.parts.PARTS` lists and knows none of them; a part gets the screen and may use all of its public methods.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from textual.widget import Widget

from secateur_tui.messages import PartMessage
from secateur_tui.styled_text import Line


@dataclass(frozen=True)
class Tab:
    """A page beside the list.

    Attributes:
        make: returns its widget, whose id is that of the tab.
        paint: brings it up to date; called while it is in sight.
    """

    id: str
    title: str
    make: Callable[[], Widget]
    paint: Callable[[], None]


class ScreenPart:
    """Every hook does nothing by default; a part has those that it needs."""

    @property
    def actions(self) -> Mapping[str, Callable[[], object]]:
        """Its actions, by the ids of the registry (`secateur_tui.actions`)."""
        return {}

    def unavailable(self, action: str) -> str:  # noqa: ARG002 - of the part that has a say
        """Returns why an action, its own or another's, cannot be done now; "" where it can."""
        return ""

    @property
    def tabs(self) -> Sequence[Tab]:
        """Its pages beside the list."""
        return ()

    def notices(self, cells: int) -> Iterable[Line]:  # noqa: ARG002
        """Draws lines above the notices about the answer."""
        return ()

    def mounted(self) -> None:
        """The widgets are there."""

    def list_painted(self) -> None:
        """The list shows the state, which may have another answer; what is painted next may use what is found now."""

    def painted(self) -> None:
        """Everything shows the state."""

    def typed(self) -> None:
        """The text of a field changed."""

    def submitted(self) -> None:
        """Enter was pressed in a field."""

    def cursor_moved(self) -> None:
        """Another item is looked at."""

    def page_opened(self) -> None:
        """Another page is in sight."""

    def in_front(self) -> None:
        """The screen was shown, or lies uncovered again."""

    def refreshing(self) -> None:
        """The user wants to read again what is on disk."""

    def cancel(self) -> bool:
        """Cancels slow work that the user waits for; returns whether there was any."""
        return False

    def returned(self) -> None:
        """The terminal came to the front again."""

    def state_taken(self) -> None:
        """The state was replaced by another one."""

    def job_ended(self, group: str) -> None:
        """A job of this group ended, or was cancelled."""

    def receive(self, message: PartMessage) -> None:
        """A message came, from a thread or a widget of any part."""
