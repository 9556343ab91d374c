"""The statistics of a whole workspace that the scores of its fragments depend on: the rarity of words and names, the
mean of the vectors, and the values that hotspots are ranked among.

    whole = WorkspaceStatistics.merge([statistics_of(part) for part in parts])
    store.put(name, whole.to_arrays())
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from secateur.index.facts.hotspots import RankedValues
from secateur.index.facts.lexical import Hashes, hash_of
from secateur.index.facts.postings import TermCounts
from secateur.index.store.arrayfile import Arrays
from secateur.model import IntArray

COUNTED = ("body", "names", "paths", "files", "commits", "name_ends", "path_ends", "own_path_ends")
"""Names of arrays: the fields of `Snapshot.word_fields` in their order, the ends of names, the ends of all paths, and
the ends of the paths of files that are not FOREIGN."""


@dataclass(frozen=True, eq=False)
class WorkspaceStatistics:
    """See the module docstring.

    Attributes:
        counts: the counts by the names in `COUNTED`.
        vectors: the sum of the vectors, and the number of vectors that are not zero.
        churns, complexities: the values that files and fragments are ranked among.
    """

    counts: Mapping[str, TermCounts]
    vectors: tuple[IntArray, int]
    churns: RankedValues
    complexities: RankedValues

    @classmethod
    def merge(cls, parts: Sequence[WorkspaceStatistics]) -> WorkspaceStatistics:
        """Merges the statistics of all parts."""
        total = np.asarray(np.sum([part.vectors[0] for part in parts], axis=0, dtype=np.int64))
        return cls(
            {name: TermCounts.merge([part.counts[name] for part in parts]) for name in COUNTED},
            (total, sum(part.vectors[1] for part in parts)),
            RankedValues.merge([part.churns for part in parts]),
            RankedValues.merge([part.complexities for part in parts]),
        )

    @property
    def fragments(self) -> int:
        """The number of fragments."""
        return self.counts["name_ends"].documents

    @property
    def files(self) -> int:
        """The number of files."""
        return self.counts["path_ends"].documents

    @property
    def word_fields(self) -> list[TermCounts]:
        """The counts of words by field, in the order of `Snapshot.word_fields`."""
        return [self.counts[name] for name in COUNTED[:5]]

    def count_files(self, path: str) -> int:
        """Counts the files that a written path may mean."""
        return self.counts["path_ends"].count(_path_end(path))

    def count_own_files(self, path: str) -> int:
        """Counts such files that are not FOREIGN."""
        return self.counts["own_path_ends"].count(_path_end(path))

    def count_named(self, *parts: str) -> int:
        """Counts the fragments whose name ends with one part or two, which are in lower case."""
        return self.counts["name_ends"].count(hash_of(".".join(parts) if len(parts) > 1 else f".{parts[0]}"))

    def to_arrays(self) -> Arrays:
        """Named arrays for a file."""
        total, described = self.vectors
        arrays = {name: array for prefix in COUNTED for name, array in self.counts[prefix].to_arrays(prefix).items()}
        return arrays | {
            "vectors": np.append(total, described),
            "churns": np.stack([self.churns.values, self.churns.counts]),
            "complexities": np.stack([self.complexities.values, self.complexities.counts]),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> WorkspaceStatistics:
        """The inverse of `to_arrays`."""
        return cls(
            {name: TermCounts.from_arrays(arrays, name) for name in COUNTED},
            (arrays["vectors"][:-1], int(arrays["vectors"][-1])),
            RankedValues(*arrays["churns"]),
            RankedValues(*arrays["complexities"]),
        )


def path_ends(paths: Sequence[str]) -> Hashes:
    """Returns the hashes that path ends are counted by: of the last part of each path, and of its last two parts."""
    parts = [path.split("/")[-2:] for path in paths]
    ends = [f"/{part[-1]}" for part in parts] + ["/".join(part) for part in parts if len(part) > 1]
    return np.fromiter(map(hash_of, ends), dtype=np.uint64, count=len(ends))


def _path_end(path: str) -> int:
    *folders, name = path.split("/")
    return hash_of(f"{folders[-1]}/{name}" if folders else f"/{name}")
