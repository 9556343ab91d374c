"""Cases for the yardstick from commits that say what was wrong: query = message, gold = the functions the commit
edited.

    python tests/benchmarks/mine.py --mirror DIR --out FILE [--per-repo 40] [--commits 6000] [--only NAME]

DIR holds bare repositories `owner+name/` as in `retrieval.py`. A commit is taken when its message describes a fault in
prose (`faults.py`) and its diff edits 1 to 6 functions in at most 6 files of code, tests aside. Base is its first
parent. The output is the yardstick's own format; same repositories, same bytes. For choosing weights on repositories
that the yardstick does not have.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from faults import query_of
from secateur.languages import languages
from secateur.languages.syntax.file_flags import classify
from secateur.languages.syntax.fragments import decode, language_of, parse_file, split_lines
from secateur.model import Fragment, FragmentKind
from secateur.tokens import get_counter

MAX_FUNCTIONS = 6
MAX_FILES = 6
MAX_LINES = 100  # edited: more is a rewrite
MENTIONS = 0.5  # at most this share of a repository's cases names a gold file or function: as in the yardstick

_TEST = re.compile(r"(.*\.)?tests?\.")
"""Functions in a module of tests within a file of code."""

_TEST_PATH = re.compile(r"(?i:(^|.*[/._-])(unit)?(tests?|specs?)[/._-])|.*[a-z]Tests?[./]")
"""Wider than what the index calls a test: a case must not have one as gold."""


class Edit(NamedTuple):
    """Lines `first..last` of the old side of one file; what is `inserted` comes after line `first`, which is also the
    last."""

    file: str
    first: int
    last: int
    inserted: bool


def git(folder: Path, *words: str) -> bytes:
    return subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True).stdout


def edits_of(folder: Path, base: str, commit: str, files: list[str]) -> list[Edit]:
    """Old-side edits of `files`, in order. Files are asked for one by one: a partial copy may lack large ones nobody
    needs."""
    edits = []
    for file in files:
        diff = git(
            folder, "diff", "-U0", "--no-renames", "--no-ext-diff", "--no-textconv", base, commit, "--", file
        ).decode(errors="replace")
        for first, count in re.findall(r"^@@ -(\d+)(?:,(\d+))? ", diff, re.MULTILINE):
            length = int(count or 1)
            edits.append(Edit(file, int(first), int(first) + max(length, 1) - 1, not length))
    return edits


def gold_of(folder: Path, base: str, edits: list[Edit]) -> dict[str, Any] | None:
    """The gold part of a case; None when no function of code that is no test is edited."""
    counter = get_counter()
    functions: list[dict[str, Any]] = []
    lines_out: list[list[Any]] = []
    languages: Counter[str] = Counter()
    for file in dict.fromkeys(edit.file for edit in edits):
        try:
            data = git(folder, "show", f"{base}:{file}")
        except subprocess.CalledProcessError:
            continue
        language = language_of(file, data[:4096])
        if language not in PARSED or classify(file, data[:65536]) or _TEST_PATH.match(file):
            continue
        languages[{"tsx": "typescript"}.get(language, language)] += 1
        fragments = [
            f for f in parse_file(file, data).fragments if f.kind in (FragmentKind.FUNCTION, FragmentKind.METHOD)
        ]
        lines = split_lines(decode(data)[0])
        touched: dict[int, Fragment] = {}
        for edit in (edit for edit in edits if edit.file == file):
            for number in range(max(edit.first, 1), min(edit.last, len(lines)) + 1):
                within = [f for f in fragments if f.sig_start <= number <= f.line_end - edit.inserted]
                if any(_TEST.match(f.qualname) for f in within):
                    continue
                touched |= {f.line_start: f for f in within}
                if within or edit.inserted or lines[number - 1].strip():
                    lines_out.append([file, number, int(bool(within))])
        for fragment in (touched[start] for start in sorted(touched)):
            text = "\n".join(lines[fragment.line_start - 1 : fragment.line_end])
            span = {"line_start": fragment.line_start, "line_end": fragment.line_end, "tokens": counter.count(text)}
            functions.append({"file": file, "name": fragment.qualname, **span})
    if not functions:
        return None
    return {
        "lang": sorted(languages, key=lambda name: (-languages[name], name))[0],
        "gold_files": sorted({line[0] for line in lines_out}),
        "gold_functions": functions,
        "gold_tokens": sum(f["tokens"] for f in functions),
        "edits_outside_functions": sum(not line[2] for line in lines_out),
        "edit_lines": lines_out,
    }


def case_of(repo: str, name: str, base: str, source: str, query: str, gold: dict[str, Any]) -> dict[str, Any]:
    """A row of the yardstick. A mention is a gold file's name anywhere, or a gold function's of more than 3 letters as
    a word."""
    names = {f["name"].rpartition(".")[2] for f in gold["gold_functions"]}
    head = {
        "id": f"{repo.replace('/', '__')}-{name}",
        "repo": repo,
        "base_commit": base,
        "lang": gold["lang"],
        "source": source,
        "query": query,
    }
    mentions = {
        "mention_file": any(file.rpartition("/")[2] in query for file in gold["gold_files"]),
        "mention_func": any(
            len(n) > 3 and re.search(rf"(?<!\w){re.escape(n)}(?!\w)", query) is not None for n in names
        ),
    }
    return head | gold | mentions | {"split": "train"}


def candidates(folder: Path, commits: int) -> Iterator[tuple[str, str, str, list[str]]]:
    """Commit, parent, query and files of code of the newest commits that could be cases, in an order that is random and
    always the same."""
    log = git(
        folder,
        "log",
        "--no-merges",
        "--no-renames",
        f"-n{commits}",
        "--format=%x00%H%x00%P%x00%B%x00",
        "--name-only",
        "HEAD",
    ).decode(errors="replace")
    found = []
    fields = log.split("\0")[1:]
    for commit, base, message, paths in zip(fields[::4], fields[1::4], fields[2::4], fields[3::4], strict=True):
        files = [
            path for path in paths.split("\n") if path and language_of(path, b"") in PARSED and not classify(path, b"")
        ]
        if base and 0 < len(files) <= MAX_FILES and (query := query_of(message.strip())):
            found.append((commit, base, query, files))
    yield from sorted(found, key=lambda row: blake2b(row[0].encode()).digest())


def mine(folder: Path, repo: str, per_repo: int, commits: int) -> list[dict[str, Any]]:
    """Cases of one repository, sorted by id."""
    cases: list[dict[str, Any]] = []
    mentioned = 0
    for commit, base, query, files in candidates(folder, commits):
        if len(cases) >= per_repo:
            break
        edits = edits_of(folder, base, commit, files)
        gold = gold_of(folder, base, edits) if sum(edit.last - edit.first + 1 for edit in edits) <= MAX_LINES else None
        if gold is None or len(gold["gold_functions"]) > MAX_FUNCTIONS:
            continue
        case = case_of(repo, commit[:10], base, "commit", query, gold)
        mention = case["mention_file"] or case["mention_func"]
        if mention and mentioned >= MENTIONS * per_repo:
            continue
        mentioned += mention
        cases.append(case)
    return sorted(cases, key=lambda case: str(case["id"]))


PARSED = [name for name, traits in languages().items() if traits.grammar]
"""Languages with a grammar."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirror", type=Path, required=True, help="folder of bare repositories, owner+name")
    parser.add_argument("--out", type=Path, required=True, help="file of cases")
    parser.add_argument("--per-repo", type=int, default=40, help="most cases of a repository (default: %(default)s)")
    parser.add_argument(
        "--commits", type=int, default=6000, help="newest commits that are looked at (default: %(default)s)"
    )
    parser.add_argument("--only", default="", help="only repositories whose name holds this")
    options = parser.parse_args()
    with options.out.open("w", encoding="utf-8") as out:
        for place in sorted(options.mirror.iterdir()):
            repo = place.name.replace("+", "/", 1)
            if not place.is_dir() or "+" not in place.name or options.only not in repo:
                continue
            folder = next(
                (place / inner for inner in ("repo/.git", "repo") if (place / inner / "objects").is_dir()), place
            )
            cases = mine(folder, repo, options.per_repo, options.commits)
            out.writelines(json.dumps(case, ensure_ascii=False) + "\n" for case in cases)
            print(f"{repo}: {len(cases)}", file=sys.stderr, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
