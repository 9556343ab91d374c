"""Links changed files that use each other: calls of a name that only one of them defines, and tests with the tested
file.

The links come from the changed files alone, without an index: a call of a name is taken to mean the one changed file
that defines it. That is good enough to choose between two chunks, its only use.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from secateur.kinds.diff.file_parts import Outline
from secateur.model import FragmentKind

LINKS_OF_A_FILE = 12
"""The strongest links kept per file: a helper that all files use belongs to no file in particular."""

FURTHER_USE = 0.5
"""Each further name adds this share of the distance to 1."""

_DEFINES = (FragmentKind.FUNCTION, FragmentKind.METHOD, FragmentKind.CLASS)
_TEST = re.compile(r"(?:test[_-])?(.+?)(?:[._-](?:test|spec|tests))?")
_SHORTEST_NAME = 3


def links(outlines: Mapping[int, Outline], paths: Mapping[int, str]) -> dict[tuple[int, int], float]:
    """Returns the value of two files sharing a chunk, by their numbers, the lower first: 0.5 for the first use, rising
    to 1; 1 for a test and its file.

    Args:
        outlines: of the files with known content.
        paths: of all files, by number.
    """
    definitions: dict[str, int] = {}  # name -> the file that defines it, -1: several do
    for file, outline in sorted(outlines.items()):
        for name in {
            fragment.name
            for fragment in outline.facts.fragments
            if fragment.kind in _DEFINES and len(fragment.name) >= _SHORTEST_NAME
        }:
            definitions[name] = file if definitions.get(name, file) == file else -1
    uses: Counter[tuple[int, int]] = Counter()
    for file, outline in sorted(outlines.items()):
        for name in sorted({call.name for call in outline.facts.calls}):
            home = definitions.get(name, -1)
            if home >= 0 and home != file:
                uses[min(file, home), max(file, home)] += 1
    worth = {pair: 1 - FURTHER_USE**count for pair, count in uses.items()}
    stems: dict[tuple[str, str], list[int]] = {}
    for file, path in sorted(paths.items()):
        name, _, suffix = path.rpartition("/")[2].rpartition(".")
        stem = _TEST.fullmatch(name.lower())
        stems.setdefault((stem[1] if stem else name.lower(), suffix), []).append(file)
    for numbers in stems.values():
        if len(numbers) == 2:
            worth[numbers[0], numbers[1]] = 1.0
    links_of_file: Counter[int] = Counter()
    strongest = {}
    for pair in sorted(worth, key=lambda pair: (-worth[pair], pair)):
        if max(links_of_file[pair[0]], links_of_file[pair[1]]) < LINKS_OF_A_FILE:
            links_of_file.update(pair)
            strongest[pair] = worth[pair]
    return strongest
