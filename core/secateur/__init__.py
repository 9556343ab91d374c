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
raised on purpose is a `SecateurError`; `secateur.errors` draws the tree. The packages beside this one, `secateur_lab`
and `secateur_agents`, use no other names than these.

Names are imported when they are first used, so that `import secateur` costs nothing.
"""

from __future__ import annotations

from secateur.version import __version__

TYPE_CHECKING = False  # `typing` itself is slow to import, and Ctrl-C is handled only after this module
if TYPE_CHECKING:
    from typing import Any

    from secateur.cli.command_parser import CommandParser
    from secateur.cli.common import CommandCall
    from secateur.directories import data_dir, state_dir
    from secateur.engine import Engine
    from secateur.error_shapes import ErrorDetails
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
        shown,
    )
    from secateur.executors.executor import Executor, TaskOutcome, keep_open
    from secateur.executors.pool import spread_tasks
    from secateur.history import RepositoryHistory
    from secateur.inputs import read_file
    from secateur.kinds.autocoder import AutoCoderArgs, get_llm, init_project_if_required
    from secateur.kinds.base import Environment, Flag, Input, Kind, Outcome, Wording
    from secateur.kinds.conversation.folds import Fold
    from secateur.kinds.conversation.kind import session_at
    from secateur.kinds.conversation.opencode_store import sessions_in
    from secateur.kinds.conversation.session_facts import SessionFacts
    from secateur.kinds.conversation.strategies import ConversationPruner
    from secateur.kinds.conversation.tool_results import AgenticConversationPruner
    from secateur.kinds.diff.chunks import chunk_diff
    from secateur.kinds.diff.repository import chunk_repository
    from secateur.kinds.envelope.envelope import trim_context_with_budget
    from secateur.kinds.environment import ALONE, Deciding, Inputs
    from secateur.kinds.files.prune_context import PruneContext
    from secateur.kinds.files.sourcecode import SourceCode
    from secateur.kinds.knobs import Knob
    from secateur.kinds.registry import get_kind, kind_names, recognise_kind
    from secateur.kinds.run import answer_of, format_outcome, prune, trials_of
    from secateur.ledger import Entry, Ledger, LedgerShape, Notice, Reason, State, TrimReport
    from secateur.model import Decision, Fragment, Pool, Selection
    from secateur.output_files import OutputLines, refuse_links, write_folder, write_output
    from secateur.progress import Progress, unreported
    from secateur.redaction import redact, separate_call
    from secateur.render.page import Column, Page, Section
    from secateur.render.proofs import prove_turns
    from secateur.render.sentences import sentence
    from secateur.render.structured import dumps
    from secateur.selection import priority, select, select_greedy
    from secateur.settings import (
        PROFILES,
        Loaded,
        Settings,
        SettingsSources,
        about,
        installed_keys,
        lookup,
        table_of,
        with_values,
    )
    from secateur.shape import SCHEMA_VERSION, Count, Number, Shape, Version
    from secateur.sources.confined import confine_path
    from secateur.sources.git import Git
    from secateur.sources.git_log import LoggedCommit
    from secateur.sources.named import is_named
    from secateur.sources.workspace_file import is_workspace, read_workspace
    from secateur.suggestions import suggestion
    from secateur.system.console import AWAITED
    from secateur.terminal import clip, visible
    from secateur.tokens import count_string_tokens, count_tokens, get_counter
    from secateur.toml_values import toml_value
    from secateur.what_if.shapes import ProofFields

_NAMES = {
    "secateur.cli.command_parser": "CommandParser",
    "secateur.cli.common": "CommandCall",
    "secateur.directories": "data_dir state_dir",
    "secateur.engine": "Engine",
    "secateur.error_shapes": "ErrorDetails",
    "secateur.errors": (
        "BudgetExceeded ConfigError EmbeddingError IndexingError LlmError PromptComposeError RepositoryError"
        " SecateurError TokenizerError UsageError shown"
    ),
    "secateur.executors.executor": "Executor TaskOutcome keep_open",
    "secateur.executors.pool": "spread_tasks",
    "secateur.history": "RepositoryHistory",
    "secateur.inputs": "read_file",
    "secateur.kinds.autocoder": "AutoCoderArgs get_llm init_project_if_required",
    "secateur.kinds.base": "Environment Flag Input Kind Outcome Wording",
    "secateur.kinds.conversation.folds": "Fold",
    "secateur.kinds.conversation.kind": "session_at",
    "secateur.kinds.conversation.opencode_store": "sessions_in",
    "secateur.kinds.conversation.session_facts": "SessionFacts",
    "secateur.kinds.conversation.strategies": "ConversationPruner",
    "secateur.kinds.conversation.tool_results": "AgenticConversationPruner",
    "secateur.kinds.diff.chunks": "chunk_diff",
    "secateur.kinds.diff.repository": "chunk_repository",
    "secateur.kinds.envelope.envelope": "trim_context_with_budget",
    "secateur.kinds.environment": "ALONE Deciding Inputs",
    "secateur.kinds.files.prune_context": "PruneContext",
    "secateur.kinds.files.sourcecode": "SourceCode",
    "secateur.kinds.knobs": "Knob",
    "secateur.kinds.registry": "get_kind kind_names recognise_kind",
    "secateur.kinds.run": "answer_of format_outcome prune trials_of",
    "secateur.ledger": "Entry Ledger LedgerShape Notice Reason State TrimReport",
    "secateur.model": "Decision Fragment Pool Selection",
    "secateur.output_files": "OutputLines refuse_links write_folder write_output",
    "secateur.progress": "Progress unreported",
    "secateur.redaction": "redact separate_call",
    "secateur.render.page": "Column Page Section",
    "secateur.render.proofs": "prove_turns",
    "secateur.render.sentences": "sentence",
    "secateur.render.structured": "dumps",
    "secateur.selection": "priority select select_greedy",
    "secateur.settings": "PROFILES Loaded Settings SettingsSources about installed_keys lookup table_of with_values",
    "secateur.shape": "SCHEMA_VERSION Count Number Shape Version",
    "secateur.sources.confined": "confine_path",
    "secateur.sources.git": "Git",
    "secateur.sources.git_log": "LoggedCommit",
    "secateur.sources.named": "is_named",
    "secateur.sources.workspace_file": "is_workspace read_workspace",
    "secateur.suggestions": "suggestion",
    "secateur.system.console": "AWAITED",
    "secateur.terminal": "clip visible",
    "secateur.tokens": "count_string_tokens count_tokens get_counter",
    "secateur.toml_values": "toml_value",
    "secateur.what_if.shapes": "ProofFields",
}

_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [
    "ALONE",
    "AWAITED",
    "PROFILES",
    "SCHEMA_VERSION",
    "AgenticConversationPruner",
    "AutoCoderArgs",
    "BudgetExceeded",
    "Column",
    "CommandCall",
    "CommandParser",
    "ConfigError",
    "ConversationPruner",
    "Count",
    "Deciding",
    "Decision",
    "EmbeddingError",
    "Engine",
    "Entry",
    "Environment",
    "ErrorDetails",
    "Executor",
    "Flag",
    "Fold",
    "Fragment",
    "Git",
    "IndexingError",
    "Input",
    "Inputs",
    "Kind",
    "Knob",
    "Ledger",
    "LedgerShape",
    "LlmError",
    "Loaded",
    "LoggedCommit",
    "Notice",
    "Number",
    "Outcome",
    "OutputLines",
    "Page",
    "Pool",
    "Progress",
    "PromptComposeError",
    "ProofFields",
    "PruneContext",
    "Reason",
    "RepositoryError",
    "RepositoryHistory",
    "SecateurError",
    "Section",
    "Selection",
    "SessionFacts",
    "Settings",
    "SettingsSources",
    "Shape",
    "SourceCode",
    "State",
    "TaskOutcome",
    "TokenizerError",
    "TrimReport",
    "UsageError",
    "Version",
    "Wording",
    "__version__",
    "about",
    "answer_of",
    "chunk_diff",
    "chunk_repository",
    "clip",
    "confine_path",
    "count_string_tokens",
    "count_tokens",
    "data_dir",
    "dumps",
    "format_outcome",
    "get_counter",
    "get_kind",
    "get_llm",
    "init_project_if_required",
    "installed_keys",
    "is_named",
    "is_workspace",
    "keep_open",
    "kind_names",
    "lookup",
    "priority",
    "prove_turns",
    "prune",
    "read_file",
    "read_workspace",
    "recognise_kind",
    "redact",
    "refuse_links",
    "select",
    "select_greedy",
    "sentence",
    "separate_call",
    "session_at",
    "sessions_in",
    "shown",
    "spread_tasks",
    "state_dir",
    "suggestion",
    "table_of",
    "toml_value",
    "trials_of",
    "trim_context_with_budget",
    "unreported",
    "visible",
    "with_values",
    "write_folder",
    "write_output",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'secateur' has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
