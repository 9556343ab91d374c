"""Versions by the names of metadata folders are those that the standard library reads out of them."""

from __future__ import annotations

from importlib.metadata import distributions, version
from pathlib import Path

import pytest
from secateur.distributions import version_of


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
