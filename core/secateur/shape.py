"""The base of all types that are printed as JSON: `dumps` writes their values, and schemas are made from them.

A field with the default UNSET is omitted if it has no value. An answer has only the fields of its type, except where
outside data is passed through: a message, an envelope.

Errors as JSON, apart from the errors themselves, which every command imports at once.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

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
