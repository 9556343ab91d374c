#!/usr/bin/env python3
"""Counts the modules that one thing passes on its way from the command line to the output, and the names it has there.

    python tools/passes.py query            # also: budget, message, hunk, knob
    python tools/passes.py query --names    # with the module and name of every function that is handed it

A module counts where a function of it is called with the thing as an argument: the text of a query, the number of a
budget, a text of a message or a hunk; or with an object made of it, such as the parsed query or the message. What only
holds it among much else, such as the settings or a list of messages, does not count.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
CORE = str(ROOT / "core")

QUERY, BUDGET, WORDS = "where is the refund total rounded, once or twice", 1237, "the refund was rounded twice"


def _query(_folder: Path) -> tuple[list[str], Callable[[Any], bool]]:
    return ["search", QUERY, "sample:orders", "--no-cache"], lambda value: value == QUERY


def _budget(_folder: Path) -> tuple[list[str], Callable[[Any], bool]]:
    words = ["search", QUERY, "sample:orders", "--no-cache", "--budget", str(BUDGET)]
    return words, lambda value: value in (BUDGET, str(BUDGET)) and not isinstance(value, bool)


def _knob(_folder: Path) -> tuple[list[str], Callable[[Any], bool]]:
    words = ["search", QUERY, "sample:orders", "--no-cache", "--weights", "0.4173,0.3,0.3"]
    return words, lambda value: value in (0.4173, "0.4173", "0.4173,0.3,0.3")


def _message(folder: Path) -> tuple[list[str], Callable[[Any], bool]]:
    messages = [{"role": "user", "content": WORDS}, {"role": "assistant", "content": "It is rounded once."}]
    (folder / "talk.json").write_text(json.dumps(messages), "utf-8")
    return ["conversation", str(folder / "talk.json"), "--safe-zone", "100"], lambda value: value == WORDS


def _hunk(folder: Path) -> tuple[list[str], Callable[[Any], bool]]:
    line = f"+{WORDS}"
    (folder / "a.diff").write_text(
        f"diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -0,0 +1 @@\n{line}\n", "utf-8"
    )
    return [
        "chunk",
        "--diff",
        str(folder / "a.diff"),
    ], lambda value: value in (line, f"{line}\n", f"@@ -0,0 +1 @@\n{line}\n")


MOST_FIELDS = 24
"""Fields of an object that is one thing; settings and environments have their tables, or more."""

ENTRIES: Mapping[str, Callable[[Path], tuple[list[str], Callable[[Any], bool]]]] = {
    "query": _query,
    "budget": _budget,
    "message": _message,
    "hunk": _hunk,
    "knob": _knob,
}


def _made_of(value: Any) -> Iterator[Any]:
    """The fields of a small object of ours that are texts or numbers."""
    names = getattr(type(value), "__struct_fields__", ()) or getattr(type(value), "__dataclass_fields__", ())
    if 0 < len(names) <= MOST_FIELDS:
        yield from (getattr(value, name, None) for name in names)


def passes(entry: str) -> dict[str, set[str]]:
    """By module: the names that the thing has as an argument of its functions."""
    from secateur.cli.main import main

    found: dict[str, set[str]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        words, is_thing = ENTRIES[entry](Path(temporary))
        main(words)  # indexed, imported

        def look(frame: FrameType, event: str, _argument: object) -> None:
            code = frame.f_code
            if event != "call" or not code.co_filename.startswith(CORE) or code.co_name.startswith("<"):
                return
            taken = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            for name in taken:
                value = frame.f_locals.get(name)
                if any(isinstance(one, str | int | float) and is_thing(one) for one in (value, *_made_of(value))):
                    module = code.co_filename.removeprefix(CORE).strip("/")
                    found.setdefault(module, set()).add(f"{code.co_name}.{name}")

        sys.setprofile(look)
        try:
            main(words)
        finally:
            sys.setprofile(None)
    return found


def run() -> int:
    """See the module docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("entry", choices=ENTRIES)
    parser.add_argument("--names", action="store_true")
    options = parser.parse_args()
    found = passes(options.entry)
    names = {name.partition(".")[2] for told in found.values() for name in told}
    if options.names:
        for module in sorted(found):
            print(f"{module}: {', '.join(sorted(found[module]))}", file=sys.stderr)
    print(
        f"{options.entry}: {len(found)} modules, {sum(map(len, found.values()))} functions, {len(names)} names",
        file=sys.stderr,
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(run())
