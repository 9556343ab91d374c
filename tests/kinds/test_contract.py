"""What every kind of context promises, on one small input each: JSON of its schema, a ledger that adds up, and the same
bytes under any hash seed, whatever was decided before and by however many threads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from secateur.kinds import registry
from secateur.kinds.base import Environment
from secateur.kinds.run import answer_of, render
from secateur.settings import Settings, with_values
from support.conversations import conversation
from support.envelopes import asset_paths, envelope, files
from support.facts import SEEN, facts, planted
from support.json_shapes import violations
from support.logs import LOGS, among
from support.repos import QUERY, SHOP, committed

BUDGETS = {
    "search": ("budget", (40, 90)),
    "files": ("context_prune.max_tokens", (45, 100)),
    "conversation": ("conversation_prune.safe_zone_tokens", (500, 900)),
    "envelope": ("context_budget.tokens", (900, 1500)),
    "diff": ("chunking.max_chunk_tokens", (200, 500)),
    "log": ("log.max_tokens", (150, 300)),
}
"""The setting that is the budget of a kind, and two values that leave something out."""


def write_inputs(folder: Path) -> None:
    """An input for each kind; the same every time."""
    from random import Random

    committed(folder / "shop", SHOP)
    talk = conversation("anthropic", list(planted(facts(SEEN, Random(3))[:6], Random(3), steps=2, lines=12)), asks="?")
    added = "".join(f"+line_{number} = {number}\n" for number in range(60))
    head = "diff --git a/a.py b/a.py\nnew file mode 100644\n--- /dev/null\n+++ b/a.py\n@@ -0,0 +1,60 @@\n"
    digest = envelope({"assets": asset_paths(9000), "files": files(12, 900)})
    texts = {
        "talk.json": json.dumps(talk),
        "envelope.json": json.dumps(digest),
        "pull.diff": head + added,
        "ci.log": among(LOGS["go"], 40, 20),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")


def answers(folder: Path, threads: int) -> dict[str, str]:
    """The JSON of each kind under each budget, decided from one reading, by so many threads."""
    told = {}
    for name, (setting, budgets) in BUDGETS.items():
        kind = registry.get_kind(name)
        own: dict[str, Any] = {
            "search": {"query": QUERY, "path": str(folder / "shop")},
            "files": {"query": QUERY, "path": [str(folder / "shop")]},
            "conversation": {"path": str(folder / "talk.json")},
            "envelope": {"path": str(folder / "envelope.json"), "model": "gpt-4o"},
            "diff": {"diff": str(folder / "pull.diff"), "path": str(folder)},
            "log": {"path": str(folder / "ci.log")},
        }[name]
        inputs = {**kind.blank_inputs(), **own}
        settings = [with_values(Settings(), {setting: budget}) for budget in budgets]
        material = kind.read(inputs, settings[0], Environment())

        def decide(chosen: Settings, kind: Any = kind, material: Any = material, inputs: Any = inputs) -> str:
            return render(kind, answer_of(kind, material, inputs, chosen), "json")

        try:
            with ThreadPoolExecutor(threads) as pool:
                made = list(pool.map(decide, settings * threads))
        finally:
            kind.release(material)
        assert made[: len(settings)] * threads == made, name
        told |= {f"{name} {budget}": text for budget, text in zip(budgets, made, strict=False)}
    return told


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("inputs")
    write_inputs(folder)
    yield folder


@pytest.fixture(scope="module")
def told(folder: Path) -> dict[str, str]:
    return answers(folder, 1)


def test_no_kind_is_left_out() -> None:
    assert {*BUDGETS} == {place.name for place in registry.BUILT_IN}


@pytest.mark.parametrize("name", BUDGETS)
def test_json_is_of_its_schema_and_the_ledger_adds_up(name: str, told: dict[str, str]) -> None:
    bodies = [json.loads(text) for key, text in told.items() if key.startswith(f"{name} ")]
    for body in bodies:
        assert violations({"diff": "chunk"}.get(name, name), body) == []
        ledger = body["ledger"]
        for side in ("before", "after"):
            assert ledger[side] == sum(entry[side] for entry in ledger["entries"])
        assert any(entry["state"] != "kept" for entry in ledger["entries"]) or name == "diff"
    assert bodies[0] != bodies[1]


def test_the_same_bytes_from_many_threads(folder: Path, told: dict[str, str]) -> None:
    assert answers(folder, 4) == told


def test_the_same_bytes_under_another_hash_seed(folder: Path, told: dict[str, str]) -> None:
    code = "import json, sys; from pathlib import Path; from kinds.test_contract import answers"
    call = [sys.executable, "-c", f"{code}; print(json.dumps(answers(Path(sys.argv[1]), 1)))", folder]
    tests = str(Path(__file__).parents[1])
    environment = os.environ | {"PYTHONHASHSEED": "4242", "PYTHONPATH": tests}
    ran = subprocess.run(call, capture_output=True, text=True, check=True, env=environment)
    assert json.loads(ran.stdout) == told
