"""What holds for every key, every value and every text."""

import json

from hypothesis import example, given
from hypothesis import strategies as st
from secateur.errors import ConfigError
from secateur.settings import FILE_NAME, PROFILES, Layer, Settings, keys, load, lookup, merge, with_values

_PLAIN = st.one_of(
    st.none(), st.booleans(), st.integers(), st.integers(10**300, 10**310), st.floats(), st.text(max_size=8)
)
VALUES = st.recursive(
    _PLAIN,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)),
    max_leaves=5,
)
NAMES = st.sampled_from(list(keys()))


def nested(name, value):
    for part in reversed(name.split(".")):
        value = {part: value}
    return value


@given(NAMES, VALUES)
@example("profiles", None)
@example("profiles", [])
@example("boosts", {"": -1})
def test_a_value_is_taken_as_it_is_or_refused_with_its_key_named(name, value):
    key = keys()[name]
    try:
        settings = merge([Layer("place", nested(name, value), "run")]).settings
    except ConfigError as error:
        assert name.rpartition(".")[2] in error.message
        assert error.hint
        return
    taken = lookup(settings, name)
    assert taken == (tuple(value) if key.kind is tuple else value)
    assert isinstance(taken, key.kind)
    assert not key.choices or taken in key.choices
    assert key.low is None or taken >= key.low
    assert key.high is None or taken <= key.high


@given(NAMES, st.integers(-(10**6), 10**6))
def test_changing_a_key_is_the_same_as_reading_it(name, value):
    def outcome(change):
        try:
            return change()
        except ConfigError:
            return None

    if name != "profile":
        assert outcome(lambda: with_values(Settings(), {name: value})) == outcome(
            lambda: merge([Layer("x", nested(name, value), "run")]).settings
        )


@given(st.lists(st.sampled_from([*PROFILES, None, 0.2, 0.7]), max_size=5))
def test_the_last_word_counts(words):
    """Layers that name a profile or set a weight: the last profile covers what came before it, a later weight covers
    the profile."""
    tables = [
        {}
        if word is None
        else {"profile": word}
        if isinstance(word, str)
        else nested("smart_pruning.priority_weights.relevance", word)
        for word in words
    ]
    expected = 0.4
    last = max((place for place, word in enumerate(words) if isinstance(word, str)), default=-1)
    for place, word in enumerate(words):
        if isinstance(word, float):
            expected = word
        elif place == last:
            expected = PROFILES[word]["smart_pruning"]["priority_weights"]["relevance"]
    settings = merge([Layer(f"file {place}", table) for place, table in enumerate(tables)]).settings
    assert settings.smart_pruning.priority_weights.relevance == expected
    assert settings.profile == (words[last] if last >= 0 else "spec")


@given(st.text())
def test_any_text_in_a_file_is_settings_or_an_error_that_names_the_file(tmp_path_factory, text):
    folder = (
        tmp_path_factory.getbasetemp() / "configurations"
    )  # not the folder above those of other tests: it would be their configuration
    folder.mkdir(exist_ok=True)
    path = folder / FILE_NAME
    path.write_text(text, "utf-8", errors="surrogatepass", newline="")
    try:
        load(None, config_file=path)
    except ConfigError as error:
        assert FILE_NAME in error.message


@given(st.text(max_size=30), st.text(max_size=30))
def test_any_set_is_settings_or_an_error(name, value):
    for text in (name, f"{name}={value}", f"graph_rag.max_depth={value}", f"ui.theme={value}", f"ui.keys={value}"):
        try:
            load(None, sets=[text])
        except ConfigError as error:
            assert error.hint


def test_origins_and_values_can_be_printed():
    loaded = merge([Layer("file", {"graph_rag": {"top_k": 20}, "profile": "recommended"})])
    assert json.loads(json.dumps(dict(loaded.origins)))["graph_rag.top_k"] == "file"
