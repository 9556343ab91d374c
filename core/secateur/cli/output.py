"""Writes to the standard streams: UTF-8 whatever the locale. A stream that takes no more is an error; one that nobody
reads ends the output."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TextIO

from secateur.cli import interruption
from secateur.errors import SecateurError
from secateur.recognised import may_hold_token, without_recognised

_answered: TextIO | None = None  # the standard output that something was printed on


def emit(text: str, stream: TextIO | None = None) -> None:
    """Prints a finished text on standard output or `stream`, without credentials. A closed pipe ends the output
    quietly.

    Raises:
        SecateurError: standard output cannot be written. Of standard error nothing is raised: there is nowhere to say
        it.
    """
    global _answered
    stream = sys.stdout if stream is None else stream
    if stream is sys.stdout:
        _answered = stream
    try:
        if may_hold_token(text):
            from secateur.redaction import outgoing  # what finds credentials takes a while to import

            text = outgoing(text)
        else:
            text = without_recognised(text)
        _write(text, stream)
    except BrokenPipeError:
        _forget(stream)
    except OSError as error:
        _forget(stream)
        if stream is not sys.stderr:
            raise SecateurError(
                f"cannot write the output: {error.strerror}", hint="check where standard output leads", code="OUTPUT"
            ) from error


def tell(text: str) -> None:
    """Prints a text on standard error, if there is one."""
    if sys.stderr is not None:
        emit(text, sys.stderr)


def on_terminal(stream: TextIO | None) -> bool:
    """True if the stream is a terminal."""
    return stream is not None and stream.isatty()


def _write(text: str, stream: TextIO | None) -> None:
    if stream is None:  # started with standard output closed
        raise OSError(0, "it is closed")
    if (buffer := getattr(stream, "buffer", None)) is None:
        stream.write(text)
    else:
        stream.flush()
        buffer.write(text.encode("utf-8", "replace"))
    stream.flush()


def _forget(stream: TextIO | None) -> None:
    """Discards what is still buffered, which the interpreter would complain about at its end."""
    try:
        if stream is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except (OSError, ValueError):  # a stream without a descriptor has nothing to complain about
        pass


def report_interruption(*, as_json: bool) -> int:
    """Says that Ctrl-C ended the command, in place of its progress bar; with JSON also on standard output, unless the
    answer is there already. Returns the exit code."""
    if as_json and sys.stdout is not _answered:
        import json

        error = SecateurError(interruption.MESSAGE, code=interruption.CODE)
        with suppress(SecateurError):  # nobody reads it
            emit(json.dumps({"error": error.to_dict()}) + "\n")
    tell(("\r\x1b[K" if on_terminal(sys.stderr) else "") + interruption.MESSAGE + "\n")
    return interruption.EXIT_CODE
