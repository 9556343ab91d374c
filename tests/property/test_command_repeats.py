"""The command line that a report prints gives the same answer again, whatever was set."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from secateur.kinds.command_line import toml
from secateur.settings import PROFILES, Key
from secateur.settings import keys as setting_keys
from support.cli import secateur
from support.repos import QUERY, git, shop_with_inputs, write

CALLS = {
    "search": ("search", QUERY, ".", "--budget", 250, "--profile", "recommended", "--no-cache"),
    "files": ("files", "shop", "README.md", "--query", QUERY, "--max-tokens", 90, "--strategy", "extract"),
    "conversation": ("conversation", "inputs/session.jsonl", "--safe-zone", 6000),
    "envelope": ("envelope", "inputs/envelope.json", "--model", "gpt-4o", "--context-budget", 2500),
    "chunk": ("chunk", "--base", "BASE", "--max-tokens", 400),
    "log": ("log", "inputs/ci.log", "--max-tokens", 500),
}
"""Calls whose budget is tight, so that most settings change something."""

TEXTS = {
    "pins": ["shop/money.py::round_total", "shop/money.py", "200-204", "messages[3]"],
    "excludes": ["shop/refund.py::refund_total"],
    "graph_rag.only": ["shop", "*.md"],
    "index.ignore": ["*.md", "shop/api.py"],
    "chunking.ignore": ["*.py", "!shop/money.py"],
    "redaction.allow": ["*"],
}
"""Texts that mean something for a list; another list takes any."""


@pytest.fixture(scope="module")
def shop() -> Iterator[Path]:
    """A repository with an input of every kind of context, in which the tests work."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        root = shop_with_inputs(Path(folder) / "shop")
        for count in range(1, 12):
            body = f"    total = round(total, {count})  # refund\n" * count * 2
            write(root, {f"rules/rule_{count}.py": f"def total_refund_{count}(total):\n{body}    return total\n"})
        os.chdir(root)
        yield root
        os.chdir(here)


def values(key: Key) -> st.SearchStrategy[Any]:
    """Values that a key allows, those near its default and its ends among them."""
    if key.name == "profile":
        return st.sampled_from(sorted(PROFILES))
    if key.choices:
        return st.sampled_from([choice for choice in key.choices if choice not in ("openai", "ollama")])
    if key.name == "boosts":
        return st.dictionaries(st.sampled_from(["shop/money.py::round_total", "README.md::Refunds"]), st.just(3.5))
    if key.kind is bool:
        return st.booleans()
    if key.kind is tuple:
        return st.lists(st.sampled_from(TEXTS.get(key.name, ["a b", "README.md"])), unique=True)
    if key.kind is dict:
        return st.just({"gpt-4o": 5000})
    if key.kind is str:
        return st.sampled_from(["", "x"])
    low, high = key.low or 0, key.high if key.high is not None else 10_000
    near = sorted({low, min(high, 3 * low + 1), min(high, 400), high})
    return st.sampled_from(near) if key.kind is int else st.sampled_from([low, (low + high) / 3, high])


KEYS = [key for key in setting_keys().values() if not key.name.startswith(("profiles", "llm."))]
"""All but profiles of one's own, and those of a language model, which the command does not ask."""
SETTINGS = st.lists(st.sampled_from(KEYS), min_size=1, max_size=8, unique_by=lambda key: key.name).flatmap(
    lambda chosen: st.fixed_dictionaries({key.name: values(key) for key in chosen})
)


@pytest.mark.parametrize("kind", CALLS)
@settings(max_examples=3)
@example(changed={"smart_pruning.density_exponent": 1.5})
@example(changed={"embedding.model": "none", "redaction.scanner": "full"})
@given(changed=SETTINGS)
def test_the_printed_command_repeats_every_setting_that_changes_an_answer(
    kind: str, changed: dict[str, Any], shop: Path
) -> None:
    sets = [word for key, value in changed.items() for word in ("--set", f"{key}={toml(value)}")]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.md"
        words = [git(shop, "rev-parse", "HEAD~1") if word == "BASE" else word for word in CALLS[kind]]
        told = secateur(*words, *sets, "--format", "json", "--report", report)
        if told.code:  # these settings have no answer
            return
        command = report.read_text("utf-8").partition("```sh\n")[2].partition("\n```")[0]
    again = secateur(*shlex.split(command)[1:], "--format", "json")
    assert (again.code, again.out) == (0, told.out), command
