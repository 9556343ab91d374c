"""Tries the properties with new random examples, one pass of all of them after another, until the time is up.

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
FAILED = 1
"""pytest's exit code where a test failed. Any other but 0 says that it could not run at all."""


def main(words: list[str]) -> int:
    """Explore; 0 where every pass was green, 1 where a property failed, pytest's own code where it could not run."""
    parser = argparse.ArgumentParser(prog="tasks.py explore", description="Tries new random examples.")
    parser.add_argument("--minutes", type=float, default=60, help="no pass starts after so many minutes (60)")
    parser.add_argument("--seed", type=int, help="one pass with this seed")
    options, further = parser.parse_known_args(words)
    end = time.monotonic() + options.minutes * 60
    failed: list[int] = []
    passes = 0
    while not passes or (options.seed is None and time.monotonic() < end):
        seed = random.SystemRandom().randrange(2**32) if options.seed is None else options.seed
        passes += 1
        print(f"pass {passes}, seed {seed}", flush=True)
        code = one_pass(seed, further)
        if code == FAILED:
            failed.append(seed)
        elif code:
            return code
    print(f"{passes} passes, {len(failed)} failed")
    for seed in failed:
        print(f"again: python3 tasks.py explore --seed {seed}")
    return 1 if failed else 0


def one_pass(seed: int, words: list[str]) -> int:
    """All properties once, with the examples of a seed; the exit code of pytest."""
    chosen = ["-m", "hypothesis", "--hypothesis-profile", "explore", f"--hypothesis-seed={seed}"]
    command = [sys.executable, "-m", "pytest", "--no-header", *chosen, *words]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
