"""The examples of the documentation open in the bench they are examples of, and show what they are there to show."""

from pathlib import Path

from secateur.cli.inspect import bench_of
from secateur.kinds.registry import get_kind
from secateur.settings import Settings, with_values
from secateur_tui.pages.conversation import ConversationPage

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


def test_the_session_holds_results_that_are_repeated_outdated_and_merely_old() -> None:
    path = EXAMPLES / "session.jsonl"
    assert bench_of(path) == "conversation" and bench_of(EXAMPLES / "envelope.json") == "envelope"
    settings, page = (
        with_values(Settings(), {"conversation_prune.safe_zone_tokens": 5000}),
        ConversationPage(get_kind("conversation")),
    )
    answer = page.decide(page.read({"path": str(path)}, settings, lambda *_: None), {}, settings)
    assert answer.ledger.after <= 5000 and not answer.warnings
    assert {"repeated", "outdated", "oldest_result", "last_user"} <= {entry.reason.label for entry in answer.entries}
