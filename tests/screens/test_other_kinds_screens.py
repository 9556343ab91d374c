"""The bench of a kind that another distribution registers, in a process of its own: the inspector derives its benches
from the kinds sessions when it is imported."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from inspector_kit import assert_golden
from support.distributions import TODO, install
from support.processes import environment

SIZE = (80, 24)

PROGRAM = """
import asyncio, sys
from inspector_kit import Inspector, Pace, press, settle
from secateur.settings import with_values
from secateur.settings import Settings

async def screen(keys, size):
    settings = with_values(Settings(), {"kinds.todo.max_tokens": 16, "tokens.counter": "chars4"})
    app = Inspector(None, settings, path="week.todo", bench="todo", pace=Pace(0.001, 0.001, 0, proves=False))
    app.NOTIFICATION_TIMEOUT = 120.0
    async with app.run_test(size=size, notifications=True):
        lines = await settle(app)
        for key in keys:  # what a key shows may depend on what the one before decided
            lines = await settle(app, key)
        return list(lines)

print("\\n".join(asyncio.run(screen(sys.argv[3:], (int(sys.argv[1]), int(sys.argv[2]))))))
"""


def screen(folder: Path, keys: str) -> list[str]:
    """The bench after some keys."""
    (folder / "week.todo").write_text(
        "[x] water the plants\n[ ] call the bank about the card\n[ ] buy bread\n[x] post the letter\n", encoding="utf-8"
    )
    install(folder, "todo_lists", {"todo_kind": TODO}, {"todo": "todo_kind:ToDo"})
    env = environment()
    env["PYTHONPATH"] = os.pathsep.join((str(folder), str(Path(__file__).parent), env["PYTHONPATH"]))
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, SIZE), *keys.split()],
        env=env,
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=240,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


@pytest.mark.parametrize(("name", "keys"), [("opened", ""), ("why", "i"), ("copy", "b y")])
def test_screen(tmp_path: Path, name: str, keys: str) -> None:
    title, *below = screen(tmp_path, keys)
    assert title.endswith("To do")  # the keys before it are as many as we have kinds
    assert_golden(f"todo_{name}_{SIZE[0]}x{SIZE[1]}", below)


def test_one_that_cannot_be_used_is_said(tmp_path: Path) -> None:
    install(tmp_path, "others", {"broken": "import nothing_of_this_name\n"}, {"broken": "broken:Kind"})
    said = " ".join(" ".join(line.strip("│▌▐ ") for line in screen(tmp_path, "")).split())
    assert "the kind of context broken (broken:Kind)" in said and "nothing_of_this_name" in said
    assert "buy bread" in said or "line 3" in said
