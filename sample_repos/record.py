"""Writes a sample repository as data: `record.py REPOSITORY NAME` makes `NAME/` and `NAME.history.jsonl` beside this file.

For maintainers; needs git and nothing else. `NAME/` holds the files of HEAD as they are. `NAME.history.jsonl` holds the history,
one commit a line, oldest first, from which `secateur.sources.samples` rebuilds the same commits, id for id:

    {"author": "Name <mail>", "date": "1718000000 +0200", "message": "...",
     "edits": {"path": [[start, end, "text"], ...] or null}, "modes": {"path": "100755"}}

Edits replace the lines [start, end) of the version before, 0-based; a new path starts from nothing, null deletes. `modes` names the
edited paths that are executable. The history must be linear, of UTF-8 text, each commit's author also its committer.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from difflib import SequenceMatcher
from pathlib import Path

MODES = ("100644", "100755")
Edits = list[list[int | str]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("repository", type=Path)
    parser.add_argument("name", help="lower-case letters, digits and hyphens")
    parser.add_argument("--into", type=Path, default=Path(__file__).resolve().parent, help="folder to write to (default: beside this file)")
    arguments = parser.parse_args()
    if not re.fullmatch(r"[a-z][a-z0-9-]*", arguments.name):
        parser.error(f"not a sample name: {arguments.name!r}")
    try:
        lines, files = record(arguments.repository)
    except (ValueError, subprocess.CalledProcessError) as error:
        sys.exit(f"record.py: {error}")
    folder = arguments.into / arguments.name
    if folder.exists():
        shutil.rmtree(folder)
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())
    history = arguments.into / f"{arguments.name}.history.jsonl"
    history.write_text("".join(line + "\n" for line in lines), encoding="utf-8", newline="\n")
    print(f"{folder}: {len(files)} files, {len(lines)} commits")


def record(repository: Path) -> tuple[list[str], dict[str, str]]:
    """The history as JSON lines and the files of HEAD. Raises ValueError for what cannot be recorded."""
    commits = git(repository, "rev-list", "--reverse", "HEAD").decode().split()
    lines = []
    before: dict[str, tuple[str, str]] = {}
    files: dict[str, str] = {}
    for number, commit in enumerate(commits):
        author, date, message = read_commit(repository, commit, parent=commits[number - 1] if number else None)
        after = tree(repository, commit)
        edits: dict[str, Edits | None] = {}
        for path in sorted(before.keys() | after.keys()):
            if before.get(path) == after.get(path):
                continue
            if path not in after:
                edits[path] = None
                del files[path]
                continue
            text = read_text(repository, commit, path)
            edits[path] = line_edits(files.get(path, ""), text)
            files[path] = text
        modes = {path: after[path][0] for path, edit in edits.items() if edit is not None and after[path][0] != MODES[0]}
        line = {"author": author, "date": date, "message": message, "edits": edits} | ({"modes": modes} if modes else {})
        lines.append(json.dumps(line, ensure_ascii=False, separators=(",", ":")))
        before = after
    return lines, files


def read_commit(repository: Path, commit: str, parent: str | None) -> tuple[str, str, str]:
    """(author, date, message) of a commit that must have exactly `parent`."""
    head, _, message = git(repository, "cat-file", "commit", commit).decode().partition("\n\n")
    fields = [line.partition(" ")[::2] for line in head.split("\n")]
    if [value for key, value in fields if key == "parent"] != ([parent] if parent else []):
        raise ValueError(f"{commit}: the history is not linear")
    values = dict(fields)
    if values["author"] != values["committer"] or values.keys() - {"tree", "parent", "author", "committer"}:
        raise ValueError(f"{commit}: author and committer differ, or the commit is signed or encoded")
    author, _, date = values["author"].rpartition("> ")
    return author + ">", date, message


def tree(repository: Path, commit: str) -> dict[str, tuple[str, str]]:
    """(mode, object id) per path of a commit."""
    entries = {}
    for entry in git(repository, "ls-tree", "-r", "-z", "--full-tree", commit).decode().split("\0")[:-1]:
        fields, _, path = entry.partition("\t")
        mode, _kind, oid = fields.split()
        if mode not in MODES:
            raise ValueError(f"{commit}: {path} is no plain file (mode {mode})")
        entries[path] = (mode, oid)
    return entries


def read_text(repository: Path, commit: str, path: str) -> str:
    try:
        return git(repository, "cat-file", "blob", f"{commit}:{path}").decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"{commit}: {path} is not UTF-8 text") from error


def line_edits(old: str, new: str) -> Edits:
    """Edits that make `new` of `old`; lines end after each newline character."""
    before, after = split_lines(old), split_lines(new)
    changes = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return [[start, end, "".join(after[a:b])] for tag, start, end, a, b in changes if tag != "equal"]


def split_lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def git(repository: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", "-C", str(repository), *arguments], check=True, stdout=subprocess.PIPE).stdout


if __name__ == "__main__":
    main()
