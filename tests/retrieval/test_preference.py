import pytest
from secateur.errors import ConfigError
from secateur.retrieval.preference import FILE_NAME, load_preferences, preference_scores

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
    preferences = {"orders/*": 0.6, "*::OrderProcessor.*": 0.9, "orders/money.py::round": 0.1}
    assert preference_scores(SYMBOLS, preferences).tolist() == [0.9, 0.6, 0.9]
    assert preference_scores(SYMBOLS, {}).tolist() == [0.0, 0.0, 0.0]
    assert preference_scores([], preferences).tolist() == []


def test_patterns_tell_upper_from_lower_case():
    assert preference_scores(SYMBOLS, {"*::orderprocessor.*": 1.0}).tolist() == [0.0, 0.0, 0.0]
