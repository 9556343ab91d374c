"""The JSON schemas: every answer has one, and it is strict. What `recorded` does not print is printed here."""

from __future__ import annotations

from typing import Any

import pytest
from secateur.cli.schemas import SHAPES, schemas
from secateur.kind_places import BUILT_IN
from secateur.ledger import Reason
from support.cli import secateur
from support.json_shapes import violations

ENTRY = {"id": "a.py", "state": "dropped", "reason": "no_room", "before": 9, "after": 0, "figures": {"left": 3}}
LEDGER = {"kind": "files", "budget": 5, "before": 9, "after": 0, "entries": [ENTRY]}


def test_every_kind_has_a_schema() -> None:
    assert {place.command for place in BUILT_IN} <= SHAPES.keys()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("index", ("index", "sample:orders")),
        ("status", ("status", "sample:orders")),
        ("status", ("status", "sample:orders", "--examples")),
        ("prefer", ("prefer", "list", "sample:orders")),
        ("status-check", ("status", "sample:orders", "--check")),
        ("index-clear", ("index", "sample:orders", "--clear")),
        ("config", ("config",)),
        ("config-reasons", ("config", "--reasons")),
        ("status", ("status", "sample:nowhere")),
    ],
)
def test_the_other_commands_print_what_their_schema_says(name: str, words: tuple[str, ...]) -> None:
    assert violations(name, secateur(*words, "--format", "json").json) == []


def test_every_reason_is_among_the_codes_of_an_entry() -> None:
    for reason in Reason:
        assert violations("ledger", LEDGER | {"entries": [ENTRY | {"reason": reason.label}]}) == []


@pytest.mark.parametrize(
    "wrong",
    [
        LEDGER | {"entries": [ENTRY | {"reason": "no room"}]},
        LEDGER | {"entries": [ENTRY | {"state": "lost"}]},
        LEDGER | {"entries": [ENTRY | {"note": "x"}]},
        LEDGER | {"total": 9},
        {name: value for name, value in LEDGER.items() if name != "after"},
    ],
)
def test_what_no_ledger_has_is_refused(wrong: dict[str, Any]) -> None:
    assert violations("ledger", wrong)


def test_descriptions_are_of_one_line() -> None:
    for schema in schemas().values():
        for shape in schema["$defs"].values() if "$defs" in schema else ():
            assert "\n" not in shape.get("description", ""), shape["title"]
