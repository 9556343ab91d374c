"""Runs the tests that the default run leaves out (`tests/slow.txt`), then tries the properties with new random
examples, one pass of all of them after another, until the time is up.

    python3 tasks.py explore                     for 60 minutes
    python3 tasks.py explore --minutes 5
    python3 tasks.py explore --seed 1234         one pass, with the examples of that seed

Every pass prints its seed before it starts. A pass that fails prints its falsifying examples, and the end lists the
failed seeds; the same code with the same seed fails again. A falsifying example belongs into the test as `@example`.
Further words go to pytest: `python3 tasks.py explore --minutes 5 tests/property -n 2`.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FAILED, NOTHING_CHOSEN = 1, 5
"""pytest's exit codes where a test failed, and where no test was chosen. Others but 0 say that it could not run."""


def main(words: list[str]) -> int:
    """Explore; 0 where all was green, 1 where a test failed, pytest's own code where it could not run."""
    parser = argparse.ArgumentParser(prog="tasks.py explore", description="Tries new random examples.")
    parser.add_argument("--minutes", type=float, default=60, help="no pass starts after so many minutes (60)")
    parser.add_argument("--seed", type=int, help="one pass with this seed")
    options, further = parser.parse_known_args(words)
    slow = 0 if options.seed is not None else run_pytest("-m", "slow", *further)
    if slow not in (0, FAILED, NOTHING_CHOSEN):
        return slow
    end = time.monotonic() + options.minutes * 60
    failed: list[int] = []
    passes = 0
    while not passes or (options.seed is None and time.monotonic() < end):
        seed = random.SystemRandom().randrange(2**32) if options.seed is None else options.seed
        passes += 1
        print(f"pass {passes}, seed {seed}", flush=True)
        properties = "-m", "hypothesis", "--hypothesis-profile", "explore", f"--hypothesis-seed={seed}"
        code = run_pytest(*properties, *further)
        if code == FAILED:
            failed.append(seed)
        elif code:
            return code
    print(f"{passes} passes, {len(failed)} failed")
    for seed in failed:
        print(f"again: python3 tasks.py explore --seed {seed}")
    return 1 if failed or slow == FAILED else 0


def run_pytest(*words: str) -> int:
    """The exit code of pytest."""
    return subprocess.run([sys.executable, "-m", "pytest", "--no-header", *words], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
