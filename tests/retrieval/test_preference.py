import pytest
from secateur.errors import ConfigError
from secateur.retrieval.results import FILE_NAME, Preferences, load_preferences, preference_scores
from support.cli import secateur
from support.repos import SHOP, write

SYMBOLS = ["orders/services/a.py::OrderProcessor.run", "orders/money.py::round", "x.py::OrderProcessor.stop"]


def test_patterns_are_read_from_the_users_own_folder(tmp_path):
    (tmp_path / FILE_NAME).write_text('[symbols]\n"orders/*" = 0.6\n"*::OrderProcessor.*" = 1\n')
    assert load_preferences(tmp_path) == {"orders/*": 0.6, "*::OrderProcessor.*": 1.0}


@pytest.mark.parametrize("text", [None, "", "[other]\nx = 1\n", "[symbols]\n"])
def test_without_any_there_are_none(tmp_path, text):
    if text is not None:
        (tmp_path / FILE_NAME).write_text(text)
    assert load_preferences(tmp_path) == {}
    assert load_preferences(None) == {}


@pytest.mark.parametrize(
    "text",
    [
        "symbols = 3",
        '[symbols]\n"a" = 1.5',
        '[symbols]\n"a" = -0.1',
        '[symbols]\n"a" = nan',
        '[symbols]\n"a" = true',
        '[symbols]\n"a" = "much"',
        "[symbols",
        "x = " + "[" * 5000,
        "x = " + "9" * 5000,
        "\udcff",
    ],
)
def test_a_malformed_file_is_an_error_that_names_it(tmp_path, text):
    (tmp_path / FILE_NAME).write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ConfigError, match=FILE_NAME) as caught:
        load_preferences(tmp_path)
    assert caught.value.hint


def test_the_largest_value_that_matches_counts():
    preferences = Preferences({"orders/*": 0.6, "*::OrderProcessor.*": 0.9, "orders/money.py::round": 0.1})
    assert preference_scores(SYMBOLS, preferences).tolist() == [0.9, 0.6, 0.9]
    both = Preferences(
        {"orders/*": 0.6}, {"orders/money.py::round": 0.8, "orders/services/a.py::OrderProcessor.run": 0.1}
    )
    assert preference_scores(SYMBOLS, both).tolist() == [0.6, 0.8, 0.0]
    assert preference_scores(SYMBOLS, Preferences()).tolist() == [0.0, 0.0, 0.0]
    assert preference_scores([], preferences).tolist() == []


def test_patterns_tell_upper_from_lower_case():
    assert preference_scores(SYMBOLS, Preferences({"*::orderprocessor.*": 1.0})).tolist() == [0.0, 0.0, 0.0]


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


@pytest.mark.parametrize("text", [None, "", "[symbols]\n"])
def test_preference_without_a_symbol_is_told_with_the_file(own, shop, text):
    if text is not None:
        (own / FILE_NAME).write_text(text)
    for _ in range(2):  # from the cache as well
        (message,) = notices_of(search(shop), "no_preferences")
        assert f"{FILE_NAME} in your configuration folder" in message
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


def test_a_symbol_that_is_misspelt_is_told_with_those_near_to_it(own, shop):
    (own / FILE_NAME).write_text(
        '[symbols]\n"shop/refund.py::refund_totl" = 1.0\n"shp/*" = 0.5\n"*::round_total" = 0.4\n"README.md::*" = 0.1\n'
    )
    (message,) = notices_of(search(shop), "unknown_preference")
    lost = "shop/refund.py::refund_totl (near: shop/refund.py::refund_total); shp/* (near: shop)"
    assert message == f"{FILE_NAME} in your configuration folder: nothing here is called {lost}."
    (own / FILE_NAME).write_text('[symbols]\n"shop/*" = 0.5\n')
    assert notices_of(search(shop), "unknown_preference") == []


def test_of_many_the_first_are_named_and_the_others_counted(own, shop):
    (own / FILE_NAME).write_text("[symbols]\n" + "".join(f'"zzz{number}/*" = 0.5\n' for number in range(9)))
    (message,) = notices_of(search(shop), "unknown_preference")
    assert message.endswith("zzz0/*; zzz1/*; zzz2/* and 6 more.")
