"""`secateur inspect --serve` without its extra."""

import sys

import pytest
from secateur.cli.main import main


def test_a_missing_extra_names_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "textual_serve.server", None)
    assert main(["inspect", "sample:orders", "--serve"]) == 2
    assert "pip install 'secateur[serve]'" in capsys.readouterr().err
