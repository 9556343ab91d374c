"""One schema, frozen settings, named profiles.

The dataclasses below are the schema: every key of `secateur.toml` is a field, its default, range, scope and sentence
are its metadata. Reading, validation, `--set`, `secateur config`, the JSON schema and `docs/configuration.md` are
derived from them (`config.py`). `REPOSITORY_KEYS` is the short list of what a repository's own file may set; every
other key, a new one too, is the user's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


def key(
    default: Any,
    doc: str,
    *,
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] = (),
    scope: str = "file",
) -> Any:
    """A field of the schema: default, sentence, allowed range or choices; scope "run": set by the command line alone,
    never by a file."""
    metadata = {"doc": doc, "low": low, "high": high, "choices": choices, "scope": scope}
    if isinstance(default, (dict, list)):
        return field(default_factory=lambda: type(default)(default), metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, slots=True)
class GraphRag:
    """`[graph_rag]`: the table of the graph-rag spec."""

    enabled: bool = key(
        True, "Follow callers and callees from the anchors; off: anchors only, `source` says `embedding`."
    )
    max_depth: int = key(2, "Steps of calls followed from an anchor.", low=1, high=4)
    token_budget: int = key(
        8000, "Tokens of the pack. An explicit --budget takes any integer from 0.", low=4000, high=16000
    )
    cache_ttl: int = key(300, "Seconds a query's answer is kept.", low=60, high=3600)
    top_k: int = key(10, "Anchors of a query.", low=5, high=50)
    anchors: str = key(
        "mixed",
        "What chooses the anchors: `mixed` (relevance, of words and vectors) or `embedding` (REQ-GRAG-001 literally:"
        " relevance is the vectors' similarity).",
        choices=("mixed", "embedding"),
    )
    cache_dir: str = key(
        "",
        "Folder of the result cache, relative to the repository. Empty: a folder of the repository's own in your cache"
        " folder. The spec's place is `.devbooks/cache/graph-context`.",
    )


@dataclass(frozen=True, slots=True)
class PriorityWeights:
    """`[smart_pruning.priority_weights]`: REQ-SP-002."""

    relevance: float = key(0.4, "Weight of relevance.", low=0, high=10)
    hotspot: float = key(0.3, "Weight of the hotspot score.", low=0, high=10)
    distance: float = key(0.3, "Weight of 1 / distance.", low=0, high=10)


@dataclass(frozen=True, slots=True)
class SmartPruning:
    """`[smart_pruning]`: how the pool becomes a selection."""

    strategy: str = key("priority", "Order of the greedy selection.", choices=("priority", "relevance", "density"))
    signature_share: float = key(
        0.0, "Share of the budget for declarations of fragments that did not fit whole.", low=0, high=0.5
    )
    priority_weights: PriorityWeights = field(default_factory=PriorityWeights)


@dataclass(frozen=True, slots=True)
class HoldBack:
    """`[relevance.hold_back]`: the share of its relevance a fragment of a kind loses, unless a short query asks for the
    kind."""

    test: float = key(0.0, "Tests.", low=0, high=1)
    documentation: float = key(0.0, "Documents.", low=0, high=1)
    example: float = key(0.0, "Examples and demos.", low=0, high=1)
    vendored: float = key(0.0, "Code of others kept in the repository.", low=0, high=1)
    generated: float = key(0.0, "Code a program wrote.", low=0, high=1)
    header: float = key(0.0, "Headers of classes: declaration and fields without methods.", low=0, high=1)
    region: float = key(0.0, "Module-level code: imports, constants.", low=0, high=1)
    prose: float = key(0.0, "Sections and blocks of text and configuration.", low=0, high=1)
    copy: float = key(0.0, "What is nearly the same text as a better candidate.", low=0, high=1)


@dataclass(frozen=True, slots=True)
class Relevance:
    """`[relevance]`: what relevance is made of: a weighted mean of parts in [0, 1], less what is held back, on a curve
    (`retrieval.relevance`)."""

    pool: str = key(
        "anchors",
        "Candidates: `anchors` (top_k and what calls lead to) or `all` (every fragment with relevance).",
        choices=("anchors", "all"),
    )
    pool_cap: int = key(
        3000,
        "Most fragments that are candidates for their relevance alone, with `pool = all`; what calls lead to and pins"
        " come besides.",
        low=50,
        high=200000,
    )
    lexical: float = key(0.5, "Weight of the code-aware word match in the fragment's text.", low=0, high=4)
    title: float = key(0.0, "Weight of the match of the query's first line in the fragment's text.", low=0, high=4)
    name: float = key(0.15, "Weight of words of the query in the fragment's qualified name.", low=0, high=4)
    description: float = key(0.0, "Weight of the match with its leading comments and docstring.", low=0, high=4)
    path: float = key(0.05, "Weight of words of the query in the file's path.", low=0, high=4)
    file: float = key(0.0, "Weight of the match with the whole file.", low=0, high=4)
    siblings: float = key(0.0, "Weight of the best match among the file's other fragments.", low=0, high=4)
    semantic: float = key(0.3, "Weight of the embedding similarity.", low=0, high=4)
    mention: float = key(0.0, "Weight of names the query writes out, rare ones more.", low=0, high=4)
    place: float = key(0.0, "Weight of paths and stack frames in the query.", low=0, high=4)
    history: float = key(
        0.0, "Weight of commits whose message is like the query and that touched the file.", low=0, high=4
    )
    callers: float = key(0.0, "Weight of the best match among what calls the fragment.", low=0, high=4)
    callees: float = key(0.0, "Weight of the best match among what the fragment calls.", low=0, high=4)
    tests: float = key(0.0, "Weight of the best match among the tests that call the fragment.", low=0, high=4)
    floor: float = key(
        0.35,
        "Best relevance below which a query of which hardly a word occurs here has no answer: no anchors, `no_match`.",
        low=0,
        high=1,
    )
    low: float = key(
        0.45,
        "Best relevance below which the answer says that the query may not be about this repository.",
        low=0,
        high=1,
    )
    hold_back: HoldBack = field(default_factory=HoldBack)


@dataclass(frozen=True, slots=True)
class Index:
    """`[index]`: what is read of a repository."""

    ignore: tuple[str, ...] = key((), "More ignore patterns, in gitignore syntax.")
    max_file_kb: int = key(1024, "Files above this size are skipped and counted.", low=1, high=1048576)
    scip: str = key(
        "index.scip",
        "A SCIP index below the folder that is read: where it is up to date, its calls replace resolved ones. Empty:"
        " none is read.",
    )
    workers: int = key(0, "Parser processes; 0 = one per core.", low=0, high=256)
    trust_git_dir: bool = key(
        False, "Also read a git folder or objects that lie elsewhere and do not belong to the folder."
    )


@dataclass(frozen=True, slots=True)
class Embedding:
    """`[embedding]`: where vectors come from. `static` needs no network and no model file."""

    model: str = key(
        "static",
        "`static`, `bge` (extra `semantic`), `openai` or `ollama` (a server), `none`.",
        choices=("static", "bge", "openai", "ollama", "none"),
    )
    base_url: str = key("", "Base URL of the embedding server.")
    server_model: str = key("", "Model name to send to the server.")
    api_key_env: str = key("", "Name of the environment variable that holds the server's key.")


@dataclass(frozen=True, slots=True)
class Tokens:
    """`[tokens]`."""

    counter: str = key(
        "o200k_base",
        "Token counter of the run.",
        choices=("o200k_base", "cl100k_base", "o200k_harmony", "estimate", "chars4"),
    )


@dataclass(frozen=True, slots=True)
class Preference:
    """`[preference]`: intent preference (SC-SP-007)."""

    enabled: bool = key(False, "Give preferred symbols a term of their own.")
    weight: float = key(0.2, "Weight of the preference term.", low=0, high=10)


@dataclass(frozen=True, slots=True)
class ContextPrune:
    """`[context_prune]`: file pruning (pruner)."""

    enabled: bool = key(True, "Off: files come back unchanged, and the output says so.")
    strategy: str = key("score", "How files are pruned.", choices=("score", "extract", "delete"))
    max_tokens: int = key(8000, "Tokens the files may hold together.", low=0, high=100000000)
    full_file_share: float = key(
        0.8,
        "`extract`: share of the tokens up to which relevant files are kept whole before snippets are taken.",
        low=0,
        high=1,
    )
    least_score: float = key(
        0.1,
        "`score` and `extract`: score, 0 to 10, below which a file or a snippet answers nothing; 0: all compete.",
        low=0,
        high=10,
    )
    snippet_share: float = key(
        0.15, "`extract`: share of the best snippet's relevance below which one is not taken.", low=0, high=1
    )
    sliding_window_size: int = key(
        100, "Lines of a window; longer functions are cut where their statements allow it.", low=1, high=100000
    )
    sliding_window_overlap: int = key(20, "Lines two windows share; less than the window.", low=0, high=99999)
    query_turns: int = key(3, "Messages of the user that are read of a conversation, from its end.", low=1, high=1000)
    max_questions: int = key(
        100, "Most questions to a language model in one run; what is not asked is rated here.", low=0, high=100000
    )


@dataclass(frozen=True, slots=True)
class ConversationPrune:
    """`[conversation_prune]` (pruner)."""

    safe_zone_tokens: int = key(50000, "Tokens a conversation may hold.", low=0, high=100000000)
    group_size: int = key(4, "Messages of a group.", low=1, high=1000)
    strategy: str = key(
        "tool-results", "How conversations are pruned.", choices=("summarize", "truncate", "hybrid", "tool-results")
    )
    summary_share: float = key(
        0.4,
        "Share of what it stands for that a summary may take; less where there is less to tell or the safe zone asks"
        " for it.",
        low=0.02,
        high=0.9,
    )
    keep_last: int = key(0, "Tool results at the end that are never cleared.", low=0, high=1000000)
    keep_tools: tuple[str, ...] = key((), "Tools whose results are never cleared.")
    cache_read_price: float = key(
        0.1,
        "Price of a token that a provider reads from its prompt cache, as a share of an ordinary one's: tells when a"
        " prune pays.",
        low=0.001,
        high=1,
    )
    cache_write_price: float = key(
        1.25,
        "Price of a token that is written to the cache, as a share of an ordinary one's; 1 where writing is free.",
        low=1,
        high=4,
    )


@dataclass(frozen=True, slots=True)
class ContextBudget:
    """`[context_budget]`: prompt envelopes (context-budget)."""

    tokens: int = key(
        0,
        "Tokens an envelope may hold where no `--context-budget` is given; 0: a share of the model's window.",
        low=0,
        high=100000000,
    )
    reserve: int = key(
        0,
        "Tokens kept free for the answer where no `--reserve` is given; 0: the window's other share.",
        low=0,
        high=100000000,
    )
    context_share: float = key(
        0.7, "Share of the model's window for context when no budget is given.", low=0.01, high=0.99
    )
    windows: Mapping[str, int] = key({}, "Tokens of further models' windows.")
    keep_items: int = key(10, "Items a summarised dependency list keeps as they are, at least.", low=0, high=1000000)
    keep_chars: int = key(
        400, "Characters that a truncated text keeps, at least, and a summary at most.", low=20, high=1000000
    )
    extensions: tuple[str, ...] = key(
        ("extensions", "extension", "ext", "extras", "extra"),
        "Names of fields outside the target and the dependency digest that may be trimmed; so may fields whose names"
        " begin with `x_` or `x-`.",
    )


@dataclass(frozen=True, slots=True)
class Chunking:
    """`[chunking]`: diffs in chunks (smart-chunking)."""

    max_chunk_tokens: int = key(32000, "Most tokens of a chunk.", low=100, high=100000000)
    token_ratio: float = key(4.0, "Characters a token with the counter chars4.", low=0.5, high=20)
    ignore: tuple[str, ...] = key(
        (),
        "More patterns of files left out, in gitignore syntax; one with `!` takes files in whatever the other rules"
        " say.",
    )
    max_file_kb: int = key(1024, "Files of this size and above are left out.", low=1, high=1048576)
    context_lines: int = key(
        3, "Unchanged lines around a change, where the diff is made from a repository.", low=0, high=1000
    )
    keep_together: bool = key(
        True, "Move files of one folder, and files that use each other, into one chunk where it costs none."
    )
    signatures: bool = key(
        False,
        "Declarations of callers and callees of changed functions, where there is room; reads the repository's index,"
        " or makes it.",
    )
    rules: tuple[str, ...] = key(
        ("CLAUDE.md", "AGENTS.md"),
        "Files at the repository's top that are its rules, read as they were before the change.",
    )


@dataclass(frozen=True, slots=True)
class Llm:
    """`[llm]`: an OpenAI-compatible server; off by default."""

    enabled: bool = key(False, "Use the server.")
    base_url: str = key("", "Base URL of the server.")
    model: str = key("", "Model name to send.")
    api_key_env: str = key("", "Name of the environment variable that holds the key.")
    timeout: int = key(60, "Seconds an answer may take, to its last byte.", low=1, high=3600)
    retries: int = key(2, "Further attempts where a server does not listen, is busy or fails.", low=0, high=10)
    concurrency: int = key(4, "Questions under way at once.", low=1, high=64)
    spend_cap: int = key(
        200_000,
        "Tokens a run may spend, prompts and answers, by estimates made before anything is sent.",
        low=0,
        high=10**9,
    )
    text_tokens: int = key(
        6000,
        "Tokens of text one question may carry; what is longer is cut. Less for models with small windows.",
        low=100,
        high=10**6,
    )


@dataclass(frozen=True, slots=True)
class Ui:
    """`[ui]`: the inspector."""

    theme: str = key("secateur-dark", "Theme: a file of the themes folder, without `.toml`.")
    watch: str = key(
        "notice",
        "Files that change while the inspector is open: `notice` says so, `follow` reads them and asks again, `off`"
        " does not look.",
        choices=("off", "notice", "follow"),
    )
    keys: Mapping[str, str] = key({}, 'Key per action id, for example `budget-up = "b"`.')


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that is set. Build it with `secateur.config.load` or with `Settings()` and `dataclasses.replace`."""

    profile: str = key(
        "spec",
        "Named table of settings: `spec` (the specs; anchors by words and vectors), `recommended`, or one of"
        " `[profiles.NAME]`.",
    )
    graph_rag: GraphRag = field(default_factory=GraphRag)
    smart_pruning: SmartPruning = field(default_factory=SmartPruning)
    relevance: Relevance = field(default_factory=Relevance)
    index: Index = field(default_factory=Index)
    embedding: Embedding = field(default_factory=Embedding)
    tokens: Tokens = field(default_factory=Tokens)
    preference: Preference = field(default_factory=Preference)
    context_prune: ContextPrune = field(default_factory=ContextPrune)
    conversation_prune: ConversationPrune = field(default_factory=ConversationPrune)
    context_budget: ContextBudget = field(default_factory=ContextBudget)
    chunking: Chunking = field(default_factory=Chunking)
    llm: Llm = field(default_factory=Llm)
    ui: Ui = field(default_factory=Ui)
    profiles: Mapping[str, Mapping[str, Any]] = key(
        {}, "Profiles of your own: `[profiles.NAME]` with any of the tables above."
    )
    budget: int = key(
        -1, "Budget of this run, any integer from 0 (`--budget`); -1: `graph_rag.token_budget`.", low=-1, scope="run"
    )
    pins: tuple[str, ...] = key((), "Symbol ids that are kept first (`--pin`).", scope="run")
    excludes: tuple[str, ...] = key((), "Symbol ids that are dropped (`--exclude`).", scope="run")
    boosts: Mapping[str, float] = key({}, "Factor on the priority of a symbol id (`--boost`).", scope="run")

    @property
    def effective_budget(self) -> int:
        """Tokens the rendered pack may hold in this run."""
        return self.graph_rag.token_budget if self.budget < 0 else self.budget


PROFILES: Mapping[str, Mapping[str, Any]] = {
    # The specs, literally: 0.4 / 0.3 / 0.3, greedy with skip, top_k 10, depth 2, 8000 tokens. One clause is not:
    # relevance, and so the anchors, is words more than vectors (REQ-GRAG-001); `graph_rag.anchors = "embedding"` is
    # that clause literally.
    "spec": {
        "graph_rag": {"max_depth": 2, "token_budget": 8000, "top_k": 10},
        "smart_pruning": {
            "strategy": "priority",
            "signature_share": 0.0,
            "priority_weights": {"relevance": 0.4, "hotspot": 0.3, "distance": 0.3},
        },
        "relevance": {
            "pool": "anchors",
            "lexical": 0.5,
            "name": 0.15,
            "path": 0.05,
            "semantic": 0.3,
            "mention": 0.0,
            "floor": 0.35,
            "low": 0.45,
        },
    },
    # Relevance leads, hotspot and distance are small bonuses; every relevant fragment competes; declarations of what
    # did not fit; of files snippets alone.
    "recommended": {
        "context_prune": {"full_file_share": 0.0},
        "smart_pruning": {
            "strategy": "priority",
            "signature_share": 0.08,
            "priority_weights": {"relevance": 0.95, "hotspot": 0.02, "distance": 0.03},
        },
        "relevance": {
            "pool": "all",
            "floor": 0.05,
            "low": 0.35,
            "lexical": 2.0,
            "title": 0.28,
            "name": 0.3,
            "description": 0.05,
            "path": 0.22,
            "file": 0.1,
            "siblings": 0.05,
            "semantic": 0.6,
            "mention": 0.4,
            "place": 0.25,
            "history": 2.6,
            "callers": 0.08,
            "callees": 0.08,
            "tests": 0.05,
            "hold_back": {
                "test": 0.85,
                "documentation": 0.5,
                "example": 0.8,
                "vendored": 0.7,
                "generated": 0.6,
                "header": 0.7,
                "region": 0.75,
                "prose": 0.85,
                "copy": 0.2,
            },
        },
    },
}
