"""A bench over any kind of context: reading, deciding and wording are the kind's; here is how it looks.

Every kind has this look; a kind that wants columns of its own has a subclass.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar

from secateur.kinds.base import Environment, Kind, Outcome
from secateur.progress import Progress, unreported
from secateur.scenarios.opened_scenario import OpenedScenario
from secateur.settings import Settings
from secateur.terminal import cell_width, clip, clip_left, visible

from secateur_tui.state.command_lines import CommandWords
from secateur_tui.state.ledger_answer import LedgerAnswer
from secateur_tui.state.subject import Field, Inputs, Subject
from secateur_tui.styled_text import Line, fit, line

M = TypeVar("M")
P = TypeVar("P")


_LONGEST_BESIDE = 1_000
"""Characters of the text beside a name that are looked at: more than any list has room for."""


@lru_cache(maxsize=2)
def _name_cells(outcome: Outcome[Any]) -> int:
    """The width of the longest name of an entry."""
    return max((cell_width(visible(entry.id)) for entry in outcome.ledger.entries), default=0)


class KindSubject(Subject[M, Outcome[P]]):
    """See the module docstring."""

    def __init__(self, kind: Kind[M, P], opened: OpenedScenario | None = None) -> None:
        self.kind = kind
        self._scenario = opened
        self._outside = Environment() if opened is None else opened.environment
        self._opened: list[M] = []  # the baseline may still show the texts of what was read before
        self.name, self.noun, self.prompt = kind.name, kind.noun, kind.opening  # type: ignore[misc]
        self.budget, self.strategy, self.knobs = kind.budget, kind.strategy, kind.knobs  # type: ignore[misc]
        self.reads_folders = kind.reads_folders  # type: ignore[misc]
        self.fields = tuple(  # type: ignore[misc]
            Field(one.name, one.title, one.placeholder, one.optional, one.lines) for one in kind.inputs if one.title
        )

    def reading_key(self, inputs: Inputs, settings: Settings) -> Hashable:
        return self.kind.reading_of(self.given(inputs), settings)

    def read(self, inputs: Inputs, settings: Settings, progress: Progress) -> M:
        outside = replace(self._outside, regular=True, ahead=True, progress=progress)
        material = self.kind.read(self.given(inputs), settings, outside)
        self._opened.append(material)
        return material

    def release(self) -> None:
        while self._opened:
            self.kind.release(self._opened.pop())

    def decide(
        self, material: M, inputs: Inputs, settings: Settings, progress: Progress = unreported
    ) -> LedgerAnswer[Outcome[P]]:
        """No language model is asked: what is on screen was decided here."""
        outcome = self.kind.answer(material, self.given(inputs), settings, progress=progress)
        return self.drawn(settings, outcome)

    def drawn(self, settings: Settings, outcome: Outcome[P]) -> LedgerAnswer[Outcome[P]]:
        """Returns an outcome as it is drawn."""
        return LedgerAnswer(settings, outcome.ledger, outcome, outcome.notices)

    def budget_in_force(self, settings: Settings, answer: LedgerAnswer[Outcome[P]] | None) -> int:
        return self.kind.budget_in_force(settings, answer.result if answer is not None else None)

    def hold(self, answer: LedgerAnswer[Outcome[P]], item: int, settings: Settings) -> Settings | str:
        return self.kind.hold(answer.result, item, settings)

    def described(self, material: M) -> str:
        return self.kind.described(material)

    def because(self, answer: LedgerAnswer[Outcome[P]], item: int) -> str:
        return self.kind.because(answer.result, item)

    def tail_title(self, answer: LedgerAnswer[Outcome[P]]) -> str:
        return "name"

    def tail(self, answer: LedgerAnswer[Outcome[P]], item: int, cells: int) -> Line:
        name, number = visible(answer.entries[item].id), self.entry_number(answer, item)
        beside = self.kind.beside(answer.result, number) if number is not None else ""
        room = cells - 1 - (taken := min(cells, _name_cells(answer.result)))
        if not beside or room <= 0:
            return line(fit(clip_left(name, cells), cells))
        return line(fit(clip_left(name, taken), taken + 1), fit(clip(visible(beside[:_LONGEST_BESIDE]), room), room))

    def texts(self, answer: LedgerAnswer[Outcome[P]], item: int) -> tuple[str, str]:
        return self.kind.texts(answer.result, item)

    def command(self, inputs: Inputs, settings: Settings, opened: Settings) -> str:
        """Every flag of the kind is spelled out, so that no configuration file can change the answer."""
        kind, given = self.kind, self.given(inputs)
        spelled = CommandWords(kind.command, settings, opened)
        for one in kind.inputs:
            if not one.positional and one.role != "output":
                spelled.input(one.name, given[one.name])
        for flag in kind.flags:
            spelled.setting(flag)
        if settings.llm.enabled:
            spelled.set("llm.enabled", "false")
        tables = {knob.key.partition(".")[0] + "." for knob in kind.knobs}
        spelled.differing((*sorted(tables), *kind.depends_on))
        files = given[kind.inputs[0].name]
        return spelled.line(*(files if isinstance(files, list) else [files]))

    def place(self, path: str) -> str:
        return str(self._outside.folder / path) if self._outside.folder is not None and path else path

    def given(self, inputs: Inputs) -> dict[str, Any]:
        """The inputs of the kind. Of a scenario all that it names, but for what was typed since it was opened."""
        typed = self.typed(inputs)
        if self._scenario is None:
            return typed
        shown = self.typed(self.texts_of(self._scenario.inputs))
        held = self._scenario.inputs
        return {name: held[name] if typed[name] == shown[name] else typed[name] for name in typed}

    def typed(self, inputs: Inputs) -> dict[str, Any]:
        """Returns what was typed, and nothing for the inputs that have no field."""
        given = self.kind.blank() | dict(inputs)
        return {
            one.name: [given[one.name]] if one.repeatable and one.name in inputs else given[one.name]
            for one in self.kind.inputs
        }

    def texts_of(self, given: Mapping[str, Any]) -> dict[str, str]:
        """The texts of the fields that show inputs of the kind."""
        values = {field.name: given[field.name] for field in self.fields}
        return {name: " ".join(value) if isinstance(value, list) else value or "" for name, value in values.items()}
