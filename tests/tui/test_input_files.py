from pathlib import Path

import pytest
from secateur.errors import SecateurError
from secateur_tui.state.input_files import FileWatch, read_file, typed_path
from support.systems import mkfifo


def test_what_is_no_readable_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    mkfifo(tmp_path / "pipe")
    (tmp_path / "large").write_bytes(b"x" * 11)
    for name, code in (
        ("pipe", "NO_FILE"),
        (".", "NO_FILE"),
        ("large", "TOO_LARGE"),
        ("nowhere", "NO_SUCH_FILE"),
        ("a\0b", "UNREADABLE"),
        ("x" * 5000, "UNREADABLE"),
    ):
        with pytest.raises(SecateurError) as raised:
            read_file(str(tmp_path / name), largest=10)
        assert raised.value.code == code


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
    assert typed_path(" ~/a.json ") == "/home/somebody/a.json"
    assert typed_path("~nobody-knows/a") == "~nobody-knows/a" and typed_path("") == ""
