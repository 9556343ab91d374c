"""`secateur prefer`: what it remembers, and what a search makes of it."""

import pytest
from support.cli import secateur
from support.repos import SHOP, write

QUERY = "where is the refund total rounded?"
ON = ("--set", "preference.enabled=true")


@pytest.fixture(autouse=True)
def own(tmp_path, monkeypatch):
    monkeypatch.setenv("SECATEUR_CONFIG_DIR", str(tmp_path / "own"))
    return tmp_path / "own"


@pytest.fixture
def shop(tmp_path):
    return write(tmp_path / "shop", SHOP)


def terms(report):
    return {one["symbol_id"]: one["terms"] for one in report["candidates"]}


def test_a_preferred_symbol_gains_a_term_of_its_own_until_it_is_removed(shop):
    plain = secateur("search", QUERY, shop, "--format", "json").json
    symbol = [one["symbol_id"] for one in plain["candidates"] if one["kind"] == "function"][-1]
    added = secateur("prefer", "add", symbol.rpartition("::")[2], shop, "--format", "json")
    assert added.code == 0 and added.json["changed"] == symbol and not added.json["enabled"]
    assert secateur("search", QUERY, shop, "--format", "json").json["candidates"] == plain["candidates"]
    preferred = secateur("search", QUERY, shop, "--format", "json", *ON).json
    assert terms(preferred)[symbol]["preference"] == 0.2
    was = next(one for one in plain["candidates"] if one["symbol_id"] == symbol)
    now = next(one for one in preferred["candidates"] if one["symbol_id"] == symbol)
    assert now["priority"] == pytest.approx(was["priority"] + 0.2)
    assert "prefers 1 of the candidates" in secateur("search", QUERY, shop, *ON).out
    assert secateur("prefer", "remove", symbol, shop).code == 0
    assert {
        one["preference"] for one in terms(secateur("search", QUERY, shop, "--format", "json", *ON).json).values()
    } == {0}


def test_nothing_is_written_into_the_repository(own, shop):
    before = sorted(shop.rglob("*"))
    secateur("prefer", "add", "round_total", shop)
    assert sorted(shop.rglob("*")) == before
    assert list(own.rglob("preferences.json"))


def test_the_list_shows_values_strongest_first(shop):
    secateur("prefer", "add", "round_total", shop, "--strength", "0.5")
    secateur("prefer", "add", "refund_total", shop)
    out = secateur("prefer", "list", shop).out
    assert out.index("::refund_total") < out.index("::round_total") and " 0.500      0.50      0  " in out
    assert "none counts until" in out and "remembered  2" in out
    assert secateur("prefer", "remove", "--all", shop, "--format", "json").json["symbols"] == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("add",), "needs a SYMBOL"),
        (("ad", "x"), "did you mean add"),
        (("add", "nowhere_at_all_zz", "SHOP"), "nothing here is called nowhere_at_all_zz"),
        (("add", "refund_totl", "SHOP"), "did you mean shop/refund.py::refund_total"),
        (("remove", "x", "SHOP"), "x is not remembered here"),
        (("list", "x", "SHOP"), "takes no SYMBOL"),
        (("list", "SHOP", "--strength", "1"), "takes no --strength"),
        (("add", "x", "SHOP", "--strength", "2"), "--strength '2' is not allowed"),
        (("add", "x", "SHOP", "--strength", "nan"), "--strength 'nan' is not allowed"),
        (("add", "x", "SHOP", "--all"), "takes no --all"),
    ],
)
def test_a_wrong_call_names_what_is_wrong(shop, words, said):
    ran = secateur("prefer", *(shop if word == "SHOP" else word for word in words))
    assert ran.code == 2 and ran.out == "" and said in ran.err


def test_a_name_of_several_symbols_is_asked_back(shop):
    write(shop, {"other.py": "def round_total(x):\n    return x\n"})
    ran = secateur("prefer", "add", "round_total", shop)
    assert ran.code == 2 and "other.py::round_total" in ran.err


def test_a_folder_that_is_none_is_an_error(tmp_path):
    assert secateur("prefer", "list", tmp_path / "nowhere").code == 1


def test_a_broken_store_costs_itself_with_a_warning(own, shop):
    secateur("prefer", "add", "round_total", shop)
    (path,) = own.rglob("preferences.json")
    path.write_bytes(b"{")
    report = secateur("search", QUERY, shop, "--format", "json", *ON).json
    assert report["candidates"]
    (said,) = [one["message"] for one in report["warnings"] if one["code"] == "preferences_unreadable"]
    assert "it is not JSON" in said and str(own) not in said
    listed = secateur("prefer", "list", shop, "--format", "json")
    assert listed.code == 0 and listed.json["symbols"] == [] and listed.json["warnings"]
    again = secateur("prefer", "add", "refund_total", shop, "--format", "json")
    assert "a new one begins" in again.json["warnings"][0]["message"] and len(again.json["symbols"]) == 1


def test_a_symbol_that_is_gone_is_told(shop):
    secateur("prefer", "add", "round_total", shop)
    source = next(path for path in shop.rglob("*.py") if "def round_total" in path.read_text())
    source.write_text(source.read_text().replace("round_total", "rounded"))
    report = secateur("search", QUERY, shop, "--format", "json", *ON).json
    (said,) = [one["message"] for one in report["warnings"] if one["code"] == "unknown_preference"]
    assert "::round_total" in said


def test_a_scenario_does_not_see_them(shop, tmp_path):
    scenario = tmp_path / "a.scenario.toml"
    before = secateur("search", QUERY, shop, "--save", scenario, *ON)
    assert before.code == 0
    secateur("prefer", "add", "round_total", shop)
    assert secateur("check", scenario).code == 0
