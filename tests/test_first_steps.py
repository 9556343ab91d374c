"""What somebody tries first shows pruning: each example of the README and of the help cuts something."""

import re
import runpy
import shlex
from contextlib import chdir
from pathlib import Path

import pytest
from secateur.cli.main import _EPILOG
from support.cli import secateur

ROOT = Path(__file__).parent.parent
OTHERS = ("src", "ci.log", "main", "latest", "-")  # of the reader's own machine


def examples():
    texts = {"README": (ROOT / "README.md").read_text("utf-8"), "help": _EPILOG}
    for place, text in texts.items():
        for line in re.findall(r"secateur (?:search|inspect|files|conversation|envelope|log) [^`\n#]*", text):
            words = shlex.split(line.partition(" | ")[0].strip())[1:]
            if not set(words) & set(OTHERS):
                yield pytest.param(words, id=f"{place}: {shlex.join(words)}")


@pytest.mark.parametrize("words", list(examples()))
def test_every_example_cuts_something(words):
    named = [word for word in words if word.startswith("sample:") or "/" in word]
    with chdir(ROOT):
        ran = secateur(*words, *([] if named else ["sample:orders"]), "--format", "json")
    assert ran.code == 0, ran.err
    ledger = ran.json["ledger"]
    assert 0 < ledger["after"] < ledger["before"]


def test_what_is_opened_to_try_it_cuts_something():
    words = runpy.run_path(str(ROOT / "tasks.py"))["FIRST_LOOK"]
    ledger = secateur("inspect", *words, "--format", "json").json["ledger"]
    assert 0 < ledger["after"] < ledger["before"]
