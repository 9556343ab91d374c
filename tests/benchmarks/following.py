"""What it costs to follow a long session: processor time for the first look and for each line that is appended, and
memory.

    PYTHONPATH=tests python tests/benchmarks/following.py --megabytes 100

The session has the format of an agent (`--agent`); its lines are those of `support.agent_sessions`, with results of
tools that differ. After the first look, lines are appended one by one, and after each one looks, decides and works out
the facts of the session, as the inspector does. Times are the processor's, of the whole process.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory

from secateur.kinds.conversation.growing_transcript import GrowingTranscript
from secateur.kinds.conversation.session_facts import session_facts
from secateur.kinds.conversation.strategies import decide
from secateur.kinds.conversation.window_contents import window_contents
from secateur.settings import Settings, with_values
from secateur.tokens import get_counter
from support import agent_sessions as agents
from support.agent_sessions import Step, said, tool, user

FORMS = {"claude-code": agents.claude_code, "codex": agents.codex, "gemini-cli": agents.gemini_cli}
WORDS = ("def", "return", "class", "self", "import", "value", "total", "cart", "order", "price", "tax", "invoice")
APPENDED = 30
"""Lines that are appended one by one."""


def main() -> int:
    """Makes a session, follows it, prints a row."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--agent", choices=FORMS, default="claude-code")
    parser.add_argument("--counter", default="o200k_base")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "session.jsonl"
        ahead = _write(path, options.agent, options.megabytes * 1_000_000)
        print(_measured(path, ahead, options.counter))
    return 0


def _write(path: Path, agent: str, size: int) -> list[str]:
    """Writes a session of about so many bytes; returns the lines that come next."""
    steps = int(size / 8_600) + APPENDED
    if agent == "codex":
        steps = int(size / 4_700) + APPENDED
    lines = agents.as_lines(FORMS[agent](list(islice(_script(), steps)))).splitlines(keepends=True)
    path.write_text("".join(lines[:-APPENDED]))
    return lines[-APPENDED:]


def _script() -> Iterator[Step]:
    random, number = Random(7), 0
    while True:
        text = "\n".join(" ".join(random.choices(WORDS, k=9)) for _ in range(70))
        yield tool("read", f"shop/file{number % 400}.py", text)
        number += 1
        if number % 5 == 0:
            yield said(f"File {number} is read.")
            yield user("Go on.")


def _measured(path: Path, ahead: list[str], counter_name: str) -> str:
    counter = get_counter(counter_name)
    settings = with_values(Settings(), {"tokens.counter": counter_name, "conversation_prune.safe_zone_tokens": 100_000})
    growing = GrowingTranscript(path, "session")
    start = time.process_time()
    measured = growing.look(counter)
    first = time.process_time() - start
    assert measured is not None
    start = time.process_time()
    decide(measured, settings)
    decided = time.process_time() - start
    looks, decisions, idle = [], [], []
    for line in ahead:
        with path.open("a") as file:
            file.write(line)
        start = time.process_time()
        measured = growing.look(counter)
        looks.append(time.process_time() - start)
        assert measured is not None
        start = time.process_time()
        decide(measured, settings)
        session_facts(measured)
        window_contents(measured)
        decisions.append(time.process_time() - start)
        start = time.process_time()
        growing.look(counter)
        idle.append(time.process_time() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 1 << 20)
    bytes_, lines = path.stat().st_size, len(measured.transcript.messages)
    return (
        f"{bytes_:,} bytes, {lines:,} lines, {measured.total:,} tokens: first look {first:.1f} s and decision"
        f" {decided:.2f} s; then per appended line {median(looks) * 1000:.0f} ms to read (most"
        f" {max(looks) * 1000:.0f}) and {median(decisions) * 1000:.0f} ms to decide; nothing new"
        f" {median(idle) * 1000:.2f} ms; {peak:,.0f} MB"
    )


if __name__ == "__main__":
    sys.exit(main())
