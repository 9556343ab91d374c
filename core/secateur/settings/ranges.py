"""Shapes that many settings share, and the sentence that describes a setting."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

Share = Annotated[float, Meta(ge=0, le=1)]
Weight = Annotated[float, Meta(ge=0, le=10)]
"""Weight of a term of the priority."""

Part = Annotated[float, Meta(ge=0, le=4)]
"""Weight of a part of relevance."""

Limit = Annotated[int, Meta(ge=0, le=100_000_000)]
"""A number of tokens under which something is brought."""


def about(sentence: str) -> Meta:
    """The description of a setting in `secateur config`, in the JSON schema and in docs/configuration.md."""
    return Meta(description=sentence)
