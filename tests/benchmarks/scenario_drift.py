"""Scenarios over the next commits of a repository: how many fail although nobody touched what they are about.

    python tests/benchmarks/scenario_drift.py REPOSITORY... [--commits 60] [--queries 8]

Each repository is cloned to a temporary folder and put back by so many commits. Eight searches for titles of earlier
commits are saved there under two profiles, as assertions and with every decision recorded, and checked after each
commit. A pair of a scenario and a commit is untouched if the texts of the scenario's `must_keep` items and of their
direct callers are those of the day when it was saved. Prints, for each repository, the share of failing pairs.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
from secateur.index.graph.code_graph import Direction
from secateur.kinds import registry
from secateur.settings import load
from secateur_lab.scenarios.check import CheckVerdict, result_of
from secateur_lab.scenarios.comparison import wanted_ids
from secateur_lab.scenarios.running import Decided, session
from secateur_lab.scenarios.saving import assertions_of, save_scenario
from secateur_lab.scenarios.scenario import Scenario

PROFILES = ("spec", "recommended")
LEAST_LETTERS = 20
"""Characters of a commit's title that is asked as a query."""


@dataclass(frozen=True)
class Watched:
    """A saved search, in both forms."""

    exact: Scenario
    asserting: Scenario
    texts: Mapping[str, str]  # of what it asserts and its callers, by id


def git(root: Path, *words: str) -> str:
    """Returns the output of a git command."""
    return subprocess.run(["git", "-C", str(root), *words], check=True, capture_output=True, text=True).stdout


def ask_titles(root: Path, count: int) -> list[str]:
    """Returns titles of the last commits, as somebody would ask for what they changed."""
    titles = git(root, "log", "--no-merges", "--format=%s", "-400").splitlines()
    return random.Random(root.name).sample(list(dict.fromkeys(t for t in titles if len(t) >= LEAST_LETTERS)), count)


def read_texts(decided: Decided, ids: Sequence[str]) -> dict[str, str]:
    """Returns the texts of symbols and of their direct callers, as they are now."""
    snapshot, lines_of = decided.outcome.payload.engine.code()
    rows: list[int] = []
    for row in filter(lambda row: row >= 0, map(snapshot.row_of, ids)):
        rows += [row, *map(int, snapshot.graph.search([row], 1, (Direction.CALLED_BY,)).nodes)]
    texts = {}
    for row in dict.fromkeys(rows):
        lines = lines_of(snapshot.paths[int(snapshot.file[row])])
        texts[snapshot.symbol_id(row)] = "".join(lines[snapshot.line_start[row] - 1 : snapshot.line_end[row]])
    return texts


def watch(root: Path, count: int) -> list[Watched]:
    """Saves the searches at the commit that is checked out."""
    kind, watched = registry.get_kind("search"), []
    with session(os.environ) as opened:
        for number, query in enumerate(ask_titles(root, count)):
            for profile in PROFILES:
                settings, inputs = load(root, profile=profile).settings, {"query": query, "path": "."}
                path = root.parent / f"{profile}{number}.scenario.toml"
                path = root / "checks" / path.name
                path.parent.mkdir(exist_ok=True)
                exact = save_scenario(
                    kind, kind.blank_inputs() | inputs, settings, path, opened, base=root, exact=True
                ).scenario
                decided = opened.decide(exact, root)
                expect = assertions_of(decided)
                asserting = msgspec.structs.replace(exact, recorded=None, expect=expect)
                watched.append(Watched(exact, asserting, read_texts(decided, expect.must_keep)))
    return watched


def follow(root: Path, watched: Sequence[Watched], commits: Sequence[str]) -> Counter[str]:
    """Counts pairs after each commit."""
    counts: Counter[str] = Counter()
    for commit in commits:
        git(root, "checkout", "--quiet", "--force", commit)
        with session(os.environ) as opened:
            for one in watched:
                decided = opened.decide(one.exact, root, wanted_ids(one.exact) | wanted_ids(one.asserting))
                now = read_texts(decided, one.asserting.expect.must_keep)
                untouched = now == one.texts
                result = result_of(Path(), "", one.asserting, decided)
                changed = result_of(Path(), "", one.exact, decided).verdict is not CheckVerdict.PASSED
                counts["pairs"] += 1
                counts["exact fails"] += changed
                counts["fails"] += bool(result.compared.failures)
                counts["untouched"] += untouched
                counts["untouched fails"] += untouched and bool(result.compared.failures)
                counts["untouched exact fails"] += untouched and changed
                for failure in result.compared.failures if untouched else ():
                    counts[f"untouched {failure.assertion.partition(' ')[0]}"] += 1
                    if os.environ.get("SHOW"):
                        print(commit[:8], one.exact.input["query"], one.exact.settings, failure.assertion, failure.said)
    return counts


def share(counts: Counter[str], part: str, whole: str) -> str:
    """Formats a share of pairs."""
    return f"{counts[part] / max(counts[whole], 1):.1%} ({counts[part]} of {counts[whole]})"


def main(words: Sequence[str]) -> int:
    """Prints the shares."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--commits", type=int, default=60)
    parser.add_argument("--queries", type=int, default=8)
    options = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["SECATEUR_CACHE_DIR"] = str(Path(temporary) / "cache")
        os.environ["SECATEUR_CONFIG_DIR"] = str(Path(temporary) / "config")
        for repository in options.repositories:
            name = repository.name if repository.name != "repo" else repository.parent.name
            root = Path(temporary) / name
            subprocess.run(["git", "clone", "--quiet", str(repository), str(root)], check=True)
            commits = git(root, "rev-list", "--first-parent", f"-{options.commits + 1}", "HEAD").split()[::-1]
            git(root, "checkout", "--quiet", "--force", commits[0])
            counts = follow(root, watch(root, options.queries), commits[1:])
            print(f"{name}: untouched pairs that fail: {share(counts, 'untouched fails', 'untouched')}; with --exact")
            print(f"  {share(counts, 'untouched exact fails', 'untouched')}, of all pairs", end=" ")
            print(f"{share(counts, 'fails', 'pairs')}, with --exact {share(counts, 'exact fails', 'pairs')}")
            print(f"  {dict(counts)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
