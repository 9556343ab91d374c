"""The names of the pruner spec, so that code written against it runs once it imports them from `secateur`.

    args = AutoCoderArgs(context_prune_sliding_window_size=10, context_prune_sliding_window_overlap=2, query="…")
    PruneContext(max_tokens=60, args=args, llm=get_llm("v3_chat", product_mode="lite"), verbose=True)

They are thin: `args` become settings, the model comes from the user's configuration, and a project needs no set-up.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from secateur import directories
from secateur.errors import ConfigError, UsageError
from secateur.llm import open_model
from secateur.settings import Settings, load, with_values
from secateur.settings.keys import check_value

if TYPE_CHECKING:
    from secateur.llm.interface import LanguageModel

# Field of `args` -> setting. `query` is the query; `source_dir` and all other fields change nothing.
FIELDS: Mapping[str, str] = {
    "context_prune": "context_prune.enabled",
    "context_prune_strategy": "context_prune.strategy",
    "context_prune_sliding_window_size": "context_prune.sliding_window_size",
    "context_prune_sliding_window_overlap": "context_prune.sliding_window_overlap",
    "conversation_prune_safe_zone_tokens": "conversation_prune.safe_zone_tokens",
    "conversation_prune_group_size": "conversation_prune.group_size",
}


class AutoCoderArgs(SimpleNamespace):
    """The arguments of the pruner spec: any fields, but only FIELDS and `query` count; None means not given.

    AutoCoderArgs(context_prune=True, context_prune_strategy="extract", query="how is a refund rounded?")
    """


def merge_args(args: object, settings: Settings | None) -> Settings:
    """Adds `args`, any object with these attributes, to the settings; an attribute that is None does not count.

    Raises:
        UsageError: `settings` has the wrong type; `args` is a mapping or a plain value.
        ConfigError: a field has the wrong type or is out of range, with its name; an overlap is as large as its window.
    """
    if not isinstance(settings, Settings | None):
        kind = type(settings).__name__
        raise UsageError(
            f"settings is a {kind}, not Settings", hint="an object with the fields of the pruner spec is given as args="
        )
    settings = settings or Settings()
    if args is None:
        return settings
    if isinstance(args, Mapping | str | bytes | int | float | list | tuple):
        kind = type(args).__name__
        raise UsageError(f"args is a {kind}, not an object with attributes", hint="for example AutoCoderArgs(**args)")
    changes: dict[str, Any] = {}
    for field, key in FIELDS.items():
        if (value := getattr(args, field, None)) is None:
            continue
        changes[key] = check_value(key, value, f"args.{field}")
    try:
        return with_values(settings, changes)
    except ConfigError as error:  # fields that contradict each other
        raise ConfigError(f"args: {error.message.removeprefix('settings: ')}", hint=error.hint) from error


def model_of(llm: Any) -> Any:
    """Checks a model; None stays None. Raises UsageError: it has no method `ask`."""
    if llm is not None and not callable(getattr(llm, "ask", None)):
        hint = "give get_llm(…), secateur.llm.open_model(…), or a secateur.llm.interface.LanguageModel"
        raise UsageError(f"llm is a {type(llm).__name__}, which has no method ask", hint=hint)
    return llm


def get_llm(name: str, product_mode: str | None = None) -> LanguageModel | None:  # noqa: ARG001 - the spec's
    """Opens the model of the user's configuration, `[llm]`; None if it is off: the engine's own judgement replaces it.

    Both arguments are the spec's and change nothing: which model answers is the user's choice (`llm.model`).

    Raises:
        ConfigError, LlmError: as `secateur.llm.open_model`.
    """
    return open_model(load(None, user_dir=directories.config_dir(os.environ)).settings.llm, os.environ)


def init_project_if_required(target_dir: str) -> None:
    """Does nothing: the pruners need nothing in a project, and write nothing into it."""
