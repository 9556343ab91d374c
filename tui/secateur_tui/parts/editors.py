"""Opens a file at a line in the user's editor, without a shell."""

import os
import re
import shlex
import subprocess
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from secateur.errors import UsageError
from secateur.system.processes import start_detached
from textual.app import SuspendNotSupported

from secateur_tui.screen import Bench

VARIABLES = ("VISUAL", "EDITOR")  # variables that name the editor; the first that is set counts

HINT = 'set EDITOR, for example export EDITOR="nvim" or EDITOR="code --wait"'

_PLUS, _COLON = ("+{line}", "{path}"), ("{path}:{line}",)  # words that say the place

_OF_TERMINALS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"(g?vi|vim|gvim|view|ex|vimx|nvim|vi-.*|vim\..*|nano|pico|micro|kak|joe|jmacs|mg|ne|emacs.*|emacsclient)", _PLUS),
    (r"(hx|helix)", _COLON),
)
_OF_WINDOWS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"(code|code-insiders|code-oss|codium|vscodium|cursor|windsurf|positron)", ("--goto", "{path}:{line}")),
    (r"(subl|sublime_text|zed|zeditor|lapce)", _COLON),
    (r"(gedit|gnome-text-editor|mousepad|xed|pluma)", _PLUS),
    (
        r"(kate|kwrite|mate|idea|pycharm|goland|webstorm|clion|rubymine|phpstorm|rider|charm)",
        ("--line", "{line}", "{path}"),
    ),
)


@dataclass(frozen=True, slots=True)
class EditorCommand:
    """The words of the command, and whether the editor needs the terminal for itself."""

    words: tuple[str, ...]
    takes_terminal: bool


def build_editor_command(environ: Mapping[str, str], path: Path, line: int) -> EditorCommand:
    """Returns the command for an absolute path. An editor that is not known is given the file alone.

    Raises:
        UsageError: no editor is set, or its words cannot be told apart.
    """
    name = next((variable for variable in VARIABLES if environ.get(variable, "").strip()), None)
    if name is None:
        raise UsageError("no editor is set", hint=HINT)
    try:
        words = tuple(shlex.split(environ[name]))
    except ValueError as error:
        raise UsageError(f"${name} cannot be read: {error}", hint=HINT) from error
    if not words or "\0" in "".join((*words, str(path))):
        raise UsageError(f"${name} names no editor", hint=HINT)
    if not path.is_absolute():
        raise ValueError(f"{path} is not absolute")  # a name like -x would be taken for a flag
    program = PurePath(words[0]).name.lower()
    for editors, takes_terminal in ((_OF_TERMINALS, True), (_OF_WINDOWS, False)):
        if (place := next((place for names, place in editors if re.fullmatch(names, program)), None)) is not None:
            placed = (word.format(path=path, line=max(1, line)) for word in place)
            return EditorCommand((*words, *placed), takes_terminal and not _opens_window(words))
    return EditorCommand((*words, str(path)), takes_terminal=True)


def _opens_window(words: Sequence[str]) -> bool:
    program = PurePath(words[0]).name.lower()
    if program.startswith("emacs"):
        return not {"-nw", "-t", "-tty", "--tty", "--no-window-system"} & set(words[1:]) and program == "emacsclient"
    return program in ("gvim", "gvi") or "-g" in words[1:]


def open_editor(bench: Bench, path: Path, line: int) -> None:
    """Opens a file at a line, or says why not. Raises UsageError: no editor is set."""
    app, command = bench.app, build_editor_command(bench.app.environ, path, line)
    try:
        if command.takes_terminal:
            with app.suspend():
                subprocess.run(command.words, check=False)
            app.refresh(layout=True)
            bench.returned_to()
            return
        with open(os.devnull, "r+b") as nothing:  # noqa: PTH123 - a device
            started = start_detached(command.words, nothing)
        threading.Thread(target=started.wait, daemon=True).start()  # otherwise a zombie process would stay
    except SuspendNotSupported:
        app.say(f"no editor can be shown here; run {shlex.join(command.words)}")
    except (OSError, ValueError) as error:
        app.say(f"{command.words[0]} cannot be started: {getattr(error, 'strerror', None) or error}")
