"""How many of the credentials that are planted leave: out of texts, and out of whole programs.

    python tests/benchmarks/credential_leaks.py texts [--held-out] [--each 2] [--show]

takes texts, each kind of credential in each shape, and prints the share that is gone, by kind and by shape: our own rules
alone, and with the scanner of the extra `secrets` where that is installed. `--held-out` prints the figures of kinds and
shapes that whoever writes the rules does not read, `--show` their rows.

Credentials are drawn at run time and belong to nobody. One is gone if no 12 characters of it in one piece are left.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1]))

from credentials import scannings
from secateur.redaction import Redactor
from support import held_out_credentials as held_out
from support import planted
from support.planted import Kind, Shape, pieces

AROUND = 'def start(config):\n    """Starts the service."""\n', "\n\nreturn config\n"
"""What stands before and behind each text."""


def left(out: str, secrets: Iterable[str]) -> bool:
    """Whether a piece of a credential is left in a text."""
    return any(piece in out for secret in secrets for piece in pieces(secret))


Counts = dict[tuple[str, str, str], Counter[str]]  # (set, "kind" or "shape", name) -> scanning -> gone; "": planted


def pairs(kinds: Sequence[Kind], shapes: Sequence[Shape]) -> Iterator[tuple[Kind, Shape]]:
    """The kinds with the shapes that can hold them."""
    return ((kind, shape) for kind in kinds for shape in shapes if kind.form in shape.forms)


def texts(sets: Mapping[str, tuple[Sequence[Kind], Sequence[Shape]]], each: int) -> Counts:
    """By set, kind and shape: how many were planted, and how many each scanning took out."""
    random, ways, counts = Random(20), scannings(), Counts()
    for part, (kinds, shapes) in sets.items():
        for kind, shape in pairs(kinds, shapes):
            for _ in range(each):
                credential = kind.make(random)
                if not shape.fits(credential):
                    continue
                text, secrets = shape.written(credential, kind.text(credential))
                whole = text if shape.path.endswith(".json") else text.join(AROUND)
                gone = {way: not left(Redactor(one).text(whole, shape.path), secrets) for way, one in ways.items()}
                for key in (("all", ""), ("group", str(shape.group)), ("kind", kind.name), ("shape", shape.name)):
                    count = counts.setdefault((part, *key), Counter())
                    count[""] += 1
                    count.update(way for way, is_gone in gone.items() if is_gone)
    return counts


def print_texts(counts: Counts, *, rows: bool) -> None:
    """The shares as tables."""
    ways = list(scannings())
    print("| set | by | | planted | " + " | ".join(ways) + " |\n|---|---|---|---|" + "---|" * len(ways))
    order = ("all", "group", "kind", "shape")
    for (part, by, name), count in sorted(counts.items(), key=lambda row: order.index(row[0][1])):
        if rows or by in ("all", "group"):
            shares = " | ".join(f"{count[way] / count['']:.3f}" for way in ways)
            print(f"| {part} | {by} | {name} | {count['']} | {shares} |")


def main() -> None:
    """See the module docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("texts",))
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--each", type=int, default=2)
    parser.add_argument("--show", action="store_true", help="the rows of what is held out too")
    options = parser.parse_args()
    sets: dict[str, tuple[Sequence[Kind], Sequence[Shape]]] = {"open": (planted.KINDS, planted.SHAPES)}
    if options.held_out:
        sets = {
            "held-out kinds": (held_out.KINDS, planted.SHAPES),
            "held-out shapes": (planted.KINDS, held_out.SHAPES),
            "both held out": (held_out.KINDS, held_out.SHAPES),
        }
    print_texts(texts(sets, options.each), rows=options.show or not options.held_out)


if __name__ == "__main__":
    main()
