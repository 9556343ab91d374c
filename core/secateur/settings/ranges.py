"""Types that many settings share, and the metadata of a setting."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

Share = Annotated[float, Meta(ge=0, le=1)]
Weight = Annotated[float, Meta(ge=0, le=10)]
"""Weight of a term of the priority."""

Part = Annotated[float, Meta(ge=0, le=4)]
"""Weight of a part of relevance."""

Limit = Annotated[int, Meta(ge=0, le=100_000_000)]
"""A maximum number of tokens."""


def about(sentence: str, *, flag: str = "", scope: str = "user", lowered_only: bool = False) -> Meta:
    """Describes a setting in `secateur config`, in the JSON schema and in docs/configuration.md.

    Args:
        flag: the flag that sets it, if it has its own; errors and origins name that flag.
        scope: who may set it. "any": also a repository's own file. Such keys are profiles, weights, strategies, budgets
            and shares of them, depth, `top_k`, ignore rules, and what `chunk` shows of a change, which is read at the
            base of the comparison. "user": the user's files and the command line. "run": only the command line.
        lowered_only: a larger value costs the machine, so a repository may only set less than the default.
    """
    return Meta(description=sentence, extra={"flag": flag, "scope": scope, "lowered_only": lowered_only})
