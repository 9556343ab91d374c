"""From the facts of files to edges between fragments: who calls, imports and inherits whom.

Names are resolved by scopes, class hierarchies, imports and declared types, in that order, never by "any function of that name":
what only a name suggests becomes an edge below `TRUSTED` or none. Time is linear in fragments plus call sites.

    edges = resolve([("orders/cart.py", facts), ...])
    edges.total.resolved, edges.total.external, edges.total.unresolved
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from secateur.index.resolve.calls import CallResolver, Fate
from secateur.index.resolve.edges import CONFIDENCE, COUNT_CAP, TRUSTED, CallCounts, EdgeBuilder, EdgeKind, Edges, How
from secateur.index.resolve.names import Names
from secateur.index.resolve.symbols import EXTERNAL, Gids, Module, Symbols
from secateur.model import FileFacts

__all__ = ["CONFIDENCE", "COUNT_CAP", "TRUSTED", "CallCounts", "EdgeBuilder", "EdgeKind", "Edges", "How", "resolve"]


def resolve(files: Sequence[tuple[str, FileFacts]]) -> Edges:
    """Edges between the fragments of a whole repository.

    `files` are (path with `/`, facts); fragments are numbered in that order, then by position in their file. The result is a
    pure function of `files`, their order included.
    """
    symbols = Symbols(files)
    names = Names(symbols)
    builder = EdgeBuilder()
    _link_bases(names, builder)
    _link_imports(names, builder)
    return builder.build(_link_calls(names, builder))


def _link_bases(names: Names, builder: EdgeBuilder) -> None:
    for gid in names.symbols.bases:
        number = names.symbols.file_of[gid]
        for written, target in names.base_targets(gid):
            if not isinstance(target, tuple):
                continue
            for base in target:
                same_file = names.symbols.file_of[base] == number
                how = How.SAME_SCOPE if same_file else How.IMPORT if written.partition(".")[0] in names.symbols.modules[number].imports else How.PACKAGE
                builder.add(gid, base, EdgeKind.INHERITS, CONFIDENCE[how], how)


def _link_imports(names: Names, builder: EdgeBuilder) -> None:
    for number, facts in enumerate(names.symbols.facts):
        source = names.symbols.region_of(number)
        for statement in facts.imports:
            target = names.imported(number, statement)
            if target is EXTERNAL or target is None:
                continue
            found: Gids = ()
            if not isinstance(target, Module):
                found = target
            elif len(target.files) == 1:  # a package of many files is not one place: only a file has a region to point at
                found = (names.symbols.region_of(target.files[0]),)
            for gid in found:
                if gid >= 0:
                    builder.add(source, gid, EdgeKind.IMPORTS, CONFIDENCE[How.IMPORT], How.IMPORT)


def _link_calls(names: Names, builder: EdgeBuilder) -> dict[str, CallCounts]:
    resolver = CallResolver(names)
    counts: dict[str, CallCounts] = {}
    for number, facts in enumerate(names.symbols.facts):
        first, fates = names.symbols.offset[number], dict.fromkeys(Fate, 0)
        sites = Counter((call.fragment, call.receiver, call.name) for call in facts.calls if 0 <= call.fragment < len(facts.fragments))
        for (position, receiver, name), repeated in sites.items():
            outcome = resolver.resolve(number, first + position, receiver, name)
            fates[outcome.fate] += repeated
            for target, confidence, how in outcome.targets:
                builder.add(first + position, target, EdgeKind.CALLS, confidence, how, repeated)
        if facts.calls:
            here = CallCounts(sum(fates.values()), fates[Fate.RESOLVED], fates[Fate.GUESSED], fates[Fate.EXTERNAL])
            counts[facts.language] = counts.get(facts.language, CallCounts()) + here
    return counts
