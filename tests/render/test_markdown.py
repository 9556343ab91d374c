"""Text from outside cannot break the Markdown it stands in."""

from __future__ import annotations

import pytest
from secateur.render import markdown


@pytest.mark.parametrize("text", ["", "x", "```\n", "a\n````sh\nb\n```\n", "~~~\n"])
def test_no_line_of_a_block_closes_its_fence(text: str) -> None:
    start, inside, end = markdown.block(text, "python")
    fence = end.rstrip("\n")
    assert start == f"{fence}python\n"
    assert not any(line.strip().startswith(fence) for line in inside.split("\n"))
    assert inside.rstrip("\n") == text.rstrip("\n")


@pytest.mark.parametrize(
    ("text", "leaves_open"),
    [
        ("plain", False),
        ("```\ncode\n```", False),
        ("```\ncode\n~~~", True),
        ("````\n```\n", True),
        ("```\r\ncode\r```", False),
        ("``` a ` b\n", False),  # no fence: backticks after it
        ("<!-- here", True),
        ("<!-- here -->", False),
        ("<PRE>", True),
    ],
)
def test_what_would_swallow_the_text_behind_it(text: str, leaves_open: bool) -> None:
    assert markdown.leaves_open(text) is leaves_open


def test_a_line_from_outside_is_one_line_between_backticks() -> None:
    assert markdown.one_line("a `b`\n\tc\x1b") == "a 'b' c␛"
    assert markdown.one_line("a `b`", quotes=False) == "a `b`"
    assert markdown.escape_line("[x](y) *z* \\") == "\\[x\\](y) \\*z\\* \\\\"
