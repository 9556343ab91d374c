"""Reads `linguist-generated` and `linguist-vendored` from `.gitattributes`, without git.

attributes = Attributes({".gitattributes": b"*.pb.go linguist-generated\\n"})
attributes.says("api/a.pb.go", GENERATED)   # True; None if no rule matches
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from secateur.kinds.diff.names import unquote
from secateur.sources.files import path_bytes, path_text
from secateur.sources.ignore import Rules

GENERATED = "linguist-generated"
VENDORED = "linguist-vendored"
FILE = ".gitattributes"

_LINE = re.compile(r'("(?:[^"\\]|\\.)*"|\S+)\s+(.*)', re.DOTALL)
_TRUE = ("", "true", "1", "set", "yes")


class Attributes:
    """The rules of all `.gitattributes` files of a tree, by their paths. The deepest file with a match decides."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._rules: dict[tuple[str, str], Rules] = {}
        for path, content in files.items():
            folder = path.rpartition("/")[0]
            for attribute in (GENERATED, VENDORED):
                patterns = list(_patterns(path_text(content), attribute))
                if patterns:
                    self._rules[folder, attribute] = Rules.of(patterns)

    def says(self, path: str, attribute: str) -> bool | None:
        """Tells whether the file at `path` has the attribute; None if no rule matches."""
        folder = path.rpartition("/")[0]
        while self._rules:
            rules = self._rules.get((folder, attribute))
            inside = path[len(folder) + 1 :] if folder else path
            decision = rules.decide(path_bytes(inside), is_folder=False) if rules else None
            if decision is not None or not folder:
                return decision
            folder = folder.rpartition("/")[0]
        return None


def _patterns(text: str, attribute: str) -> list[str]:
    """The patterns that set (or, with `!`, unset) an attribute, in order."""
    patterns = []
    for line in text.removeprefix("\ufeff").split("\n"):
        parts = _LINE.fullmatch(line.strip())
        if not parts or line.lstrip().startswith(("#", "!", "[attr]")):
            continue
        pattern = unquote(parts[1][1:-1]) if parts[1].startswith('"') else parts[1]
        for word in parts[2].split():
            name, equals, value = word.partition("=")
            if name == attribute:
                patterns.append(pattern if value.lower() in _TRUE or not equals else f"!{pattern}")
            elif name in (f"-{attribute}", f"!{attribute}"):
                patterns.append(f"!{pattern}")
    return patterns
