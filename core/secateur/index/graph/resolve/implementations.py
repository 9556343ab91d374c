"""Joins Rust's implementation blocks with their type if it is declared in another file. A block in the file of its type
is a part of the type already."""

from __future__ import annotations

import re

from secateur.index.graph.resolve.symbols import Symbols
from secateur.languages.rust.imports import crate_of
from secateur.languages.syntax.collector import IMPLEMENTED
from secateur.model import FragmentKind

_RELATIVE = frozenset({"crate", "self", "super"})


def join_implementations(symbols: Symbols) -> None:
    """Makes each block whose type is declared in another file a part of that type."""
    blocks: dict[int, str] = {}  # fragment -> path of its type
    for file, facts in enumerate(symbols.facts):
        for annotation in facts.annotations:
            if annotation.name == IMPLEMENTED and 0 <= annotation.fragment < len(facts.fragments):
                blocks[symbols.offset[file] + annotation.fragment] = annotation.type
    families = {symbols.family[symbols.file_of[gid]] for gid in blocks}
    declared: dict[str, list[int]] = {}  # name -> types, the first part of each
    owned: set[int] = set()
    for name, known in (item for family in sorted(families) for item in symbols.functions.get(family, {}).items()):
        for gid in known:
            if symbols.fragments[gid].kind is FragmentKind.CLASS:
                declared.setdefault(name, []).append(gid)
    for gid, fragment in enumerate(symbols.fragments):
        if fragment.kind is FragmentKind.CLASS and gid not in blocks and symbols.class_of[gid] >= 0:
            owned.add(symbols.class_of[gid])
    for gid, path in blocks.items():
        if symbols.class_of[gid] == gid and gid not in owned:
            own = symbols.modules[symbols.file_of[gid]].names
            own.pop(symbols.fragments[gid].qualname, None)  # a block declares no name
            candidates = [
                known for known in declared.get(path.rpartition(".")[2], ()) if known in owned and known != gid
            ]
            if (whole := _choose_type(symbols, gid, path, candidates)) >= 0:
                symbols.join(gid, whole)


def _choose_type(symbols: Symbols, gid: int, path: str, candidates: list[int]) -> int:
    """Returns the type that a block means, -1 if that is not clear: the one in the module that its path or import
    names, else the only one of its crate, else, for an imported name, the only one of the repository."""
    file = symbols.file_of[gid]
    statement = symbols.modules[file].imports.get(path.partition(".")[0])
    written = path.split(".")[:-1] or (re.split(r"::|\.", statement[1].module) if statement is not None else [])
    module = next((segment for segment in reversed(written) if segment not in _RELATIVE), "")
    here = crate_of(symbols.paths[file])
    near = [known for known in candidates if crate_of(symbols.paths[symbols.file_of[known]]) == here]
    for group in (near, candidates if written else []):
        named = [
            known for known in group if module and module in re.split(r"[/.]", symbols.paths[symbols.file_of[known]])
        ]
        for chosen in (named, group):
            if len(chosen) == 1:
                return chosen[0]
    return -1
