from pathlib import Path

import pytest
from secateur_tui.state import input_files
from secateur_tui.state.input_files import FileWatch, ReplacedError, expand_path


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


def test_a_file_that_now_leads_elsewhere_or_belongs_to_another_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, other, watch = tmp_path / "folder", tmp_path / "other", FileWatch()
    for place in (folder, other):
        place.mkdir()
        (place / "file").write_text("one")
    watch.read(str(folder / "file"))
    (folder / "file").unlink()
    watch.read(str(folder / "file"))  # a follower reads again what is gone
    (folder / "file").write_text("two")
    assert watch.changes() == "the file changed"
    folder.rename(tmp_path / "was")
    folder.symlink_to(other)
    with pytest.raises(ReplacedError, match="replaced by a link of yours"):
        watch.changes()
    folder.unlink()
    (tmp_path / "was").rename(folder)
    assert watch.changes() == "the file changed"
    monkeypatch.setattr(input_files, "owner", lambda _: 4711)
    with pytest.raises(ReplacedError, match="replaced by a file of user 4711"):
        watch.changes()


def test_a_typed_path_may_begin_at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    assert expand_path(" ~/a.json ") == "/home/somebody/a.json"
    assert expand_path("~nobody-knows/a") == "~nobody-knows/a" and expand_path("") == ""
