"""The steps of `action.yml`: runs secateur in the folder that was checked out, and writes the summary of the job.

    python -I tools/github_action.py check
    python -I tools/github_action.py coverage

Inputs come as environment variables: SECATEUR_PATHS and SECATEUR_JOBS; SECATEUR_BASE, SECATEUR_MAX_TOKENS,
SECATEUR_FAIL_ON_SKIP and SECATEUR_ALLOW_SKIP.

A pull request chooses names of branches and files, and the content of all files. So nothing of it is a part of a
command, no file of it is imported, and what is written about it is no markup.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

STATES = {"whole": "whole", "split": "in parts", "left_out": "left out"}
MOST_ROWS = 300
"""Rows of a table; GitHub takes a summary of 1 MiB, and a path may have 4,096 bytes."""
MOST_CHARACTERS = 200_000


def check(environ: Mapping[str, str]) -> int:
    """Runs the scenarios: annotations on stdout, the sums in the summary, the whole report where one did not pass."""
    paths = [line.strip() for line in environ.get("SECATEUR_PATHS", "").splitlines() if line.strip()] or ["."]
    call = ["check", "--quiet", "--jobs", environ.get("SECATEUR_JOBS") or "1", "--format"]
    done = secateur(*call, "github", "--", *paths)
    out(done.stdout)
    if done.returncode == 0:
        summarise(f"### ✓ secateur check\n\n{plain(done.stdout.strip().rpartition(chr(10))[2])}\n", environ)
    elif done.stdout:
        summarise(secateur(*call, "markdown", "--", *paths).stdout, environ)
    return done.returncode


def coverage(environ: Mapping[str, str]) -> int:
    """Writes into the summary what of the pull request its chunks hold."""
    call = ["chunk", "--quiet", "--format", "json", f"--base={environ['SECATEUR_BASE']}"]
    call += [f"--max-tokens={environ['SECATEUR_MAX_TOKENS']}"] if environ.get("SECATEUR_MAX_TOKENS") else []
    strict = environ.get("SECATEUR_FAIL_ON_SKIP") == "true"
    call += ["--fail-on-skip"] if strict else []
    call += [f"--allow-skip={environ['SECATEUR_ALLOW_SKIP']}"] if environ.get("SECATEUR_ALLOW_SKIP") else []
    done = secateur(*call, "--", ".")
    said = json.loads(done.stdout) if done.stdout else {"error": {"message": "secateur chunk ended without an answer"}}
    if "error" in said:
        message = " ".join(f"{said['error'].get(part, '')}" for part in ("message", "hint")).strip()
        advice = "Check out the whole history: fetch-depth: 0."
        out(f"::{'error' if strict else 'warning'} title=secateur chunk::{data(f'{message} {advice}')}\n")
        summarise(f"### Chunks of this pull request\n\n{plain(message)} {advice}\n", environ)
        return done.returncode if strict else 0
    summarise(markdown(said), environ)
    if done.returncode == 4:
        out("::error title=secateur chunk::Changed files are in no chunk: the summary of the job lists them.\n")
    return done.returncode


def markdown(answer: Mapping[str, Any]) -> str:
    """The answer of `secateur chunk` as Markdown: the sums, what is not whole with its reason, then what is."""
    covered, chunks = answer["coverage"], answer["chunks"]
    counts = Counter(one["state"] for one in covered)
    sums = ", ".join(f"{counts[state]:,} {words}" for state, words in STATES.items() if counts[state])
    tokens = sum(chunk["token_count"] for chunk in chunks)
    files, pieces = counted(len(covered), "changed file"), counted(len(chunks), "chunk")
    lines = ["### Chunks of this pull request", "", f"{files}: {sums or 'none'}. {pieces}, {tokens:,} tokens.", ""]
    lines += [f"- warning: {plain(one['message'])}" for one in answer["warnings"]] + [""]
    lines += table([one for one in covered if one["state"] != "whole"])
    whole = table([one for one in covered if one["state"] == "whole"])
    if whole:
        lines += ["<details><summary>whole files</summary>", "", *whole, "</details>", ""]
    return "\n".join(lines)


def counted(number: int, noun: str) -> str:
    """A number with its noun."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def table(covered: Sequence[Mapping[str, Any]]) -> list[str]:
    """A row a file; none where there are no files."""
    if not covered:
        return []
    rows, length = [], 0
    for one in covered[:MOST_ROWS]:
        why = "" if one["state"] == "whole" else str(one.get("rule") or one["reason"]).replace("_", " ")
        chunks = ", ".join(str(number) for number in one["chunks"])
        row = f"| {plain(one['path'])} | {STATES[one['state']]} | {chunks} | {plain(why)} |"
        length += len(row)
        if length > MOST_CHARACTERS:
            break
        rows.append(row)
    more = len(covered) - len(rows)
    last = ["", f"... and {more:,} more"] if more else []
    return ["| file | state | chunks | why |", "| --- | --- | --- | --- |", *rows, *last, ""]


def plain(text: str) -> str:
    """Text that is no markup for GitHub: no link, no mention, no end of a cell."""
    from secateur.terminal import visible

    kept = " /-"
    return "".join(one if one.isalnum() or one in kept else f"&#{ord(one)};" for one in visible(text))


def data(text: str) -> str:
    """The message of a workflow command, escaped as GitHub's own toolkit does it."""
    from secateur.terminal import visible

    return visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def secateur(*words: str) -> subprocess.CompletedProcess[str]:
    """`secateur WORDS...` of this environment; its errors go to the log."""
    from secateur.system.processes import isolated_python

    command = isolated_python("from secateur.__main__ import run; sys.exit(run())", *words)
    return subprocess.run(command, stdout=subprocess.PIPE, encoding="utf-8", errors="replace", check=False)


def summarise(text: str, environ: Mapping[str, str]) -> None:
    """Adds to the summary of the job; away from GitHub prints it."""
    path = environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        out(text)
        return
    with Path(path).open("a", encoding="utf-8") as file:
        file.write(text + "\n")


def out(text: str) -> None:
    """Writes to stdout, as UTF-8 whatever the machine is set up with."""
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit({"check": check, "coverage": coverage}[sys.argv[1]](os.environ))
