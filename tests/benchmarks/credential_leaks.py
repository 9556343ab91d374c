"""How many of the credentials that are planted leave: out of texts, and out of whole programs.

    python tests/benchmarks/credential_leaks.py texts [--held-out] [--each 2] [--show]

takes texts, each kind of credential in each shape, and prints the share that is gone, by kind and by shape: our own
rules alone, and with the scanner of the extra `secrets` where that is installed. `--held-out` prints the figures of
kinds and shapes that whoever writes the rules does not read, `--show` their rows.

    python tests/benchmarks/credential_leaks.py programs [--scanner full] [--held-out] [--show]

plants each kind in each place of a repository and of inputs, runs the command line, the MCP server and the inspector,
and searches all that they print or write, the caches too, for pieces of each credential.

Credentials are drawn at run time and belong to nobody. One is gone if no 12 characters of it in one piece are left.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1]))

import mcp
from credentials import scannings
from secateur.redaction import Redactor
from support import held_out_credentials as held_out
from support import planted
from support.agent_servers import process
from support.leaks import CALLS, Plants, ask_server, input_names, inspect, left, repository, run_calls, run_typed
from support.planted import Kind, Place, Shape

AROUND = 'def start(config):\n    """Starts the service."""\n', "\n\nreturn config\n"
"""What stands before and behind each text."""

INSPECTED = 20
"""Queries that are typed into the inspector: each takes a second."""


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


def programs(kinds: Sequence[Kind], places: Sequence[Place], *, scanner: str, folder: Path) -> Plants:
    """Plants every kind in every place of a repository, runs calls, the server and the inspector, and looks at all that
    comes out or is written."""
    environ = {"SECATEUR_CACHE_DIR": str(folder / "cache"), "SECATEUR_CONFIG_DIR": str(folder / "config")}
    os.environ.update(environ)
    (folder / "config").mkdir()
    (folder / "config" / "secateur.toml").write_text(f'[redaction]\nscanner = "{scanner}"\n')
    plants = Plants(20)
    made = repository(folder, kinds, places, plants)
    os.chdir(made.out)
    begun = time.process_time()
    ran = run_calls(made, plants, CALLS, input_names(places)) + run_typed(made, plants)

    async def ask_and_inspect() -> int:
        async with mcp.Client(process(made.root)) as client:
            asked = await ask_server(client, made, plants)
        queries = [item for place, item in made.typed if place.name == "saved-query"]
        await inspect(made, plants, queries[:INSPECTED], os.environ)
        return asked

    asked = asyncio.run(ask_and_inspect())
    for name, written in (("cache", folder / "cache"), ("config", folder / "config"), ("out", made.out)):
        plants.look_in(written, name)
    print(f"\n{scanner}: {ran} calls, {asked} of the server, {time.process_time() - begun:.0f} s of the processor")
    return plants


def print_programs(plants: Plants, *, rows: bool) -> None:
    """Which share stayed inside, by place and by kind, and through which channels the others left."""
    left = {(kind, place) for kind, place, _ in plants.leaks}
    print(f"gone: {1 - len(left) / len(plants.planted):.3f} of {len(plants.planted):,}")
    by_channel = Counter(channel for _, _, channel in plants.leaks)
    if not rows:
        return
    for index, by in ((1, "place"), (0, "kind")):
        print(f"\n| {by} | planted | gone | left through |\n|---|---|---|---|")
        for name, count in sorted(Counter(pair[index] for pair in plants.planted).items()):
            lost = sum(pair[index] == name for pair in left)
            channels = sorted({leak[2] for leak in plants.leaks if leak[index] == name}) if by == "place" else []
            print(f"| {name} | {count} | {1 - lost / count:.3f} | {', '.join(channels)} |")
    print("\n| channel | credentials |\n|---|---|")
    for channel, count in sorted(by_channel.items()):
        print(f"| {channel} | {count} |")


def main() -> None:
    """See the module docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("texts", "programs"))
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--each", type=int, default=2)
    parser.add_argument("--show", action="store_true", help="the rows of what is held out too")
    parser.add_argument("--scanner", choices=("rules", "full"), default="rules", help="of programs")
    options = parser.parse_args()
    rows = options.show or not options.held_out
    if options.what == "programs":
        module = held_out if options.held_out else planted
        sets_of_places = {"": (module.KINDS, module.PLACES)}
        if options.held_out:
            sets_of_places = {
                "held-out kinds": (held_out.KINDS, planted.PLACES),
                "held-out places": (planted.KINDS, held_out.PLACES),
            }
        for part, (kinds, places) in sets_of_places.items():
            with tempfile.TemporaryDirectory() as folder:
                print(part)
                print_programs(programs(kinds, places, scanner=options.scanner, folder=Path(folder)), rows=rows)
                os.chdir("/")
        return
    sets: dict[str, tuple[Sequence[Kind], Sequence[Shape]]] = {"open": (planted.KINDS, planted.SHAPES)}
    if options.held_out:
        sets = {
            "held-out kinds": (held_out.KINDS, planted.SHAPES),
            "held-out shapes": (planted.KINDS, held_out.SHAPES),
            "both held out": (held_out.KINDS, held_out.SHAPES),
        }
    print_texts(texts(sets, options.each), rows=rows)


if __name__ == "__main__":
    main()
