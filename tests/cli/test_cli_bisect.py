"""`secateur bisect`: sides of profiles, files and values; inputs of every kind; what it says where nothing moves."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.cli import secateur
from support.json_shapes import violations
from support.repos import QUERY, SHOP, committed, handlers, write

ITEM = "shop/refund.py::refund_total"
LOG = Path(__file__).parents[2] / "docs" / "examples" / "ci.log"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return committed(tmp_path / "shop", SHOP)


def test_the_setting_that_moves_it_is_named_with_its_proof(shop: Path) -> None:
    ran = secateur("bisect", QUERY, shop, "--from", "spec", "--to", "recommended", "--to", "budget=0", "--item", ITEM)
    assert (ran.code, ran.err) == (0, "")
    assert "settings differ; one of them changes its state:" in ran.out
    assert "  budget  -1 -> 0\n" in ran.out
    assert "    spec with it" in ran.out
    assert "dropped at rank 1: the budget is 0" in ran.out
    assert "    spec without it" in ran.out
    assert "kept at rank 1: there was room" in ran.out


def test_json_has_every_run_that_proves_it(shop: Path) -> None:
    answer = secateur("bisect", QUERY, shop, "--to", "budget=0", "--item", ITEM, "--format", "json").json
    assert violations("bisect", answer) == []
    assert answer["from"]["name"] == "in force"
    assert answer["moved"] == "state"
    assert answer["differing"] == [{"key": "budget", "from": -1, "to": 0}]
    (one,) = answer["sets"]
    assert one["settings"] == answer["differing"]
    assert (one["with"]["state"], one["without"][0]["state"]) == ("dropped", "kept")


def test_nothing_that_differs_moves_it_is_said(shop: Path) -> None:
    ran = secateur("bisect", QUERY, shop, "--to", "budget=9000", "--item", ITEM)
    assert ran.code == 0
    assert "1 setting differs; none of them changes it\n" in ran.out
    ran = secateur("bisect", QUERY, shop, "--to", "spec", "--item", ITEM)
    assert "no setting that affects these decisions differs" in ran.out


def test_a_side_may_be_a_file_with_values_on_top(shop: Path, tmp_path: Path) -> None:
    write(tmp_path, {"small.toml": 'profile = "spec"\n[smart_pruning]\nsignature_share = 0.5\n'})
    words = ("bisect", QUERY, shop, "--from", tmp_path / "small.toml", "--from", "budget=60", "--to", "spec")
    answer = secateur(*words, "--item", ITEM, "--format", "json").json
    assert answer["from"]["state"] != answer["to"]["state"]
    assert {change["key"] for change in answer["differing"]} == {"budget", "smart_pruning.signature_share"}


def test_a_scenario_is_bisected_and_its_settings_are_below_both_sides(shop: Path) -> None:
    saved = shop / "refunds.scenario.toml"
    assert secateur("search", QUERY, shop, "--set", "budget=5000", "--save", saved, "--exact").code == 0
    answer = secateur("bisect", saved, "--to", f"excludes={ITEM}", "--item", ITEM, "--format", "json").json
    assert answer["from"]["state"] == "kept"
    assert [change["key"] for change in answer["differing"]] == ["excludes"]
    assert answer["to"]["reason"] == "excluded"


def test_a_scenario_that_names_a_server_is_refused(shop: Path) -> None:
    text = (
        'scenario = 1\nkind = "search"\n[input]\nquery = "q"\npath = "."\n[settings]\nembedding.base_url = "http://x"\n'
    )
    write(shop, {"x.scenario.toml": text})
    ran = secateur("bisect", shop / "x.scenario.toml", "--to", "budget=0", "--item", ITEM)
    assert ran.code == 1
    assert "embedding.base_url" in ran.err


def test_other_kinds_take_their_inputs(tmp_path: Path) -> None:
    words = ("bisect", "--kind", "log", LOG, "--to", "log.max_tokens=60")
    known = secateur("log", LOG, "--format", "json").json
    item = next(entry["id"] for entry in known["ledger"]["entries"] if entry["state"] == "kept")
    assert secateur(*words, "--item", item).code == 0
    write(tmp_path, handlers(3))
    ran = secateur(
        "bisect", "--kind", "files", tmp_path, "--input", "query=handle tool call", "--to",
        "context_prune.max_tokens=200", "--item", "nothing",
    )  # fmt: skip
    assert ran.code == 1
    assert "no entry has the id nothing" in ran.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--to", "recommendd", "--item", ITEM], "did you mean recommended?"),
        (["--to", "budgt=3", "--item", ITEM], "unknown key budgt"),
        (["--to", "spec", "--to", "recommended", "--item", ITEM], "--to names 2 profiles"),
        (["--to", "budget=0", "--item", "refund_totl"], f"did you mean {ITEM}?"),
        (["--to", "budget=0", "--item", ITEM, "--input", "quer=x"], "is no input of search"),
        (["--to", "budget=0", "--item", ITEM, "--kind", "logs"], "there is no kind of context named logs"),
        (["--to", "nowhere/x.toml", "--item", ITEM], "cannot be read"),
        (["--item", ITEM], "--to"),
    ],
)
def test_wrong_calls_say_what_to_do(shop: Path, words: list[str], said: str) -> None:
    ran = secateur("bisect", QUERY, shop, *words)
    assert ran.code in (1, 2)
    assert said in ran.err
    assert not ran.out


def test_names_from_outside_reach_no_terminal_as_they_are(shop: Path) -> None:
    ran = secateur("bisect", QUERY, shop, "--to", "budget=0", "--item", "\x1b[31mred")
    assert ran.code == 1
    assert "\x1b" not in ran.err
