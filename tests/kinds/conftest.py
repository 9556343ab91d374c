"""Fixtures: kinds of context of other distributions, installed for one test."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from secateur.kind_places import commands, others
from secateur.kinds import registry
from support.distributions import TODO, install

LIST = "[x] water the plants\n[ ] call the bank about the card\n[ ] buy bread\n[x] post the letter\n"


@pytest.fixture
def distributions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Installs distributions; none is left when the test ends."""
    folder = tmp_path / "packages"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    modules = set(sys.modules)
    caches = (registry.places, registry.get_kind, others, commands, registry._load_others)

    def installed(*args: object) -> None:
        install(folder, *args)  # type: ignore[arg-type]
        for cached in caches:
            cached.cache_clear()

    yield installed
    for name in set(sys.modules) - modules:
        if (folder / f"{name}.py").exists():
            del sys.modules[name]
    for cached in caches:
        cached.cache_clear()


@pytest.fixture
def todo(distributions: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A to-do list, and the kind for it."""
    distributions("todo_lists", {"todo_kind": TODO}, {"todo": "todo_kind:ToDo"})
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "week.todo"
    path.write_text(LIST, encoding="utf-8")
    return path
