"""Proposes a name for a new file: a scenario, or a report."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from secateur import Kind

MOST_WORDS = 6  # most words of a query in a name
LONGEST = 40  # most characters of a name
_WORDS = re.compile(r"[^\W_]+")


def propose_name(kind: Kind[Any, Any], inputs: Mapping[str, Any], folder: Path, ending: str) -> str:
    """Proposes a name that no file in the folder has, from the query or else from the input file."""
    name = _name(kind, inputs)
    numbered = (f"{name}{f'-{index}' if index > 1 else ''}{ending}" for index in range(1, 1000))
    return next((candidate for candidate in numbered if not (folder / candidate).exists()), f"{name}{ending}")


def _name(kind: Kind[Any, Any], inputs: Mapping[str, Any]) -> str:
    texts = [inputs[input_.name] for input_ in kind.inputs if input_.lines and isinstance(inputs[input_.name], str)]
    first = next((line for text in texts for line in text.splitlines() if _WORDS.search(line)), "")
    words = [word.lower() for word in _WORDS.findall(first)[:MOST_WORDS]]
    while len(words) > 1 and len("-".join(words)) > LONGEST:
        words.pop()
    if words:
        return "-".join(words)[:LONGEST]
    return next(filter(None, ("-".join(_WORDS.findall(Path(text).stem)) for text in _paths(kind, inputs))), kind.name)[
        :LONGEST
    ]


def _paths(kind: Kind[Any, Any], inputs: Mapping[str, Any]) -> Iterator[str]:
    for input_ in kind.inputs:
        value = inputs[input_.name]
        if input_.role == "path":
            yield from (text for text in (value if isinstance(value, list) else [value]) if text and text != "-")
