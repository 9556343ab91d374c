"""`secateur replay`, `demo` and `inspect --replay` as they are called without a terminal."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from secateur.directories import data_dir
from support.cli import secateur
from support.json_shapes import violations

EXAMPLES = data_dir("docs/examples")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A recording beside the log that it is about."""
    for name in ("ci.log", "log.replay.jsonl"):
        shutil.copy(EXAMPLES / name, tmp_path)
    return tmp_path / "log.replay.jsonl"


def test_all_three_print_the_same(log: Path):
    printed = secateur("replay", log)
    assert printed.code == 0
    assert secateur("inspect", "--replay", log).out == printed.out
    assert secateur("demo", "log").out == printed.out


@pytest.mark.parametrize("further", [["."], ["src"], ["--query", "x"], ["--budget", "3"], ["--set", "budget=3"]])
def test_a_recording_is_shown_alone(log: Path, further: list[str]):
    ran = secateur("inspect", *further, "--replay", log)
    assert ran.code == (0 if further == ["."] else 2)
    assert ("--replay shows a recording alone" in ran.err) == (further != ["."])


def test_a_scenario_is_not_recorded(log: Path):
    ran = secateur("inspect", log.parent / "a.scenario.toml", "--record", log.parent / "a.replay.jsonl")
    assert ran.code == 2 and "--record does not go with a scenario" in ran.err


def test_recording_needs_a_terminal(log: Path):
    ran = secateur("inspect", log.parent / "ci.log", "--record", log.parent / "a.replay.jsonl")
    assert ran.code == 2 and "--record needs a terminal" in ran.err
    assert not (log.parent / "a.replay.jsonl").exists()


def test_an_error_names_file_and_line_as_text_and_as_json(log: Path):
    log.write_text(log.read_text() + '{"at": 99, "do": "hold", "id": "none"}\n')
    line = len(log.read_text().splitlines())
    ran = secateur("replay", log, "--format", "json")
    assert ran.code == 1 and ran.json["error"]["code"] == "REPLAY"
    assert ran.json["error"]["message"].endswith(f"log.replay.jsonl:{line}: unknown item none")


@pytest.mark.parametrize("name", ["search", "envelope", "log"])
def test_the_json_is_what_the_schema_says(name: str):
    told = secateur("replay", EXAMPLES / f"{name}.replay.jsonl", "--format", "json", "--verbose").json
    assert violations("replay", told) == []
    assert any("error" in step for step in told["steps"]) == (name == "envelope")
    assert violations("demo", secateur("demo", "--format", "json").json) == []


def test_what_is_no_recording_is_said(log: Path):
    ran = secateur("replay", log.parent / "ci.log")
    assert ran.code == 1 and "ci.log:1: it is not JSON" in ran.err


def test_the_picture_is_whole_or_not_there(log: Path):
    # In a process of its own: drawing starts an event loop, and another one runs where tests are asynchronous.
    def drawn(*words: str, seed: str = "0") -> subprocess.CompletedProcess[str]:
        call = [sys.executable, "-c", "import sys; from secateur.cli.main import main; sys.exit(main())"]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        return subprocess.run([*call, *words], cwd=log.parent, env=environment, capture_output=True, text=True)

    log.write_text("".join(log.read_text().splitlines(keepends=True)[:6]))  # two pictures of it are enough
    first = drawn("replay", log.name, "--svg", "one.svg")
    assert (first.returncode, first.stdout, first.stderr) == (0, "", "drawn: one.svg\n")
    assert drawn("replay", log.name, "--svg", "two.svg", seed="7").returncode == 0
    one, two = ((log.parent / name).read_bytes() for name in ("one.svg", "two.svg"))
    assert one == two and len(one) < 200_000
    texts = "".join(ElementTree.fromstring(one).itertext())
    assert "line that sums up the run stays" in texts.replace("\u00a0", " ")
    log.write_text(log.read_text() + '{"at": 99, "do": "hold", "id": "none"}\n')
    failed = drawn("replay", log.name, "--svg", "three.svg")
    assert (
        failed.returncode == 1
        and f"log.replay.jsonl:{len(log.read_text().splitlines())}: unknown item none" in failed.stderr
    )
    assert not (log.parent / "three.svg").exists()
    assert drawn("replay", log.name, "--svg", "none/four.svg").returncode == 1
