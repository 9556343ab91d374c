"""The file of a scenario: an input, the settings it is decided under, and what is expected.

    scenario = 1
    kind = "search"

    [input]
    query = "where is the refund total rounded?"
    path = "."

    [settings]
    profile = "recommended"
    budget = 4000

    [expect]
    must_keep = ["orders/money.py::Money.round"]

    [recorded]                 # written by `secateur check --update`, always the last table
    items = [
      { id = "orders/money.py::Money.round", state = "kept", reason = "fits", tokens = [98, 98], ... },
    ]

A scenario is data from outside: its file is bounded in size, every key is checked, every error names file, line and
key.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import tomli
from msgspec import Meta, Struct, field

from secateur.errors import SecateurError, shown, too_large, unreadable
from secateur.ledger import Reason, State
from secateur.suggestions import suggestion

SUFFIX = ".scenario.toml"

INPUTS_SUFFIX = ".scenario.inputs"
"""Of the folder beside a scenario that holds copies of inputs from outside its repository."""

FORMAT = 1

LARGEST = 4 << 20
"""Bytes of the file of a scenario."""

DIGITS = 3
"""Decimals of scores and terms."""

CANNOT_READ = "SCENARIO"

Share = Annotated[float, Meta(ge=0, le=1)]
Count = Annotated[int, Meta(ge=0)]
Grade = Annotated[int, Meta(ge=0, le=3)]
StateName = Literal["kept", "shortened", "summarised", "dropped"]
Covered = Literal["whole", "split", "left_out"]

_TABLE = re.compile(r"\s*\[+\s*([^\[\]]+?)\s*\]+")
_RECORDED = re.compile(r"^\[recorded\][ \t]*(#.*)?$", re.MULTILINE)
_AFTER = re.compile(r"^\s*\[(?!recorded\b)[A-Za-z_\"'\[]", re.MULTILINE)
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_AT = re.compile(r"line (\d+)")


class RecordedItem(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One recorded decision."""

    id: str
    state: StateName
    reason: str
    tokens: tuple[Count, int] = (0, 0)  # before and after; the second of a wrapper may be negative
    score: float | None = None  # to DIGITS decimals; None: the kind has no scores
    rank: Annotated[int, Meta(ge=1)] | None = None  # by score
    terms: dict[str, float] = field(default_factory=dict)  # of the score
    text: str = ""  # digest of what came in, by which a change of it is told

    @property
    def leaves(self) -> bool:
        return self.state != State.DROPPED.label


class RankOf(Struct, frozen=True, forbid_unknown_fields=True):
    """An item stands at this place or before it."""

    id: str
    at_most: Annotated[int, Meta(ge=1)]


class RecallOf(Struct, frozen=True, forbid_unknown_fields=True):
    """At least this share of the items leaves whole."""

    ids: Annotated[list[str], Meta(min_length=1)]
    at_least: Share


class Expect(Struct, frozen=True, forbid_unknown_fields=True):
    """Assertions, and how exactly the recorded decisions are compared."""

    exact: bool = False  # also tokens, scores and ranks
    must_keep: list[str] = field(default_factory=list)
    must_shorten: list[str] = field(default_factory=list)
    must_drop: list[str] = field(default_factory=list)
    budget_used_between: tuple[float, float] | None = None  # shares of the budget up to 1.0, tokens above
    rank_of: list[RankOf] = field(default_factory=list)
    recall_of: list[RecallOf] = field(default_factory=list)
    contains: list[str] = field(default_factory=list)  # texts in what leaves
    lacks: list[str] = field(default_factory=list)
    cache_reread_at_most: Count | None = None  # tokens, of conversations
    coverage: dict[str, Covered] = field(default_factory=dict)  # path -> how much of it the chunks hold, of diffs

    @property
    def empty(self) -> bool:
        return self == Expect(exact=self.exact)


class Recorded(Struct, frozen=True, forbid_unknown_fields=True):
    """The decisions as they were when they were accepted."""

    budget: int
    after: Count  # tokens of what left
    listed: Literal["all", "best"] = "all"  # "best": what leaves and the best of what is dropped
    knobs: dict[str, Any] = field(default_factory=dict)  # key -> value in force, for saying what moved a decision
    items: list[RecordedItem] = field(default_factory=list)


class Scenario(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The content of a scenario's file."""

    scenario: int
    kind: str
    about: str = ""
    input: dict[str, Any] = field(default_factory=dict)  # by name of the kind's inputs
    settings: dict[str, Any] = field(default_factory=dict)  # nested as in `secateur.toml`
    expect: Expect = field(default_factory=Expect)
    judged: dict[str, Grade] = field(default_factory=dict)  # id -> how much it answers the query: 0 not at all, 3 best
    recorded: Recorded | None = None


# --- reading ----------------------------------------------------------------------------------------------------------


def read_scenario(path: Path) -> Scenario:
    """Reads the file of a scenario.

    Raises:
        SecateurError: `NO_SUCH_FILE`, `UNREADABLE`, `TOO_LARGE`; `SCENARIO`: it is malformed, with line and key.
    """
    return parse_scenario(read_text(path), path)


def read_text(path: Path) -> str:
    """The text of a scenario's file; raises as `read_scenario`."""
    try:
        if not path.is_file():
            raise unreadable(path, "there is no such file" if not path.exists() else "it is no regular file")
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error
    if len(data) > LARGEST:
        raise too_large(path, LARGEST, "scenario")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise malformed(path, line, "it is not UTF-8", "save it as UTF-8") from error


def parse_scenario(text: str, path: Path) -> Scenario:
    """The scenario of a text; `path` is for errors, which are those of `read_scenario`."""
    try:
        table = tomli.loads(text)
    except (tomli.TOMLDecodeError, RecursionError) as error:
        said = str(error) or "it is nested too deeply"
        found = _AT.search(said)
        raise malformed(
            path, int(found[1]) if found else 1, said.partition(" (at ")[0], "write it as TOML v1.0"
        ) from error
    version = table.get("scenario")
    if version != FORMAT:
        raise malformed(
            path,
            line_of(text, "scenario"),
            f"scenario = {_short(version)} is not a format that this version reads",
            f"it begins with: scenario = {FORMAT}",
        )
    try:
        made = msgspec.convert(table, Scenario)
    except msgspec.ValidationError as error:
        raise _invalid(path, text, str(error)) from error
    for item in made.recorded.items if made.recorded else ():
        if item.reason not in _REASONS:
            near = suggestion(item.reason, _REASONS)
            hint = f"did you mean {near}?" if near else "`secateur config --reasons` lists them all"
            raise malformed(path, line_of(text, _quoted(item.id)), f"there is no reason {_short(item.reason)}", hint)
    return made


def malformed(path: Path, line: int, what: str, hint: str) -> SecateurError:
    """A scenario's file does not hold what it must."""
    return SecateurError(f"{shown(path)}:{line}: {what}", hint=hint, code=CANNOT_READ)


_REASONS = tuple(reason.label for reason in Reason)


def line_of(text: str, key: str, tables: Sequence[str] = ()) -> int:
    """The line where a key stands, from 1; inside these tables if it stands there, else the first that names it.

    Args:
        key: as it is written.
    """
    begins = re.compile(rf"\s*[\"']?{re.escape(key.strip(chr(34)))}[\"']?\s*[.=]|.*[{{,]\s*{re.escape(key)}\s*=")
    table, first = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        header = _TABLE.fullmatch(line.partition("#")[0])
        if header:
            table = header[1]
        if begins.match(line) or (header and table == key):
            if not tables or table.split(".") == list(tables):
                return number
            first = first or number
        elif key in line and not first and key.startswith('"'):
            first = number
    return first or 1


def _invalid(path: Path, text: str, said: str) -> SecateurError:
    """The error of msgspec with line and key: "Expected `str`, got `int` - at `$.expect.must_keep[0]`"."""
    what, _, where = said.partition(" - at `")
    keys = [part for part in re.split(r"[.\[\]]+", where.rstrip("`").removeprefix("$")) if part and not part.isdigit()]
    unknown = re.fullmatch(r"Object contains unknown field `(.*)`", what)
    if unknown:
        name = unknown[1]
        known = _fields(keys)
        near = suggestion(name, known)
        hint = f"did you mean {near}?" if near else f"keys here: {', '.join(known)}"
        return malformed(path, line_of(text, name, keys), f"unknown key {'.'.join((*keys, _short(name)))}", hint)
    missing = re.fullmatch(r"Object missing required field `(.*)`", what)
    if missing:
        here = line_of(text, keys[-1]) if keys else 1
        return malformed(path, here, f"{'.'.join((*keys, missing[1]))} is missing", "write it, or save the file again")
    told = what.replace("`", "").replace("Expected ", "it takes ", 1).replace("Invalid enum value", "there is no value")
    named = [key for key in keys if key != "..."]
    here = line_of(text, named[-1], named[:-1]) if named else 1
    return malformed(path, here, f"{'.'.join(named)}: {told}", "docs/scenarios.md lists every key with its values")


def _fields(keys: Sequence[str]) -> tuple[str, ...]:
    found: Any = Scenario
    for key in keys:
        found = {
            "expect": Expect,
            "recorded": Recorded,
            "items": RecordedItem,
            "rank_of": RankOf,
            "recall_of": RecallOf,
        }.get(key, found)
    return tuple(found.__struct_fields__)


# --- writing ----------------------------------------------------------------------------------------------------------


def dump_scenario(scenario: Scenario) -> str:
    """The text of a scenario's file."""
    lines = [f"scenario = {scenario.scenario}", f"kind = {_toml(scenario.kind)}"]
    lines += [f"about = {_toml(scenario.about)}"] if scenario.about else []
    lines += ["", "[input]", *_pairs(scenario.input)]
    if scenario.settings:
        lines += ["", "[settings]", *(f"{key} = {_toml(value)}" for key, value in flat(scenario.settings))]
    lines += ["", *_expect_lines(scenario.expect)]
    if scenario.judged:
        lines += ["", "[judged]  # how much each answers the query: 1 a little, 3 fully", *_pairs(scenario.judged)]
    head = "\n".join(lines) + "\n"
    return with_recorded(head, scenario.recorded) if scenario.recorded else head


def with_recorded(text: str, recorded: Recorded) -> str:
    """The text of a scenario's file with other recorded decisions; all above them stays as a person wrote it.

    Raises:
        ValueError: a table stands behind `[recorded]`, which is always the last.
    """
    found = _RECORDED.search(text)
    if found and _AFTER.search(text, found.end()):
        raise ValueError("a table stands behind [recorded], which is the last")
    head = text[: found.start()] if found else text
    return head.rstrip("\n") + "\n\n" + _recorded_text(recorded)


def with_expected(text: str, name: str, ids: Sequence[str]) -> str:
    """The text of a scenario's file with further ids in a list of `[expect]`; all else stays as a person wrote it."""
    table = tomli.loads(text)
    listed = dict.fromkeys((*table.get("expect", {}).get(name, ()), *ids))
    new = f"{name} = {_toml(list(listed))}"
    header = re.search(r"^\[expect\][ \t]*(#.*)?$", text, re.MULTILINE)
    if header is None:
        before = _RECORDED.search(text)
        at = before.start() if before else len(text)
        return text[:at].rstrip("\n") + f"\n\n[expect]\n{new}\n\n" + text[at:]
    after = re.search(r"^\[", text[header.end() :], re.MULTILINE)
    end = header.end() + after.start() if after else len(text)
    body = text[header.end() : end]
    strings = r"""(?:[^\]"']|"(?:\\.|[^"\\])*"|'[^']*')*"""
    old = re.search(rf"^{name}[ \t]*=[ \t]*\[{strings}\][ \t]*(#.*)?$", body, re.MULTILINE)
    body = body[: old.start()] + new + body[old.end() :] if old else f"\n{new}" + body
    return text[: header.end()] + body + text[end:]


def _expect_lines(expect: Expect) -> list[str]:
    lines = ["[expect]"]
    for name in Expect.__struct_fields__:
        value = getattr(expect, name)
        if value is None or value == [] or value == {} or value is False:
            continue
        if isinstance(value, list) and value and isinstance(value[0], Struct):
            value = [msgspec.to_builtins(one) for one in value]
        lines.append(f"{name} = {_toml(msgspec.to_builtins(value))}")
    return lines


def _recorded_text(recorded: Recorded) -> str:
    lines = [
        "[recorded]  # by `secateur check --update`; what stands here is compared, and replaced as a whole",
        f"budget = {recorded.budget}",
        f"after = {recorded.after}",
        f"listed = {_toml(recorded.listed)}",
        f"knobs = {_toml(recorded.knobs)}",
        "items = [",
        *(f"  {_toml(_item(item))}," for item in recorded.items),
        "]",
    ]
    return "\n".join(lines) + "\n"


def _item(item: RecordedItem) -> dict[str, Any]:
    out: dict[str, Any] = {"id": item.id, "state": item.state, "reason": item.reason, "tokens": list(item.tokens)}
    out |= {"score": item.score} if item.score is not None else {}
    out |= {"rank": item.rank} if item.rank is not None else {}
    out |= {"terms": item.terms} if item.terms else {}
    return out | ({"text": item.text} if item.text else {})


def flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted keys and values of nested tables; `boosts` holds values by symbol, and is one key."""
    for name, value in table.items():
        if isinstance(value, Mapping) and value and prefix + name != "boosts":
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _pairs(table: Mapping[str, Any]) -> list[str]:
    return [
        f"{_key(name)} = {_text(value) if isinstance(value, str) else _toml(value)}" for name, value in table.items()
    ]


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _quoted(name)


def _toml(value: Any) -> str:
    """A value as TOML on one line."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str():
            return _quoted(value)
        case Mapping():
            inside = ", ".join(f"{_key(str(name))} = {_toml(item)}" for name, item in value.items())
            return f"{{ {inside} }}" if inside else "{}"
        case _:
            return f"[{', '.join(_toml(item) for item in value)}]"


def _text(value: str) -> str:
    """A text: of several lines as it stands, if no character of it has to be escaped."""
    plain = all(one.isprintable() or one in "\n\t" for one in value)
    if "\n" in value and plain and "'''" not in value and not value.endswith("'"):
        return f"'''\n{value}'''"
    return _quoted(value)


def _quoted(value: str) -> str:
    """A basic string: JSON's escapes are among TOML's; what no terminal should be sent is escaped too."""
    written = json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return "".join(one if one.isprintable() or one == " " else _escaped(one) for one in written)


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _short(value: object) -> str:
    return shown(value if isinstance(value, str) else repr(value))
