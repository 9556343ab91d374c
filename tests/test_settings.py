import pytest
from secateur.errors import ConfigError
from secateur.settings import PROFILES, GraphRag, Layer, Settings, lookup, merge, with_profile, with_values
from secateur.settings import keys as setting_keys


@pytest.mark.parametrize(
    ("name", "default", "low", "high"),
    [
        ("graph_rag.enabled", True, None, None),
        ("graph_rag.max_depth", 2, 1, 4),
        ("graph_rag.token_budget", 8000, 4000, 16000),
        ("graph_rag.cache_ttl", 300, 60, 3600),
        ("graph_rag.top_k", 10, 5, 50),
        ("smart_pruning.priority_weights.relevance", 0.4, 0, 10),
        ("smart_pruning.priority_weights.hotspot", 0.3, 0, 10),
        ("smart_pruning.priority_weights.distance", 0.3, 0, 10),
        ("conversation_prune.safe_zone_tokens", 50000, 0, 100000000),
        ("conversation_prune.group_size", 4, 1, 1000),
        ("chunking.max_chunk_tokens", 32000, 100, 100000000),
    ],
)
def test_defaults_and_ranges_are_those_of_the_specs(name, default, low, high):
    key = setting_keys()[name]
    assert (key.default, key.low, key.high) == (default, low, high)


def test_every_key_says_what_it_is_and_its_default_is_allowed():
    for name, key in setting_keys().items():
        assert key.doc.endswith((".", "`.")), name
        assert key.scope in ("any", "user", "run")
        assert key.allowed()
        if name != "profiles":
            assert lookup(with_values(Settings(), {name: key.default}), name) == key.default


def test_settings_cannot_be_changed_and_share_nothing():
    with pytest.raises(AttributeError):
        GraphRag().top_k = 3  # type: ignore[misc]
    assert Settings().boosts is not Settings().boosts


@pytest.mark.parametrize(("budget", "effective"), [(-1, 8000), (0, 0), (1, 1), (10**30, 10**30)])
def test_a_budget_of_the_run_wins_over_the_configured_one(budget, effective):
    assert with_values(Settings(), {"budget": budget}).effective_budget == effective


@pytest.mark.parametrize("name", PROFILES)
def test_built_in_profiles_hold_valid_keys_a_profile_may_hold(name):
    settings = with_profile(Settings(), name)
    assert settings.profile == name
    assert (
        merge([Layer("file", {"profiles": {"copy": PROFILES[name]}, "profile": "copy"})]).settings.smart_pruning
        == settings.smart_pruning
    )


def test_the_spec_profile_is_the_defaults():
    assert with_profile(Settings(), "spec") == Settings()


def test_a_window_that_is_set_alone_takes_its_overlap_along() -> None:
    for size, overlap in ((10, 2), (20, 4), (1, 0), (21, 20), (300, 20)):
        prune = with_values(Settings(), {"context_prune.sliding_window_size": size}).context_prune
        assert (prune.sliding_window_size, prune.sliding_window_overlap) == (size, overlap)
    with pytest.raises(ConfigError):
        with_values(Settings(), {"context_prune.sliding_window_size": 10, "context_prune.sliding_window_overlap": 10})
