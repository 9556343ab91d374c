"""A to-do list within a number of tokens: open tasks leave before those that are done."""

# ruff: noqa: ARG002 - the protocol passes more than a small kind uses

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from msgspec import Meta, Struct
from secateur import (
    ALONE,
    Deciding,
    Entry,
    Environment,
    Flag,
    Input,
    Inputs,
    Kind,
    Knob,
    Ledger,
    LedgerShape,
    Notice,
    Outcome,
    Page,
    ProofFields,
    Reason,
    Section,
    Settings,
    State,
    Wording,
    about,
    get_counter,
    table_of,
    visible,
)


class ToDoSettings(Struct, frozen=True):
    """`[kinds.todo]`."""

    max_tokens: Annotated[
        int, Meta(ge=0, le=100_000), about("Tokens that may go out.", flag="--max-tokens", scope="any")
    ] = 8000
    first: Annotated[Literal["open", "done"], about("Which tasks come first.", flag="--first")] = "open"
    marks: Annotated[tuple[str, ...], about("Further marks of tasks that are done.")] = ()


@dataclass(frozen=True)
class Tasks:
    """The lines of a list, the tokens of each, and what took credentials out: the report names those by it."""

    lines: tuple[str, ...]
    tokens: tuple[int, ...]
    redactor: object


@dataclass(frozen=True)
class KeptTasks:
    """The numbers of the lines that go out, and all lines."""

    tasks: Tasks
    kept: tuple[int, ...]

    @property
    def text(self) -> str:
        """What goes out, in the list's order."""
        return "".join(self.tasks.lines[number] for number in self.kept)


class ToDoOutput(ProofFields, frozen=True):
    """What `--format json` prints."""

    text: str
    ledger: LedgerShape
    warnings: Sequence[Notice]


class ToDo(Kind[Tasks, KeptTasks]):
    """See `Kind`."""

    name = "todo"
    wording = Wording(
        title="To do",
        about="a to-do list within a number of tokens",
        noun="Tasks",
        opening="A to-do list can be opened here: a line for each task, [x] where it is done.",
    )
    inputs: ClassVar[Sequence[Input]] = (
        Input(
            "path", "the list; - reads stdin", positional=True, required=True, title="List", placeholder="a to-do list"
        ),
    )
    table = ToDoSettings
    flags: ClassVar[Sequence[Flag]] = (
        Flag("kinds.todo.max_tokens", "N", "tokens that may go out"),
        Flag("kinds.todo.first", "WHICH", "open (default) or done: which tasks come first"),
    )
    budget = Knob("kinds.todo.max_tokens", "budget", fine_step=1, rounded=True)
    knobs: ClassVar[Sequence[Knob]] = (budget, Knob("kinds.todo.first", "first"))
    formats = ("text", "json", "markdown")

    def recognises(self, path: Path, head: str) -> bool:
        return path.suffix == ".todo"

    def read(self, inputs: Inputs, settings: Settings, environment: Environment) -> Tasks:
        text = environment.bytes_of(inputs["path"], "to-do list").decode("utf-8", "replace")
        counter = get_counter(settings.tokens.counter)
        lines = tuple(text.splitlines(keepends=True))
        return Tasks(lines, tuple(counter.count(line) for line in lines), environment.redactor)

    def decide(
        self, material: Tasks, inputs: Inputs, settings: Settings, during: Deciding = ALONE
    ) -> Outcome[KeptTasks]:
        rules: ToDoSettings = table_of(settings, self.name, ToDoSettings)
        budget = left = rules.max_tokens
        entries = {}
        marks = ("[x]", *rules.marks)
        done = [line.startswith(marks) for line in material.lines]
        order = sorted(range(len(material.lines)), key=lambda number: done[number] is (rules.first == "open"))
        for number in order:
            needed = material.tokens[number]
            fits = needed <= left
            entries[number] = Entry(
                f"line {number + 1}",
                State.KEPT if fits else State.DROPPED,
                Reason.FITS if fits else Reason.NO_ROOM,
                needed,
                needed if fits else 0,
                {"needed": needed, "left": left},
            )
            left -= entries[number].after
        told = [entries[number] for number in range(len(order))]
        kept = KeptTasks(material, tuple(number for number, entry in enumerate(told) if entry.state is State.KEPT))
        after = get_counter(settings.tokens.counter).count(kept.text)
        return Outcome(self.name, settings, kept, lambda: Ledger.closed(self.name, budget, told, after))

    def described(self, material: Tasks) -> str:
        return f"{len(material.lines)} lines, {sum(material.tokens)} tokens"

    def output(self, outcome: Outcome[KeptTasks]) -> ToDoOutput:
        return ToDoOutput(outcome.payload.text, outcome.ledger.shape(), outcome.warnings)

    def page(self, outcome: Outcome[KeptTasks], *, verbose: bool = False) -> Page:
        ledger = outcome.ledger
        tasks = zip(outcome.payload.tasks.lines, ledger.entries, strict=False)
        rows = [f"{entry.state.glyph} {visible(text.rstrip())}" for text, entry in tasks]
        head = [("tokens", f"{ledger.before} -> {ledger.after}, budget {ledger.budget}")]
        return Page(head, [Section(rows)], outcome.warnings)

    def leaving(self, outcome: Outcome[KeptTasks], form: str = "") -> str:
        return outcome.payload.text

    def texts(self, outcome: Outcome[KeptTasks], number: int) -> tuple[str, str]:
        lines = outcome.payload.tasks.lines
        text = lines[number] if number < len(lines) else ""
        return text, text if number in outcome.payload.kept else ""
