"""secateur: prunes what a language model reads under a token budget, and shows every decision it makes.

    from secateur import Engine
    with Engine.open("path/to/repository") as engine:
        selection = engine.search("where is the refund total rounded?")
        print(engine.render(selection))

Names are imported when they are first used, so that `import secateur` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from secateur.version import __version__

if TYPE_CHECKING:
    from secateur.engine import Engine
    from secateur.errors import SecateurError
    from secateur.kinds.autocoder import AutoCoderArgs, get_llm, init_project_if_required
    from secateur.kinds.conversation.pruning import ConversationPruner
    from secateur.kinds.conversation.tool_results import AgenticConversationPruner
    from secateur.kinds.diff.chunks import chunk_diff
    from secateur.kinds.envelope.envelope import trim_context_with_budget
    from secateur.kinds.files.pruning import PruneContext
    from secateur.kinds.files.sourcecode import SourceCode
    from secateur.model import Decision, Fragment, Pool, Selection, TrimReport
    from secateur.selection import priority, select, select_greedy
    from secateur.settings import Settings
    from secateur.tokens import count_string_tokens, count_tokens

_HOMES = {
    "AgenticConversationPruner": "secateur.kinds.conversation.tool_results",
    "AutoCoderArgs": "secateur.kinds.autocoder",
    "ConversationPruner": "secateur.kinds.conversation.pruning",
    "Engine": "secateur.engine",
    "SecateurError": "secateur.errors",
    "Decision": "secateur.model",
    "Fragment": "secateur.model",
    "Pool": "secateur.model",
    "PruneContext": "secateur.kinds.files.pruning",
    "Selection": "secateur.model",
    "SourceCode": "secateur.kinds.files.sourcecode",
    "TrimReport": "secateur.model",
    "priority": "secateur.selection",
    "chunk_diff": "secateur.kinds.diff.chunks",
    "select": "secateur.selection",
    "select_greedy": "secateur.selection",
    "Settings": "secateur.settings",
    "count_string_tokens": "secateur.tokens",
    "count_tokens": "secateur.tokens",
    "get_llm": "secateur.kinds.autocoder",
    "init_project_if_required": "secateur.kinds.autocoder",
    "trim_context_with_budget": "secateur.kinds.envelope.envelope",
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
