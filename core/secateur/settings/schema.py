"""All settings, frozen: every key of `secateur.toml` is a field of a table. Those of a search are in `search.py`.

A field's annotation holds the key's type, range and description; the field's default is the key's. Reading, validation,
`--set`, `secateur config`, the JSON schema and docs/reference/configuration.md derive from the fields (`keys.py`).
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import Meta, field
from msgspec.structs import force_setattr

from secateur.errors import ConfigError
from secateur.settings.search import (
    GraphRag,
    Limit,
    Preference,
    Relevance,
    Share,
    SmartPruning,
    Table,
    about,
    replace_in_table,
)
from secateur.suggestions import suggestion

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
            "query_kind": "off",
            "lexical": 0.5,
            "name": 0.15,
            "path": 0.05,
            "semantic": 0.3,
            "mention": 0.0,
            "no_match_threshold": 0.35,
            "low_threshold": 0.45,
        },
    },
    # Relevance dominates, slightly reduced for large fragments; hotspot and distance are small bonuses; every relevant
    # fragment competes; fragments that did not fit leave declarations; only snippets of files are kept;
    # conversations are cut rarely, and then by as much as a prompt cache pays for.
    "recommended": {
        "context_prune": {"full_file_share": 0.0},
        "conversation_prune": {
            "cut_to": 0.3,
            "keep_errors": 3,
            "keep_first": True,
            "keep_last": 3,
            "strategy": "staged",
        },
        "smart_pruning": {
            "strategy": "density",
            "density_exponent": 0.06,
            "signature_share": 0.08,
            "priority_weights": {"relevance": 0.95, "hotspot": 0.02, "distance": 0.03},
        },
        "relevance": {
            "pool": "all",
            "query_kind": "auto",
            "no_match_threshold": 0.05,
            "low_threshold": 0.35,
            "lexical": 2.0,
            "title": 0.14,
            "name": 0.3,
            "path": 0.6,
            "file": 0.2,
            "semantic": 0.6,
            "mention": 0.4,
            "definition": 2.0,
            "usage": 2.0,
            "history": 2.6,
            "title_name": 0.25,
            "phrase": 0.5,
            "named_file": 0.2,
            "trace": 0.4,
            "near": 0.3,
            "issue_forms": True,
            "penalty": {
                "test": 0.85,
                "documentation": 0.5,
                "example": 0.8,
                "vendored": 0.7,
                "generated": 0.6,
                "header": 0.7,
                "region": 0.75,
                "prose": 0.85,
                "duplicate": 0.2,
            },
        },
    },
}


def profile_table(name: Any, own: Mapping[str, Any], place: str) -> Mapping[str, Any]:
    """Returns the table of a profile, built in or one of the user's `own`. Raises ConfigError: there is none."""
    table: Mapping[str, Any] | None = (PROFILES.get(name) or own.get(name)) if isinstance(name, str) else None
    if table is None:
        profile_names = (*PROFILES, *sorted(own))
        near = suggestion(name, profile_names) if isinstance(name, str) else ""
        raise ConfigError(
            f"{place} {name} is not allowed" if place == "--profile" else f"{place}: unknown profile {name!r}",
            hint=(f"did you mean {near}? " if near else "") + f"profiles: {', '.join(profile_names)}",
        )
    return table


MAX_BOOST = 1000  # largest factor: with more, other priorities become invisible. Pins are for what must be kept.


class Index(Table, frozen=True):
    """`[index]`: which files of a repository are read."""

    ignore: Annotated[tuple[str, ...], about("More ignore patterns, in gitignore syntax.", scope="any")] = ()
    max_file_kb: Annotated[
        int,
        Meta(ge=1, le=1_048_576),
        about("Files above this size are skipped and counted.", scope="any", lowered_only=True),
    ] = 1024
    workers: Annotated[int, Meta(ge=0, le=256), about("Parser processes; 0 = one per core.", flag="--workers")] = 0
    trust_git_dir: Annotated[
        bool,
        about(
            "Also read a git folder or objects that lie elsewhere and do not belong to the folder.",
            flag="--trust-git-dir",
        ),
    ] = False


class Embedding(Table, frozen=True):
    """`[embedding]`: where vectors come from. `static` needs no network and no model file."""

    model: Annotated[
        Literal["static", "bge", "openai", "ollama", "none"],
        about("`static`, `bge` (extra `semantic`), `openai` or `ollama` (a server), `none`."),
    ] = "static"
    base_url: Annotated[str, about("Base URL of the embedding server.")] = ""
    server_model: Annotated[str, about("Model name to send to the server.")] = ""
    api_key_env: Annotated[str, about("Name of the environment variable that holds the server's key.")] = ""


class Tokens(Table, frozen=True):
    """`[tokens]`."""

    counter: Annotated[
        Literal["o200k_base", "cl100k_base", "o200k_harmony", "estimate", "chars4"],
        about("Token counter of the run.", flag="--counter"),
    ] = "o200k_base"


class Redacting(Table, frozen=True):
    """`[redaction]`: credentials are removed from everything that is read. Only the user can change that."""

    enabled: Annotated[
        bool, about("Replace credentials with markers in everything that is read.", flag="--no-redact")
    ] = True
    scanner: Annotated[
        Literal["full", "rules"],
        about(
            "Scanner for credentials: the scanner of the extra `secrets` and the built-in rules, with a warning"
            " if the extra is not installed (`full`), or only the built-in rules (`rules`)."
        ),
    ] = "full"
    allow: Annotated[
        tuple[str, ...],
        about("Credentials that are known to be harmless and stay, as texts in which `*` matches any characters."),
    ] = ()
    allow_rules: Annotated[
        tuple[str, ...], about("Rules whose findings stay, by the names in the markers, for example `jwt`.")
    ] = ()
    allow_paths: Annotated[
        tuple[str, ...],
        about("Files that are not scanned, as paths in which `*` matches any characters, `/` included."),
    ] = ()


class Llm(Table, frozen=True):
    """`[llm]`: an OpenAI-compatible server; off by default."""

    enabled: Annotated[bool, about("Use the server.")] = False
    base_url: Annotated[str, about("Base URL of the server.")] = ""
    model: Annotated[str, about("Model name to send.")] = ""
    api_key_env: Annotated[str, about("Name of the environment variable that holds the key.")] = ""
    timeout: Annotated[int, Meta(ge=1, le=3600), about("Most seconds for a complete answer.")] = 60
    spend_cap: Annotated[
        int,
        Meta(ge=0, le=10**9),
        about("Most tokens that a run may spend on prompts and answers, by estimates made before sending."),
    ] = 200_000
    text_tokens: Annotated[
        int,
        Meta(ge=100, le=10**6),
        about("Most tokens of text in one question; longer text is cut. Less for models with small windows."),
    ] = 6000


class Ui(Table, frozen=True):
    """`[ui]`: the inspector."""

    theme: Annotated[str, about("Theme: a file of the themes folder, without `.toml`.")] = "secateur-dark"
    keys: Annotated[Mapping[str, str], about('Key by action id, for example `budget-up = "b"`.')] = field(
        default_factory=dict
    )


class ContextPrune(Table, frozen=True):
    """`[context_prune]`: file pruning (pruner)."""

    enabled: Annotated[bool, about("Off: files are returned unchanged, and the output says so.")] = True
    strategy: Annotated[
        Literal["score", "extract", "delete"], about("How files are pruned.", flag="--strategy", scope="any")
    ] = "score"
    max_tokens: Annotated[Limit, about("Most tokens of all files together.", flag="--max-tokens", scope="any")] = 8000
    full_file_share: Annotated[
        Share, about("`extract`: share of the tokens for whole relevant files, before snippets are taken.", scope="any")
    ] = 0.8
    min_score: Annotated[
        float,
        Meta(ge=0, le=10),
        about("`score` and `extract`: score from 0 to 10 below which a file or snippet is left out; 0: all compete."),
    ] = 0.0
    snippet_share: Annotated[
        Share, about("`extract`: a snippet with less than this share of the best snippet's relevance is left out.")
    ] = 0.15
    sliding_window_size: Annotated[
        int,
        Meta(ge=1, le=100_000),
        about("Lines of a window; longer functions are split between statements.", flag="--window"),
    ] = 100
    sliding_window_overlap: Annotated[
        int,
        Meta(ge=0, le=99_999),
        about(
            "Lines that two windows share, and that a snippet of a split function may take from the part beside it;"
            " less than the window.",
            flag="--overlap",
        ),
    ] = 20


class ConversationPrune(Table, frozen=True):
    """`[conversation_prune]` (pruner)."""

    safe_zone_tokens: Annotated[Limit, about("Most tokens of a conversation.", flag="--safe-zone", scope="any")] = 50000
    cut_to: Annotated[
        float,
        Meta(ge=0.1, le=1),
        about(
            "A longer conversation is cut to this share of the room beside what must stay. Each cut invalidates a "
            "prompt cache; a deep cut lasts for many requests.",
            flag="--cut-to",
            scope="any",
        ),
    ] = 1.0
    group_size: Annotated[int, Meta(ge=1, le=1000), about("Messages per group.", flag="--group-size")] = 4
    strategy: Annotated[
        Literal["summarize", "truncate", "hybrid", "staged", "tool-results"],
        about("How conversations are pruned.", flag="--strategy", scope="any"),
    ] = "tool-results"
    keep_first: Annotated[
        bool, about("Keep the user's first message, often the task and its rules, in addition to the last.")
    ] = False
    keep_errors: Annotated[
        int, Meta(ge=0, le=20), about("Error lines of a cleared tool result that are kept verbatim.")
    ] = 0
    keep_last: Annotated[
        int, Meta(ge=0, le=1_000_000), about("Tool results at the end that are never cleared.", flag="--keep-last")
    ] = 0
    keep_tools: Annotated[tuple[str, ...], about("Tools whose results are never cleared.", flag="--keep-tools")] = ()


class ContextBudget(Table, frozen=True):
    """`[context_budget]`: prompt envelopes (context-budget)."""

    tokens: Annotated[
        Limit,
        about(
            "Most tokens of an envelope without `--context-budget`; 0: 70 % of the model's window.",
            flag="--context-budget",
            scope="any",
        ),
    ] = 0
    reserve: Annotated[
        Limit,
        about(
            "Tokens reserved for the answer without `--reserve`; 0: the rest of the window.",
            flag="--reserve",
            scope="any",
        ),
    ] = 0
    windows: Annotated[Mapping[str, int], about("Windows of further models, in tokens.")] = field(default_factory=dict)


class Chunking(Table, frozen=True):
    """`[chunking]`: diffs split into chunks (smart-chunking)."""

    max_chunk_tokens: Annotated[
        int, Meta(ge=100, le=100_000_000), about("Most tokens of a chunk.", flag="--max-tokens", scope="any")
    ] = 32000
    token_ratio: Annotated[float, Meta(ge=0.5, le=20), about("Characters per token with the counter chars4.")] = 4.0
    ignore: Annotated[
        tuple[str, ...],
        about(
            "More patterns of files to leave out, in gitignore syntax; `!` re-includes files whatever the other rules "
            "say.",
            scope="any",
        ),
    ] = ()
    context_lines: Annotated[
        int,
        Meta(ge=0, le=1000),
        about("Unchanged lines around a change, for diffs made from a repository.", flag="--context", scope="any"),
    ] = 3
    signatures: Annotated[
        bool,
        about(
            "Add declarations of callers and callees of changed functions if there is room; uses the repository's "
            "index, or builds it.",
            flag="--signatures",
        ),
    ] = False


class Log(Table, frozen=True):
    """`[log]`: logs within a budget."""

    max_tokens: Annotated[
        Limit,
        about("Most tokens of a log; `with` shortens longer tool results (0: none).", flag="--max-tokens", scope="any"),
    ] = 4000


class Settings(Table, frozen=True):
    """All settings, with the values of the profile in every table that is not given.

    Settings(profile="recommended", budget=4000)    # checked here, as in files: raises ConfigError
    with_values(settings, {"graph_rag.top_k": 20})  # a copy with other values, by dotted key
    with_profile(settings, "spec")                  # a copy as another profile has it
    load(Path("repository")).settings               # what configuration files say
    """

    profile: Annotated[
        str,
        about(
            "Named table of settings: `spec` (the specs; anchors by words and vectors), `recommended`, or your own"
            " `[profiles.NAME]`.",
            flag="--profile",
            scope="any",
        ),
    ] = "spec"
    graph_rag: GraphRag = GraphRag()
    smart_pruning: SmartPruning = SmartPruning()
    relevance: Relevance = Relevance()
    index: Index = Index()
    embedding: Embedding = Embedding()
    tokens: Tokens = Tokens()
    redaction: Redacting = Redacting()
    preference: Preference = Preference()
    context_prune: ContextPrune = ContextPrune()
    conversation_prune: ConversationPrune = ConversationPrune()
    context_budget: ContextBudget = ContextBudget()
    chunking: Chunking = Chunking()
    log: Log = Log()
    llm: Llm = Llm()
    ui: Ui = Ui()
    profiles: Annotated[
        Mapping[str, Any], about("Your own profiles: `[profiles.NAME]` with any of the tables above.", scope="any")
    ] = field(default_factory=dict)
    kinds: Mapping[str, Any] = field(default_factory=dict)
    """Values for kinds of other distributions, by dotted key; each kind declares its own keys (`keys.kind_keys`)."""
    budget: Annotated[
        int,
        Meta(ge=-1),
        about(
            "Budget of this run, any integer of at least 0 (`--budget`); -1: `graph_rag.token_budget`.",
            flag="--budget",
            scope="run",
        ),
    ] = -1
    pins: Annotated[tuple[str, ...], about("Ids of pinned items (`--pin`).", scope="run", flag="--pin")] = ()
    excludes: Annotated[
        tuple[str, ...], about("Symbol ids that are dropped (`--exclude`).", scope="run", flag="--exclude")
    ] = ()
    boosts: Annotated[
        Mapping[str, float], about("Factor for the priority of a symbol id (`--boost`).", scope="run", flag="--boost")
    ] = field(default_factory=dict)

    def __post_init__(self) -> None:
        Table.__post_init__(self)
        defaults = dict(zip(self.__struct_fields__, self.__struct_defaults__, strict=True))
        if self.profile != defaults["profile"]:  # whose values the defaults are
            for name, values in profile_table(self.profile, self.profiles, "Settings").items():
                table = getattr(self, name, None)
                if isinstance(table, Table) and table is defaults[name]:
                    force_setattr(self, name, replace_in_table(table, values))
        for symbol, factor in self.boosts.items():
            if not 0 <= factor <= MAX_BOOST:
                wrong = f"--boost {symbol}={factor:g} is not allowed: boosts are factors from 0 to {MAX_BOOST}"
                raise ConfigError(wrong, hint="--pin keeps a symbol whatever its priority")

    @property
    def effective_budget(self) -> int:
        """Most tokens of the rendered pack in this run."""
        return self.graph_rag.token_budget if self.budget < 0 else self.budget
