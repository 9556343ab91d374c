r"""The base of all types that are printed as JSON: `dumps` writes their values, and schemas are made from them.

A field with the default UNSET is omitted if it has no value. An answer has only the fields of its type, except where
outside data is passed through: a message, an envelope.

Errors as JSON, apart from the errors themselves, which every command imports at once.

Formats answers, as values of `Shape`, as JSON text.

Values are exact: text is not altered, but characters that a terminal would obey or hide, and lone surrogates, are
written as `\uXXXX`. The output is valid UTF-8 and safe to print; any reader gets the original back. The
order of keys is fixed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from secateur.terminal import visible

SCHEMA_VERSION = "1.0"

Version = Annotated[str, Meta(extra_json_schema={"const": SCHEMA_VERSION})]
Count = Annotated[int, Meta(ge=0)]
Number = Annotated[int, Meta(ge=1)]
Lines = Annotated[list[Number], Meta(min_length=2, max_length=2, description="First and last line.")]


class Shape(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An object with these fields and no others. Docstrings are the descriptions in schemas. They have one line,
    because Python releases indent further lines differently."""

    def to_dict(self) -> dict[str, Any]:
        """Returns the fields as plain values."""
        plain: dict[str, Any] = plain_values(self)
        return plain


def plain_values(value: Any) -> Any:
    """Converts a value's shapes to dictionaries, for `json.dumps`."""
    # numpy's floats and texts are of a subclass; anything else raises TypeError
    return msgspec.to_builtins(value, enc_hook=lambda one: float(one) if isinstance(one, float) else str.__str__(one))


class ErrorDetails(Shape, frozen=True):
    """The error: what went wrong, where, and what to do."""

    code: str
    message: str
    hint: str


class ErrorOutput(Shape, frozen=True):
    """The output of any command with `--format json` if it fails."""

    error: ErrorDetails


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
