"""Fixtures: a small repository with an input of every kind of context, each saved as a scenario."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from secateur.kind_places import others
from secateur.kinds import registry
from support.cli import secateur
from support.distributions import TODO, install
from support.repos import shop_with_inputs
from support.scenario_commands import COMMANDS


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of two commits with inputs, in which the test works."""
    root = shop_with_inputs(tmp_path / "shop")
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def todo_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The kind of to-do lists, registered by another distribution."""
    folder = tmp_path / "packages"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    install(folder, "todo_lists", {"todo_kind": TODO}, {"todo": "todo_kind:ToDo"})
    caches = (registry.places, registry.get_kind, others, registry._load_others)
    for cached in caches:
        cached.cache_clear()
    yield
    monkeypatch.delitem(__import__("sys").modules, "todo_kind", raising=False)
    for cached in caches:
        cached.cache_clear()


@pytest.fixture
def saved(shop: Path) -> Callable[..., Path]:
    """Saves the scenario of a command line, or of a name in `COMMANDS`."""

    def save(name: str, *words: object) -> Path:
        path = shop / "checks" / f"{name}.scenario.toml"
        path.parent.mkdir(exist_ok=True)
        ran = secateur(*(words or COMMANDS[name]), "--save", path.relative_to(shop), "--exact")
        assert (ran.code, f"saved: checks/{path.name}" in ran.err) == (0, True), ran.err
        return path

    return save
