"""Explains why a symbol is not among the candidates of a search, and what makes it one, proven by searching again.

missing = explain_missing(engine, selection, settings, "Cart.total")
missing.shape.because, missing.shape.levers[0].typed    # "beyond the depth: …", "--depth 3"
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from secateur.errors import UsageError
from secateur.kinds.command_line import quote_word
from secateur.kinds.protocols import ArrivalShape, Missing, MissingShape
from secateur.kinds.search.knobs import DEPTH, TOP_K
from secateur.model import Pool, Selection, State
from secateur.render.page import count_noun
from secateur.render.text import why
from secateur.retrieval.search import MIN_RELEVANCE, POOL_CAP
from secateur.selection.select import fit_to_budget
from secateur.settings import PROFILES, Settings, installed_keys, lookup, with_profile, with_values

if TYPE_CHECKING:  # what most searches never use is imported where it is
    from secateur.engine import Engine

_WORDS = re.compile(r"[A-Z]?[a-z0-9]{3,}|[A-Z]{3,}")  # the words of a name
_REPEATED = 80  # a longer query is not repeated before the word that a lever adds to it


_Arrival = tuple[ArrivalShape, tuple[str, Settings]]


def explain_missing(engine: Engine, selection: Selection, settings: Settings, name: str) -> Missing:
    """Finds the stage that lost a symbol, and what makes it a candidate, in some twenty searches.

    Args:
        selection: the answer that lacks the symbol, made under `settings`.
        name: an id, a name or the end of a name that only one symbol has, or the path of a file.

    Raises UsageError: no symbol and no file that was left out has this name, or several symbols have it.
    """
    for path, reason in engine.status().skipped_paths:
        if name == path or path.endswith("/" + name) or name.startswith(path + "::"):
            because = f"its file is not indexed: {reason.replace('_', ' ')}"
            return Missing(MissingShape(path, "not_indexed", because, []))
    try:
        symbol = engine.symbol(name).id
    except UsageError as error:
        file, root = name.partition("::")[0], engine.root
        inside = root is not None and file not in engine.code()[0].digests and ".." not in Path(file).parts
        if root is not None and inside and not Path(file).is_absolute() and (root / file).is_file():
            because = "its file is not listed: ignore rules of the repository leave it out"
            return Missing(MissingShape(file, "ignored", because, []))
        raise UsageError(f"nothing here is called {name}", hint=error.hint) from None
    query, rag, form = selection.pool.query, settings.graph_rag, selection.pool.format
    kept = {selection.pool.symbol_id[row] for row in selection.kept_rows}

    def search(typed: str, changes: Mapping[str, Any], asked: str = query) -> tuple[Pool, _Arrival | None]:
        changed = with_values(settings, changes)
        pool = engine.retrieve(asked, changed, format=form, use_cache=False, refresh=False)
        if (row := pool.row_of.get(symbol)) is None:
            return pool, None
        then = fit_to_budget(engine.select(pool, changed), changed, engine.pack_tokens)
        out, decision = {pool.symbol_id[row] for row in then.kept_rows}, then.decision(row)
        sides = sorted(kept - out), sorted(out - kept - {symbol})
        return pool, (ArrivalShape(typed, decision.state.label, why(then, decision), *sides), (asked, changed))

    if selection.pool.partial:
        shape, change = search("without --partial", {})[1] or (None, None)
        because = "only a part of the repository was read (--partial)"
        return Missing(MissingShape(symbol, "not_read", because, [shape] if shape else []), [change] if change else [])
    pool, pinned = search(f"--pin {quote_word(symbol)}", {"pins": (*settings.pins, symbol)})
    found, deeper, further = [pinned], None, None
    for steps in range(rag.max_depth + 1, int(DEPTH.high) + 1 if rag.enabled else 0):
        if (deeper := search(f"--depth {steps}", {DEPTH.key: steps})[1]) is not None:
            break
    low, high = rag.top_k, int(TOP_K.high)
    while low < high:  # the first search is with the most anchors, then the distance is halved
        middle = (low + high) // 2 if further else high
        if (nearer := search(f"--top-k {middle}", {TOP_K.key: middle})[1]) is not None:
            further, high = nearer, middle
        elif middle == high:
            break
        else:
            low = middle + 1
    own = with_profile(settings, settings.profile)
    typed = {key: lookup(settings, key) for key in installed_keys() if lookup(settings, key) != lookup(own, key)}
    for profile in (*PROFILES, *settings.profiles):
        if profile != settings.profile:
            found.append(search(f"--profile {profile}", typed | {"profile": profile})[1])
    path, _, called = symbol.partition("::")
    last = called.rpartition(".")[2]
    parts = sorted(_WORDS.findall(last), key=len, reverse=True)
    for word in dict.fromkeys(filter(None, (*parts, last, called, path))):
        longer = f"{query} {word}"
        typed_query = quote_word(longer if len(query) <= _REPEATED else f"… {word}")
        if (by_word := search(typed_query, {}, longer)[1]) is not None:
            found.append(by_word)
            break
    if rag.only:
        found.append(search("--everywhere", {"graph_rag.only": ()})[1])
    arrivals = [arrival for arrival in (deeper, further, *found) if arrival is not None]
    arrivals.sort(key=lambda arrival: (arrival[0].state != State.KEPT.label, len(arrival[0].loses)))
    score = float(pool.relevance[pool.row_of[symbol]])
    least = float(pool.relevance[pool.anchor].min(initial=1.0))
    calls = f"no calls lead to it from an anchor within {count_noun(rag.max_depth, 'step')}"
    if not pool.anchor.any():
        stage, because = "no_match", "nothing here matches the query"
    elif deeper is not None:
        stage, because = (
            "beyond_depth",
            (f"beyond the depth: calls lead to it in {steps} steps from an anchor, and {rag.max_depth} are followed"),
        )
    elif score <= MIN_RELEVANCE:
        stage, because = "no_relevance", f"no relevance: it has {score:.3f}, and {calls}"
    elif settings.relevance.pool == "all":
        stage, because = "cap", f"{POOL_CAP:,} others have more relevance than its {score:.3f}, and {calls}"
    else:
        stage = "beyond_top_k"
        because = f"beyond the top {rag.top_k}: its relevance is {score:.3f}, the last anchor's {least:.3f}; {calls}"
    levers = [lever for lever, _ in arrivals]
    return Missing(MissingShape(symbol, stage, because, levers), [change for _, change in arrivals])
