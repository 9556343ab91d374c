"""Reads files that secateur wrote, with a limit on their size and errors that name them.

JSON objects with two fields of one name are refused: readers differ in which of them counts.

    json.loads(text, object_pairs_hook=unique)
"""

from __future__ import annotations

import json
import re
from collections import Counter as Tally
from itertools import islice
from pathlib import Path
from typing import Any

from secateur.errors import too_large, unreadable
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
        return f"the field {clip(repr(self.field), LONGEST_SHOWN)} is there twice in one object{where}"


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
