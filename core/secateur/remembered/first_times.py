"""Remembers what was said about a repository, so that it is said once."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from secateur.remembered.store import RememberedError, RememberedFile

FILE_NAME = "said.json"


def first_time(user_dir: Path, root: Path, what: str) -> bool:
    """Returns True the first time this is asked about the repository, then False; False if it cannot be saved."""
    file, first = RememberedFile(user_dir, root, FILE_NAME), False
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
