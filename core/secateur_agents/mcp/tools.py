"""The tools, without the protocol: each takes a call and the roots that it may read, and returns an answer.

    toolbox = Toolbox(load, os.environ, time.time)
    toolbox.search(SearchCall("where is the refund rounded?"), roots, unreported)   # a PrunedAnswer

All of them block, may be called from several threads, and are ended by an exception from their `progress`. They write
nothing into what they read, and use no language model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec import structs
from secateur import (
    Engine,
    Environment,
    Kind,
    Loaded,
    Notice,
    Outcome,
    Progress,
    SecateurError,
    UsageError,
    answer_of,
    get_counter,
    get_kind,
    is_workspace,
    prove_turns,
    read_workspace,
    shown,
    suggestion,
    trials_of,
)

from secateur_agents.mcp import shapes
from secateur_agents.mcp.accounts import WARNINGS_ROOM, account_of, item_of, name_of
from secateur_agents.mcp.held import HeldResult, HeldResults, IndexedFolder, OpenEngines
from secateur_agents.mcp.pages import (
    NAMES_TOKENS,
    TEXT_TOKENS,
    as_json,
    cursor_of,
    first_fitting,
    name_pages,
    page_of_cursor,
    split_pages,
)
from secateur_agents.mcp.pruning import inputs_of, kind_of_call, read_context
from secateur_agents.mcp.roots import PlaceInRoot, Roots
from secateur_agents.store import user_store

LoadSettings = Callable[[Path | None, Mapping[str, Any], Any], Loaded]
"""Loads the settings in force for a folder, plus those that a call sets: dotted key -> value; see `Kind.load`. What
they allow is no credential from then on."""

EXPLAIN_SECONDS = 5.0  # most processor time for the proofs of one item
CHUNK_TOKENS = 8_000  # default tokens of a review's chunk, which is a page
_CALLS_ROOM = 400  # most tokens for callers, and for callees, in an answer, times the steps

_TEXT_BESIDE_CALLS = TEXT_TOKENS - 2 * 3 * _CALLS_ROOM


@dataclass(frozen=True)
class Toolbox:
    """See the module docstring.

    Attributes:
        load: loads the settings of a folder, including the user's and those of the command line.
        clock: seconds since 1970, for when files were checked.
    """

    load: LoadSettings
    environ: Mapping[str, str]
    clock: Callable[[], float]
    engines: OpenEngines
    results: HeldResults
    trusts_git_dir: bool = False

    @classmethod
    def of(
        cls,
        load: Callable[..., Loaded],
        environ: Mapping[str, str],
        clock: Callable[[], float],
        *,
        trusts_git_dir: bool = False,
    ) -> Toolbox:
        """Returns an empty toolbox. An agent cannot mend the file of a repository: a faulty one is a warning."""
        return cls(partial(load, lenient=True), environ, clock, OpenEngines(clock), HeldResults(), trusts_git_dir)

    @property
    def cache(self) -> Path:
        """The user's cache folder."""
        return Environment(environ=self.environ).cache

    def close(self) -> None:
        """Closes all results and engines."""
        self.results.close()
        self.engines.close()

    # --- the tools ----------------------------------------------------------------------------------------------------

    def search(self, call: shapes.SearchCall, roots: Roots, progress: Progress) -> shapes.PrunedAnswer:
        """Finds what answers a query in a repository, within a budget."""
        if (page := self._page(call)) is not None:
            return page
        if not call.query.strip():
            raise UsageError("query is empty", hint="ask in the words of the task, or name what you mean")
        place, kind = _searchable(roots, call.path), get_kind("search")
        names = call.detail == "names"
        given = {"budget": 0 if names else call.budget, "profile": call.profile, "pins": tuple(call.pins)}
        flags = {name: value for name, value in given.items() if value}
        loaded, preferred = (self.load(place.path, more | flags, None) for more in ({}, {"profile": "recommended"}))
        if not loaded.origins.keys() & (preferred.origins.keys() - flags.keys()):  # nobody chose what the profile sets
            loaded = preferred
        settings = loaded.settings
        with self._indexed(place.path, loaded, roots) as indexed:
            engine = indexed.engine
            # Clients do not wait for the index of a large repository: the first answer may come from a part of it.
            first = not indexed.looked
            inputs = kind.blank_inputs() | {"query": call.query, "path": place.inside, "partial": first}
            inputs["no_cache"] = True
            environment = Environment(environ=self.environ, progress=progress, found={"engine": engine})
            material = kind.read(inputs, settings, environment)
            outcome = kind.fit(answer_of(kind, material, inputs, settings, None, progress))
            indexed.looked, indexed.whole = self.clock(), not outcome.payload.selection.pool.partial
            return self._kept(call, roots, kind, material, inputs, outcome, (), indexed, names)

    def expand(self, call: shapes.ExpandCall, roots: Roots, progress: Progress) -> shapes.ExpandedSymbol:
        """Returns a symbol's source, its callers and its callees."""
        asked, page = page_of_cursor(call.cursor) if call.cursor else ("", 1)
        place = _searchable(roots, call.path)
        loaded = self.load(place.path, {}, None)
        with self._indexed(place.path, loaded, roots) as indexed:
            status = indexed.engine.refresh(progress, loaded.settings)
            indexed.looked, indexed.whole = self.clock(), True
            symbol = indexed.engine.symbol(call.symbol, progress)
            source = symbol.text
            counter = get_counter(loaded.settings.tokens.counter)
            pages = split_pages([source], counter.count, _TEXT_BESIDE_CALLS)
            name = name_of(symbol.id, status.snapshot)
            if (asked and asked != name) or page > len(pages) or page < 1:
                raise _other_page()
            first = page == 1
            callers, before = symbol.callers(call.steps) if first else ([], 0)
            callees, after = symbol.callees(call.steps) if first else ([], 0)
            warnings = [roots.hide_paths(notice.message) for notice in loaded.notices]
            room = call.steps * _CALLS_ROOM
            listed = [
                first_fitting(
                    (shapes.CallNeighbour(*structs.astuple(end)) for end in ends), counter.count, room, as_json
                )
                for ends in (callers, callees)
            ]
            return shapes.ExpandedSymbol(
                id=symbol.id,
                at=symbol.at,
                kind=symbol.kind,
                text=pages[page - 1],
                tokens=counter.count(source),
                callers=listed[0],
                callers_more=before + len(callers) - len(listed[0]),
                callees=listed[1],
                callees_more=after + len(callees) - len(listed[1]),
                warnings=first_fitting(warnings, counter.count, WARNINGS_ROOM, str),
                freshness=indexed.freshness(status.commit),
                page=page,
                pages=len(pages),
                next=cursor_of(name, page + 1) if page < len(pages) else "",
            )

    def prune(self, call: shapes.PruneCall, roots: Roots, progress: Progress) -> shapes.PrunedAnswer:
        """Prunes text, messages or files to a budget, by their kind of context."""
        if (page := self._page(call)) is not None:
            return page
        given = read_context(call, roots)
        kind = kind_of_call(call, given)
        inputs, notices = inputs_of(kind, call, given)
        return self._pruned(call, roots, kind, inputs, given.root.folder, given.data, progress, notices)

    def review(self, call: shapes.ReviewCall, roots: Roots, progress: Progress) -> shapes.PrunedAnswer:
        """Returns a pull request in chunks, one per page."""
        if (page := self._page(call)) is not None:
            return page
        place, kind = _searchable(roots, call.path, workspaces=False), get_kind("diff")
        worktree = call.head == "worktree"
        inputs = kind.blank_inputs() | {"path": place.inside, "base": call.base or None, "worktree": worktree}
        inputs["head"] = None if worktree else call.head or None
        sized = call if call.budget else msgspec.structs.replace(call, budget=CHUNK_TOKENS)
        return self._pruned(sized, roots, kind, inputs, place.root.folder, None, progress, (), asked=call)

    def explain(self, call: shapes.ExplainCall, roots: Roots, progress: Progress) -> shapes.ExplainedItem:
        """Explains why an item of a result was kept or left out, and what would change that, with proof."""
        if not call.result and not call.query:
            raise UsageError("explain: no result is named", hint="give `result` of an answer, or the query of a search")
        if not (name := call.result):
            search = shapes.SearchCall(
                call.query, path=call.path, detail="source", budget=call.budget, profile=call.profile
            )
            name = self.search(search, roots, progress).result
        held = self.results.named(name)
        kind, outcome = held.kind, held.outcome
        trials = trials_of(kind, held.material, held.inputs, held.settings, outcome)
        if (place := _item(call.item, trials.ids)) is None:
            raise self._no_item(call, held, trials.ids)
        turns, nothing, runs = prove_turns(trials, place, EXPLAIN_SECONDS, progress)
        return shapes.ExplainedItem(
            item=item_of(kind, outcome, place),
            before=outcome.ledger.entries[place].before,
            turns=[shapes.TurningChange(value, also) for value, also in turns],
            nothing=nothing,
            facts={label: text for label, text in kind.describe(outcome, place).facts if label != "id"},
            decided_again=runs,
            freshness=held.freshness(),
        )

    def recall(self, call: shapes.RecallCall, roots: Roots, progress: Progress) -> shapes.RecalledText:  # noqa: ARG002
        """Returns what was taken out of a conversation, by the digest that stands in its place."""
        text, count = user_store(self.environ, self.clock).recall(call.digest, call.lines), get_counter().count
        pages = split_pages([text], count)
        return shapes.RecalledText(pages[0], count(text), len("".join(pages[1:]).splitlines()))

    def finish_indexes(self, progress: Progress) -> None:
        """Indexes the rest of the folders of which a first answer needed only a part. For when nobody waits."""
        with self.engines.unfinished() as folders:
            for indexed in folders:
                with suppress(SecateurError):  # the next search says so
                    indexed.engine.refresh(progress)
                    indexed.looked, indexed.whole = self.clock(), True

    # --- what they share ----------------------------------------------------------------------------------------------

    def _pruned(
        self,
        call: shapes.PruneCall | shapes.ReviewCall,
        roots: Roots,
        kind: Kind[Any, Any],
        inputs: dict[str, Any],
        folder: Path,
        data: bytes | None,
        progress: Progress,
        notices: tuple[Notice, ...],
        asked: shapes.ReviewCall | None = None,
    ) -> shapes.PrunedAnswer:
        """Reads and decides with any kind. `data`: the content of `-`."""
        flags: dict[str, Any] = {kind.budget.key: call.budget} if call.budget else {}
        if strategy := getattr(call, "strategy", ""):
            if (knob := kind.strategy) is None:
                raise UsageError(f"strategy: {kind.name} has no strategies", hint="leave strategy out")
            flags[knob.key] = strategy
        environment = Environment(
            stdin=(lambda most: data[:most]) if data is not None else None,
            regular=data is None,
            form="markdown" if "markdown" in kind.formats else "",
            folder=folder,
            environ=self.environ,
            progress=progress,
            trusts_git_dir=lambda: self.trusts_git_dir,
        )
        loaded = kind.load(inputs, lambda root, committed: self.load(root, flags, committed), environment)
        material = kind.read(inputs, loaded.settings, environment.redacting(loaded.settings))
        try:
            outcome = kind.fit(answer_of(kind, material, inputs, loaded.settings, None, progress))
            return self._kept(asked or call, roots, kind, material, inputs, outcome, (*notices, *loaded.notices), None)
        except BaseException:
            kind.release(material)
            raise

    def _kept(
        self,
        call: Any,
        roots: Roots,
        kind: Kind[Any, Any],
        material: Any,
        inputs: dict[str, Any],
        outcome: Outcome[Any],
        notices: tuple[Notice, ...],
        indexed: IndexedFolder | None,
        names: bool = False,
    ) -> shapes.PrunedAnswer:
        """Holds a result. Returns its first page, or the page of the call's cursor. `names`: of a search's names."""
        counter = get_counter(outcome.settings.tokens.counter)
        asked = msgspec.structs.replace(call, cursor="")
        named = None
        if names:
            budget, found = call.budget or NAMES_TOKENS, outcome.payload
            named = name_pages(found.engine, found.selection, budget, counter.count), budget
        answer, pages = account_of(kind, outcome, counter.count, roots, notices, asked, named)
        if indexed is not None:
            answer.freshness = indexed.freshness(outcome.payload.selection.pool.commit)
        state = indexed.state() if indexed is not None else {}
        held = HeldResult(
            answer.result, kind, material, inputs, outcome.settings, outcome, answer, pages, indexed, state
        )
        self.results.keep(held)
        if not call.cursor:
            return answer
        name, page = page_of_cursor(call.cursor)
        if name != answer.result:
            raise _other_page()
        return _page_of(held, page)

    def _page(self, call: Any) -> shapes.PrunedAnswer | None:
        """Returns a page of a result that is still held; None if it must be computed again."""
        if not call.cursor:
            return None
        name, page = page_of_cursor(call.cursor)
        held = self.results.find(name)
        return _page_of(held, page) if held is not None else None

    @contextmanager
    def _indexed(self, path: Path, loaded: Loaded, roots: Roots) -> Iterator[IndexedFolder]:
        """Opens the engine of a folder or workspace. The workspace file is read at every call: it may have changed, and
        clients may have different roots."""
        settings = loaded.settings
        within = [root.folder for root in roots.folders]
        members = tuple(read_workspace(path, within)) if is_workspace(path) else ()
        made_with = settings.index, settings.tokens, settings.embedding, settings.redaction
        key = path, members, *made_with, loaded.notices
        ours: dict[str, Any] = {"environ": self.environ, "clock": self.clock}
        opened = partial(Engine.open, path, settings, notices=loaded.notices, within=within, **ours)
        with self.engines.using(key, opened) as indexed:
            yield indexed

    def _no_item(self, call: shapes.ExplainCall, held: HeldResult, ids: Any) -> UsageError:
        named = shown(call.item)
        whole = held.indexed is not None and held.indexed.whole
        if whole and not held.kind.unknown(held.outcome, [call.item]):
            return UsageError(
                f"item: {named} is indexed, but not a candidate of this query: neither its words nor calls lead to it",
                hint="give it as a pin of search, or ask in other words",
            )
        near = suggestion(call.item, list(ids)[:2000])
        hint = (f"did you mean {near}? " if near else "") + "give an id of its items or left_out"
        return UsageError(f"item: {named} is not part of this result", hint=hint)


def _searchable(roots: Roots, path: str, *, workspaces: bool = True) -> PlaceInRoot:
    place = roots.resolve_path(path)
    if not place.path.is_dir() and not (workspaces and is_workspace(place.path)):
        raise UsageError(f"path: {shown(place.inside)} is a file", hint="name its folder, or leave path out")
    return place


def _page_of(held: HeldResult, page: int) -> shapes.PrunedAnswer:
    if not 1 <= page <= len(held.pages):
        raise _other_page()
    if page == 1:
        return msgspec.structs.replace(held.answer, freshness=held.freshness())
    following = cursor_of(held.name, page + 1) if page < len(held.pages) else ""
    further: dict[str, Any] = {"text": held.pages[page - 1], "page": page, "next": following}
    further |= {"items": [], "items_more": 0, "left_out": [], "left_out_more": 0}  # the first page has them
    return msgspec.structs.replace(held.answer, **further, freshness=held.freshness())


def _other_page() -> UsageError:
    return UsageError(
        "cursor: this call has no such page; its files or its arguments changed", hint="call again without a cursor"
    )


def _item(name: str, ids: Any) -> int | None:
    known = list(ids)
    if name in known:
        return known.index(name)
    ends = [index for index, id_ in enumerate(known) if id_.endswith(("::" + name, "." + name))]
    return ends[0] if len(ends) == 1 else None
