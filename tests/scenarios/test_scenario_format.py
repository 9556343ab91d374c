"""The file of a scenario: what is written is read back equal, and what a person wrote stays byte for byte."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
import tomli
from hypothesis import example, given
from hypothesis import strategies as st
from secateur.errors import SecateurError
from secateur.ledger import Reason
from secateur_lab.scenarios.scenario import (
    Expect,
    RankOf,
    RecallOf,
    Recorded,
    RecordedItem,
    Scenario,
    dump_scenario,
    parse_scenario,
    replace_recorded,
    set_assertion,
)
from secateur_lab.scenarios.toml_writing import add_expected, toml_places

HERE = Path("a.scenario.toml")

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=30)
NAME = st.one_of(
    st.sampled_from(["a.py::f", "[recorded]", '"', "'''", "a\n[recorded]\nb", "\\", "#", "é.py", ""]), TEXT
)
COUNT = st.integers(0, 10**9)
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
VALUE = st.one_of(TEXT, st.booleans(), st.integers(-(2**53), 2**53), NUMBER, st.lists(TEXT, max_size=3))
TABLE = st.dictionaries(NAME, VALUE, max_size=3)
IDS = st.lists(NAME, max_size=3)

ITEM = st.builds(
    RecordedItem,
    id=NAME,
    state=st.sampled_from(["kept", "shortened", "summarised", "dropped"]),
    reason=st.sampled_from([reason.label for reason in Reason]),
    tokens=st.tuples(COUNT, st.integers(-(10**9), 10**9)),
    score=st.none() | NUMBER,
    rank=st.none() | st.integers(1, 10**6),
    terms=st.dictionaries(NAME, NUMBER, max_size=3),
    text=st.sampled_from(["", "1a2b3c4d"]),
)
EXPECT = st.builds(
    Expect,
    exact=st.booleans(),
    must_keep=IDS,
    must_shorten=IDS,
    must_drop=IDS,
    budget_used_between=st.none() | st.tuples(NUMBER, NUMBER).map(lambda two: (min(two), max(two))),
    rank_of=st.lists(st.builds(RankOf, id=NAME, at_most=st.integers(1, 99)), max_size=2),
    recall_of=st.lists(
        st.builds(RecallOf, ids=st.lists(NAME, min_size=1, max_size=3), at_least=st.floats(0, 1)), max_size=2
    ),
    contains=IDS,
    lacks=IDS,
    cache_reread_at_most=st.none() | COUNT,
    coverage=st.dictionaries(NAME, st.sampled_from(["whole", "split", "left_out"]), max_size=2),
)
RECORDED = st.builds(
    Recorded,
    budget=st.integers(-1, 10**9),
    after=COUNT,
    listed=st.sampled_from(["all", "best"]),
    knobs=TABLE,
    items=st.lists(ITEM, max_size=3, unique_by=lambda item: item.id),
)
SCENARIO = st.builds(
    Scenario,
    scenario=st.just(1),
    kind=NAME,
    about=TEXT,
    input=TABLE,
    settings=st.dictionaries(st.sampled_from(["budget", "profile"]), VALUE, max_size=2)
    | st.just({"graph_rag": {"top_k": 7}, "boosts": {"a.py::f": 1.5}, "smart_pruning": {"priority_weights": {"x": 1}}}),
    expect=EXPECT,
    judged=st.dictionaries(NAME, st.integers(0, 3), max_size=2),
    recorded=st.none() | RECORDED,
)


@given(SCENARIO)
def test_what_is_written_is_read_back_equal(scenario: Scenario) -> None:
    text = dump_scenario(scenario)
    assert parse_scenario(text, HERE) == scenario
    assert dump_scenario(parse_scenario(text, HERE)) == text
    assert not {sign for sign in text if sign != "\n" and not sign.isprintable() and sign != "\t"}


HANDWRITTEN = """\
# ours
scenario = 1   # the format
kind = "search"
about = "[recorded] is no table here"

[input]
query = '''
[recorded]
[expect]
must_keep = ["x"]'''
path = "."

[judged]
"a.py::f" = 3   # best
"""

EXPECTS = (
    "",
    "[expect]\n",
    "[expect]  # what must hold\nexact = true\n",
    '[expect]\nmust_keep = [\n  "a",  # first\n  # and then\n  "b",  # last\n]\nexact = true\n',
    '[expect]\nmust_keep = [\n  "a",\n  "b"  # last\n]\n',
    "[expect]\nmust_keep=['a' , \"b]\"]#end\n",
    "[expect]\nmust_keep = [ # none yet\n]\n",
    '[expect.coverage]\n"a" = "whole"\n',
    '[[expect.rank_of]]\nid = "a"\nat_most = 3\n',
)


@given(st.sampled_from(EXPECTS), RECORDED, st.sampled_from(["", "\n", "\r\n", "# the end\n"]), st.none() | RECORDED)
def test_recording_leaves_all_above_it_as_it_was(
    expect: str, recorded: Recorded, end: str, before: Recorded | None
) -> None:
    text = HANDWRITTEN + expect + end
    if before is not None:
        text = replace_recorded(text, before)
    new = replace_recorded(text, recorded)
    above = HANDWRITTEN + expect + end
    assert new.startswith(above.rstrip("\n"))
    assert parse_scenario(new, HERE).recorded == recorded
    old = parse_scenario(HANDWRITTEN + expect, HERE)
    assert parse_scenario(new, HERE) == msgspec.structs.replace(old, recorded=recorded)
    assert replace_recorded(new, recorded) == new


@given(
    st.sampled_from([HANDWRITTEN + one for one in EXPECTS] + ['scenario = 1\nkind = "x"\nexpect.exact = true\n'])
    | st.sampled_from(
        ['scenario = 1\nkind = "x"\nexpect = {}\n', 'scenario = 1\nkind = "x"\nexpect = { exact = true }']
    ),
    st.sampled_from(["must_keep", "must_drop", "contains"]),
    IDS,
    st.none() | RECORDED,
)
@example(HANDWRITTEN + EXPECTS[3], "must_keep", ["b", "c"], None)
def test_a_further_assertion_leaves_all_else_as_it_was(
    text: str, name: str, ids: list[str], recorded: Recorded | None
) -> None:
    if recorded is not None:
        text = replace_recorded(text, recorded)
    old = parse_scenario(text, HERE)
    new = add_expected(text, name, ids)
    wanted = list(dict.fromkeys([*getattr(old.expect, name), *ids]))
    expect = msgspec.structs.replace(old.expect, **{name: wanted})
    assert parse_scenario(new, HERE) == msgspec.structs.replace(old, expect=expect)
    left = list(new)
    position = 0
    for sign in text:  # every character that was there is there, in its order
        position = left.index(sign, position) + 1


def test_a_further_element_leaves_comments_behind_the_values_that_they_are_about() -> None:
    text = '[expect]\nmust_keep = [\n  "a",  # first\n  "b"  # second\n]\n'
    longer = add_expected(text, "must_keep", ["c"])
    assert longer == '[expect]\nmust_keep = [\n  "a",  # first\n  "b",  # second\n  "c"\n]\n'
    assert set_assertion(longer, "b", "must_drop") == (
        '[expect]\nmust_keep = [\n  "a",  # first\n  "c"\n]\nmust_drop = ["b"]\n'
    )


def test_a_list_that_cannot_be_changed_is_named() -> None:
    text = '[expect]\nmust_keep = [\n  "a" # first\n  ,\n]\n'
    with pytest.raises(SecateurError) as error:
        add_expected(text, "must_keep", ["b"])
    assert error.value.message.startswith("expect.must_keep is written in a way that cannot be changed: ")
    assert error.value.hint == "put each comma right behind its value, before the comment"


def _paths(value: Any, where: tuple[str | int, ...] = ()) -> dict[tuple[str | int, ...], Any]:
    found = {where: value} if where else {}
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for part, one in inside:
        found |= _paths(one, (*where, part))
    return found


@given(SCENARIO)
def test_every_value_has_its_place(scenario: Scenario) -> None:
    text = dump_scenario(scenario)
    places = toml_places(text)
    for path, value in _paths(tomli.loads(text)).items():
        assert path in places.keys
        if path in places.spans:
            start, end = places.spans[path]
            assert tomli.loads(f"a = {text[start:end]}")["a"] == value


MALFORMED: dict[str, tuple[str, int, str]] = {
    "nothing": ("", 1, "it does not name its format"),
    "no TOML": ('scenario = 1\nkind = "search\n', 2, "Illegal character"),
    "text behind a value": ("scenario = 1 kind\n", 1, "Expected newline"),
    "an end inside a list": ("scenario = 1\na = [", 2, "Invalid value"),
    "a key twice": ("scenario = 1\nscenario = 1\n", 2, "Cannot overwrite a value"),
    "another format": ("scenario = 2\n", 1, "scenario = 2 is not a format that this version reads"),
    "true is no number": ("\nscenario = true\n", 2, "scenario = True is not a format"),
    "no kind": ("scenario = 1\n", 1, "kind is missing"),
    "a wrong type": ("scenario = 1\nkind = 3\n", 2, "kind: it takes a text, got an integer"),
    "a table that is none": ('scenario = 1\nkind = "a"\n[[input]]\n', 3, "input: it takes a table, got a list"),
    "an unknown key": ('scenario = 1\nkind = "a"\n\nkinds = "b"\n', 4, "unknown key kinds"),
    "an unknown table": ('scenario = 1\nkind = "a"\n[expected]\n', 3, "unknown key expected"),
    "an unknown assertion": (
        'scenario = 1\nkind = "a"\n[input]\nmust_keeep = "x"\n[expect]\nmust_keeep = []\n',
        6,
        "unknown key expect.must_keeep",
    ),
    "no list": ('scenario = 1\nkind = "a"\n[expect]\nmust_keep = "a"\n', 4, "expect.must_keep: it takes a list"),
    "no text in a list": (
        'scenario = 1\nkind = "a"\n[expect]\nmust_keep = [\n "a",\n 3,\n]\n',
        6,
        "expect.must_keep[1]: it takes a text, got an integer",
    ),
    "three numbers": (
        'scenario = 1\nkind = "a"\n[expect]\nbudget_used_between = [1, 2, 3]\n',
        4,
        "expect.budget_used_between: it takes a list of length 2, got 3",
    ),
    "the larger number first": (
        'scenario = 1\nkind = "a"\n[expect]\nbudget_used_between = [0.9, 0.1]\n',
        4,
        "expect.budget_used_between: 0.9 is larger than 0.1",
    ),
    "no number": (
        'scenario = 1\nkind = "a"\n[expect]\nbudget_used_between = [nan, 1]\n',
        4,
        "expect.budget_used_between[0] = nan is not allowed",
    ),
    "a date": (
        'scenario = 1\nkind = "a"\n[settings]\nbudget = 2020-01-01\n',
        4,
        "settings.budget = 2020-01-01 is not allowed",
    ),
    "a share above one": (
        'scenario = 1\nkind = "a"\n[[expect.recall_of]]\nids = ["a"]\nat_least = 1\n[[expect.recall_of]]\nids = ["a"]\n'
        "at_least = 1.5\n",
        8,
        "expect.recall_of[1].at_least: it takes a number <= 1",
    ),
    "recall of nothing": (
        'scenario = 1\nkind = "a"\n[expect]\nrecall_of = [\n{ ids = [], at_least = 1 }]\n',
        5,
        "expect.recall_of[0].ids: it takes a list of length >= 1",
    ),
    "no rank": (
        'scenario = 1\nkind = "a"\n[expect]\nrank_of = [{ id = "a" }]\n',
        4,
        "expect.rank_of[0].at_most is missing",
    ),
    "an unknown coverage": (
        'scenario = 1\nkind = "a"\n[expect.coverage]\n"a.py" = "whole"\n"b.py" = "half"\n',
        5,
        "expect.coverage.\"b.py\": unknown value 'half'",
    ),
    "a grade that is none": (
        'scenario = 1\nkind = "a"\n[judged]\n"a" = 1\n"b.py::c" = 4\n',
        5,
        'judged."b.py::c": it takes an integer <= 3',
    ),
    "an unknown state": (
        'scenario = 1\nkind = "a"\n[recorded]\nbudget = 1\nafter = 1\nitems = [\n'
        '{ id = "a", state = "kept", reason = "fits" },\n{ id = "b", state = "kep", reason = "fits" },\n]\n',
        8,
        "recorded.items[1].state: unknown value 'kep'",
    ),
    "an unknown reason": (
        'scenario = 1\nkind = "a"\n[recorded]\nbudget = 1\nafter = 1\nitems = [\n'
        '{ id = "b", state = "kept", reason = "fitz" },\n]\n',
        7,
        "unknown reason fitz",
    ),
    "an id twice": (
        'scenario = 1\nkind = "a"\n[recorded]\nbudget = 1\nafter = 1\nitems = [\n'
        '{ id = "b", state = "kept", reason = "fits" },\n{ id = "b", state = "kept", reason = "fits" },\n]\n',
        8,
        "b is recorded twice",
    ),
    "a table behind the recorded one": (
        'scenario = 1\nkind = "a"\n[recorded]\nbudget = 1\nafter = 1\n[expect]\nexact = true\n',
        6,
        "[expect] is after [recorded]",
    ),
    "what is recorded is no table": (
        'scenario = 1\nkind = "a"\nrecorded = { budget = 1, after = 1 }\n',
        3,
        "recorded is not written as a table of its own",
    ),
    "brackets without end": ('scenario = 1\nkind = "a"\n[input]\na = ' + "[" * 5000, 4, "nested more than"),
    "a name of a thousand parts": ("scenario = 1\n" + "a." * 5000 + "a = 1\n", 2, "more than the allowed 1000 parts"),
    "a number of thousands of digits": ("scenario = 1\na = " + "9" * 5000, 2, "a number has too many digits"),
    "a byte order mark": ("\ufeffscenario = 1\n", 1, "Invalid statement"),
    "NUL": ('scenario = 1\nkind = "a\0b"\n', 2, "Illegal character"),
    "an escape sequence": ('scenario = 1\nkind = "a"\n[expect]\n"\\u001b[2J" = 1\n', 4, 'unknown key expect."␛[2J"'),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_what_is_malformed_is_named_with_file_line_and_key(name: str) -> None:
    text, line, message = MALFORMED[name]
    with pytest.raises(SecateurError) as error:
        parse_scenario(text, HERE)
    assert error.value.message.startswith(f"{HERE}:{line}: ")
    assert message in error.value.message
    assert error.value.code == "SCENARIO"
    assert error.value.hint
    assert not set(error.value.message + error.value.hint) & set("\x1b\0")
