"""Measures how many of the classes and functions that Universal Ctags finds in C and C++ files are symbols here.

    python tests/benchmarks/ctags_recall.py CHECKOUT [--missing]

Both read the same files: those that are C or C++ by their name, tests included. A symbol is a fragment with the name
that ctags gives, around the line that ctags gives.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

from secateur.languages.syntax.fragments import language_of, parse_file
from secateur.model import Fragment, FragmentKind

_KINDS = ("class", "struct", "union", "function")


def main(root: Path, *, show_missing: bool) -> None:
    """Prints the recall by kind, and with `show_missing` every definition that is not a symbol."""
    files = [path for path in sorted(root.rglob("*")) if path.is_file() and language_of(path.name) in ("c", "cpp")]
    asked, met = Counter[str](), Counter[str]()
    for path in files:
        fragments = parse_file(path.name, path.read_bytes()).fragments
        for tag in _tags(path):
            name = tag["name"].split("<")[0].replace(" ", "")
            line, kind = tag["line"], tag["kind"]
            asked[kind] += 1
            if any(_is_symbol(part, name, line) for part in fragments):
                met[kind] += 1
            elif show_missing:
                print(f"{path.relative_to(root)}:{line} {kind} {tag['name']}")
    for kind in _KINDS:
        print(f"{kind:10} {met[kind]:6} of {asked[kind]:6}")
    print(f"{'all':10} {met.total():6} of {asked.total():6}  {met.total() / max(1, asked.total()):.3f}")


def _is_symbol(part: Fragment, name: str, line: int) -> bool:
    """A function that ctags calls by the macro before it, `TEST`, has the name that the macro's arguments give."""
    if part.name and name.isupper() and part.kind in (FragmentKind.FUNCTION, FragmentKind.METHOD):
        return part.sig_start <= line <= part.sig_end
    return part.name.replace(" ", "").split("<")[0] == name and part.line_start <= line <= part.line_end


def _tags(path: Path) -> list[dict[str, object]]:
    command = ["ctags", "--output-format=json", "--language-force=C++", "--c++-kinds=csuf", "--fields=+n", "-f", "-"]
    output = subprocess.run([*command, str(path)], capture_output=True, text=True, errors="replace").stdout
    tags = map(json.loads, output.splitlines())
    return [tag for tag in tags if tag.get("kind") in _KINDS and not tag["name"].startswith("__anon")]


if __name__ == "__main__":
    main(Path(sys.argv[1]), show_missing="--missing" in sys.argv)
