"""secateur: prunes what a language model reads under a token budget, and shows every decision it makes.

    from secateur import Engine
    with Engine.open("path/to/repository") as engine:
        selection = engine.search("where is the refund total rounded?")
        print(engine.render(selection))

Names are imported when they are first used, so that `import secateur` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from secateur.chunking.chunks import chunk_diff
    from secateur.engine import Engine
    from secateur.errors import SecateurError
    from secateur.model import Decision, Fragment, Pool, Selection, TrimReport
    from secateur.selection import priority, select, select_greedy
    from secateur.settings import Settings
    from secateur.tokens import count_string_tokens, count_tokens
    from secateur.trimming.autocoder import AutoCoderArgs, get_llm, init_project_if_required
    from secateur.trimming.conversations.pruning import ConversationPruner
    from secateur.trimming.conversations.tool_results import AgenticConversationPruner
    from secateur.trimming.envelopes.envelope import trim_context_with_budget
    from secateur.trimming.files.pruning import PruneContext
    from secateur.trimming.files.sourcecode import SourceCode

_HOMES = {
    "AgenticConversationPruner": "secateur.trimming.conversations.tool_results",
    "AutoCoderArgs": "secateur.trimming.autocoder",
    "ConversationPruner": "secateur.trimming.conversations.pruning",
    "Engine": "secateur.engine",
    "SecateurError": "secateur.errors",
    "Decision": "secateur.model",
    "Fragment": "secateur.model",
    "Pool": "secateur.model",
    "PruneContext": "secateur.trimming.files.pruning",
    "Selection": "secateur.model",
    "SourceCode": "secateur.trimming.files.sourcecode",
    "TrimReport": "secateur.model",
    "priority": "secateur.selection",
    "chunk_diff": "secateur.chunking.chunks",
    "select": "secateur.selection",
    "select_greedy": "secateur.selection",
    "Settings": "secateur.settings",
    "count_string_tokens": "secateur.tokens",
    "count_tokens": "secateur.tokens",
    "get_llm": "secateur.trimming.autocoder",
    "init_project_if_required": "secateur.trimming.autocoder",
    "trim_context_with_budget": "secateur.trimming.envelopes.envelope",
}

__all__ = [
    "AgenticConversationPruner",
    "AutoCoderArgs",
    "ConversationPruner",
    "Decision",
    "Engine",
    "Fragment",
    "Pool",
    "PruneContext",
    "SecateurError",
    "Selection",
    "Settings",
    "SourceCode",
    "TrimReport",
    "__version__",
    "chunk_diff",
    "count_string_tokens",
    "count_tokens",
    "get_llm",
    "init_project_if_required",
    "priority",
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
