"""The arguments of a kind, as it declares them: what it reads, and the flags that set its settings. Command line,
inspector and scenarios are made from these."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from secateur.settings import key_of


@dataclass(frozen=True, slots=True)
class Input:
    """One thing a kind reads: an argument or a flag of its command, a field of its bench."""

    name: str  # "fail_on_skip": the flag `--fail-on-skip`
    help: str  # of the command line
    metavar: str = "FILE"
    positional: bool = False
    required: bool = False
    repeatable: bool = False
    switch: bool = False
    default: str | None = ""
    least: int | None = None  # it is an integer of at least this
    words: Sequence[str] = ()  # that may stand for the integer: "all"
    holds: str = ""  # "path", "revision", "text"; "output": it changes nothing of what is decided; "": see `role`
    title: str = ""  # of its field on the screen; "": it has none
    placeholder: str = ""  # in the empty field
    optional: bool = False  # whether the field may well stay empty
    lines: bool = False  # whether a text of several lines may stand in the field
    folders: bool = False  # whether it names folders, so that it may also be a git URL (`secateur.sources.named`)
    workspaces: bool = False  # whether it may also be the file of a workspace (`secateur.sources.workspace_file`)
    sessions: bool = False  # whether `--session` may name it: a session of a coding agent
    takes: Callable[[str], bool] | None = None  # tells whether a path that is all that is named is this; None: any is

    @property
    def role(self) -> str:
        """The kind of value: where `holds` does not say, a path if it is written as one, a revision, or text."""
        return self.holds or {"FILE": "path", "PATH": "path", "REV": "revision", "COMMIT": "revision"}.get(
            self.metavar if not self.switch else "", "text"
        )


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag of the command that sets a setting: `--max-tokens` is `context_prune.max_tokens`.

    Its setting says how it is typed: an integer, a number, names with commas between, or a switch that sets it to true.
    """

    key: str
    metavar: str
    help: str
    typed: str = ""  # where it is not the flag that the setting declares
    least: int | None = None  # an integer of at least this
    derived: bool = False  # 0 stands for a value that follows from others, as where the flag is not given
    repeatable: bool = False
    values: Callable[[Any], Mapping[str, Any]] | None = None  # the settings it stands for, where it is not one text

    @property
    def name(self) -> str:
        """The flag as it is typed."""
        return self.typed or key_of(self.key).flag

    @property
    def kind(self) -> type:
        """The type of its setting; `str` of a flag that stands for several."""
        return str if self.values is not None else key_of(self.key).kind


def opened_inputs(inputs: Sequence[Input], path: str) -> dict[str, Any]:
    """The input that a path stands for, where it is all that is named."""
    paths = (one for one in inputs if one.role == "path")
    one = next((one for one in paths if one.takes is None or one.takes(path)), inputs[0])
    return {one.name: [path] if one.repeatable else path}


def fields_of(inputs: Sequence[Input]) -> Sequence[Input]:
    """The inputs that are flags of `inspect`: those with a field on their bench, but for what PATH is."""
    opened = opened_inputs(inputs, "")
    return [one for one in inputs if one.title and one.name not in opened]
