"""Scores the tests: changes the engine's code in one place at a time and counts the changes that no test notices.

    python3 tasks.py mutate                          selection, trimming, chunking, tokens: 80 mutants of each
    python3 tasks.py mutate trimming --sample 200 --seed 2
    python3 tasks.py mutate tokens --sample 0        every mutant
    python3 tasks.py mutate chunking/packing.py      of one file: much sooner, all mutants are made before any is drawn

Mutants are mutmut's, drawn with a fixed seed, and run against the fast tests of their folder in a copy of the checkout.
Lines that only word an error are left out. What survives is printed as a diff: it is either a missing test, or a change
that no caller can see. The exit code is 0 however many survive; the score is for reading.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = {
    "selection": (
        "tests/selection",
        "tests/property/test_selection_properties.py",
        "tests/spec/test_smart_pruning.py",
        "tests/spec/test_smart_pruning_formula.py",
    ),
    "trimming": (
        "tests/trimming",
        "tests/spec/test_pruner.py",
        "tests/spec/test_pruner_files.py",
        "tests/spec/test_context_budget.py",
    ),
    "chunking": ("tests/chunking", "tests/spec/test_smart_chunking.py", "tests/property/test_chunking_properties.py"),
    "tokens": ("tests/tokens", "tests/property/test_tokens_laws.py"),
}
"""The tests that a mutant of a folder of `core/secateur` is run against."""

COPIED = ("docs", "sample_repos", "tests", "themes", "pyproject.toml")
OUTCOMES = {0: "survived", 33: "survived"} | dict.fromkeys((1, 3, 24, 36, 152, 255), "killed")
"""mutmut's exit codes: a time-out or the end of the process is noticed too; 33 is code that no test reaches."""


def main(words: list[str]) -> int:
    """Score the folders one after another."""
    parser = argparse.ArgumentParser(prog="tasks.py mutate", description="Counts the changes that no test notices.")
    parser.add_argument("places", nargs="*", metavar="FOLDER[/FILE]", help=f"{', '.join(TESTS)} (all)")
    parser.add_argument("--sample", type=int, default=80, help="mutants of each folder (80); 0 is all of them")
    parser.add_argument("--seed", type=int, default=1, help="which mutants are drawn (1)")
    options = parser.parse_args(words)
    for place in options.places:
        if place.partition("/")[0] not in TESTS or not (ROOT / "core" / "secateur" / place).exists():
            parser.error(f"there is no {place} in core/secateur; folders are {', '.join(TESTS)}")
    for place in options.places or TESTS:
        with tempfile.TemporaryDirectory(prefix="mutants-") as away:
            print(scored(place, Path(away), options.sample, options.seed), flush=True)
    return 0


def scored(place: str, away: Path, sample: int, seed: int) -> str:
    """The score of one folder or file and the diffs of what survived, as text."""
    copied(place, away)
    generated = mutmut(away, "run", "--max-children", "1", "none")  # makes all mutants, then ends: none has that name
    names = sorted(results(away))
    if not names:
        sys.exit(f"error: mutmut made no mutants of {place}\n{generated}")
    drawn = sorted(random.Random(seed).sample(names, min(sample or len(names), len(names))))
    said = mutmut(away, "run", "--max-children", "1", *drawn)
    codes = results(away)
    counts = Counter(OUTCOMES.get(codes[name] if codes[name] is not None else -1, "not decided") for name in drawn)
    if not counts["killed"] + counts["survived"]:
        sys.exit(f"error: mutmut ran no mutant of {place}\n{said}")
    score = counts["killed"] / (counts["killed"] + counts["survived"])
    survivors = [mutmut(away, "show", name) for name in drawn if OUTCOMES.get(codes[name] or 0) == "survived"]
    figures = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()))
    told = f"{place}: {score:.0%} of {len(drawn)} out of {len(names)} mutants killed ({figures})"
    return "\n".join([*survivors, told])


def copied(place: str, away: Path) -> None:
    """The checkout as mutmut wants it: packages below `src`, and its settings beside those of the tests."""
    for package in (ROOT / "core" / "secateur", ROOT / "tui" / "secateur_tui"):
        shutil.copytree(package, away / "src" / package.name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, away / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, away / name)
    mutated = f"src/secateur/{place}" if place.endswith(".py") else f"src/secateur/{place}/*"
    chosen: dict[str, Sequence[str]] = {
        "source_paths": ["src"],
        "only_mutate": [mutated],
        "also_copy": list(COPIED[:-1]),
        "do_not_mutate_patterns": [r"raise \w+", "hint=", r"Notice\("],
        "pytest_add_cli_args": ["-p", "no:xdist", "-x", "-m", "not slow"],
        "pytest_add_cli_args_test_selection": TESTS[place.partition("/")[0]],
    }
    with (away / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write("\n[tool.mutmut]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in chosen.items()))


def mutmut(away: Path, *words: str) -> str:
    """What mutmut says. Its exit code is no answer: it is not 0 when mutants survive."""
    command = [sys.executable, "-m", "mutmut", *words]
    done = subprocess.run(command, cwd=away, capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).strip()


def results(away: Path) -> dict[str, int | None]:
    """The exit code of each mutant, None for one that was not run."""
    codes: dict[str, int | None] = {}
    for path in sorted((away / "mutants").rglob("*.meta")):
        codes |= json.loads(path.read_text(encoding="utf-8"))["exit_code_by_key"]
    return codes


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
