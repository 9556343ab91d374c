"""The three ways a value of an envelope gets smaller: a list summarised, a text truncated, an object reduced to `path +
summary + hash`.

Types stay what they were, so that whoever reads an envelope can read a trimmed one: a list stays a list, a text a text,
an object an object. What was taken out is named by its number, its size and the first digits of the SHA-256 of its JSON
text, by which it can be found again.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter as Tally
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

Path = tuple[str | int, ...]
"""Keys and positions that lead to a value."""

LONGEST_PATH = 1024
"""Characters above which a `path` is none that could be opened."""
LONGEST_HASH = 160
"""Characters of the longest digest people write, with its name: hexadecimal SHA-512."""
HASH_DIGITS = 16
FOLDERS = 5
"""Folders a summary of paths names."""
DEEPEST_FOLDER = 8

_PLAIN_KEY = re.compile(r"[^\W\d][\w-]*")


def text_of(value: Any) -> str:
    """The JSON text by which a value is measured: one line, characters as they are."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def hash_of(value: Any) -> str:
    """`sha256:` and the first digits of the digest of the value's JSON text."""
    return "sha256:" + hashlib.sha256(text_of(value).encode("utf-8", "surrogatepass")).hexdigest()[:HASH_DIGITS]


def section_of(path: Path) -> str:
    """A path for people: `dependency_digest.references.asset_paths`, `files[3]["odd key"]`."""
    return "".join(map(_step, path)).removeprefix(".")


def shortened_tail(items: Sequence[Any], keep: int, path: Path, chars: int) -> list[Any]:
    """Short forms that stand for `items[keep:]`: a reference for each object, one line for all that is no object."""
    tail: list[Any] = []
    others = []
    for position, item in enumerate(items[keep:], keep):
        if not isinstance(item, dict):
            others.append(item)
            continue
        short = reference(item, item, (*path, position), chars)
        tail.append(short if len(text_of(short)) < len(text_of(item)) else item)
    if others:
        tail.append(f"({len(others):,} more of {len(items):,}{_folders(others)}; {hash_of(others)})")
    return tail


def truncated(text: str, keep: int) -> str:
    """The beginning of a text, its length and its digest."""
    return f"{text[:keep]}… ({len(text):,} characters, {hash_of(text)})"


def reference(value: Any, original: Any, path: Path, chars: int) -> dict[str, str]:
    """`path + summary + hash` of an object or a list; its own where it has them, else where it stands, what it holds
    and its digest.

    Args:
        original: the value before anything was taken out of it, for summary and digest.
    """
    own = value if isinstance(value, dict) else {}
    place, digest, summary = own.get("path"), own.get("hash"), own.get("summary")
    if not (isinstance(place, str) and len(place) <= LONGEST_PATH):
        place = section_of(path)
        place = place if len(place) <= LONGEST_PATH else ""
    if not (isinstance(digest, str) and len(digest) <= LONGEST_HASH):
        digest = hash_of(original)
    if not isinstance(summary, str):
        summary = _joined(_contents(original), chars)
    return {"path": place, "summary": summary if len(summary) <= chars else summary[: chars - 1] + "…", "hash": digest}


def reference_to_end(value: list[Any] | dict[str, Any], start: int, path: Path, chars: int) -> dict[str, str]:
    """`path + summary + hash` of what a list or an object holds from position `start` on; of all of it for 0."""
    if start == 0:
        return reference(value, value, path, chars)
    end = value[start:] if isinstance(value, list) else dict(list(value.items())[start:])
    place, summary = f"{section_of(path)}[{start}:]", f"{len(end):,} more of {len(value):,}"
    return {"path": place if len(place) <= LONGEST_PATH else "", "summary": summary, "hash": hash_of(end)}


def beginning(value: Any, room: int, path: Path, chars: int, least: int, naming: Collection[str]) -> Any | None:
    """The first `room` units of a list or an object in document order, and what stands for the rest of each container
    that lost something; None where nothing is left. A character of a text is a unit, and so is any other value. Fields
    of a name in `naming` stay.

    Args:
        least: characters below which the beginning of a text says nothing.
    """
    part = _begin(value, room, path, chars, least, naming)[0]
    return None if part is _NOTHING else part


_NOTHING = object()


def _begin(value: Any, room: int, path: Path, chars: int, least: int, naming: Collection[str]) -> tuple[Any, int]:
    """(the value itself, its beginning or _NOTHING; the units that are left, -1 where it did not fit)."""
    if not isinstance(value, list | dict):
        left = room - (max(1, len(value)) if isinstance(value, str) else 1)
        if left >= 0:
            return value, left
        return (truncated(value, room) if isinstance(value, str) and room >= least else _NOTHING), -1
    items = list(value.items()) if isinstance(value, dict) else list(enumerate(value))
    named = [key for key, _ in items if isinstance(value, dict) and key in naming]
    kept: dict[Any, Any] = {}
    start = 0
    for key, held in items:
        part, room = (held, room - 1) if key in named else _begin(held, room, (*path, key), chars, least, naming)
        if part is not _NOTHING:
            kept[key] = part
        if room < 0:
            break
        start += 1
    if start == len(items):
        return value, room
    if not kept:
        return _NOTHING, -1
    if isinstance(value, dict):
        for key in named:
            kept[key] = value[key]
        if named:
            return reference(value, value, path, chars) | {key: kept[key] for key in value if key in kept}, -1
        return kept | (reference_to_end(value, len(kept), path, chars) if len(kept) < len(value) else {}), -1
    rest = value[len(kept) :]
    if any(isinstance(item, dict) for item in rest):
        return [*kept.values(), reference_to_end(value, len(kept), path, chars)], -1
    return [*kept.values(), *shortened_tail(value, len(kept), path, chars)], -1


def units_of(value: Any) -> int:
    """The units that `beginning` counts in a value."""
    if isinstance(value, dict):
        return sum(map(units_of, value.values()))
    return sum(map(units_of, value)) if isinstance(value, list) else max(1, len(value)) if isinstance(value, str) else 1


def shortened(value: Any, chars: int, items: int, path: Path, naming: Collection[str], name: str | int = "") -> Any:
    """A copy whose texts keep `chars` characters, but those under a name of `naming`, and whose lists `items` items."""
    if isinstance(value, str):
        return truncated(value, chars) if len(value) > chars and name not in naming else value
    if isinstance(value, dict):
        return {key: shortened(held, chars, items, (*path, key), naming, key) for key, held in value.items()}
    if isinstance(value, list):
        first = enumerate(value[:items])
        kept = [shortened(item, chars, items, (*path, position), naming, position) for position, item in first]
        return kept + shortened_tail(value, items, path, chars) if len(value) > items else kept
    return value


def _contents(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        yield f"{len(value):,} items"
        return
    for name, held in value.items():
        size = (
            f"{len(held):,} items"
            if isinstance(held, list)
            else f"{len(held):,} fields"
            if isinstance(held, dict)
            else ""
        )
        size = f"{len(held):,} characters" if isinstance(held, str) else size
        yield f"{name} ({size})" if size else name


def _joined(parts: Iterable[str], chars: int) -> str:
    """As many parts as reach past `chars` characters, so that the cost does not depend on how many there are."""
    text = ""
    for part in parts:
        text += f", {part[: chars + 1]}" if text else part[: chars + 1]
        if len(text) > chars:
            break
    return text


def _folders(items: Iterable[Any]) -> str:
    """The folders of paths among `items`, as deep as FOLDERS names tell it: ": assets/audio 72, assets/img 120"; "" if
    nowhere in particular."""
    paths = [
        item.split("/")[:-1]
        for item in items
        if isinstance(item, str) and len(item) <= LONGEST_PATH and "\n" not in item
    ]
    named: Tally[str] = Tally()
    for depth in range(1, DEEPEST_FOLDER + 1):
        tally = Tally("/".join(path[:depth]) for path in paths if path)
        if len(tally) > FOLDERS or tally == named:
            break
        named = tally
    return ": " + ", ".join(f"{folder or '/'} {number:,}" for folder, number in sorted(named.items())) if named else ""


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _PLAIN_KEY.fullmatch(step) else f"[{json.dumps(step)}]"
