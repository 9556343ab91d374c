"""Tries the readers of all languages on mutated real files, for as long as it is let.

    PYTHONPATH=tests python tests/benchmarks/fuzzing.py FOLDER --minutes 20 [--seed 1] [--out FOLDER]

FOLDER holds bare git repositories; of each some files a language are taken, drawn with the seed, and changed by
cutting, copying, swapping, inserting and joining (`support/mutations.py`). Every result must be sound: fragments that
hold each line once, facts that point into them, no error of a reader, no file that takes more than --slow seconds of
processor time. The source that is being read is kept in --out, so that a crash of the process leaves it there; sources
that fail are kept too. The same folder and seed give the same sources.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import traceback
from collections import Counter
from hashlib import blake2b
from pathlib import Path

from robustness import repositories
from secateur.languages import languages
from secateur.languages.syntax.fragments import _read_file, language_of
from secateur.sources.open import open_source
from support.mutations import mutate
from support.partition import check

LARGEST = 60_000
"""Bytes of a file that is changed: small ones give more tries a minute."""

PER_LANGUAGE = 40
"""Files taken of each language of a repository."""


def drawn(folder: Path, chance: random.Random) -> dict[str, list[tuple[str, bytes]]]:
    """Language -> (name, content) of the files to start from."""
    found: dict[str, list[tuple[str, bytes]]] = {language: [] for language in PARSED}
    for _, place in repositories(folder):
        source = open_source(place, "HEAD")
        taken: dict[str, list[str]] = {}
        for entry in source.entries():
            if entry.size <= LARGEST:
                taken.setdefault(language_of(entry.path), []).append(entry.path)
        wanted = sorted(
            path
            for language in PARSED
            if language in taken
            for path in chance.sample(taken[language], min(PER_LANGUAGE, len(taken[language])))
        )
        for path, data in source.read(wanted):
            if data:
                found[language_of(path)].append((path.rsplit("/", 1)[-1], data))
    return found


def fault(name: str, data: bytes, slow: float) -> str:
    """What is wrong with the reading of a source; "" for nothing."""
    began = time.process_time()
    try:
        facts = check(name, data)
        if "reader_failed" in facts.problems:
            _read_file(name, data)
            return "reader_failed, but not a second time"
    except Exception:
        return traceback.format_exc()
    seconds = time.process_time() - began
    return f"{seconds:.1f} s of processor time" if seconds > slow else ""


PARSED = [name for name, traits in languages().items() if traits.grammar]
"""Languages with a grammar."""


def main() -> int:
    """Fuzz until the time is over; exit code 1 if anything was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--slow", type=float, default=3)
    parser.add_argument("--out", type=Path, default=Path("fuzzing"))
    options = parser.parse_args()
    chance = random.Random(options.seed)
    options.out.mkdir(parents=True, exist_ok=True)
    pools = {language: files for language, files in drawn(options.folder, chance).items() if files}
    everything = [file for files in pools.values() for file in files]
    print(
        f"{len(everything):,} files: " + ", ".join(f"{language} {len(files):,}" for language, files in pools.items()),
        flush=True,
    )
    tried: Counter[str] = Counter()
    problems: Counter[str] = Counter()
    end = time.monotonic() + options.minutes * 60
    found = 0
    while time.monotonic() < end:
        language = chance.choice(list(pools))
        name, source = chance.choice(pools[language])
        other = chance.choice(pools[language] if chance.random() < 0.8 else everything)[1]
        data = mutate(chance, source, other, chance.randrange(1, 9))
        (options.out / "now").write_bytes(name.encode() + b"\n" + data)
        tried[language] += 1
        wrong = fault(name, data, options.slow)
        if wrong:
            found += 1
            kept = options.out / f"{language}-{blake2b(data, digest_size=4).hexdigest()}"
            kept.write_bytes(name.encode() + b"\n" + data)
            problems[wrong.strip().rsplit("\n", 1)[-1]] += 1
            print(f"{kept}: {wrong}", flush=True)
    print(
        f"{tried.total():,} sources, {found:,} faults; "
        + ", ".join(f"{language} {count:,}" for language, count in sorted(tried.items()))
    )
    for problem, count in problems.most_common():
        print(f"{count:6,}  {problem}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
