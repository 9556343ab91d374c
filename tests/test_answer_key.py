"""A cached answer is given again only where nothing it rests on has changed."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from secateur import Engine, Settings
from secateur.settings import Embedding, Preference, load
from support.engine_answers import answered
from support.repos import QUERY, SHOP, committed, git, write


def asked(root: Path, settings: Settings | None = None, query: str = QUERY) -> tuple[bool, str]:
    """Whether the answer came from the cache, and the answer."""
    with Engine.open(root, settings) as engine:
        answer = answered(engine, query, "json")
    return answer.cached, answer.text


def test_the_same_question_is_answered_from_the_cache(tmp_path: Path) -> None:
    root = committed(tmp_path / "shop", SHOP)
    first = asked(root)
    assert (first[0], asked(root)) == (False, (True, first[1]))


@pytest.mark.parametrize("package", ["onnxruntime", "numpy"])
def test_another_version_of_what_it_rests_on_is_another_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    root = write(tmp_path / "shop", SHOP)
    asked(root)
    information = tmp_path / "site" / f"{package}-99.9.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 99.9\n")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    assert not asked(root)[0]
    assert asked(root)[0]


def test_without_git_the_answer_is_another_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = committed(tmp_path / "shop", SHOP)
    _, before = asked(root)
    monkeypatch.setenv("PATH", str(tmp_path))
    cached, after = asked(root)
    assert not cached
    assert "git was not found" in after and "git was not found" not in before


def test_the_model_is_part_of_the_question(tmp_path: Path) -> None:
    root = write(tmp_path / "shop", SHOP)
    asked(root)
    assert not asked(root, replace(Settings(), embedding=Embedding(model="none")))[0]


def test_how_far_the_history_reaches_is_part_of_the_question(tmp_path: Path) -> None:
    whole = committed(tmp_path / "whole", SHOP)
    for number in range(3):
        write(whole, {"shop/money.py": f"def round_total(amount):\n    return round(amount, {number})\n"})
        git(whole, "commit", "-q", "-a", "-m", f"Round to {number}", time=1_750_000_100 + number)
    git(tmp_path, "clone", "-q", "--depth", "1", whole.as_uri(), "shop")
    root = tmp_path / "shop"
    _, shallow = asked(root)
    git(root, "fetch", "-q", "--unshallow")
    cached, deep = asked(root)
    assert (cached, deep == shallow) == (False, False)


def test_the_commit_is_part_of_the_question(tmp_path: Path) -> None:
    root = committed(tmp_path / "shop", SHOP)
    asked(root)
    git(root, "commit", "-q", "--allow-empty", "-m", "Nothing", time=1_760_000_000)
    assert not asked(root)[0]


def test_no_path_of_the_machine_decides_what_leaves(tmp_path: Path) -> None:
    """A warning in the pack costs tokens: were it to name a path, the same call would choose otherwise in another
    user's folder."""
    repository = tmp_path / "repository"
    write(repository, SHOP | {"secateur.toml": 'tokens.counter = "chars4"\n'})
    packs = []
    for own in (tmp_path / "a", tmp_path / ("b" * 100)):
        with Engine.open(
            repository,
            load(repository, user_dir=own).settings,
            notices=load(repository, user_dir=own).notices,
            config_dir=own,
        ) as engine:
            selection = engine.search(
                "refund", replace(engine.settings, budget=300, preference=Preference(enabled=True))
            )
            packs.append(engine.render(selection))
    assert packs[0] == packs[1]
