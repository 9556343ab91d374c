"""Profiles written into files that people wrote."""

from pathlib import Path

import pytest
import tomli
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from secateur.errors import ConfigError, SecateurError, UsageError
from secateur.profile_files import adopt_profile, own_file, profile_of, repository_file, write_profile
from secateur.settings import Settings, load, lookup, with_profile, with_values
from support.cli import secateur

WRITTEN = """\
# mine, and it stays
profile = 'recommended'  # chosen

[graph_rag]
top_k = 12   # more

[profiles."slow one".relevance]
lexical = 1.0
[profiles.fast.smart_pruning]  # it was
signature_share = 0.5
"""


def turned(**changes):
    values = {name.replace("__", "."): value for name, value in changes.items()}
    return with_values(with_profile(Settings(), "recommended"), values)


def test_comments_order_and_all_else_stay(tmp_path):
    place = own_file(tmp_path)
    place.path.write_text(WRITTEN)
    write_profile(place, "fast", turned(smart_pruning__signature_share=0.25))
    text = place.path.read_text()
    head = WRITTEN[: WRITTEN.index("[profiles.fast")]
    assert text.startswith(head + '[profiles.fast]  # it was\nbase = "recommended"\n')
    assert "[profiles.fast.smart_pruning]  # it was\nsignature_share = 0.25 # was 0.08\n" in text
    new = load(None, user_dir=tmp_path, profile="fast").settings
    assert new.smart_pruning.signature_share == 0.25
    assert new.relevance == turned().relevance and new.graph_rag.top_k == 12


@pytest.mark.parametrize(
    "text", ["", "# only this", "[profiles]\n", "profiles = {}\n", "profiles.old.graph_rag.top_k=9\n"]
)
def test_any_way_of_writing_reads_as_it_was_meant(tmp_path, text):
    place = own_file(tmp_path / "not made yet")
    place.path.parent.mkdir()
    place.path.write_text(text)
    settings = turned(graph_rag__max_depth=3)
    write_profile(place, "deep", settings)
    read = load(None, user_dir=place.path.parent, profile="deep").settings
    assert (read.graph_rag, read.relevance, read.smart_pruning) == (
        settings.graph_rag,
        settings.relevance,
        settings.smart_pruning,
    )


@given(
    top_k=st.integers(5, 50),
    share=st.floats(0, 0.5),
    windows=st.dictionaries(st.text(min_size=1, max_size=5), st.integers(1, 10**6), max_size=2),
    zone=st.integers(1, 10**6),
)
def test_what_was_tuned_is_read_back(tmp_path_factory, top_k, share, windows, zone):
    folder = tmp_path_factory.mktemp("own")
    values = {
        "graph_rag.top_k": top_k,
        "smart_pruning.signature_share": share,
        "context_budget.windows": windows,
        "conversation_prune.safe_zone_tokens": zone,
    }
    write_profile(own_file(folder), "mine", with_values(Settings(), values))
    read = load(None, user_dir=folder, profile="mine").settings
    assert {name: lookup(read, name) for name in values} == values


def test_a_profile_written_twice_holds_only_what_is_tuned_now(tmp_path):
    write_profile(own_file(tmp_path), "a", turned(graph_rag__max_depth=4))
    write_profile(own_file(tmp_path), "a", with_values(Settings(), {"conversation_prune.group_size": 7}))
    table = tomli.loads((tmp_path / "secateur.toml").read_text())["profiles"]["a"]
    assert table == {"base": "spec", "conversation_prune": {"group_size": 7}}


def test_a_profile_names_its_base_and_holds_only_what_differs(tmp_path):
    write_profile(own_file(tmp_path), "a", turned(smart_pruning__priority_weights__hotspot=0.3))
    assert (tmp_path / "secateur.toml").read_text() == (
        '[profiles.a]\nbase = "recommended"\n\n[profiles.a.smart_pruning.priority_weights]\nhotspot = 0.3 # was 0.02\n'
    )
    read = load(None, user_dir=tmp_path, profile="a").settings
    assert replace(read, profile="recommended", profiles={}) == turned(smart_pruning__priority_weights__hotspot=0.3)
    again = write_profile(own_file(tmp_path), "b", with_values(read, {"graph_rag.top_k": 7}))
    assert again.base == "recommended" and set(again.values) == {
        "smart_pruning.priority_weights.hotspot",
        "graph_rag.top_k",
    }
    (tmp_path / "secateur.toml").write_text('profile = "c"\n[profiles.c]\nbase = "recommended"\n')
    assert load(tmp_path).settings.conversation_prune == turned().conversation_prune, "it is trusted as by its name"
    assert load(tmp_path).notices == ()
    (tmp_path / "secateur.toml").write_text('[profiles.c]\nbase = "recomended"\n')
    with pytest.raises(ConfigError, match="unknown profile 'recomended'"):
        load(tmp_path)


def test_a_repository_is_given_what_it_may_set_and_the_rest_is_refused_with_the_reason(tmp_path):
    settings = turned(conversation_prune__group_size=3, preference__enabled=True, graph_rag__top_k=11)
    written = write_profile(repository_file(tmp_path), "ours", settings)
    assert written.values["graph_rag.top_k"] == 11
    assert {"conversation_prune.group_size", "preference.enabled"} <= written.refused.keys()
    assert "your own configuration" in written.refused["preference.enabled"]
    assert load(tmp_path, profile="ours").notices == ()


def test_budget_and_pins_belong_to_a_run():
    values, refused = profile_of(turned(budget=5000, pins=("a::b",)))
    assert values["graph_rag.token_budget"] == 5000 and "--pin" in refused["pins"]
    values, refused = profile_of(turned(budget=900))
    assert "graph_rag.token_budget" not in values and "--budget 900" in refused["budget"]


def test_nothing_of_the_machine_is_part_of_a_profile():
    values, refused = profile_of(turned(llm__base_url="http://x", ui__theme="paper", graph_rag__cache_ttl=60))
    assert not [name for name in (*values, *refused) if name.startswith(("llm.", "ui.", "graph_rag.cache"))]


def test_the_table_of_pyproject_is_used_where_only_that_is_there(tmp_path):
    project = tmp_path / "pyproject.toml"
    project.write_text(
        '[project]\nname = "x"  # a name\n\n[tool.secateur.graph_rag]\ntop_k = 9\n\n[tool.other]\na = 1\n'
    )
    write_profile(repository_file(tmp_path), "ours", turned())
    assert not (tmp_path / "secateur.toml").exists()
    assert load(tmp_path, profile="ours").settings.relevance.pool == "all"
    assert "# a name" in project.read_text() and tomli.loads(project.read_text())["tool"]["other"] == {"a": 1}


@pytest.mark.parametrize("name", ["spec", "recommended", "", "a b", "a.b", "ä", "x" * 65, "-x"])
def test_a_name_that_is_none_is_refused(tmp_path, name):
    with pytest.raises(UsageError):
        write_profile(own_file(tmp_path), name, turned())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["a = [", "profiles = 3\n", "profiles.x = 3\n", "unknown = 1\n", "\x00"])
def test_a_file_that_is_wrong_stays_as_it_is(tmp_path, text):
    place = own_file(tmp_path)
    place.path.write_text(text)
    with pytest.raises(ConfigError):
        write_profile(place, "x", turned())
    assert place.path.read_text() == text and [path.name for path in tmp_path.iterdir()] == ["secateur.toml"]


def test_links_a_users_is_followed_and_a_repositorys_refused(tmp_path):
    real = tmp_path / "dotfiles.toml"
    real.write_text("# here\n")
    (tmp_path / "secateur.toml").symlink_to(real)
    write_profile(own_file(tmp_path), "x", turned())
    assert (tmp_path / "secateur.toml").is_symlink() and "profiles.x" in real.read_text()
    with pytest.raises(ConfigError, match="is a link"):
        repository_file(tmp_path)


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SecateurError, match="cannot"):
        write_profile(own_file(tmp_path / "file"), "x", turned())


def test_adopting_makes_a_profile_the_default_and_keeps_the_file(tmp_path):
    (tmp_path / "secateur.toml").write_text("# top\n[graph_rag]\ntop_k = 12 # more\n")
    adopt_profile(tmp_path, "recommended")
    text = (tmp_path / "secateur.toml").read_text()
    assert "# top\n" in text and "top_k = 12 # more\n" in text
    loaded = load(None, user_dir=tmp_path)
    assert loaded.settings.profile == "recommended" and loaded.settings.graph_rag.top_k == 12
    adopt_profile(tmp_path, "spec")
    assert load(None, user_dir=tmp_path).settings.profile == "spec"
    with pytest.raises(UsageError, match="not one of your profiles"):
        adopt_profile(tmp_path, "theirs")


def test_the_command_line_writes_and_adopts(tmp_path, monkeypatch):
    monkeypatch.setenv("SECATEUR_CONFIG_DIR", str(tmp_path / "own"))
    repository = tmp_path / "repository"
    repository.mkdir()
    words = ("config", repository, "--profile", "recommended", "--set", "graph_rag.top_k=7")
    first = secateur(*words, "--save-profile", "wide", "--adopt", "wide", "--format", "json")
    assert first.code == 0 and first.json["adopted"] == "wide" and first.json["values"]["graph_rag.top_k"] == 7
    assert '"wide"' in secateur("config", repository).out
    second = secateur(*words, "--save-profile", "ours", "--to", "repository", "--set", "budget=10")
    assert Path(repository / "secateur.toml").is_file() and "left out budget: 10 belongs to a run" in second.out
    assert secateur("config", "--to", "yours").code == 2
    assert "did you mean repository" in secateur("config", "--save-profile", "x", "--to", "repositry").err
