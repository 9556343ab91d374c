"""The base of all types that are printed as JSON: `dumps` writes their values, and the schemas are made of them.

A field with the default UNSET is left out where there is nothing to say; no answer has fields beside those of its type,
except where something from outside is handed through: a message, an envelope.
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
    """An object with these fields and no others. Docstrings are descriptions of the schemas: one line each, because
    the indentation of a second one depends on the release of Python."""

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values."""
        plain: dict[str, Any] = plain_values(self)
        return plain


def plain_values(value: Any) -> Any:
    """The value with its shapes as dictionaries, as `json.dumps` takes it."""
    return msgspec.to_builtins(value, enc_hook=_without_subclass)


def _without_subclass(value: Any) -> float | str:
    """A float or text of a class of its own, as numpy has them. Raises TypeError: it is neither."""
    return float(value) if isinstance(value, float) else str.__str__(value)
