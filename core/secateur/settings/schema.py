"""The whole of the settings, frozen: every key of `secateur.toml` is a field of a table.

Type, range and sentence of a key are its annotation, its default is that of the field. Reading, validation, `--set`,
`secateur config`, the JSON schema and `docs/configuration.md` are derived from them (`keys.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from msgspec import Meta

from secateur.settings.pruners import Chunking, ContextBudget, ContextPrune, ConversationPrune, Log
from secateur.settings.ranges import about
from secateur.settings.search import GraphRag, Preference, Relevance, SmartPruning
from secateur.settings.services import Embedding, Index, Llm, Tokens, Ui


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that is set. Build it with `secateur.settings.load` or with `Settings()` and `with_values`."""

    profile: Annotated[
        str,
        about(
            "Named table of settings: `spec` (the specs; anchors by words and vectors), `recommended`, or one of"
            " `[profiles.NAME]`."
        ),
    ] = "spec"
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
    log: Log = field(default_factory=Log)
    llm: Llm = field(default_factory=Llm)
    ui: Ui = field(default_factory=Ui)
    profiles: Annotated[
        Mapping[str, Any], about("Profiles of your own: `[profiles.NAME]` with any of the tables above.")
    ] = field(default_factory=dict)
    budget: Annotated[
        int,
        Meta(ge=-1),
        about("Budget of this run, any integer from 0 (`--budget`); -1: `graph_rag.token_budget`."),
    ] = -1
    pins: Annotated[tuple[str, ...], about("Symbol ids that are kept first (`--pin`).")] = ()
    excludes: Annotated[tuple[str, ...], about("Symbol ids that are dropped (`--exclude`).")] = ()
    boosts: Annotated[Mapping[str, float], about("Factor on the priority of a symbol id (`--boost`).")] = field(
        default_factory=dict
    )

    @property
    def effective_budget(self) -> int:
        """Tokens the rendered pack may hold in this run."""
        return self.graph_rag.token_budget if self.budget < 0 else self.budget
