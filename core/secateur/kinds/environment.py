"""The outside world that reading may use, and the values that pass into the protocol of a kind.

Reads files that secateur wrote, with a limit on their size and errors that name them.

JSON objects with two fields of one name are refused: readers differ in which of them counts.

    json.loads(text, object_pairs_hook=unique)
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field, structs

from secateur.directories import cache_dir, current_folder
from secateur.errors import UsageError, no_standard_input, shown, too_large, unreadable
from secateur.ledger import Notice
from secateur.progress import Progress, unreported
from secateur.redaction import Redactor
from secateur.settings import Committed, Loaded, Settings
from secateur.sources import samples
from secateur.sources.files import LeadsOut, confine_path
from secateur.sources.git_addresses import FetchOptions
from secateur.sources.named import folder_of, is_named

if TYPE_CHECKING:
    from secateur.llm.interface import Reply
import json
import re
from collections import Counter as Tally
from itertools import islice

from secateur.terminal import clip

LARGEST = 256 << 20  # most bytes of an input: a hundred times the largest window of any model


def read_file(path: Path, largest: int, what: str) -> bytes:
    """Returns the bytes of a regular file written by secateur. `what`: its kind for errors, such as "scenario". Raises
    SecateurError: `NO_SUCH_FILE`, `UNREADABLE`, `TOO_LARGE`: it has more than `largest` bytes."""
    try:
        if not path.is_file():
            missing = FileNotFoundError("there is no such file")
            raise unreadable(path, "it is not a regular file" if path.exists() else missing)
        with path.open("rb") as file:
            data = file.read(largest + 1)
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error
    if len(data) > largest:
        raise too_large(path, largest, what)
    return data


LONGEST_SHOWN = 120  # cells of a field's name in an error
_LINES_NAMED = 5


class DuplicateField(ValueError):
    """An object has two fields named `field`."""

    def __init__(self, field: str) -> None:
        super().__init__(field)
        self.field = field

    def message(self, text: str) -> str:
        """The error message, with the lines of `text` that have such fields."""
        lines = lines_of(text, re.escape(json.dumps(self.field, ensure_ascii=False)) + r"\s*:")
        where = f"; fields of that name are on lines {lines}" if lines else ""
        return f"the field {clip(repr(self.field), LONGEST_SHOWN)} appears twice in one object{where}"


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Makes an object of fields. Raises DuplicateField."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise DuplicateField(Tally(name for name, _ in pairs).most_common(1)[0][0])
    return fields


def lines_of(text: str, pattern: str) -> str:
    """Numbers of the first lines that match, for messages, or ""."""
    lines = [str(text.count("\n", 0, match.start()) + 1) for match in islice(re.finditer(pattern, text), _LINES_NAMED)]
    return ", ".join(dict.fromkeys(lines))


# Given values by name of `Input`: texts, lists of texts for repeatable inputs, bool for switches.
Inputs = Mapping[str, Any]

# Loads the settings in force for a folder, or for the configuration files of a commit.
Load = Callable[[Path | None, Committed | None], Loaded]


Rehearsal = Callable[[Settings], Sequence[tuple[str, bool]]]  # settings -> nearly `Ledger.ranked` under them


class Deciding(Struct, frozen=True):
    """Further arguments of one decision: its progress, and replies of a model."""

    progress: Progress = unreported
    replies: Sequence[Reply] = ()  # to all questions so far, in order; the outcome holds only new questions


ALONE = Deciding()  # a decision without progress and replies


class Environment(Struct, frozen=True):
    """The outside world that reading may use. Injected, so that reading is the same in a test and on a screen."""

    stdin: Callable[[int], bytes] | None = None  # reads at most so many bytes; None: `-` names no input
    regular: bool = False  # refuse devices and pipes
    ahead: bool = False  # measure also for other settings, because knobs will be turned
    form: str = ""  # the output format, if tokens are counted in it
    folder: Path | None = None  # the folder that untrusted names must stay in; None: the user's own names
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    progress: Progress = unreported
    notices: tuple[Notice, ...] = ()  # about the settings, if the output includes them
    trusts_git_dir: Callable[[], bool] = bool  # whether the user's settings allow a git folder elsewhere
    found: dict[str, Any] = field(default_factory=dict)  # results of `Kind.load` for `Kind.read`
    shared: dict[Hashable, Any] | None = None  # shared by several readings and closed by its maker; None: nothing
    redactor: Redactor = field(default_factory=Redactor)  # removes credentials from the data of `bytes_of`
    fetching: FetchOptions | None = None  # allows git URLs to be fetched; None: only cached ones
    moving: bool = False  # with `shared`: only the last reading is used, so one index may move between commits

    def redacting(self, settings: Settings) -> Environment:
        """Returns an environment for one reading under these settings, in which markers are numbered from 1."""
        return structs.replace(self, redactor=Redactor.of(settings.redaction, self.cache))

    @property
    def cache(self) -> Path:
        """The user's cache folder."""
        return cache_dir(self.environ)

    @property
    def base(self) -> Path | None:
        """The folder that relative names start from; None if the working folder was removed."""
        return self.folder or current_folder()

    def folder_of(self, name: str) -> Path:
        """The folder of a name, fetched if allowed; see `secateur.sources.named.folder_of`. Raises UsageError: a git
        URL among untrusted names, which must stay in `folder`."""
        if self.folder is None or name.startswith("sample:"):
            return folder_of(name, self.cache, self.fetch_options)
        if is_named(name):
            raise UsageError(f"{shown(name)} is not a path below {shown(self.folder)}", hint="name a path below it")
        return folder_of(str(self.place_of(name)), self.cache)

    def name_of(self, path: str) -> str:
        """The name that stands for a path on any machine: `sample:NAME/…` in an unpacked sample, else the path."""
        return samples.name_of(path, self.cache)

    def place_of(self, name: str) -> Path:
        """The path of a named file. Raises UsageError: the name leads out of `folder` (`secateur.sources.files`)."""
        if self.folder is None:
            return Path(name)
        try:
            confine_path(name, self.folder, noun=shown(self.folder))
        except LeadsOut as error:
            raise UsageError(f"{shown(name)} {error}", hint="name a path below that folder") from error
        return self.folder / name

    @property
    def within(self) -> Sequence[Path] | None:
        """The folders that repositories of a workspace must lie in, as `read_workspace` takes them; None for the user's
        own names."""
        return None if self.folder is None else [self.folder.resolve()]

    @property
    def fetch_options(self) -> FetchOptions | None:
        """`fetching`, with the progress of this reading unless it has its own."""
        if self.fetching is None or self.fetching.reporting is not None:
            return self.fetching
        return structs.replace(self.fetching, reporting=lambda: nullcontext(self.progress))

    def bytes_of(
        self, name: str, what: str, hint: str = "", flag: str = "", instead: str = "name a file instead of -"
    ) -> bytes:
        """Reads a file, a pipe, or with `-` standard input, without credentials.

        Args:
            what: the kind of input for errors, such as "transcript".
            flag: the flag that named it, for errors of commands that read several.
            instead: what to do if there is no standard input.

        Raises:
            UsageError: there is no standard input, or the name leads out of `folder`.
            SecateurError: `NO_SUCH_FILE`, `UNREADABLE`, `TOO_LARGE`.
        """
        if name == "-" and not self.regular:
            if self.stdin is None:
                raise no_standard_input(what, instead, flag=flag)
            data = self.stdin(LARGEST + 1)
        else:
            path = self.place_of(name)
            try:
                mode = path.stat().st_mode
                if self.regular and not stat.S_ISREG(mode):
                    raise unreadable(name, "it is a folder" if stat.S_ISDIR(mode) else "it is not a file", flag=flag)
                with path.open("rb") as file:
                    data = file.read(LARGEST + 1)
            except (OSError, ValueError) as error:
                raise unreadable(name, error, hint=hint, flag=flag) from error
        if len(data) > LARGEST:
            raise too_large("standard input" if name == "-" else name, LARGEST, what, flag=flag)
        return self.redactor.data(data, "" if name == "-" else name, self.progress)
