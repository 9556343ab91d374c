"""What pictures are charged: sizes from their first bytes, the published formulas, and the fixed charge where the size
is not known."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur.kinds.conversation.decisions import measure
from secateur.kinds.conversation.media import (
    MEDIA_TOKENS,
    anthropic_tokens,
    media_tokens,
    openai_tokens,
    without_encoded,
)
from secateur.kinds.conversation.strategies import prune
from secateur.kinds.conversation.transcripts import read_messages
from secateur.settings import Settings, with_values
from secateur.tokens import get_counter


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + width.to_bytes(4, "big") + height.to_bytes(4, "big") + b"\x08\x02\0\0\0"


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + width.to_bytes(2, "little") + height.to_bytes(2, "little") + b"\0\0\0"


def jpeg(width: int, height: int, preview: int = 0) -> bytes:
    before = b"\xff\xe1" + (preview + 2).to_bytes(2, "big") + b"x" * preview if preview else b""
    return (
        b"\xff\xd8"
        + before
        + b"\xff\xc2\0\x11\x08"
        + height.to_bytes(2, "big")
        + width.to_bytes(2, "big")
        + b"\x03"
        + b"\0" * 9
    )


def webp(kind: bytes, width: int, height: int) -> bytes:
    if kind == b"VP8X":
        body = b"\0" * 4 + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    elif kind == b"VP8L":
        body = b"\x2f" + ((width - 1) | (height - 1) << 14).to_bytes(4, "little") + b"\0" * 8
    else:
        body = b"\0" * 6 + width.to_bytes(2, "little") + height.to_bytes(2, "little")
    return b"RIFF\0\0\0\0WEBP" + kind + b"\0\0\0\0" + body


def anthropic(raw: bytes) -> dict[str, Any]:
    return {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": base64.b64encode(raw).decode()},
    }


def openai(raw: bytes, **more: Any) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": "data:image/png;base64," + base64.b64encode(raw).decode()} | more}


PICTURES = [
    png,
    gif,
    jpeg,
    lambda w, h: jpeg(w, h, 60_000),
    *(lambda w, h, kind=kind: webp(kind, w, h) for kind in (b"VP8X", b"VP8L", b"VP8 ")),
]


@pytest.mark.parametrize("picture", PICTURES)
def test_the_size_is_read_from_the_first_bytes(picture: Any) -> None:
    assert media_tokens(anthropic(picture(300, 200))) == 80
    assert media_tokens(openai(picture(300, 200))) == 255
    assert (
        media_tokens({"type": "image", "data": base64.b64encode(picture(300, 200)).decode(), "mimeType": "image/x"})
        == 80
    )


@pytest.mark.parametrize(
    ("width", "height", "tokens"),
    [
        (200, 200, 54),
        (1000, 1000, 1334),
        (1092, 1092, 1590),
        (1568, 1568, 1600),
        (4000, 4000, 1600),
        (8000, 100, 41),
        (1, 1, 1),
    ],
)
def test_anthropics_formula(width: int, height: int, tokens: int) -> None:
    assert anthropic_tokens(width, height) == tokens


@pytest.mark.parametrize(
    ("width", "height", "tokens"),
    [(1024, 1024, 765), (2048, 4096, 1105), (512, 512, 255), (513, 512, 425), (1, 1, 255)],
)
def test_openais_formula(width: int, height: int, tokens: int) -> None:
    assert openai_tokens(width, height) == tokens


def test_low_detail_has_a_price_of_its_own() -> None:
    assert media_tokens(openai(png(4000, 4000), detail="low")) == 85


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "source": {"type": "url", "url": "https://example.org/x.png"}},
        {"type": "image", "source": {"type": "base64", "data": "not base64 ü"}},
        {"type": "image", "source": {"type": "base64", "data": 7}},
        {"type": "image", "source": 7},
        anthropic(b"\x89PNG\r\n\x1a\n"),
        anthropic(png(0, 7)),
        anthropic(b"\xff\xd8" + b"\xff\xe1\xff\xff" * 3),
        anthropic(b"BM" + b"\0" * 60),
        {"type": "image_url", "image_url": {"url": "https://example.org/x.png"}},
        {"type": "image_url", "image_url": "data:image/png;base64,"},
        {"type": "image_url"},
        {"type": "input_audio", "input_audio": {"data": "", "format": "wav"}},
        {"type": "document", "source": {"type": "base64", "data": "JVBERi0="}},
    ],
)
def test_what_has_no_size_is_charged_the_most(block: dict[str, Any]) -> None:
    assert media_tokens(block) == MEDIA_TOKENS


@given(
    st.binary(max_size=80),
    st.sampled_from([b"\xff\xd8", b"RIFF\0\0\0\0WEBPVP8 ", b"\x89PNG\r\n\x1a\n", b"GIF89a", b""]),
)
def test_any_bytes_have_a_charge(raw: bytes, start: bytes) -> None:
    for block in (anthropic(start + raw), openai(start + raw)):
        assert 1 <= media_tokens(block) <= 100_000_000


def test_pictures_are_in_the_figures_and_said_to_be_estimated() -> None:
    messages = [
        {
            "role": "user",
            "content": [{"type": "text", "text": "What is it?"}, anthropic(png(300, 200)), openai(png(300, 200))],
        }
    ]
    (part, *_) = [message.parts for message in read_messages(messages).messages]
    assert [one.media_tokens for one in part] == [0, 80, 255]
    assert measure(read_messages(messages), get_counter("chars4")).total == 3 + 80 + 255
    (notice,) = prune(read_messages(messages), Settings()).warnings
    assert (notice.code, notice.message) == (
        "media_estimated",
        "2 pictures or similar: 335 of the tokens are estimated.",
    )


@pytest.mark.parametrize(
    ("raw", "needed"), [(png(300, 200), 24), (gif(300, 200), 10), (webp(b"VP8X", 300, 200), 30), (jpeg(300, 200), 11)]
)
def test_as_many_bytes_as_hold_the_size_are_enough(raw: bytes, needed: int) -> None:
    assert media_tokens(anthropic(raw[:needed])) == 80
    assert media_tokens(anthropic(raw[: needed - 1])) == MEDIA_TOKENS


DATA = base64.b64encode(png(1280, 800) + bytes(range(256)) * 8).decode()
WRAPPED = "\n".join(DATA[start : start + 76] for start in range(0, len(DATA), 76))
NAME = "/srv/shop/src/main/java/com/example2/refunds/RefundTotalIsRoundedOnlyOnceWhenTheOrderHas3LinesTest"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f'{{"src": "data:image/png;base64,{DATA}", "note": "hidden"}}', '{{"src": "{}", "note": "hidden"}}'),
        (f"![shot](data:image/svg+xml;charset=utf-8;base64,{DATA[:40]}) above", "![shot]({}) above"),
        (f"chart:\n{WRAPPED}\nis wrong", "chart:\n{}\nis wrong"),
        (json.dumps(f"chart:\n{WRAPPED}\nis wrong"), '"chart:\\n{}\\nis wrong"'),
        (f"{NAME} {'0a' * 32}\n{NAME}\n{NAME}2\n{'-' * 300} {'word ' * 300}", ""),
    ],
)
def test_data_in_base64_have_a_mark_and_words_stay(text: str, left: str) -> None:
    assert re.sub(r"\[base64, [\d,]+ characters\]", "{}", without_encoded(text)) == (left.format("{}") or text)


def shown(number: int, picture: Any) -> list[Any]:
    """A call of a tool, and its result: a picture, and words."""
    words = {"type": "text", "text": f"Button {number} is hidden behind the banner."}
    if isinstance(picture, str):
        content: Any = json.dumps({"src": picture, "note": words["text"]})
        call = {"id": f"c{number}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        answer = {"role": "tool", "tool_call_id": f"c{number}", "content": content}
        return [{"role": "assistant", "content": None, "tool_calls": [call]}, answer]
    call = {"type": "tool_use", "id": f"c{number}", "name": "look", "input": {}}
    result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": [picture, words]}
    return [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]


@pytest.mark.parametrize("picture", [anthropic(png(1280, 800)), f"data:image/png;base64,{DATA}"])
@pytest.mark.parametrize("strategy", ["tool-results", "summarize", "staged"])
def test_what_was_said_beside_a_picture_stays(strategy: str, picture: Any) -> None:
    steps = [message for number in range(6) for message in shown(number, picture)]
    messages = [{"role": "user", "content": "Test the shop."}, *steps, {"role": "user", "content": "What is hidden?"}]
    zone = with_values(Settings(), {"conversation_prune.safe_zone_tokens": 3_000})
    cut = prune(read_messages(messages), zone, strategy)
    said = json.dumps(cut.messages[:-3])
    assert all(f"Button {number} is hidden" in said for number in range(5)) and DATA[:60] not in said
    once_more = prune(read_messages(cut.messages), zone, strategy)
    assert once_more.messages == cut.messages


FILE = {"inlineData": {"mimeType": "image/png", "data": DATA}}
USERS: dict[str, Callable[[str], Any]] = {
    "anthropic": lambda words: {"role": "user", "content": [anthropic(png(900, 900)), {"type": "text", "text": words}]},
    "openai": lambda words: {"role": "user", "content": [openai(png(900, 900)), {"type": "text", "text": words}]},
    "markdown": lambda words: {"role": "user", "content": f"![it](data:image/png;base64,{DATA}) {words}"},
    "gemini": lambda words: {"role": "user", "parts": [FILE, {"text": words}]},
    "bedrock": lambda words: {"role": "user", "content": [{"image": {"format": "png"}}, {"text": words}]},
    "pydantic-ai": lambda words: {
        "kind": "request",
        "parts": [{"part_kind": "user-prompt", "content": [words, {"kind": "image-url", "url": "https://x.org/a"}]}],
    },
}


@pytest.mark.parametrize("form", USERS)
def test_earlier_pictures_of_a_user_are_cleared_and_the_words_around_them_stay(form: str) -> None:
    answers = {
        "gemini": {"role": "model", "parts": [{"text": "Done."}]},
        "bedrock": {"role": "assistant", "content": [{"text": "Done."}]},
        "pydantic-ai": {"kind": "response", "parts": [{"part_kind": "text", "content": "Done."}]},
    }
    answer = answers.get(form, {"role": "assistant", "content": "Done."})
    asked = [USERS[form](f"The total of page {number} is wrong.") for number in range(4)]
    messages = [message for question in asked for message in (question, answer)][:-1]
    before = read_messages(messages)
    cut = prune(before, with_values(Settings(), {"conversation_prune.safe_zone_tokens": 300}), "tool-results")
    after = read_messages(cut.messages)
    assert after.format == before.format and after.messages[-1].parts == before.messages[-1].parts
    assert cut.ledger.after == measure(after, get_counter()).total
    assert [item.pictures for item in cut.items] == [1, 0, 1, 0, 1, 0, 0]
    assert [f"page {number} is wrong" in str(cut.messages[2 * number]) for number in range(4)] == [True] * 4


def test_a_summary_of_turns_with_pictures_uses_the_room_that_the_pictures_leave() -> None:
    picture = "data:image/png;base64," + base64.b64encode(bytes(range(256)) * 20).decode()
    history: list[dict[str, Any]] = []
    for number in range(6):
        words = " ".join(f"word{number}x{each}" for each in range(60))
        said = [{"type": "text", "text": words}, {"type": "image_url", "image_url": {"url": picture}}]
        history.append({"role": "user", "content": said})
        noted = " ".join(["note", f"N{number}:", *(f"order{each * number % 7}" for each in range(50))])
        history.append({"role": "assistant", "content": noted})
    history.append({"role": "user", "content": "Which are left?"})
    zone = with_values(Settings(), {"conversation_prune.safe_zone_tokens": 1_500})
    left = json.dumps(prune(read_messages(history), zone, "summarize").messages)
    assert [number for number in range(6) if f"note N{number}:" not in left] == []
