"""Estimates the tokens of pictures and other media: by the makers' published formulas if the size is known, else the
most that a full-size picture costs.

Anthropic charges width x height / 750 of a picture shrunk to fit; OpenAI's tiles are 170 tokens for each 512 pixels
square after shrinking, and 85 for the whole. Newer models count in ways of their own: these figures are estimates, and
the report says so. The size is read from the first bytes of a picture that stands in the message; no picture is
decoded, none is fetched.
"""

import base64
import binascii
import math
import re
from typing import Any

# The charge for a picture of unknown size, a sound or a binary document: the most that a full-size picture costs at
# Anthropic.
MEDIA_TOKENS = 1600

MEDIA_KINDS = ("image", "image_url", "input_image", "input_audio", "document", "file")

HEADER = 1 << 18  # characters of base64 that are searched for the size: photographs carry a preview before it

_LONG_EDGE = 1568
_PIXELS_A_TOKEN = 750
_LOW_DETAIL = 85
_TILE = 512
_TILE_TOKENS = 170
_FITS = 2048
_SHORT_EDGE = 768


_SIGN, _BREAK = "[A-Za-z0-9+/_-]", r"[ \t]{0,8}(?:\r?\n|(?:\\r)?\\n)[ \t]{0,8}"
_LAST = rf"(?:{_BREAK}(?=[A-Za-z]*[0-9+/=]){_SIGN}{{1,75}}={{0,2}}(?![^\s\\\"'`)]))?"  # the last line, which is shorter
_ENCODED = re.compile(
    rf"data:[\w./+-]{{0,80}}(?:;[\w.=+-]{{1,80}}){{0,4}};base64,{_SIGN}*(?:{_BREAK}{_SIGN}{{60,}})*={{0,2}}"
    rf"|(?:(?<![A-Za-z0-9+/_\\-])|(?<=\\[nr])){_SIGN}{{60,}}(?:(?:{_BREAK}{_SIGN}{{60,}})+{_LAST}|={{0,2}})"
)
_LINES = re.compile(_BREAK)
LEAST_ENCODED = 200  # characters; what is shorter may be a long name, a path or a digest


def without_encoded(text: str) -> str:
    """Returns the text with a mark in place of pictures and other data in base64.

    >>> without_encoded(f"before data:image/png;base64,{'iVBORw0KGgo9' * 30} after")
    'before [base64, 382 characters] after'
    """

    def mark(match: re.Match[str]) -> str:
        data = match[0]
        lengths = {len(line) for line in _LINES.split(data)[:-1]}  # lines of data are equally long
        encoded = len(lengths) < 2 and all(re.search(kind, data) for kind in ("[a-z]", "[A-Z]", "[0-9]"))
        is_data = data.startswith("data:") or (len(data) >= LEAST_ENCODED and encoded)
        return f"[base64, {len(data):,} characters]" if is_data else data

    return _ENCODED.sub(mark, text)


def media_tokens(block: dict[str, Any]) -> int:
    """Tokens charged for a block of one of MEDIA_KINDS."""
    kind = block.get("type")
    if kind == "image":
        source = block.get("source")
        data = (
            source.get("data") if isinstance(source, dict) and source.get("type") == "base64" else block.get("data")
        )  # MCP: in the block itself
        size = _size(data) if isinstance(data, str) else None
        return anthropic_tokens(*size) if size else MEDIA_TOKENS
    if kind in ("image_url", "input_image"):
        given = block.get("image_url")
        detail = given.get("detail") if isinstance(given, dict) else block.get("detail")
        if detail == "low":
            return _LOW_DETAIL
        url = given.get("url") if isinstance(given, dict) else given
        size = _size(url.partition(";base64,")[2]) if isinstance(url, str) and url[:5] == "data:" else None
        return openai_tokens(*size) if size else MEDIA_TOKENS
    return MEDIA_TOKENS


def anthropic_tokens(width: int, height: int) -> int:
    """Tokens of a picture at Anthropic.

    >>> anthropic_tokens(1000, 1000)
    1334
    """
    shrunk = min(1.0, _LONG_EDGE / max(width, height))
    return max(1, min(MEDIA_TOKENS, math.ceil(width * shrunk * height * shrunk / _PIXELS_A_TOKEN)))


def openai_tokens(width: int, height: int) -> int:
    """Tokens of a picture in high detail at OpenAI.

    >>> openai_tokens(1024, 1024)
    765
    """
    shrunk = min(1.0, _FITS / max(width, height))
    shrunk *= min(1.0, _SHORT_EDGE / (min(width, height) * shrunk))
    tiles = math.ceil(max(1, width * shrunk) / _TILE) * math.ceil(max(1, height * shrunk) / _TILE)
    return _LOW_DETAIL + _TILE_TOKENS * tiles


def _size(data: str) -> tuple[int, int] | None:
    text = data[: HEADER - HEADER % 4]
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        return None
    size = None
    if raw[:8] == b"\x89PNG\r\n\x1a\n" and len(raw) >= 24:
        size = int.from_bytes(raw[16:20], "big"), int.from_bytes(raw[20:24], "big")
    elif raw[:6] in (b"GIF87a", b"GIF89a") and len(raw) >= 10:
        size = int.from_bytes(raw[6:8], "little"), int.from_bytes(raw[8:10], "little")
    elif raw[:4] == b"RIFF" and raw[8:12] == b"WEBP" and len(raw) >= 30:
        size = _webp(raw)
    elif raw[:2] == b"\xff\xd8":
        size = _jpeg(raw)
    return size if size and size[0] > 0 and size[1] > 0 else None


def _webp(raw: bytes) -> tuple[int, int] | None:
    if raw[12:16] == b"VP8X":
        return 1 + int.from_bytes(raw[24:27], "little"), 1 + int.from_bytes(raw[27:30], "little")
    if raw[12:16] == b"VP8L":
        bits = int.from_bytes(raw[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if raw[12:16] == b"VP8 ":
        return int.from_bytes(raw[26:28], "little") & 0x3FFF, int.from_bytes(raw[28:30], "little") & 0x3FFF
    return None


def _jpeg(raw: bytes) -> tuple[int, int] | None:
    offset = 2
    while offset + 9 <= len(raw) and raw[offset] == 0xFF:
        marker = raw[offset + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            return int.from_bytes(raw[offset + 7 : offset + 9], "big"), int.from_bytes(
                raw[offset + 5 : offset + 7], "big"
            )
        offset += 2 + max(2, int.from_bytes(raw[offset + 2 : offset + 4], "big"))
    return None
