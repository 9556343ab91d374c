"""Values as TOML, and further elements of a list in a text that a person wrote."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import tomli

from secateur.scenarios.toml_places import BARE_KEY, TomlPlaces, toml_places


def with_elements(text: str, table: str, name: str, texts: Sequence[str]) -> str:
    """The text with further elements of a list in a table of the top; all else stays, byte for byte.

    Args:
        table: where there is none it is put above the first table `recorded`, or at the end.
    """
    present = tomli.loads(text).get(table, {}).get(name, [])
    new = ", ".join(quoted(one) for one in dict.fromkeys(texts) if one not in present)
    if not new:
        return text
    at, written = _place(toml_places(text), table, name, new, len(present))
    return text[:at] + written + text[at:]


def without_element(text: str, table: str, name: str, element: str) -> str:
    """The text without an element of a list in a table of the top; all else stays, byte for byte."""
    present = tomli.loads(text).get(table, {}).get(name, [])
    while element in present:
        number = present.index(element)
        spans = toml_places(text).spans
        start, end = spans[table, name, number]
        if number + 1 < len(present):
            end = spans[table, name, number + 1][0]
        elif number:
            start = spans[table, name, number - 1][1]
        elif found := _COMMA.match(text, end):
            end = found.end()
        text = text[:start] + text[end:]
        present = present[:number] + present[number + 1 :]
    return text


def with_table(text: str, table: str, lines: Sequence[str]) -> str | None:
    """The text with other keys in a table of the top; all else stays, byte for byte. None: the table is written in
    another way than below its own header, or there is none.
    """
    places = toml_places(text)
    headers = [one for one in places.headers if one.path[0] == table]
    if len(headers) != 1 or headers[0].path != (table,):
        return None
    last = max((end for path, (_, end) in places.spans.items() if path[0] == table), default=0)
    begin, end = (text.find("\n", at) + 1 or len(text) for at in (headers[0].end, max(last, headers[0].end)))
    head = text[:begin] if text[begin - 1] == "\n" else text[:begin] + "\n"
    return head + "".join(f"{line}\n" for line in lines) + text[end:]


_COMMA = re.compile(r"[ \t\r\n]*,")


def _place(places: TomlPlaces, table: str, name: str, new: str, present: int) -> tuple[int, str]:
    """The offset where further elements are put in, and the text that is put there."""
    key = (table, name)
    if present:
        return places.spans[*key, present - 1][1], f", {new}"
    if key in places.spans:
        return places.spans[key][0] + 1, new
    line = f"{name} = [{new}]"
    header = next((one for one in places.headers if one.path == (table,)), None)
    if header is not None:
        end = places.text.find("\n", header.end)
        return (end + 1, f"{line}\n") if end >= 0 else (len(places.text), f"\n{line}\n")
    if (table,) in places.spans:  # written as one inline table
        start, end = places.spans[table,]
        return start + 1, f" {line}" + ("," if places.text[start + 1 : end - 1].strip() else " ")
    first = places.first(table)
    if first is not None and not any(one.path[0] == table for one in places.headers):
        return first, f"{table}.{line}\n"  # written as dotted keys
    end = next((one.start for one in places.headers if one.path[0] in (table, "recorded")), len(places.text))
    return end, ("" if not end or places.text[end - 1] == "\n" else "\n") + f"[{table}]\n{line}\n\n"


def flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted keys and values of nested tables; `boosts` holds values by symbol, and is one key."""
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
    return name if BARE_KEY.fullmatch(name) else quoted(name)


def toml_value(value: Any) -> str:
    """A value as TOML on one line."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str():
            return quoted(value)
        case Mapping():
            inside = ", ".join(f"{_key(str(name))} = {toml_value(item)}" for name, item in value.items())
            return f"{{ {inside} }}" if inside else "{}"
        case _:
            return f"[{', '.join(toml_value(item) for item in value)}]"


def _text(value: str) -> str:
    """A text: of several lines line by line, as it stands if no character of it has to be escaped."""
    if "\n" not in value:
        return quoted(value)
    plain = all(one.isprintable() or one in "\n\t" for one in value)
    if plain and "'''" not in value and not value.endswith("'"):
        return f"'''\n{value}'''"
    escaped = "\n".join(quoted(line)[1:-1].replace('\\"', '"') for line in value.split("\n"))
    closed = _CLOSING.sub(lambda found: '\\"' * len(found[0]), escaped)
    return f'"""\n{closed}"""'


_CLOSING = re.compile(r'"{3,}|"+\Z')
"""Quotes that would end a text of several lines."""


def quoted(value: str) -> str:
    """A basic string: JSON's escapes are among TOML's; what no terminal should be sent is escaped too."""
    written = json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return "".join(one if one.isprintable() or one == " " else _escaped(one) for one in written)


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
