"""The settings: which exist, how values are checked, where they come from, and the profiles."""

from secateur.settings.keys import FILE_NAME, installed_keys, key_of, keys, lookup, schema, table_of
from secateur.settings.layers import IGNORED, Layer, Loaded, condense_notices, merge, with_profile, with_values
from secateur.settings.loading import MAX_FILE_BYTES, PROJECT_NAME, Committed, SettingsSources, load
from secateur.settings.schema import (
    MAX_BOOST,
    PROFILES,
    Chunking,
    ContextBudget,
    ContextPrune,
    ConversationPrune,
    Log,
    Settings,
)
from secateur.settings.search import GraphRag, Penalty, Preference, PriorityWeights, Relevance, SmartPruning
from secateur.settings.services import Embedding, Index, Llm, Redacting, Tokens, Ui
from secateur.settings.tables import Key, about

__all__ = [
    "FILE_NAME",
    "IGNORED",
    "MAX_BOOST",
    "MAX_FILE_BYTES",
    "PROFILES",
    "PROJECT_NAME",
    "Chunking",
    "Committed",
    "ContextBudget",
    "ContextPrune",
    "ConversationPrune",
    "Embedding",
    "GraphRag",
    "Index",
    "Key",
    "Layer",
    "Llm",
    "Loaded",
    "Log",
    "Penalty",
    "Preference",
    "PriorityWeights",
    "Redacting",
    "Relevance",
    "Settings",
    "SettingsSources",
    "SmartPruning",
    "Tokens",
    "Ui",
    "about",
    "condense_notices",
    "installed_keys",
    "key_of",
    "keys",
    "load",
    "lookup",
    "merge",
    "schema",
    "table_of",
    "with_profile",
    "with_values",
]
