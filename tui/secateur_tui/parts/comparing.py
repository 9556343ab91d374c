"""Compares the present decision with another one: another profile, budget or commit, or the ghost.

The other decision is made anew whenever the present one changes, on the engine's thread, and only while its page is
in sight.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from secateur.errors import SecateurError
from secateur.kinds.base import Environment, Outcome
from secateur.kinds.side_by_side import SideBySide, side_by_side
from secateur.terminal import visible

from secateur_tui.background import Cancelled
from secateur_tui.part import ScreenPart, Tab
from secateur_tui.screen import Bench
from secateur_tui.state.alternatives import GHOST, Alternative, find_commit_input, parse_alternative, propose_words
from secateur_tui.styled_text import Line, Span, describe_error, line, wrap_words
from secateur_tui.widgets.ask_page import AskPage
from secateur_tui.widgets.line_view import DrawnView
from secateur_tui.widgets.side_by_side_page import draw_side_by_side

PAGE = "compare"


class Comparing(ScreenPart):
    """See the module docstring. The present decision stands on the left, the other on the right."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._word = ""  # what the other side is, as it was typed; "" for nothing yet
        self._compared: tuple[object, str] | None = None  # the answer and the word that `_sides` is of, or will be
        self._other: Alternative | None = None
        self._sides: SideBySide | None = None
        self._wrong: SecateurError | None = None

    @property
    def actions(self) -> Mapping[str, Callable[[], object]]:
        return {"compare": self._ask, "adopt": self._adopt}

    @property
    def tabs(self) -> Sequence[Tab]:
        return (Tab(PAGE, "Compare", lambda: DrawnView(self._draw, id=PAGE), self._paint),)

    def unavailable(self, action: str) -> str:
        if action == "compare" and self._bench.state.outcome is None:
            return "there is no answer yet"
        if action == "adopt":
            if self._other is None or self._sides is None or self._bench.state.page != PAGE:
                return "nothing is compared" + (f"; {key} does" if (key := self._key("compare")) else "")
            if dict(self._other.inputs) != dict(self._bench.given):
                flag = f"--{find_commit_input(self._bench.kind_page.kind)}"
                return f"it is of another commit: start the inspector with {flag} on it"
            if self._other.settings == self._bench.state.settings:
                return "the settings are the same on both sides"
        return ""

    def state_taken(self) -> None:
        self._compared = self._sides = self._other = self._wrong = None

    def _key(self, action: str) -> str:
        return self._bench.app.keymap.first_key(action)

    # --- choosing the other side ---

    @property
    def _ghost(self) -> bool:
        state = self._bench.state
        return state.baseline is not None and state.baseline is not state.answer

    def _offered(self) -> Sequence[str]:
        state = self._bench.state
        kind, in_force = state.kind_page.kind, state.budget
        return propose_words(kind, state.settings, in_force, ghost=self._ghost)

    def _ask(self) -> None:
        words = self._offered()
        word = self._word if self._word in words else words[0]
        page = AskPage("Compare with", self._draw_question, word, replaced=True, proposals=words)
        self._bench.app.push_screen(page, self._chosen)

    def _draw_question(self, cells: int, typed: str) -> Sequence[Line]:
        lines = [
            line(Span(f"{'▸' if word == typed else ' '} {visible(word)}", "accent" if word == typed else ""))
            for word in self._offered()
        ]
        lines += [(), *wrap_words("or another budget, or a profile of yours", cells, "faint")]
        try:
            other = self._alternative(typed)
        except SecateurError as error:
            return [*lines, (), *wrap_words(visible(describe_error(error)), cells, "warning")]
        return [*lines, (), line(Span("right side: ", "faint"), Span(visible(other.label), "bold"))]

    def _alternative(self, word: str) -> Alternative:
        bench = self._bench
        return parse_alternative(word, bench.state.kind_page.kind, bench.state.settings, bench.given, ghost=self._ghost)

    def _chosen(self, word: str | None) -> None:
        if word is not None:
            self._word, self._compared = word, None
            self._bench.show_page(PAGE)
            self._bench.paint_page()

    def _adopt(self) -> None:
        other = self._other
        if other is not None:
            self._word = GHOST  # what was on the left is the ghost from now on, and stays beside
            self._bench.state.pin_baseline()
            self._bench.change(other.settings)

    # --- comparing ---

    def _paint(self) -> None:
        """Called while the page is in sight: compares where that was not done for this answer."""
        answer, outcome = self._bench.state.answer, self._bench.state.outcome
        if self._word and outcome is not None and self._compared != (answer, self._word):
            self._compared = answer, self._word
            self._bench.jobs.start(partial(self._compare, outcome), "compare")
        self._bench.query_one(f"#{PAGE}", DrawnView).repaint()

    async def _compare(self, outcome: Outcome[Any]) -> None:
        wanted = self._compared
        try:
            other = self._alternative(self._word)
            sides = await self._bench.jobs.run(partial(self._decided, outcome, other))
        except SecateurError as error:
            self._other, self._sides, self._wrong = None, None, error
        except Cancelled:
            return
        else:
            self._other, self._sides, self._wrong = other, sides, None
        if self._compared == wanted:
            self._bench.paint_page()
            self._bench.repaint_frame()

    def _decided(self, outcome: Outcome[Any], other: Alternative) -> SideBySide:
        """Decides the other side, on the engine's thread."""
        state = self._bench.state
        page, kind, progress = state.kind_page, state.kind_page.kind, self._bench.jobs.report
        if other.ghost and state.baseline is not None:
            return side_by_side(kind, outcome, state.baseline.outcome)
        if dict(other.inputs) == dict(self._bench.given):
            inputs, reading = dict(state.inputs), state.reading
            if reading is None or not page.serves(reading.key, page.reading_key(inputs, other.settings)):
                material = page.read(inputs, other.settings, progress)
            else:
                material = reading.material
            answer = page.decide(material, inputs, other.settings, progress)
            return side_by_side(kind, outcome, answer.outcome)
        outside = Environment(regular=True, environ=self._bench.app.environ, progress=progress)
        outside = replace(outside, folder=page.scenario.environment.folder) if page.scenario else outside
        material = kind.read(other.inputs, other.settings, outside.redacting(other.settings))
        try:
            return side_by_side(kind, outcome, answer(kind, material, other.inputs, other.settings))
        finally:
            kind.release(material)

    # --- drawing ---

    def _draw(self, cells: int) -> Sequence[Line]:
        compare, adopt = self._key("compare"), self._key("adopt")
        if not self._word:
            words = f"{compare} lays another profile, budget or commit beside this decision" if compare else "nothing"
            return wrap_words(words, cells, "faint")
        if self._wrong is not None:
            return wrap_words(visible(describe_error(self._wrong)), cells, "error")
        if self._sides is None or self._other is None:
            return [line(Span("deciding the other side …", "faint"))]
        state = self._bench.state
        labels = (f"now: {state.settings.profile}{'*' if state.changed else ''}", self._other.label)
        can = f"{adopt} adopts the right side" if adopt and not self.unavailable("adopt") else ""
        keys = ", ".join(filter(None, (f"{compare} chooses another" if compare else "", can)))
        return [*draw_side_by_side(self._sides, labels, cells), (), *wrap_words(keys, cells, "faint")]
