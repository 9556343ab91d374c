import json
import math
import os

import pytest
from secateur.errors import ConfigError
from secateur.kind_places import BUILT_IN
from secateur.kinds.registry import get_kind
from secateur.settings import (
    FILE_NAME,
    MAX_BOOST,
    MAX_FILE_BYTES,
    PROFILES,
    Key,
    Layer,
    Settings,
    condense_notices,
    load,
    lookup,
    merge,
    schema,
    with_profile,
    with_values,
)
from secateur.settings import keys as setting_keys
from secateur.settings.keys import REMOVED


def layers(*tables: dict, **named: dict):
    """Merged files of the user, in this order."""
    return merge(
        [Layer(f"file {place}", table) for place, table in enumerate(tables)]
        + [Layer(name, table) for name, table in named.items()]
    )


def relevance(loaded) -> float:
    return loaded.settings.smart_pruning.priority_weights.relevance


# --- layers and profiles ----------------------------------------------------------------------------------------------


def test_nothing_set_is_the_defaults():
    loaded = load(None)
    assert (loaded.settings, loaded.origins, loaded.notices) == (Settings(), {}, ())


def test_later_layers_win_key_by_key():
    loaded = layers({"graph_rag": {"top_k": 20, "max_depth": 3}}, {"graph_rag": {"top_k": 30}})
    assert (loaded.settings.graph_rag.top_k, loaded.settings.graph_rag.max_depth) == (30, 3)
    assert loaded.origins == {"graph_rag.top_k": "file 1", "graph_rag.max_depth": "file 0"}


def test_the_order_of_places_is_repository_user_file_set_flag(tmp_path):
    root, user = tmp_path / "repository", tmp_path / "user"
    for folder, top_k in ((root, 11), (user, 12)):
        folder.mkdir()
        (folder / FILE_NAME).write_text(f"[graph_rag]\ntop_k = {top_k}\n")
    (tmp_path / "more.toml").write_text("[graph_rag]\ntop_k = 13\n")
    found = [
        load(root),
        load(root, user_dir=user),
        load(root, user_dir=user, config_file=tmp_path / "more.toml"),
        load(root, user_dir=user, config_file=tmp_path / "more.toml", sets=["graph_rag.top_k=14"]),
        load(
            root,
            user_dir=user,
            config_file=tmp_path / "more.toml",
            sets=["graph_rag.top_k=14"],
            flags={"graph_rag.top_k": 15},
        ),
    ]
    assert [loaded.settings.graph_rag.top_k for loaded in found] == [11, 12, 13, 14, 15]


def test_a_profile_wins_over_earlier_layers_and_loses_to_its_own_and_later_ones():
    weights = {"smart_pruning": {"priority_weights": {"relevance": 0.5}}}
    recommended = PROFILES["recommended"]["smart_pruning"]["priority_weights"]["relevance"]
    assert recommended != 0.5
    assert relevance(layers(weights, {"profile": "recommended"})) == recommended
    assert relevance(layers({"profile": "recommended"} | weights)) == 0.5
    assert relevance(layers({"profile": "recommended"}, weights)) == 0.5
    assert (
        layers(weights, {"profile": "recommended"}).origins["smart_pruning.priority_weights.relevance"]
        == "profile recommended"
    )


def test_the_profile_named_last_is_the_only_one_that_applies():
    """Nothing of the one named before shines through, neither its values nor what they had covered."""
    own = {
        "profiles": {
            "wide": {"graph_rag": {"top_k": 50}, "index": {"max_file_kb": 7}},
            "deep": {"graph_rag": {"max_depth": 4}},
        }
    }
    loaded = layers(own | {"graph_rag": {"top_k": 20}}, {"profile": "wide"}, {"profile": "deep"})
    rag = loaded.settings.graph_rag
    assert (loaded.settings.profile, rag.top_k, rag.max_depth, loaded.settings.index.max_file_kb) == (
        "deep",
        20,
        4,
        1024,
    )


def test_spec_after_recommended_is_the_spec():
    loaded = layers({"profile": "recommended"}, {"profile": "spec"})
    assert loaded.settings == Settings()


def test_a_profile_may_be_defined_anywhere():
    loaded = layers({"profile": "mine"}, {"profiles": {"mine": {"graph_rag": {"top_k": 42}}}})
    assert loaded.settings.graph_rag.top_k == 42
    assert set(loaded.settings.profiles) == {"mine"}


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"profile": "nope"}, "unknown profile 'nope'"),
        ({"profile": 5}, "unknown profile 5"),
        ({"profiles": 3}, "profiles"),
        ({"profiles": []}, "profiles"),
        ({"profiles": {"mine": 3}}, "is not a table"),
        ({"profiles": {"mine": {"profile": "spec"}}}, "profile cannot be part of a profile"),
        ({"profiles": {"mine": {"budget": 3}}}, "budget cannot be part of a profile"),
        ({"profiles": {"mine": {"graph_rag": {"top_k": 1}}}}, "graph_rag.top_k = 1"),
        ({"profiles": {"mine": {"graph_rag": {"tok_k": 9}}}}, "graph_rag.tok_k"),
        ({"profiles": {"spec": {"graph_rag": {"top_k": 9}}}}, "built in"),
    ],
)
def test_a_profile_that_cannot_be_meant_is_an_error(table, said):
    with pytest.raises(ConfigError) as caught:
        layers(table)
    assert said in caught.value.message
    assert caught.value.hint


def test_an_unknown_profile_named_early_is_an_error_even_if_another_is_named_later():
    with pytest.raises(ConfigError, match="nope"):
        layers({"profile": "nope"}, {"profile": "spec"})


def test_changing_the_profile_forgets_the_one_before():
    settings = with_values(Settings(), {"graph_rag.top_k": 42, "tokens.counter": "chars4", "budget": 77})
    recommended = with_profile(settings, "recommended")
    assert (recommended.profile, recommended.smart_pruning.strategy) == (
        "recommended",
        PROFILES["recommended"]["smart_pruning"]["strategy"],
    )
    assert (recommended.tokens.counter, recommended.budget) == ("chars4", 77)  # no profile speaks of these
    assert with_profile(recommended, "spec") == with_values(Settings(), {"tokens.counter": "chars4", "budget": 77})


# --- a repository's own file is data of that repository ---------------------------------------------------------------

REPOSITORY_MAY_SET = {
    "profile",
    "profiles",
    "graph_rag.token_budget",
    "graph_rag.max_depth",
    "graph_rag.top_k",
    "smart_pruning.strategy",
    "smart_pruning.signature_share",
    "smart_pruning.priority_weights.relevance",
    "smart_pruning.priority_weights.hotspot",
    "smart_pruning.priority_weights.distance",
    "relevance.pool",
    "relevance.query_kind",
    "relevance.lexical",
    "relevance.title",
    "relevance.name",
    "relevance.path",
    "relevance.file",
    "relevance.semantic",
    "relevance.mention",
    "relevance.definition",
    "relevance.usage",
    "relevance.history",
    "relevance.title_name",
    "relevance.phrase",
    "relevance.named_file",
    "relevance.trace",
    "relevance.near",
    "relevance.penalty.test",
    "relevance.penalty.documentation",
    "relevance.penalty.example",
    "relevance.penalty.vendored",
    "relevance.penalty.generated",
    "relevance.penalty.header",
    "relevance.penalty.region",
    "relevance.penalty.prose",
    "relevance.penalty.duplicate",
    "index.ignore",
    "index.max_file_kb",
    "context_prune.strategy",
    "context_prune.max_tokens",
    "context_prune.full_file_share",
    "conversation_prune.strategy",
    "conversation_prune.cut_to",
    "conversation_prune.safe_zone_tokens",
    "context_budget.tokens",
    "context_budget.reserve",
    "chunking.max_chunk_tokens",
    "chunking.ignore",
    "chunking.context_lines",
    "log.max_tokens",
}
"""Written out: a key becomes one of these on purpose, and a new key is not."""


@pytest.mark.parametrize("name", REMOVED)
def test_a_removed_key_is_refused_with_what_to_do_instead(name: str) -> None:
    with pytest.raises(ConfigError, match="unknown key") as error:
        load(None, sets=[f"{name}=1"])
    assert error.value.hint == REMOVED[name]


FILE_KEYS = [key for key in setting_keys().values() if key.scope != "run"]
ALLOWED = [key for key in FILE_KEYS if key.name in REPOSITORY_MAY_SET and key.name not in ("profile", "profiles")]
OTHERS = [key for key in FILE_KEYS if key.name not in REPOSITORY_MAY_SET]


def other_value(key: Key):
    """A valid value that is not the default."""
    if key.choices:
        return next(choice for choice in key.choices if choice != key.default)
    match key.default:
        case bool():
            return not key.default
        case int():
            return key.default - 1 if key.default > key.low else key.default + 1
        case float():
            return (key.default + key.low) / 2 if key.default > key.low else (key.default + key.high) / 2
        case tuple():
            return ("other",)
        case str():
            return "other"
    return {"other": 7 if key.name == "context_budget.windows" else "x"}


def as_toml(value) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {as_toml(item)}" for name, item in value.items()) + " }"
    return json.dumps(list(value) if isinstance(value, tuple) else value)


def named(keys: list[Key]):
    return pytest.mark.parametrize("key", keys, ids=lambda key: key.name)


def test_the_list_of_what_a_repository_may_set_is_this_one():
    assert {key.name for key in setting_keys().values() if key.scope == "any"} == REPOSITORY_MAY_SET
    assert len(OTHERS) > 30


@pytest.mark.parametrize("file", [FILE_NAME, "pyproject.toml"])
@named(ALLOWED)
def test_what_a_repository_may_set_counts(tmp_path, key, file):
    table, _, leaf = key.name.rpartition(".")
    head = f"tool.secateur.{table}" if file != FILE_NAME else table
    (tmp_path / file).write_text(f"[{head}]\n{leaf} = {as_toml(other_value(key))}\n")
    loaded = load(tmp_path)
    assert loaded.notices == ()
    assert lookup(loaded.settings, key.name) == other_value(key)


@named(ALLOWED)
def test_it_counts_in_a_profile_of_the_repository(tmp_path, key):
    table, _, leaf = key.name.rpartition(".")
    (tmp_path / FILE_NAME).write_text(
        f"profile = 'ours'\n[profiles.ours.{table}]\n{leaf} = {as_toml(other_value(key))}\n"
    )
    loaded = load(tmp_path)
    assert loaded.notices == ()
    assert lookup(loaded.settings, key.name) == other_value(key)


@pytest.mark.parametrize("name", sorted(PROFILES))
def test_a_repository_may_choose_a_profile_that_is_built_in_and_gets_all_of_it(tmp_path, name):
    (tmp_path / FILE_NAME).write_text(f"profile = '{name}'\n")
    loaded = load(tmp_path)
    assert (loaded.settings, loaded.notices) == (load(None, profile=name).settings, ())


@pytest.mark.parametrize("inside", ["", "profiles.ours."])
@named(OTHERS)
def test_all_else_has_no_effect_and_is_a_notice_with_the_line_to_move(tmp_path, key, inside):
    table, _, leaf = key.name.rpartition(".")
    line = f"{leaf} = {as_toml(other_value(key))}"
    (tmp_path / FILE_NAME).write_text(f"profile = '{'ours' if inside else 'spec'}'\n[{inside}{table}]\n{line}\n")
    own = tmp_path / "own"
    own.mkdir()
    loaded = load(tmp_path, user_dir=own)
    for name in [key.name for key in FILE_KEYS]:
        if name not in ("profile", "profiles"):
            assert lookup(loaded.settings, name) == lookup(Settings(), name)
    assert [notice.code for notice in loaded.notices] == ["config_ignored"]
    message = loaded.notices[0].message
    assert f"{key.name} counts only from your own configuration or the command line" in message
    _, told, moved_line = message.partition(f" in {FILE_NAME} in your configuration folder below [{table}]: ")
    assert told
    (own / FILE_NAME).write_text(f"[{table}]\n{moved_line}\n")  # the line of the notice, moved there, counts
    moved = load(None, user_dir=own)
    assert lookup(moved.settings, key.name) == other_value(key)


@pytest.mark.parametrize(
    "value", ['"http://name:secret@x.example"', '"http://x.example/?key=secret"', '"' + "secret" * 50 + '"']
)
def test_a_value_that_may_be_a_secret_is_not_repeated(tmp_path, value):
    (tmp_path / FILE_NAME).write_text(f"[llm]\nbase_url = {value}\napi_key_env = 'se-cret'\n")
    said = " ".join(notice.message for notice in load(tmp_path).notices)
    assert "below [llm]: base_url = (the value as the file has it)" in said
    assert "below [llm]: api_key_env = (the value as the file has it)" in said
    assert "cret" not in said


def test_a_value_that_would_be_wrong_does_not_matter_where_it_does_not_count(tmp_path):
    (tmp_path / FILE_NAME).write_text("[tokens]\ncounter = 3\n[graph_rag]\nenabled = [[], nan]\n")
    loaded = load(tmp_path)
    assert (loaded.settings, [notice.code for notice in loaded.notices]) == (Settings(), ["config_ignored"] * 2)


def test_the_user_and_the_command_line_may_set_them(tmp_path):
    (tmp_path / FILE_NAME).write_text("[index]\nworkers = 3\n")
    assert load(None, user_dir=tmp_path).settings.index.workers == 3
    assert load(None, sets=["index.workers=4"]).settings.index.workers == 4
    assert load(None, user_dir=tmp_path).notices == ()


REMOTE = "[profiles.remote.embedding]\nmodel = 'openai'\nbase_url = 'http://x.example'\n"


def test_a_profile_of_ones_own_may_hold_what_a_file_of_ones_own_may(tmp_path):
    path = tmp_path / FILE_NAME
    path.write_text(REMOTE)
    for place in ({"user_dir": tmp_path}, {"config_file": path}):
        loaded = load(None, profile="remote", **place)
        assert (loaded.settings.embedding.model, loaded.notices) == ("openai", ())
    assert with_profile(load(None, user_dir=tmp_path).settings, "remote").embedding.base_url == "http://x.example"


def test_a_profile_of_a_repository_may_not(tmp_path):
    (tmp_path / FILE_NAME).write_text(REMOTE + "[profiles.remote.graph_rag]\ntop_k = 12\n")
    loaded = load(tmp_path, profile="remote")
    assert (loaded.settings.embedding, loaded.settings.graph_rag.top_k) == (Settings().embedding, 12)
    assert "embedding" not in loaded.settings.profiles["remote"]
    assert [notice.message.partition(" counts")[0] for notice in loaded.notices] == [
        f"{FILE_NAME} [profiles.remote]: embedding.model",
        f"{FILE_NAME} [profiles.remote]: embedding.base_url",
    ]


def test_a_repository_that_chooses_a_profile_of_the_users_gets_what_it_may_set_itself(tmp_path):
    root, user = tmp_path / "repository", tmp_path / "user"
    for folder, text in ((root, "profile = 'remote'\n"), (user, REMOTE + "[profiles.remote.graph_rag]\ntop_k = 12\n")):
        folder.mkdir()
        (folder / FILE_NAME).write_text(text)
    loaded = load(root, user_dir=user)
    assert (loaded.settings.embedding, loaded.settings.graph_rag.top_k) == (Settings().embedding, 12)
    assert {notice.code for notice in loaded.notices} == {"config_ignored"}
    assert load(root, user_dir=user, profile="remote").settings.embedding.model == "openai"


LARGE = ["[index]\nmax_file_kb = 1048576\n", "profile = 'large'\n[profiles.large.index]\nmax_file_kb = 1048576\n"]


@pytest.mark.parametrize("text", LARGE)
def test_a_repository_may_lower_the_size_of_files_and_not_raise_it(tmp_path, text):
    (tmp_path / FILE_NAME).write_text(text)
    loaded = load(tmp_path)
    assert loaded.settings.index == Settings().index
    assert [notice.code for notice in loaded.notices] == ["config_ignored"]
    assert "index.max_file_kb = 1048576" in loaded.notices[0].message
    assert load(None, user_dir=tmp_path).settings.index.max_file_kb == 1048576
    assert load(tmp_path, sets=["index.max_file_kb=2048"]).settings.index.max_file_kb == 2048
    (tmp_path / FILE_NAME).write_text(text.replace("1048576", "64"))
    assert (load(tmp_path).settings.index.max_file_kb, load(tmp_path).notices) == (64, ())
    (tmp_path / FILE_NAME).write_text(text.replace("1048576", "'x'"))
    with pytest.raises(ConfigError, match="max_file_kb"):
        load(tmp_path)


@pytest.mark.parametrize("name", ["budget = 5", "pins = ['x']", "excludes = ['x']"])
def test_what_belongs_to_a_run_is_no_part_of_a_file(tmp_path, name):
    (tmp_path / FILE_NAME).write_text(name)
    for place in ({"root": tmp_path}, {"root": None, "user_dir": tmp_path}):
        with pytest.raises(ConfigError, match="belongs to a run"):
            load(**place)


def test_pyproject_counts_where_there_is_no_file_of_our_own(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.secateur.graph_rag]\ntop_k = 33\n")
    assert load(tmp_path).settings.graph_rag.top_k == 33
    (tmp_path / FILE_NAME).write_text("")
    assert load(tmp_path).settings.graph_rag.top_k == 10


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[tool]\nsecateur = 3\n",
        "tool = 3\n",
        "[project\n",
        "x = " + "[" * 5000,
        "x = " + "9" * 5000,
        "\udcff",
        "#" * (MAX_FILE_BYTES + 1),
    ],
)
def test_a_pyproject_of_others_never_stops_us(tmp_path, text):
    (tmp_path / "pyproject.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
    assert load(tmp_path).settings == Settings()


@pytest.mark.parametrize("kind", ["link", "folder", "pipe", "dangling"])
def test_only_plain_files_of_a_repository_are_read(tmp_path, kind):
    outside = tmp_path / "outside.toml"
    outside.write_text("[graph_rag]\ntop_k = 33\n")
    root = tmp_path / "repository"
    root.mkdir()
    match kind:
        case "link":
            (root / FILE_NAME).symlink_to(outside)
        case "folder":
            (root / FILE_NAME).mkdir()
        case "pipe":
            os.mkfifo(root / FILE_NAME)
        case "dangling":
            (root / FILE_NAME).symlink_to("nowhere")
    loaded = load(root)
    assert loaded.settings == Settings()
    assert [notice.code for notice in loaded.notices] == ["config_ignored"]
    assert FILE_NAME in loaded.notices[0].message
    (root / "pyproject.toml").write_text("[tool.secateur.graph_rag]\ntop_k = 12\n")
    assert load(root).settings.graph_rag.top_k == 12
    assert load(root).notices == loaded.notices


def test_a_folder_that_is_not_there_has_no_file(tmp_path):
    assert load(tmp_path / "nowhere", user_dir=tmp_path / "neither").settings == Settings()


# --- errors name the file, the key, what is allowed and the nearest key -----------------------------------------------


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        ("[graph_rag]\nmax_dept = 3\n", "unknown key graph_rag.max_dept", "did you mean graph_rag.max_depth?"),
        ("[grph_rag]\nmax_depth = 3\n", "unknown key grph_rag", "did you mean graph_rag?"),
        (
            "[smart_pruning]\nstrategy = 'prio'\n",
            "smart_pruning.strategy = 'prio'",
            "did you mean priority? smart_pruning.strategy takes one of",
        ),
        (
            "profile = 'recomended'\n",
            "unknown profile 'recomended'",
            "did you mean recommended? profiles: spec, recommended",
        ),
        ("zzzzqqqq = 3\n", "unknown key zzzzqqqq", "secateur config"),
        ("graph_rag = 3\n", "graph_rag is a table, not 3", "[graph_rag]"),
        ("[graph_rag]\nmax_depth = 5\n", "graph_rag.max_depth = 5", "an integer from 1 to 4 (default 2)"),
        ("[graph_rag]\nmax_depth = 2.0\n", "graph_rag.max_depth = 2.0", "an integer"),
        ("[graph_rag]\nmax_depth = true\n", "graph_rag.max_depth = True", "an integer"),
        ("[graph_rag]\nenabled = 1\n", "graph_rag.enabled = 1", "true or false"),
        ("[graph_rag]\ntoken_budget = 3999\n", "graph_rag.token_budget = 3999", "from 4000 to 16000"),
        ("[graph_rag]\ntoken_budget = 16001\n", "graph_rag.token_budget = 16001", "from 4000 to 16000"),
        (
            "[smart_pruning]\nstrategy = 'best'\n",
            "smart_pruning.strategy = 'best'",
            "one of priority, relevance, density",
        ),
        ("[smart_pruning.priority_weights]\nrelevance = nan\n", "relevance = nan", "a number from 0 to 10"),
        ("[smart_pruning.priority_weights]\nrelevance = inf\n", "relevance = inf", "a number from 0 to 10"),
        ("[smart_pruning.priority_weights]\nrelevance = '1'\n", "relevance = '1'", "a number from 0 to 10"),
        ("[index]\nignore = 'x'\n", "index.ignore = 'x'", "a list of texts"),
        ("[index]\nignore = ['x', 3]\n", "index.ignore = ['x', 3]", "a list of texts"),
        ("[ui]\ntheme = 3\n", "ui.theme = 3", "text"),
        ("[ui]\nkeys = 'x'\n", "ui.keys = 'x'", "a table"),
        ("[ui.keys]\nquit = 3\n", "ui.keys", "a table"),
        ("[context_budget]\nwindows = { m = 1.5 }\n", "context_budget.windows", "a table"),
        ("[context_budget]\nwindows = { m = 0 }\n", "context_budget.windows.m = 0", "1 or more"),
        (
            "[context_prune]\nsliding_window_size = 10\nsliding_window_overlap = 10\n",
            "sliding_window_overlap = 10",
            "smaller",
        ),
        ("[graph_rag]\nmax_depth = " + "9" * 400, "graph_rag.max_depth = 99999", "from 1 to 4"),
        ("[smart_pruning.priority_weights]\nrelevance = " + "9" * 400, "relevance = 99999", "from 0 to 10"),
    ],
)
def test_a_key_or_value_that_cannot_be_meant_is_named_with_its_file(tmp_path, text, said, hint):
    path = tmp_path / "own.toml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load(None, config_file=path)
    assert caught.value.message.startswith(f"{path}: ")
    assert said in caught.value.message
    assert hint in caught.value.hint
    assert len(caught.value.message) < 300
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"[graph_rag\n", "line 1"),
        (b"x = 1\nx = 2\n", "line 2"),
        (b"\xff\xfe", "not UTF-8 at byte 0"),
        (b"x = " + b"[" * 5000, "nested"),
        (b"x = " + b"9" * 5000, "digits"),
        (b"#" * (MAX_FILE_BYTES + 1), "too large"),
    ],
)
def test_a_file_that_is_no_configuration_is_named(tmp_path, content, said):
    (tmp_path / FILE_NAME).write_bytes(content)
    for place in (
        {"root": tmp_path},
        {"root": None, "user_dir": tmp_path},
        {"root": None, "config_file": tmp_path / FILE_NAME},
    ):
        with pytest.raises(ConfigError) as caught:
            load(**place)
        assert FILE_NAME in caught.value.message
        assert said in caught.value.message


def test_a_file_asked_for_must_be_there(tmp_path):
    for path in (tmp_path / "gone.toml", tmp_path):
        with pytest.raises(ConfigError, match="cannot be read"):
            load(None, config_file=path)


# --- --set ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("graph_rag.max_depth=3", "graph_rag.max_depth", 3),
        (" graph_rag.max_depth = 3 ", "graph_rag.max_depth", 3),
        ("graph_rag.enabled=false", "graph_rag.enabled", False),
        ("smart_pruning.priority_weights.relevance=1", "smart_pruning.priority_weights.relevance", 1.0),
        ("smart_pruning.strategy=density", "smart_pruning.strategy", "density"),
        ('smart_pruning.strategy="density"', "smart_pruning.strategy", "density"),
        ("llm.base_url=http://localhost:1234/v1/a=b", "llm.base_url", "http://localhost:1234/v1/a=b"),
        ("llm.model=3", "llm.model", "3"),  # a bare word that TOML reads as a number is still a text
        ("llm.model=", "llm.model", ""),
        ("index.ignore=a, b,,*.min.js", "index.ignore", ("a", "b", "*.min.js")),
        ('index.ignore=["a,b"]', "index.ignore", ("a,b",)),
        ('ui.keys={budget-up = "b"}', "ui.keys", {"budget-up": "b"}),
        ("budget=0", "budget", 0),
        ("budget=" + "9" * 30, "budget", int("9" * 30)),
    ],
)
def test_any_setting_can_be_set(text, name, value):
    assert lookup(load(None, sets=[text]).settings, name) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "=",
        "=3",
        "graph_rag.max_depth",
        "graph_rag=3",
        "nothing=3",
        "graph_rag.max_depth=",
        "budget=-2",
        "budget=1.5",
    ],
)
def test_a_set_that_cannot_be_meant_is_an_error(text):
    with pytest.raises(ConfigError, match="--set"):
        load(None, sets=[text])


def test_the_last_of_the_same_key_wins():
    assert load(None, sets=["graph_rag.top_k=20", "graph_rag.top_k=30"]).settings.graph_rag.top_k == 30


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("graph_rag.top_k", 2, "--top-k 2 is not allowed"),
        ("index.workers", -1, "--workers -1 is not allowed"),
        ("smart_pruning.strategy", "", "--strategy '' is not allowed"),
        ("smart_pruning.priority_weights.hotspot", 11.0, "--weights: hotspot 11.0 is not allowed"),
        ("graph_rag.max_depth", "9" * 5000, "--depth 999"),
    ],
)
def test_a_flag_is_named_as_it_was_typed(name, value, said):
    with pytest.raises(ConfigError) as caught:
        load(None, flags={name: value})
    assert caught.value.message.startswith(said)
    assert caught.value.hint.startswith(setting_keys()[name].flag + " takes ")
    assert len(caught.value.message) < 100


def test_every_flag_sets_a_key_and_is_its_origin():
    assert load(None, flags={"graph_rag.top_k": 20}).origins == {"graph_rag.top_k": "--top-k"}
    assert load(None, profile="spec").origins["profile"] == "--profile"


def several(key):
    """Whether a key holds more than one value: its flags are told apart by what they add."""
    return key.kind not in (int, float, str, bool)


@pytest.mark.parametrize("name", [place.name for place in BUILT_IN])
def test_the_flags_of_a_kind_are_named_in_errors_and_its_knobs_have_a_range(name):
    described = get_kind(name)
    known = setting_keys()
    single = [flag for flag in described.flags if flag.key in known and not several(known[flag.key])]
    assert {flag.key: flag.name for flag in single} == {flag.key: known[flag.key].flag for flag in single}
    for knob in described.knobs:
        key = known[knob.key]
        assert knob is described.budget or key.choices or key.kind is bool or None not in (key.low, key.high)
    assert known[described.budget.key].flag


def test_a_table_is_no_key_and_names_what_it_holds():
    with pytest.raises(ConfigError) as caught:
        load(None, sets=["tokens=3"])
    assert caught.value.hint == "tokens is a table of tokens.counter"


@pytest.mark.parametrize("factor", [-0.1, MAX_BOOST + 1, 1e300])
def test_a_boost_has_its_bounds(factor):
    with pytest.raises(ConfigError, match=r"--boost a\.py::f="):
        load(None, flags={"boosts": {"a.py::f": factor}})
    assert load(None, flags={"boosts": {"a.py::f": MAX_BOOST}}).settings.boosts == {"a.py::f": MAX_BOOST}


def test_an_answer_says_of_many_ignored_keys_how_many_there_are(tmp_path):
    (tmp_path / FILE_NAME).write_text('[llm]\nmodel = "a"\nenabled = true\nbase_url = "http://a"\n')
    notices = load(tmp_path).notices
    assert [notice.message.partition(" ")[0] for notice in condense_notices(notices)] == ["secateur.toml:", "2"]


# --- changing and describing settings ---------------------------------------------------------------------------------


def test_changed_values_are_checked_like_any_other():
    assert with_values(Settings(), {"graph_rag.top_k": 20}).graph_rag.top_k == 20
    for name, value in (
        ("graph_rag.top_k", 2),
        ("graph_rag.top", 20),
        ("index.ignore", {"a", "b"}),
        ("smart_pruning.priority_weights.hotspot", math.nan),
    ):
        with pytest.raises(ConfigError, match=name.rpartition(".")[2]):
            with_values(Settings(), {name: value})


def test_the_schema_names_every_key_of_a_file_with_its_limits():
    described = schema()
    found = set()

    def walk(node: dict, prefix: str) -> None:
        assert node["additionalProperties"] is False
        for name, child in node["properties"].items():
            if "properties" in child:
                walk(child, f"{prefix}{name}.")
            else:
                found.add(prefix + name)
                assert child["description"]

    walk(described, "")
    assert found == {key.name for key in setting_keys().values() if key.scope != "run"}
    depth = described["properties"]["graph_rag"]["properties"]["max_depth"]
    assert (depth["type"], depth["default"], depth["minimum"], depth["maximum"]) == ("integer", 2, 1, 4)
    assert described["properties"]["smart_pruning"]["properties"]["strategy"]["enum"] == [
        "priority",
        "relevance",
        "density",
    ]
