"""secateur: prunes what a language model reads under a token budget, and shows every decision it makes.

    from secateur import Engine
    with Engine.open("path/to/repository") as engine:
        selection = engine.search("where is the refund total rounded?")
        print(engine.render(selection))

    from secateur import format_outcome, prune
    outcome = prune("envelope", path="envelope.json", model="gpt-4o")
    outcome.ledger, format_outcome(outcome, "json")

`prune` and `format_outcome` serve every kind of context; the names from the specs (`PruneContext`,
`ConversationPruner`, `AgenticConversationPruner`, `trim_context_with_budget`, `chunk_diff`) are adapters. Every error
raised on purpose is a `SecateurError`; `secateur.errors` draws the tree.

Names are imported when they are first used, so that `import secateur` costs nothing.
"""

from __future__ import annotations

from secateur.version import __version__

TYPE_CHECKING = False  # `typing` itself is slow to import, and Ctrl-C is handled only after this module
if TYPE_CHECKING:
    from typing import Any

    from secateur.engine import Engine
    from secateur.errors import (
        BudgetExceeded,
        ConfigError,
        EmbeddingError,
        IndexingError,
        LlmError,
        PromptComposeError,
        RepositoryError,
        SecateurError,
        TokenizerError,
        UsageError,
    )
    from secateur.kinds.autocoder import AutoCoderArgs, get_llm, init_project_if_required
    from secateur.kinds.base import Environment, Kind, Outcome
    from secateur.kinds.conversation.strategies import ConversationPruner
    from secateur.kinds.conversation.tool_results import AgenticConversationPruner
    from secateur.kinds.diff.chunks import chunk_diff
    from secateur.kinds.diff.repository import chunk_repository
    from secateur.kinds.envelope.envelope import trim_context_with_budget
    from secateur.kinds.files.prune_context import PruneContext
    from secateur.kinds.files.sourcecode import SourceCode
    from secateur.kinds.run import format_outcome, prune
    from secateur.model import Decision, Entry, Fragment, Ledger, Notice, Pool, Reason, Selection, State, TrimReport
    from secateur.redaction import redact
    from secateur.selection import priority, select, select_greedy
    from secateur.settings import Settings
    from secateur.tokens import count_string_tokens, count_tokens

_NAMES = {
    "secateur.engine": "Engine",
    "secateur.errors": (
        "BudgetExceeded ConfigError EmbeddingError IndexingError LlmError PromptComposeError RepositoryError"
        " SecateurError TokenizerError UsageError"
    ),
    "secateur.kinds.autocoder": "AutoCoderArgs get_llm init_project_if_required",
    "secateur.kinds.base": "Environment Kind Outcome",
    "secateur.kinds.conversation.strategies": "ConversationPruner",
    "secateur.kinds.conversation.tool_results": "AgenticConversationPruner",
    "secateur.kinds.diff.chunks": "chunk_diff",
    "secateur.kinds.diff.repository": "chunk_repository",
    "secateur.kinds.envelope.envelope": "trim_context_with_budget",
    "secateur.kinds.files.prune_context": "PruneContext",
    "secateur.kinds.files.sourcecode": "SourceCode",
    "secateur.kinds.run": "format_outcome prune",
    "secateur.model": "Decision Entry Fragment Ledger Notice Pool Reason Selection State TrimReport",
    "secateur.redaction": "redact",
    "secateur.selection": "priority select select_greedy",
    "secateur.settings": "Settings",
    "secateur.tokens": "count_string_tokens count_tokens",
}

_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [
    "AgenticConversationPruner",
    "AutoCoderArgs",
    "BudgetExceeded",
    "ConfigError",
    "ConversationPruner",
    "Decision",
    "EmbeddingError",
    "Engine",
    "Entry",
    "Environment",
    "Fragment",
    "IndexingError",
    "Kind",
    "Ledger",
    "LlmError",
    "Notice",
    "Outcome",
    "Pool",
    "PromptComposeError",
    "PruneContext",
    "Reason",
    "RepositoryError",
    "SecateurError",
    "Selection",
    "Settings",
    "SourceCode",
    "State",
    "TokenizerError",
    "TrimReport",
    "UsageError",
    "__version__",
    "chunk_diff",
    "chunk_repository",
    "count_string_tokens",
    "count_tokens",
    "format_outcome",
    "get_llm",
    "init_project_if_required",
    "priority",
    "prune",
    "redact",
    "select",
    "select_greedy",
    "trim_context_with_budget",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'secateur' has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
