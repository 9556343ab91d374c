"""Transcripts, envelopes and files for the benches over a ledger, written where a test is, and those benches opened on
them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from inspector_kit import Inspector, Pace
from secateur.settings import Settings
from secateur_tui.screen import Bench
from support.conversations import Said, conversation
from support.envelopes import asset_paths, envelope, files

TRANSCRIPT, ENVELOPE = "session.json", "envelope.json"
MODEL = "gpt-4"
CONVERSATION = Settings()


def read_text(name: str, lines: int) -> str:
    """A file as a tool reads it."""
    return "\n".join(
        f"def {name}_{number}(amount, places=2):  # rounds half to even, line {number}" for number in range(lines)
    )


def turns() -> list[Said]:
    """A session of eight questions; src/money.py is read three times, one result fails."""
    asked = []
    for number in range(8):
        name = "money" if number % 3 == 0 else f"part_{number}"
        steps = [("read_file", f"src/{name}.py", read_text(name, 20 + 5 * number), True)]
        if number == 4:
            steps.append(("run_tests", "tests/unit", "ValueError: no rate for JPY\n" * 30, False))
        asked.append(
            Said(
                f"Question {number}: where is the refund total rounded?",
                tuple(steps),
                f"In src/part_{number}.py, by round_half_even.",
            )
        )
    return asked


def write_transcript(folder: Path, form: str = "anthropic") -> None:
    """`session.json` in a folder: a request body with a system prompt and a tool."""
    body = {
        "model": "claude-sonnet-4",
        "system": "You answer questions about a shop. " * 4,
        "tools": [{"name": "read_file", "description": "Reads a file.", "input_schema": {"type": "object"}}],
        "messages": conversation(form, turns(), asks="And what is left to do?"),
    }
    (folder / TRANSCRIPT).write_text(json.dumps(body, ensure_ascii=False), encoding="utf-8")


def write_envelope(folder: Path, **sections: Any) -> None:
    """`envelope.json` in a folder: long lists and long texts."""
    digest = {
        "references": {"asset_paths": asset_paths(6000)},
        "files": files(14, 3000),
        "notes": "Nothing else depends on it. " * 100,
    }
    tools = {"tools": ["builder.step.read"], "x_examples": "An example of a call. " * 120}
    (folder / ENVELOPE).write_text(
        json.dumps(envelope(**({"digest": digest, "tool_capabilities": tools} | sections)), ensure_ascii=False),
        encoding="utf-8",
    )


def write_files(folder: Path) -> None:
    """A small shop below `shop/`."""
    for name, lines in (("cart", 12), ("money", 40), ("mail", 25)):
        path = folder / "shop" / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(
            "\n\n".join(f"def {name}_{number}(amount):\n    return amount * {number}" for number in range(lines))
            + "\n",
            encoding="utf-8",
        )


WRITERS: dict[str, Callable[[Path], None]] = {
    "conversation": write_transcript,
    "envelope": write_envelope,
    "files": write_files,
}
PATHS = {"conversation": TRANSCRIPT, "envelope": ENVELOPE, "files": "shop"}


def opened(bench: str, settings: Settings | None = None, *, proves: bool = False, **options: Any) -> Inspector:
    """An inspector on what was written in the current folder; it does not dawdle, and proves nothing unless it is told
    to."""
    inputs = {"model": options.pop("model", MODEL if bench == "envelope" else "")}
    query = "where is the money rounded?" if bench == "files" else ""
    given = {"path": PATHS[bench], "query": query, "inputs": inputs} | options
    return Inspector(None, settings or Settings(), bench=bench, pace=Pace(0.001, 0.001, 0, proves), **given)


def ledger_bench(app: Inspector) -> Bench:
    """The bench, whatever lies on top of it."""
    return next(screen for screen in app.screen_stack if isinstance(screen, Bench))
