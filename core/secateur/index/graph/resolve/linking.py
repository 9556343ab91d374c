"""From the facts of files to edges between fragments: who calls, imports and inherits whom.

Names are resolved by scopes, class hierarchies, imports and declared types, in that order, never by "any function of
that name": what only a name suggests becomes an edge below `TRUSTED` or none. Time is linear in fragments plus call
sites.

    edges = resolve([("orders/cart.py", facts), ...])
    edges.total.resolved, edges.total.external, edges.total.unresolved
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from secateur.index.graph.resolve.calls import CallResolver, CallStatus
from secateur.index.graph.resolve.edges import CONFIDENCE, CallCounts, EdgeBuilder, EdgeKind, Edges, How
from secateur.index.graph.resolve.names import Names, symbols_of
from secateur.languages.syntax.import_targets import EXTERNAL, Gids, Module
from secateur.model import Call, FileFacts


def resolve(files: Sequence[tuple[str, FileFacts]]) -> Edges:
    """Edges between the fragments of a whole repository.

    `files` are (path with `/`, facts); fragments are numbered in that order, then by position in their file. The result
    is a pure function of `files`, their order included.
    """
    edges, counts = linked(files)
    calls: dict[str, CallCounts] = {}
    for number, here in counts.items():
        language = files[number][1].language
        calls[language] = calls.get(language, CallCounts()) + here
    return replace(edges, calls={language: calls[language] for language in sorted(calls)})


def linked(files: Sequence[tuple[str, FileFacts]]) -> tuple[Edges, dict[int, CallCounts]]:
    """The edges of a whole repository, and per file that has calls what became of them."""
    return link(Names(symbols_of(files)), {number: facts.calls for number, (_, facts) in enumerate(files)})


def link(names: Names, calls: Mapping[int, Sequence[Call]]) -> tuple[Edges, dict[int, CallCounts]]:
    """The edges whose source lies in one of some files, and what became of their calls.

    Args:
        names: of the whole repository.
        calls: of each of these files, by its number.
    """
    builder = EdgeBuilder()
    resolver = CallResolver(names)
    counts: dict[int, CallCounts] = {}
    failed = set(names.symbols.failed)
    for number, sites in calls.items():
        try:
            _link_bases(names, number, builder)
            _link_imports(names, number, builder)
            if sites:
                counts[number] = _link_calls(resolver, number, sites, builder)
        except Exception:  # a fault of the resolver over one file costs some of the edges of that file
            failed.add(number)
    return replace(builder.build({}), failed=tuple(sorted(failed))), counts


def _link_bases(names: Names, number: int, builder: EdgeBuilder) -> None:
    symbols = names.symbols
    for gid in range(symbols.offset[number], symbols.offset[number + 1]):
        if gid not in symbols.bases:
            continue
        for written, target in names.base_targets(gid):
            if not isinstance(target, tuple):
                continue
            for base in target:
                same_file = symbols.file_of[base] == number
                how = (
                    How.SAME_SCOPE
                    if same_file
                    else How.IMPORT
                    if written.partition(".")[0] in symbols.modules[number].imports
                    else How.PACKAGE
                )
                builder.add(gid, base, EdgeKind.INHERITS, CONFIDENCE[how], how)


def _link_imports(names: Names, number: int, builder: EdgeBuilder) -> None:
    source = names.symbols.region_of(number)
    for statement in names.symbols.facts[number].imports:
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


def _link_calls(resolver: CallResolver, number: int, calls: Sequence[Call], builder: EdgeBuilder) -> CallCounts:
    symbols = resolver.symbols
    first, last = symbols.offset[number], symbols.offset[number + 1]
    statuses = dict.fromkeys(CallStatus, 0)
    sites = Counter(
        (first + call.fragment, call.receiver, call.name, call.arguments)
        for call in calls
        if 0 <= call.fragment < last - first
    )
    for (gid, receiver, name, arguments), repeated in sites.items():
        outcome = resolver.resolve(number, gid, receiver, name, arguments)
        statuses[outcome.status] += repeated
        for target, confidence, how in outcome.targets:
            builder.add(gid, target, EdgeKind.CALLS, confidence, how, repeated)
    return CallCounts(
        sum(statuses.values()),
        statuses[CallStatus.RESOLVED],
        statuses[CallStatus.GUESSED],
        statuses[CallStatus.EXTERNAL],
    )
