"""The file of a scenario: an input, its settings, and what is expected.

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

A scenario is outside data: the size of its file is limited, every key is checked, every error names file, line and key.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import tomli
from msgspec import Meta, Struct, field
from secateur import Reason, State, read_file, suggestion, toml_value

from secateur_lab.scenarios.malformed import check_values, malformed, schema_error, shorten, toml_error
from secateur_lab.scenarios.toml_writing import (
    add_expected,
    dotted,
    flat,
    pairs,
    recorded_start,
    remove_expected,
    replace_table,
    toml_places,
)

SUFFIX = ".scenario.toml"

# Suffix of the folder beside a scenario that holds copies of inputs from outside its repository.
INPUTS_SUFFIX = ".scenario.inputs"

FORMAT = 1

LARGEST = 4 << 20  # most bytes of a scenario's file
DIGITS = 3  # decimals of scores and terms
Share = Annotated[float, Meta(ge=0, le=1)]
Count = Annotated[int, Meta(ge=0)]
Grade = Annotated[int, Meta(ge=0, le=3)]
StateName = Literal["kept", "shortened", "summarised", "dropped"]
PartName = Literal["", "training", "held_out"]
Covered = Literal["whole", "split", "left_out"]


class RecordedItem(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One recorded decision."""

    id: str
    state: StateName
    reason: str
    tokens: tuple[Count, int] = (0, 0)  # before and after; the second of a wrapper may be negative
    score: float | None = None  # to DIGITS decimals; None: the kind has no scores
    rank: Annotated[int, Meta(ge=1)] | None = None  # by score
    terms: dict[str, float] = field(default_factory=dict)  # of the score
    text: str = ""  # digest of the input text, to detect changes

    @property
    def leaves(self) -> bool:
        return self.state != State.DROPPED.label


class RankOf(Struct, frozen=True, forbid_unknown_fields=True):
    """An item must have this rank or a better one."""

    id: str
    at_most: Annotated[int, Meta(ge=1)]


class RecallOf(Struct, frozen=True, forbid_unknown_fields=True):
    """At least this share of the items must be kept whole."""

    ids: Annotated[list[str], Meta(min_length=1)]
    at_least: Share


class Expect(Struct, frozen=True, forbid_unknown_fields=True):
    """Assertions, and how exactly the recorded decisions are compared."""

    exact: bool = False  # also tokens, scores and ranks
    cut_tolerance: Share | None = None  # score above the cut up to which an item may flip; None: none may
    must_keep: list[str] = field(default_factory=list)
    must_shorten: list[str] = field(default_factory=list)
    must_drop: list[str] = field(default_factory=list)
    budget_used_between: tuple[float, float] | None = None  # shares of the budget up to 1.0, tokens above
    rank_of: list[RankOf] = field(default_factory=list)
    recall_of: list[RecallOf] = field(default_factory=list)
    contains: list[str] = field(default_factory=list)  # texts in the output
    lacks: list[str] = field(default_factory=list)
    lacks_credentials: bool = False  # the output holds nothing that looks like one
    input_at_most: Count | None = None  # tokens of everything that is read
    cache_reread_at_most: Count | None = None  # tokens, of conversations
    coverage: dict[str, Covered] = field(default_factory=dict)  # path -> how much of it the chunks contain, for diffs

    @property
    def empty(self) -> bool:
        return self == Expect(exact=self.exact, cut_tolerance=self.cut_tolerance)


class Recorded(Struct, frozen=True, forbid_unknown_fields=True):
    """The decisions at the time when they were accepted."""

    budget: int
    after: Count  # tokens of the output
    listed: Literal["all", "best"] = "all"  # "best": those in the output and the best dropped ones
    knobs: dict[str, Any] = field(default_factory=dict)  # key -> value in force, to explain changed decisions
    items: list[RecordedItem] = field(default_factory=list)


class Scenario(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The content of a scenario's file."""

    scenario: int
    kind: str
    about: str = ""
    part: PartName = ""  # of judged cases: whether weights are fitted or reported on them
    input: dict[str, Any] = field(default_factory=dict)  # by name of the kind's inputs
    settings: dict[str, Any] = field(default_factory=dict)  # nested as in `secateur.toml`
    expect: Expect = field(default_factory=Expect)
    judged: dict[str, Grade] = field(default_factory=dict)  # id -> how well it answers the query: 0 not at all, 3 best
    saved: Recorded | None = None  # the asserted items when it was saved; explains failures, is never compared
    recorded: Recorded | None = None


# --- reading ----------------------------------------------------------------------------------------------------------


def read_scenario(path: Path) -> Scenario:
    """Reads the file of a scenario. Raises SecateurError: `NO_SUCH_FILE`, `UNREADABLE`, `TOO_LARGE`; `SCENARIO`: it is
    malformed, with line and key."""
    return parse_scenario(read_text(path), path)


def read_text(path: Path) -> str:
    """Reads the text of a scenario's file; raises like `read_scenario`."""
    data = read_file(path, LARGEST, "scenario")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise malformed(path, data[: error.start].count(b"\n") + 1, "it is not UTF-8", "save it as UTF-8") from error


def parse_scenario(text: str, path: Path) -> Scenario:
    """Parses a scenario; `path` is for errors, which are those of `read_scenario`."""
    try:
        table = tomli.loads(text)
    except (ValueError, RecursionError) as error:  # malformed, nested too deep, or with numbers of thousands of digits
        raise toml_error(path, text, error) from error
    version = table.get("scenario")
    if version != FORMAT or isinstance(version, bool):
        other = f"scenario = {shorten(version)} is not a format that this version reads"
        fault = other if "scenario" in table else "it does not name its format"
        line = toml_places(text).line(("scenario",))
        raise malformed(path, line, fault, f"it begins with: scenario = {FORMAT}")
    check_values(table, (), path, text)
    try:
        made = msgspec.convert(table, Scenario)
    except msgspec.ValidationError as error:
        raise schema_error(path, text, table, str(error), Scenario) from error
    if (between := made.expect.budget_used_between) is not None and between[0] > between[1]:
        message = f"expect.budget_used_between: {between[0]:g} is larger than {between[1]:g}"
        line = toml_places(text).line(("expect", "budget_used_between"))
        raise malformed(path, line, message, "the smaller one is first")
    _check_recorded(made, path, text)
    return made


_REASONS = tuple(reason.label for reason in Reason)


def _check_recorded(made: Scenario, path: Path, text: str) -> None:
    """Raises an error if [recorded] is not the last table, names an item twice, or has an unknown reason."""
    if made.recorded is None:
        return
    places = toml_places(text)
    headers = [header for header in places.headers if header.path[0] == "recorded"]
    if not headers or headers[0].start != places.first("recorded"):
        message = "recorded is not written as a table of its own"
        raise malformed(path, places.line(("recorded",)), message, "`secateur check --update` writes it: remove it")
    behind = [header for header in places.headers if header.start > headers[0].start and header.path[0] != "recorded"]
    if behind:
        message = f"[{dotted(behind[0].path)}] is after [recorded]"
        raise malformed(
            path, places.line_at(behind[0].start), message, "move it above: [recorded] is replaced as a whole"
        )
    seen: set[str] = set()
    for index, item in enumerate(made.recorded.items):
        here = ("recorded", "items", index)
        if item.id in seen:
            message = f"{shorten(item.id)} is recorded twice"
            raise malformed(path, places.line(here), message, "remove one, or record again: `secateur check --update`")
        if item.reason not in _REASONS:
            near = suggestion(item.reason, _REASONS)
            hint = f"did you mean {near}?" if near else "`secateur config --reasons` lists them all"
            raise malformed(path, places.line((*here, "reason")), f"unknown reason {shorten(item.reason)}", hint)
        seen.add(item.id)


# --- writing ----------------------------------------------------------------------------------------------------------


def dump_scenario(scenario: Scenario) -> str:
    """Formats a scenario's file."""
    lines = [f"scenario = {scenario.scenario}", f"kind = {toml_value(scenario.kind)}"]
    lines += [f"about = {toml_value(scenario.about)}"] if scenario.about else []
    lines += [f"part = {toml_value(scenario.part)}"] if scenario.part else []
    lines += ["", "[input]", *pairs(scenario.input)]
    if scenario.settings:
        lines += ["", "[settings]", *_setting_lines(scenario.settings)]
    lines += ["", *_expect_lines(scenario.expect)]
    if scenario.judged:
        lines += ["", "[judged]  # how much each answers the query: 1 a little, 3 fully", *pairs(scenario.judged)]
    if scenario.saved:
        lines += ["", SAVED_HEADER, *_recorded_lines(scenario.saved)]
    head = "\n".join(lines) + "\n"
    return replace_recorded(head, scenario.recorded) if scenario.recorded else head


def replace_recorded(text: str, recorded: Recorded) -> str:
    """Replaces the recorded decisions in a scenario's text; all above them stays as written, byte for byte."""
    header = "[recorded]  # by `secateur check --update`; what stands here is compared, and replaced as a whole"
    start = recorded_start(text)
    head = text[:start] if start < len(text) else text.rstrip("\n") + "\n\n"
    return head + "\n".join([header, *_recorded_lines(recorded)]) + "\n"


SAVED_HEADER = "[saved]  # when it was saved: says what moved a failing assertion, and is never compared"


def _recorded_lines(recorded: Recorded) -> list[str]:
    figures = [f"{name} = {toml_value(getattr(recorded, name))}" for name in ("budget", "after", "listed", "knobs")]
    return [*figures, "items = [", *(f"  {toml_value(_item(item))}," for item in recorded.items), "]"]


def set_assertion(text: str, id_: str, name: str) -> str:
    """Changes the text of a scenario's file so that only one list of `STATE_LISTS` asserts an id; "": none does. All
    else stays byte for byte."""
    for other in STATE_LISTS:
        if other != name:
            text = remove_expected(text, other, id_)
    return add_expected(text, name, [id_]) if name else text


STATE_LISTS = ("must_keep", "must_shorten", "must_drop")  # lists of `[expect]` that assert the state of an item


def replace_scenario(text: str, scenario: Scenario) -> str:
    """Replaces inputs, settings and recorded decisions in a scenario's text; what a person wrote around them stays."""
    old = msgspec.convert(tomli.loads(text), Scenario)
    if old.input != scenario.input:
        text = replace_table(text, "input", pairs(scenario.input)) or ""
    if text and old.settings != scenario.settings:
        lines = _setting_lines(scenario.settings)
        if old.settings:
            text = replace_table(text, "settings", lines) or ""
        else:
            text = replace_table(text, "input", [*pairs(scenario.input), "", "[settings]", *lines]) or ""
    if text and scenario.saved:
        lines = _recorded_lines(scenario.saved)
        if old.saved:
            text = replace_table(text, "saved", lines) or ""
        else:
            start = recorded_start(text)
            text = (
                "\n".join([text[:start].rstrip("\n"), "", SAVED_HEADER, *lines, "", text[start:]]).rstrip("\n") + "\n"
            )
    if not text:  # its tables are written in an unusual way
        return dump_scenario(scenario)
    return replace_recorded(text, scenario.recorded) if scenario.recorded else text


def _setting_lines(settings: Mapping[str, Any]) -> list[str]:
    return [f"{key} = {toml_value(value)}" for key, value in flat(settings)]


def _expect_lines(expect: Expect) -> list[str]:
    lines = ["[expect]"]
    for name in Expect.__struct_fields__:
        if (value := getattr(expect, name)) is None or value == [] or value == {} or value is False:
            continue
        if isinstance(value, list) and value and isinstance(value[0], Struct):
            value = [msgspec.to_builtins(item) for item in value]
        lines.append(f"{name} = {toml_value(msgspec.to_builtins(value))}")
    return lines


def _item(item: RecordedItem) -> dict[str, Any]:
    out: dict[str, Any] = {"id": item.id, "state": item.state, "reason": item.reason, "tokens": list(item.tokens)}
    out |= {"score": item.score} if item.score is not None else {}
    out |= {"rank": item.rank} if item.rank is not None else {}
    out |= {"terms": item.terms} if item.terms else {}
    return out | ({"text": item.text} if item.text else {})
