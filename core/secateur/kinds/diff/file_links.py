"""Links between changed files that use each other: calls of a name that only one of them defines, and tests beside what
they test.

Read from the files as changed, without an index: what calls a name is believed to mean the one changed file that
defines it. Good enough to choose between two chunks, and no more is done with it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from secateur.kinds.diff.file_parts import Outline
from secateur.model import FragmentKind

LINKS_OF_A_FILE = 12
"""Links kept per file, the strongest: a helper that all use belongs to none in particular."""

FURTHER_USE = 0.5
"""The share of what is missing to 1 that each further name adds."""

_DEFINES = (FragmentKind.FUNCTION, FragmentKind.METHOD, FragmentKind.CLASS)
_TEST = re.compile(r"(?:test[_-])?(.+?)(?:[._-](?:test|spec|tests))?")
_SHORTEST_NAME = 3


def links(outlines: Mapping[int, Outline], paths: Mapping[int, str]) -> dict[tuple[int, int], float]:
    """Worth of having two files in one chunk, by their numbers, the lower first: 0.5 for the first use, up to 1, and 1
    for a test of the other.

    Args:
        outlines: of the files whose content is known.
        paths: of all files, by number.
    """
    homes: dict[str, int] = {}  # name -> the file that defines it, -1: several do
    for number, outline in sorted(outlines.items()):
        for name in {
            fragment.name
            for fragment in outline.facts.fragments
            if fragment.kind in _DEFINES and len(fragment.name) >= _SHORTEST_NAME
        }:
            homes[name] = number if homes.get(name, number) == number else -1
    uses: Counter[tuple[int, int]] = Counter()
    for number, outline in sorted(outlines.items()):
        for name in sorted({call.name for call in outline.facts.calls}):
            home = homes.get(name, -1)
            if home >= 0 and home != number:
                uses[min(number, home), max(number, home)] += 1
    worth = {pair: 1 - FURTHER_USE**count for pair, count in uses.items()}
    stems: dict[tuple[str, str], list[int]] = {}
    for number, path in sorted(paths.items()):
        name, _, suffix = path.rpartition("/")[2].rpartition(".")
        stem = _TEST.fullmatch(name.lower())
        stems.setdefault((stem[1] if stem else name.lower(), suffix), []).append(number)
    for numbers in stems.values():
        if len(numbers) == 2:
            worth[numbers[0], numbers[1]] = 1.0
    kept: Counter[int] = Counter()
    found = {}
    for pair in sorted(worth, key=lambda pair: (-worth[pair], pair)):
        if max(kept[pair[0]], kept[pair[1]]) < LINKS_OF_A_FILE:
            kept.update(pair)
            found[pair] = worth[pair]
    return found
