"""Streams that are full, closed or gone: the exit code says so, and nothing of the interpreter shows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.repos import QUERY, SHOP, write

pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")

PROGRAM = f"{sys.executable} -m secateur.cli.main"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("output") / "shop", SHOP)


def shell(words: str, shop: Path) -> tuple[int, str, str]:
    done = subprocess.run(["sh", "-c", f"{PROGRAM} {words}"], cwd=shop, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "words",
    [
        f"search '{QUERY}'",
        f"search '{QUERY}' --format json",
        "status",
        "config",
        "--help",
        "search --help",
        "--version",
    ],
)
def test_output_that_cannot_be_written_is_an_error(shop, words):
    code, _, err = shell(f"{words} > /dev/full", shop)
    assert code == 1
    assert err == "error: cannot write the output: No space left on device\nhint: check where standard output leads\n"


def test_a_closed_standard_output_is_an_error(shop):
    code, _, err = shell("status >&-", shop)
    assert code == 1
    assert err.startswith("error: cannot write the output: ")


@pytest.mark.parametrize("where", ["2> /dev/full", "2>&-"])
def test_messages_nobody_can_read_stop_nothing(shop, where):
    code, out, _ = shell(f"search '{QUERY}' --verbose {where}", shop)
    assert code == 0
    assert out.startswith("query ")
    assert shell(f"search --nonsense {where}", shop)[0] == 2


def test_a_query_from_a_closed_standard_input_is_a_wrong_call(shop):
    code, out, err = shell("search - <&-", shop)
    assert (code, out) == (2, "")
    assert "no standard input" in err
