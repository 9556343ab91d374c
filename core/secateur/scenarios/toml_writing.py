"""Formats values as TOML, and edits lists and tables in text that a person wrote."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import tomli

from secateur.scenarios.toml_places import BARE_KEY, TomlPlaces, toml_places


def add_elements(text: str, table: str, name: str, texts: Sequence[str]) -> str:
    """Adds elements to a list in a top-level table; all else stays, byte for byte.

    Args:
        table: a missing table is inserted above the first table `recorded`, or at the end.
    """
    present = tomli.loads(text).get(table, {}).get(name, [])
    new = ", ".join(quote(element) for element in dict.fromkeys(texts) if element not in present)
    if not new:
        return text
    at, written = _insertion_point(toml_places(text), table, name, new, len(present))
    return text[:at] + written + text[at:]


def remove_element(text: str, table: str, name: str, element: str) -> str:
    """Removes an element from a list in a top-level table; all else stays, byte for byte."""
    present = tomli.loads(text).get(table, {}).get(name, [])
    while element in present:
        index = present.index(element)
        spans = toml_places(text).spans
        start, end = spans[table, name, index]
        if index + 1 < len(present):
            end = spans[table, name, index + 1][0]
        elif index:
            start = spans[table, name, index - 1][1]
        elif comma := _COMMA.match(text, end):
            end = comma.end()
        text = text[:start] + text[end:]
        present = present[:index] + present[index + 1 :]
    return text


def replace_table(text: str, table: str, lines: Sequence[str]) -> str | None:
    """Replaces the keys of a top-level table; all else stays, byte for byte. None if the table does not exist or is not
    written below its own header."""
    places = toml_places(text)
    headers = [header for header in places.headers if header.path[0] == table]
    if len(headers) != 1 or headers[0].path != (table,):
        return None
    last = max((end for path, (_, end) in places.spans.items() if path[0] == table), default=0)
    begin, end = (text.find("\n", at) + 1 or len(text) for at in (headers[0].end, max(last, headers[0].end)))
    head = text[:begin] if text[begin - 1] == "\n" else text[:begin] + "\n"
    return head + "".join(f"{line}\n" for line in lines) + text[end:]


_COMMA = re.compile(r"[ \t\r\n]*,")


def _insertion_point(places: TomlPlaces, table: str, name: str, new: str, present: int) -> tuple[int, str]:
    """Returns the offset where further elements are inserted, and the text to insert."""
    key = (table, name)
    if present:
        return places.spans[*key, present - 1][1], f", {new}"
    if key in places.spans:
        return places.spans[key][0] + 1, new
    line = f"{name} = [{new}]"
    header = next((header for header in places.headers if header.path == (table,)), None)
    if header is not None:
        end = places.text.find("\n", header.end)
        return (end + 1, f"{line}\n") if end >= 0 else (len(places.text), f"\n{line}\n")
    if (table,) in places.spans:  # written as one inline table
        start, end = places.spans[table,]
        return start + 1, f" {line}" + ("," if places.text[start + 1 : end - 1].strip() else " ")
    first = places.first(table)
    if first is not None and not any(header.path[0] == table for header in places.headers):
        return first, f"{table}.{line}\n"  # written as dotted keys
    end = next((header.start for header in places.headers if header.path[0] in (table, "recorded")), len(places.text))
    return end, ("" if not end or places.text[end - 1] == "\n" else "\n") + f"[{table}]\n{line}\n\n"


def flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yields dotted keys and values of nested tables; `boosts` holds values by symbol, and is one key."""
    for name, value in table.items():
        if isinstance(value, Mapping) and value and prefix + name != "boosts":
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def pairs(table: Mapping[str, Any]) -> list[str]:
    return [
        f"{_key(name)} = {_text(value) if isinstance(value, str) else toml_value(value)}"
        for name, value in table.items()
    ]


def _key(name: str) -> str:
    return name if BARE_KEY.fullmatch(name) else quote(name)


def toml_value(value: Any) -> str:
    """Formats a value as TOML on one line."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str():
            return quote(value)
        case Mapping():
            inside = ", ".join(f"{_key(str(name))} = {toml_value(item)}" for name, item in value.items())
            return f"{{ {inside} }}" if inside else "{}"
        case _:
            return f"[{', '.join(toml_value(item) for item in value)}]"


def _text(value: str) -> str:
    """Formats a text. Several lines are written line by line, unescaped if no character needs it."""
    if "\n" not in value:
        return quote(value)
    plain = all(char.isprintable() or char in "\n\t" for char in value)
    if plain and "'''" not in value and not value.endswith("'"):
        return f"'''\n{value}'''"
    escaped = "\n".join(quote(line)[1:-1].replace('\\"', '"') for line in value.split("\n"))
    closed = _CLOSING.sub(lambda quotes: '\\"' * len(quotes[0]), escaped)
    return f'"""\n{closed}"""'


_CLOSING = re.compile(r'"{3,}|"+\Z')
"""Quotes that would end a multi-line text."""


def quote(value: str) -> str:
    """Formats a basic string: JSON's escapes are valid in TOML; characters unsafe for a terminal are escaped too."""
    written = json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return "".join(char if char.isprintable() or char == " " else _escape(char) for char in written)


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
