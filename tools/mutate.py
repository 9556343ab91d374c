"""Scores the tests: changes the engine's code in one place at a time and counts the changes that no test notices.

    python3 tasks.py mutate                          selection, kinds, tokens: 60 mutants of each
    python3 tasks.py mutate kinds --sample 200 --seed 2
    python3 tasks.py mutate tokens --sample 0        every mutant
    python3 tasks.py mutate kinds/diff/arrangement.py     of one file

The changes are mutmut's. They are drawn with a fixed seed before any is written, each is written into a copy of the
checkout, and the fast tests of its folder that run the changed line are run there until one fails; a change of what
runs at import is held against all that run any line of the file. Lines that only word an error are left out. What
survives is printed as a diff: it is either a missing test, or a change that no caller can see. The exit code is 0
however many survive; the score is for reading.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coverage import CoverageData
from mutmut.mutation.file_mutation import create_mutations

ROOT = Path(__file__).resolve().parents[1]
TESTS = {
    "selection": (
        "tests/selection",
        "tests/property/test_selection_properties.py",
        "tests/property/test_budget_sweep_properties.py",
        "tests/property/test_proofs_properties.py",
        "tests/property/test_pack_bounds.py",
        "tests/spec/test_smart_pruning.py",
        "tests/spec/test_smart_pruning_formula.py",
    ),
    "kinds": (
        "tests/kinds",
        "tests/hostile/test_hostile_envelopes.py",
        "tests/hostile/test_hostile_files.py",
        "tests/hostile/test_hostile_transcripts.py",
        "tests/property/test_conversation_properties.py",
        "tests/property/test_damage_properties.py",
        "tests/property/test_envelope_properties.py",
        "tests/property/test_files_properties.py",
        "tests/spec/test_pruner.py",
        "tests/spec/test_pruner_constructors.py",
        "tests/spec/test_pruner_files.py",
        "tests/spec/test_context_budget.py",
        "tests/hostile/test_hostile_diffs.py",
        "tests/property/test_chunking_properties.py",
        "tests/spec/test_smart_chunking.py",
    ),
    "tokens": ("tests/tokens", "tests/property/test_tokens_laws.py"),
}
"""The tests that a mutant of a folder of `core/secateur` is run against."""

COPIED = ("core", "docs", "sample_repos", "tests", "themes", "tui", "pyproject.toml")
WITHOUT = ("-p", "no:xdist", "-p", "no:anyio", "-p", "no:cacheprovider")
PYTEST = ("-m", "pytest", *WITHOUT, "-x", "--tb=no", "-m", "not slow", "--hypothesis-profile", "mutate")
LEAST_SECONDS = 20
"""Seconds of a processor that a mutant's run has, beside those of all tests of its folder: a loop without an end
ends."""

MEMORY = 6 << 30
"""Bytes of address space of a mutant's run: a loop that collects without an end must not take the machine along."""


@dataclass(frozen=True)
class Mutant:
    """One change of one file."""

    path: Path
    """Relative to the checkout."""
    before: str
    after: str

    def line(self) -> int:
        """The first changed line of the file as it is, from 1."""
        pairs = zip(self.before.splitlines(), self.after.splitlines(), strict=False)
        return next((number for number, (old, new) in enumerate(pairs, 1) if old != new), self.before.count("\n"))

    def diff(self) -> str:
        """The change as people read it."""
        name = self.path.as_posix()
        return "\n".join(
            difflib.unified_diff(self.before.splitlines(), self.after.splitlines(), name, name, lineterm="")
        )


def main(words: list[str]) -> int:
    """Score the folders one after another."""
    parser = argparse.ArgumentParser(prog="tasks.py mutate", description="Counts the changes that no test notices.")
    parser.add_argument("places", nargs="*", metavar="FOLDER[/FILE]", help=f"{', '.join(TESTS)} (all)")
    parser.add_argument("--sample", type=int, default=60, help="mutants of each folder (60); 0 is all of them")
    parser.add_argument("--seed", type=int, default=1, help="which mutants are drawn (1)")
    options = parser.parse_args(words)
    for place in options.places:
        if place.partition("/")[0] not in TESTS or not (ROOT / "core" / "secateur" / place).exists():
            parser.error(f"there is no {place} in core/secateur; folders are {', '.join(TESTS)}")
    os.chdir(ROOT)  # mutmut reads its settings from the pyproject.toml of the working folder
    for place in options.places or TESTS:
        with tempfile.TemporaryDirectory(prefix="mutants-") as away:
            print(scored(place, Path(away), options.sample, options.seed), flush=True)
    return 0


def scored(place: str, away: Path, sample: int, seed: int) -> str:
    """Print what survives of one folder or file, and say its score."""
    mutants, total = drawn(place, sample, seed)
    copied(away)
    tests = TESTS[place.partition("/")[0]]
    start = time.monotonic()
    clean = run(away, [*PYTEST, "--cov", "--cov-context=test", "--cov-report=", "--cov-fail-under=0", *tests])
    if clean.returncode:
        sys.exit(f"error: the tests of {place} fail without any change\n{clean.stdout}")
    seconds = LEAST_SECONDS + round(time.monotonic() - start)
    data = CoverageData(str(away / ".coverage"))
    data.read()
    counts = Counter(tried(mutant, away, data, tests, seconds) for mutant in mutants)
    score = counts["killed"] / len(mutants)
    figures = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()))
    return f"{place}: {score:.0%} of {len(mutants)} out of {total} mutants killed ({figures})"


def drawn(place: str, sample: int, seed: int) -> tuple[list[Mutant], int]:
    """A sample of the mutants of a folder or file, and how many there are."""
    base = ROOT / "core" / "secateur" / place
    found = []
    for path in [base] if base.is_file() else sorted(base.rglob("*.py")):
        module, mutations, _, _ = create_mutations(str(path), path.read_text(encoding="utf-8"))
        found += [(path.relative_to(ROOT), module, mutation) for mutation in mutations]
    chosen = sorted(random.Random(seed).sample(range(len(found)), min(sample or len(found), len(found))))
    mutants = []
    for path, module, mutation in (found[number] for number in chosen):
        changed = module.deep_replace(mutation.original_node, mutation.mutated_node)
        mutants.append(Mutant(path, module.code, changed.code))
    return mutants, len(found)


def copied(away: Path) -> None:
    """The checkout, where it may be changed."""
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, away / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, away / name)


def tried(mutant: Mutant, away: Path, data: CoverageData, tests: Sequence[str], seconds: int) -> str:
    """What becomes of a mutant: `killed`, or `survived`, which is printed."""
    path = away / mutant.path
    contexts = data.contexts_by_lineno(str(path.resolve()))
    lines = statement(ast.parse(mutant.before), mutant.line())
    concerned = tests_of(contexts, lines)
    if not lines or (not concerned and any("" in contexts.get(line, ()) for line in lines)):  # it runs at import
        concerned = tests_of(contexts, contexts) or list(tests)
    path.write_text(mutant.after, encoding="utf-8")
    noticed = bool(concerned) and run(away, [*PYTEST, *concerned], seconds).returncode != 0
    shutil.copy2(ROOT / mutant.path, path)
    if not noticed:
        print(mutant.diff(), "" if concerned else "(no test runs this line)", sep="\n", flush=True)
    return "killed" if noticed else "survived"


def tests_of(contexts: Mapping[int, Iterable[str]], lines: Iterable[int]) -> list[str]:
    """The tests that run any of these lines."""
    return sorted(
        {name.rpartition("|")[0].partition("[")[0] for line in lines for name in contexts.get(line, ())} - {""}
    )


def statement(tree: ast.Module, line: int) -> range:
    """The lines, up to this one, of the innermost statement around it in a function; none outside of functions."""
    statements = (node for node in ast.walk(tree) if isinstance(node, ast.stmt))
    nodes = [node for node in statements if node.lineno <= line <= (node.end_lineno or 0)]
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    if not any(function.body[0].lineno <= line for function in functions):
        return range(0)
    return range(max(node.lineno for node in nodes), line + 1)


def run(away: Path, words: list[str], seconds: int = 0) -> subprocess.CompletedProcess[str]:
    """Python in the copy, for so many seconds of a processor at most; 0: as long as it takes, before anything is
    changed.

    Bytecode is kept of the unchanged code only: a mutant can have the size and, to the second, the age of another.
    """
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    paths = os.pathsep.join(str(away / name) for name in ("core", "tui"))
    environment = kept | {"PYTHONPATH": paths} | ({"PYTHONDONTWRITEBYTECODE": "1"} if seconds else {})

    def limit() -> None:
        if seconds:
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    return subprocess.run(
        [sys.executable, *words],
        cwd=away,
        env=environment,
        preexec_fn=limit,
        capture_output=True,
        text=True,
        check=False,
    )


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
