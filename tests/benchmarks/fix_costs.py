"""What an agent reads until it has seen every function of a fix: with `search` and `expand` over MCP, and with grep.

    PYTHONPATH=tests/benchmarks python tests/benchmarks/fix_costs.py --mirror DIR [--tasks FILE] [--only NAME ...]
    PYTHONPATH=tests/benchmarks python tests/benchmarks/fix_costs.py --mirror DIR --draw NAME [NAME ...] > FILE

A task is a commit of a public repository: its message, without trailers and numbers of issues, is the question, the
functions that it edits are the answer, and the files are those of its parent. `--draw` takes from each repository the
newest commits that speak of a fault and edit 1 to 4 functions in at most 3 files of code; repositories of
`excluded.txt` are refused. The tasks of the published figures are in `data/fix_commits.txt`.

Both agents know what they look for once they see its place, and never open a wrong file. Everything that they are
shown is counted, with the arguments of their calls. An agent has seen a function when all its lines were shown.

- grep: the words of the question, those that look like code first, then the others, the rarest first. Each gives the
  first HITS lines with a hit, upper or lower case, tests aside. Where a file of the fix has a hit, the agent reads
  WINDOW lines around the nearest one, then the next window towards the function, until it has seen it; a file of at
  most WHOLE lines is read at once.
- MCP: `search` with nothing but the question, and its next pages, at most PAGES. A function that is listed is expanded;
  another one of a listed file is read in windows, as above, from the nearest place. What no page names is left to grep.

What no word finds is charged to both as reading the file from its beginning. The repository is indexed before. Prints
Markdown.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median
from typing import Any

from mcp_calls import Server, started
from mine import Fix, excluded, git, gold_of, plain
from secateur import Engine, count_tokens

TASKS = Path(__file__).parent / "data" / "fix_commits.txt"
PER_REPOSITORY, FUNCTIONS, FILES, NEWEST = 5, 4, 3, 1_500
HITS, HIT_CHARS, WINDOW, WHOLE, PAGES, FIRST = 50, 200, 100, 200, 3, 15

_FAULT = re.compile(r"\b(fix|bug|crash|wrong|incorrect|fail|error|broken|regression|leak|panic|invalid)", re.IGNORECASE)
_OTHER = re.compile(r"\W*(merge|revert|bump|release|docs?|tests?|ci|typo|lint|chore|style)\b", re.IGNORECASE)
_TRAILER = re.compile(r"^[A-Z][\w-]+: .*|^\(cherry picked.*", re.MULTILINE)
_NUMBER = re.compile(r"\(?([\w-]+/[\w.-]+)?#\d+\)?|https?://\S+")
_PLACE = re.compile(r"([\w./@+-]+):(\d+)(?:-(\d+))?")
_WORD = re.compile(r"[A-Za-z_][\w.]*[A-Za-z_0-9]")
_CODE = re.compile(r"_|\.|[a-z][A-Z]")
_TEST = ":(exclude,icase)*test*", ":(exclude,icase)*spec/*"
_COMMON = frozenset(
    re.findall(
        r"\w+",
        "about after also avoid before being both bug but can case cases change changes does error fail fails fix fixed"
        " fixes for from had has have incorrect into issue its make more not now only other our should some such than"
        " that the their them then there these they this was were when where which will with without would wrong",
    )
)


@dataclass
class Task:
    """A fix: `functions` are (file, name, first line, last line) at its parent."""

    repository: str
    commit: str
    parent: str
    question: str
    functions: list[tuple[str, str, int, int]]


@dataclass
class Reader:
    """What an agent was shown of a folder, and what it paid."""

    folder: Path
    missing: list[tuple[str, str, int, int]]
    paid: int = 0
    shown: dict[str, set[int]] = field(default_factory=dict)
    unfound: int = 0  # functions that nothing led to

    def pay(self, call: dict[str, Any], answer: str) -> None:
        self.paid += count_tokens(json.dumps(call)) + count_tokens(answer)

    def show(self, file: str, first: int, last: int) -> None:
        lines = self.shown.setdefault(file, set())
        lines.update(range(first, last + 1))
        self.missing = [one for one in self.missing if one[0] != file or not lines >= {*range(one[2], one[3] + 1)}]

    def read(self, file: str, first: int, last: int) -> None:
        """Reads lines of a file, with their numbers."""
        lines = (self.folder / file).read_text("utf-8", "replace").split("\n")
        first, last = max(1, first), min(last, len(lines))
        text = "\n".join(f"{number}\t{lines[number - 1]}" for number in range(first, last + 1))
        self.pay({"file_path": file, "offset": first, "limit": last - first + 1}, text)
        self.show(file, first, last)

    def approach(self, file: str, hits: Sequence[int]) -> None:
        """Reads windows from the nearest hit towards each missing function of a file."""
        size = len((self.folder / file).read_text("utf-8", "replace").split("\n"))
        for one in [one for one in self.missing if one[0] == file]:
            if one not in self.missing:
                continue
            if size <= WHOLE:
                self.read(file, 1, size)
                continue
            first = min(hits, key=lambda hit: abs(hit - one[2])) - WINDOW // 2
            while one in self.missing:
                if not self.shown.get(file, set()) >= {*range(max(1, first), min(size, first + WINDOW - 1) + 1)}:
                    self.read(file, first, first + WINDOW - 1)
                unread = min({*range(one[2], one[3] + 1)} - self.shown[file], default=first)
                first += WINDOW if unread > first else -WINDOW

    def grep(self, question: str) -> None:
        """Looks for the words of a question until nothing is missing; what no word finds is read from the beginning."""
        for word in words_of(self.folder, question):
            if not self.missing:
                return
            hits = list(hits_of(self.folder, word))[:HITS]
            self.pay({"pattern": word}, "\n".join(f"{file}:{line}:{text[:HIT_CHARS]}" for file, line, text in hits))
            for file in dict.fromkeys(file for file, _, _ in hits):
                self.approach(file, [line for name, line, _ in hits if name == file])
        self.unfound += len(self.missing)
        for file in dict.fromkeys(one[0] for one in self.missing):
            self.approach(file, [1])


def words_of(folder: Path, question: str) -> list[str]:
    """The words to look for: those that look like code in their order, then the others, the rarest first."""
    words = dict.fromkeys(word for word in _WORD.findall(question) if len(word) > 3 and word.lower() not in _COMMON)
    code = [word for word in words if _CODE.search(word)]
    prose = {word: sum(1 for _ in hits_of(folder, word)) for word in words if word not in code}
    return [*code, *sorted((word for word in prose if prose[word]), key=lambda word: prose[word])]


def hits_of(folder: Path, word: str) -> Iterator[tuple[str, int, str]]:
    """The lines that hold a word: file, number, text."""
    command = ["git", "-C", str(folder), "grep", "-nIiF", "-e", word, "--", ".", *_TEST]
    for line in subprocess.run(command, capture_output=True).stdout.decode("utf-8", "replace").split("\n"):
        file, _, rest = line.partition(":")
        number, _, text = rest.partition(":")
        if number.isdigit():
            yield file, int(number), text


def with_grep(task: Task, folder: Path) -> Reader:
    reader = Reader(folder, list(task.functions))
    reader.grep(task.question)
    return reader


def with_mcp(task: Task, folder: Path, server: Server) -> tuple[Reader, bool]:
    """Also: whether a file of the fix was among the first FIRST places."""
    reader, call = Reader(folder, list(task.functions)), {"query": task.question}
    files, first = {one[0] for one in task.functions}, list[str]()
    for _ in range(PAGES):
        answer, text = passed_on(server.ask("tools/call", {"name": "search", "arguments": call}, "search"))
        reader.pay(call, text)
        places = [(file, int(start), int(end or start)) for file, start, end in _PLACE.findall(text)]
        places = [place for place in places if (folder / place[0]).is_file()]
        first += [file for file, _, _ in places]
        for one in list(reader.missing):  # a source that is in the answer
            lines = (folder / one[0]).read_text("utf-8", "replace").split("\n")
            if one[3] > one[2] and "\n".join(lines[one[2] - 1 : one[3]]) in answer:
                reader.show(one[0], one[2], one[3])
        for one in list(reader.missing):
            if any(file == one[0] and start == one[2] for file, start, _ in places):
                ask = {"symbol": f"{one[0]}:{one[2]}"}
                reader.pay(ask, passed_on(server.ask("tools/call", {"name": "expand", "arguments": ask}, "expand"))[1])
                reader.show(one[0], one[2], one[3])
        for file in dict.fromkeys(file for file, _, _ in places):
            reader.approach(file, [start for name, start, _ in places if name == file])
        following = re.search(r"next: cursor (\S+)", text)
        if not reader.missing or not following:
            break
        call = {"query": task.question, "cursor": following[1]}
    reader.grep(task.question)
    return reader, bool(files & {*first[:FIRST]})


def passed_on(result: dict[str, Any]) -> tuple[str, str]:
    """The text of an answer, and what Claude Code and Codex give the model of it."""
    text = "".join(part["text"] for part in result["content"])
    structured = result.get("structuredContent")
    return text, json.dumps(structured, ensure_ascii=False) if structured else text


# --- tasks ------------------------------------------------------------------------------------------------------------


def drawn(folder: Path, repository: str) -> Iterator[Task]:
    """The tasks of a repository, newest first."""
    log = git(folder, "log", f"-n{NEWEST}", "--no-merges", "--format=%H").decode().split()
    some = 0
    for commit in log:
        task = task_of(folder, repository, commit)
        if task is not None:
            yield task
            some += 1
        if some == PER_REPOSITORY:
            return


def task_of(folder: Path, repository: str, commit: str) -> Task | None:
    """The task of a commit; None if it is no fix, or edits too much."""
    message = git(folder, "log", "-1", "--format=%B", commit).decode("utf-8", "replace")
    parents = git(folder, "log", "-1", "--format=%P", commit).decode().split()
    title = message.split("\n")[0]
    if len(parents) != 1 or _OTHER.match(title) or not _FAULT.search(title):
        return None
    question = " ".join(_NUMBER.sub("", _TRAILER.sub("", message)).split())
    if not 5 <= len(question.split()) <= 300:
        return None
    files = git(folder, "diff", "--name-only", "--no-renames", parents[0], commit).decode().split("\n")
    fix = Fix(commit, parents[0], question, "commit", [file for file in files if file])
    if len(fix.files) > 12:
        return None
    gold = gold_of(folder, parents[0], fix)
    if gold is None or len(gold["gold_functions"]) > FUNCTIONS or len(gold["gold_files"]) > FILES:
        return None
    functions = [(one["file"], one["name"], one["line_start"], one["line_end"]) for one in gold["gold_functions"]]
    return Task(repository, commit, parents[0], question, functions)


def folder_of(mirror: Path, repository: str) -> Path:
    place = mirror / repository.replace("/", "+") / "repo"
    return place / ".git" if (place / ".git").is_dir() else place


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirror", type=Path, required=True)
    parser.add_argument("--tasks", type=Path, default=TASKS)
    parser.add_argument("--only", nargs="*", default=[], help="repositories whose name holds one of these")
    parser.add_argument("--draw", nargs="*", default=[], metavar="NAME", help="print tasks of these repositories")
    options = parser.parse_args(words)
    for repository in options.draw:
        if plain(repository) in excluded():
            raise SystemExit(f"{repository} is used by a published benchmark")
        for task in drawn(folder_of(options.mirror, repository), repository):
            print(repository, task.commit)
    if options.draw:
        return
    rows: list[tuple[Task, Reader, Reader, bool]] = []
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["SECATEUR_CACHE_DIR"] = f"{scratch}/cache"
        for line in options.tasks.read_text("utf-8").splitlines():
            repository, commit = line.split()
            if options.only and not any(name in repository for name in options.only):
                continue
            task = task_of(folder_of(options.mirror, repository), repository, commit)
            assert task is not None
            rows.append((task, *measured(task, options.mirror, Path(scratch))))
            print(f"{commit[:10]} {rows[-1][1].paid} {rows[-1][2].paid}", file=sys.stderr, flush=True)
    print(
        "| repository | commit | functions | grep and read | MCP | file among the first 15 |\n|---|---|---|---|---|---|"
    )
    for task, grep, mcp, first in rows:
        cells = task.repository, task.commit[:10], len(task.functions), grep.paid, mcp.paid, "yes" if first else "no"
        print("| " + " | ".join(f"{cell:,}" if isinstance(cell, int) else cell for cell in cells) + " |")
    for name, side in (("grep and read", [row[1] for row in rows]), ("MCP", [row[2] for row in rows])):
        paid, unfound = [reader.paid for reader in side], sum(reader.unfound for reader in side)
        print(
            f"\n{name}: mean {mean(paid):,.0f}, median {median(paid):,.0f} tokens; nothing led to {unfound} functions"
        )
    less = sum(mcp.paid <= grep.paid for _, grep, mcp, _ in rows)
    print(f"\n{len(rows)} tasks; MCP needs no more than grep in {less}", end="; ")
    print(f"a file of the fix among the first {FIRST} in {mean(row[3] for row in rows):.2f}")


def measured(task: Task, mirror: Path, scratch: Path) -> tuple[Reader, Reader, bool]:
    """Checks the parent of a fix out, indexes it, and reads it in both ways."""
    folder = scratch / task.repository.replace("/", "+")
    if not folder.exists():
        source = folder_of(mirror, task.repository)
        subprocess.run(["git", "clone", "-qn", str(source), str(folder)], check=True)
    # a copy may lack its largest files, which are then missing
    subprocess.run(["git", "-C", str(folder), "checkout", "-qf", "--detach", task.parent], capture_output=True)
    git(folder, "update-ref", "--no-deref", "HEAD", task.parent)
    with Engine.open(folder) as engine:
        engine.refresh()
    with started(folder) as server:
        mcp, first = with_mcp(task, folder, server)
    return with_grep(task, folder), mcp, first


if __name__ == "__main__":
    main()
