"""Training pairs from history: query = what a commit says was wrong, gold = the functions it edited.

    python tests/benchmarks/mine.py --mirror DIR --out FILE [--per-repo 60] [--bases 4] [--window 150] [--only NAME ...]

DIR holds bare repositories `owner+name/` as in `retrieval.py`; those of `excluded.txt` are passed over: no published
benchmark of retrieval or of issues may be trained on. Many pairs share one base commit, and so one index: the fixes
among the `window` steps of the main line after a base count whose functions are still the same, line for line, at the
base. A fix describes a fault in prose (`faults.py`) - in its message, in the message of the merge that brought it, or
in the note for users that came with it - and edits 1 to 8 functions in at most 6 files of code, tests aside. A message
that is mostly names of what it edits is no issue. The output is the yardstick's own format; same repositories, same
bytes.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from faults import note_of, query_of
from secateur.languages import languages
from secateur.languages.syntax.file_flags import classify
from secateur.languages.syntax.fragments import decode, language_of, parse_file, split_lines
from secateur.model import Fragment, FragmentKind
from secateur.tokens import get_counter

MAX_FUNCTIONS = 8
MAX_FILES = 6
MAX_LINES = 100  # edited: more is a rewrite
MENTIONS = 0.5  # at most this share of a repository's cases names a gold file or function: as in the yardstick
NAMES = 0.2
"""At this share of the words of a query, or above, it is a list of what the fix edits."""

MAIN_LINE = 6000
"""Newest commits of the main line that are looked at."""

MAX_SOURCE = 1_000_000
"""Bytes of a file of code that is read."""

EXCLUDED = Path(__file__).with_name("excluded.txt")

_TEST = re.compile(r"(.*\.)?tests?\.")
"""Functions in a module of tests within a file of code."""

_TEST_PATH = re.compile(r"(?i:(^|.*[/._-])(unit)?(tests?|specs?)[/._-])|.*[a-z]Tests?[./]")
"""Wider than what the index calls a test: a case must not have one as gold."""

_NOTE_PATH = re.compile(
    r"(.*/)?(releasenotes/notes/.*\.ya?ml|(news(fragments)?|changelog\.d|changes(\.d)?|changelogs?/unreleased)/[^/]+)"
)
"""One file for one change, in the words of users."""

_PULL = re.compile(r"Merge pull request #\d+ from \S+\s+")


class Edit(NamedTuple):
    """Lines `first..last` of the old side of one file; what is `inserted` comes after line `first`, which is also the
    last. `shift`: how much further down the lines after it stand on the new side."""

    file: str
    first: int
    last: int
    inserted: bool
    shift: int


class Fix(NamedTuple):
    """A commit that could be a case."""

    commit: str
    parent: str
    query: str
    source: str
    files: list[str]


def git(folder: Path, *words: str) -> bytes:
    return subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True).stdout


def edits_between(folder: Path, old: str, new: str, files: list[str]) -> dict[str, list[Edit]]:
    """Edits by file, in order."""
    words = ("diff", "-U0", "--no-color", "--no-renames", "--no-ext-diff", "--no-textconv", old, new, "--", *files)
    edits: dict[str, list[Edit]] = {file: [] for file in files}
    file = ""
    for line in git(folder, *words).decode(errors="replace").split("\n"):
        if line.startswith("--- "):
            file = line[6:].rstrip("\t")
        elif match := re.match(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@", line):
            length, grown = int(match[2] or 1), int(match[3] or 1)
            first = int(match[1])
            if file in edits:
                edits[file].append(Edit(file, first, first + max(length, 1) - 1, not length, grown - length))
    return edits


class Moved:
    """Lines of a file at the parent of a fix, as lines of the same file at the base."""

    def __init__(self, edits: list[Edit]) -> None:
        self.edits = edits
        self._starts, self._shifts = [0], [0]  # on the parent's side, where each unchanged stretch begins
        shift = 0
        for edit in edits:
            after = edit.last + 1  # on the base's side
            shift += edit.shift
            self._starts.append(after + shift)
            self._shifts.append(shift)

    def at_base(self, line: int) -> int | None:
        """None when the line is new since."""
        place = bisect_right(self._starts, line) - 1
        base = line - self._shifts[place]
        following = self.edits[place] if place < len(self.edits) else None
        if following is not None and base > following.last - (
            0 if following.inserted else following.last - following.first + 1
        ):
            return None
        return base

    def same(self, first: int, last: int) -> bool:
        """Whether nothing changed among these lines of the base."""
        return not any(
            first <= edit.first < last if edit.inserted else edit.first <= last and edit.last >= first
            for edit in self.edits
        )


@lru_cache(maxsize=256)
def parsed(folder: Path, commit: str, file: str) -> tuple[str, list[Fragment], list[str]] | None:
    """Language, functions and lines of a file; None when it is no code that counts."""
    try:
        data = git(folder, "show", f"{commit}:{file}")
    except subprocess.CalledProcessError:
        return None
    language = language_of(file, data[:4096])
    if language not in PARSED or classify(file, data[:65536]) or _TEST_PATH.match(file) or len(data) > MAX_SOURCE:
        return None
    kinds = (FragmentKind.FUNCTION, FragmentKind.METHOD)
    fragments = [f for f in parse_file(file, data).fragments if f.kind in kinds]
    return {"tsx": "typescript"}.get(language, language), fragments, split_lines(decode(data)[0])


def gold_of(folder: Path, base: str, fix: Fix) -> dict[str, Any] | None:
    """The gold part of a case; None when the fix edits no function, too much, or what was not so at the base."""
    edits = edits_between(folder, fix.parent, fix.commit, fix.files)
    if sum(edit.last - edit.first + 1 for some in edits.values() for edit in some) > MAX_LINES:
        return None
    since = edits_between(folder, base, fix.parent, fix.files)
    counter = get_counter()
    functions: list[dict[str, Any]] = []
    lines_out: list[list[Any]] = []
    spoken: Counter[str] = Counter()
    for file in fix.files:
        found = parsed(folder, base, file)
        if found is None:
            if any(edit.last for edit in edits[file]) and not _TEST_PATH.match(file):
                return None  # made since the base
            continue
        language, fragments, lines = found
        moved = Moved(since[file])
        touched: dict[int, Fragment] = {}
        for edit in edits[file]:
            for number in range(max(edit.first, 1), edit.last + 1):
                line = moved.at_base(number)
                if line is None or line > len(lines):
                    return None
                within = [f for f in fragments if f.sig_start <= line <= f.line_end - edit.inserted]
                if any(_TEST.match(f.qualname) for f in within):
                    continue
                touched |= {f.line_start: f for f in within}
                if within or edit.inserted or lines[line - 1].strip():
                    lines_out.append([file, line, int(bool(within))])
        if not all(moved.same(f.line_start, f.line_end) for f in touched.values()):
            return None
        spoken[language] += len(touched)
        for fragment in (touched[start] for start in sorted(touched)):
            text = "\n".join(lines[fragment.line_start - 1 : fragment.line_end])
            span = {"line_start": fragment.line_start, "line_end": fragment.line_end, "tokens": counter.count(text)}
            functions.append({"file": file, "name": fragment.qualname, **span})
    if not 0 < len(functions) <= MAX_FUNCTIONS:
        return None
    return {
        "lang": sorted(spoken, key=lambda name: (-spoken[name], name))[0],
        "gold_files": sorted({line[0] for line in lines_out}),
        "gold_functions": functions,
        "gold_tokens": sum(f["tokens"] for f in functions),
        "edits_outside_functions": sum(not line[2] for line in lines_out),
        "edit_lines": lines_out,
    }


def case_of(repo: str, base: str, fix: Fix, gold: dict[str, Any]) -> dict[str, Any] | None:
    """A row of the yardstick; None when the query lists what was edited. A mention is a gold file's name anywhere, or a
    gold function's of more than 3 letters as a word."""
    names = {f["name"].rpartition(".")[2] for f in gold["gold_functions"]}
    named = [name for name in re.findall(r"\w+", fix.query) if len(name) > 3 and name in names]
    if len(named) >= NAMES * len(fix.query.split()):
        return None
    return (
        {
            "id": f"{repo.replace('/', '__')}-{fix.commit[:10]}",
            "repo": repo,
            "base_commit": base,
            "lang": gold["lang"],
            "source": fix.source,
            "query": fix.query,
        }
        | gold
        | {
            "mention_file": any(file.rpartition("/")[2] in fix.query for file in gold["gold_files"]),
            "mention_func": bool(named),
            "split": "train",
        }
    )


def fixes(folder: Path, base: str, tip: str) -> Iterator[Fix]:
    """Commits after `base` up to `tip` that say what was wrong, oldest first; merges of pull requests before the
    rest, because they speak for all of it."""
    form = "--format=%x00%H%x00%P%x00%B%x00"
    log = ("log", "--reverse", "--no-renames", "--name-only", form, f"{base}..{tip}")
    merges = git(folder, *log, "--merges", "--first-parent", "-m", "--grep=^Merge pull request").decode(
        errors="replace"
    )
    for text, kind in ((merges, "merge"), (git(folder, *log, "--no-merges").decode(errors="replace"), "commit")):
        fields = text.split("\0")[1:]
        for commit, parents, message, paths in zip(fields[::4], fields[1::4], fields[2::4], fields[3::4], strict=True):
            every = [path for path in paths.split("\n") if path]
            files = [path for path in every if language_of(path, b"") in PARSED and not classify(path, b"")]
            files = list(dict.fromkeys(path for path in files if not _TEST_PATH.match(path)))
            if not parents or not 0 < len(files) <= MAX_FILES:
                continue
            parent = parents.split()[0]
            query, source = query_of(_PULL.sub("", message.strip(), count=1)), kind
            notes = [path for path in every if _NOTE_PATH.fullmatch(path)]
            if len(notes) == 1 and (note := _note(folder, commit, notes[0])):
                query, source = note, "note"
            if query:
                yield Fix(commit, parent, query, source, files)


def _note(folder: Path, commit: str, path: str) -> str:
    try:
        return note_of(git(folder, "show", f"{commit}:{path}").decode(errors="replace"))
    except subprocess.CalledProcessError:
        return ""


def bases_of(folder: Path, bases: int, window: int) -> list[tuple[str, str]]:
    """(base, tip): the windows of the main line with the most fixes to tell of, newest first; they do not overlap."""
    line = git(folder, "rev-list", "--first-parent", f"-n{MAIN_LINE}", "HEAD").decode().split()
    windows = [(line[end], line[end - window]) for end in range(window, len(line), window)]
    step = max(1, len(windows) // (3 * bases))
    looked = windows[::step]
    most = sorted(range(len(looked)), key=lambda at: (-sum(1 for _ in fixes(folder, *looked[at])), at))[:bases]
    return [looked[at] for at in sorted(most)]


def mine(folder: Path, repo: str, per_repo: int, bases: int, window: int) -> list[dict[str, Any]]:
    """Cases of one repository, by base."""
    cases: list[dict[str, Any]] = []
    mentioned = 0
    told: set[str] = set()
    for base, tip in bases_of(folder, bases, window):
        some = 0
        golds: list[set[tuple[str, str]]] = []
        for fix in fixes(folder, base, tip):
            if some >= -(-per_repo // bases):
                break
            try:
                gold = None if fix.query in told else gold_of(folder, base, fix)
            except subprocess.CalledProcessError:  # a partial copy may lack what nobody needs
                continue
            case = case_of(repo, base, fix, gold) if gold else None
            if case is None:
                continue
            held = {(f["file"], f["name"]) for f in case["gold_functions"]}
            mention = case["mention_file"] or case["mention_func"]
            if held in golds or (mention and mentioned >= MENTIONS * per_repo):
                continue
            told.add(fix.query)
            golds.append(held)
            mentioned += mention
            some += 1
            cases.append(case)
    return cases


def excluded() -> set[str]:
    """Names of repositories in lower case, without hyphens, dots and underscores."""
    lines = EXCLUDED.read_text(encoding="utf-8").split("\n")
    return {plain(name) for line in lines if not line.startswith("#") for name in line.split()}


def plain(repo: str) -> str:
    return re.sub(r"[-_.]", "", repo.lower())


PARSED = [name for name, traits in languages().items() if traits.grammar]
"""Languages with a grammar."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirror", type=Path, required=True, help="folder of bare repositories, owner+name")
    parser.add_argument("--out", type=Path, required=True, help="file of cases")
    for name, number, what in (
        ("--per-repo", 60, "most cases of a repository"),
        ("--bases", 4, "base commits of a repository, each an index"),
        ("--window", 150, "steps of the main line after a base"),
    ):
        parser.add_argument(name, type=int, default=number, help=f"{what} (default: %(default)s)")
    parser.add_argument(
        "--only", action="append", default=[], help="only repositories whose name holds this; repeatable"
    )
    options = parser.parse_args()
    refused = excluded()
    with options.out.open("w", encoding="utf-8") as out:
        for place in sorted(options.mirror.iterdir()):
            repo = place.name.replace("+", "/", 1)
            if not place.is_dir() or "+" not in place.name or plain(repo) in refused:
                continue
            if options.only and not any(only in repo for only in options.only):
                continue
            inner = (place / name for name in ("repo/.git", "repo"))
            folder = next((path for path in inner if (path / "objects").is_dir()), place)
            cases = mine(folder, repo, options.per_repo, options.bases, options.window)
            out.writelines(json.dumps(case, ensure_ascii=False) + "\n" for case in cases)
            out.flush()
            sources = Counter(case["source"] for case in cases)
            print(f"{repo}: {len(cases)} {dict(sorted(sources.items()))}", file=sys.stderr, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
