"""Functions that tests have run in workers."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from secateur.errors import RepositoryError
from secateur.executors.executor import keep_open


def doubled(number: int) -> int:
    return 2 * number


def call(task: tuple[Callable[[Any], Any], Any]) -> Any:
    """Calls a function, for runs in which items differ in what is done with them."""
    function, argument = task
    return function(argument)


def process_of(_: Any) -> int:
    """The process that this is done in."""
    return os.getpid()


def printing(text: str) -> str:
    """Writes to standard output in every way there is."""
    print(text, flush=True)
    os.write(1, b"\0" * 64)
    sys.__stdout__.write(text)  # type: ignore[union-attr]
    return text


def refused(name: str) -> None:
    raise RepositoryError(f"no such thing: {name}", hint="look elsewhere", code="NOWHERE")


def failing(_: Any) -> None:
    raise KeyError("a word")


def unsendable(_: Any) -> Any:
    return lambda: None


def dying(marker: str) -> str:
    """Ends its process the first times, as often as the marker has letters missing to three."""
    file = Path(marker)
    if len(file.read_text()) < 3:
        file.write_text(file.read_text() + "x")
        os._exit(9)
    return "done"


def stuck(marker: str) -> None:
    """Says which process it is, and never ends."""
    Path(marker).write_text(str(os.getpid()))
    while True:
        time.sleep(60)


def noted(task: tuple[str, str]) -> str:
    """Writes a line into a file; returns what was there before."""
    file, line = task
    before = Path(file).read_text()
    with Path(file).open("a") as out:
        out.write(line)
    return before


class Opened:
    """Something that is kept, and notes when it is closed."""

    def __init__(self, file: str) -> None:
        self._file = file

    def close(self) -> None:
        noted((self._file, f"closed by {os.getpid()}\n"))


def opening(task: tuple[str, str]) -> int:
    """Keeps something open for the next task of the same key."""
    file, key = task
    return id(keep_open("test", key, lambda: Opened(file)))


def killing_parent(marker: str) -> None:
    """Kills the process that gave this task, and waits to be ended."""
    Path(marker).write_text(str(os.getpid()))
    os.kill(os.getppid(), signal.SIGKILL)
    while True:
        time.sleep(60)


def always_dying(_: Any) -> None:
    os._exit(9)
