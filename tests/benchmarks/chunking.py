"""Every commit of a real history in chunks: `python tests/benchmarks/chunking.py REPOSITORY... [--commits 500]
[--limits 32000,4000,800]`.

Of each commit and limit is checked, on the text that leaves: every changed file is in the coverage once and no other
is; no chunk is over the limit, and its tokens are those of its text; the patches of whole files are those of git, byte
by byte, and applied to the commit's parent they make the commit's files; the parts of a file hold its rows once each,
in order; a second run gives the same bytes. Prints what was seen, misses included.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from secateur import Settings
from secateur.kinds.diff.chunk_text import Injection
from secateur.kinds.diff.chunks import Chunks, chunk_measured_diff
from secateur.kinds.diff.diff_parser import parse_diff
from secateur.kinds.diff.measured_diff import measure_diff
from secateur.kinds.diff.temporary_objects import TemporaryObjects
from secateur.settings import with_values
from secateur.sources.git import Git
from secateur.tokens import count_tokens

SKILL = "Review every change. Name the file and the line, say what is wrong and how to mend it.\n"
BLOCK = re.compile(r"^(`{3,})diff\n(.*?)^\1\n\n", re.MULTILINE | re.DOTALL)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--commits", type=int, default=500)
    parser.add_argument("--limits", default="32000,4000,800")
    options = parser.parse_args()
    for repository in options.repositories:
        for limit in map(int, options.limits.split(",")):
            print(json.dumps(measured(repository, options.commits, limit)), flush=True)


def measured(repository: Path, commits: int, limit: int) -> dict[str, object]:
    """Figures of one history at one limit."""
    git = Git.discover(repository)
    assert isinstance(git, Git)
    settings = with_values(Settings(), {"chunking.max_chunk_tokens": limit})
    seen: Counter[str] = Counter()
    rules: Counter[str] = Counter()
    faults: list[str] = []
    spent = 0.0
    ids = commit_ids(repository, commits)
    with TemporaryObjects(git, digits=len(ids[0][0])) as objects:
        for commit, parent in ids:
            diff = objects.git.diff(git.tree(parent), git.tree(commit))
            start = time.process_time()
            chunks = made(diff, settings)
            spent += time.process_time() - start
            faults += [f"{commit[:10]}: {fault}" for fault in wrong(chunks, diff, objects, parent, commit, limit)]
            if [piece.text for piece in made(diff, settings)] != [piece.text for piece in chunks]:
                faults.append(f"{commit[:10]}: a second run differs")
            seen.update(
                commits=1, chunks=len(chunks), fewest=chunks.plan.fewest, bytes=len(diff), files=len(chunks.coverage)
            )
            seen.update(entry.state for entry in chunks.coverage)
            rules.update(entry.verdict.rule.label for entry in chunks.coverage if entry.verdict)
    return {
        "repository": repository.parent.name,
        "limit": limit,
        **seen,
        "rules": dict(rules),
        "cpu_s": round(spent, 1),
        "faults": faults[:10],
        "n": len(faults),
    }


def made(diff: bytes, settings: Settings) -> Chunks:
    return chunk_measured_diff(measure_diff(parse_diff(diff), settings, Injection("", SKILL)), settings)


def commit_ids(repository: Path, commits: int) -> list[tuple[str, str]]:
    """The last commits that have a parent, each with its first one."""
    env = {
        "PATH": os.environ["PATH"],
        "HOME": "/nonexistent",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
    }
    command = ["git", f"--git-dir={repository}", "rev-list", "--parents", f"--max-count={commits}", "HEAD"]
    lines = subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout.splitlines()
    return [(ids[0], ids[1]) for ids in map(str.split, lines) if len(ids) > 1]


def wrong(chunks: Chunks, diff: bytes, objects: TemporaryObjects, parent: str, commit: str, limit: int) -> list[str]:
    """What does not hold."""
    faults = []
    raw = git_says(objects, "diff-tree", "-r", "-z", "--name-only", "--find-renames", parent, commit).split(b"\0")[:-1]
    names = sorted(path.decode("utf-8", "surrogateescape") for path in raw)
    if sorted(entry.path for entry in chunks.coverage) != names:
        faults.append("coverage")
    for piece in chunks:
        if piece.tokens != count_tokens(piece.text) or piece.tokens > limit:
            faults.append(f"budget: {piece.tokens} in chunk {piece.index}")
    if sum(action.after for action in chunks.report.actions) != sum(piece.tokens for piece in chunks):
        faults.append("ledger")
    held = [patch for piece in chunks for _, patch in BLOCK.findall(piece.text.partition("## Code Changes\n")[2])]
    whole = {entry.path: entry.file.change.text for entry in chunks.coverage if entry.state == "whole"}
    parts = Counter(held)
    for path, text in whole.items():
        parts[text if max(text, default="") < "\udc80" else re.sub("[\udc80-\udcff]", "\ufffd", text)] -= 1
        if text.encode("utf-8", "surrogateescape") not in diff:
            faults.append(f"{path}: not the bytes of git")
    if min(parts.values(), default=0) < 0:
        faults.append("a whole patch is missing")
    faults += unapplied(whole, objects, parent, commit)
    for entry in chunks.coverage:
        if entry.state == "split":
            rows = [row.text for hunk in hunks(entry.file.change.text) for row in hunk.rows()]
            pieces = sorted((f.number, p.index) for p in chunks for f in p.files if f.path == entry.path)
            by_number = {
                part.number: part.part.text
                for piece in chunks.plan.chunks
                for part in piece
                if part.file is entry.file and part.part
            }
            again = [row.text for number, _ in pieces for hunk in hunks(by_number[number]) for row in hunk.rows()]
            if again != rows and not entry.verdict:
                faults.append(f"{entry.path}: parts do not hold the rows")
    return faults


def hunks(text: str) -> list:  # type: ignore[type-arg]
    return [hunk for change in parse_diff(text).changes for patch in change.patches for hunk in patch.hunks]


def unapplied(whole: dict[str, str], objects: TemporaryObjects, parent: str, commit: str) -> list[str]:
    """Files that `git apply` does not make what they are in the commit."""
    patches = "".join(whole.values()).encode("utf-8", "surrogateescape")
    if not patches:
        return []
    index = {"GIT_INDEX_FILE": str(objects.git.git_dir / "index")}
    git_says(objects, "read-tree", parent, env=index)
    try:
        git_says(objects, "apply", "--cached", "--unidiff-zero", "-", feed=patches, env=index)
    except subprocess.CalledProcessError as error:
        return [f"git apply: {error.stderr.decode()[:200]}"]
    made = dict(
        reversed(line.split(b"\t", 1))
        for line in git_says(objects, "ls-files", "-s", "-z", env=index).split(b"\0")[:-1]
    )
    real = dict(
        reversed(line.split(b"\t", 1)) for line in git_says(objects, "ls-tree", "-r", "-z", commit).split(b"\0")[:-1]
    )
    faults = []
    for path in (path.encode("utf-8", "surrogateescape") for path in whole):
        one = made[path].split(b" ")[:2] if path in made else None
        other = real[path].split(b" ") if path in real else None
        if one != ([other[0], other[2]] if other else None):
            faults.append(f"{path!r} differs after git apply")
    return faults


def git_says(objects: TemporaryObjects, *words: str, feed: bytes = b"", env: dict[str, str] | None = None) -> bytes:
    plain = {
        "PATH": os.environ["PATH"],
        "HOME": "/nonexistent",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        **(env or {}),
    }
    command = ["git", f"--git-dir={objects.git.git_dir}", *words]
    return subprocess.run(
        command, env=plain, input=feed, check=True, capture_output=True, cwd=objects.git.git_dir
    ).stdout


if __name__ == "__main__":
    main()
