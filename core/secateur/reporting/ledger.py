"""Selection -> TrimReport: every candidate once, and one entry for what the pack adds around them, so that the sums hold."""

from __future__ import annotations

from secateur.model import Decision, Selection, State, TrimAction, TrimReport
from secateur.tokens import Counter

WRAPPER_SECTION = "pack"
"""Section of the entry for headings, fences and head lines; its `after` may be negative where an estimate of the whole is below its parts."""

_VERBS = {State.KEPT: "keep", State.SHORTENED: "shorten", State.SUMMARISED: "summarize", State.DROPPED: "drop"}


def recount(selection: Selection, pack: str, counter: Counter) -> int:
    """Tokens of the rendered pack; 0 where nothing goes out, because what is printed then is a message about the context and not context."""
    return counter.count(pack) if selection.kept_rows else 0


def trim_report(selection: Selection, pack_tokens: int) -> TrimReport:
    """The ledger of a code search.

    Args:
        pack_tokens: what `recount` says of the rendered pack.

    Returns:
        One action per candidate by rank, then one for the pack around them; `before` and `after` of the actions sum to those of the report.
    """
    actions = [_action(selection, decision) for decision in selection.decisions]
    around = pack_tokens - sum(action.after for action in actions)
    if around:
        actions.append(TrimAction(WRAPPER_SECTION, "keep", "headings", 0, around))
    return TrimReport(
        applied=any(action.action != "keep" for action in actions),
        before=sum(action.before for action in actions),
        after=pack_tokens,
        budget=selection.budget,
        actions=tuple(actions),
    )


def _action(selection: Selection, decision: Decision) -> TrimAction:
    section = selection.pool.symbol_id[decision.row]
    return TrimAction(section, _VERBS[decision.state], decision.reason.label, decision.tokens_before, decision.tokens_after)
