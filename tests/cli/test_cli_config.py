"""`secateur config`: the settings in force and who set them; no file can break it without being named."""

from __future__ import annotations

from pathlib import Path

import pytest
from secateur.settings import keys
from support.cli import Ran, secateur
from support.repos import write


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "user"
    folder.mkdir()
    monkeypatch.setenv("SECATEUR_CONFIG_DIR", str(folder))
    return folder


def config(root: Path, *words: object) -> Ran:
    return secateur("config", root, "--format", "json", *words)


@pytest.mark.usefixtures("user")
def test_every_key_with_its_value_and_origin(tmp_path: Path) -> None:
    values = config(tmp_path).json
    assert list(values) == [key.name for key in keys().values() if key.scope != "run"]
    for name, entry in values.items():
        default = keys()[name].default
        assert entry == {"value": list(default) if isinstance(default, tuple) else default, "origin": "default"}
    text = secateur("config", tmp_path).out
    assert all(name in text for name in values)
    assert "Steps of calls followed" in secateur("config", tmp_path, "--verbose").out


def test_later_layers_win_and_are_named(tmp_path: Path, user: Path) -> None:
    root = write(
        tmp_path / "repo",
        {"secateur.toml": "[graph_rag]\nmax_depth = 1\ntop_k = 20\ncache_ttl = 60\ntoken_budget = 5000\n"},
    )
    write(user, {"secateur.toml": "[graph_rag]\ntop_k = 21\ncache_ttl = 61\ntoken_budget = 5001\n"})
    write(tmp_path, {"more.toml": "[graph_rag]\ncache_ttl = 62\ntoken_budget = 5002\n"})
    values = config(root, "--config", tmp_path / "more.toml", "--set", "graph_rag.token_budget=5003").json
    found = {name: (entry["value"], entry["origin"]) for name, entry in values.items() if entry["origin"] != "default"}
    assert found == {
        "graph_rag.max_depth": (1, "secateur.toml"),
        "graph_rag.top_k": (21, str(user / "secateur.toml")),
        "graph_rag.cache_ttl": (62, str(tmp_path / "more.toml")),
        "graph_rag.token_budget": (5003, "--set"),
    }


def test_a_table_in_pyproject_counts_where_there_is_no_file(tmp_path: Path) -> None:
    root = write(tmp_path, {"pyproject.toml": "[tool.secateur.graph_rag]\ntop_k = 30\n"})
    assert config(root).json["graph_rag.top_k"] == {"value": 30, "origin": "pyproject.toml [tool.secateur]"}
    write(root, {"secateur.toml": ""})
    assert config(root).json["graph_rag.top_k"]["value"] == 10


def test_profiles_of_ones_own(tmp_path: Path, user: Path) -> None:
    write(user, {"secateur.toml": "[profiles.mine.smart_pruning.priority_weights]\nrelevance = 1.0\n"})
    assert config(tmp_path).json["smart_pruning.priority_weights.relevance"]["value"] == 0.4
    assert config(tmp_path, "--profile", "mine").json["smart_pruning.priority_weights.relevance"] == {
        "value": 1.0,
        "origin": "profile mine",
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[graph_rag]\nmax_dept = 1\n", ("graph_rag.max_dept", "did you mean graph_rag.max_depth?")),
        ("[graph_rag\n", ("secateur.toml",)),
        ("graph_rag = 3\n", ("graph_rag", "table")),
        ("budget = 3\n", ("budget", "flag")),
        ('pins = ["x"]\n', ("pins", "flag")),
        ("[smart_pruning]\nstrategy = 'gpt'\n", ("smart_pruning.strategy", "density")),
        (
            "[smart_pruning.priority_weights]\nrelevance = nan\n",
            ("smart_pruning.priority_weights.relevance", "from 0 to 10"),
        ),
        ("[index]\nignore = 'x'\n", ("index.ignore", "list of texts")),
        ("profile = 'nope'\n", ("nope", "spec, recommended")),
    ],
)
def test_a_bad_file_is_named_with_its_key_and_what_is_allowed(tmp_path: Path, text: str, said: tuple[str, ...]) -> None:
    write(tmp_path, {"secateur.toml": text})
    ran = secateur("config", tmp_path)
    assert (ran.code, ran.out) == (2, "")
    for word in said:
        assert word in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("content", [b"\xff\xfe", b"[a]\n" * 400_000])
def test_a_file_that_is_no_configuration_is_refused(tmp_path: Path, content: bytes) -> None:
    write(tmp_path, {"secateur.toml": content})
    ran = secateur("config", tmp_path)
    assert ran.code == 2
    assert "secateur.toml" in ran.err


def test_a_repository_chooses_no_server_key_folder_model_or_process(tmp_path: Path, user: Path) -> None:
    toml = (
        "[embedding]\nmodel = 'openai'\nbase_url = 'http://evil.example'\nserver_model = 'x'\napi_key_env = 'HOME'\n"
        "[llm]\nenabled = true\nbase_url = 'http://evil.example'\nmodel = 'x'\napi_key_env = 'HOME'\n"
        "timeout = 9\nspend_cap = 999999999\ntext_tokens = 999\n"
        "[graph_rag]\ncache_dir = '/elsewhere'\ntop_k = 7\n[index]\nworkers = 256\n"
    )
    root = write(tmp_path / "repo", {"secateur.toml": toml})
    ran = config(root)
    assert {name for name, entry in ran.json.items() if entry["origin"] != "default"} == {"graph_rag.top_k"}
    ignored = [name for name in keys() if name.startswith(("embedding.", "llm."))] + [
        "graph_rag.cache_dir",
        "index.workers",
    ]
    assert len(ignored) >= 10
    for name in ignored:
        assert f"{name} counts only from your own configuration" in ran.err
    write(user, {"secateur.toml": toml})  # the same words from the user count
    assert config(tmp_path).json["llm.base_url"]["value"] == "http://evil.example"


def test_keys_that_do_not_go_together_are_named(tmp_path: Path, user: Path) -> None:
    write(user, {"secateur.toml": "[context_prune]\nsliding_window_size = 5\nsliding_window_overlap = 5\n"})
    ran = secateur("config", tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert "sliding_window_overlap = 5 is not less than" in ran.err


def test_a_linked_file_of_a_repository_is_not_read(tmp_path: Path) -> None:
    write(tmp_path, {"private.toml": "[graph_rag]\ntop_k = 33\n"})
    root = tmp_path / "repo"
    root.mkdir()
    (root / "secateur.toml").symlink_to(tmp_path / "private.toml")
    assert config(root).json["graph_rag.top_k"]["value"] == 10


def test_the_schema_allows_what_the_program_allows(tmp_path: Path) -> None:
    schema = secateur("config", tmp_path, "--schema").json
    depth = schema["properties"]["graph_rag"]["properties"]["max_depth"]
    assert (depth["type"], depth["default"], depth["minimum"], depth["maximum"]) == ("integer", 2, 1, 4)
    assert schema["additionalProperties"] is False
    assert schema["properties"]["tokens"]["properties"]["counter"]["enum"][0] == "o200k_base"
    assert "budget" not in schema["properties"]


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    ran = config(tmp_path / "nowhere")
    assert ran.code == 1
    assert ran.json["error"]["code"] == "NO_SUCH_FOLDER"
