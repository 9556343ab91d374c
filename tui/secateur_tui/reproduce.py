"""The command line that reproduces what is on screen."""

from __future__ import annotations

import shlex
from typing import Any

from secateur import config
from secateur.config import keys as setting_keys
from secateur.settings import Settings

_SEARCH_TABLES = ("graph_rag.enabled", "smart_pruning.signature_share", "relevance.", "embedding.", "tokens.", "preference.", "index.")
"""Keys a search depends on that have no flag of their own."""


def command_line(query: str, path: str, settings: Settings, opened: Settings, rev: str | None = None) -> str:
    """`secateur search …` with every knob spelled out, so that no configuration file can change the answer.

    A key without a flag is written when it differs from the profile's own value, or from the one the inspector was opened with
    (which a configuration file may hold).
    """
    weights = settings.smart_pruning.priority_weights
    profile = config.with_profile(Settings(profiles=settings.profiles), settings.profile)
    flag_like = query.startswith("-") or path.startswith("-")
    words = ["secateur", "search", *([] if flag_like else [query, path])]
    words += ["--profile", settings.profile, "--budget", str(settings.effective_budget)]
    words += ["--weights", ",".join(_number(value) for value in (weights.relevance, weights.hotspot, weights.distance))]
    words += ["--top-k", str(settings.graph_rag.top_k), "--depth", str(settings.graph_rag.max_depth), "--strategy", settings.smart_pruning.strategy]
    if rev is not None:
        words += ["--rev", rev]
    for name in setting_keys():
        if name.startswith(_SEARCH_TABLES):
            value = config.lookup(settings, name)
            if value != config.lookup(profile, name) or value != config.lookup(opened, name):
                words += ["--set", f"{name}={_toml(value)}"]
    words += [word for symbol in settings.pins for word in ("--pin", symbol)]
    words += [word for symbol in settings.excludes for word in ("--exclude", symbol)]
    words += [word for symbol, factor in settings.boosts.items() for word in ("--boost", f"{symbol}={_number(factor)}")]
    if flag_like:
        # After `--` nothing is taken for a flag.
        words += ["--", query, path]
    return " ".join(quoted(word) for word in words)


def quoted(word: str) -> str:
    """One shell word; control characters as escapes of `$'…'`, so that pasting it runs nothing and moves no cursor."""
    if word.isprintable():
        return shlex.quote(word)
    escaped = "".join(character if character.isprintable() and character not in "\\'" else _escape(character) for character in word)
    return f"$'{escaped}'"


def _escape(character: str) -> str:
    if character in "\\'":
        return "\\" + character
    return "".join(f"\\x{byte:02x}" for byte in character.encode("utf-8", "surrogateescape"))


def _number(value: float) -> str:
    return repr(value) if value != int(value) else str(int(value))


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return _number(value)
