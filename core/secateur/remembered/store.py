"""Reads and changes a small JSON file in the user's folder, one for each repository. The file has a limited size, is
replaced atomically, and is changed by one process at a time.

    <configuration folder>/repositories/<name>-<digest of the repository's path>/preferences.json

If a file cannot be read, the reader gets an error that says why. The next change sets it aside and begins a new one.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from secateur.errors import SecateurError, reason_of, shown
from secateur.index.store.folder import folder_name, remove_leftovers, replacing, set_aside
from secateur.recognised import without_recognised
from secateur.system.files import one_at_a_time

FOLDER = "repositories"
SAID_FILE = "said.json"  # what was said about a repository, so that it is said once

MAX_BYTES = 1 << 20  # a larger file is not read

VERSION = 1

_ABSENT = (FileNotFoundError, NotADirectoryError)


class RememberedError(SecateurError):
    """A remembered file cannot be read or written. `why` says it without the path, which differs between machines."""

    default_code = "REMEMBERED"

    def __init__(self, message: str, *, hint: str = "", code: str = "", why: str = "") -> None:
        super().__init__(f"{message}: {why}" if why else message, hint=hint, code=code)
        self.why = why


class RememberedFile:
    """One remembered file of a repository.

    file = RememberedFile(config_dir, root, "preferences.json")
    file.read()                                      # {} if nothing is remembered yet
    file.update(lambda fields: fields | {"a": 1})    # takes the present fields, returns the new ones
    """

    def __init__(self, user_dir: Path, root: Path, name: str) -> None:
        self.path = user_dir / FOLDER / folder_name(root) / name

    def read(self) -> dict[str, Any]:
        """Reads the fields; {} if the file does not exist. Raises RememberedError: the file cannot be read, is too
        large, or is not one of ours."""
        try:
            with self.path.open("rb") as file:
                data = file.read(MAX_BYTES + 1)
        except _ABSENT:
            return {}
        except OSError as error:
            raise self._unreadable(reason_of(error)) from error
        if len(data) > MAX_BYTES:
            raise self._unreadable(f"it is larger than {MAX_BYTES:,} bytes")
        try:
            fields = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise self._unreadable("it is not JSON") from error
        if not isinstance(fields, dict) or fields.get("version") != VERSION:
            raise self._unreadable(f"it is not of version {VERSION}")
        return {name: value for name, value in fields.items() if name != "version"}

    def update(self, change: Callable[[dict[str, Any]], dict[str, Any]]) -> bool:
        """Replaces the fields by the result of `change`, while other processes wait. Returns True if an unreadable file
        was set aside. Raises RememberedError: the folder cannot be written, or the fields are too large."""
        folder, broken = self.path.parent, False
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with one_at_a_time(folder):
                try:
                    fields = self.read()
                except RememberedError:
                    fields, broken = {}, True
                text = json.dumps({"version": VERSION, **change(fields)}, ensure_ascii=True, indent=1)
                data = without_recognised(text).encode()
                if len(data) > MAX_BYTES:
                    raise self._unwritable(f"more than {MAX_BYTES:,} bytes would have to be kept")
                if broken:
                    set_aside(self.path)
                remove_leftovers(folder, self.path.name)
                with replacing(self.path) as file:
                    file.write(data)
        except OSError as error:
            raise self._unwritable(reason_of(error)) from error
        return broken

    def _unreadable(self, why: str) -> RememberedError:
        return RememberedError(f"cannot read {shown(self.path)}", why=why, hint="remove the file, or mend it")

    def _unwritable(self, why: str) -> RememberedError:
        hint = "SECATEUR_CONFIG_DIR names another folder"
        return RememberedError(f"cannot write {shown(self.path)}", why=why, hint=hint)


def first_time(user_dir: Path, root: Path, what: str) -> bool:
    """Returns True the first time this is asked about the repository, then False; False if it cannot be saved."""
    file, first = RememberedFile(user_dir, root, SAID_FILE), False
    with suppress(RememberedError):  # reads without writing, because most calls are not the first
        if what in _said(file.read()):
            return False

    def add(fields: dict[str, Any]) -> dict[str, Any]:
        nonlocal first
        said = _said(fields)
        first = what not in said
        return fields | {"said": [*said, what] if first else said}

    try:
        file.update(add)
    except RememberedError:
        return False
    return first


def _said(fields: dict[str, Any]) -> list[str]:
    said = fields.get("said")
    return [name for name in said if isinstance(name, str)] if isinstance(said, list) else []
