# ruff: noqa: E501 - commands and patterns are read as one line
"""What stays of long outputs of tools as they enter a conversation: tools that are really run, on this machine.

    PYTHONPATH=tests python tests/benchmarks/long_results.py

What has to stay of each output was written down before the rules were tuned: lines that a reader of the whole would
take from it. Beside it stand the same tokens of its beginning and end, and what Claude Code 2.1.197 sends: the first
2 KB where the command succeeded, 10,000 characters of the beginning and end where it failed.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from measuring import table
from secateur.kinds.conversation.long_results import shorten_result
from secateur.kinds.conversation.messages import MessagePart, PartKind
from secateur.settings import Settings
from secateur.tokens import get_counter

LIMIT = 4_000
PYTHON = sys.executable

# Name, command, and patterns of lines (of the output, by `re.MULTILINE`) whose first match has to stay.
OUTPUTS = (
    (
        "build",
        "make -k -C {build} 2>&1 || true",
        (r"^p251\.c:.*error: .*undeclared_total.*$", r"^make: .*not remade.*$"),
    ),
    (
        "tests",
        "{python} -m pytest -q -n 0 -p no:cacheprovider {tests}",
        (r"^E +assert 41 == 42.*$", r"^E +KeyError: 'rate'$", r"^FAILED .*test_7\b.*$", r"^2 failed, .*$"),
    ),
    (
        "linter",
        "ruff check --isolated --select ALL --output-format concise {root}/core/secateur_agents",
        (r"^Found [\d,]+ errors.*$", r"^\S+:\d+:\d+: \S+ .*$"),
    ),
    (
        "types",
        "mypy --config-file= --strict --no-incremental {types} || true",
        (r"^.*error: Incompatible return value type.*$", r"^Found \d+ errors.*$"),
    ),
    ("files", "find /usr/lib/python3* -name '*.py'", (r"\A.*$", r"^.*\n\Z")),
    ("ls", "ls -la /usr/bin", (r"^total \d+$", r"^-\S+ .*$", r"^.*\n\Z", r"^l\S+ .*python3 -> .*$")),
    ("packages", "dpkg -l", (r"^\|\|/ Name.*$", r"^ii  adduser.*$", r"^.*\n\Z")),
    ("log", "cat /var/log/dpkg.log", (r"\A.*$", r"^.*\n\Z")),
    ("history", "git -C {root} log --oneline", (r"\A.*$", r"^.*\n\Z")),
    (
        "query",
        "sqlite3 -header -csv {db} 'select * from orders'",
        (r"^id,state,total$", r"^.*chargeback.*$", r"^1,.*$", r"^.*\n\Z"),
    ),
    (
        "json",
        "{python} -m pip inspect",
        (r'"pip_version": ?"[^"]+"', r'"platform_system": ?"[^"]+"', r'"name": ?"[^"]+"'),
    ),
    (
        "jsonl",
        "ruff check --isolated --select ALL --output-format json-lines {root}/core/secateur_agents",
        (r'"code":"[A-Z]+\d+"', r'"code":"C901"'),
    ),
)


def prepare(folder: Path) -> dict[str, str]:
    build, tests = folder / "build", folder / "test_many.py"
    build.mkdir()
    for number in range(400):
        text = "".join(f"int f{number}_{k}(int a){{ int unused{k}; return a*{k}; }}\n" for k in range(4))
        text += "int money(void){ return rounding(3) + undeclared_total; }\n" if number == 251 else ""
        (build / f"p{number}.c").write_text(f"#include <stdio.h>\n{text}")
    rule = "\tgcc -Wall -Wextra -c $< -o $@\n"
    (build / "Makefile").write_text(f"OBJ=$(patsubst %.c,%.o,$(wildcard *.c))\nall: $(OBJ)\n%.o: %.c\n{rule}")
    cases = "".join(
        f"def test_{n}():\n    print('case {n}' * 20)\n    assert {41 if n == 7 else 42} == 42\n\n" for n in range(300)
    )
    tests.write_text(
        f"import warnings\n\n{cases}def test_rate():\n    for n in range(900):\n        print('row', n, n * n)\n    {{}}['rate']\n"
    )
    types = folder / "typed.py"
    types.write_text(
        "".join(f"def f{n}(a):\n    return a + {n}\n\n\n" for n in range(200)) + "def g() -> int:\n    return 'x'\n"
    )
    rows = "".join(
        f"insert into orders values({n},'{'chargeback' if n == 3111 else 'paid'}',{n * 37 % 991});"
        for n in range(1, 5001)
    )
    subprocess.run(
        ["sqlite3", folder / "o.db"],
        input=f"create table orders(id,state,total);begin;{rows}commit;",
        text=True,
        check=True,
    )
    root = str(Path(__file__).parents[2])
    return {
        "build": str(build),
        "tests": str(tests),
        "types": str(types),
        "db": str(folder / "o.db"),
        "root": root,
        "python": PYTHON,
    }


def main() -> int:
    settings, rows = Settings(profile="recommended"), list[list[str]]()
    counter, totals = get_counter(settings.tokens.counter), [0] * 6
    with tempfile.TemporaryDirectory() as folder:
        places = prepare(Path(folder))
        for name, command, patterns in OUTPUTS:
            command = command.format(**places)
            done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
            text, failed = done.stdout, done.returncode != 0
            part = MessagePart(PartKind.RESULT, text, (), tool="Bash", arguments=json.dumps({"command": command}))
            whole = counter.count(text)
            short = shorten_result(part, text, settings, counter) or None if whole > LIMIT else None
            facts = [found[0].strip() for pattern in patterns if (found := re.search(pattern, text, re.MULTILINE))]
            sent = short or text
            size = counter.count(sent)
            ends = text[: 2 * size] + "\n...\n" + text[-2 * size :]
            agent = f"{text[:5_000]}\n...\n{text[-5_000:]}" if failed else text[:2_000]
            agent = agent if len(text) > (10_000 if failed else 30_000) else text
            kept = [sum(fact in one for fact in facts) for one in (json_plain(sent), ends, agent)]
            rows.append(
                [
                    name,
                    f"{whole:,}",
                    "whole" if short is None else f"{size:,}",
                    *(f"{k} of {len(facts)}" for k in kept),
                    f"{counter.count(agent):,}",
                ]
            )
            totals = [a + b for a, b in zip(totals, [whole, size, *kept, len(facts)], strict=True)]
    print(
        table(
            ("output", "tokens", "shortened", "stays", "stays of its ends", "stays in Claude Code", "its tokens"), rows
        )
    )
    print(
        f"\n{totals[0]:,} -> {totals[1]:,} tokens; of {totals[5]} facts {totals[2]} stay, {totals[3]} in the ends, {totals[4]} in what the agent sends"
    )
    return 0


def json_plain(text: str) -> str:
    """Returns a shortened text in which dense JSON also stands as the tools write it."""
    return text + text.replace('":"', '": "')


if __name__ == "__main__":
    sys.exit(main())
