"""Shapes that many settings share, and what is said of a setting beside its type and default."""

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


def about(sentence: str, *, flag: str = "", scope: str = "user", lowered_only: bool = False) -> Meta:
    """The description of a setting in `secateur config`, in the JSON schema and in docs/configuration.md.

    Args:
        flag: what is typed to set it where it has a flag of its own: errors and origins speak of that.
        scope: who sets it. "any": a repository's own file too, as with profiles, weights, strategies, budgets and
            shares of them, depth, `top_k`, ignore rules, and what `chunk` shows of a change, which is read at the base
            of what is compared. "user": the user's files and the command line. "run": the command line alone.
        lowered_only: it costs the machine: a repository may set less than the default and not more.
    """
    return Meta(description=sentence, extra={"flag": flag, "scope": scope, "lowered_only": lowered_only})
