"""How long a key of Find takes, and a filter.

    PYTHONPATH=core:tui python tests/benchmarks/finding.py [--candidates 100000]

Candidates are made up, with a fixed seed. Prints Markdown, in milliseconds of processor time, and the load of the
machine beside it.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from secateur_tui.state.finding import Haystack
from secateur_tui.state.list_view import ItemColumns, ListChoice, folder_of, make_view

SEED = 5
SOUGHT = ("s", "se", "sess", "session cook", "xqzj", ".py", "a b c d", "e" * 200)
LETTERS = "aeioubcdfgklmnprstz"


def made_up(count: int) -> ItemColumns:
    rng = np.random.default_rng(SEED)
    words = ["".join(rng.choice(list(LETTERS), rng.integers(3, 10))) for _ in range(5_000)]
    drawn = rng.integers(0, len(words), (count, 6)).tolist()
    paths = ["/".join(words[word] for word in row[:3]) + ".py" for row in drawn]
    names = [f"{words[row[3]].title()}.{words[row[4]]}_{words[row[5]]}" for row in drawn]
    return ItemColumns(
        ids=[f"{path}::{name}" for path, name in zip(paths, names, strict=True)],
        names=names,
        paths=paths,
        facets={"folder": lambda: [folder_of(path) for path in paths]},
        figures={"priority": rng.random(count)},
        order=rng.permutation(count),
        state=np.zeros(count, dtype=np.int8),
        changed=np.zeros(count, dtype=np.bool_),
    )


def milliseconds(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    found = call()
    return (time.process_time() - start) * 1000, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--candidates", type=int, default=100_000)
    options = parser.parse_args()
    columns = made_up(options.candidates)
    print(f"load {os.getloadavg()[0]:.1f}, {options.candidates:,} candidates\n\n| what | ms |\n|---|---|")
    taken, haystack = milliseconds(lambda: Haystack(columns.ids, columns.names))
    print(f"| made once | {taken:.0f} |")
    for sought in SOUGHT:
        taken, found = milliseconds(lambda sought=sought: haystack.find(sought, columns.place))
        print(f"| `{sought[:14]}`, {found.count:,} found | {taken:.1f} |")
    for choice in (ListChoice(by="priority"), ListChoice(by="name"), ListChoice((("folder", "x/"),))):
        taken, _ = milliseconds(lambda choice=choice: make_view(columns, choice))
        print(f"| list {choice.by} {choice.filters} | {taken:.1f} |")


if __name__ == "__main__":
    main()
