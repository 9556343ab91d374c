"""Small examples of every kind of context but search, drawn by hypothesis: inputs, settings, and what the ledger has to
make of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from secateur import count_tokens
from secateur.kinds import registry
from secateur.kinds.files.sourcecode import MARKDOWN, block
from support.envelopes import asset_paths, envelope, files


@dataclass(frozen=True)
class Given:
    """What one example gives a kind, and what the ledger has to make of it."""

    inputs: dict[str, Any]
    changed: dict[str, Any]  # settings
    parts: set[str]  # the inputs
    parts_of: Callable[[str], Iterable[str]]  # the inputs that an entry is about, told by its id
    before: int  # tokens of what goes in


@dataclass(frozen=True)
class Case:
    """How a kind is tried."""

    draw: Callable[[st.DataObject, Path], Given]
    recount: Callable[[dict[str, Any]], int]  # tokens of what the JSON says goes out
    budget: Callable[[int, dict[str, Any]], int | None] = lambda budget, _: budget  # of the whole; None: a wish only


LINES = st.sampled_from(["def refund(order):", "    return order.total", "", "# 退款", "class Cart:", "x = 1", "```"])


def _draw_files(data: st.DataObject, folder: Path) -> Given:
    texts = data.draw(st.lists(st.lists(LINES, max_size=12).map("\n".join), min_size=1, max_size=6))
    names = [f"{number}.py" for number in range(len(texts))]
    for name, text in zip(names, texts, strict=True):
        (folder / name).write_text(text, "utf-8")
    changed = {
        "context_prune.strategy": data.draw(st.sampled_from(["score", "extract", "delete"])),
        "context_prune.max_tokens": data.draw(st.integers(0, 300)),
    }
    inputs = {**registry.get_kind("files").blank_inputs(), "path": [str(folder / name) for name in names]}
    inputs["query"] = "refund total of an order"
    return Given(inputs, changed, set(names), lambda name: [name], sum(map(_block_tokens, names, texts)))


def _block_tokens(name: str, text: str) -> int:
    """Tokens of a file in the Markdown text, for which files are decided."""
    return count_tokens(block(name, text, MARKDOWN))


def _json_tokens(value: Any) -> int:
    return count_tokens(json.dumps(value, ensure_ascii=False))


def _draw_envelope(data: st.DataObject, folder: Path) -> Given:
    paths, number, size = (data.draw(st.integers(*ends)) for ends in ((0, 4000), (1, 6), (20, 900)))
    value = envelope({"references": {"asset_paths": asset_paths(paths)}, "files": files(number, size)})
    path = folder / "envelope.json"
    path.write_text(json.dumps(value), "utf-8")
    changed = {"context_budget.tokens": data.draw(st.integers(1, 3000))}
    return Given(
        {"path": str(path), "model": "gpt-4o"},
        changed,
        set(value),
        lambda name: [name.partition(".")[0].partition("[")[0]],
        _json_tokens(value),
    )


def _draw_conversation(data: st.DataObject, folder: Path) -> Given:
    said = data.draw(st.lists(st.lists(LINES, min_size=1, max_size=12).map("\n".join), min_size=1, max_size=9))
    messages = [{"role": ("user", "assistant")[number % 2], "content": text} for number, text in enumerate(said)]
    path = folder / "talk.json"
    path.write_text(json.dumps(messages), "utf-8")
    changed = {
        "conversation_prune.strategy": data.draw(st.sampled_from(["summarize", "truncate", "hybrid", "tool-results"])),
        "conversation_prune.safe_zone_tokens": data.draw(st.integers(0, 300)),
    }

    def parts_of(name: str) -> Iterable[str]:
        return [] if name.startswith("summary of") else [name]

    parts = {f"messages[{number}]" for number in range(len(messages))}
    return Given({"path": str(path), "out": ""}, changed, parts, parts_of, sum(map(count_tokens, said)))


def _draw_log(data: st.DataObject, folder: Path) -> Given:
    line = st.sampled_from(
        ["collecting", "E   assert 1 == 2", "ERROR: no space left", "ok 17", "done in 3.2 s", "订单"]
    )
    prefix = st.sampled_from(
        ["", "2026-05-01T12:00:04.1234567Z ", "test\tRun\t2026-05-01T12:00:04.1234567Z ", "[api] "]
    )
    prefixes = data.draw(st.lists(prefix, min_size=1, max_size=3))
    drawn = enumerate(data.draw(st.lists(line, min_size=1, max_size=60)))
    lines = [prefixes[number % len(prefixes)] + text for number, text in drawn]
    path = folder / "run.log"
    path.write_text("".join(f"{one}\n" for one in lines), "utf-8")
    changed = {"log.max_tokens": data.draw(st.integers(0, 400))}

    def parts_of(name: str) -> Iterable[str]:
        first, _, last = name.partition("-")
        return map(str, range(int(first), int(last or first) + 1))

    parts = {str(number) for number in range(1, len(lines) + 1)}
    inputs = {"path": str(path), "query": ""}
    return Given(inputs, changed, parts, parts_of, sum(count_tokens(f"{one}\n") for one in lines))


def _draw_diff(data: st.DataObject, folder: Path) -> Given:
    """Files of which rules leave some out and some are cut, with and without instructions and a finding about one."""
    names = data.draw(st.lists(st.sampled_from(["a.py", "src/b.py", "docs/c.md", "uv.lock"]), min_size=1, unique=True))
    patches = {}
    for name in names:
        lines = data.draw(st.lists(LINES, min_size=1, max_size=40)) * data.draw(st.sampled_from([1, 9]))
        head = f"diff --git a/{name} b/{name}\nnew file mode 100644\n--- /dev/null\n+++ b/{name}\n"
        patches[name] = f"{head}@@ -0,0 +1,{len(lines)} @@\n" + "".join(f"+{line}\n" for line in lines)
    skill, finding = data.draw(st.sampled_from(["", "Review it.\n"])), data.draw(st.sampled_from(["", "a.py:1:1: odd"]))
    for name, text in (("pull.diff", "".join(patches.values())), ("own.md", skill), ("lint.txt", finding)):
        (folder / name).write_text(text, "utf-8")
    given = {"diff": str(folder / "pull.diff"), "path": str(folder), "skill": str(folder / "own.md")}
    inputs = {**registry.get_kind("diff").blank_inputs(), **given, "linter": [str(folder / "lint.txt")]}
    found = ["1:1 warning odd\n"] if finding and "a.py" in names else []
    parts = {*names, *(["linter"] if found else [])}
    changed = {"chunking.max_chunk_tokens": data.draw(st.integers(150, 900))}
    before = sum(map(count_tokens, [*patches.values(), skill, *found]))
    return Given(inputs, changed, parts, lambda name: [name], before)


CASES = {
    "files": Case(
        _draw_files, lambda body: sum(_block_tokens(file["module_name"], file["source_code"]) for file in body["files"])
    ),
    "envelope": Case(_draw_envelope, lambda body: _json_tokens(body["trimmedEnvelope"])),
    "conversation": Case(
        _draw_conversation,
        lambda body: sum(count_tokens(message["content"]) for message in body["messages"]),
        lambda _budget, _body: None,
    ),
    "log": Case(_draw_log, lambda body: count_tokens(body["text"])),
    "diff": Case(
        _draw_diff,
        lambda body: sum(count_tokens(chunk["text"]) for chunk in body["chunks"]),
        lambda budget, body: budget * max(1, len(body["chunks"])),
    ),
}
