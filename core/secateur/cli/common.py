"""Holds what all commands share: flags, settings, messages that no text from outside can abuse, progress, errors."""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from shutil import get_terminal_size
from types import FrameType, MappingProxyType
from typing import Any, NoReturn

from secateur import directories, settings
from secateur.cli import output
from secateur.cli.output import emit, on_terminal, report_interruption, tell
from secateur.errors import ConfigError, SecateurError, UsageError
from secateur.executors.executor import Executor
from secateur.progress import FIRST
from secateur.sources.git_addresses import FetchOptions
from secateur.system.processes import ENDING, end_by
from secateur.terminal import visible


class _Terminated(SystemExit):
    """A SystemExit, because an event loop passes that on."""

    def __init__(self, signal_number: int) -> None:
        super().__init__(128 + signal_number)
        self.signal_number = signal_number


@contextmanager
def unwound() -> Iterator[None]:
    """A signal that asks for an end (SIGTERM, SIGHUP), where it would end the process at once, ends the block like an
    error first, then the process.

    What started the process sees it ended by that signal. A signal that is ignored (`nohup`) stays ignored.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    taken = [signal_number for signal_number in ENDING if signal.getsignal(signal_number) is signal.SIG_DFL]
    for signal_number in taken:
        signal.signal(signal_number, _terminate)
    try:
        yield
    except _Terminated as terminated:
        signal.signal(terminated.signal_number, signal.SIG_DFL)
        end_by(terminated.signal_number)
        raise
    finally:
        for signal_number in taken:
            signal.signal(signal_number, signal.SIG_DFL)


def _terminate(signal_number: int, _frame: FrameType | None) -> NoReturn:
    for other in ENDING:  # a second one must not stop what the first has begun
        signal.signal(other, signal.SIG_IGN)
    raise _Terminated(signal_number)


_SECRET = re.compile(r"((?:api[_-]?key|token|password)\s*=\s*)\S+", re.IGNORECASE)


MANY_FILES = 300  # files whose first reading is long enough to be told what can be asked meanwhile


class CommandCall(argparse.Namespace):
    """The options of a call of a command, and what every command does with them."""

    emit = staticmethod(output.emit)
    on_terminal = staticmethod(output.on_terminal)

    def load_settings(
        self, root: Path | None, flags: dict[str, Any] | None = None, *, committed: settings.Committed | None = None
    ) -> settings.Loaded:
        """Settings for this call; says on stderr what was ignored. `committed`: the repository's files as a commit has
        them, in place of those of `root`."""
        loaded = self.quiet_settings(root, flags, committed)
        for notice in loaded.notices:
            self.say(f"warning: {notice.message}")
        return loaded

    def settings_sources(self, flags: Mapping[str, Any] = MappingProxyType({})) -> settings.SettingsSources:
        """Everything but a repository that settings of this call come from. `flags`: dotted key -> value."""
        given = dict(flags)
        if self.counter is not None:
            given["tokens.counter"] = self.counter
        if self.trust_git_dir:
            given["index.trust_git_dir"] = True
        own = directories.config_dir(os.environ)
        return settings.SettingsSources(self.profile, self.config, tuple(self.sets), given, own)

    def quiet_settings(
        self,
        root: Path | None,
        flags: Mapping[str, Any] | None,
        committed: settings.Committed | None,
        *,
        lenient: bool = False,
    ) -> settings.Loaded:
        """Loads the same without printing anything. `lenient`: see `secateur.settings.load`."""
        given = {"redaction.enabled": False} if self.no_redact else {}
        loaded = self.settings_sources({**(flags or {}), **given}).load(root, committed, lenient=lenient)
        if loaded.settings.redaction != settings.Redacting():  # `main` did not know these
            from secateur.redaction import forget_allowed

            forget_allowed(loaded.settings.redaction)
        return loaded

    def settings_of_files(
        self, root: Path | None, loaded: settings.Loaded, committed: settings.Committed | None
    ) -> settings.Settings:
        """Returns what a call with the same profile and no other flag loads from the files of the user and the
        repository; the loaded settings where `--config` defines the profile."""
        sources = settings.SettingsSources(loaded.settings.profile, user_dir=directories.config_dir(os.environ))
        try:
            return sources.load(root, committed).settings
        except ConfigError:
            return loaded.settings

    def trusts_git_dir(self) -> bool:
        """True if the user allows a git folder that lies elsewhere. It is known before a repository is read."""
        if self.trust_git_dir:
            return True
        own = settings.load(None, config_file=self.config, sets=self.sets, user_dir=directories.config_dir(os.environ))
        return own.settings.index.trust_git_dir

    def workspace_or_path(self) -> str:
        """Returns what is to be read: the file of `--workspace`, else PATH. Raises UsageError: both are given, or there
        is no such file."""
        from secateur.sources.workspace_file import is_workspace

        if self.workspace is None:
            return str(self.path)
        if self.path != ".":
            raise UsageError("--workspace does not go with a path", hint="leave one of the two out")
        if not is_workspace(Path(self.workspace)):
            raise UsageError(f"no workspace: {self.workspace}", hint="name a file that ends in .toml")
        return str(self.workspace)

    def fetch_options(self) -> FetchOptions:
        """Allows a call to fetch what its user names."""

        @contextmanager
        def reporting() -> Iterator[ProgressBar]:
            bar = ProgressBar(self, unit="objects")
            try:
                yield bar
            finally:
                bar.close()

        return FetchOptions(self.refresh, self.shallow, reporting)

    def named_folder(self, text: str) -> Path:
        """Returns the folder that a text of the command line names; see `secateur.sources.named`."""
        from secateur.sources.named import folder_of

        return folder_of(text, directories.cache_dir(os.environ), self.fetch_options())

    def repository_settings(self, root: Path, flags: dict[str, Any] | None = None) -> settings.Loaded:
        """Settings for this call in a folder; of a clone those that its commit has."""
        from secateur.sources.committed import read_committed_settings

        return self.load_settings(root, flags, committed=read_committed_settings(root))

    def say(self, message: str) -> None:
        """Prints one line on stderr, unless --quiet."""
        if not self.quiet:
            tell(visible(message) + "\n")

    @contextmanager
    def executor_of(self) -> Iterator[int | Executor]:
        """The processes that a call asks for: a number of those of this machine, or other workers, which are let go of.

        Raises:
            UsageError: it asks for both.
            SecateurError: the cluster cannot be used.
        """
        if self.on is None:
            yield self.jobs or 1
            return
        if self.jobs is not None:
            raise UsageError("--jobs does not go with --on", hint="--on processes:N is the same as --jobs N")
        with closing(open_executor(self.on)) as executor:
            yield executor

    def inspector(self) -> Callable[..., Any]:
        """Loads the function that opens the inspector, or draws a recording, from its entry point, so that the engine
        imports no UI. Raises UsageError: it is not installed."""
        from importlib.metadata import entry_points  # slow to import

        if (entry_point := next(iter(entry_points(group="secateur.inspector")), None)) is None:
            raise UsageError("the inspector is not installed", hint="install secateur again: docs/use/install.md")
        inspector: Callable[..., Any] = entry_point.load()
        return inspector

    def progress_bar(self, unit: str = "files", meanwhile: str = "") -> ProgressBar:
        """Returns a progress bar, to be closed; see there."""
        return ProgressBar(self, unit, meanwhile)


_PROCESSES = re.compile(r"processes:(\d{1,4})")


def open_executor(address: str) -> Executor:
    """The executor at an address, to be closed: `processes:4` of this machine, or a cluster at `tcp://127.0.0.1:8786`
    or `tls://host:8786`.

    Raises:
        UsageError: it is no address, or not a safe one.
        SecateurError: as `connect`.
    """
    if (matched := _PROCESSES.fullmatch(address)) is None:
        from secateur.executors.dask_cluster import connect

        return connect(address)
    from secateur.executors.pool import MOST_PROCESSES, ProcessPool

    processes = int(matched[1])
    if not 1 <= processes <= MOST_PROCESSES:
        raise UsageError(f"--on {address} is not allowed", hint=f"from processes:1 to processes:{MOST_PROCESSES}")
    return ProcessPool(processes, os.environ)


def sample_or_path(text: str) -> Path:
    """Returns the folder that a text names, where nothing may be fetched."""
    from secateur.sources.named import folder_of

    return folder_of(text, directories.cache_dir(os.environ))


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


def run_guarded(run: Callable[[CommandCall], int], options: CommandCall) -> int:
    """Runs a command. Errors become a message, a hint and an exit code: no traceback without --debug."""
    try:
        with unwound():
            return run(options)
    except SecateurError as error:
        if options.debug:
            raise
        return failure(error, as_json=options.format == "json")
    except KeyboardInterrupt:
        return report_interruption(as_json=options.format == "json")
    except Exception as error:
        if options.debug:
            raise
        if isinstance(error, OSError) and directories.current_folder() is None:
            gone = SecateurError(
                "the working folder no longer exists", hint="change to another folder", code="NO_WORKING_FOLDER"
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
