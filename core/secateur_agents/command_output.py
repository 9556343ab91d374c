"""Prunes the output of a command with `secateur log` and keeps the original in a store.

pruned = prune_output(data, "why does the build fail", 1_000, settings, user_store(os.environ))
pruned.text             # its last line names the digest; None: the output fits as it is
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from secateur import Settings

    from secateur_agents.store import OriginalStore

MOST_TOKENS = 1_000
"""Tokens of an output that `secateur run` prints, by default: at 4,000, published runs saved nothing (docs/live.md)."""

_FOOT_TOKENS = 40
"""Room for the last line, so that pruned output fits and is not pruned again."""


class PrunedOutput(NamedTuple):
    """The text that stands in place of an output, and the tokens of both."""

    text: str
    before: int
    after: int


def import_pruner() -> None:
    """Imports what `prune_output` needs, which takes longer than to prune."""
    from secateur import Environment, count_tokens, format_outcome, get_kind, prune, redact  # noqa: F401

    get_kind("log")
    count_tokens("tables of tokens")


def prune_output(
    data: bytes, query: str, most_tokens: int, settings: Settings, store: OriginalStore
) -> PrunedOutput | None:
    """Prunes an output; None: it has no more than `most_tokens`.

    Args:
        query: lines that contain its words are preferred.

    Raises:
        SecateurError: the output cannot be pruned, or the store cannot be written.
    """
    if len(data) <= most_tokens:  # a token is a byte or more
        return None
    import hashlib

    from secateur import Environment, format_outcome, get_kind, prune, with_values

    settings = with_values(settings, {get_kind("log").budget.key: max(0, most_tokens - _FOOT_TOKENS)})
    environment = Environment(stdin=lambda _most: data)
    outcome = prune("log", settings, environment=environment, path="-", query=query or None)
    ledger = outcome.ledger
    if ledger.before <= most_tokens:
        return None
    digest = hashlib.sha256(data).hexdigest()[:12]
    store.keep({digest: data.decode("utf-8", "replace")})
    text = format_outcome(outcome, "plain").rstrip("\n")
    foot = f"--- {ledger.after:,} of {ledger.before:,} tokens; secateur recall {digest} gives the whole"
    return PrunedOutput(f"{text}\n{foot}\n", ledger.before, ledger.after)
