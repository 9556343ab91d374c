"""Where the parts of a message stand in it, and what is said of a value that is none."""

from __future__ import annotations

from typing import Any

import pytest
from secateur.errors import SecateurError
from secateur.kinds.conversation.messages import PartKind
from secateur.kinds.conversation.transcripts import read_messages, read_transcript

RESULT = "<tool_result tool_name='grep'>\n{}\n</tool_result>"


def standing_at(message: dict[str, Any], where: tuple[Any, ...]) -> Any:
    value: Any = message
    for step in where:
        value = value[step]
    return value


def test_a_block_that_a_model_thinks_in_is_found_again() -> None:
    block = {"type": "thinking", "thinking": "hm", "signature": "x"}
    message = {"role": "assistant", "content": [{"type": "text", "text": "yes"}, block]}
    _, part = read_messages([{"role": "user", "content": "?"}, message]).messages[1].parts
    assert (part.kind, part.text) == (PartKind.OTHER, "hm")
    assert standing_at(message, part.where) is block


@pytest.mark.parametrize(
    ("value", "named"),
    [({"a": 1}, "an object"), ([1], "a list"), (True, "true or false"), (7, "a number"), (1.5, "a number")],
)
def test_what_is_no_text_is_named_for_what_it_is(value: Any, named: str) -> None:
    with pytest.raises(SecateurError) as error:
        read_messages([{"role": "user", "content": [{"type": "text", "text": value}]}])
    assert error.value.message.endswith(f"is text, not {named}")


def test_what_is_no_block_is_named_for_what_it_is() -> None:
    with pytest.raises(SecateurError, match="a block is an object, not null"):
        read_messages([{"role": "user", "content": [None]}])


def test_every_result_in_prose_is_a_part_wherever_its_line_is() -> None:
    results = [RESULT.format(text) for text in ("one", "two\n<tool_result> in the middle", "three")]
    text = f"first\nlines\n{results[0]}\nbetween\n\n{results[1]}\n{results[2]}\nlast\nwords\n"
    found = [message.raw["content"] for message in read_transcript(text.encode()).messages]
    assert "".join(found) == text
    assert [piece for piece in found if piece.startswith("<tool_result")] == results
