from pathlib import Path

import pytest
from secateur_tui.state.input_files import FileWatch, expand_path


def test_a_change_of_the_file_is_seen_and_nothing_before_it_was_read(tmp_path: Path) -> None:
    path, watch = tmp_path / "file", FileWatch()
    assert watch.changes() == ""
    path.write_text("one")
    watch.read(str(path))
    assert watch.changes() == ""
    path.write_text("three")
    assert watch.changes() == "the file changed"
    path.unlink()
    assert watch.changes() == "the file is gone"


def test_a_typed_path_may_begin_at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    assert expand_path(" ~/a.json ") == "/home/somebody/a.json"
    assert expand_path("~nobody-knows/a") == "~nobody-knows/a" and expand_path("") == ""
