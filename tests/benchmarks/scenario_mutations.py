"""Random mutations below saved scenarios: exactly the affected ones have to fail, and for the right reason.

    python tests/benchmarks/scenario_mutations.py REPOSITORY... [--mutations 100] [--seed 1] [--searches 6]

Each repository is cloned to a temporary folder. Its scenarios are searches for its own commit messages, and one of each
other kind of context over files that are put beside them. What is affected is decided by the command line, see
`tests/support/scenario_mutations.py`. Prints what was missed, and the sums.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.scenario_mutations import Case, Laboratory, is_code

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"

LARGEST_FILE = 40_000
"""Bytes of a file that is pruned: larger ones are read in a process of their own, which takes time."""

ROUND = 10
"""Mutations after which the sums so far are printed."""

LEAST_LETTERS = 20
"""Of a commit message that is asked as a query."""


def git(root: Path, *words: str) -> str:
    """The output of a git command."""
    return subprocess.run(["git", "-C", str(root), *words], check=True, capture_output=True, text=True).stdout


def queries_of(root: Path, count: int, dice: random.Random) -> list[str]:
    """Titles of commits, as somebody would ask for what they changed."""
    titles = git(root, "log", "--no-merges", "--format=%s", "-3000").splitlines()
    told = [title for title in dict.fromkeys(titles) if len(title) >= LEAST_LETTERS]
    return dice.sample(told, count)


def cases_of(root: Path, searches: int, seed: int) -> list[Case]:
    """The scenarios of a repository; puts their inputs there."""
    dice = random.Random(f"{seed} {root.name}")
    inputs = root / "inputs"
    inputs.mkdir()
    for name in ("session.jsonl", "envelope.json", "ci.log"):
        shutil.copy(EXAMPLES / name, inputs / name)
    (inputs / "change.diff").write_text(git(root, "diff", "HEAD~12", "HEAD"), "utf-8")
    kinds = [
        ({}, "."),
        ({"profile": "recommended"}, "."),
        ({"graph_rag.token_budget": 4000}, "."),
        ({"smart_pruning.signature_share": 0.2}, "."),
        ({"smart_pruning.strategy": "density"}, "."),
        ({"graph_rag.top_k": 30}, "."),
    ]
    cases = [
        Case(f"search{number}", "search", {"query": query, "path": kinds[number % 6][1]}, kinds[number % 6][0])
        for number, query in enumerate(queries_of(root, searches, dice))
    ]
    head = git(root, "rev-parse", "HEAD").strip()
    query = queries_of(root, 1, dice)[0]
    code = sorted(path for path in git(root, "ls-files").splitlines() if is_code(path))
    code = [path for path in code if (root / path).stat().st_size < LARGEST_FILE]
    files = dice.sample(code, min(6, len(code)))
    return [
        *cases,
        Case("at_commit", "search", {"query": query, "path": ".", "rev": head}, {}),
        Case(
            "results", "conversation", {"path": "inputs/session.jsonl"}, {"conversation_prune.safe_zone_tokens": 6000}
        ),
        Case(
            "truncated",
            "conversation",
            {"path": "inputs/session.jsonl"},
            {"conversation_prune.safe_zone_tokens": 4000, "conversation_prune.strategy": "truncate"},
        ),
        Case("log", "log", {"path": "inputs/ci.log"}, {"log.max_tokens": 600}),
        Case(
            "envelope", "envelope", {"path": "inputs/envelope.json", "model": "gpt-4o"}, {"context_budget.tokens": 3000}
        ),
        Case("diff", "diff", {"diff": "inputs/change.diff"}, {"chunking.max_chunk_tokens": 4000}),
        Case("files", "files", {"path": files, "query": query}, {"context_prune.max_tokens": 3000}),
    ]


def told(laboratory: Laboratory) -> str:
    """The sums of a laboratory so far."""
    changed = f"{laboratory.changed} times a scenario changed"
    return f"{laboratory.mutated} mutations, {changed}, {laboratory.unchanged} times not"


def main(words: Sequence[str]) -> int:
    """Exit code 1 where anything was said wrongly."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--mutations", type=int, default=100)
    parser.add_argument("--searches", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(words)
    wrong, sums, kinds = 0, Counter[str](), Counter[str]()
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["SECATEUR_CACHE_DIR"] = str(Path(temporary) / "cache")
        os.environ["SECATEUR_CONFIG_DIR"] = str(Path(temporary) / "config")
        for repository in options.repositories:
            name = repository.name if repository.name != "repo" else repository.parent.name
            root = Path(temporary) / name
            subprocess.run(["git", "clone", "--quiet", str(repository), str(root)], check=True)
            laboratory = Laboratory(root, cases_of(root, options.searches, options.seed), options.seed)
            for done in range(0, options.mutations, ROUND):
                for finding in laboratory.run(min(done + ROUND, options.mutations)):
                    wrong += 1
                    print(f"{name}: {finding.mutation}: {finding.case}: {finding.what}", flush=True)
                print(f"{name}: {told(laboratory)}, {wrong} told wrongly so far", file=sys.stderr, flush=True)
            sums += {"mutations": laboratory.mutated, "changed": laboratory.changed, "unchanged": laboratory.unchanged}
            kinds += laboratory.kinds
            print(f"{name}: {told(laboratory)}, {laboratory.kinds}", flush=True)
            laboratory.oracle.close()
            shutil.rmtree(root)
    print(
        f"{sums['mutations']} mutations {dict(kinds)}: {sums['changed']} times a scenario changed,"
        f" {sums['unchanged']} times not; {wrong} told wrongly"
    )
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
