"""Versions and entry points by metadata folders are those that the standard library reads out of them."""

from __future__ import annotations

from importlib.metadata import distribution, distributions, version
from pathlib import Path

import pytest
from secateur.distributions import entry_points_of, version_of


def test_every_distribution_here_has_the_version_that_its_metadata_has() -> None:
    names = {each.metadata["Name"] for each in distributions()}
    assert len(names) > 20
    assert {name: version_of(name) for name in names} == {name: version(name) for name in names}


def test_names_are_compared_as_installers_do() -> None:
    assert version_of("PyStemmer") == version_of("pystemmer") == version("PyStemmer")
    assert version_of("tree_sitter_c_sharp") == version("tree-sitter-c-sharp")
    assert version_of("no-such-distribution") is None


def test_what_is_installed_meanwhile_is_seen_and_the_first_on_the_path_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    before = version_of("numpy")
    assert before == version("numpy")
    (tmp_path / "numpy-99.9+local.1.dist-info").mkdir()
    assert version_of("numpy") == "99.9+local.1"


def test_entry_points_are_those_that_the_metadata_has() -> None:
    for group in ("secateur.commands", "console_scripts", "no.such.group"):
        known = {each.name: each.value for each in distribution("secateur").entry_points.select(group=group)}
        assert entry_points_of("secateur", group) == known
    assert entry_points_of("no-such-distribution", "console_scripts") == {}
