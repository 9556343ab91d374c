"""The outside world that reading may use, and the values that pass into the protocol of a kind."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from secateur.directories import cache_dir, current_folder
from secateur.errors import UsageError, shown
from secateur.executors.executor import Executor
from secateur.inputs import read_input
from secateur.model import Notice
from secateur.progress import Progress, unreported
from secateur.redaction import Redactor
from secateur.settings import Committed, Loaded, Settings
from secateur.sources import samples
from secateur.sources.confined import LeadsOut, confine_path
from secateur.sources.fetch_options import FetchOptions
from secateur.sources.named import folder_of, is_named

if TYPE_CHECKING:
    from secateur.llm.interface import Reply

Inputs = Mapping[str, Any]
"""Values that were given, by name of `Input`: texts; lists of texts where an input is repeatable; switches as bool."""

Load = Callable[[Path | None, Committed | None], Loaded]
"""Loads the settings in force for a folder, or for the configuration files of a commit."""


Rehearsal = Callable[[Settings], Sequence[tuple[str, bool]]]
"""Settings -> what `Kind.ranked` would say under them, nearly."""


@dataclass(frozen=True)
class Deciding:
    """The things that one decision goes on beside what it is pure in."""

    progress: Progress = unreported
    replies: Sequence[Reply] = ()  # to all questions so far, in their order; the outcome has only further questions


ALONE = Deciding()
"""A decision that nobody waits for, with no replies."""


@dataclass(frozen=True)
class Environment:
    """The outside world that reading may use. Injected, so that reading is the same in a test and on a screen."""

    stdin: Callable[[int], bytes] | None = None  # reads at most so many bytes; None: `-` names no input
    regular: bool = False  # refuse devices and pipes
    ahead: bool = False  # measure also what only other settings would need: knobs are going to be turned
    form: str = ""  # the format that what goes out is printed in, where its tokens are those of that format
    folder: Path | None = None  # that names start from, and lead nowhere else: they came with it; None: the user's own
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    progress: Progress = unreported
    notices: tuple[Notice, ...] = ()  # about the settings, where what goes out names them
    trusts_git_dir: Callable[[], bool] = bool  # whether the user's own settings allow a git folder that lies elsewhere
    found: dict[str, Any] = field(default_factory=dict)  # by loading the settings, for reading to go on from
    shared: dict[Hashable, Any] | None = None  # what several readings use; who made it closes it; None: nothing
    advises: bool = False  # a person reads what is printed: what may help them with the first answer is worth its time
    redactor: Redactor = field(default_factory=Redactor)  # takes credentials out of what `bytes_of` reads
    fetching: FetchOptions | None = None  # allows git URLs to be fetched; None: those alone that are in the cache
    executor: Executor | None = None  # whose workers read and search a workspace; None: this process
    store: str = ""  # of the snapshots, as `SnapshotStore` takes it
    moving: bool = False  # with `shared`: only the last reading is looked at, so one index may go through commits

    def redacting(self, settings: Settings) -> Environment:
        """The same for one reading under these settings: markers are numbered from the beginning."""
        return replace(self, redactor=Redactor.of(settings.redaction, self.cache))

    @property
    def cache(self) -> Path:
        """The user's cache folder."""
        return cache_dir(self.environ)

    @property
    def base(self) -> Path | None:
        """The folder that relative names start from; None where the working folder was removed."""
        return self.folder or current_folder()

    def folder_of(self, name: str) -> Path:
        """The folder that a name stands for, fetched where that is allowed; see `secateur.sources.named.folder_of`.

        Raises:
            UsageError: a git URL where names start from a folder: what came with that folder may not choose one.
        """
        if self.folder is None or name.startswith("sample:"):
            return folder_of(name, self.cache, self.fetch_options)
        if is_named(name):
            raise UsageError(f"{shown(name)} is not a path below {shown(self.folder)}", hint="name a path below it")
        return folder_of(str(self.place_of(name)), self.cache)

    def name_of(self, path: str) -> str:
        """The name that stands for a path on any machine: `sample:NAME/…` in an unpacked sample, else the path."""
        return samples.name_of(path, self.cache)

    def place_of(self, name: str) -> Path:
        """The place of a file that is named.

        Raises:
            UsageError: names start from a folder, and this one leads out of it (`secateur.sources.confined`).
        """
        if self.folder is None:
            return Path(name)
        try:
            confine_path(name, self.folder, noun=shown(self.folder))
        except LeadsOut as error:
            raise UsageError(f"{shown(name)} {error}", hint="name a path below that folder") from error
        return self.folder / name

    @property
    def within(self) -> Sequence[Path] | None:
        """The folders that repositories of a workspace must lie in, as `read_workspace` takes them: where names start
        from a folder, its file came with it. None: it is the user's own."""
        return None if self.folder is None else [self.folder.resolve()]

    @property
    def fetch_options(self) -> FetchOptions | None:
        """`fetching`, with the progress of this reading where it has none of its own."""
        if self.fetching is None or self.fetching.reporting is not None:
            return self.fetching
        return replace(self.fetching, reporting=lambda: nullcontext(self.progress))

    def bytes_of(
        self,
        name: str,
        what: str,
        hint: str = "",
        flag: str = "",
        instead: str = "name a file instead of -",
    ) -> bytes:
        """The bytes of a file or of standard input, without credentials; see `secateur.inputs.read_input`, also for
        what it raises."""
        if name != "-":
            self.place_of(name)
        data = read_input(
            name,
            what,
            hint=hint,
            flag=flag,
            instead=instead,
            stdin=self.stdin,
            regular=self.regular,
            folder=self.folder,
        )
        return self.redactor.data(data, "" if name == "-" else name, self.progress)
