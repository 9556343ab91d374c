"""Makes the edges between fragments (calls, imports, inheritance) from the facts of files.

Names are resolved by scopes, class hierarchies, imports and declared types, in that order. "Any function of that name"
is never a rule: an edge that only a name suggests is below `TRUSTED` or left out. The time is linear in fragments plus
call sites.

    edges, counts = link_repository([("orders/cart.py", facts), ...])
    counts[0].resolved, counts[0].external
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from secateur.index.graph.resolve.calls import CallResolver, CallStatus
from secateur.index.graph.resolve.edges import CONFIDENCE, CallCounts, EdgeBuilder, EdgeKind, Edges, How
from secateur.index.graph.resolve.members import Members
from secateur.index.graph.resolve.names import Names, symbols_of
from secateur.languages.syntax.import_targets import EXTERNAL, Gids, Module
from secateur.model import Call, FileFacts


def link_repository(
    files: Sequence[tuple[str, FileFacts]], members: Members | None = None
) -> tuple[Edges, dict[int, CallCounts]]:
    """Finds the edges of a whole repository, and counts the call sites of each file with calls by status.

    `files` are (path with `/`, facts). Fragments are numbered in the order of the files, then by their position. The
    result depends on `files` and their order alone. `members`: those of a workspace; paths then begin with their names.
    """
    names = Names(symbols_of(files, of_members=members is not None), members)
    return link(names, {file: facts.calls for file, (_, facts) in enumerate(files)})


def link(names: Names, calls: Mapping[int, Sequence[Call]]) -> tuple[Edges, dict[int, CallCounts]]:
    """Finds the edges whose source lies in one of some files, and counts the call sites of each file by status.

    Args:
        names: the names of the whole repository.
        calls: the calls of each of these files, by its number.
    """
    builder = EdgeBuilder()
    resolver = CallResolver(names)
    counts: dict[int, CallCounts] = {}
    failed, visibility = set(names.symbols.failed), names.visibility
    for file, sites in calls.items():
        try:
            if visibility is not None:
                names.asker = int(visibility.of_file[file])
            _link_bases(names, file, builder)
            _link_imports(names, file, builder)
            if sites:
                counts[file] = _link_calls(resolver, file, sites, builder)
        except Exception:  # a fault of the resolver over one file costs some of the edges of that file
            failed.add(file)
    edges = builder.build()
    edges = edges if visibility is None else visibility.select(edges)
    return replace(edges, failed=tuple(sorted(failed))), counts


def _link_bases(names: Names, file: int, builder: EdgeBuilder) -> None:
    symbols = names.symbols
    for gid in range(symbols.offset[file], symbols.offset[file + 1]):
        if gid not in symbols.bases:
            continue
        for written, target in names.base_targets(gid):
            if not isinstance(target, tuple):
                continue
            for base in target:
                if symbols.file_of[base] == file:
                    how = How.SAME_SCOPE
                elif written.partition(".")[0] in symbols.modules[file].imports:
                    how = How.IMPORT
                else:
                    how = How.PACKAGE
                builder.add(gid, base, EdgeKind.INHERITS, CONFIDENCE[how], how)


def _link_imports(names: Names, file: int, builder: EdgeBuilder) -> None:
    source = names.symbols.region_of(file)
    for statement in names.symbols.facts[file].imports:
        if (target := names.resolve_import(file, statement)) is EXTERNAL or target is None:
            continue
        imported: Gids = ()
        if not isinstance(target, Module):
            imported = target
        elif len(target.files) == 1:  # an edge needs a fragment: a file has one, a package of many files has not
            imported = (names.symbols.region_of(target.files[0]),)
        for gid in imported:
            if gid >= 0:
                builder.add(source, gid, EdgeKind.IMPORTS, CONFIDENCE[How.IMPORT], How.IMPORT)


def _link_calls(resolver: CallResolver, file: int, calls: Sequence[Call], builder: EdgeBuilder) -> CallCounts:
    symbols = resolver.symbols
    first, last = symbols.offset[file], symbols.offset[file + 1]
    statuses = dict.fromkeys(CallStatus, 0)
    sites = Counter(
        (first + call.fragment, call.receiver, call.name, call.arguments)
        for call in calls
        if 0 <= call.fragment < last - first
    )
    for (gid, receiver, name, arguments), repeated in sites.items():
        outcome = resolver.resolve(file, gid, receiver, name, arguments)
        statuses[outcome.status] += repeated
        for target, confidence, how in outcome.targets:
            builder.add(gid, target, EdgeKind.CALLS, confidence, how, repeated)
    return CallCounts(
        sum(statuses.values()),
        statuses[CallStatus.RESOLVED],
        statuses[CallStatus.GUESSED],
        statuses[CallStatus.EXTERNAL],
    )
