"""Shows a notebook as its cells: every line of the file is a line here, so that places stay true.

Lines of a source stand as they were written, below a line `# %%` or `# %% [markdown]`; results begin with `#> ` and are
shortened; a picture is a mark with its size. What is left of the JSON around them is blank.
"""

from __future__ import annotations

import json
import re

_OUTPUT_LINES = 12
"""Lines of the results of a cell that are shown."""

_LINE_LENGTH = 2000
"""Characters of a line of results that are shown."""

_INDENTED = re.compile(r'^\s+"cell_type"\s*:', re.MULTILINE)
_KEY = re.compile(r'\s*"([\w./+-]+)"\s*:\s*(.*?),?\s*')
_TEXT = re.compile(r'\s*("(?:[^"\\]|\\.)*")\s*,?\s*')
_CONTROLS = re.compile(r"\x1b\[[0-9;]*m")
_SHOWN = frozenset({"text", "text/plain"})


def notebook_text(text: str) -> str:
    """Returns the text of a notebook; `text` where it is none."""
    if '"cells"' not in text or '"cell_type"' not in text:
        return text
    if not _INDENTED.search(text):
        try:
            text = json.dumps(json.loads(text), indent=1, ensure_ascii=False)
        except (ValueError, RecursionError):
            return text
    shown: list[str] = []
    inside, left = "", _OUTPUT_LINES  # the list whose lines come, and how many lines of results are still shown
    for line in text.split("\n"):
        found, inside, left = _read_line(line, inside, left)
        shown.append(found)
    return "\n".join(shown)


def _read_line(line: str, inside: str, left: int) -> tuple[str, str, int]:
    string = _TEXT.fullmatch(line)
    if string is not None:
        if inside == "source":
            return _decoded(string[1]), inside, left
        if inside in _SHOWN:
            return (_result(_decoded(string[1])) if left > 0 else ""), inside, left - 1
        return "", inside, left
    if line.strip().startswith(("]", "}")):
        return "", "", left
    key = _KEY.fullmatch(line)
    if key is None:
        return "", inside, left
    name, value = key[1], key[2]
    if name == "cell_type":
        kind = value.strip('"')
        return ("# %%" if kind == "code" else f"# %% [{kind}]"), "", _OUTPUT_LINES
    if value.startswith("["):
        return "", name if not value.endswith("]") else "", left
    if name == "source":
        return " ".join(_decoded(value).split("\n")), "", left
    if name in _SHOWN or name in ("ename", "evalue"):
        return (_result(_decoded(value)) if left > 0 else ""), "", left - 1
    if "/" in name and value.startswith('"'):
        return _result(f"[{name}, {_size(len(value) * 3 // 4)}]"), "", left  # four characters hold three bytes
    return "", inside, left


def _decoded(string: str) -> str:
    try:
        return str(json.loads(string)).rstrip("\n")
    except ValueError:
        return string


def _result(text: str) -> str:
    flat = " ".join(_CONTROLS.sub("", text[:_LINE_LENGTH]).split("\n"))
    return f"#> {flat}".rstrip()


def _size(length: int) -> str:
    return f"{length / 1000:,.0f} kB" if length >= 1000 else f"{length} bytes"
