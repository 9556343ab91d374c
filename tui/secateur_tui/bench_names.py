"""The benches by name: the key that opens each, and what help and title line say of it."""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple


class BenchName(NamedTuple):
    """A bench in the help and in the command palette."""

    name: str  # as in `--bench`
    title: str
    key: str  # opens it
    about: str


class BenchTitle(NamedTuple):
    """A bench in the title line of the present screen."""

    key: str  # as printed; "" for none
    title: str
    open: bool


BENCHES = MappingProxyType(
    {
        bench.name: bench
        for bench in (
            BenchName("search", "Search", "1", "what answers a query from a repository"),
            BenchName("files", "Files", "2", "files under a number of tokens"),
            BenchName("conversation", "Conversation", "3", "a transcript under a safe zone"),
            BenchName("envelope", "Envelope", "4", "a prompt envelope within a model's budget"),
            BenchName("diff", "Diff", "5", "a pull request in chunks"),
        )
    }
)
"""Benches there are; their keys stay what they are when others come between them."""
