"""How cost grows with the repository: cold index, size, opening, queries, knob steps, memory, from a thousand fragments
to a million.

    PYTHONPATH=tests python tests/benchmarks/growth.py --repo PATH [--sizes 1000 10000 100000 1000000] [--runs 1]

Up to the size of --repo: a part of its files, drawn at random with a fixed seed, so that languages and kinds of files
stay as they are. Above it: copies of the whole, each with names of its own. Vocabulary grows as it does in the
repository itself: the exponent of Heaps' law (distinct words ~ words^beta) is fitted between a part and the whole; in
each copy that share of the words is renamed, the rarest first, which makes the vocabulary of all copies follow it;
folders and files are always renamed, in paths and in the text that imports them, so that copies do not call each other.
Renaming swaps letters, vowels for vowels, so that words still fall into parts as before. No history: hotspots are 0
throughout. Prints Markdown and, for each column, the exponent in bytes of source.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path
from typing import Any

import numpy as np
from inside import settings_of
from measuring import Cost, empty_cache, exponent, folder_bytes, megabytes, middle, tracked
from measuring import table as markdown
from secateur.engine import Engine
from selection import measure, synthetic
from speed import inside, one_line, told

SEED = 11
PART = 0.25
"""Share of the files from which vocabulary growth is measured."""

KEPT_NAMES = frozenset({"__init__", "__main__", "index", "main", "mod", "lib", "conftest", "setup", "package"})
"""Names of files that mean something to a language: renamed they would not be imports any more."""

_WORD = re.compile(r"[A-Za-z][A-Za-z_]{2,}")
_VOWELS, _CONSONANTS = "aeiou", "bcdfghjklmnpqrstvwxyz"


@dataclass(frozen=True, slots=True)
class Original:
    """A repository as it is copied."""

    texts: dict[str, str]  # path -> text
    rarest: list[str]  # words, fewest occurrences first
    places: frozenset[str]  # words of paths
    beta: float

    def renamed_share(self, copies: int) -> float:
        """Share of the words that each further copy renames, so that `copies` of them hold copies^beta times the
        vocabulary."""
        return (copies**self.beta - 1) / (copies - 1) if copies > 1 else 0.0


@dataclass(frozen=True, slots=True)
class Size:
    """What was measured at one size."""

    fragments: int
    source: int
    cold: Cost
    phases: dict[str, list[float]]
    disk: int
    snapshot: int
    warm: dict[str, Any]


def main() -> int:
    """Measure each size, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repo", type=Path, required=True, help="a git repository, the larger the better")
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000, 1_000_000], help="fragments, about"
    )
    parser.add_argument("--runs", type=int, default=1, help="cold runs of each size; the median counts (default 1)")
    options = parser.parse_args()
    original, fragments = read(options.repo.resolve())
    print(f"vocabulary of {options.repo.name} ~ words^{original.beta:.2f}\n")
    fixed = one_line()
    sizes = []
    for wanted in sorted(options.sizes):
        print(f"{wanted:,} fragments", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory(prefix="bench-growth-") as folder:
            place = Path(folder) / "grown"
            source = grow(original, fragments, wanted, place)
            sizes.append(at_size(place, source, options.runs))
        print(table(sizes, fixed), "\n", flush=True)
    for rows in options.sizes:
        decide, _ = measure(synthetic(rows), settings_of())
        print(f"knob step on {rows:,} made-up candidates: {decide}")
    return 0


def read(repository: Path) -> tuple[Original, dict[str, int]]:
    """Texts of all tracked files that are indexed, and how many fragments each has."""
    with empty_cache() as cache, Engine.open(repository, settings_of(), cache_dir=cache) as engine:
        engine.refresh()
        snapshot = engine._current()
        fragments = dict(
            zip(snapshot.paths, np.bincount(snapshot.file, minlength=len(snapshot.paths)).tolist(), strict=True)
        )
    texts = {
        name: path.read_bytes().decode("utf-8", "replace")
        for path in tracked(repository)
        if (name := str(path.relative_to(repository))) in fragments
    }
    words = Counter(word for text in texts.values() for word in _WORD.findall(text))
    chosen = _drawn(list(texts))[: int(PART * len(texts))]
    part = Counter(word for path in chosen for word in _WORD.findall(texts[path]))
    beta = log(len(words) / len(part)) / log(words.total() / part.total())
    places = frozenset(word for path in texts for word in _WORD.findall(path.rpartition(".")[0])) - KEPT_NAMES
    return Original(texts, sorted(words, key=lambda word: (words[word], word)), places, beta), fragments


def _drawn(paths: list[str]) -> list[str]:
    """All paths in a random order that is always the same."""
    paths = sorted(paths)
    random.Random(SEED).shuffle(paths)
    return paths


def grow(original: Original, fragments: dict[str, int], wanted: int, place: Path) -> int:
    """Write files of about `wanted` fragments; their bytes."""
    whole = sum(fragments.values())
    copies = -(-wanted // whole)
    renamed = frozenset(original.rarest[: int(original.renamed_share(copies) * len(original.rarest))]) | original.places
    written = left = 0
    for copy in range(copies):
        left = wanted - copy * whole
        swap = _swapped(copy)
        for path in _part(original, fragments, left):
            target = place / f"part{copy:03}" / (_renamed(path, original.places, swap) if copy else path)
            target.parent.mkdir(parents=True, exist_ok=True)
            data = (_renamed(original.texts[path], renamed, swap) if copy else original.texts[path]).encode(
                "utf-8", "replace"
            )
            target.write_bytes(data)
            written += len(data)
    return written


def _part(original: Original, fragments: dict[str, int], wanted: int) -> Iterator[str]:
    """Files, at random, until they hold `wanted` fragments."""
    for path in _drawn(list(original.texts)):
        if wanted <= 0:
            return
        wanted -= fragments[path]
        yield path


def _swapped(copy: int) -> dict[int, int]:
    """Letters for letters, vowels among themselves; each copy its own."""
    chooser = random.Random(SEED + copy)
    table: dict[int, int] = {}
    for letters in (_VOWELS, _CONSONANTS):
        others = "".join(chooser.sample(letters, len(letters)))
        table |= str.maketrans(letters + letters.upper(), others + others.upper())
    return table


def _renamed(text: str, words: frozenset[str], swap: dict[int, int]) -> str:
    return _WORD.sub(lambda found: found.group().translate(swap) if found.group() in words else found.group(), text)


def at_size(place: Path, source: int, runs: int) -> Size:
    """Index it, then open, ask and turn."""
    with empty_cache() as cache:
        colds = []
        for number in range(runs):
            with empty_cache() as fresh:
                colds.append(inside("cold", place, fresh if number else cache))
        figures = told(colds[0])
        warm = told(inside("warm", place, cache))
        snapshot = sum(path.stat().st_size for path in cache.rglob("*.arrays"))
        return Size(figures["fragments"], source, middle(colds), figures["phases"], folder_bytes(cache), snapshot, warm)


def table(sizes: Sequence[Size], fixed: int) -> str:
    """A row a size, and the exponents in bytes of source."""
    head = [
        "fragments",
        "source",
        "cold index",
        "memory, cold",
        "on disk",
        "snapshot",
        "opened",
        "query",
        "150 words",
        "changed files",
        "knob step",
        "memory, warm",
    ]
    rows = [
        [f"{size.fragments:,}", *(shape(value) for value, shape in zip(_values(size, fixed), SHAPES, strict=True))]
        for size in sizes
    ]
    if len(sizes) > 1:
        columns = list(zip(*(_values(size, fixed) for size in sizes), strict=True))
        rows.append(["exponent", *(f"{exponent(columns[0], column):.2f}" for column in columns)])
        last = [column[-2:] for column in columns]
        rows.append(["of the last step", *(f"{exponent(last[0], column):.2f}" for column in last)])
    return markdown(head, rows)


def _seconds(value: float) -> str:
    return f"{value:.2f} s"


def _milliseconds(value: float) -> str:
    return f"{value * 1e3:,.1f} ms"


SHAPES = (megabytes, _seconds, megabytes, megabytes, megabytes, *[_milliseconds] * 5, megabytes)


def _values(size: Size, fixed: int) -> tuple[float, ...]:
    """Figures in the order of the head; times are processor medians, memory when warm is what the index adds."""
    middles = (
        float(np.median([processor for processor, _ in size.warm[name]])) for name in ("short", "long", "look", "knob")
    )
    return (
        size.source,
        size.cold.cpu,
        size.cold.peak,
        size.disk,
        size.snapshot,
        size.warm["open"][0],
        *middles,
        max(size.warm["resident"] - fixed, 1e6),
    )


if __name__ == "__main__":
    sys.exit(main())
