"""Writes the command lines that reproduce a decision, byte for byte."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from secateur.kinds.base import Flag, Kind
from secateur.kinds.environment import Inputs
from secateur.settings import Settings, key_of, lookup, with_profile
from secateur.sources.files import path_bytes
from secateur.toml_values import toml_value


class CommandWords:
    """Collects the words of `secateur COMMAND … FILE`; a setting that a flag or `set` has written is not repeated."""

    def __init__(self, command: str, settings: Settings, opened: Settings, *first: str) -> None:
        """`first`: words behind the command."""
        self._settings, self._opened = settings, opened
        self._profile = with_profile(Settings(profiles=settings.profiles), settings.profile)
        self._words = ["secateur", command, *first, "--profile", settings.profile]
        self._said: set[str] = set()

    def words(self, *words: str) -> None:
        """Writes words that are not settings."""
        self._words += words

    def input(self, name: str, value: str | bool | Sequence[str] | None) -> None:
        """Writes an input as a flag: a switch if it is on, a repeatable one for each of its values."""
        flag = "--" + name.replace("_", "-")
        if value is True:
            self._words.append(flag)
        for text in [value] if isinstance(value, str) else value or () if not isinstance(value, bool) else ():
            if text.strip():
                self._words += [f"{flag}={text}"] if text.startswith("-") else [flag, text]

    def _needed(self, key: str) -> bool:
        """Tells whether a setting is not as the profile has it, or not as a configuration file has it."""
        value = lookup(self._settings, key)
        return not value == lookup(self._profile, key) == lookup(self._opened, key)

    def flag(self, flag: str, value: str, *keys: str, always: bool = False) -> None:
        """Writes a flag, given the keys of its settings, if one of them is not as the profile has it."""
        if always or any(map(self._needed, keys)):
            self._words += [flag, value]
            self._said.update(keys)

    def setting(self, flag: Flag, *, always: bool = False) -> None:
        """Writes a flag with the value of its setting, if the profile has another one: a switch if it is on, a
        repeatable one for each of its values, other names as `--set`."""
        value = lookup(self._settings, flag.key)
        if not (always or self._needed(flag.key)):
            return
        if flag.repeatable:
            self.input(flag.name.removeprefix("--"), value)
            return
        if isinstance(value, tuple):
            self.set(flag.key, toml(value))
            return
        if value is False or (flag.derived and not value):
            return
        self._words += [flag.name] if value is True else [flag.name, str(value)]
        self._said.add(flag.key)

    def set(self, key: str, value: str) -> None:
        """Writes a setting as `--set`, with its value as TOML."""
        self._words += ["--set", f"{key}={value}"]
        self._said.add(key)

    def differing(self, keys: Iterable[str]) -> None:
        """Writes every other key that differs from its value in the profile, or from the loaded value, which may come
        from a configuration file. Keys that only a run can have are left to their flags."""
        for name in keys:
            if self._needed(name) and name not in self._said and key_of(name).scope != "run":
                self.set(name, toml(lookup(self._settings, name)))

    def line(self, *files: str) -> str:
        """Returns the whole line for a shell; words after `--` are never flags."""
        dashes = ["--"] if any(file.startswith("-") for file in files) else []
        return " ".join(quote_word(word) for word in (*self._words, *dashes, *files))


def command_line(kind: Kind[Any, Any], given: Inputs, settings: Settings, opened: Settings) -> str:
    """Writes the line of a kind: its inputs except those of the output, its flags, and other settings it depends on."""
    words = CommandWords(kind.command, settings, opened)
    for declared in kind.inputs:
        if not declared.positional and declared.role != "output":
            words.input(declared.name, given[declared.name])
    for flag in kind.flags:
        words.setting(flag, always=flag.key == kind.budget.key)
    if settings.llm.enabled:
        words.set("llm.enabled", "false")
    words.differing(kind.deciding_keys)
    files = given[kind.inputs[0].name]
    return words.line(*(files if isinstance(files, list) else [files]))


def spell_changes(kind: Kind[Any, Any], settings: Settings, changes: Mapping[str, Any]) -> str:
    """Writes the flags that change settings: "--pin modules[7]". A flag that is repeated adds to the present values;
    "without --pin modules[7]" says which of them is left away."""
    words: list[str] = []
    flags = {flag.key: flag for flag in kind.flags if flag.values is None}
    added_to = {declared.name for declared in kind.inputs if declared.repeatable}
    for key, value in changes.items():
        flag, leaf, present = flags.get(key), key.rpartition(".")[2], lookup(settings, key)
        if isinstance(value, tuple) and set(value) > set(present) and (leaf in added_to or (flag and flag.repeatable)):
            name = flag.name if flag else f"--{leaf}"
            added = [quote_word(text) for text in value if text not in present]
            words += [f"{name}={text}" if text.startswith(("-", "'!")) else f"{name} {text}" for text in added]
        elif isinstance(value, tuple) and set(value) < set(present) and flag and flag.repeatable:
            words += [f"without {flag.name} {quote_word(text)}" for text in present if text not in value]
        elif flag is not None and not flag.repeatable and value is not False:
            typed = (
                quote_word(",".join(value))
                if isinstance(value, tuple)
                else number(value)
                if isinstance(value, float)
                else value
            )
            words.append(flag.name if value is True else f"{flag.name} {typed}")
        else:
            words.append(f"--set {quote_word(f'{key}={toml(value)}')}")
    return " ".join(words)


def quote_word(word: str) -> str:
    """Quotes one shell word, with control characters as escapes of `$'…'`: pasting it runs nothing and moves no
    cursor."""
    if word.isprintable():
        return shlex.quote(word)
    escaped = "".join(
        character if character.isprintable() and character not in "\\'" else _escape(character) for character in word
    )
    return f"$'{escaped}'"


def _escape(character: str) -> str:
    if character in "\\'":
        return "\\" + character
    return "".join(f"\\x{byte:02x}" for byte in path_bytes(character))


def number(value: float) -> str:
    return repr(value) if value != int(value) else str(int(value))


def toml(value: Any) -> str:
    """Writes a value as `--set` reads it."""
    return number(value) if isinstance(value, float) else toml_value(value)
