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

from secateur.version import __version__ as __version__

TYPE_CHECKING = False  # `typing` itself is slow to import, and Ctrl-C is handled only after this module
if TYPE_CHECKING:
    from typing import Any

    from secateur.cli.command_parser import CommandParser as CommandParser
    from secateur.cli.common import CommandCall as CommandCall
    from secateur.directories import data_dir as data_dir
    from secateur.directories import state_dir as state_dir
    from secateur.engine import Engine as Engine
    from secateur.errors import BudgetExceeded as BudgetExceeded
    from secateur.errors import ConfigError as ConfigError
    from secateur.errors import EmbeddingError as EmbeddingError
    from secateur.errors import IndexingError as IndexingError
    from secateur.errors import LlmError as LlmError
    from secateur.errors import PromptComposeError as PromptComposeError
    from secateur.errors import RepositoryError as RepositoryError
    from secateur.errors import SecateurError as SecateurError
    from secateur.errors import TokenizerError as TokenizerError
    from secateur.errors import UsageError as UsageError
    from secateur.errors import shown as shown
    from secateur.executors.executor import Executor as Executor
    from secateur.executors.executor import TaskOutcome as TaskOutcome
    from secateur.executors.executor import keep_open as keep_open
    from secateur.executors.pool import spread_tasks as spread_tasks
    from secateur.history import RepositoryHistory as RepositoryHistory
    from secateur.kinds.autocoder import AutoCoderArgs as AutoCoderArgs
    from secateur.kinds.autocoder import get_llm as get_llm
    from secateur.kinds.autocoder import init_project_if_required as init_project_if_required
    from secateur.kinds.base import PIN as PIN
    from secateur.kinds.base import Environment as Environment
    from secateur.kinds.base import Flag as Flag
    from secateur.kinds.base import Input as Input
    from secateur.kinds.base import Kind as Kind
    from secateur.kinds.base import Outcome as Outcome
    from secateur.kinds.base import Wording as Wording
    from secateur.kinds.conversation.folds import Fold as Fold
    from secateur.kinds.conversation.kind import session_at as session_at
    from secateur.kinds.conversation.opencode_store import sessions_in as sessions_in
    from secateur.kinds.conversation.session_facts import SessionFacts as SessionFacts
    from secateur.kinds.conversation.strategies import ConversationPruner as ConversationPruner
    from secateur.kinds.conversation.tool_results import AgenticConversationPruner as AgenticConversationPruner
    from secateur.kinds.diff.chunks import chunk_diff as chunk_diff
    from secateur.kinds.diff.repository import chunk_repository as chunk_repository
    from secateur.kinds.envelope.envelope import trim_context_with_budget as trim_context_with_budget
    from secateur.kinds.environment import ALONE as ALONE
    from secateur.kinds.environment import Deciding as Deciding
    from secateur.kinds.environment import Inputs as Inputs
    from secateur.kinds.environment import read_file as read_file
    from secateur.kinds.files.prune_context import PruneContext as PruneContext
    from secateur.kinds.files.sourcecode import SourceCode as SourceCode
    from secateur.kinds.knobs import Knob as Knob
    from secateur.kinds.registry import get_kind as get_kind
    from secateur.kinds.registry import kind_names as kind_names
    from secateur.kinds.registry import recognise_kind as recognise_kind
    from secateur.kinds.run import answer_of as answer_of
    from secateur.kinds.run import format_outcome as format_outcome
    from secateur.kinds.run import prune as prune
    from secateur.kinds.run import trials_of as trials_of
    from secateur.ledger import Entry as Entry
    from secateur.ledger import Ledger as Ledger
    from secateur.ledger import LedgerShape as LedgerShape
    from secateur.ledger import Notice as Notice
    from secateur.ledger import Reason as Reason
    from secateur.ledger import State as State
    from secateur.ledger import TrimReport as TrimReport
    from secateur.model import Decision as Decision
    from secateur.model import Pool as Pool
    from secateur.model import Selection as Selection
    from secateur.output_files import OutputLines as OutputLines
    from secateur.output_files import refuse_links as refuse_links
    from secateur.output_files import write_folder as write_folder
    from secateur.output_files import write_output as write_output
    from secateur.progress import Progress as Progress
    from secateur.progress import unreported as unreported
    from secateur.redaction import redact as redact
    from secateur.redaction import separate_call as separate_call
    from secateur.render.page import Column as Column
    from secateur.render.page import Page as Page
    from secateur.render.page import Section as Section
    from secateur.render.page import sentence as sentence
    from secateur.render.proofs import prove_turns as prove_turns
    from secateur.selection import priority as priority
    from secateur.selection import select as select
    from secateur.selection import select_greedy as select_greedy
    from secateur.settings import PROFILES as PROFILES
    from secateur.settings import Loaded as Loaded
    from secateur.settings import Settings as Settings
    from secateur.settings import SettingsSources as SettingsSources
    from secateur.settings import about as about
    from secateur.settings import installed_keys as installed_keys
    from secateur.settings import lookup as lookup
    from secateur.settings import table_of as table_of
    from secateur.settings import with_values as with_values
    from secateur.shape import SCHEMA_VERSION as SCHEMA_VERSION
    from secateur.shape import Count as Count
    from secateur.shape import ErrorDetails as ErrorDetails
    from secateur.shape import Number as Number
    from secateur.shape import Shape as Shape
    from secateur.shape import Version as Version
    from secateur.shape import dumps as dumps
    from secateur.sources.files import confine_path as confine_path
    from secateur.sources.git import Git as Git
    from secateur.sources.git import HistoryCommit as HistoryCommit
    from secateur.sources.named import is_named as is_named
    from secateur.sources.workspace_file import is_workspace as is_workspace
    from secateur.sources.workspace_file import read_workspace as read_workspace
    from secateur.suggestions import suggestion as suggestion
    from secateur.system.files import owner as owner
    from secateur.system.processes import AWAITED as AWAITED
    from secateur.system.processes import isolated_python as isolated_python
    from secateur.terminal import clip as clip
    from secateur.terminal import visible as visible
    from secateur.tokens import count_string_tokens as count_string_tokens
    from secateur.tokens import count_tokens as count_tokens
    from secateur.tokens import get_counter as get_counter
    from secateur.toml_values import toml_value as toml_value
    from secateur.what_if import ProofFields as ProofFields

_NAMES = {
    "secateur.cli.command_parser": "CommandParser",
    "secateur.cli.common": "CommandCall",
    "secateur.directories": "data_dir state_dir",
    "secateur.engine": "Engine",
    "secateur.errors": (
        "BudgetExceeded ConfigError EmbeddingError IndexingError LlmError PromptComposeError RepositoryError"
        " SecateurError TokenizerError UsageError shown"
    ),
    "secateur.executors.executor": "Executor TaskOutcome keep_open",
    "secateur.executors.pool": "spread_tasks",
    "secateur.history": "RepositoryHistory",
    "secateur.kinds.autocoder": "AutoCoderArgs get_llm init_project_if_required",
    "secateur.kinds.base": "PIN Environment Flag Input Kind Outcome Wording",
    "secateur.kinds.conversation.folds": "Fold",
    "secateur.kinds.conversation.kind": "session_at",
    "secateur.kinds.conversation.opencode_store": "sessions_in",
    "secateur.kinds.conversation.session_facts": "SessionFacts",
    "secateur.kinds.conversation.strategies": "ConversationPruner",
    "secateur.kinds.conversation.tool_results": "AgenticConversationPruner",
    "secateur.kinds.diff.chunks": "chunk_diff",
    "secateur.kinds.diff.repository": "chunk_repository",
    "secateur.kinds.envelope.envelope": "trim_context_with_budget",
    "secateur.kinds.environment": "ALONE Deciding Inputs read_file",
    "secateur.kinds.files.prune_context": "PruneContext",
    "secateur.kinds.files.sourcecode": "SourceCode",
    "secateur.kinds.knobs": "Knob",
    "secateur.kinds.registry": "get_kind kind_names recognise_kind",
    "secateur.kinds.run": "answer_of format_outcome prune trials_of",
    "secateur.ledger": "Entry Ledger LedgerShape Notice Reason State TrimReport",
    "secateur.model": "Decision Pool Selection",
    "secateur.output_files": "OutputLines refuse_links write_folder write_output",
    "secateur.progress": "Progress unreported",
    "secateur.redaction": "redact separate_call",
    "secateur.render.page": "Column Page Section sentence",
    "secateur.render.proofs": "prove_turns",
    "secateur.selection": "priority select select_greedy",
    "secateur.settings": "PROFILES Loaded Settings SettingsSources about installed_keys lookup table_of with_values",
    "secateur.shape": "ErrorDetails SCHEMA_VERSION Count Number Shape Version dumps",
    "secateur.sources.files": "confine_path",
    "secateur.sources.git": "Git HistoryCommit",
    "secateur.sources.named": "is_named",
    "secateur.sources.workspace_file": "is_workspace read_workspace",
    "secateur.suggestions": "suggestion",
    "secateur.system.files": "owner",
    "secateur.system.processes": "AWAITED isolated_python",
    "secateur.terminal": "clip visible",
    "secateur.tokens": "count_string_tokens count_tokens get_counter",
    "secateur.toml_values": "toml_value",
    "secateur.what_if": "ProofFields",
}

_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'secateur' has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
