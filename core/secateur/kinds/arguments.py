"""The arguments that a kind declares: its inputs, and flags for its settings. Command line, inspector and scenarios are
made from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from secateur.settings import key_of


@dataclass(frozen=True, slots=True)
class Input:
    """One input of a kind: an argument or flag of its command, and a field of its bench."""

    name: str  # "fail_on_skip": the flag `--fail-on-skip`
    help: str  # in the help of the command
    metavar: str = "FILE"
    positional: bool = False
    required: bool = False
    repeatable: bool = False
    switch: bool = False
    default: str | None = ""
    least: int | None = None  # the value is an integer of at least this
    words: Sequence[str] = ()  # allowed instead of the integer: "all"
    holds: str = ""  # "path", "revision", "text"; "output": it does not change the decision; "": see `role`
    title: str = ""  # title of its field on the screen; "": no field
    placeholder: str = ""  # shown in the empty field
    optional: bool = False  # whether the field may stay empty
    lines: bool = False  # whether the field takes several lines
    folders: bool = False  # whether it names folders, so that it may also be a git URL (`secateur.sources.named`)
    workspaces: bool = False  # whether it may also be the file of a workspace (`secateur.sources.workspace_file`)
    sessions: bool = False  # whether `--session` may name it: a session of a coding agent
    takes: Callable[[str], bool] | None = None  # tells whether a lone path is meant for this input; None: any path is

    @property
    def role(self) -> str:
        """The kind of value: `holds`, else derived from the metavar: a path, a revision or text."""
        return self.holds or {"FILE": "path", "PATH": "path", "REV": "revision", "COMMIT": "revision"}.get(
            self.metavar if not self.switch else "", "text"
        )


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag of the command that sets a setting: `--max-tokens` is `context_prune.max_tokens`.

    Its setting determines the syntax: an integer, a number, names separated by commas, or a switch that sets it to
    true.
    """

    key: str
    metavar: str
    help: str
    typed: str = ""  # the flag as typed, if not as the setting declares it
    least: int | None = None  # an integer of at least this
    derived: bool = False  # 0 stands for a derived value, as does omitting the flag
    repeatable: bool = False
    values: Callable[[Any], Mapping[str, Any]] | None = (
        None  # returns the settings that the flag sets, if it sets several
    )

    @property
    def name(self) -> str:
        """The flag as it is typed."""
        return self.typed or key_of(self.key).flag

    @property
    def kind(self) -> type:
        """The type of its setting; `str` for a flag that sets several."""
        return str if self.values is not None else key_of(self.key).kind


def opened_inputs(inputs: Sequence[Input], path: str) -> dict[str, Any]:
    """The input that a lone path is meant for, as a value by name."""
    paths = (declared for declared in inputs if declared.role == "path")
    declared = next((declared for declared in paths if declared.takes is None or declared.takes(path)), inputs[0])
    return {declared.name: [path] if declared.repeatable else path}


def fields_of(inputs: Sequence[Input]) -> Sequence[Input]:
    """The inputs that are flags of `inspect`: inputs with a field on their bench, except the one that PATH gives."""
    opened = opened_inputs(inputs, "")
    return [declared for declared in inputs if declared.title and declared.name not in opened]
