"""Makes a value of an envelope smaller in one of three ways: summarises a list, truncates a text, reduces an object to
`path + summary + hash`.

Types do not change, so that every reader of envelopes can read a trimmed one. A removed part is described by its count,
its size and the first digits of the SHA-256 of its JSON text, so that it can be found again.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter as Tally
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

Path = tuple[str | int, ...]
"""The keys and positions on the way to a value."""

LONGEST_PATH = 1024
"""Longest `path` that could be opened, in characters."""
LONGEST_HASH = 160
"""Longest digest, in characters with its name: hexadecimal SHA-512."""
HASH_DIGITS = 16
FOLDERS = 5
"""Most folders that a summary of paths names."""
DEEPEST_FOLDER = 8

_UNITS = {list: "items", dict: "fields", str: "characters"}
_PLAIN_KEY = re.compile(r"[^\W\d][\w-]*")


def text_of(value: Any) -> str:
    """Writes the JSON text that is counted: on one line, without escaped characters."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def hash_of(value: Any) -> str:
    """`sha256:` and the first digits of the digest of the value's JSON text."""
    return "sha256:" + hashlib.sha256(text_of(value).encode("utf-8", "surrogatepass")).hexdigest()[:HASH_DIGITS]


def section_of(path: Path) -> str:
    """A path for people: `dependency_digest.references.asset_paths`, `files[3]["odd key"]`."""
    return "".join(map(_path_step, path)).removeprefix(".")


def shorten_tail(items: Sequence[Any], keep: int, path: Path, chars: int) -> list[Any]:
    """Makes short forms of `items[keep:]`: a reference for each object, one line for all other items."""
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


def truncate(text: str, keep: int) -> str:
    """The beginning of a text, its length and its digest."""
    return f"{text[:keep]}… ({len(text):,} characters, {hash_of(text)})"


def reference(value: Any, original: Any, path: Path, chars: int) -> dict[str, str]:
    """Makes `path + summary + hash` of an object or list from its own fields, else from its location, contents and
    digest.

    Args:
        original: the value before any cut, for summary and digest.
    """
    own = value if isinstance(value, dict) else {}
    location, digest, summary = own.get("path"), own.get("hash"), own.get("summary")
    if not (isinstance(location, str) and len(location) <= LONGEST_PATH):
        location = section_of(path)
        location = location if len(location) <= LONGEST_PATH else ""
    if not (isinstance(digest, str) and len(digest) <= LONGEST_HASH):
        digest = hash_of(original)
    if not isinstance(summary, str):
        summary = _join_parts(_contents(original), chars)
    return {
        "path": location,
        "summary": summary if len(summary) <= chars else summary[: chars - 1] + "…",
        "hash": digest,
    }


def reference_to_end(value: list[Any] | dict[str, Any], start: int, path: Path, chars: int) -> dict[str, str]:
    """Makes `path + summary + hash` of the part of a list or object from position `start` on."""
    if start == 0:
        return reference(value, value, path, chars)
    end = value[start:] if isinstance(value, list) else dict(list(value.items())[start:])
    location, summary = f"{section_of(path)}[{start}:]", f"{len(end):,} more of {len(value):,}"
    return {"path": location if len(location) <= LONGEST_PATH else "", "summary": summary, "hash": hash_of(end)}


def beginning(value: Any, room: int, path: Path, chars: int, least: int, naming: Collection[str]) -> Any | None:
    """Takes the first `room` units of a list or object in document order, with a short form for the rest of each
    container; None if nothing is left. A unit is a character of a text, or any other value. Fields named in `naming`
    stay.

    Args:
        least: shortest useful beginning of a text, in characters.
    """
    part = _take_beginning(value, room, path, chars, least, naming)[0]
    return None if part is _NOTHING else part


_NOTHING = object()


def _take_beginning(
    value: Any, room: int, path: Path, chars: int, least: int, naming: Collection[str]
) -> tuple[Any, int]:
    """Returns the value, its beginning or _NOTHING, and the units that are left, -1 if it did not fit."""
    if not isinstance(value, list | dict):
        left = room - (max(1, len(value)) if isinstance(value, str) else 1)
        if left >= 0:
            return value, left
        return (truncate(value, room) if isinstance(value, str) and room >= least else _NOTHING), -1
    items = list(value.items()) if isinstance(value, dict) else list(enumerate(value))
    named = [key for key, _ in items if isinstance(value, dict) and key in naming]
    kept: dict[Any, Any] = {}
    start = 0
    for key, held in items:
        part, room = (
            (held, room - 1) if key in named else _take_beginning(held, room, (*path, key), chars, least, naming)
        )
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
    return [*kept.values(), *shorten_tail(value, len(kept), path, chars)], -1


def units_of(value: Any) -> int:
    """The units that `beginning` counts in a value."""
    if isinstance(value, dict):
        return sum(map(units_of, value.values()))
    return sum(map(units_of, value)) if isinstance(value, list) else max(1, len(value)) if isinstance(value, str) else 1


def shorten(value: Any, chars: int, items: int, path: Path, naming: Collection[str], name: str | int = "") -> Any:
    """Copies a value with texts cut to `chars` characters, except in `naming` fields, and lists cut to `items`
    items."""
    if isinstance(value, str):
        return truncate(value, chars) if len(value) > chars and name not in naming else value
    if isinstance(value, dict):
        return {key: shorten(held, chars, items, (*path, key), naming, key) for key, held in value.items()}
    if isinstance(value, list):
        first = enumerate(value[:items])
        kept = [shorten(item, chars, items, (*path, position), naming, position) for position, item in first]
        return kept + shorten_tail(value, items, path, chars) if len(value) > items else kept
    return value


def _contents(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        yield f"{len(value):,} items"
        return
    for name, held in value.items():
        unit = next((unit for kind, unit in _UNITS.items() if isinstance(held, kind)), "")
        yield f"{name} ({len(held):,} {unit})" if unit else name


def _join_parts(parts: Iterable[str], chars: int) -> str:
    """Joins parts until they exceed `chars` characters, so that the cost does not depend on their number."""
    text = ""
    for part in parts:
        text += f", {part[: chars + 1]}" if text else part[: chars + 1]
        if len(text) > chars:
            break
    return text


def _folders(items: Iterable[Any]) -> str:
    """Counts the paths among `items` by folder, as deep as at most FOLDERS folders allow: ": assets/audio 72,
    assets/img 120"; "" without a common folder."""
    paths = [
        item.split("/")[:-1]
        for item in items
        if isinstance(item, str) and len(item) <= LONGEST_PATH and "\n" not in item
    ]
    deepest: Tally[str] = Tally()
    for depth in range(1, DEEPEST_FOLDER + 1):
        tally = Tally("/".join(path[:depth]) for path in paths if path)
        if len(tally) > FOLDERS or tally == deepest:
            break
        deepest = tally
    return (
        ": " + ", ".join(f"{folder or '/'} {count:,}" for folder, count in sorted(deepest.items())) if deepest else ""
    )


def _path_step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _PLAIN_KEY.fullmatch(step) else f"[{json.dumps(step)}]"
