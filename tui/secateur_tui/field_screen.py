"""A screen with fields on top: it tells its scene whether the keys go to one, and takes what is pasted elsewhere."""

from __future__ import annotations

from textual import events
from textual.screen import Screen
from textual.widgets import Input

from secateur_tui.guards import Guarded
from secateur_tui.pages.scene import Scene
from secateur_tui.widgets.line_view import DrawnView
from secateur_tui.widgets.query_input import QueryInput


class FieldScreen(Guarded, Screen[None]):
    """See the module docstring. `scene`: what its pages are drawn from."""

    scene: Scene

    @property
    def in_field(self) -> bool:
        """Tells whether the keys go to a field."""
        return isinstance(self.focused, Input)

    def on_descendant_focus(self) -> None:
        """Draws the words about keys anew: they say where the keys go."""
        self.scene.typing = self.in_field
        for drawn in self.query("#blank, #footer").results(DrawnView):
            drawn.repaint()

    on_descendant_blur = on_descendant_focus

    def on_paste(self, event: events.Paste) -> None:
        """Takes what is pasted while the keys go elsewhere for a question, whole."""
        subject = self.scene.state.subject
        if not self.in_field and subject.asks_while_typing:
            event.stop()
            field = self.query_one(f"#field-{subject.fields[0].name}", QueryInput)
            self.set_focus(field)
            field.take(event.text)
