"""Formats answers, as values of `Shape`, as JSON text.

Values are exact: text is not altered, but characters that a terminal would obey or hide, and lone surrogates, are
written as `\\uXXXX`. The output is valid UTF-8 and safe to print; any reader gets the original back. The
order of keys is fixed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from typing import Any

from secateur.shape import Shape, plain_values
from secateur.terminal import visible

_NOT_ASCII = re.compile(r"[^\x00-\x7e]")
_COMPACT = (",", ":")


def dumps(value: Any, one_line: Collection[str] = ()) -> str:
    """Formats `value` as indented JSON with a final line break, readable in any script and safe on any terminal.
    Fields of an object that `one_line` names stand on one line each."""
    plain = plain_values(value)
    if not one_line:
        return _escape_unsafe(_indented(plain)) + "\n"
    lines = (
        f"  {json.dumps(name)}: "
        + (json.dumps(part, ensure_ascii=False) if name in one_line else _indented(part).replace("\n", "\n  "))
        for name, part in plain.items()
    )
    return _escape_unsafe("{\n" + ",\n".join(lines) + "\n}\n")


def _indented(plain: Any) -> str:
    return json.dumps(plain, ensure_ascii=False, allow_nan=False, indent=2)


def dumps_report(report: Any) -> str:
    """Formats the JSON of a search with one key per line, and in lists one item per line: half as long as indented."""
    return _escape_unsafe(_format_value(plain_values(report), "")) + "\n"


def written_size(item: Shape) -> int:
    """Counts the characters of a list's item in `dumps_report`."""
    return len(_escape_unsafe(_compact(plain_values(item)))) + len("      ,\n")


def _format_value(value: Any, indent: str) -> str:
    inner = indent + "  "
    if isinstance(value, Mapping) and (
        not indent or any(isinstance(part, list) and part and isinstance(part[0], dict) for part in value.values())
    ):
        lines = [f"{inner}{json.dumps(name)}: {_format_value(part, inner)}" for name, part in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + ",\n".join(f"{inner}{_compact(part)}" for part in value) + f"\n{indent}]"
    return _compact(value)


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=_COMPACT)


def _escape_unsafe(text: str) -> str:
    return _NOT_ASCII.sub(_escape_char, text.replace("\x7f", "\\u007f"))


def _escape_char(match: re.Match[str]) -> str:
    char = match[0]
    return char if visible(char) == char else json.dumps(char)[1:-1]
