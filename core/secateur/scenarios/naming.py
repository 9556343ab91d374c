"""A name that is proposed for a new file: a scenario, or a report."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from secateur.kinds.base import Kind
from secateur.scenarios.location import SAMPLE
from secateur.scenarios.scenario import SUFFIX

MOST_WORDS = 6
"""Words of a query that make a name."""

LONGEST = 40
"""Characters of a name."""

_WORDS = re.compile(r"[^\W_]+")


def proposed_path(kind: Kind[Any, Any], inputs: Mapping[str, Any], base: Path) -> Path:
    """A path where no file is: named for the query, else for the file that is read, at the root of the repository that
    holds what is read; where there is none in the folder `base`."""
    folder = next((root for place in _places(kind, inputs, base) if (root := _repository(place))), base)
    return folder / proposed_name(kind, inputs, folder, SUFFIX)


def proposed_name(kind: Kind[Any, Any], inputs: Mapping[str, Any], folder: Path, ending: str) -> str:
    """A name that no file in the folder has: from the query, else from the file that is read."""
    name = _name(kind, inputs)
    numbered = (f"{name}{f'-{number}' if number > 1 else ''}{ending}" for number in range(1, 1000))
    return next((one for one in numbered if not (folder / one).exists()), f"{name}{ending}")


def _name(kind: Kind[Any, Any], inputs: Mapping[str, Any]) -> str:
    texts = [inputs[one.name] for one in kind.inputs if one.lines and isinstance(inputs[one.name], str)]
    first = next((line for text in texts for line in text.splitlines() if _WORDS.search(line)), "")
    words = [word.lower() for word in _WORDS.findall(first)[:MOST_WORDS]]
    while len(words) > 1 and len("-".join(words)) > LONGEST:
        words.pop()
    if words:
        return "-".join(words)[:LONGEST]
    stems = ("-".join(_WORDS.findall(Path(text).stem)) for text in _paths(kind, inputs))
    return next(filter(None, stems), kind.name)[:LONGEST]


def _paths(kind: Kind[Any, Any], inputs: Mapping[str, Any]) -> Iterator[str]:
    for one in kind.inputs:
        value = inputs[one.name]
        if one.role == "path":
            yield from (text for text in (value if isinstance(value, list) else [value]) if text and text != "-")


def _places(kind: Kind[Any, Any], inputs: Mapping[str, Any], base: Path) -> Iterator[Path]:
    yield from (base / text for text in _paths(kind, inputs) if not text.startswith(SAMPLE))


def _repository(place: Path) -> Path | None:
    """The root of the repository that holds a place."""
    try:
        real = place.resolve()
        return next((above for above in (real, *real.parents) if (above / ".git").exists()), None)
    except (OSError, RuntimeError, ValueError):
        return None
