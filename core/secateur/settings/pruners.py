"""Tables of the pruners: `[context_prune]`, `[conversation_prune]`, `[context_budget]`, `[chunking]`,
`[log]`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from msgspec import Meta

from secateur.settings.ranges import Limit, Share, about


@dataclass(frozen=True, slots=True)
class ContextPrune:
    """`[context_prune]`: file pruning (pruner)."""

    enabled: Annotated[bool, about("Off: files come back unchanged, and the output says so.")] = True
    strategy: Annotated[Literal["score", "extract", "delete"], about("How files are pruned.")] = "score"
    max_tokens: Annotated[Limit, about("Tokens the files may hold together.")] = 8000
    full_file_share: Annotated[
        Share,
        about("`extract`: share of the tokens up to which relevant files are kept whole before snippets are taken."),
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
        about("Lines of a window; longer functions are cut where their statements allow it."),
    ] = 100
    sliding_window_overlap: Annotated[
        int, Meta(ge=0, le=99_999), about("Lines two windows share; less than the window.")
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

    safe_zone_tokens: Annotated[Limit, about("Tokens a conversation may hold.")] = 50000
    group_size: Annotated[int, Meta(ge=1, le=1000), about("Messages of a group.")] = 4
    strategy: Annotated[
        Literal["summarize", "truncate", "hybrid", "tool-results"], about("How conversations are pruned.")
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
    keep_last: Annotated[int, Meta(ge=0, le=1_000_000), about("Tool results at the end that are never cleared.")] = 0
    keep_tools: Annotated[tuple[str, ...], about("Tools whose results are never cleared.")] = ()
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
        about("Tokens an envelope may hold where no `--context-budget` is given; 0: a share of the model's window."),
    ] = 0
    reserve: Annotated[
        Limit,
        about("Tokens kept free for the answer where no `--reserve` is given; 0: the window's other share."),
    ] = 0
    context_share: Annotated[
        float, Meta(ge=0.01, le=0.99), about("Share of the model's window for context when no budget is given.")
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

    max_chunk_tokens: Annotated[int, Meta(ge=100, le=100_000_000), about("Most tokens of a chunk.")] = 32000
    token_ratio: Annotated[float, Meta(ge=0.5, le=20), about("Characters a token with the counter chars4.")] = 4.0
    ignore: Annotated[
        tuple[str, ...],
        about(
            "More patterns of files left out, in gitignore syntax; one with `!` takes files in whatever the other "
            "rules say."
        ),
    ] = ()
    max_file_kb: Annotated[int, Meta(ge=1, le=1_048_576), about("Files of this size and above are left out.")] = 1024
    context_lines: Annotated[
        int, Meta(ge=0, le=1000), about("Unchanged lines around a change, where the diff is made from a repository.")
    ] = 3
    keep_together: Annotated[
        bool, about("Move files of one folder, and files that use each other, into one chunk where it costs none.")
    ] = True
    signatures: Annotated[
        bool,
        about(
            "Declarations of callers and callees of changed functions, where there is room; reads the repository's "
            "index, or makes it."
        ),
    ] = False
    rules: Annotated[
        tuple[str, ...], about("Files at the repository's top that are its rules, read as they were before the change.")
    ] = ("CLAUDE.md", "AGENTS.md")


@dataclass(frozen=True, slots=True)
class Log:
    """`[log]`: logs under a budget."""

    max_tokens: Annotated[Limit, about("Tokens of a log that may go out.")] = 4000
    block_share: Annotated[
        Share,
        about(
            "Share of the tokens that one error may take with its stack, as long as others have not had their turn; a "
            "longer one keeps its telling lines, its beginning and its end."
        ),
    ] = 0.4
    last_share: Annotated[Share, about("Share of the tokens kept for the last lines and the results of a run.")] = 0.2
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
