"""What all commands share: flags, settings, output that no text from outside can abuse, progress, errors."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TextIO

from secateur import config, places
from secateur.config import Loaded
from secateur.errors import SecateurError
from secateur.terminal import visible

_SECRET = re.compile(r"((?:api[_-]?key|token|password)\s*=\s*)\S+", re.IGNORECASE)


def common_arguments(parser: argparse.ArgumentParser, formats: Sequence[str] = ("text", "json"), default: str = "text") -> None:
    """Flags every command takes (CONTRACT, command line)."""
    group = parser.add_argument_group("every command")
    group.add_argument("--config", type=Path, metavar="FILE", help="a further configuration file; wins over the repository's and your own")
    group.add_argument("--profile", metavar="NAME", help="named table of settings: spec (default), recommended, or one of yours")
    group.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="sets", help="any setting, e.g. graph_rag.max_depth=3; repeatable")
    group.add_argument("--counter", metavar="NAME", help="token counter: o200k_base, cl100k_base, o200k_harmony, estimate, chars4")
    group.add_argument("--format", choices=formats, default=default, help=f"what is printed (default {default})")
    group.add_argument("--quiet", action="store_true", help="no progress and no messages on stderr but errors")
    group.add_argument("--verbose", action="store_true", help="say more on stderr")
    group.add_argument("--debug", action="store_true", help="show the traceback of an error")


def load_settings(options: argparse.Namespace, root: Path | None, flags: dict[str, Any] | None = None) -> Loaded:
    """Settings for this call; says on stderr what was ignored."""
    flags = dict(flags or {})
    if options.counter is not None:
        flags["tokens.counter"] = options.counter
    loaded = config.load(root, config_file=options.config, profile=options.profile, sets=options.sets, flags=flags, user_dir=places.config_dir(os.environ))
    for notice in loaded.notices:
        say(options, f"warning: {notice.message}")
    return loaded


def sample_or_path(text: str) -> Path:
    """A path, or `sample:NAME` for a sample repository, unpacked into the cache on first use."""
    from secateur.repository import samples

    return samples.path_of(text, places.cache_dir(os.environ))


def say(options: argparse.Namespace, message: str) -> None:
    """One line on stderr, unless --quiet."""
    if not options.quiet:
        print(visible(message), file=sys.stderr)


def emit(text: str, stream: TextIO | None = None) -> None:
    """Print a finished text as UTF-8, whatever the locale; a closed pipe ends the program quietly."""
    stream = stream or sys.stdout
    try:
        buffer = getattr(stream, "buffer", None)
        if buffer is None:
            stream.write(text)
        else:
            stream.flush()
            buffer.write(text.encode("utf-8", "replace"))
        stream.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class ProgressBar:
    """Counts on stderr, only on a terminal; one line that is wiped at the end."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._on = sys.stderr.isatty() and not options.quiet
        self._shown = ""

    def __call__(self, phase: str, done: int, total: int) -> None:
        """`progress(phase, done, total)` of the engine."""
        if not self._on:
            return
        filled = 24 * done // total if total else 0
        line = f"{phase:<8} [{'#' * filled}{'.' * (24 - filled)}] {done:,}/{total:,} files" if total else f"{phase:<8}"
        if line != self._shown:
            sys.stderr.write(f"\r\x1b[K{line}")
            sys.stderr.flush()
            self._shown = line

    def close(self) -> None:
        """Wipe the line."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = ""


def guarded(run: Callable[[argparse.Namespace], int], options: argparse.Namespace) -> int:
    """Run a command; errors become a message, a hint and an exit code (DESIGN: no traceback without --debug)."""
    try:
        return run(options)
    except SecateurError as error:
        if options.debug:
            raise
        return _failure(error, options)
    except KeyboardInterrupt:
        sys.stderr.write(("\r\x1b[K" if sys.stderr.isatty() else "") + "interrupted; what was indexed so far is kept\n")
        return 130
    except Exception as error:
        if options.debug:
            raise
        unexpected = SecateurError(f"unexpected {type(error).__name__}: {error}", hint="run again with --debug and report what it prints", code="UNEXPECTED")
        return _failure(unexpected, options)


def _failure(error: SecateurError, options: argparse.Namespace) -> int:
    if options.format == "json":
        body = {key: visible(_SECRET.sub(r"\1***", value), keep_newlines=True) for key, value in error.to_dict().items()}
        emit(json.dumps({"error": body}, ensure_ascii=False) + "\n")
    print_error(error.message, error.hint)
    return error.exit_code


def print_error(message: str, hint: str = "") -> None:
    """`error: ...` and `hint: ...` on stderr."""
    emit("error: " + visible(_SECRET.sub(r"\1***", message)) + "\n" + (f"hint: {visible(hint)}\n" if hint else ""), sys.stderr)


def usage_failure(program: str, message: str, known: Iterable[str], arguments: Sequence[str]) -> int:
    """A wrong call: message, nearest valid word, exit code 2; JSON on stdout where that was asked for."""
    from difflib import get_close_matches

    words = [word.split("=")[0] for word in message.replace("'", " ").replace(":", " ").split()]
    near = next((match for word in words for match in get_close_matches(word, sorted(known), n=1, cutoff=0.7) if match != word), None)
    hint = f"did you mean {near}?" if near else f"see {program} --help"
    message = _SECRET.sub(r"\1***", message)
    if any(a == "--format=json" or (a == "--format" and b == "json") for a, b in zip(arguments, [*arguments[1:], ""], strict=True)):
        emit(json.dumps({"error": {"code": "USAGE", "message": visible(message), "hint": hint}}, ensure_ascii=False) + "\n")
    print_error(message, hint)
    return 2


def integer(text: str) -> int | str:
    """An argparse type: an integer, or the text as it is, for the configuration to refuse with the range of the key."""
    try:
        return int(text)
    except ValueError:
        return text


def whole_number(low: int) -> Callable[[str], int]:
    """An argparse type: an integer of at least `low`."""

    def parse(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not an integer") from None
        if value < low:
            raise argparse.ArgumentTypeError(f"{value} is less than {low}")
        return value

    return parse
