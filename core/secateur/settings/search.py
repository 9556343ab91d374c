"""Tables of a search: `[graph_rag]`, `[smart_pruning]`, `[relevance]`, `[preference]`."""

from typing import Annotated, Literal

from msgspec import Meta

from secateur.settings.tables import Part, Share, Table, Weight, about


class GraphRag(Table, frozen=True):
    """`[graph_rag]`: the table of the graph-rag spec."""

    enabled: Annotated[
        bool, about("Follow callers and callees from the anchors; off: anchors only, `source` says `embedding`.")
    ] = True
    max_depth: Annotated[
        int, Meta(ge=1, le=4), about("Steps of calls followed from an anchor.", flag="--depth", scope="any")
    ] = 2
    token_budget: Annotated[
        int,
        Meta(ge=4000, le=16000),
        about("Tokens of the pack. An explicit --budget takes any integer from 0.", scope="any"),
    ] = 8000
    cache_ttl: Annotated[int, Meta(ge=60, le=3600), about("Seconds a query's answer is kept.")] = 300
    top_k: Annotated[int, Meta(ge=5, le=50), about("Anchors of a query.", flag="--top-k", scope="any")] = 10
    only: Annotated[
        tuple[str, ...],
        about(
            "The part of the repository that answers come from, as globs of its files or folders; calls are still"
            " followed through the rest. Empty: all of it.",
            flag="--only",
        ),
    ] = ()
    anchors: Annotated[
        Literal["mixed", "embedding"],
        about(
            "How anchors are chosen: `mixed` (by relevance, from words and vectors) or `embedding` (REQ-GRAG-001 "
            "literally: relevance is the vectors' similarity)."
        ),
    ] = "mixed"
    cache_dir: Annotated[
        str,
        about(
            "Folder of the result cache, relative to the repository. Empty: the repository's folder in your "
            "cache folder. The spec uses `.devbooks/cache/graph-context`."
        ),
    ] = ""


class PriorityWeights(Table, frozen=True):
    """`[smart_pruning.priority_weights]`: REQ-SP-002."""

    relevance: Annotated[Weight, about("Weight of relevance.", flag="--weights: relevance", scope="any")] = 0.4
    hotspot: Annotated[Weight, about("Weight of the hotspot score.", flag="--weights: hotspot", scope="any")] = 0.3
    distance: Annotated[Weight, about("Weight of 1 / distance.", flag="--weights: distance", scope="any")] = 0.3


# By signal: the key of its weight. Knobs, flags and proofs are made of these.
WEIGHT_KEYS = {
    **{name: f"smart_pruning.priority_weights.{name}" for name in PriorityWeights.__struct_fields__},
    "preference": "preference.weight",
}


class SmartPruning(Table, frozen=True):
    """`[smart_pruning]`: how the pool becomes a selection."""

    strategy: Annotated[
        Literal["priority", "relevance", "density"],
        about("Order of the greedy selection.", flag="--strategy", scope="any"),
    ] = "priority"
    signature_share: Annotated[
        float,
        Meta(ge=0, le=0.5),
        about("Share of the budget for declarations of fragments that did not fit whole.", scope="any"),
    ] = 0.0
    density_exponent: Annotated[
        float,
        Meta(ge=0, le=2),
        about(
            "Strategy `density` divides by the size to this power: 0 ignores size, 1 orders by evidence per token."
            " Short queries (see `relevance.query_kind`) ignore size."
        ),
    ] = 0.2
    priority_weights: PriorityWeights = PriorityWeights()


class Penalty(Table, frozen=True):
    """`[relevance.penalty]`: the share of its relevance that a fragment of a kind loses, unless a short query asks for
    that kind."""

    test: Annotated[Share, about("Tests.", scope="any")] = 0.0
    documentation: Annotated[Share, about("Documents.", scope="any")] = 0.0
    example: Annotated[Share, about("Examples and demos.", scope="any")] = 0.0
    vendored: Annotated[Share, about("Code by others that is kept in the repository.", scope="any")] = 0.0
    generated: Annotated[Share, about("Generated code.", scope="any")] = 0.0
    header: Annotated[Share, about("Headers of classes: declaration and fields without methods.", scope="any")] = 0.0
    region: Annotated[Share, about("Module-level code: imports, constants.", scope="any")] = 0.0
    prose: Annotated[Share, about("Sections and blocks of text and configuration.", scope="any")] = 0.0
    duplicate: Annotated[Share, about("Fragments with nearly the same text as a better candidate.", scope="any")] = 0.0


class Relevance(Table, frozen=True):
    """`[relevance]`: the parts of relevance: a weighted mean of values in [0, 1], minus a penalty, on a curve
    (`retrieval.relevance`)."""

    pool: Annotated[
        Literal["anchors", "all"],
        about(
            "Candidates: `anchors` (top_k and what their calls reach) or `all` (every fragment with relevance).",
            scope="any",
        ),
    ] = "anchors"
    query_kind: Annotated[
        Literal["off", "auto", "symbol", "usage", "message", "phrase", "question", "issue", "trace"],
        about(
            "Kind of the query, which decides what answers it: a definition, callers, ... `auto`: detected from its"
            " text; `off`: all queries are treated alike.",
            flag="--query-kind",
            scope="any",
        ),
    ] = "off"
    lexical: Annotated[Part, about("Weight of the code-aware word match in the fragment's text.", scope="any")] = 0.5
    title: Annotated[
        Part, about("Weight of the match of the query's first line in the fragment's text.", scope="any")
    ] = 0.0
    name: Annotated[Part, about("Weight of words of the query in the fragment's qualified name.", scope="any")] = 0.15
    path: Annotated[Part, about("Weight of words of the query in the file's path.", scope="any")] = 0.05
    file: Annotated[Part, about("Weight of the match of the first line with the whole file.", scope="any")] = 0.0
    semantic: Annotated[Part, about("Weight of the embedding similarity.", scope="any")] = 0.3
    mention: Annotated[Part, about("Weight of names in the query; rare names count more.", scope="any")] = 0.0
    definition: Annotated[
        Part, about("Weight of a name that the query asks for, with kind `symbol` or `phrase`.", scope="any")
    ] = 0.0
    usage: Annotated[
        Part, about("Weight of callers and holders of the name in the query, with kind `usage`.", scope="any")
    ] = 0.0
    history: Annotated[
        Part, about("Weight of commits that touched the file and whose message resembles the query.", scope="any")
    ] = 0.0
    title_name: Annotated[
        Part, about("Weight of the share of the qualified name that the query's first line spells out.", scope="any")
    ] = 0.0
    phrase: Annotated[
        Part, about("Weight of messages in the fragment's string literals that the query quotes verbatim.", scope="any")
    ] = 0.0
    named_file: Annotated[
        Part, about("Weight of a file that the query names outside of stack traces, or links to.", scope="any")
    ] = 0.0
    trace: Annotated[
        Part, about("Weight of stack frames and linked lines; frames near the error count more.", scope="any")
    ] = 0.0
    near: Annotated[Part, about("Weight of a short call path to the best matches.", scope="any")] = 0.0
    no_match_threshold: Annotated[
        Share,
        about(
            "Best relevance below which a query with hardly any word from this repository has no answer: no anchors, "
            "`no_match`."
        ),
    ] = 0.35
    low_threshold: Annotated[
        Share, about("Best relevance below which the answer warns that the query may not be about this repository.")
    ] = 0.45
    issue_forms: Annotated[
        bool, about("Ignore lines of a query that come from the repository's issue form (`.github/ISSUE_TEMPLATE`).")
    ] = False
    penalty: Penalty = Penalty()


class Preference(Table, frozen=True):
    """`[preference]`: intent preference (SC-SP-007)."""

    enabled: Annotated[bool, about("Give preferred symbols a term of their own.")] = False
    weight: Annotated[Weight, about("Weight of the preference term.")] = 0.2
