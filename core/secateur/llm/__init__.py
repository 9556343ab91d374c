"""Asks language models for the pruners. It is off by default, and nothing needs it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from secateur.llm.interface import LanguageModel
    from secateur.settings import Llm


def open_model(settings: Llm, environ: Mapping[str, str]) -> LanguageModel | None:
    """Returns the model that `[llm]` configures; None if it is off. Sends nothing yet.

    Args:
        environ: the environment variables, one of which holds the key (`os.environ`).

    Raises:
        ConfigError: the address or the model is missing, or the address is invalid.
        LlmError: the variable of the key is not set, or its value cannot be sent as a key.
    """
    if not settings.enabled:
        return None
    from secateur.errors import ConfigError, LlmError
    from secateur.http import key_from, server_at
    from secateur.llm.client import ServerModel

    if not settings.base_url:
        raise ConfigError(
            "llm.enabled is true and llm.base_url is empty",
            hint='name the server, for example llm.base_url = "http://localhost:11434/v1"',
        )
    if not settings.model.strip():
        raise ConfigError("llm.enabled is true and llm.model is empty", hint="name the model as the server calls it")
    key = key_from(environ, settings.api_key_env, "llm", LlmError)
    return ServerModel(server_at(settings.base_url, key, "llm", ConfigError), settings)
