"""The tools, without the protocol: each takes a call and the roots that it may read, and returns an answer.

    toolbox = Toolbox(load, os.environ, time.time)
    toolbox.search(SearchCall("where is the refund rounded?"), roots, unreported)   # a PrunedAnswer

All of them block, may be called from several threads, and are ended by an exception from their `progress`. They write
nothing into what they read, and use no language model.

The engines and results that a server keeps between calls: few of each, the least recently used are dropped first.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial, wraps
from pathlib import Path
from typing import Any, TypeVar

import secateur
from msgspec import structs
from secateur import Engine, Kind, Outcome, SecateurError, clip

from secateur_agents.mcp import shapes
from secateur_agents.mcp.pages import (
    NAMES_TOKENS,
    TEXT_TOKENS,
    WARNINGS_ROOM,
    account_of,
    as_json,
    cursor_of,
    first_fitting,
    item_of,
    name_of,
    other_page,
    page_of_cursor,
    split_pages,
)
from secateur_agents.mcp.roots import PlaceInRoot, RootFolder, Roots, is_pattern
from secateur_agents.mcp.shapes import Freshness, PrunedAnswer
from secateur_agents.store import user_store

MOST_ENGINES = 4  # most idle indexes that stay open: each holds the arrays of its repository
MOST_RESULTS = 8  # most results that can be paged and explained
CHANGED_LISTED, _PATH_CELLS = 10, 120  # most changed files that an answer lists; the others are counted


@dataclass(eq=False)
class IndexedFolder:
    """An engine, and when its files were last checked."""

    engine: Engine
    looked: float = 0.0  # seconds of the clock
    whole: bool = False  # all of it is indexed, not only what a first answer needed
    users: int = 0

    def freshness(self, commit: str) -> Freshness:
        """Returns the state behind an answer that is made now."""
        return Freshness(commit, datetime.fromtimestamp(self.looked, UTC).isoformat(timespec="seconds"))

    def state(self) -> Mapping[str, bytes]:
        """Returns the content digest of every indexed file by path; empty while only a part is indexed."""
        return self.engine.code()[0].all_digests if self.whole else {}


class OpenEngines:
    """Keeps one engine per folder and index settings.

    >>> with engines.using(key, open_engine) as indexed:
    ...     indexed.engine.search(query)
    """

    def __init__(self) -> None:
        self._open: OrderedDict[Hashable, IndexedFolder] = OrderedDict()
        self._turn = threading.Lock()

    @contextmanager
    def using(self, key: Hashable, opened: Callable[[], Engine]) -> Iterator[IndexedFolder]:
        """Hands out the engine of a key, opening it if needed. It stays open at least until the block ends."""
        with self._turn:
            known = key in self._open
        made = None if known else IndexedFolder(opened())  # may wait for another process, without blocking other calls
        with self._turn:
            indexed = self._open[key] = self._open.get(key) or made or IndexedFolder(opened())
            self._open.move_to_end(key)
            indexed.users += 1
        with self._releasing([indexed]):
            yield indexed

    @contextmanager
    def unfinished(self) -> Iterator[Sequence[IndexedFolder]]:
        """Hands out the folders of which a first answer needed only a part."""
        with self._turn:
            folders = [indexed for indexed in self._open.values() if indexed.looked and not indexed.whole]
            for indexed in folders:
                indexed.users += 1
        with self._releasing(folders):
            yield folders

    @contextmanager
    def _releasing(self, used: Sequence[IndexedFolder]) -> Iterator[None]:
        try:
            yield
        finally:
            with self._turn:
                for indexed in used:
                    indexed.users -= 1
            self.close(MOST_ENGINES)

    def close(self, most: int = 0) -> None:
        """Closes idle engines, the least recently used first, where more than `most` are open."""
        with self._turn:
            idle = [key for key, indexed in self._open.items() if not indexed.users]
            for key in idle[: max(0, len(self._open) - most)]:
                with suppress(SecateurError):  # a failed write was reported before
                    self._open.pop(key).engine.close()


@dataclass(eq=False)
class HeldResult:
    """A result of a kind of context: the decision, and its text in pages."""

    kind: Kind[Any, Any]
    material: Any
    inputs: dict[str, Any]
    outcome: Outcome[Any]
    answer: PrunedAnswer  # its first page
    pages: list[str]
    indexed: IndexedFolder | None = None
    state: Mapping[str, bytes] = field(default_factory=dict)  # see `IndexedFolder.state`

    def freshness(self) -> Freshness | None:
        """Returns the state in which it was found, with later changes. Lists the files again."""
        then, indexed = self.answer.freshness, self.indexed
        if then is None or indexed is None:
            return None
        try:
            changed = set(indexed.engine.changes().files)
        except SecateurError as error:
            changed = {f"not known: {error.message}"}
        if self.state and (now := indexed.state()) is not self.state:
            changed |= {path for path in self.state.keys() | now.keys() if self.state.get(path) != now.get(path)}
        listed = [clip(path, _PATH_CELLS) for path in sorted(changed)[:CHANGED_LISTED]]
        return Freshness(then.commit, then.indexed, listed, len(changed) - len(listed))

    def page(self, result: str, page: int) -> PrunedAnswer:
        """Returns the answer with a page of its text, as a cursor names them. Raises UsageError: there is no such page,
        or it is one of another result."""
        if result != self.answer.result or not 1 <= page <= len(self.pages):
            raise other_page()
        further: dict[str, Any] = {"freshness": self.freshness()}
        if page > 1:  # the first page has the items
            following = cursor_of(self.answer.result, page + 1) if page < len(self.pages) else ""
            further |= {"text": self.pages[page - 1], "page": page, "next": following}
            further |= {"items": [], "items_more": 0, "left_out": [], "left_out_more": 0}
        return structs.replace(self.answer, **further)


class HeldResults:
    """The last results by name."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, HeldResult] = OrderedDict()
        self._turn = threading.Lock()

    def find(self, name: str) -> HeldResult | None:
        """Returns the result with a name, if it is still held."""
        with self._turn:
            if name in self._held:
                self._held.move_to_end(name)
            return self._held.get(name)

    def keep(self, result: HeldResult) -> None:
        """Holds a result; the least recently used one is dropped if there are too many."""
        with self._turn:
            old = self._held.pop(result.answer.result, None)
            self._held[result.answer.result] = result
            gone = [] if old is None else [old]
            while len(self._held) > MOST_RESULTS:
                gone.append(self._held.popitem(last=False)[1])
        for result_gone in gone:
            result_gone.kind.release(result_gone.material)

    def close(self) -> None:
        """Drops all results."""
        with self._turn:
            gone, self._held = [*self._held.values()], OrderedDict()
        for result in gone:
            result.kind.release(result.material)


PLAIN_TEXT = "log"  # the kind of a text that no kind claims: its lines stay verbatim

C = TypeVar("C", bound=shapes.PagedCall)

EXPLAIN_SECONDS = 5.0  # most processor time for the proofs of one item
CHUNK_TOKENS = 8_000  # default tokens of a review's chunk, which is a page
_CALLS_ROOM = 400  # most tokens for callers, and for callees, in an answer, times the steps


@dataclass(frozen=True, slots=True)
class GivenContext:
    """The context to prune, as its kind reads it."""

    root: RootFolder
    kind: secateur.Kind[Any, Any]
    inputs: dict[str, Any]
    data: bytes | None = None  # the content of `-`
    notices: tuple[secateur.Notice, ...] = ()


def _paged(
    tool: Callable[[Toolbox, C, Roots, secateur.Progress], HeldResult],
) -> Callable[[Toolbox, C, Roots, secateur.Progress], shapes.PrunedAnswer]:
    """Makes a tool hold its results. A call with a cursor gets a page of the result that is held, or else of the same
    made again."""

    @wraps(tool)
    def answer(box: Toolbox, call: C, roots: Roots, progress: secateur.Progress) -> shapes.PrunedAnswer:
        name, page = page_of_cursor(call.cursor) if call.cursor else ("", 1)
        if (held := box.results.find(name)) is None:
            held = tool(box, call, roots, progress)
            box.results.keep(held)
        return held.page(name, page) if call.cursor else held.answer

    return answer


class Toolbox:
    """See the module docstring."""

    def __init__(
        self,
        load: Callable[..., secateur.Loaded],
        environ: Mapping[str, str],
        clock: Callable[[], float],
        *,
        trusts_git_dir: bool = False,
    ) -> None:
        """Makes an empty toolbox.

        Args:
            load: loads the settings in force for a folder, plus those that a call sets: dotted key -> value; see
                `Kind.load`. What they allow is no credential from then on. An agent cannot mend the file of a
                repository: a faulty one is a warning.
            clock: seconds since 1970, for when files were checked.
        """
        self.load: Callable[[Path | None, Mapping[str, Any], Any], secateur.Loaded] = partial(load, lenient=True)
        self.environ, self.clock, self.trusts_git_dir = environ, clock, trusts_git_dir
        self.engines, self.results = OpenEngines(), HeldResults()
        self.cache = secateur.Environment(environ=environ).cache

    def close(self) -> None:
        """Closes all results and engines."""
        self.results.close()
        self.engines.close()

    # --- the tools ----------------------------------------------------------------------------------------------------

    @_paged
    def search(self, call: shapes.SearchCall, roots: Roots, progress: secateur.Progress) -> HeldResult:
        """Finds what answers a query in a repository, within a budget."""
        if not call.query.strip():
            raise secateur.UsageError("query is empty", hint="ask in the words of the task, or name what you mean")
        place, kind = _searchable(roots, call.path), secateur.get_kind("search")
        names = call.detail == "names"
        given = {"budget": 0 if names else call.budget, "profile": call.profile, "pins": tuple(call.pins)}
        flags = {name: value for name, value in given.items() if value}
        loaded, preferred = (self.load(place.path, more | flags, None) for more in ({}, {"profile": "recommended"}))
        if not loaded.origins.keys() & (preferred.origins.keys() - flags.keys()):  # nobody chose what the profile sets
            loaded = preferred
        settings = loaded.settings
        with self._indexed(place.path, loaded, roots) as indexed:
            inputs = kind.blank_inputs() | {"query": call.query, "path": place.inside, "no_cache": True}
            # Clients do not wait for the index of a large repository: the first answer may come from a part of it.
            inputs["partial"] = not indexed.looked
            environment = secateur.Environment(
                environ=self.environ, progress=progress, found={"engine": indexed.engine}
            )
            material = kind.read(inputs, settings, environment)
            outcome = kind.fit(secateur.answer_of(kind, material, inputs, settings, None, progress))
            indexed.looked, indexed.whole = self.clock(), not outcome.payload.selection.pool.partial
            answer, pages = account_of(kind, outcome, roots, (), call, call.budget or NAMES_TOKENS if names else 0)
            answer.freshness = indexed.freshness(outcome.payload.selection.pool.commit)
            return HeldResult(kind, material, inputs, outcome, answer, pages, indexed, indexed.state())

    def expand(self, call: shapes.ExpandCall, roots: Roots, progress: secateur.Progress) -> shapes.ExpandedSymbol:
        """Returns a symbol's source, its callers and its callees."""
        asked, page = page_of_cursor(call.cursor) if call.cursor else ("", 1)
        place = _searchable(roots, call.path)
        loaded = self.load(place.path, {}, None)
        with self._indexed(place.path, loaded, roots) as indexed:
            status = indexed.engine.refresh(progress, loaded.settings)
            indexed.looked, indexed.whole = self.clock(), True
            symbol = indexed.engine.symbol(call.symbol, progress)
            source = symbol.text
            counter = secateur.get_counter(loaded.settings.tokens.counter)
            pages = split_pages([source], counter.count, TEXT_TOKENS - 2 * 3 * _CALLS_ROOM)  # most calls, both ways
            name = name_of(symbol.id, status.snapshot)
            if (asked and asked != name) or page > len(pages) or page < 1:
                raise other_page()
            warnings = [roots.hide_paths(notice.message) for notice in loaded.notices]
            calls: dict[str, Any] = {}
            for way, neighbours in (("callers", symbol.callers), ("callees", symbol.callees)) if page == 1 else ():
                ends, unlisted = neighbours(call.steps)
                described = (shapes.CallNeighbour(*structs.astuple(end)) for end in ends)
                listed = first_fitting(described, counter.count, call.steps * _CALLS_ROOM, as_json)
                calls |= {way: listed, f"{way}_more": unlisted + len(ends) - len(listed)}
            return shapes.ExpandedSymbol(
                id=symbol.id,
                at=symbol.at,
                kind=symbol.kind,
                text=pages[page - 1],
                tokens=counter.count(source),
                **calls,
                warnings=first_fitting(warnings, counter.count, WARNINGS_ROOM, str),
                freshness=indexed.freshness(status.commit),
                page=page,
                pages=len(pages),
                next=cursor_of(name, page + 1) if page < len(pages) else "",
            )

    @_paged
    def prune(self, call: shapes.PruneCall, roots: Roots, progress: secateur.Progress) -> HeldResult:
        """Prunes text, messages or files to a budget, by their kind of context."""
        return self._pruned(call, call.budget, call.strategy, roots, _given_context(call, roots), progress)

    @_paged
    def review(self, call: shapes.ReviewCall, roots: Roots, progress: secateur.Progress) -> HeldResult:
        """Returns a pull request in chunks, one per page."""
        place, kind = _searchable(roots, call.path, workspaces=False), secateur.get_kind("diff")
        worktree = call.head == "worktree"
        inputs = kind.blank_inputs() | {"path": place.inside, "base": call.base or None, "worktree": worktree}
        inputs["head"] = None if worktree else call.head or None
        return self._pruned(
            call, call.budget or CHUNK_TOKENS, "", roots, GivenContext(place.root, kind, inputs), progress
        )

    def explain(self, call: shapes.ExplainCall, roots: Roots, progress: secateur.Progress) -> shapes.ExplainedItem:
        """Explains why an item of a result was kept or left out, and what would change that, with proof."""
        if not (name := call.result):
            if not call.query:
                raise secateur.UsageError(
                    "explain: no result is named", hint="give `result` of an answer, or the query of a search"
                )
            search = shapes.SearchCall(
                call.query, path=call.path, detail="source", budget=call.budget, profile=call.profile
            )
            name = self.search(search, roots, progress).result
        if (held := self.results.find(name)) is None:
            raise secateur.UsageError(
                f"result: {name[:40]} is no longer stored (only the last {MOST_RESULTS} are)",
                hint="call search, prune or review again and give the `result` of its answer",
            )
        kind, outcome = held.kind, held.outcome
        trials = secateur.trials_of(kind, held.material, held.inputs, outcome.settings, outcome)
        place = _place_of(call.item, held, list(trials.ids))
        turns, nothing, runs = secateur.prove_turns(trials, place, EXPLAIN_SECONDS, progress)
        return shapes.ExplainedItem(
            item=item_of(kind, outcome, place),
            before=outcome.ledger.entries[place].before,
            turns=[shapes.TurningChange(value, also) for value, also in turns],
            nothing=nothing,
            facts={label: text for label, text in kind.describe(outcome, place).facts if label != "id"},
            decided_again=runs,
            freshness=held.freshness(),
        )

    def recall(self, call: shapes.RecallCall, *_: Any) -> shapes.RecalledText:
        """Returns what was taken out of a conversation, by the digest that stands in its place."""
        text, count = user_store(self.environ, self.clock).recall(call.digest, call.lines), secateur.get_counter().count
        pages = split_pages([text], count)
        return shapes.RecalledText(pages[0], count(text), len("".join(pages[1:]).splitlines()))

    def finish_indexes(self, progress: secateur.Progress) -> None:
        """Indexes the rest of the folders of which a first answer needed only a part. For when nobody waits."""
        with self.engines.unfinished() as folders:
            for indexed in folders:
                with suppress(secateur.SecateurError):  # the next search says so
                    indexed.engine.refresh(progress)
                    indexed.looked, indexed.whole = self.clock(), True

    # --- what they share ----------------------------------------------------------------------------------------------

    def _pruned(
        self,
        call: shapes.PruneCall | shapes.ReviewCall,
        budget: int,
        strategy: str,
        roots: Roots,
        given: GivenContext,
        progress: secateur.Progress,
    ) -> HeldResult:
        kind, inputs, data = given.kind, given.inputs, given.data
        flags: dict[str, Any] = {kind.budget.key: budget} if budget else {}
        if strategy:
            if (knob := kind.strategy) is None:
                raise secateur.UsageError(f"strategy: {kind.name} has no strategies", hint="leave strategy out")
            flags[knob.key] = strategy
        environment = secateur.Environment(
            stdin=(lambda most: data[:most]) if data is not None else None,
            regular=data is None,
            form="markdown" if "markdown" in kind.formats else "",
            folder=given.root.folder,
            environ=self.environ,
            progress=progress,
            trusts_git_dir=lambda: self.trusts_git_dir,
        )
        loaded = kind.load(inputs, lambda root, committed: self.load(root, flags, committed), environment)
        material = kind.read(inputs, loaded.settings, environment.redacting(loaded.settings))
        try:
            outcome = kind.fit(secateur.answer_of(kind, material, inputs, loaded.settings, None, progress))
            answer, pages = account_of(kind, outcome, roots, (*given.notices, *loaded.notices), call)
            return HeldResult(kind, material, inputs, outcome, answer, pages)
        except BaseException:
            kind.release(material)
            raise

    def _indexed(self, path: Path, loaded: secateur.Loaded, roots: Roots) -> AbstractContextManager[IndexedFolder]:
        """Opens the engine of a folder or workspace. The workspace file is read at every call: it may have changed, and
        clients may have different roots."""
        settings = loaded.settings
        within = [root.folder for root in roots.folders]
        members = tuple(secateur.read_workspace(path, within)) if secateur.is_workspace(path) else ()
        made_with = settings.index, settings.tokens, settings.embedding, settings.redaction
        where = partial(secateur.Engine.open, environ=self.environ, clock=self.clock)
        opened = partial(where, path, settings, notices=loaded.notices, within=within)
        return self.engines.using((path, members, *made_with, loaded.notices), opened)


def _searchable(roots: Roots, path: str, *, workspaces: bool = True) -> PlaceInRoot:
    place = roots.resolve_path(path)
    if not place.path.is_dir() and not (workspaces and secateur.is_workspace(place.path)):
        raise secateur.UsageError(
            f"path: {secateur.shown(place.inside)} is a file", hint="name its folder, or leave path out"
        )
    return place


def _place_of(name: str, held: HeldResult, ids: list[str]) -> int:
    if name in ids:
        return ids.index(name)
    ends = [index for index, id_ in enumerate(ids) if id_.endswith(("::" + name, "." + name))]
    if len(ends) == 1:
        return ends[0]
    if held.indexed is not None and held.indexed.whole and not held.kind.unknown(held.outcome, [name]):
        raise secateur.UsageError(
            f"item: {secateur.shown(name)} is indexed, but not a candidate of this query: neither its words nor calls"
            " lead to it",
            hint="pin it in search, or ask in other words",
        )
    near = secateur.suggestion(name, ids[:2000])
    hint = (f"did you mean {near}? " if near else "") + "give an id of its items or left_out"
    raise secateur.UsageError(f"item: {secateur.shown(name)} is not part of this result", hint=hint)


def _given_context(call: shapes.PruneCall, roots: Roots) -> GivenContext:
    """Returns the context of a call, with notices about the parts of the call that its kind ignores.

    Raises:
        UsageError: nothing is given, or more than one thing; a file is outside the roots, or in several of them; the
            kind does not exist, finds its entries by itself, needs an input that is not given, or takes one file only.
    """
    given = [name for name in ("text", "messages", "files") if getattr(call, name)]
    if len(given) != 1:
        fault = "give text, messages or files" if not given else f"{' and '.join(given)} are given: give one"
        raise secateur.UsageError(
            f"prune: {fault}", hint="text: a log or other output; messages: a transcript; files: paths"
        )
    data, files = None, list[str]()
    if call.files:
        found = [roots.resolve_files(name) for name in call.files]
        if len({place.root.folder for place in found}) > 1:
            raise secateur.UsageError(
                "files: they are in several roots", hint="prune the files of each root separately"
            )
        root, files = found[0].root, [place.inside for place in found]
    else:
        unclear = len(roots.folders) > 1 and not call.path  # and it does not matter for a text
        root = roots.folders[0] if unclear else roots.resolve_path(call.path).root
        text = call.text or json.dumps(call.messages, ensure_ascii=False)
        data = text.encode("utf-8", "replace")

    if call.kind:
        kind = secateur.get_kind(call.kind)
        if kind.finds:
            raise secateur.UsageError(f"kind: {kind.name} is a separate tool", hint=f"call {kind.name}")
    elif data is not None:
        kind = secateur.recognise_kind(Path("text"), data)
        if kind.inputs[0].repeatable:
            kind = secateur.get_kind(PLAIN_TEXT)
    elif len(files) > 1 or is_pattern(files[0]) or not (root.folder / files[0]).is_file():
        kind = secateur.recognise_kind(Path("folder"), b"")
    else:
        kind = secateur.recognise_kind(root.folder / files[0])

    first = kind.inputs[0]
    if data is not None and first.repeatable:
        raise secateur.UsageError(f"kind: {kind.name} reads files", hint="name them as files")
    if len(files) > 1 and not first.repeatable:
        raise secateur.UsageError(f"kind: {kind.name} reads one file", hint="name one, or leave kind out")
    opened = {first.name: files} if first.repeatable else kind.opened_inputs(files[0] if files else "-")
    values = {"query": call.request, "model": call.model}
    known = {spec.name: spec for spec in kind.inputs}
    for name, spec in known.items():
        wanted = spec.required or (bool(spec.title) and not spec.optional and name in values)
        if wanted and name not in opened and not values.get(name):
            argument = "request" if name == "query" else name
            raise secateur.UsageError(
                f"{argument}: {kind.name} needs one", hint=f"give {spec.placeholder or spec.help}"
            )
    unheard = [
        secateur.Notice("not_heard", f"{argument} is ignored by kind {kind.name}.")
        for argument, name in (("request", "query"), ("model", "model"))
        if values[name] and name not in known
    ]
    taken = {name: text for name, text in values.items() if text and name in known}
    return GivenContext(root, kind, kind.blank_inputs() | dict(opened) | taken, data, tuple(unheard))
