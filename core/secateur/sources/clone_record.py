"""The file in a clone that says what it is a clone of. Light: a repeated call of the command line imports this, and
nothing that fetches."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path

from secateur.errors import UsageError
from secateur.sources.git_addresses import git_address
from secateur.sources.provenance import small_file

RECORD = "secateur-clone.json"


@dataclass(frozen=True, slots=True)
class Clone:
    """Says what a clone is of."""

    url: str
    fetched: int  # seconds since 1970
    shallow: bool = False  # the newest commit alone, as it was asked for

    @property
    def when(self) -> str:
        """The minute at which it was fetched, in UTC: the same words at every later look."""
        return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(self.fetched))


def clone_at(folder: Path) -> Clone | None:
    """The clone that a folder is; None for any other folder."""
    content = small_file(folder / RECORD)
    if not content:
        return None
    try:
        record = json.loads(content)
        url, fetched, shallow = record["url"], record["fetched"], record["shallow"]
        if not isinstance(url, str) or git_address(url) is None or not 0 <= int(fetched) < 1 << 40:
            return None
        return Clone(url, int(fetched), bool(shallow))
    except (ValueError, KeyError, TypeError, UsageError):  # somebody else's file
        return None
