"""Inputs of the recorded commands, made the same on every machine: transcripts, envelopes, a diff, folders that are
wrong in some way."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

from support.conversations import Said, conversation
from support.envelopes import envelope, files

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"

ISSUE = """Refund of a voucher order pays one cent too much

When an order was paid half by voucher, `refund_total` rounds each line and the sum is above what was paid.

```
>>> refund_total(order)
Money('10.01', 'EUR')
```
"""

TRACEBACK = """Traceback (most recent call last):
  File "orders/services/refunds.py", line 61, in refund
    total = self._total(order, lines)
  File "orders/domain/money.py", line 44, in __add__
    raise CurrencyMismatch(self.currency, other.currency)
orders.errors.CurrencyMismatch: EUR and JPY cannot be added
"""


def make_inputs(folder: Path, sample: Path) -> None:
    """Write every input into `folder`. `sample` is the unpacked sample repository `orders`."""
    for example in filter(Path.is_file, EXAMPLES.iterdir()):
        shutil.copy(example, folder / example.name)
    (folder / "issue.txt").write_text(ISSUE, "utf-8")
    (folder / "traceback.txt").write_text(TRACEBACK, "utf-8")
    (folder / "skill.md").write_text("# Review\n\nName every change of behaviour, with its line.\n", "utf-8")
    (folder / "orders.diff").write_bytes(_diff(sample))
    turns = _turns(sample)
    for name, form in (("openai.json", "openai"), ("anthropic.json", "anthropic")):
        messages = conversation(form, turns, system="You repair the orders service.", asks="And what about vouchers?")
        _dump(folder / name, messages)
    text = conversation("text", turns, asks="And what about vouchers?")
    (folder / "talk.txt").write_text(json.dumps(text, ensure_ascii=False, indent=1), "utf-8")
    _dump(folder / "dependencies.json", envelope(digest={"references": {"modules": _dependencies(40)}}))
    _dump(folder / "contents.json", envelope(digest={"references": {"documents": files(40, 2_600)}}))
    _folders(folder)


def _diff(sample: Path) -> bytes:
    words = ["git", "-C", str(sample), "diff", "--no-color", "--no-ext-diff", "--full-index", "HEAD~10", "HEAD"]
    return subprocess.run(words, check=True, capture_output=True).stdout


def _turns(sample: Path) -> list[Said]:
    """An agent that reads the sample's files, one turn for each package."""
    turns = []
    for package in ("domain", "payments", "services", "storage"):
        paths = sorted((sample / "orders" / package).glob("*.py"))
        steps = tuple(
            ("read_file", path.relative_to(sample).as_posix(), path.read_text("utf-8"), True) for path in paths
        )
        failing = (
            (
                "run_tests",
                f"tests/test_{package}.py",
                f"FAILED tests/test_{package}.py::test_total - AssertionError",
                False,
            ),
        )
        turns.append(
            Said(
                f"What is in {package}, and do its tests pass?",
                steps + failing,
                f"I read {len(paths)} files of {package}; one test fails.",
            )
        )
    return turns


def _dependencies(number: int) -> list[dict[str, str]]:
    """Dependencies with a summary and a hash each; lengths vary, so that cutting evenly differs from cutting in
    order."""
    return [
        {
            "path": f"src/module_{position:02}/service.py",
            "summary": f"Service {position} validates, prices and stores what module {position} receives. "
            + "It retries on failure. " * (position % 7 + 1),
            "hash": f"{position * 2654435761 % 2**32:08x}",
        }
        for position in range(number)
    ]


def _folders(folder: Path) -> None:
    """Folders and files that are wrong in some way."""
    (folder / "empty").mkdir()
    (folder / "empty.jsonl").write_text("")
    (folder / "cut.jsonl").write_text((folder / "session.jsonl").read_text("utf-8")[:20_000], "utf-8")
    broken = folder / "broken"
    broken.mkdir()
    (broken / "secateur.toml").write_text("[graph_rag]\nmax_dept = 3\n")
    hostile = folder / "hostile"
    hostile.mkdir()
    (hostile / "secateur.toml").write_text(
        'tokens.counter = "chars4"\n[llm]\nbase_url = "http://127.0.0.1:9"\n[graph_rag]\nmax_depth = 3\n'
    )
    (hostile / "deep.c").write_text("{" * 5_000)
    (hostile / "escape.py").write_text("def money():\n    return '\x1b]0;owned\x07'\n")
    (hostile / "latin.py").write_bytes(b"def money_latin():\n    return '\xe9\xff'\n")
    (hostile / "loop.rs").write_text("fn money(xs: &[u8]) { for &_ in xs {} }\n")
    (hostile / "separators.txt").write_text("money\x1cone\x1dtwo\x1ethree\n")


def _dump(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=2), "utf-8")
