"""A call that was made before is answered again from what was kept, where nothing that it rests on has changed.

The result cache spares the search; this also spares the parser of arguments, the settings and the index, which take
longer than the rest of a cached answer. A call is known by its words, the folder it is made in, what its environment
says, where its output goes and what is installed; the files of settings and the source are looked at each time, as they
are without this.

    call = RepeatableCall.of(["search", "where is the total rounded?"])
    code = call.repeat_answer() if call else None        # None: it has to be made
    call.reads(path)                                # before a file of settings is read
    call.keep(place, said, code=0, visibly=False)   # after it was made
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from secateur import directories
from secateur.cli.output import emit, on_terminal, tell
from secateur.errors import SecateurError
from secateur.retrieval.cache import AnswerPlace, ResultCache
from secateur.terminal import visible
from secateur.version import __version__

COMMAND = "search"  # the command whose answers are kept

# Words of calls that are made each time: they read standard input, fetch, write files, or say what was done.
_NEVER = frozenset(("-", "--no-cache", "--verbose", "--save", "--report", "--debug", "--refresh"))

# Of the environment, what decides where things lie, which git is run, and who reads what is said.
_VARIABLES = (
    *("CI", "HOME", "PATH", "SECATEUR_CACHE_DIR", "SECATEUR_CONFIG_DIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"),
    *("LOCALAPPDATA", "APPDATA"),
)


class RepeatableCall:
    """See the module docstring."""

    def __init__(self, words: Sequence[str], folder: str) -> None:
        facts = {name: os.environ.get(name) for name in _VARIABLES}
        streams = on_terminal(sys.stdout), on_terminal(sys.stderr)
        # What is installed, or gone, changes the folder it is in.
        installed = [(path, look_of(path)) for path in sys.path]
        self._key = json.dumps([__version__, sys.implementation.cache_tag, words, folder, facts, streams, installed])
        self._files: dict[str, str] = {}

    @classmethod
    def of(cls, words: Sequence[str]) -> RepeatableCall | None:
        """The call of these words, the command first; None for one that is made each time."""
        if words[:1] != [COMMAND] or any(word.partition("=")[0] in _NEVER for word in words):
            return None
        try:
            return cls(words, os.getcwd())  # noqa: PTH109 - a text, and nothing to import for it
        except OSError:  # the working folder is gone
            return None

    def reads(self, files: Iterable[Path]) -> None:
        """Notes how files look that are going to be read, or that are not there and would be."""
        for path in files:
            self._files.setdefault(str(path), look_of(path))

    def repeat_answer(self) -> int | None:
        """Prints what the same call printed, and returns its exit code; None where it was not made, or not kept, or
        something has changed since."""
        try:
            folder = directories.cache_dir(os.environ)
            calls = ResultCache.of_calls(folder, time.time)
            kept = calls.get(self._key) if calls else None
            if kept is None:
                return None
            call = json.loads(kept)
            if any(look_of(path) != look for path, look in call["files"].items()):
                return None
            answer = AnswerPlace(**call["place"]).answer(folder, time.time)
        except (SecateurError, OSError, ValueError, KeyError, TypeError):  # made anew, it says what is wrong
            return None
        if answer is None:
            return None
        for message in call["said"]:
            tell(visible(message) + "\n")
        emit(visible(answer.text, keep_newlines=True, keep_tabs=True) if call["visibly"] else answer.text, passed=True)
        return int(call["code"])

    def keep(self, location: AnswerPlace, messages: Sequence[str], *, code: int, visibly: bool) -> None:
        """Keeps what was printed.

        Args:
            location: where the text is kept.
            messages: lines on standard error, before the text.
            visibly: the text went to a terminal that may not be steered by it.
        """
        calls = ResultCache.of_calls(directories.cache_dir(os.environ), time.time)
        if calls is not None:
            answer = {"place": location.to_dict(), "said": messages, "visibly": visibly, "code": code}
            calls.put(self._key, json.dumps({"files": self._files} | answer))


def look_of(path: str | Path) -> str:
    """Returns a text that changes whenever the file or folder does; "" if it cannot be read."""
    try:
        there = os.stat(path)  # noqa: PTH116 - many, and some are no paths of ours
    except (OSError, ValueError):
        return ""
    link = os.path.islink(path)  # noqa: PTH114
    return f"{there.st_mtime_ns:x}-{there.st_ctime_ns:x}-{there.st_size:x}-{there.st_ino:x}{'-link' * link}"
