"""The benches that read folders start on the one that Search was opened on."""

from __future__ import annotations

from pathlib import Path

from inspector_kit import QUERY, inspector, running, settle
from secateur_tui.screen import Bench
from support.repos import committed, git, write


async def test_diff_and_files_start_on_the_folder_that_is_inspected(tmp_path: Path) -> None:
    root = committed(tmp_path / "shop", {"refund.py": "def total():\n    return 1\n"})
    write(root, {"refund.py": "def total():\n    return 2\n"})
    git(root, "commit", "-q", "-a", "-m", "Refunds are rounded")
    write(root, {"refund.py": "def total():\n    return 3\n"})
    async with running(inspector(folder=str(root))) as app:
        for key, item in (("5", "refund.py"), ("2", "refund.py")):
            lines = await settle(app, key)
            assert isinstance(app.screen, Bench)
            assert app.screen.state.question == str(root)
            assert app.screen.state.inputs.get("query", QUERY) == QUERY
            assert any(item in line for line in lines)
        await settle(app, "4")
        assert isinstance(app.screen, Bench)
        assert app.screen.state.question == ""


async def test_files_take_along_what_is_asked_and_say_what_they_want_where_nothing_is(tmp_path: Path) -> None:
    write(tmp_path, {"refund.py": "def total():\n    return 1\n"})
    app = inspector(query="", folder=str(tmp_path))
    async with app.run_test(size=(120, 40)):
        assert any("Esc Leave the field  then" in line for line in await settle(app)), "? would be typed"
        assert not any("Leave the field" in line for line in await settle(app, "escape"))
        said = " ".join(await settle(app, "2"))
        assert "Say what the files are for" in said and "/ goes to the field for it" in said
        await settle(app, "escape", "1", "slash", *"refund")
        lines = await settle(app, "escape", "2")
        assert isinstance(app.screen, Bench) and app.screen.state.inputs["query"] == "refund"
        assert any("● refund.py" in line for line in lines)
