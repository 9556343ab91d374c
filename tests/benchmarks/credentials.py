"""How many credentials are found that were planted in real files, what is found in the files as they are, and what
looking costs: our own rules alone, and with the scanner of the extra `secrets`.

    python tests/benchmarks/credentials.py recall CHECKOUT ... [--each 200]
    python tests/benchmarks/credentials.py alarms CHECKOUT ... [--show]
    python tests/benchmarks/credentials.py cost CHECKOUT ...

Credentials are drawn at run time and belong to nobody. A planted one counts as found if nothing of it is left of it in
the text; a private key, if no line of it is.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1]))

import os

from secateur.directories import cache_dir
from secateur.encodings import as_utf8
from secateur.redaction import CredentialNumbers, Scanning, insert_markers
from secateur.redaction.scanning import FOLDER, find_version
from secateur.sources.open import open_source
from support.credentials import RULES, planted
from support.planted import LOOKS

LINES = ("{}", 'KEY = "{}"', "  key: {}", "# use {} here", "print('{}')", "export VALUE={}")


def contents(folders: list[Path]) -> Iterator[tuple[str, bytes]]:
    """The files of checkouts that are text, as the index reads them."""
    for folder in folders:
        source = open_source(folder)
        for path, data in source.read([entry.path for entry in source.entries()]):
            if data and b"\0" not in data[:8000]:
                yield f"{folder.name}/{path}", as_utf8(data)


def scannings() -> dict[str, Scanning]:
    """Our own rules, and, where it is installed, with the full scanner."""
    rules_folder = str(cache_dir(os.environ) / FOLDER)
    found = {"rules": Scanning(full=False)}
    if find_version():
        found["full"] = Scanning(rules_folder=rules_folder)
    return found


def recall(folders: list[Path], each: int) -> None:
    """A table: by rule, the share of planted credentials that are gone."""
    texts = [data for _, data in contents(folders) if 500 < len(data) < 200_000]
    random = Random(20)
    kinds = {rule: (lambda r, rule=rule: planted(r, rule)) for rule in RULES}
    kinds |= {
        f"other: {name}": (lambda r, make=make: (make(r),) * 2) for name, make in LOOKS.items() if name not in RULES
    }
    ways = scannings()
    print("| credential | " + " | ".join(ways) + " |\n|---|" + "---|" * len(ways))
    for kind, make in kinds.items():
        gone: Counter[str] = Counter()
        for _ in range(each):
            credential, text = make(random)
            lines = random.choice(texts).split(b"\n")
            place = random.randrange(len(lines) + 1)
            line = LINES[0] if text != credential or "\n" in text else random.choice(LINES)
            data = b"\n".join([*lines[:place], line.format(text).encode(), *lines[place:]])
            for name, scanning in ways.items():
                out = insert_markers(data, scanning.spans(data)[0], CredentialNumbers())
                secret = credential.split("\n")[1:-1] or [credential]
                gone[name] += not any(one.encode() in out for one in secret)
        print(f"| {kind} | " + " | ".join(f"{gone[name] / each:.3f}" for name in ways) + " |", flush=True)


def alarms(folders: list[Path], *, show: bool) -> None:
    """What is found in the files as they are, by repository and rule, and for 20,000 lines; with `show` each with its
    line, masked."""
    for name, scanning in scannings().items():
        rules: Counter[str] = Counter()
        texts: Counter[str] = Counter()  # repository -> texts that are taken out
        lines: Counter[str] = Counter()
        files: set[str] = set()
        size = number = 0
        for path, data in contents(folders):
            repository = path.partition("/")[0]
            size, number = size + len(data), number + 1
            lines[repository] += data.count(b"\n") + 1
            for span in scanning.spans(data)[0]:
                rules[span.rule] += 1
                texts[repository] += 1
                files.add(path)
                if show:
                    start = data.rfind(b"\n", 0, span.start) + 1
                    before = data[max(start, span.start - 60) : span.start].decode(errors="replace")
                    text = data[span.start : span.end].decode(errors="replace")
                    print(f"{name}\t{span.rule}\t{path}\t{before.strip()}>{text[:14]}…{text[-4:]!r} ({len(text)})")
        for repository, count in lines.items():
            rate = texts[repository] / count * 20_000
            print(f"{name}: {repository}: {texts[repository]} in {count:,} lines, {rate:.2f} of 20,000")
        rate = rules.total() / max(1, lines.total()) * 20_000
        print(f"{name}: {rate:.2f} of 20,000 lines in all ({lines.total():,} lines)")
        print(f"{name}: {sum(rules.values())} in {len(files)} of {number:,} files, {size / 1e6:.1f} MB: {dict(rules)}")


def cost(folders: list[Path]) -> None:
    """Megabytes a second of one processor, starting included and apart."""
    data = [data for _, data in contents(folders)]
    size = sum(map(len, data))
    for name, scanning in scannings().items():
        start = time.process_time()
        scanning.spans(b"x")
        begun = time.process_time()
        for one in data:
            scanning.spans(one)
        done = time.process_time()
        print(f"{name}: start {begun - start:.2f} s, {size / 1e6:.1f} MB at {size / 1e6 / (done - begun):.1f} MB/s")


def main() -> None:
    """See the module docstring."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("recall", "alarms", "cost"))
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--each", type=int, default=200)
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    if options.what == "recall":
        recall(options.folders, options.each)
    elif options.what == "alarms":
        alarms(options.folders, show=options.show)
    else:
        cost(options.folders)


if __name__ == "__main__":
    main()
