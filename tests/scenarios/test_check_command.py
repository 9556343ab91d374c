"""`secateur check`: which scenarios are run, which kind of empty it is, recording, processes, Ctrl-C."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from secateur_lab.scenarios.check import results_of
from secateur_lab.scenarios.scenario import read_scenario
from support.cli import secateur
from support.processes import DEADLINE, child_processes, environment, read_terminal, run_process

Save = Callable[..., Path]

CHECK = [sys.executable, "-m", "secateur.cli.main", "check"]


@pytest.fixture
def logs(shop: Path, saved: Save) -> list[Path]:
    """Four scenarios of logs."""
    paths = []
    for number in range(4):
        shutil.copy(shop / "inputs" / "ci.log", shop / f"ci{number}.log")
        paths.append(saved(f"log{number}", "log", f"ci{number}.log", "--max-tokens", "300"))
    return paths


def break_log(shop: Path, number: int) -> None:
    """Another log in the place of one: its scenario changes."""
    (shop / f"ci{number}.log").write_text("all went well\n" * 3)


def test_an_empty_folder_is_said_and_is_no_error(shop: Path) -> None:
    ran = secateur("check", "inputs")
    assert (ran.code, ran.out) == (0, "0 scenarios\n")
    assert ran.err == "warning: no scenario lies below inputs: their names end in .scenario.toml\n"
    assert shop.is_dir()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere"], "there is no file or folder nowhere"),
        (["inputs/ci.log"], "inputs/ci.log is not a scenario"),
        (["--only", "*.none", "checks"], "--only *.none matches none of 4 scenarios"),
        (["--profile", "spec"], "check does not take --profile"),
        (["--set", "budget=1"], "check does not take --set"),
        (["--jobs", "0"], "--jobs 0 is not allowed"),
        (["--format", "xml"], "--format takes one of text, json, junit, github, markdown"),
    ],
)
@pytest.mark.usefixtures("logs")
def test_a_wrong_call_says_what_is_wrong(words: list[str], said: str) -> None:
    ran = secateur("check", *words)
    assert ran.code == 2
    assert said in ran.err


@pytest.mark.usefixtures("logs")
def test_two_paths_that_name_the_same_scenario_count_once(shop: Path) -> None:
    (shop / "link.scenario.toml").symlink_to("checks/log1.scenario.toml")
    told = secateur("check", "checks/log1.scenario.toml", "link.scenario.toml", "checks", ".", "--verbose").out
    assert told.count("log1.scenario.toml") == 1
    assert told.endswith("4 scenarios: 4 passed\n")


@pytest.mark.usefixtures("logs")
def test_only_takes_a_part(shop: Path) -> None:
    break_log(shop, 1)
    break_log(shop, 2)
    assert secateur("check", "--only", "*log[13]*").out.endswith("2 scenarios: 1 passed, 1 changed\n")
    assert secateur("check", "--update", "--only", "log1*").out.endswith("1 scenario: 1 changed; 1 updated\n")
    assert secateur("check").out.endswith("4 scenarios: 3 passed, 1 changed\n")


def test_updating_records_the_decisions_and_leaves_what_a_person_wrote(shop: Path, logs: list[Path]) -> None:
    path = logs[0]
    head = "# why this is guarded\n" + path.read_text().replace("[expect]\n", "[expect]  # by hand\n")
    path.write_text(head)
    break_log(shop, 0)
    ran = secateur("check", "--update")
    assert (ran.code, ran.out.splitlines()[-1]) == (0, "4 scenarios: 3 passed, 1 changed; 1 updated")
    text = path.read_text()
    assert text[: text.index("[recorded]")] == head[: head.index("[recorded]")]
    assert secateur("check").out == "4 scenarios: 4 passed\n"
    assert secateur("check", "--update").out == "4 scenarios: 4 passed\n"
    assert [path.name for path in (shop / "checks").iterdir() if path.name.startswith(".")] == []


def test_exit_codes_tell_changed_from_cannot_run(shop: Path, logs: list[Path]) -> None:
    break_log(shop, 0)
    assert secateur("check").code == 4
    (shop / "ci1.log").unlink()
    ran = secateur("check")
    assert ran.code == 1
    assert ran.out.endswith("4 scenarios: 2 passed, 1 changed, 1 cannot run\n")
    line = logs[1].read_text().splitlines().index('path = "ci1.log"') + 1
    assert f"error: checks/log1.scenario.toml:{line}: input.path: cannot read ci1.log" in ran.out


@pytest.mark.usefixtures("logs")
def test_any_number_of_processes_says_the_same(shop: Path) -> None:
    for number in range(4, 20):
        (shop / "checks" / f"copy{number}.scenario.toml").write_text((shop / "checks/log1.scenario.toml").read_text())
    (shop / "checks" / "wrong.scenario.toml").write_text('scenario = 1\nkind = "serch"\n')
    other = shop / "other"
    (other / ".git").mkdir(parents=True)
    shutil.copy(shop / "ci1.log", other / "ci1.log")
    shutil.copy(shop / "checks/log1.scenario.toml", other / "b.scenario.toml")
    break_log(shop, 1)
    for form in ("text", "json"):
        one = secateur("check", "--format", form)
        three = secateur("check", "--format", form, "--jobs", "3")
        assert (one.code, one.out, one.err) == (three.code, three.out, three.err)
        assert one.code == 1


def test_a_process_that_dies_costs_the_scenario_that_it_was_at(
    shop: Path, logs: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from support.distributions import TODO, install

    folder = tmp_path / "deadly"
    folder.mkdir()
    dies = TODO.replace("        budget = left", "        __import__('os')._exit(9)\n        budget = left")
    install(folder, "todo_lists", {"todo_kind": dies}, {"todo": "todo_kind:ToDo"})
    monkeypatch.syspath_prepend(str(folder))
    (shop / "a.todo").write_text("[ ] one\n")
    for number in range(12):
        shutil.copy(logs[0], shop / "checks" / f"copy{number:02}.scenario.toml")
    text = 'scenario = 1\nkind = "todo"\n[input]\npath = "a.todo"\n[expect]\nmust_keep = ["line 1"]\n'
    (shop / "checks" / "m.scenario.toml").write_text(text)
    ran = secateur("check", "--jobs", "2", "--format", "json")
    assert ran.code == 1
    assert ran.json["counts"] | {"passed": 0} == {name: int(name == "cannot_run") for name in ran.json["counts"]}
    (wrong,) = [one for one in ran.json["scenarios"] if one["verdict"] == "cannot_run"]
    assert wrong["scenario"] == "checks/m.scenario.toml"
    assert wrong["error"]["code"] == "PROCESS_ENDED"


def test_a_kind_that_raises_anything_costs_its_scenario(
    shop: Path, logs: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from secateur.kind_places import others
    from secateur.kinds import registry
    from support.distributions import TODO, install

    folder = tmp_path / "raising"
    folder.mkdir()
    raises = TODO.replace("        budget = left", "        raise KeyError('\\x1b[2J')\n        budget = left")
    install(folder, "todo_lists", {"raising_kind": raises}, {"todo": "raising_kind:ToDo"})
    monkeypatch.syspath_prepend(str(folder))
    caches = (registry.places, registry.get_kind, others, registry._load_others)
    for cached in caches:
        cached.cache_clear()
    (shop / "a.todo").write_text("[ ] one\n")
    (shop / "m.scenario.toml").write_text('scenario = 1\nkind = "todo"\n[input]\npath = "a.todo"\n')
    ran = secateur("check", ".")
    for cached in caches:
        cached.cache_clear()
    assert ran.code == 1
    assert "unexpected KeyError" in ran.out
    assert "\x1b" not in ran.out
    assert ran.out.endswith("5 scenarios: 4 passed, 1 cannot run\n")
    assert len(logs) == 4


@pytest.mark.usefixtures("default_signals")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_ends_it_and_leaves_every_scenario_whole(shop: Path, logs: list[Path], jobs: str) -> None:
    for number in range(300):
        shutil.copy(logs[0], shop / "checks" / f"copy{number:03}.scenario.toml")
    break_log(shop, 0)
    parent, child = os.openpty()
    words = [*CHECK, "--update", "--jobs", jobs]
    streams = {"stdout": subprocess.PIPE, "stderr": child}
    with run_process(words, env=environment(), start_new_session=True, **streams) as ran:
        os.close(child)
        shown = b""
        while not re.search(rb" [1-9]\d* of 304 scenarios", shown) and (part := read_terminal(parent)):
            shown += part  # until some are done
        os.killpg(ran.pid, signal.SIGINT)
        while part := read_terminal(parent):
            shown += part
        out, _ = ran.communicate(timeout=DEADLINE)
    os.close(parent)
    assert (ran.returncode, out) == (130, b"")
    assert b"of 304 scenarios were run" in shown
    for path in (shop / "checks").iterdir():
        assert path.name.endswith(".scenario.toml"), "nothing half-written is left"
        assert read_scenario(path).recorded is not None
    assert json.loads(secateur("check", "checks/log3.scenario.toml", "--format", "json").out)["exit_code"] == 0


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere nothing lists our children")
@pytest.mark.usefixtures("logs")
def test_processes_that_are_killed_in_the_middle_change_no_result(shop: Path) -> None:
    paths = sorted((shop / "checks").iterdir()) * 6
    before, killed, results = child_processes(), set(), {}
    for number, result in results_of(paths, os.environ, 2):
        if len(results) == 5:
            for pid in child_processes() - before:
                os.kill(pid, signal.SIGKILL)
                killed.add(pid)
        results[number] = result
    assert killed
    assert results == dict(results_of(paths, os.environ))
