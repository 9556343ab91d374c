"""What a megabyte of any text costs: processor seconds and memory of each command beyond an input of one line.

    python tests/benchmarks/input_costs.py [--mb 1] [--commands log files ...] [--shapes blanks ...] [--above 1]

Prints a row for each pair of shape and command that costs more than `--above` of what docs/inside/security.md states,
and at the end the worst of each command. A run is stopped after a minute of the processor.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from secateur.cli.main import main

SECONDS, MEGABYTES = 2.0, 300.0  # for a megabyte, as docs/inside/security.md states
LONGEST = 60  # seconds of the processor
_DRAWN = random.Random(5)
_LETTERS = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"


def draw(length: int, letters: str = _LETTERS) -> str:
    """Draws a word."""
    return "".join(_DRAWN.choices(letters, k=length))


SHAPES: dict[str, Callable[[], str]] = {
    "passwords": lambda: "".join(f'password = "{draw(18)}"\n' for _ in range(33_000)),
    "passwords of environments": lambda: "".join(f"A{i}_TOKEN={draw(20)}\n" for i in range(30_000)),
    "one password": lambda: f'password = "{draw(18)}"\n' * 33_000,
    "tokens": lambda: "".join(f"ghp_{draw(36)}\n" for _ in range(25_000)),
    "blanks": lambda: "".join(" " * _DRAWN.randrange(2000) + "\n" for _ in range(1000)),
    "blanks and words": lambda: "".join(" " * _DRAWN.randrange(4000) + "a\n" for _ in range(500)),
    "one line of blanks": lambda: " " * 1_000_000,
    "accents": lambda: "e" + "\u0301" * 500_000,
    "accents in lines": lambda: "".join("e" + "\u0301" * _DRAWN.randrange(1000) + "\n" for _ in range(1000)),
    "accents apart": lambda: "e\u0301 a\u0300\u0301" * 120_000,
    "one letter": lambda: "a" * 1_000_000,
    "letters in long lines": lambda: ("a" * 100_000 + "\n") * 10,
    "one word drawn": lambda: draw(1_000_000, _LETTERS[:24]),
    "long words": lambda: "".join(draw(60, _LETTERS[:24]) + " " for _ in range(16_000)),
    "short words": lambda: "".join(draw(5, _LETTERS[:24]) + " " for _ in range(166_000)),
    "empty lines": lambda: "\n" * 1_000_000,
    "short lines": lambda: "".join(f"{i:x}\n" for i in range(160_000)),
    "equal lines": lambda: "ERROR it failed\n" * 62_000,
    "lines that differ": lambda: "".join(f"ERROR {draw(5)} failed\n" for _ in range(50_000)),
    "deep json": lambda: "[" * 500_000 + "]" * 500_000,
    "flat json": lambda: json.dumps({f"k{i}": i for i in range(60_000)}),
    "json of strings": lambda: json.dumps([f'a "{i}"\n\\' for i in range(50_000)]),
    "digits": lambda: draw(1_000_000, "0123456789"),
    "base64": lambda: draw(1_000_000),
    "base64 in lines": lambda: "".join(draw(76) + "\n" for _ in range(13_000)),
    "hex": lambda: draw(1_000_000, "0123456789abcdef"),
    "quotes": lambda: "\"'`" * 330_000,
    "pairs": lambda: "".join(f"key{i}=value{i} " for i in range(60_000)),
    "addresses": lambda: "".join(f"https://u{i}:p{i}@h{i}.com/x?k={i} " for i in range(30_000)),
    "mail": lambda: "".join(f"a{i}@b{i}.com," for i in range(60_000)),
    "rules of =": lambda: "=" * 500_000 + "\n" + "-" * 500_000,
    "cjk": lambda: "订单处理逻辑" * 55_000,
    "cjk drawn": lambda: "".join(map(chr, _DRAWN.choices(range(0x4E00, 0x9FFF), k=330_000))),
    "emoji": lambda: "👩\u200d👩\u200d👧" * 55_000,
    "right to left": lambda: "\u202eשלום עולם " * 50_000,
    "nul": lambda: "\0" * 1_000_000,
    "escapes": lambda: "\x1b[31mred\x1b[0m\n" * 80_000,
    "crlf": lambda: "a\r\n" * 330_000,
    "tabs": lambda: "\t" * 1_000_000,
    "backslashes": lambda: "\\" * 1_000_000,
    "brackets": lambda: "(" * 500_000 + ")" * 500_000,
    "table": lambda: "| a | b |\n" * 100_000,
    "tags": lambda: "<a b='c'><d>" * 80_000,
    "timestamps": lambda: "".join(f"2024-01-01T00:00:{i % 60:02}.{i:06}Z a\n" for i in range(33_000)),
    "traces": lambda: 'Traceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: x\n' * 13_000,
    "functions": lambda: "".join(f"def f{i % 150}():\n    f{i % 149}(); x.f{i % 31}()\n" for i in range(20_000)),
}

_FIRST = {"session_meta": {}, "domain_profile": {}, "normative_baseline": {}, "target_snapshot": {"content": "x"}}
_LAST = {"tool_capabilities": {}, "revision_info": {}}


def _conversation(text: str) -> str:
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    answer = {"role": "tool", "tool_call_id": "c1", "content": text}
    return json.dumps([{"role": "user", "content": "go"}, {"role": "assistant", "tool_calls": [call]}, answer])


def _diff(text: str) -> str:
    lines = text.split("\n")
    head = "diff --git a/a.txt b/a.txt\nnew file mode 100644\n--- /dev/null\n+++ b/a.txt\n"
    return f"{head}@@ -0,0 +1,{len(lines)} @@\n" + "".join(f"+{line}\n" for line in lines)


COMMANDS: dict[str, tuple[str, Callable[[str], str], tuple[str, ...]]] = {
    "log": ("a.log", str, ("log", "a.log")),
    "conversation": ("a.json", _conversation, ("conversation", "a.json", "--safe-zone", "1000")),
    "envelope": (
        "a.json",
        lambda text: json.dumps(_FIRST | {"dependency_digest": {"a": text}} | _LAST),
        ("envelope", "a.json", "--model", "gpt-4o", "--context-budget", "3000"),
    ),
    "chunk": ("a.diff", _diff, ("chunk", "--diff", "a.diff")),
    "files": ("a.txt", str, ("files", "a.txt", "--query", "which word fails")),
    "files of code": ("a.py", str, ("files", "a.py", "--query", "which word fails")),
    "search": ("r/a.txt", str, ("search", "which word fails", "r", "--set", "index.workers=1")),
    "search code": ("r/a.py", str, ("search", "which word fails", "r", "--set", "index.workers=1")),
}


def measure(command: str, data: bytes) -> tuple[float, float, int]:
    """Returns the seconds and megabytes of a run, and its exit code."""
    name, _, words = COMMANDS[command]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        child = os.fork()  # the imports are not part of what a text costs
        if not child:
            resource.setrlimit(resource.RLIMIT_CPU, (LONGEST, LONGEST + 1))
            os.chdir(folder)
            os.environ |= {"SECATEUR_CACHE_DIR": f"{folder}/cache", "SECATEUR_CONFIG_DIR": f"{folder}/config"}
            sys.stdout = sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115
            os._exit(main(words))
        _, status, used = os.wait4(child, 0)
        return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, os.waitstatus_to_exitcode(status)


def report() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mb", type=int, default=1)
    parser.add_argument("--commands", nargs="*", default=list(COMMANDS))
    parser.add_argument("--shapes", nargs="*", default=list(SHAPES))
    parser.add_argument("--above", type=float, default=1.0)
    args = parser.parse_args()
    for command in args.commands:
        wrap = COMMANDS[command][1]
        plain = measure(command, wrap("one line\n").encode())
        worst = (0.0, 0.0, "")
        for shape in args.shapes:
            data = wrap(SHAPES[shape]() * args.mb).encode("utf-8", "surrogatepass")
            size = len(data) / 1e6
            seconds, megabytes, code = measure(command, data)
            seconds, megabytes = (seconds - plain[0]) / size, (megabytes - plain[1]) / size
            share = max(seconds / SECONDS, megabytes / MEGABYTES)
            worst = max(worst, (share, seconds, shape))
            if share > args.above or code not in (0, 1):
                print(f"| {command} | {shape} | {seconds:.2f} | {megabytes:.0f} | {code} |", flush=True)
        print(f"{command}: one line {plain[0]:.2f} s, {plain[1]:.0f} MB; worst: {worst[2]}", flush=True)


if __name__ == "__main__":
    report()
