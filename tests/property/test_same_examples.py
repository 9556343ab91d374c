"""The default run tries the same examples whatever else was loaded or run before."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


def drawn() -> list[tuple[int, str]]:
    seen = []

    @settings(max_examples=300)
    @given(st.integers(), st.text())
    def collect(number: int, text: str) -> None:
        seen.append((number, text))

    collect()
    return seen


@pytest.mark.skipif(not settings().derandomize, reason="exploring draws other examples every time")
def test_examples_do_not_depend_on_what_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = drawn()
    path = tmp_path / "odd.py"
    path.write_text("".join(f"A{i} = {7919 * i + 100_003}\nB{i} = 'word {i}'\n" for i in range(200)))
    spec = importlib.util.spec_from_file_location("odd", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "odd", module)
    spec.loader.exec_module(module)
    assert drawn() == before
