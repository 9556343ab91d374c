"""Retrieval on a handful of files: an engine in memory, asked once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from secateur import Engine, Settings
from secateur.model import Channel, Pool
from secateur.settings import with_profile, with_values
from support.memory_source import MemorySource


def pool_for(files: Mapping[str, str | bytes], query: str, *, profile: str = "spec", **changes: Any) -> Pool:
    """The pool of a query on these files; `changes` are dotted keys with `__` for the point."""
    settings = with_values(
        with_profile(Settings(), profile), {name.replace("__", "."): value for name, value in changes.items()}
    )
    with Engine.of(MemorySource(files), settings) as engine:
        return engine.retrieve(query)


def by_name(pool: Pool, column: Any) -> dict[str, Any]:
    """A column by qualified name."""
    return dict(zip(pool.qualname, column.tolist() if hasattr(column, "tolist") else column, strict=True))


def channels(pool: Pool, symbol: str) -> set[str]:
    """Names of the ways a candidate was found."""
    mask = int(pool.channels[pool.row_of[symbol]])
    return {channel.name for channel in Channel if mask >> channel & 1}
