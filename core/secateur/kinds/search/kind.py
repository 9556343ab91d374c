"""A code search as a kind of context: what answers a query from a repository, within a token budget."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from msgspec import UNSET, Struct, UnsetType, structs

from secateur.kind_places import place_of
from secateur.kinds.base import PIN, Delivery, EntryDescription, Flag, Input, Kind, Outcome, Wording
from secateur.kinds.environment import ALONE, Deciding, Environment, Inputs, Load, Rehearsal
from secateur.kinds.knobs import FilePlace, Knob, Steer, location_in, overruling, steered
from secateur.kinds.run import parse_dropped_limit
from secateur.kinds.search.knobs import (
    BUDGET,
    DEPTH,
    KNOBS,
    STRATEGY,
    TOP_K,
    boosts_of,
    pool_key,
    rehearsal_of,
    tunable,
    weights_of,
)
from secateur.model import Pool, Selection
from secateur.render.layouts import LAYOUTS, gives_notices
from secateur.render.page import Page, count_noun, line_range, notices_of, shown_notices
from secateur.render.search_json import DROPPED_LISTED, SearchOutput, search_ledger
from secateur.render.text import kind_of, search_page, signals_of, why
from secateur.retrieval.cache import Answer
from secateur.selection import select
from secateur.selection.select import fit_to_budget
from secateur.settings import Settings, condense_notices
from secateur.settings.layers import Loaded
from secateur.sources.committed import read_committed_settings

if TYPE_CHECKING:  # what most searches never use is imported where it is
    from secateur.engine import Engine
    from secateur.kinds.protocols import Missing
    from secateur.retrieval.results import Results
    from secateur.what_if.trials import Trials
from typing import TYPE_CHECKING

from secateur.errors import UsageError
from secateur.redaction import not_scanned, redact_typed
from secateur.render.text import DROPPED_SHOWN
from secateur.sources.named import FORMS, folder_of
from secateur.sources.open import ListedOpener, SourceOpener, parse_file_list
from secateur.sources.workspace_file import is_workspace, read_workspace

if TYPE_CHECKING:
    from secateur.engine import Engine

INPUTS: Sequence[Input] = (
    Input(
        "query",
        "what to look for: words, names or the text of an issue; - reads stdin",
        metavar="QUERY",
        positional=True,
        required=True,
        title="Query",
        placeholder="ask in the words of the task, or name what you mean",
        lines=True,
    ),
    Input(
        "path", f"{FORMS} (default: here)", metavar="PATH", positional=True, default=".", folders=True, workspaces=True
    ),
    Input("rev", "read this commit instead of the working tree", metavar="COMMIT", title="Commit", optional=True),
    Input(
        "partial",
        "if the repository is not indexed yet, answer in seconds from the most promising files, and say so; what was"
        " read is kept for the next search; in a workspace, skip the repositories that cannot be read, and name them",
        switch=True,
        holds="output",
    ),
    Input(
        "files_from", "read only the files of PATH that this file lists, one a line or NUL; - reads stdin", default=None
    ),
    Input("no_cache", "do not read or write the result cache", switch=True, holds="output"),
    Input(
        "explain",
        "print each candidate's id, call path and parts of its score, the reason of each drop, the levers that are"
        " proven to keep it, cheapest first (--pin, a budget, ...), and how much goes out at each budget",
        switch=True,
        holds="output",
    ),
    Input(
        "dropped",
        f"list at most N dropped candidates (default {DROPPED_LISTED}; {DROPPED_SHOWN} as text without --explain)",
        metavar="N|all",
        default=None,
        least=0,
        words=("all",),
        holds="output",
    ),
    Input("fail_on_low", "exit 4 if nothing here answers the query, or hardly anything", switch=True, holds="output"),
)


ENGINE = "engine"  # in `Environment.found`: an open engine that `Kind.read` uses; its maker closes it
QUERY = "query"  # in `Environment.found`: what standard input said


def query_of(inputs: Inputs, environment: Environment, settings: Settings) -> str:
    """Returns the text of the query without credentials. `-` reads it from standard input."""
    query: str = inputs["query"]
    if query != "-":
        return redact_typed(query, settings.redaction)
    if QUERY not in environment.found:
        data = environment.bytes_of(query, "query", instead="write the query instead of -")
        environment.found[QUERY] = data.decode("utf-8", "replace")
    return str(environment.found[QUERY])


def file_of(path: str, file: str, environment: Environment) -> tuple[Path | None, str]:
    """Returns the folder that holds a file of PATH, and the file's path in it. In a workspace it is the repository's
    folder.

    Raises SecateurError: PATH is no longer readable.
    """
    folder = environment.folder_of(path)
    if not is_workspace(folder):
        return folder, file
    name, _, path_in_member = file.partition("/")
    locations = (member.location for member in read_workspace(folder, environment.within) if member.name == name)
    location = next(locations, None)
    return folder_of(location, environment.cache) if location is not None else None, path_in_member


def open_engine(inputs: Inputs, settings: Settings, environment: Environment) -> Engine:
    """An engine on what the inputs name."""
    # Imported here, so that the help and other kinds do not wait for the index.
    from secateur.engine import Engine
    from secateur.index.workspace_index import WorkspaceOpener, opener_of

    notices = (*environment.notices, *(() if environment.shared is not None else not_scanned(settings)))
    path, rev = environment.folder_of(inputs["path"]), inputs["rev"] or None
    opener: SourceOpener | ListedOpener | WorkspaceOpener
    opener = opener_of(
        path, rev, settings.index, environment.fetch_options, environment.within, partial=inputs["partial"]
    )
    if inputs["files_from"]:
        if isinstance(opener, WorkspaceOpener):
            raise UsageError("--files-from does not go with a workspace", hint="name one of its repositories")
        name: str = inputs["files_from"]
        if name == "-" and inputs["query"] == "-":
            raise UsageError(
                "the query and --files-from cannot both be read from standard input", hint="write one of them to a file"
            )
        listed = environment.bytes_of(name, "list of files", flag="--files-from", instead="name a file")
        opener = ListedOpener(opener, parse_file_list(listed))
    engine = Engine(opener, settings, cache_dir=None, config_dir=None, environ=environment.environ, notices=notices)
    engine.warns_of_index = environment.shared is None  # a shared index is the same on every machine
    return engine


LOW = 4  # Exit code of `--fail-on-low`. Every check that finds a problem exits with it.

REST = "note: the same search without --partial reads the rest, once; what was read is kept"

AS_XML = "note: decided and counted as XML; text, JSON and Markdown are decided for the Markdown pack, which costs less"


class SearchAnswers:
    """Finished answers to the query of a command, and the engine that finds another one. See `KeptAnswers`."""

    def __init__(self, inputs: Inputs, loaded: Loaded, environment: Environment) -> None:
        self._inputs, self._loaded, self._environment = inputs, loaded, environment
        self._query = query_of(inputs, environment, loaded.settings)
        self._engine = environment.found.get(ENGINE) or open_engine(inputs, loaded.settings, environment)
        self._form = environment.form, inputs["explain"], inputs["dropped"]
        self._results: Results | None = None
        environment.found[ENGINE] = self._engine

    def find(self, *, verbose: bool) -> Delivery | None:
        if self._inputs["partial"]:
            return None
        progress = self._environment.progress
        self._results = self._engine.results(use_cache=not self._inputs["no_cache"], progress=progress)
        answer = self._results.answer(self._query, self._loaded.settings, self._form)
        return self._deliver(answer, verbose=verbose) if answer is not None else None

    def deliver(self, text: str, outcome: Outcome[SearchDecision], *, verbose: bool) -> Delivery:
        answer, settings = Answer(text, False, outcome.notices), self._loaded.settings
        if self._results is not None:
            self._results.keep_answer(self._query, settings, self._form, answer)
        return self._deliver(answer, verbose=verbose, partial=outcome.payload.selection.pool.partial)

    def _deliver(self, answer: Answer, *, verbose: bool, partial: bool = False) -> Delivery:
        """For a partial answer it asks the engine for nothing that waits for the rest."""
        messages, engine, form = [], self._engine, self._environment.form
        if verbose and not partial:
            status = engine.status()
            messages.append(
                f"{status.source}: {count_noun(status.files, 'file')}, {count_noun(status.fragments, 'fragment')},"
                f" {status.read:,} read now, cached answer: {answer.cached}"
            )
        if form in LAYOUTS and not gives_notices(answer.text, answer.warnings, form):
            reported = condense_notices(self._loaded.notices)
            messages += [
                f"warning: {notice.message}" for notice in shown_notices(answer.warnings) if notice not in reported
            ]
            messages += [AS_XML] if form == "xml" and answer.text else []
        code = LOW if self._inputs["fail_on_low"] and answer.low else 0
        if partial:
            return Delivery(answer.text, said=(*messages, REST), exit_code=code)
        return Delivery(answer.text, said=tuple(messages), exit_code=code)

    def close(self) -> None:
        self._engine.close()


_WORKSPACE = re.compile(r"^repositories\s*=", re.MULTILINE)

DIGITS_SHOWN = 3  # decimals of scores as people print them; the JSON has six


class RetrievedPool(Struct, frozen=True, eq=False):
    """Holds the candidates of a query, and the open engine that reads their texts."""

    engine: Engine
    pool: Pool
    shared: bool = False  # the engine serves other readings too

    def close(self) -> None:
        """Closes the engine unless it serves others."""
        if not self.shared:
            self.engine.close()


class SearchDecision(Struct, frozen=True, eq=False):
    """Holds the selection, the engine that reads the texts of candidates, and how much the output shows."""

    engine: Engine
    selection: Selection
    explain: bool
    dropped: int | UnsetType | None  # the most dropped candidates to list; None lists all, UNSET the default


class Search(Kind[RetrievedPool, SearchDecision]):
    """See `Kind`; specs graph-rag and smart-pruning. A selection is stored in columns; its entries are made on
    demand."""

    name = "search"
    wording = Wording(
        "Search",
        place_of("search").about,
        "Candidates",
        "A folder can be opened here, and asked in the words of the task.",
    )
    inputs: ClassVar[Sequence[Input]] = INPUTS
    flags: ClassVar[Sequence[Flag]] = (
        Flag("budget", "N", "most tokens of the pack (default 8000)", least=0),
        Flag(
            "smart_pruning.priority_weights",
            "R,H,D",
            "weights of relevance, hotspot and distance, e.g. 0.4,0.3,0.3",
            typed="--weights",
            values=weights_of,
        ),
        Flag(TOP_K.key, "K", "how many of the best matches calls are followed from, 5-50 (default 10)"),
        Flag(DEPTH.key, "D", "steps of calls to follow, 1-4 (default 2)"),
        Flag(STRATEGY.key, "S", "priority (default), relevance or density"),
        Flag(
            "relevance.query_kind",
            "KIND",
            "kind of the query: auto, off, symbol, usage, message, phrase, question, issue or trace (default: off; auto"
            " with recommended)",
            typed="--query-kind",
        ),
        Flag(
            "graph_rag.only",
            "GLOB",
            "answer only from these files or folders; calls are followed everywhere; repeatable",
            repeatable=True,
        ),
        PIN,
        Flag("excludes", "ID", "drop this symbol id; repeatable", repeatable=True),
        Flag(
            "boosts", "ID=X", "multiply the priority of a symbol id by X; repeatable", repeatable=True, values=boosts_of
        ),
    )
    budget = BUDGET
    knobs: ClassVar[Sequence[Knob]] = KNOBS
    formats = ("text", "json", "markdown", "xml")
    finds = True
    depends_on = ("index.", "embedding.")

    def recognises(self, path: Path, head: str) -> bool:
        """Recognises the file of a workspace."""
        return path.suffix == ".toml" and _WORKSPACE.search(head) is not None

    def load(self, inputs: Inputs, load: Load, environment: Environment) -> Loaded:
        folder = environment.folder_of(inputs["path"])
        return load(folder, read_committed_settings(folder))

    # --- reading and deciding -----------------------------------------------------------------------------------------

    def reading_of(self, inputs: Inputs, settings: Settings) -> Hashable:
        source = inputs["query"], inputs["path"], inputs["rev"] or "", inputs["files_from"] or ""
        return (*source, settings.graph_rag.max_depth, *pool_key(settings))

    def read(self, inputs: Inputs, settings: Settings, environment: Environment) -> RetrievedPool:
        """Retrieves candidates. Their costs bound the tokens in a pack of `environment.form`: Markdown for text and
        JSON."""
        query = query_of(inputs, environment, settings)
        form, opened, shared = environment.form or "markdown", environment.found.pop(ENGINE, None), environment.shared
        if opened is None and shared is not None:
            # The index depends on these. Answers are not cached: many different queries would only displace others.
            made_with = settings.index, settings.tokens, settings.embedding, settings.redaction
            rev, listed = inputs["rev"] or "", inputs["files_from"] or ""
            moving = environment.moving and not listed
            key = inputs["path"], "" if moving else rev, listed, *made_with, environment.notices
            if key not in shared:
                shared[key] = open_engine(inputs, settings, environment)
            elif moving:
                shared[key].move(environment.folder_of(inputs["path"]), rev or None)
            pool = shared[key].retrieve(
                query, settings, format=form, use_cache=False, progress=environment.progress, refresh=False
            )
            return RetrievedPool(shared[key], pool, True)
        engine = opened or open_engine(inputs, settings, environment)
        try:
            tell = environment.progress
            pool = engine.retrieve_partial(query, settings, format=form, progress=tell) if inputs["partial"] else None
            if pool is None:
                pool = engine.retrieve(query, settings, format=form, use_cache=not inputs["no_cache"], progress=tell)
        except BaseException:
            if opened is None:
                engine.close()
            raise
        return RetrievedPool(engine, pool, opened is not None)

    def decide(
        self, material: RetrievedPool, inputs: Inputs, settings: Settings, during: Deciding = ALONE
    ) -> Outcome[SearchDecision]:
        selection = select(material.pool, settings)
        return self.outcome_of(
            material.engine, selection, settings, inputs["explain"], parse_dropped_limit(inputs["dropped"])
        )

    def outcome_of(
        self,
        engine: Engine,
        selection: Selection,
        settings: Settings,
        explain: bool = False,
        dropped: int | UnsetType | None = UNSET,
    ) -> Outcome[SearchDecision]:
        """Wraps a selection in an outcome. `explain` and `dropped` mean the same as the inputs of these names."""
        return Outcome(
            self.name,
            settings,
            SearchDecision(engine, selection, explain, dropped),
            lambda: search_ledger(selection, lambda: engine.pack_tokens(selection)),
            notices_of(selection),
        )

    def fit(self, outcome: Outcome[SearchDecision]) -> Outcome[SearchDecision]:
        decision, settings = outcome.payload, outcome.settings
        selection = fit_to_budget(decision.selection, settings, decision.engine.pack_tokens)
        if selection is decision.selection:
            return outcome
        return self.outcome_of(decision.engine, selection, settings, decision.explain, decision.dropped)

    def kept_answers(self, inputs: Inputs, loaded: Loaded, environment: Environment) -> SearchAnswers:
        return SearchAnswers(inputs, loaded, environment)

    def hold(self, outcome: Outcome[SearchDecision], index: int, settings: Settings) -> Settings | str:
        return self.steer(outcome, index, settings, Steer.PIN)

    def steer(self, outcome: Outcome[SearchDecision], index: int, settings: Settings, how: Steer) -> Settings | str:
        pool = outcome.payload.selection.pool
        return (
            steered(settings, pool.symbol_id[index], how)
            if index < len(pool)
            else f"only candidates can be {how.value}"
        )

    def overruled(self, outcome: Outcome[SearchDecision], index: int, settings: Settings) -> Steer | None:
        pool = outcome.payload.selection.pool
        return overruling(settings, pool.symbol_id[index]) if index < len(pool) else None

    def location(
        self, outcome: Outcome[SearchDecision], index: int, inputs: Inputs, environment: Environment
    ) -> FilePlace | None:
        """Returns a candidate's first line in the folder as it is now, which may differ from the searched commit."""
        pool = outcome.payload.selection.pool
        if index >= len(pool):
            return None
        folder, path = file_of(inputs["path"], pool.path[index], environment)
        return location_in(folder, path, int(pool.line_start[index]))

    def trials(
        self, material: RetrievedPool, inputs: Inputs, settings: Settings, outcome: Outcome[SearchDecision]
    ) -> Trials:
        from secateur.selection.pool_trials import PoolTrials

        return PoolTrials(material.pool, settings, outcome.payload.selection, material.engine.pack_tokens)

    def missing(self, outcome: Outcome[SearchDecision], name: str) -> Missing:
        from secateur.kinds.search.missing import explain_missing

        return explain_missing(outcome.payload.engine, outcome.payload.selection, outcome.settings, name)

    # --- describing entries -------------------------------------------------------------------------------------------

    def describe(self, outcome: Outcome[SearchDecision], index: int) -> EntryDescription:
        selection, row = outcome.payload.selection, index
        if row >= len(selection):
            return super().describe(outcome, row)
        pool = selection.pool
        lines = f"{pool.path[row]}:{line_range(pool.line_start[row], pool.line_end[row])}"
        name, lines = (pool.qualname[row], lines) if pool.qualname[row] else (lines, "")
        what = f"{pool.kind[row]}, {pool.language[row]}"
        kind = [("query", query_kind)] if (query_kind := kind_of(pool)) else []
        facts = ("id", pool.symbol_id[row]), ("what", what), *kind, *signals_of(selection, row, DIGITS_SHOWN)
        return EntryDescription(name, lines, facts=facts, because=why(selection, selection.decision(row)))

    def examined(self, outcome: Outcome[SearchDecision], dropped: int | UnsetType | None) -> Sequence[int]:
        selection, limit = outcome.payload.selection, DROPPED_LISTED if dropped is UNSET else dropped
        return [*selection.kept_rows, *selection.dropped_rows[:limit]]

    def place_name(self, outcome: Outcome[SearchDecision], number: int, line: int) -> str:
        return f"{outcome.payload.selection.pool.path[number]}:{line}"

    def command_line(
        self, inputs: Inputs, settings: Settings, opened: Settings, outcome: Outcome[SearchDecision] | None = None
    ) -> str:
        from secateur.kinds.search.knobs import search_command

        query, rev = inputs["query"], inputs["rev"] or None
        if outcome is not None:
            pool = outcome.payload.selection.pool
            query, rev = pool.query, pool.commit if rev else None
        return search_command(self.deciding_keys, query, inputs["path"], settings, opened, rev)

    # --- output -------------------------------------------------------------------------------------------------------

    def described(self, material: RetrievedPool) -> str:
        status = material.engine.status()
        counts = (status.files, "file"), (status.fragments, "fragment"), (len(material.pool), "candidate")
        return ", ".join(count_noun(count, noun) for count, noun in counts)

    def output(self, outcome: Outcome[SearchDecision]) -> SearchOutput:
        """Returns the report. Its `ledger` lists the kept candidates and the best dropped ones."""
        decision = outcome.payload
        told = decision.engine.report(decision.selection, explain=decision.explain, dropped=decision.dropped)
        missing = [notice for notice in outcome.of_settings if notice not in told.warnings]
        return structs.replace(told, warnings=[*missing, *told.warnings]) if missing else told

    def add_proofs(self, output: SearchOutput, outcome: Outcome[SearchDecision]) -> SearchOutput:
        """Adds `what_if` to each listed candidate, and the rest on top."""
        decision, proven = outcome.payload, outcome.explanation
        assert proven is not None
        row_of = decision.selection.pool.row_of
        listed = {
            name: [structs.replace(item, what_if=proven.what_if(row_of[item.symbol_id])) for item in items]
            for name, items in (("candidates", output.candidates), ("dropped", output.dropped))
        }
        return structs.replace(output, **listed, **structs.asdict(proven.shape()))

    def page(self, outcome: Outcome[SearchDecision], *, verbose: bool = False) -> Page:
        engine, selection, explain = outcome.payload.engine, outcome.payload.selection, outcome.payload.explain
        page = search_page(
            selection,
            engine.pack_tokens(selection),
            exact=engine.counter(outcome.settings).exact,
            explain=explain,
            dropped=outcome.payload.dropped,
        )
        return structs.replace(page, headline=(selection.pool.query, engine.source_name))

    def texts(self, outcome: Outcome[SearchDecision], index: int) -> tuple[str, str]:
        engine, selection = outcome.payload.engine, outcome.payload.selection
        if index >= len(selection):
            return "", ""
        return engine.content(selection.pool, index), engine.sent(selection, index)

    def leaving(self, outcome: Outcome[SearchDecision], form: str = "") -> str:
        decision = outcome.payload
        return decision.engine.render(decision.selection) if form or decision.selection.kept_rows else ""

    def unknown(self, outcome: Outcome[SearchDecision], ids: Collection[str]) -> Sequence[str]:
        decision = outcome.payload
        known, (snapshot, _) = decision.selection.pool.row_of, decision.engine.code()
        return sorted(id_ for id_ in ids if id_ not in known and snapshot.row_of(id_) < 0)

    def tunable(self, settings: Settings) -> Mapping[str, Sequence[float | str]]:
        """Returns the values to try for the weights of the priority and for the strategy."""
        return tunable(settings)

    def rehearsal(self, outcome: Outcome[SearchDecision]) -> Rehearsal:
        return rehearsal_of(outcome.payload.selection.pool)
