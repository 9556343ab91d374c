"""The settings of a kind that another distribution registers: layers, ranges, `--set`, `config` and its schema, as of
those of ours; what is wrong with them costs that kind alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from secateur.errors import ConfigError
from secateur.settings import FILE_NAME, Settings, installed_keys, load, lookup, with_profile, with_values
from support.cli import secateur
from support.distributions import TODO

CHARS4 = ("--counter", "chars4")
WATER, CALL, BREAD, POST = (
    "[x] water the plants\n",
    "[ ] call the bank about the card\n",
    "[ ] buy bread\n",
    "[x] post the letter\n",
)


def written(folder: Path, text: str) -> Path:
    """A folder whose configuration file has this text."""
    folder.mkdir(exist_ok=True)
    (folder / FILE_NAME).write_text(text, encoding="utf-8")
    return folder


def plain(path: Path, *words: object, **kwargs: object) -> str:
    return secateur("todo", path, *CHARS4, "--format", "markdown", *words, **kwargs).out


def test_every_layer_sets_it_and_the_later_one_wins(todo: Path, tmp_path: Path) -> None:
    assert plain(todo) == WATER + CALL + BREAD + POST
    written(tmp_path, "[kinds.todo]\nmax_tokens = 16\n")
    assert plain(todo) == CALL + BREAD
    written(tmp_path / "own", "[kinds.todo]\nmax_tokens = 9\n")
    (tmp_path / "further.toml").write_text("[kinds.todo]\nfirst = 'done'\n")
    both = load(tmp_path, user_dir=tmp_path / "own", config_file=tmp_path / "further.toml").settings
    assert (lookup(both, "kinds.todo.max_tokens"), lookup(both, "kinds.todo.first")) == (9, "done")
    assert plain(todo, "--config", tmp_path / "further.toml") == WATER + BREAD + POST
    assert plain(todo, "--config", tmp_path / "further.toml", "--first", "open") == CALL + BREAD
    assert plain(todo, "--set", "kinds.todo.max_tokens=5") == BREAD
    assert plain(todo, "--set", "kinds.todo.max_tokens=5", "--max-tokens", 9) == CALL
    assert plain(todo, "--max-tokens", 10, "--set", "kinds.todo.marks=[ ] call, [ ] post") == WATER + BREAD


def test_a_profile_holds_it(todo: Path, tmp_path: Path) -> None:
    written(tmp_path, "profile = 'short'\n[profiles.short.kinds.todo]\nmax_tokens = 5\n")
    assert plain(todo) == BREAD
    settings = load(tmp_path).settings
    assert lookup(with_profile(settings, "spec"), "kinds.todo.max_tokens") == 8000


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("max_tokens = -1", "kinds.todo.max_tokens = -1 is not allowed"),
        ("max_tokens = 'many'", "kinds.todo.max_tokens = 'many' is not allowed"),
        ("first = 'opne'", "did you mean open?"),
        ("max_token = 5", "did you mean kinds.todo.max_tokens?"),
        ("marks = 'x'", "kinds.todo.marks takes a list of texts"),
    ],
)
def test_a_wrong_value_is_an_error_as_of_ours(todo: Path, tmp_path: Path, text: str, said: str) -> None:
    ran = secateur("todo", todo, "--config", written(tmp_path / "own", f"[kinds.todo]\n{text}\n") / FILE_NAME)
    assert (ran.code, ran.out) == (2, "") and said in ran.err and FILE_NAME in ran.err


def test_a_flag_is_named_as_it_was_typed(todo: Path) -> None:
    ran = secateur("todo", todo, "--max-tokens", "100001")
    assert ran.code == 2
    assert "--max-tokens 100001 is not allowed" in ran.err
    assert "--max-tokens takes an integer from 0 to 100000 (default 8000)" in ran.err
    assert "--set: unknown key kinds.todo.max_token" in secateur("todo", todo, "--set", "kinds.todo.max_token=1").err


def test_a_repository_sets_what_the_kind_lets_it_set(todo: Path, tmp_path: Path) -> None:
    written(tmp_path, "[kinds.todo]\nmax_tokens = 16\nfirst = 'done'\n")
    ran = secateur("todo", todo, *CHARS4, "--format", "markdown")
    assert ran.out == CALL + BREAD
    assert "kinds.todo.first counts only from your own configuration" in ran.err
    assert 'below [kinds.todo]: first = "done"' in ran.err


@pytest.mark.usefixtures("todo")
def test_config_and_its_schema_hold_it(tmp_path: Path) -> None:
    written(tmp_path, "[kinds.todo]\nmax_tokens = 16\n")
    shown = secateur("config", tmp_path, "--format", "json").json
    assert shown["kinds.todo.max_tokens"] == {"value": 16, "origin": FILE_NAME}
    assert shown["kinds.todo.first"] == {"value": "open", "origin": "default"}
    table = secateur("config", "--schema").json["properties"]["kinds"]["properties"]["todo"]
    assert table["properties"]["max_tokens"] == {
        "type": "integer",
        "minimum": 0,
        "maximum": 100000,
        "description": "Tokens that may go out.",
        "default": 8000,
    }
    assert table["properties"]["first"]["enum"] == ["open", "done"]


@pytest.mark.usefixtures("todo")
def test_python_reads_and_changes_it() -> None:
    changed = with_values(Settings(), {"kinds.todo.max_tokens": 7, "tokens.counter": "chars4"})
    assert (lookup(changed, "kinds.todo.max_tokens"), lookup(Settings(), "kinds.todo.max_tokens")) == (7, 8000)
    assert with_values(changed, {"kinds.todo.first": "done"}).kinds == {
        "kinds.todo.max_tokens": 7,
        "kinds.todo.first": "done",
    }
    with pytest.raises(ConfigError, match=r"settings: kinds\.todo\.max_tokens = -7 is not allowed"):
        with_values(changed, {"kinds.todo.max_tokens": -7})


def test_a_table_of_a_kind_that_is_not_installed_is_noted(todo: Path, tmp_path: Path) -> None:
    written(tmp_path, "[kinds.todos]\nmax_tokens = 5\n[kinds.tickets]\nowner = 'me'\n[kinds.todo]\nmax_tokens = 5\n")
    ran = secateur("todo", todo, *CHARS4, "--format", "markdown")
    assert (ran.code, ran.out) == (0, BREAD)
    assert "[kinds.todos] is ignored: no installed package registers a kind of context named todos; did you" in ran.err
    assert "named tickets; install the package that registers it" in ran.err
    ran = secateur("todo", todo, "--set", "kinds.tickets.owner=me")
    assert ran.code == 2 and "--set: no installed package registers a kind of context named tickets" in ran.err


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ("class Table(Struct):\n    size: int\n", "kinds.broken.size has no default"),
        ("class Table(Struct):\n    size: complex = 1j\n", "kinds.broken.size has a type that settings cannot have"),
        (
            "class Table(Struct):\n    size: int | None = None\n",
            "kinds.broken.size has a type that settings cannot have",
        ),
        ("class Table(Struct):\n    size: Annotated[int, Meta(ge=1)] = 0\n", "kinds.broken.size = 0 is not allowed"),
        ("class Table:\n    size = 1\n", "its table is not a msgspec.Struct"),
        ("raise ValueError('no luck')\n", "ValueError: no luck"),
    ],
)
def test_a_broken_table_costs_its_kind_alone(
    todo: Path, distributions: Callable[..., None], tmp_path: Path, declared: str, said: str
) -> None:
    source = TODO.replace('"todo"', '"broken"').replace("class ToDo(", declared + "\n\nclass ToDo(")
    source = source.replace("table = ToDoSettings", "table = Table")
    distributions("others", {"broken": source}, {"broken": "broken:ToDo"})
    ran = secateur("broken", todo)
    assert ran.code == 2 and "the kind of context broken (broken:ToDo) cannot be used" in ran.err and said in ran.err
    written(tmp_path, "[kinds.broken]\nsize = 5\n[kinds.todo]\nmax_tokens = 5\n")
    ran = secateur("todo", todo, *CHARS4, "--format", "markdown")
    assert (ran.code, ran.out) == (0, BREAD)
    assert "[kinds.broken] is ignored: the kind of context broken cannot be used" in ran.err
    assert "kinds.todo.max_tokens" in secateur("config", "--format", "json").json
    assert not [name for name in installed_keys() if name.startswith("kinds.broken.")]


def test_values_that_are_wrong_together_name_the_table(todo: Path, distributions: Callable[..., None]) -> None:
    check = '    def __post_init__(self) -> None:\n        if self.first == "done" and not self.marks:\n'
    check += '            raise ValueError("first needs marks")\n'
    source = TODO.replace('"todo"', '"strict"').replace("kinds.todo", "kinds.strict")
    source = source.replace("\n\n\n@dataclass(frozen=True)\nclass Tasks", f"\n\n{check}\n\n@dataclass\nclass Tasks", 1)
    distributions("others", {"strict": source}, {"strict": "strict:ToDo"})
    assert secateur("strict", todo).code == 0
    ran = secateur("strict", todo, "--first", "done")
    assert ran.code == 2 and "[kinds.strict]: first needs marks" in ran.err


def test_a_scenario_holds_it(todo: Path, tmp_path: Path) -> None:
    saved = tmp_path / "week.scenario.toml"
    assert secateur("todo", todo, "--max-tokens", 16, *CHARS4, "--save", saved).code == 0
    assert "kinds.todo.max_tokens = 16" in saved.read_text(encoding="utf-8")
    assert secateur("check", saved).code == 0
    saved.write_text(saved.read_text(encoding="utf-8").replace("max_tokens = 16", "max_tokens = 5"), encoding="utf-8")
    assert secateur("check", saved).code == 4
    saved.write_text(saved.read_text(encoding="utf-8").replace("kinds.todo.max", "kinds.tickets.max"), encoding="utf-8")
    ran = secateur("check", saved)
    assert ran.code == 1 and "no installed package registers a kind of context named tickets" in ran.out + ran.err


def test_without_such_kinds_nothing_of_them_is_in_the_schema() -> None:
    assert "kinds" not in json.loads(secateur("config", "--schema").out)["properties"]
