"""The benches by name: one for each kind of context, the key that opens it, and what help and title line say of it."""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple

from secateur.kinds import registry

LAST_KEY = 9
"""Benches that a digit opens; further ones are opened from the command palette, or by a key of the user's."""


class BenchName(NamedTuple):
    """A bench in the help and in the command palette."""

    name: str  # as in `--bench`
    title: str
    key: str  # opens it; "" for none
    about: str


class BenchTitle(NamedTuple):
    """A bench in the title line of the present screen."""

    key: str  # as printed; "" for none
    title: str
    open: bool
    action: str = ""  # opens it


BENCHES = MappingProxyType(
    {
        name: BenchName(name, bench.title, str(number) if number <= LAST_KEY else "", bench.about)
        for number, (name, bench) in enumerate(registry.benches().items(), 1)
    }
)
"""Benches there are: those of our kinds, whose keys stay what they are, then those of other distributions."""
