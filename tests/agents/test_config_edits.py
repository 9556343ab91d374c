"""Entries in configurations of agents: removing gives back the bytes that were there."""

from __future__ import annotations

import json

import pytest
import tomli
from hypothesis import given
from hypothesis import strategies as st
from secateur_agents.config_edits import (
    ConfigEntry,
    InstructionLines,
    JsonServer,
    OwnFile,
    TomlServer,
    UnreadableConfigError,
    remove_entry,
)

SERVER = {"command": "secateur", "args": ["mcp"]}
JSON, TOML = JsonServer("mcpServers", SERVER), TomlServer("mcp_servers", SERVER)
LINES = InstructionLines(("Search first.", "Then read."))

JSON_TEXTS = [
    None,
    "{}",
    "{ }",
    "{\n}\n",
    '{"mcpServers": {}}',
    '{"mcpServers": { }}\n',
    '{\n  "mcpServers": {\n  }\n}\n',
    '{"a": 1}',
    '{"a": -1.5e3, "b": [1, {"c": null}], "d": "\\u00e9 \\"x\\" é"}',
    '{\n  "hooks": {"PreToolUse": []},\n  "mcpServers": {\n    "other": {"command": "x"}\n  }\n}\n',
    '{\r\n\t"mcpServers": {\r\n\t\t"other": {"command": "x"}\r\n\t}\r\n}\r\n',
    '// head\n{\n  // servers\n  "mcpServers": {\n    "other": {}, // the other\n  }, /* last */\n}\n// tail',
    '{\n  "a": 1 // note\n}',
    '{"a": 1 // note\n}',
    '{"a": 1, // note\n}',
    '{"a": 1 /* note */ ,\n}',
    '{"mcpServers": {"a": {}}, "mcpServers": {"b": {}}}',
]
TOML_TEXTS = [
    None,
    "",
    "\n",
    "a = 1",
    "a = 1\n",
    "# note\r\n[x]\r\ny = 1\r\n",
    '[mcp_servers.other]\ncommand = "x" # note\n\n\n',
    '[mcp_servers]\n[mcp_servers.other]\ncommand = "x"',
]
TEXTS = [None, "", "\n", "\n\n", "# Rules", "# Rules\n", "# Rules\r\nBe brief.\r\n", "# Rules\n\n"]


@pytest.mark.parametrize(
    ("entry", "text"),
    [(entry, text) for entry, texts in ((JSON, JSON_TEXTS), (TOML, TOML_TEXTS), (LINES, TEXTS)) for text in texts],
)
def test_removing_gives_back_what_was_there(entry: ConfigEntry, text: str | None) -> None:
    new = entry.add(text)
    assert new != text and entry.add(new) == new
    assert remove_entry(entry, new) == text
    assert remove_entry(entry, text) == text


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(
    data=st.dictionaries(
        st.text() | st.just("mcpServers"), st.dictionaries(st.text(), _VALUES, max_size=3), max_size=4
    ),
    indent=st.none() | st.integers(0, 4),
    ascii_only=st.booleans(),
    end=st.sampled_from(["", "\n"]),
)
def test_any_json_comes_back_and_means_the_same(data: dict, indent: int | None, ascii_only: bool, end: str) -> None:
    text = json.dumps(data, indent=indent, ensure_ascii=ascii_only) + end
    if "secateur" in data.get("mcpServers", {}):
        return
    try:
        new = JSON.add(text)
    except UnicodeEncodeError:  # half a character cannot be in a file
        return
    assert json.loads(new) == {**data, "mcpServers": {**data.get("mcpServers", {}), "secateur": SERVER}}
    assert remove_entry(JSON, new) == text


@given(st.text(st.sampled_from("ab \r\n#"), max_size=12))
def test_any_instructions_come_back(text: str) -> None:
    assert remove_entry(LINES, LINES.add(text)) == text


def test_what_came_since_stays_and_so_does_an_entry_that_was_changed() -> None:
    new = json.loads(JSON.add('{"mcpServers": {"a": {}}}'))
    new["mcpServers"]["b"] = {}
    rewritten = json.dumps(new, indent=2)
    assert json.loads(remove_entry(JSON, rewritten) or "") == {"mcpServers": {"a": {}, "b": {}}}
    changed = rewritten.replace('"mcp"', '"mcp", "."')
    assert changed != rewritten and remove_entry(JSON, changed) == changed
    added = TOML.add("a = 1\n")
    assert remove_entry(TOML, added + "\n[z]\nb = 2\n") == "a = 1\n\n[z]\nb = 2\n"
    spaced = added.replace("command = ", "command   = ")
    assert tomli.loads(remove_entry(TOML, spaced) or "")["a"] == 1 and "secateur" not in (
        remove_entry(TOML, spaced) or ""
    )
    assert remove_entry(TOML, added.replace('"mcp"', '"mcp", "."')) == added.replace('"mcp"', '"mcp", "."')
    assert remove_entry(LINES, LINES.add("# Rules\n") + "More.\n") == "# Rules\nMore.\n"


def test_a_file_of_our_own_goes_and_one_that_differs_is_the_users() -> None:
    entry = OwnFile("plugin", "export {}\n")
    assert entry.add(None) == "export {}\n" and remove_entry(entry, "export {}\n") is None
    assert entry.add("mine") == "mine" == remove_entry(entry, "mine") and remove_entry(entry, None) is None


@pytest.mark.parametrize(
    ("entry", "text", "place"),
    [
        (JSON, "", "1:1"),
        (JSON, "[]", "1:1: it is not a JSON object"),
        (JSON, '{"mcpServers": []}', "1:2: its value is not a JSON object"),
        (JSON, '{\n  "a": 1,\n  "b": what\n}', "3:8"),
        (JSON, "{\n  'a': 1\n}", "2:3"),
        (JSON, '{"a": 1} {}', "1:"),
        (JSON, '{"a": f()}', "1:7"),
        (TOML, "a = 1\nb = \n", "2:5"),
        (TOML, "mcp_servers = 1", "1:1: mcp_servers is not a table"),
        (TOML, "mcp_servers = {x = {}}\n", "cannot be added"),
    ],
)
def test_a_broken_configuration_is_refused_with_the_place(entry: ConfigEntry, text: str, place: str) -> None:
    with pytest.raises(UnreadableConfigError, match=place.replace("(", r"\(")):
        entry.add(text)
