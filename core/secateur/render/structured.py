"""Answers, as values of `Shape`, -> their JSON as text.

Values are exact: text is not altered, but characters that a terminal would obey or hide, and lone surrogates, are
written as `\\uXXXX`. The output is valid UTF-8 and safe to print; any reader gets the original back. The
order of keys is fixed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from secateur.error_shapes import ErrorOutput
from secateur.errors import SecateurError
from secateur.shape import Shape, plain_values
from secateur.terminal import visible

_NOT_ASCII = re.compile(r"[^\x00-\x7e]")
_COMPACT = (",", ":")


def error_json(error: SecateurError) -> str:
    """`{"error": {"code", "message", "hint"}}`."""
    return dumps(ErrorOutput(error.details))


def dumps(value: Any) -> str:
    """`value` as indented JSON with a final line break, readable in any script and harmless on any terminal."""
    return _harmless(json.dumps(plain_values(value), ensure_ascii=False, allow_nan=False, indent=2)) + "\n"


def dumps_report(report: Any) -> str:
    """The JSON of a search: a key a line, in lists an item a line, which is half as long as indented."""
    return _harmless(_written(plain_values(report), "")) + "\n"


def written_size(item: Shape) -> int:
    """Characters of an item of a list in `dumps_report`."""
    return len(_harmless(_compact(plain_values(item)))) + len("      ,\n")


def _written(value: Any, indent: str) -> str:
    inner = indent + "  "
    if isinstance(value, Mapping) and (
        not indent or any(isinstance(part, list) and part and isinstance(part[0], dict) for part in value.values())
    ):
        lines = [f"{inner}{json.dumps(name)}: {_written(part, inner)}" for name, part in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + ",\n".join(f"{inner}{_compact(part)}" for part in value) + f"\n{indent}]"
    return _compact(value)


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=_COMPACT)


def _harmless(text: str) -> str:
    return _NOT_ASCII.sub(_escaped, text.replace("\x7f", "\\u007f"))


def _escaped(found: re.Match[str]) -> str:
    char = found[0]
    return char if visible(char) == char else json.dumps(char)[1:-1]
