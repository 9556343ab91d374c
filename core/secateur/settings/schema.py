"""The whole of the settings, frozen, and the tables of the kinds that prune what is given to them: `[context_prune]`,
`[conversation_prune]`, `[context_budget]`, `[chunking]`, `[log]`. Every key of `secateur.toml` is a field of a table.

Type, range and sentence of a key are its annotation, its default is that of the field. Reading, validation, `--set`,
`secateur config`, the JSON schema and `docs/configuration.md` are derived from them (`keys.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from msgspec import Meta

from secateur.settings.ranges import Limit, Share, about
from secateur.settings.search import GraphRag, Preference, Relevance, Shorten, SmartPruning
from secateur.settings.services import Embedding, Index, InputLimits, Llm, Redacting, Tokens, Ui


@dataclass(frozen=True, slots=True)
class ContextPrune:
    """`[context_prune]`: file pruning (pruner)."""

    enabled: Annotated[bool, about("Off: files come back unchanged, and the output says so.")] = True
    strategy: Annotated[
        Literal["score", "extract", "delete"], about("How files are pruned.", flag="--strategy", scope="any")
    ] = "score"
    max_tokens: Annotated[Limit, about("Tokens the files may hold together.", flag="--max-tokens", scope="any")] = 8000
    full_file_share: Annotated[
        Share,
        about(
            "`extract`: share of the tokens up to which relevant files are kept whole before snippets are taken.",
            scope="any",
        ),
    ] = 0.8
    min_score: Annotated[
        float,
        Meta(ge=0, le=10),
        about(
            "`score` and `extract`: score, 0 to 10, below which a file or a snippet answers nothing; 0: all compete."
        ),
    ] = 0.1
    snippet_share: Annotated[
        Share, about("`extract`: share of the best snippet's relevance below which one is not taken.")
    ] = 0.15
    model_relevance: Annotated[
        Share, about("`extract`: relevance of lines that a model named and no word speaks for; words add to it.")
    ] = 0.5
    sliding_window_size: Annotated[
        int,
        Meta(ge=1, le=100_000),
        about("Lines of a window; longer functions are cut where their statements allow it.", flag="--window"),
    ] = 100
    sliding_window_overlap: Annotated[
        int, Meta(ge=0, le=99_999), about("Lines two windows share; less than the window.", flag="--overlap")
    ] = 20
    query_messages: Annotated[
        int, Meta(ge=1, le=1000), about("Messages of the user that are read of a conversation, from its end.")
    ] = 3
    max_questions: Annotated[
        int,
        Meta(ge=0, le=100_000),
        about("Most questions to a language model in one run; what is not asked is rated here."),
    ] = 100


@dataclass(frozen=True, slots=True)
class ConversationPrune:
    """`[conversation_prune]` (pruner)."""

    safe_zone_tokens: Annotated[Limit, about("Tokens a conversation may hold.", flag="--safe-zone", scope="any")] = (
        50000
    )
    cut_to: Annotated[
        float,
        Meta(ge=0.1, le=1),
        about(
            "Share of the safe zone that a conversation above it is cut down to. Each cut ends a prompt cache; one "
            "that leaves room lasts for many requests.",
            flag="--cut-to",
            scope="any",
        ),
    ] = 1.0
    group_size: Annotated[int, Meta(ge=1, le=1000), about("Messages of a group.", flag="--group-size")] = 4
    strategy: Annotated[
        Literal["summarize", "truncate", "hybrid", "staged", "tool-results"],
        about("How conversations are pruned.", flag="--strategy", scope="any"),
    ] = "tool-results"
    summary_share: Annotated[
        float,
        Meta(ge=0.02, le=0.9),
        about(
            "Share of what it stands for that a summary may take; less where there is less to tell or the safe zone "
            "asks for it."
        ),
    ] = 0.4
    summary_tokens: Annotated[
        int, Meta(ge=64, le=100_000), about("Most tokens a language model is asked for in one answer of a summary.")
    ] = 2000
    keep_first: Annotated[
        bool, about("Keep the first thing the user said, which is often the task and its rules, as the last.")
    ] = False
    keep_errors: Annotated[
        int, Meta(ge=0, le=20), about("Lines with an error that stay of a tool result that is cleared, verbatim.")
    ] = 0
    keep_last: Annotated[
        int, Meta(ge=0, le=1_000_000), about("Tool results at the end that are never cleared.", flag="--keep-last")
    ] = 0
    keep_tools: Annotated[tuple[str, ...], about("Tools whose results are never cleared.", flag="--keep-tools")] = ()
    least_saving: Annotated[
        int,
        Meta(ge=0, le=1_000_000),
        about("Tokens that clearing a tool result saves; results that would save fewer are the last to go."),
    ] = 20
    cache_read_price: Annotated[
        float,
        Meta(ge=0.001, le=1),
        about(
            "Price of a token that a provider reads from its prompt cache, as a share of an ordinary one's: tells "
            "when a prune pays."
        ),
    ] = 0.1
    cache_write_price: Annotated[
        float,
        Meta(ge=1, le=4),
        about(
            "Price of a token that is written to the cache, as a share of an ordinary one's; 1 where writing is free."
        ),
    ] = 1.25


@dataclass(frozen=True, slots=True)
class ContextBudget:
    """`[context_budget]`: prompt envelopes (context-budget)."""

    tokens: Annotated[
        Limit,
        about(
            "Tokens an envelope may hold where no `--context-budget` is given; 0: a share of the model's window.",
            flag="--context-budget",
            scope="any",
        ),
    ] = 0
    reserve: Annotated[
        Limit,
        about(
            "Tokens kept free for the answer where no `--reserve` is given; 0: the window's other share.",
            flag="--reserve",
            scope="any",
        ),
    ] = 0
    context_share: Annotated[
        float,
        Meta(ge=0.01, le=0.99),
        about("Share of the model's window for context when no budget is given.", scope="any"),
    ] = 0.7
    windows: Annotated[Mapping[str, int], about("Tokens of further models' windows.")] = field(default_factory=dict)
    keep_items: Annotated[
        int, Meta(ge=0, le=1_000_000), about("Items a summarised dependency list keeps as they are, at least.")
    ] = 10
    keep_chars: Annotated[
        int,
        Meta(ge=20, le=1_000_000),
        about("Characters that a truncated text keeps, at least, and a summary at most."),
    ] = 400
    uniform_entries_share: Annotated[
        Share,
        about("Share of the budget in use from which entries of the digest are whole or a reference, none in between."),
    ] = 0.85
    extensions: Annotated[
        tuple[str, ...],
        about(
            "Names of fields outside the target and the dependency digest that may be trimmed; so may fields whose "
            "names begin with `x_` or `x-`."
        ),
    ] = ("extensions", "extension", "ext", "extras", "extra")


@dataclass(frozen=True, slots=True)
class Chunking:
    """`[chunking]`: diffs in chunks (smart-chunking)."""

    max_chunk_tokens: Annotated[
        int, Meta(ge=100, le=100_000_000), about("Most tokens of a chunk.", flag="--max-tokens", scope="any")
    ] = 32000
    token_ratio: Annotated[float, Meta(ge=0.5, le=20), about("Characters a token with the counter chars4.")] = 4.0
    ignore: Annotated[
        tuple[str, ...],
        about(
            "More patterns of files left out, in gitignore syntax; one with `!` takes files in whatever the other "
            "rules say.",
            scope="any",
        ),
    ] = ()
    max_file_kb: Annotated[
        int,
        Meta(ge=1, le=1_048_576),
        about("Files of this size and above are left out.", scope="any", lowered_only=True),
    ] = 1024
    context_lines: Annotated[
        int,
        Meta(ge=0, le=1000),
        about(
            "Unchanged lines around a change, where the diff is made from a repository.", flag="--context", scope="any"
        ),
    ] = 3
    keep_together: Annotated[
        bool, about("Move files of one folder, and files that use each other, into one chunk where it costs none.")
    ] = True
    signatures: Annotated[
        bool,
        about(
            "Declarations of callers and callees of changed functions, where there is room; reads the repository's "
            "index, or makes it.",
            flag="--signatures",
        ),
    ] = False
    rules: Annotated[
        tuple[str, ...],
        about("Files at the repository's top that are its rules, read as they were before the change.", scope="any"),
    ] = ("CLAUDE.md", "AGENTS.md")


@dataclass(frozen=True, slots=True)
class Log:
    """`[log]`: logs under a budget."""

    max_tokens: Annotated[Limit, about("Tokens of a log that may go out.", flag="--max-tokens", scope="any")] = 4000
    block_share: Annotated[
        Share,
        about(
            "Share of the tokens that one error may take with its stack, as long as others have not had their turn; a "
            "longer one keeps its telling lines, its beginning and its end.",
            scope="any",
        ),
    ] = 0.4
    last_share: Annotated[
        Share, about("Share of the tokens kept for the last lines and the results of a run.", scope="any")
    ] = 0.2
    last_lines: Annotated[int, Meta(ge=0, le=10_000), about("Lines at the end of a log that come before others.")] = 20
    context_lines: Annotated[
        int, Meta(ge=0, le=100), about("Lines before and after an error that come before routine lines.")
    ] = 3
    fill: Annotated[bool, about("Routine lines take what room is left, those nearest to anything else first.")] = True
    longest_line: Annotated[
        int, Meta(ge=80, le=1_000_000), about("Characters of a line above which its end is cut off.")
    ] = 2000
    least_repeats: Annotated[
        int,
        Meta(ge=2, le=1000),
        about("Lines in a row that differ in numbers alone, or in nothing, from which only the first goes out."),
    ] = 3


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that is set. Build it with `secateur.settings.load` or with `Settings()` and `with_values`."""

    profile: Annotated[
        str,
        about(
            "Named table of settings: `spec` (the specs; anchors by words and vectors), `recommended`, or one of"
            " `[profiles.NAME]`.",
            flag="--profile",
            scope="any",
        ),
    ] = "spec"
    graph_rag: GraphRag = field(default_factory=GraphRag)
    smart_pruning: SmartPruning = field(default_factory=SmartPruning)
    shorten: Shorten = field(default_factory=Shorten)
    relevance: Relevance = field(default_factory=Relevance)
    index: Index = field(default_factory=Index)
    inputs: InputLimits = field(default_factory=InputLimits)
    embedding: Embedding = field(default_factory=Embedding)
    tokens: Tokens = field(default_factory=Tokens)
    redaction: Redacting = field(default_factory=Redacting)
    preference: Preference = field(default_factory=Preference)
    context_prune: ContextPrune = field(default_factory=ContextPrune)
    conversation_prune: ConversationPrune = field(default_factory=ConversationPrune)
    context_budget: ContextBudget = field(default_factory=ContextBudget)
    chunking: Chunking = field(default_factory=Chunking)
    log: Log = field(default_factory=Log)
    llm: Llm = field(default_factory=Llm)
    ui: Ui = field(default_factory=Ui)
    profiles: Annotated[
        Mapping[str, Any], about("Profiles of your own: `[profiles.NAME]` with any of the tables above.", scope="any")
    ] = field(default_factory=dict)
    kinds: Mapping[str, Any] = field(default_factory=dict)
    """Values of kinds of other distributions, by dotted key; each kind declares those of its own (`keys.kind_keys`)."""
    budget: Annotated[
        int,
        Meta(ge=-1),
        about(
            "Budget of this run, any integer from 0 (`--budget`); -1: `graph_rag.token_budget`.",
            flag="--budget",
            scope="run",
        ),
    ] = -1
    pins: Annotated[tuple[str, ...], about("Symbol ids that are kept first (`--pin`).", scope="run", flag="--pin")] = ()
    excludes: Annotated[
        tuple[str, ...], about("Symbol ids that are dropped (`--exclude`).", scope="run", flag="--exclude")
    ] = ()
    boosts: Annotated[
        Mapping[str, float], about("Factor on the priority of a symbol id (`--boost`).", scope="run", flag="--boost")
    ] = field(default_factory=dict)

    @property
    def effective_budget(self) -> int:
        """Tokens the rendered pack may hold in this run."""
        return self.graph_rag.token_budget if self.budget < 0 else self.budget
