"""Elements, turns, and the order in which they go; with results that come late, as some agents send them."""

from __future__ import annotations

from typing import Any

from secateur.kinds.conversation.summarized_groups import elements_of, list_removable, turns_of
from secateur.kinds.conversation.transcripts import read_messages
from secateur.model import Reason


def numbers(*messages: dict[str, Any]) -> list[list[int]]:
    return [element.numbers for element in elements_of(read_messages(list(messages)).messages)]


def user(text: str = "Go.") -> dict[str, Any]:
    return {"role": "user", "content": text}


def says(text: str = "Yes.") -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def calls(*ids: str) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": one, "type": "function", "function": {"name": "f", "arguments": "{}"}} for one in ids],
    }


def result(one: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": one, "content": "x"}


def test_a_step_is_a_call_with_all_its_results() -> None:
    assert numbers(user(), calls("a", "b"), result("a"), result("b"), says(), user()) == [[0], [1, 2, 3], [4], [5]]


def test_a_result_that_comes_late_joins_what_was_said_meanwhile() -> None:
    assert numbers(user(), calls("a"), user("Hurry."), says("I wait."), result("a"), says()) == [[0], [1, 2, 3, 4], [5]]


def test_results_that_cross_join_both_calls() -> None:
    assert numbers(user(), calls("a"), calls("b"), result("a"), result("b"), says()) == [[0], [1, 2, 3, 4], [5]]


def test_one_message_with_results_of_two_steps_joins_them() -> None:
    used = [
        {"role": "assistant", "content": [{"type": "tool_use", "id": one, "name": "f", "input": {}}]} for one in "ab"
    ]
    got = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": one, "content": "x"} for one in "ab"]}
    assert numbers(user(), used[0], user("Wait."), used[1], got, says()) == [[0], [1, 2, 3, 4], [5]]


def test_elements_that_were_joined_can_be_joined_again() -> None:
    rows = (user(), calls("a"), calls("b"), result("b"), user("Hm."), calls("c"), result("a"), result("c"), says())
    assert numbers(*rows) == [[0], [1, 2, 3, 4, 5, 6, 7], [8]]


def test_a_call_id_that_is_used_again_belongs_to_its_last_call() -> None:
    assert numbers(user(), calls("a"), result("a"), calls("a"), result("a"), says()) == [[0], [1, 2], [3, 4], [5]]


def test_a_result_without_a_call_is_an_element_that_joins_nothing() -> None:
    assert sorted(number for element in numbers(result("lost"), user(), says()) for number in element) == [0, 1, 2]


def test_system_messages_belong_to_no_element() -> None:
    assert numbers(
        {"role": "system", "content": "Be brief."}, user(), {"role": "developer", "content": "Be kind."}, says()
    ) == [[1], [3]]


def test_thousands_of_crossing_results_are_joined_in_no_time_that_grows_with_their_square() -> None:
    ids = [f"c{number}" for number in range(5000)]
    rows = [user(), *(calls(one) for one in ids), *(result(one) for one in reversed(ids)), says()]
    assert [len(element) for element in numbers(*rows)] == [1, 10_000, 1]


def test_a_turn_goes_step_by_step_then_its_question_with_its_answer() -> None:
    rows = [user("1"), calls("a"), result("a"), says(), user("2"), calls("b"), result("b"), says(), user("3")]
    elements = elements_of(read_messages(rows).messages)
    assert [[element.numbers for element in turn] for turn in turns_of(elements)] == [
        [[0], [1, 2], [3]],
        [[4], [5, 6], [7]],
        [[8]],
    ]
    assert [
        [number for element in unit.elements for number in element.numbers] for unit in list_removable(elements)
    ] == [
        [1, 2],
        [0, 3],
        [5, 6],
        [4, 7],
    ]
    assert elements[-1].fixed is Reason.LAST_USER
