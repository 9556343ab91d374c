import shlex
from itertools import pairwise
from pathlib import Path

import pytest
import tomli
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from secateur.kinds import registry
from secateur.kinds.command_line import quote_word, toml
from secateur.kinds.search.knobs import search_command
from secateur.settings import Settings, load, with_profile, with_values

KEYS = registry.get_kind("search").deciding_keys


def settings_of(command: str) -> Settings:
    """What the command line sets, read by the program's own loader."""
    words = shlex.split(command)
    flags: dict[str, object] = {}
    sets: list[str] = []
    profile = None
    for flag, value in pairwise(words):
        if flag == "--profile":
            profile = value
        elif flag == "--set":
            sets.append(value)
        elif flag == "--weights":
            names = ("relevance", "hotspot", "distance")
            flags |= {
                f"smart_pruning.priority_weights.{name}": float(part)
                for name, part in zip(names, value.split(","), strict=True)
            }
        elif flag in ("--budget", "--top-k", "--depth"):
            flags[{"--budget": "budget", "--top-k": "graph_rag.top_k", "--depth": "graph_rag.max_depth"}[flag]] = int(
                value
            )
        elif flag == "--strategy":
            flags["smart_pruning.strategy"] = value
    return load(None, profile=profile, sets=sets, flags=flags).settings


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"smart_pruning.priority_weights.hotspot": 0.55, "budget": 8500},
        {"smart_pruning.signature_share": 0.1, "smart_pruning.strategy": "density"},
        {
            "preference.enabled": True,
            "preference.weight": 0.35,
            "relevance.pool": "all",
            "index.ignore": ("*.min.js", 'a"b'),
        },
        {"graph_rag.enabled": False, "graph_rag.max_depth": 4, "graph_rag.top_k": 50, "tokens.counter": "chars4"},
    ],
)
@pytest.mark.parametrize("profile", ["spec", "recommended"])
def test_the_command_line_sets_what_the_screen_has(changes: dict[str, object], profile: str) -> None:
    settings = with_values(with_profile(Settings(), profile), changes)
    again = settings_of(search_command(KEYS, "q", ".", settings, Settings()))
    assert again == replace(settings, budget=settings.effective_budget)


def test_a_value_that_a_file_had_set_is_written_out_even_when_it_is_the_default_again() -> None:
    opened = with_values(Settings(), {"relevance.lexical": 0.9})
    now = with_profile(opened, "spec")
    assert now.relevance.lexical == 0.5
    assert "--set relevance.lexical=0.5" in search_command(KEYS, "q", ".", now, opened)


@given(st.text(min_size=1, max_size=20))
def test_words_survive_the_shell_and_show_no_control_character(word: str) -> None:
    shown = quote_word(word)
    assert shown.isprintable()
    if word.isprintable():
        assert shlex.split(shown) == [word]
    else:
        assert shown.startswith("$'") and shown.endswith("'")


@given(st.recursive(st.text() | st.booleans() | st.integers(), st.lists) | st.dictionaries(st.text(), st.integers()))
def test_a_value_of_set_is_read_back_and_shows_no_control_character(value: object) -> None:
    written = toml(value)
    assert written.isprintable()
    assert tomli.loads(f"value = {written}") == {"value": value}


def test_control_characters_become_escapes_of_the_shell() -> None:
    assert quote_word("a\x1b]0;x\x07'\\") == r"$'a\x1b]0;x\x07\'\\'"


def test_a_query_that_looks_like_a_flag_stays_a_query(tmp_path: Path) -> None:
    assert search_command(KEYS, "--help me", str(tmp_path), Settings(), Settings()).endswith(
        f"-- '--help me' {tmp_path}"
    )


def test_revision_and_runs_own_choices_are_spelled_out() -> None:
    settings = Settings(pins=("a.py::f",), excludes=("b c.py::g",), boosts={"d.py::h": 1.5})
    command = search_command(KEYS, "q", ".", settings, Settings(), rev="v1.0")
    for part in ("--rev v1.0", "--pin a.py::f", "--exclude 'b c.py::g'", "--boost d.py::h=1.5"):
        assert part in command
