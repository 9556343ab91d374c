"""A long session in the log format of Claude Code, made of a repository's real history.

    python tests/benchmarks/sessions.py --repo PATH --commits 60 --out session.jsonl

Each commit is a turn: the user asks for what its subject says; the agent looks for names of the change, reads the files
as they were before it (whole, or the part around a large file's change), edits them as the commit did, runs tests,
looks at the diff, and answers with the commit's own words. File contents, edits, searches and diffs are real; test runs
are logs made of real test names. About one turn in twelve is tried twice, so that the session has branches; one run in
six fails first. Same repository, same arguments, same bytes.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

SEED = 23
MOST_FILES = 4
"""Files of a commit that becomes a turn."""
LARGEST_FILE = 120_000
READ_LINES = 400
"""Lines of a file that are read around its change where it has more than twice as many."""
SHOWN_MATCHES = 60
_NAME = re.compile(r"\b[A-Za-z_]\w{5,}\b")
_HUNK = re.compile(r"^@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@.*$", re.MULTILINE)


def main() -> int:
    """Write the session, say how large it is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repo", type=Path, required=True, help="a git repository, bare or not")
    parser.add_argument("--commits", type=int, default=60, help="turns of the session (default 60)")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    lines = session(options.repo, options.commits)
    text = "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines)
    options.out.write_text(text, "utf-8")
    print(f"{len(lines):,} lines, {len(text.encode()):,} bytes", file=sys.stderr)
    return 0


def session(repository: Path, commits: int) -> list[dict[str, Any]]:
    """The lines of a session over the last `commits` commits that edit a few text files, oldest first."""
    log = Log()
    random = Random(SEED)
    log.user(
        "You are working in this repository. Take the tasks one by one, and keep the public interface as it is unless I"
        " say otherwise."
    )
    log.assistant([text_block("Understood. I will read before I edit, and run the tests after each change.")])
    for commit in _chosen(repository, commits):
        if random.random() < 1 / 12:  # given up: the same is asked again below
            fork = log.last
            _turn(repository, commit, log, random, cut=True)
            log.last = fork
        _turn(repository, commit, log, random)
    log.user("Thanks. Which of the changes so far touch what users see, and is anything still open?")
    return log.lines


class Log:
    """Lines that follow each other, with ids that are always the same."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []
        self.last: str | None = None
        self._answers = 0

    def user(self, content: str | list[dict[str, Any]], parent: str | None = None, **more: Any) -> None:
        self._add("user", {"role": "user", "content": content}, parent, **more)

    def assistant(self, blocks: list[dict[str, Any]]) -> list[str]:
        """One line a block, as the agent writes them; their ids."""
        self._answers += 1
        names = []
        for block in blocks:
            message = {
                "id": f"msg_{self._answers:06}",
                "type": "message",
                "role": "assistant",
                "model": "claude-sonnet-4-5-20250929",
                "content": [block],
            }
            self._add("assistant", message, None)
            names.append(str(self.last))
        return names

    def _add(self, side: str, message: dict[str, Any], parent: str | None, **more: Any) -> None:
        name = f"00000000-0000-4000-8000-{len(self.lines):012}"
        line = {
            "parentUuid": parent or self.last,
            "isSidechain": False,
            "userType": "external",
            "cwd": "/repo",
            "sessionId": "s",
            "version": "2.0.0",
        }
        self.lines.append(
            line
            | {
                "gitBranch": "main",
                "type": side,
                "message": message,
                "uuid": name,
                "timestamp": "2026-01-01T00:00:00.000Z",
            }
            | more
        )
        self.last = name


def text_block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _turn(repository: Path, commit: str, log: Log, random: Random, *, cut: bool = False) -> None:
    subject, _, body = _git(repository, "show", "-s", "--format=%B", commit).strip().partition("\n")
    files = _files(repository, commit)
    wishes = ("Please have a look.", "Can you do that?", "Keep it small.", "See how it is done elsewhere first.")
    log.user(f"{subject.rstrip('.')}. {random.choice(wishes)}")
    diffs = {
        path: _git(repository, "diff", "--no-ext-diff", "--no-textconv", f"{commit}^", commit, "--", path)
        for path in files
    }
    names = [
        name
        for diff in diffs.values()
        for line in diff.split("\n")
        if line[:1] in "+-" and line[:3] not in ("+++", "---")
        for name in _NAME.findall(line)
    ]
    name = random.choice(names) if names else "TODO"
    found = _git(repository, "grep", "-n", "-I", "-F", name, f"{commit}^").replace(f"{commit}^:", "").split("\n")
    _steps(
        log,
        "Let me look for where this is used.",
        [("Grep", {"pattern": name, "output_mode": "content"}, "\n".join(found[:SHOWN_MATCHES]))],
    )
    _steps(log, "", [("Read", *_read(repository, f"{commit}^", path, diffs[path])) for path in files])
    if cut:
        return
    for path in files:
        for old, new in _edits(diffs[path]):
            said = f"The file {path} has been updated."
            _steps(log, "", [("Edit", {"file_path": f"/repo/{path}", "old_string": old, "new_string": new}, said)])
    tests = [
        line
        for line in _git(repository, "ls-tree", "-r", "--name-only", commit).split("\n")
        if "test" in line and line.endswith(".py")
    ] or files
    if random.random() < 1 / 6:
        _steps(log, "Now the tests.", [("Bash", {"command": "pytest -q"}, _ran(tests, random, failing=True))])
        _steps(
            log,
            f"{files[0]} again, to see what that is.",
            [("Read", *_read(repository, commit, files[0], diffs[files[0]]))],
        )
    _steps(log, "Run the tests.", [("Bash", {"command": "pytest -q"}, _ran(tests, random))])
    _steps(log, "", [("Bash", {"command": "git diff"}, "\n".join(diffs.values()))])
    log.assistant(
        [text_block(f"Done: {subject}\n\n{body.strip()}".strip() + f"\n\nChanged: {', '.join(files)}. The tests pass.")]
    )


def _steps(log: Log, text: str, calls: list[tuple[str, dict[str, Any], str]]) -> None:
    """An answer with one or more calls at once, and their results."""
    number = len(log.lines)
    used = [
        {"type": "tool_use", "id": f"toolu_{number:06}_{place}", "name": tool, "input": arguments}
        for place, (tool, arguments, _) in enumerate(calls)
    ]
    names = log.assistant([text_block(text), *used] if text else used)[-len(calls) :]
    for name, block, (_, _, result) in zip(names, used, calls, strict=True):
        log.user(
            [{"tool_use_id": block["id"], "type": "tool_result", "content": result}],
            name,
            toolUseResult={"stdout": result[:200]},
        )


def _read(repository: Path, revision: str, path: str, diff: str) -> tuple[dict[str, Any], str]:
    """Arguments and result of a read, with the numbers the agent shows before lines."""
    lines = _git(repository, "show", f"{revision}:{path}").split("\n")
    arguments: dict[str, Any] = {"file_path": f"/repo/{path}"}
    start = 0
    if len(lines) > 2 * READ_LINES:
        hunk = _HUNK.search(diff)
        start = max(0, int(hunk[1]) - READ_LINES // 2) if hunk else 0
        arguments |= {"offset": start + 1, "limit": READ_LINES}
        lines = lines[start : start + READ_LINES]
    return arguments, "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(lines, start + 1))


def _edits(diff: str) -> Iterator[tuple[str, str]]:
    """(old, new) of each hunk."""
    for hunk in _HUNK.split(diff)[2::2]:
        rows = [row for row in hunk.strip("\n").split("\n") if row[:1] in (" ", "+", "-")]
        yield "\n".join(row[1:] for row in rows if row[0] != "+"), "\n".join(row[1:] for row in rows if row[0] != "-")


def _ran(tests: list[str], random: Random, *, failing: bool = False) -> str:
    """What a test run prints."""
    dots = [
        f"{path} {'.' * random.randrange(4, 60)} [{100 * (place + 1) // len(tests):>3}%]"
        for place, path in enumerate(tests)
    ]
    if not failing:
        return "\n".join(
            [*dots, f"{random.randrange(200, 900)} passed in {random.randrange(3, 30)}.{random.randrange(10, 99)}s"]
        )
    where = random.choice(tests)
    report = [
        f"FAILED {where}::test_{random.choice(('basic', 'empty', 'nested', 'unicode'))} - AssertionError: assert"
        f" {random.randrange(9)} == {random.randrange(9)}"
    ]
    return "\n".join(
        [
            *dots,
            "=" * 30 + " short test summary info " + "=" * 30,
            *report,
            f"1 failed, {random.randrange(200, 900)} passed",
        ]
    )


def _chosen(repository: Path, commits: int) -> list[str]:
    """The last commits that edit one to MOST_FILES text files and create none, oldest first."""
    chosen: list[str] = []
    for commit in _git(repository, "rev-list", "--no-merges", "HEAD").split():
        if len(chosen) == commits:
            break
        if 0 < len(_files(repository, commit)) <= MOST_FILES:
            chosen.append(commit)
    return chosen[::-1]


def _files(repository: Path, commit: str) -> list[str]:
    """The files a commit edits; [] where it does something else too, or what it edits is no text or too large."""
    rows = (
        _git(repository, "diff-tree", "-r", "--no-commit-id", "--no-renames", "--numstat", "--diff-filter=M", commit)
        .strip()
        .split("\n")
    )
    whole = (
        _git(repository, "diff-tree", "-r", "--no-commit-id", "--no-renames", "--name-only", commit).strip().split("\n")
    )
    files = [path for added, _, path in (row.split("\t") for row in rows if row.count("\t") == 2) if added != "-"]
    if len(files) != len(whole) or len(files) > MOST_FILES:
        return []
    return files if all(len(_git(repository, "show", f"{commit}^:{path}")) < LARGEST_FILE for path in files) else []


def _git(repository: Path, *words: str) -> str:
    ran = subprocess.run(["git", "-C", str(repository), *words], capture_output=True, check=False)
    if ran.returncode and words[0] != "grep":
        raise RuntimeError(f"git {' '.join(words)[:200]}: {ran.stderr.decode(errors='replace')[:500]}")
    return ran.stdout.decode("utf-8", "replace")


if __name__ == "__main__":
    sys.exit(main())
