"""The cost of calls of the MCP server: the first on a warm index, later ones, of each tool; and the size of answers.

    PYTHONPATH=tests python tests/benchmarks/mcp_calls.py --repo PATH [PATH ...] [--calls 20]

The server runs as clients start it, over standard input and output; the messages are written by hand, so that no time
of a client is in the figures. Prints Markdown. Processor time is that of the server, read from /proc, in hundredths of
a second; a figure of many calls is their sum over their number.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from secateur import Engine, count_tokens
from secateur_agents.mcp.server import FACTS

TICKS = os.sysconf("SC_CLK_TCK")
PROTOCOL = "2025-06-18"
WORDS = ("where is", "how are", "what decides", "why does", "who calls")


@dataclass
class Server:
    """A running server, and what its calls cost."""

    process: subprocess.Popen[bytes]
    number: int = 0
    spent: dict[str, list[tuple[float, float]]] = field(default_factory=dict)  # name -> (clock, processor) in seconds
    largest: dict[str, int] = field(default_factory=dict)  # name -> tokens

    def processor(self) -> float:
        """Seconds of the processor of the server and of what it started and waited for."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / TICKS

    def ask(self, method: str, params: dict[str, Any], name: str) -> dict[str, Any]:
        """One request, timed under a name."""
        assert self.process.stdin and self.process.stdout
        self.number += 1
        message = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        before, began = self.processor(), time.perf_counter()
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        while True:
            line = self.process.stdout.readline()
            answer = json.loads(line)
            if answer.get("id") == self.number:
                break
        clock = time.perf_counter() - began
        self.spent.setdefault(name, []).append((clock, self.processor() - before))
        self.largest[name] = max(self.largest.get(name, 0), count_tokens(line.decode()))
        if "error" in answer or answer["result"].get("isError"):
            raise SystemExit(f"{name}: {line[:2000].decode()}")
        result: dict[str, Any] = answer["result"]
        return result

    def call(self, tool: str, name: str = "", **arguments: Any) -> dict[str, Any]:
        """One call of a tool: what it tells programs."""
        return dict(self.ask("tools/call", {"name": tool, "arguments": arguments}, name or tool)["_meta"][FACTS])


@contextmanager
def started(repository: Path) -> Iterator[Server]:
    """A server on a repository, shaken hands with."""
    command = [sys.executable, "-m", "secateur", "mcp", str(repository)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        server = Server(process)
        client = {"name": "benchmark", "version": "1"}
        hello = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client}
        server.ask("initialize", hello, "start")
        assert process.stdin
        process.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        yield server
        process.stdin.close()


def measured(repository: Path, calls: int) -> Server:
    """All tools of one repository, on a warm index."""
    with Engine.open(repository) as engine:
        engine.refresh()
        snapshot, _ = engine.code()
        named = [row for row in range(len(snapshot)) if snapshot.qualnames[row]]
        rows = named[:: max(1, len(named) // calls)][:calls]
        symbols = [snapshot.symbol_id(row) for row in rows]
        names = [snapshot.qualnames[row].replace(".", " ").replace("_", " ") for row in rows]
    log = (
        "".join(f"2026-01-01 00:00:00 INFO step {n} of the build is done\n" for n in range(5000)) + "ERROR disk full\n"
    )
    with started(repository) as server:
        server.ask("tools/list", {}, "tools/list")
        server.call("search", "search, the first", query=f"where is {names[0]}?")
        for number, name in enumerate(names):
            query = f"{WORDS[number % len(WORDS)]} {name}?"
            found = server.call("search", "search, later ones", query=query)
            server.call("search", "search, recommended", query=query, profile="recommended")
            if found.get("left_out"):
                server.call("explain", result=found["result"], item=found["left_out"][0]["id"])
        for symbol in symbols:
            server.call("expand", symbol=symbol, steps=2)
        for _ in range(3):
            server.call("prune", "prune, a log of 5,001 lines", text=log)
            server.call("review", "review, ten commits", base="HEAD~10")
    return server


def main(words: Sequence[str] | None = None) -> None:
    """Measure, and print a table for each repository."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repo", type=Path, nargs="+", required=True)
    parser.add_argument("--calls", type=int, default=20)
    options = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as cache:
        os.environ["SECATEUR_CACHE_DIR"] = cache
        for repository in options.repo:
            server = measured(repository, options.calls)
            print(f"\n{repository.name}\n")
            print("| call | calls | processor, mean | clock, median | clock, most | tokens, most |")
            print("|---|---|---|---|---|---|")
            for name, spent in server.spent.items():
                clock, processor = zip(*spent, strict=True)
                mean = sum(processor) / len(processor)
                print(
                    f"| {name} | {len(spent)} | {mean * 1000:,.0f} ms | {median(clock) * 1000:,.0f} ms"
                    f" | {max(clock) * 1000:,.0f} ms | {server.largest[name]:,} |"
                )


if __name__ == "__main__":
    main()
