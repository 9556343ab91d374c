"""Writes the tables of a scenario as TOML, and changes a list in a text that a person wrote."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

import tomli
from secateur import SecateurError, toml_value

from secateur_lab.scenarios.toml_places import BARE_KEY, toml_places


def add_expected(text: str, name: str, texts: Sequence[str]) -> str:
    """Adds elements to a list of `[expect]`; all else stays, byte for byte. A text without that table gets one, above
    the table `recorded` or at the end. Raises SecateurError: the list is written in a way that cannot be changed."""
    present = tomli.loads(text).get("expect", {}).get(name, [])
    new = [element for element in dict.fromkeys(texts) if element not in present]
    return _with_list(text, name, [*present, *new]) if new else text


def remove_expected(text: str, name: str, element: str) -> str:
    """Removes an element from a list of `[expect]`; all else stays, byte for byte. Raises SecateurError like
    `add_expected`."""
    present = tomli.loads(text).get("expect", {}).get(name, [])
    wanted = [other for other in present if other != element]
    return _with_list(text, name, wanted) if element in present else text


def _with_list(text: str, name: str, wanted: Sequence[str]) -> str:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    meant = tomli.loads(text)
    present = meant.setdefault("expect", {}).get(name, [])
    meant["expect"][name] = wanted
    start = recorded_start(text)
    try:
        document: Any = tomlkit.parse(text[:start])
        document.setdefault("expect", {}).setdefault(name, [])
        elements = document["expect"][name]
        for element in present:
            if element not in wanted:
                elements.remove(element)
        elements.extend(tomlkit.value(toml_value(element)) for element in wanted[len(elements) :])
        new = tomlkit.dumps(document) + text[start:]
        if tomli.loads(new) != meant:
            raise ValueError("it would say something else")
    except (TOMLKitError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise SecateurError(
            f"expect.{name} is written in a way that cannot be changed: {error}",
            hint="put each comma right behind its value, before the comment",
            code="SCENARIO",
        ) from error
    return new


def recorded_start(text: str) -> int:
    """Returns the offset of the table `recorded`, which is the last one, or the length of a text without it."""
    return next((header.start for header in toml_places(text).headers if header.path[0] == "recorded"), len(text))


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


def flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yields dotted keys and values of nested tables. `boosts` counts as one key, because its names are symbols."""
    for name, value in table.items():
        if isinstance(value, Mapping) and value and prefix + name != "boosts":
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns nested tables of dotted keys and values."""
    root: dict[str, Any] = {}
    for name, value in values.items():
        *tables, leaf = name.split(".")
        reduce(lambda node, table: node.setdefault(table, {}), tables, root)[leaf] = value
    return root


def pairs(table: Mapping[str, Any]) -> list[str]:
    names = [name if BARE_KEY.fullmatch(name) else toml_value(name) for name in table]
    values = [_text(value) if isinstance(value, str) else toml_value(value) for value in table.values()]
    return [f"{name} = {value}" for name, value in zip(names, values, strict=True)]


def _text(value: str) -> str:
    """Formats a text. Several lines are written line by line, unescaped if no character needs it."""
    if "\n" not in value:
        return toml_value(value)
    plain = all(char.isprintable() or char in "\n\t" for char in value)
    if plain and "'''" not in value and not value.endswith("'"):
        return f"'''\n{value}'''"
    escaped = "\n".join(toml_value(line)[1:-1].replace('\\"', '"') for line in value.split("\n"))
    closed = _CLOSING.sub(lambda quotes: '\\"' * len(quotes[0]), escaped)
    return f'"""\n{closed}"""'


_CLOSING = re.compile(r'"{3,}|"+\Z')  # quotes that would end a multi-line text
