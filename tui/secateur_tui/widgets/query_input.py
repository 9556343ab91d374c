"""The query field. What is pasted into it becomes safe to print before it is shown or asked."""

from __future__ import annotations

from typing import Any

from secateur.terminal import visible
from textual import events
from textual.widgets import Input


class QueryInput(Input):
    """A one-line field; Enter submits."""

    def __init__(self, value: str, placeholder: str, **options: Any) -> None:
        super().__init__(visible(value), placeholder=placeholder, select_on_focus=False, **options)

    def put(self, text: str) -> None:
        """Show a text from outside; what is typed or deleted next begins at its end."""
        self.value = visible(text)
        self.cursor_position = len(self.value)

    def _on_paste(self, event: events.Paste) -> None:
        # Textual calls the handler of `Input` after this one, on the same event.
        event.text = visible(next((text for text in event.text.splitlines() if text.strip()), ""))
