"""Arguments as the user types them: what is wrong about them is an error with a hint, and never pages of usage.

A parser here never ends the program and prints nothing but the help that was asked for.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, TypeVar

from secateur.cli.output import emit
from secateur.errors import UsageError, not_allowed
from secateur.suggestions import suggestion
from secateur.terminal import visible

CHOICES = "choices"  # attribute of an argparse type: the words that it takes
COMPLETER = "completer"  # attribute of an argument by which argcomplete asks for words

Converted = TypeVar("Converted")


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are UsageErrors that name the command.

    Attributes:
        budget: the flag that is meant by --budget, where the command calls it otherwise.
    """

    budget = ""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs | {"allow_abbrev": False})

    def error(self, message: str) -> NoReturn:
        """Raises UsageError."""
        raise UsageError(message.removeprefix("argument "), hint=self.see())

    def see(self) -> str:
        """The hint that names the help of a command."""
        return f"see {self.prog} --help"

    def refuse(self, extra: str) -> NoReturn:
        """Raises UsageError about an argument this command does not take."""
        flag = extra.partition("=")[0]
        if not flag.startswith("-"):
            raise UsageError(
                f"{self.prog} takes no further argument: {extra!r}",
                hint=f"put words that belong together in quotes; {self.see()}",
            )
        options = (option for action in self._actions for option in action.option_strings if option.startswith("--"))
        near = suggestion(flag.strip("-"), (option.removeprefix("--") for option in options))
        near = self.budget if flag == "--budget" else near and f"--{near}"
        raise UsageError(
            f"{self.prog} has no flag {flag}", hint=(f"did you mean {near}? " if near else "") + self.see()
        )

    def _print_message(self, message: str, file: Any = None) -> None:
        emit(message, file)  # a help text that cannot be written is said like any other output


def refuse_command(name: str, known: Sequence[str]) -> NoReturn:
    """Raises UsageError about a command that does not exist."""
    near = suggestion(name, known)
    raise UsageError(
        f"there is no command {name}", hint=(f"did you mean {near}? " if near else "") + "see secateur --help"
    )


def literal(text: str) -> str:
    """The text of a kind as the help of an argument: argparse takes `%` there for a value of its own."""
    return visible(text).replace("%", "%%")


def paragraph(text: str) -> str:
    """The same as a description: there argparse looks at `%` only where it finds `%(prog)`."""
    return literal(text) if "%(prog)" in text else visible(text)


def integer(text: str) -> int | str:
    """An argparse type: an integer, or the text as it is, for the configuration to refuse with the range of the key."""
    try:
        return int(text)
    except ValueError:
        return text


def number(text: str) -> float | str:
    """An argparse type: a number, or the text as it is, for the configuration to refuse with the range of the key."""
    try:
        return float(text)
    except ValueError:
        return text


def whole_number(flag: str, low: int) -> Callable[[str], int]:
    """An argparse type: an integer of at least `low`; raises UsageError otherwise."""

    def parse(text: str) -> int:
        value = integer(text)
        if isinstance(value, str) or value < low:
            raise not_allowed(flag, text, f"an integer of at least {low}")
        return value

    return parse


def one_of(flag: str, choices: Sequence[str]) -> Callable[[str], str]:
    """An argparse type: one of `choices`; raises UsageError otherwise, with the nearest."""

    def parse(text: str) -> str:
        if text not in choices:
            raise not_allowed(flag, text, "one of " + ", ".join(choices), suggestion(text, choices))
        return text

    return offering(parse, choices)


def offering(convert: Callable[[str], Converted], choices: Sequence[str]) -> Callable[[str], Converted]:
    """The same argparse type; a shell then completes these words (`cli/completers.py`)."""
    setattr(convert, CHOICES, tuple(choices))
    return convert


def completed_by(action: argparse.Action, values: Callable[[str], Mapping[str, str]]) -> None:
    """Says how a shell completes the words of an argument. `values`: from what is typed so far to words, each with what
    it is; one of `cli/completers.py`."""
    setattr(action, COMPLETER, lambda prefix, **_: values(prefix))
