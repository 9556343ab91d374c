"""How far a conversation is cut, what stays of its beginning, and results that go before messages do."""

from __future__ import annotations

from typing import Any

import pytest
from secateur import ConversationPruner
from secateur.kinds.conversation.decisions import FEW_WORDS_KEPT, Pruned
from secateur.kinds.conversation.placeholders import MARK
from secateur.kinds.conversation.strategies import STRATEGIES
from secateur.model import Reason, State
from secateur.settings import Settings, with_values

TASK = "Find out why refunds are rounded twice. Never touch the tests."
STEPS = 12


def session(thought: int, shown: int) -> list[dict[str, Any]]:
    """A task, steps of a thought and a result of so many words each, and a last question."""
    found: list[dict[str, Any]] = [{"role": "user", "content": TASK}]
    for number in range(STEPS):
        says = {"type": "text", "text": " ".join(f"thought{number}x{word}" for word in range(thought))}
        call = {"type": "tool_use", "id": f"{number}", "name": "Grep", "input": {"pattern": f"word{number}"}}
        text = " ".join(f"line{number}x{word}" for word in range(shown))
        result = {"type": "tool_result", "tool_use_id": f"{number}", "content": text}
        found += [{"role": "assistant", "content": [says, call]}, {"role": "user", "content": [result]}]
    return [*found, {"role": "assistant", "content": "That is all."}, {"role": "user", "content": "Go on."}]


def pruned(messages: list[dict[str, Any]], strategy: str, **values: Any) -> Pruned:
    settings = with_values(Settings(), {f"conversation_prune.{key}": value for key, value in values.items()})
    pruner = ConversationPruner(settings)
    pruner.prune_conversations(messages, strategy)
    assert pruner.result is not None
    return pruner.result


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_cut_leaves_room_and_lasts(strategy: str) -> None:
    messages = session(thought=5, shown=200)
    once = pruned(messages, strategy, safe_zone_tokens=9_000, cut_to=0.5)
    assert once.report.after <= 4_500
    more = [*once.messages, {"role": "assistant", "content": "Looking."}, {"role": "user", "content": "And now?"}]
    again = pruned(more, strategy, safe_zone_tokens=9_000, cut_to=0.5)
    assert again.cache.first_changed is None, "the next request reads what the one before wrote"
    exact = pruned(messages, strategy, safe_zone_tokens=9_000)
    assert 4_500 < exact.report.after <= 9_000


def test_a_content_that_a_lasting_cut_takes_too_is_not_said_to_be_too_many() -> None:
    messages = session(thought=5, shown=200)
    for number in (2, 1):
        content = " ".join(f"word{number}x{word}" for word in range(60))
        given = {"file_path": f"new{number}.py", "content": content}
        call = {"type": "tool_use", "id": f"w{number}", "name": "Write", "input": given}
        result = {"type": "tool_result", "tool_use_id": f"w{number}", "content": "Written."}
        messages[1:1] = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    cut = pruned(messages, "tool-results", safe_zone_tokens=9_000, cut_to=0.5)
    items = cut.items
    wrote = [item for item in items if item.figures.get("wrote")]
    assert [item.number for item in wrote] == [1, 3] and all(item.over >= 0 for item in items)
    assert {item.cut for item in items if item.over} == {(9_000, cut.target)} and 4_500 < cut.target < 4_600


def talk(first: str) -> list[dict[str, Any]]:
    """Two times forty messages, each with a rule of the user or a decision of the assistant among other words."""
    messages = [{"role": "user", "content": first}]
    for number in range(40):
        decided = f"I decided to keep part{number}.py. " + "The ledger has the order of the rate. " * 20
        rule = f"Never change table T_{number}. " + "The label is on the invoice of the customer. " * 8
        messages += [{"role": "assistant", "content": decided}, {"role": "user", "content": rule}]
    return messages


@pytest.mark.parametrize(("first", "strategy"), [(4_000, "staged"), (4_000, "summarize"), (20, "staged")])
def test_what_must_stay_leaves_room_for_what_was_ruled_and_decided(first: int, strategy: str) -> None:
    """A first message larger than `cut_to` of the zone is set aside before the share is taken."""
    values = {"safe_zone_tokens": 9_000, "cut_to": 0.3, "keep_first": True, "keep_last": 3}
    cut = pruned(talk("specification " * first), strategy, **values)
    said = "\n".join(message["content"] for message in cut.messages)
    kept = [sum(words.format(number) in said for number in range(40)) for words in ("T_{}.", "part{}.py")]
    assert min(kept) >= 38 and cut.report.after <= 9_000
    few = [notice.message for notice in cut.warnings if notice.code == FEW_WORDS_KEPT]
    assert bool(few) is (first < 4_000), "most of the words are in the first message"


def test_what_fits_is_not_cut() -> None:
    messages = session(thought=5, shown=20)
    assert pruned(messages, "staged", safe_zone_tokens=9_000, cut_to=0.1).messages == messages


@pytest.mark.parametrize("strategy", ["truncate", "summarize", "hybrid", "staged"])
def test_the_first_word_stays_where_it_is_wanted(strategy: str) -> None:
    messages = session(thought=200, shown=5)
    kept = pruned(messages, strategy, safe_zone_tokens=10, keep_first=True)
    assert kept.messages[0] == messages[0]
    assert kept.items[0].reason is Reason.FIRST_USER
    lost = pruned(messages, strategy, safe_zone_tokens=10)
    assert messages[0] not in lost.messages


def report(number: int, text: str, tool: str = "Bash") -> list[dict[str, Any]]:
    call = {
        "type": "tool_use",
        "id": f"r{number}",
        "name": tool,
        "input": {"file_path": "a.py"} if tool == "Read" else {},
    }
    result = {"type": "tool_result", "tool_use_id": f"r{number}", "content": text}
    return [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]


FAILED = "\n".join(
    [
        *(f"collecting test {number}" for number in range(200)),
        "Traceback (most recent call last):",
        '  File "shop/money.py", line 7, in rounded',
        "TypeError: unsupported operand type(s) for +: 'int' and 'str'",
        *(f"teardown {number}" for number in range(200)),
        "error: Recipe `test` failed on line 5",
    ]
)


def test_errors_of_a_cleared_result_stay_verbatim() -> None:
    messages = [{"role": "user", "content": TASK}, *report(0, FAILED), *report(1, FAILED, "Read")]
    messages += [{"role": "assistant", "content": "I see."}, {"role": "user", "content": "Go on."}]
    values = {"safe_zone_tokens": 400, "keep_errors": 3}
    once = pruned(messages, "tool-results", **values)
    said, shown = (once.messages[place]["content"][0]["content"] for place in (2, 4))
    head, _, errors = said.partition("\n[errors in it:]\n")
    assert head.startswith(MARK) and head.endswith("]")
    assert set(errors.split("\n")) <= set(FAILED.split("\n"))
    assert "TypeError: unsupported operand type(s) for +: 'int' and 'str'" in errors
    assert shown.startswith(MARK) and "TypeError" not in shown, "a file that was read reports nothing"
    assert pruned(once.messages, "tool-results", **values).messages == once.messages
    plain = pruned(messages, "tool-results", safe_zone_tokens=400)
    assert plain.messages[2]["content"][0]["content"] == head


def test_messages_go_only_where_results_do_not_save_enough() -> None:
    talkative = session(thought=150, shown=150)
    results = pruned(talkative, "staged", safe_zone_tokens=14_000)
    assert {item.state for item in results.items} == {State.KEPT, State.SHORTENED}
    assert results.messages == pruned(talkative, "tool-results", safe_zone_tokens=14_000).messages

    both = pruned(talkative, "staged", safe_zone_tokens=5_000)
    assert pruned(talkative, "tool-results", safe_zone_tokens=5_000).report.after > 5_000
    assert both.report.after <= 5_000
    assert {State.SUMMARISED, State.SHORTENED, State.KEPT} <= {item.state for item in both.items}
    assert both.report.before == results.report.before
    assert sum(item.cleaned for item in both.items) == STEPS
    assert "thought11x3" in str(both.messages) and "thought0x149" not in str(both.messages)
    assert str(both.messages).count(MARK) < STEPS, "placeholders of what is summarised go too"
