"""The part of a repository that answers are drawn from (`graph_rag.only`), and what is said of it.

Everything else stays as it is: words are weighed over all files, calls lead through all of them, and what lies
elsewhere is a candidate that is dropped with this reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np

from secateur.index.facts.snapshot import Snapshot
from secateur.model import BoolArray, Notice
from secateur.sources.parts import RepositoryPart

ONLY = "only"
"""Code of the notice that answers are drawn from a part."""

_known: WeakKeyDictionary[Snapshot, tuple[tuple[str, ...], BoolArray]] = WeakKeyDictionary()
"""The rows of the part that was asked for last."""


def rows_in_part(snapshot: Snapshot, only: Sequence[str]) -> BoolArray | None:
    """True for fragments of the part; None where it is all. Raises UsageError: one is no glob."""
    if not only:
        return None
    globs, known = tuple(only), _known.get(snapshot)
    if known is None or known[0] != globs:
        part = RepositoryPart(globs)
        files = np.array([part.holds(path) for path in snapshot.paths], dtype=np.bool_)
        known = _known[snapshot] = globs, files[snapshot.file] if len(snapshot) else np.zeros(0, dtype=np.bool_)
    return known[1]


def part_notices(only: Sequence[str], elsewhere: BoolArray) -> list[Notice]:
    """The notice that a part is asked for, and how many candidates lie elsewhere."""
    if not only:
        return []
    inside = int((~elsewhere).sum())
    none = "" if inside else "No candidate lies there. "
    left = f"{int(elsewhere.sum()):,} candidates elsewhere are left out."
    return [Notice(ONLY, f"Drawn from {', '.join(only)} alone (--only). {none}{left}")]
