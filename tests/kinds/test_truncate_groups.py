"""`truncate` takes out whole groups, oldest first, and no group more than is needed."""

from __future__ import annotations

import pytest
from secateur import ConversationPruner
from secateur.settings import Settings, with_values

TURNS = 24
EXCHANGE = 2
SENTENCE = "the parcel was weighed, stamped and put onto the van that leaves at noon "


def left_of(group_size: int, zone: int) -> list[int]:
    """Numbers of the messages that are left of 24 of the same size."""
    values = {
        "tokens.counter": "chars4",
        "conversation_prune.safe_zone_tokens": zone,
        "conversation_prune.group_size": group_size,
    }
    roles = ("user", "assistant")
    messages = [{"role": roles[number % 2], "content": f"{number:02} {SENTENCE * 5}"} for number in range(TURNS)]
    pruned = ConversationPruner(with_values(Settings(), values)).prune_conversations(messages, "truncate")
    return [int(message["content"][:2]) for message in pruned]


@pytest.mark.parametrize("zone", [900, 1500, 1900])
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7])
def test_the_oldest_group_goes_whole(size: int, zone: int) -> None:
    fewest = TURNS - len(left_of(1, zone))
    assert fewest > 1
    taken = TURNS - len(left_of(size, zone))
    group = size + size % EXCHANGE  # a question and its answer go together
    assert taken == -(-fewest // group) * group, "as many whole groups as are needed"
    assert left_of(size, zone) == list(range(taken, TURNS))


def test_what_fits_stays_whatever_the_size_of_a_group() -> None:
    assert left_of(4, 100_000) == list(range(TURNS))


@pytest.mark.parametrize("strategy", ["summarize", "hybrid", "staged"])
def test_room_that_a_summary_leaves_goes_to_the_newest_messages(strategy: str) -> None:
    """A group of four messages is larger than what has to go: half of it stays."""
    steps = [
        message
        for number in range(8)
        for message in (
            {"role": "assistant", "content": f"Step {number}. " + "parcel " * 600},
            {"role": "user", "content": "Go on."},
        )
    ]
    values = {"tokens.counter": "chars4", "conversation_prune.safe_zone_tokens": 3700}
    pruner = ConversationPruner(with_values(Settings(), values))
    kept = pruner.prune_conversations([{"role": "user", "content": "Start."}, *steps], strategy)
    assert sum(message["content"].startswith("Step") for message in kept) == 3
    assert pruner.report is not None and 3300 < pruner.report.after <= 3700
