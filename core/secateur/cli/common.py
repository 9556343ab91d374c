"""Holds what all commands share: flags, settings, messages that no text from outside can abuse, progress, errors."""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import get_terminal_size
from types import FrameType
from typing import Any, NoReturn

from secateur import directories
from secateur.cli import completers
from secateur.cli.output import emit, interrupted, on_terminal, tell
from secateur.cli.parsing import completed_by, one_of
from secateur.errors import SecateurError, UsageError
from secateur.progress import FIRST
from secateur.settings import FILE_NAME, PROJECT_NAME, Committed, InputLimits, Loaded, Redacting, load
from secateur.sources.fetch_options import FetchOptions
from secateur.system.console import ENDING, end_by
from secateur.terminal import visible


class _Terminated(SystemExit):
    """A SystemExit, because an event loop passes that on."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.number = number


@contextmanager
def unwound() -> Iterator[None]:
    """A signal that asks for an end (SIGTERM, SIGHUP), where it would end the process at once, ends the block like an
    error first, then the process.

    What started the process sees it ended by that signal. A signal that is ignored (`nohup`) stays ignored.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    taken = [number for number in ENDING if signal.getsignal(number) is signal.SIG_DFL]
    for number in taken:
        signal.signal(number, _terminate)
    try:
        yield
    except _Terminated as terminated:
        signal.signal(terminated.number, signal.SIG_DFL)
        end_by(terminated.number)
        raise
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


def _terminate(number: int, _frame: FrameType | None) -> NoReturn:
    for other in ENDING:  # a second one must not stop what the first has begun
        signal.signal(other, signal.SIG_IGN)
    raise _Terminated(number)


_SECRET = re.compile(r"((?:api[_-]?key|token|password)\s*=\s*)\S+", re.IGNORECASE)


def common_arguments(
    parser: argparse.ArgumentParser,
    formats: Sequence[str] = ("text", "json"),
    default: str = "text",
    *,
    several_profiles: bool = False,
) -> None:
    """Adds the flags that every command takes; `several_profiles`: `--profile` may be given more than once."""
    group = parser.add_argument_group("every command")
    group.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="a further configuration file; wins over the repository's and your own",
    )
    meaning = "named table of settings: spec (default; anchors by words and vectors), recommended, or one of yours"
    if several_profiles:
        profile = group.add_argument(
            "--profile", action="append", default=[], metavar="NAME", help=f"{meaning}; repeatable"
        )
    else:
        profile = group.add_argument("--profile", metavar="NAME", help=meaning)
    completed_by(profile, completers.profiles)
    sets = group.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        dest="sets",
        help="any setting, e.g. graph_rag.max_depth=3; repeatable",
    )
    completed_by(sets, completers.settings)
    counter = group.add_argument(
        "--counter", metavar="NAME", help="token counter: o200k_base, cl100k_base, o200k_harmony, estimate, chars4"
    )
    completed_by(counter, completers.counters)
    group.add_argument(
        "--format",
        type=one_of("--format", formats),
        choices=formats,
        default=default,
        help=f"what is printed (default {default})",
    )
    group.add_argument(
        "--trust-git-dir",
        action="store_true",
        help="also read a .git that leads elsewhere or borrows objects, as --shared clones do (docs/security.md)",
    )
    group.add_argument("--no-redact", action="store_true", help="leave credentials in what is read (docs/security.md)")
    group.add_argument("--quiet", action="store_true", help="no progress and no messages on stderr but errors")
    group.add_argument("--verbose", action="store_true", help="say more on stderr")
    group.add_argument("--debug", action="store_true", help="show the traceback of an error")


def load_settings(
    options: argparse.Namespace,
    root: Path | None,
    flags: dict[str, Any] | None = None,
    *,
    committed: Committed | None = None,
) -> Loaded:
    """Settings for this call; says on stderr what was ignored. `committed`: the repository's files as a commit has
    them, in place of those of `root`."""
    loaded = quiet_settings(options, root, flags, committed)
    for notice in loaded.notices:
        say(options, f"warning: {notice.message}")
    return loaded


def quiet_settings(
    options: argparse.Namespace, root: Path | None, flags: dict[str, Any] | None, committed: Committed | None
) -> Loaded:
    """Loads the same without printing anything."""
    flags = dict(flags or {})
    if options.counter is not None:
        flags["tokens.counter"] = options.counter
    if options.trust_git_dir:
        flags["index.trust_git_dir"] = True
    if options.no_redact:
        flags["redaction.enabled"] = False
    own = directories.config_dir(os.environ)
    loaded = load(
        root,
        config_file=options.config,
        profile=options.profile,
        sets=options.sets,
        flags=flags,
        user_dir=own,
        committed=committed,
    )
    if loaded.settings.redaction != Redacting():  # `main` did not know these
        from secateur.redaction import forget_allowed

        forget_allowed(loaded.settings.redaction)
    return loaded


def settings_files(options: argparse.Namespace, root: Path | None) -> list[Path]:
    """Lists the files that settings are read from, those that are not there among them."""
    own = directories.config_dir(os.environ) / FILE_NAME
    chosen = [] if options.config is None else [options.config]
    return [*chosen, own, *([root / FILE_NAME, root / PROJECT_NAME] if root is not None else [])]


def trusts_git_dir(options: argparse.Namespace) -> bool:
    """True if the user allows a git folder that lies elsewhere. It is known before anything of a repository is read."""
    if options.trust_git_dir:
        return True
    own = load(None, config_file=options.config, sets=options.sets, user_dir=directories.config_dir(os.environ))
    return own.settings.index.trust_git_dir


def sample_or_path(text: str) -> Path:
    """Returns the folder that a text names, where nothing may be fetched."""
    from secateur.sources.named import folder_of

    return folder_of(text, directories.cache_dir(os.environ))


def source_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the flags of commands whose PATH may be a git URL."""
    group = parser.add_argument_group("where PATH is a git URL (docs/inputs.md)")
    group.add_argument(
        "--refresh", action="store_true", help="fetch a git URL again; else its clone in the cache is read"
    )
    group.add_argument(
        "--shallow", action="store_true", help="of a git URL fetch the newest commit alone: faster, and no hotspots"
    )


def workspace_argument(parser: argparse.ArgumentParser) -> None:
    """Adds the flag of commands whose PATH may be a workspace."""
    parser.add_argument(
        "--workspace",
        metavar="FILE",
        help="in place of PATH: the repositories that FILE, a workspace.toml, names, as one (docs/workspaces.md)",
    )


def workspace_or_path(options: argparse.Namespace) -> str:
    """Returns what is to be read: the file of `--workspace`, else PATH.

    Raises:
        UsageError: both are given, or there is no such file.
    """
    from secateur.sources.workspace_file import is_workspace

    if options.workspace is None:
        return str(options.path)
    if options.path != ".":
        raise UsageError("--workspace does not go with a path", hint="leave one of the two out")
    if not is_workspace(Path(options.workspace)):
        raise UsageError(f"no workspace: {options.workspace}", hint="name a file that ends in .toml")
    return str(options.workspace)


def fetch_options(options: argparse.Namespace, reads: Callable[[Path], None] | None = None) -> FetchOptions:
    """Allows a call to fetch what its user names. `reads`: is told of files that the answer rests on."""

    @contextmanager
    def reporting() -> Iterator[ProgressBar]:
        bar = ProgressBar(options, unit="objects")
        try:
            yield bar
        finally:
            bar.close()

    def limits() -> InputLimits:
        own = load(None, config_file=options.config, sets=options.sets, user_dir=directories.config_dir(os.environ))
        return own.settings.inputs

    return FetchOptions(options.refresh, options.shallow, limits, reporting, reads)


def named_folder(options: argparse.Namespace, text: str) -> Path:
    """Returns the folder that a text of the command line names; see `secateur.sources.named`."""
    from secateur.sources.named import folder_of

    return folder_of(text, directories.cache_dir(os.environ), fetch_options(options))


def repository_settings(options: argparse.Namespace, root: Path, flags: dict[str, Any] | None = None) -> Loaded:
    """Settings for this call in a folder; of a clone those that its commit has."""
    from secateur.sources.committed_settings import committed_settings

    return load_settings(options, root, flags, committed=committed_settings(root))


def say(options: argparse.Namespace, message: str) -> None:
    """Prints one line on stderr, unless --quiet."""
    if not options.quiet:
        tell(visible(message) + "\n")


MANY_FILES = 300
"""Files whose first reading is long enough to be told what can be asked meanwhile."""


class ProgressBar:
    """Shows progress on stderr, only on a terminal, in one line that is wiped at the end.

    `meanwhile`: what can be asked before a long first reading is over; said beside it where the line has room.
    """

    def __init__(self, options: argparse.Namespace, unit: str = "files", meanwhile: str = "") -> None:
        self._unit, self._meanwhile = unit, meanwhile
        self._on = on_terminal(sys.stderr) and not options.quiet
        self._shown = ""

    def __call__(self, phase: str, done: int, total: int) -> None:
        """`progress(phase, done, total)` of the engine."""
        if not self._on:
            return
        filled = 24 * done // total if total else 0
        line = (
            f"{phase:<8} [{'#' * filled}{'.' * (24 - filled)}] {done:,} of {total:,} {self._unit}"
            if total
            else f"{phase:<8}"
        )
        more = f"; {self._meanwhile}" if self._meanwhile and phase == FIRST and total >= MANY_FILES else ""
        if len(line) + len(more) < get_terminal_size().columns:  # a line that wraps could not be wiped
            line += more
        if line != self._shown:
            tell(f"\r\x1b[K{line}")
            self._shown = line

    def close(self) -> None:
        """Wipes the line."""
        if self._shown:
            tell("\r\x1b[K")
            self._shown = ""


def guarded(run: Callable[[argparse.Namespace], int], options: argparse.Namespace) -> int:
    """Runs a command. Errors become a message, a hint and an exit code: no traceback without --debug."""
    try:
        with unwound():
            return run(options)
    except SecateurError as error:
        if options.debug:
            raise
        return failure(error, as_json=options.format == "json")
    except KeyboardInterrupt:
        return interrupted(as_json=options.format == "json")
    except Exception as error:
        if options.debug:
            raise
        if isinstance(error, OSError) and directories.current_folder() is None:
            gone = SecateurError(
                "the working folder does not exist any more", hint="change to another folder", code="NO_WORKING_FOLDER"
            )
            return failure(gone, as_json=options.format == "json")
        unexpected = SecateurError(
            f"unexpected {type(error).__name__}: {error}",
            hint="run again with --debug and report what it prints",
            code="UNEXPECTED",
        )
        return failure(unexpected, as_json=options.format == "json")


def failure(error: SecateurError, *, as_json: bool) -> int:
    """Prints `error:` and `hint:` on stderr, and with JSON the same on stdout. Returns the exit code."""
    if as_json:
        body = {
            key: visible(_SECRET.sub(r"\1***", value), keep_newlines=True) for key, value in error.to_dict().items()
        }
        with suppress(SecateurError):  # nobody reads that either: what follows is for whoever reads the other stream
            emit(json.dumps({"error": body}, ensure_ascii=False) + "\n")
    hint = f"hint: {visible(error.hint)}\n" if error.hint else ""
    tell("error: " + visible(_SECRET.sub(r"\1***", error.message)) + "\n" + hint)
    return error.exit_code
