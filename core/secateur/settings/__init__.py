"""The settings: what can be set, how a value is checked, which profiles there are."""

from secateur.settings.profiles import PROFILES
from secateur.settings.pruners import Chunking, ContextBudget, ContextPrune, ConversationPrune, Log
from secateur.settings.schema import Settings
from secateur.settings.search import GraphRag, Penalty, Preference, PriorityWeights, Relevance, SmartPruning
from secateur.settings.services import Embedding, Index, Llm, Tokens, Ui

__all__ = [
    "PROFILES",
    "Chunking",
    "ContextBudget",
    "ContextPrune",
    "ConversationPrune",
    "Embedding",
    "GraphRag",
    "Index",
    "Llm",
    "Log",
    "Penalty",
    "Preference",
    "PriorityWeights",
    "Relevance",
    "Settings",
    "SmartPruning",
    "Tokens",
    "Ui",
]
