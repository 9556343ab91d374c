import pytest
from secateur.retrieval.results import Preferences, preference_scores
from support.cli import secateur
from support.repos import SHOP, write

SYMBOLS = ["orders/services/a.py::OrderProcessor.run", "orders/money.py::round", "x.py::OrderProcessor.stop"]


def test_a_symbol_counts_what_is_remembered_of_it():
    assert preference_scores(SYMBOLS, Preferences({"orders/money.py::round": 0.8})).tolist() == [0.0, 0.8, 0.0]
    assert preference_scores(SYMBOLS, Preferences()).tolist() == [0.0, 0.0, 0.0]
    assert preference_scores([], Preferences({"orders/money.py::round": 0.8})).tolist() == []


# --- what does nothing is told ----------------------------------------------------------------------------------------


def search(shop, *words):
    return secateur(
        "search",
        "where is the refund total rounded?",
        shop,
        "--format",
        "json",
        "--set",
        "preference.enabled=true",
        *words,
    ).json


def notices_of(report, code):
    return [warning["message"] for warning in report["warnings"] if warning["code"] == code]


@pytest.fixture
def own(tmp_path, monkeypatch):
    folder = tmp_path / "own"
    folder.mkdir()
    monkeypatch.setenv("SECATEUR_CONFIG_DIR", str(folder))
    return folder


@pytest.fixture
def shop(tmp_path):
    return write(tmp_path / "shop", SHOP)


@pytest.mark.usefixtures("own")
def test_preference_without_a_symbol_is_told(shop):
    for _ in range(2):  # from the cache as well
        (message,) = notices_of(search(shop), "no_preferences")
        assert "`secateur prefer add SYMBOL` remembers" in message
    assert "no_preferences" not in secateur("search", "refund", shop, "--format", "json").out


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize("form", ["markdown", "xml"])
@pytest.mark.parametrize("budget", [200, 8000])
def test_a_preference_that_changes_nothing_changes_no_byte_of_a_pack(shop, form, budget):
    words = "search", "where is the refund total rounded?", shop, "--format", form, "--budget", budget
    plain, preferred = secateur(*words), secateur(*words, "--set", "preference.enabled=true")
    assert preferred.out == plain.out != ""
    assert "Preference is on and changes nothing" in preferred.err
    assert plain.err == "" or (form == "xml" and plain.err.startswith("note: decided and counted as XML"))
