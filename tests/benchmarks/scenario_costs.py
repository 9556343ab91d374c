"""Processor time of `secateur check` on many scenarios of one repository.

    python tests/benchmarks/scenario_costs.py REPOSITORY [--scenarios 1000] [--jobs 1 2]

The repository is cloned to a temporary folder. Its scenarios are searches for its own commit messages, under several
profiles and budgets. Prints the time to save them, then of a run with the index in place, with all its processes.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from measuring import SECATEUR, run, table
from secateur.kinds import registry
from secateur.settings import load
from secateur_lab.scenarios.running import session
from secateur_lab.scenarios.saving import save_scenario

SETTINGS = (
    {"profile": "spec"},
    {"profile": "recommended"},
    {"profile": "spec", "budget": 4000},
    {"profile": "spec", "smart_pruning.signature_share": 0.2},
)
"""In turn."""


def queries_of(root: Path, count: int) -> list[str]:
    """Titles of commits, drawn over the whole history."""
    log = subprocess.run(
        ["git", "-C", str(root), "log", "--no-merges", "--format=%s"], check=True, capture_output=True, text=True
    )
    told = [title for title in dict.fromkeys(log.stdout.splitlines()) if len(title) > 12]
    return random.Random(1).sample(told, min(count, len(told)))


def save(root: Path, count: int) -> int:
    """Saves scenarios. Returns how many."""
    kind = registry.get_kind("search")
    folder = root / "checks"
    folder.mkdir()
    queries = queries_of(root, count)
    with session(os.environ) as opened:
        for number, query in enumerate(queries):
            flags = dict(SETTINGS[number % len(SETTINGS)])
            profile = str(flags.pop("profile"))
            settings = load(root, profile=profile, flags=flags).settings
            inputs = kind.blank_inputs() | {"query": query, "path": str(root)}
            save_scenario(kind, inputs, settings, folder / f"q{number:04}.scenario.toml", opened, base=root)
    return len(queries)


def main(words: Sequence[str]) -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--scenarios", type=int, default=1000)
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2])
    options = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["SECATEUR_CACHE_DIR"] = str(Path(temporary) / "cache")
        os.environ["SECATEUR_CONFIG_DIR"] = str(Path(temporary) / "config")
        root = Path(temporary) / "repository"
        subprocess.run(["git", "clone", "--quiet", str(options.repository), str(root)], check=True)
        began = time.process_time()
        count = save(root, options.scenarios)
        rows = [("saved", f"{count:,}", f"{time.process_time() - began:.1f} s", "", "")]
        one = [*SECATEUR, "check", "checks/q0000.scenario.toml"]
        rows.append(("checked, 1 job", "1", f"{run(one, cwd=root).cpu:.1f} s", "", ""))
        for jobs in options.jobs:
            cost = run([*SECATEUR, "check", "checks", "--jobs", str(jobs)], cwd=root)
            said = cost.output.decode().splitlines()[-1]
            peak = f"{cost.peak / 2**20:,.0f} MB"
            rows.append((f"checked, {jobs} jobs", f"{count:,}", f"{cost.cpu:.1f} s", peak, said))
    print(table(["", "scenarios", "processor", "memory", "result"], rows))


if __name__ == "__main__":
    main(sys.argv[1:])
