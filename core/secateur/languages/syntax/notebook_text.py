"""Shows a notebook as its cells. Every line of the file stays one line, so that line numbers are the same.

Source lines appear as written, below a line `# %%` or `# %% [markdown]`; results start with `#> ` and are shortened; a
picture becomes a mark with its size. Lines with other JSON are blank.
"""

from __future__ import annotations

import json
import re

_OUTPUT_LINES = 12
"""Most lines of a cell's results that are shown."""

_LINE_LENGTH = 2000
"""Most characters of a line of results that are shown."""

_INDENTED = re.compile(r'^\s+"cell_type"\s*:', re.MULTILINE)
_KEY = re.compile(r'\s*"([\w./+-]+)"\s*:\s*(.*?),?\s*')
_TEXT = re.compile(r'\s*("(?:[^"\\]|\\.)*")\s*,?\s*')
_CONTROLS = re.compile(r"\x1b\[[0-9;]*m")
_SHOWN = frozenset({"text", "text/plain"})


def show_notebook(text: str) -> str:
    """Returns the text of a notebook; other texts as they are."""
    if '"cells"' not in text or '"cell_type"' not in text:
        return text
    if not _INDENTED.search(text):
        try:
            text = json.dumps(json.loads(text), indent=1, ensure_ascii=False)
        except (ValueError, RecursionError):
            return text
    shown: list[str] = []
    list_name = ""  # the JSON list that contains a line
    result_lines = _OUTPUT_LINES  # lines of results that may still be shown
    for line in text.split("\n"):
        shown_line, list_name, result_lines = _read_line(line, list_name, result_lines)
        shown.append(shown_line)
    return "\n".join(shown)


def _read_line(line: str, list_name: str, result_lines: int) -> tuple[str, str, int]:
    """Returns the line to show, the list that contains the next line, and how many lines of results may follow."""
    string = _TEXT.fullmatch(line)
    if string is not None:
        if list_name == "source":
            return _decode_string(string[1]), list_name, result_lines
        if list_name in _SHOWN:
            return (_show_result(_decode_string(string[1])) if result_lines > 0 else ""), list_name, result_lines - 1
        return "", list_name, result_lines
    if line.strip().startswith(("]", "}")):
        return "", "", result_lines
    key = _KEY.fullmatch(line)
    if key is None:
        return "", list_name, result_lines
    name, value = key[1], key[2]
    if name == "cell_type":
        kind = value.strip('"')
        return ("# %%" if kind == "code" else f"# %% [{kind}]"), "", _OUTPUT_LINES
    if value.startswith("["):
        return "", name if not value.endswith("]") else "", result_lines
    if name == "source":
        return " ".join(_decode_string(value).split("\n")), "", result_lines
    if name in _SHOWN or name in ("ename", "evalue"):
        return (_show_result(_decode_string(value)) if result_lines > 0 else ""), "", result_lines - 1
    if "/" in name and value.startswith('"'):
        size = _write_size(len(value) * 3 // 4)  # four characters of base64 hold three bytes
        return _show_result(f"[{name}, {size}]"), "", result_lines
    return "", list_name, result_lines


def _decode_string(string: str) -> str:
    try:
        return str(json.loads(string)).rstrip("\n")
    except ValueError:
        return string


def _show_result(text: str) -> str:
    flat = " ".join(_CONTROLS.sub("", text[:_LINE_LENGTH]).split("\n"))
    return f"#> {flat}".rstrip()


def _write_size(length: int) -> str:
    return f"{length / 1000:,.0f} kB" if length >= 1000 else f"{length} bytes"
