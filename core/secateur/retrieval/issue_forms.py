"""Lines of the repository's own issue form, which people leave in what they write: words of every issue, which carry
nothing of this one."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress

from secateur.errors import RepositoryError
from secateur.model import Notice

MOST_FORMS = 30
"""Files that are read, the first by path."""

MOST_LINES = 500
"""Lines of each that are read."""

SHORTEST = 4
"""Letters of a line below which it may stand in a form by chance."""

_FORM = re.compile(
    r"(?:\.github/|\.gitea/|\.gitlab/|docs/)?issue_templates?(?:/[^/]+)?\.(?:md|markdown|txt|ya?ml)"
    r"|(?:\.github|\.gitea|\.gitlab)/issue_templates?/(?:[^/]+/)?[^/]+\.(?:md|markdown|txt|ya?ml)",
    re.IGNORECASE,
)
_KEY = re.compile(r"\s*(?:- )?(?:label|description|placeholder|value|title):\s*[|>]?[+-]?")
_MARKS = re.compile(r"[\W_]+")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_NO_ANSWER = frozenset({"no response"})
"""Words that a form fills in where nothing was written."""


def form_paths(paths: Sequence[str]) -> list[str]:
    """Those of a repository's paths that are issue forms."""
    return [path for path in paths if _FORM.fullmatch(path)][:MOST_FORMS]


def form_lines(paths: Sequence[str], lines: Callable[[str], list[str]]) -> frozenset[str]:
    """The lines of the issue forms among some paths, without their marks. `lines` gives those of a file, and raises
    RepositoryError where it changed: such a form is passed over."""
    found: set[str] = set()
    for path in form_paths(paths):
        with suppress(RepositoryError):
            for line in lines(path)[:MOST_LINES]:
                found |= {_plain(line), _plain(_KEY.sub("", line, count=1))}
    return frozenset(line for line in found if len(line) >= SHORTEST) | _NO_ANSWER if found else frozenset()


def without_form(text: str, form: frozenset[str]) -> tuple[str, int]:
    """The text with lines of a form made empty, and how many they are. The first line that says something stays, and so
    does what opens or ends code."""
    if not form:
        return text, 0
    kept, left, titled = [], 0, False
    for line in text.splitlines():
        emptied = titled and is_of_form(line, form)
        kept.append("" if emptied else line)
        left += emptied
        titled = titled or bool(line.strip())
    return "\n".join(kept), left


def is_of_form(line: str, form: frozenset[str]) -> bool:
    """Tells whether a line stands in a form, however it is marked."""
    return not _FENCE.match(line) and _plain(line) in form


def form_notices(left: int) -> tuple[Notice, ...]:
    """The notice that lines of the form were left out."""
    if not left:
        return ()
    some = "1 line of the query is" if left == 1 else f"{left:,} lines of the query are"
    return (Notice("issue_form", f"{some} of this repository's issue form: not looked for."),)


def _plain(line: str) -> str:
    return _MARKS.sub(" ", line).strip().lower()
