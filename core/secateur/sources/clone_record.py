"""The record in a clone: its URL and the time of the fetch. Every repeated command imports this module, so it imports
nothing that fetches."""

from __future__ import annotations

import json
import time
from pathlib import Path

from msgspec import Struct

from secateur.errors import UsageError
from secateur.sources.git_addresses import git_address
from secateur.sources.provenance import small_file

RECORD = "secateur-clone.json"


class Clone(Struct, frozen=True):
    """The origin of a clone."""

    url: str
    fetched: int  # seconds since 1970
    shallow: bool = False  # the newest commit alone, as it was asked for

    @property
    def when(self) -> str:
        """The minute in which it was fetched, in UTC: the text is the same whenever it is read."""
        return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(self.fetched))


def clone_at(folder: Path) -> Clone | None:
    """Returns the record of a clone; None for any other folder."""
    if not (content := small_file(folder / RECORD)):
        return None
    try:
        record = json.loads(content)
        url, fetched, shallow = record["url"], record["fetched"], record["shallow"]
        if not isinstance(url, str) or git_address(url) is None or not 0 <= int(fetched) < 1 << 40:
            return None
        return Clone(url, int(fetched), bool(shallow))
    except (ValueError, KeyError, TypeError, UsageError):  # a file that secateur did not write
        return None
