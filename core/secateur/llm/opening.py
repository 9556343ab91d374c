"""From `[llm]` and the environment to a model that can be asked. The key stays out of every message, and so does an
address that might hold one."""

from __future__ import annotations

import importlib.util
import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from secateur.errors import ConfigError, LlmError
from secateur.llm.asking import LanguageModel
from secateur.settings import Llm

CLIENT = "httpx2"
"""The package the extra brings."""

_PATH = "/chat/completions"
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]{0,63}")
"""What is surely the name of a variable. Anything else may be a key written in its place, and is not repeated."""


class Key:
    """A server's key, or none. What is printed of it is never the key."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return "Key(***)"

    def headers(self) -> dict[str, str]:
        """What a request needs to be let in."""
        return {"Authorization": f"Bearer {self._text}"} if self._text else {}

    def is_in(self, text: str) -> bool:
        """Whether a text gives it away."""
        return bool(self._text) and self._text in text


@dataclass(frozen=True, slots=True)
class Server:
    """Where a model is asked."""

    url: str  # of the endpoint
    place: str  # scheme, host and port, for people
    loopback: bool  # on this machine: proxies of the environment have no business there
    key: Key = field(repr=False)


def opened(settings: Llm, environ: Mapping[str, str]) -> LanguageModel:
    """The model of `settings`. See `open_model`."""
    if not settings.base_url:
        raise ConfigError(
            "llm.enabled is true and llm.base_url is empty",
            hint='name the server, for example llm.base_url = "http://localhost:11434/v1"',
        )
    if not settings.model.strip():
        raise ConfigError("llm.enabled is true and llm.model is empty", hint="name the model as the server calls it")
    server = server_at(settings.base_url, key_from(environ, settings.api_key_env))
    if importlib.util.find_spec(CLIENT) is None:
        raise LlmError(
            f"llm.enabled is true and the package {CLIENT} is not installed", hint='pip install "secateur[llm]"'
        )
    from secateur.llm.client import ServerModel

    return ServerModel(server, settings)


def server_at(base_url: str, key: Key) -> Server:
    """The server behind `base_url`: an address as its clients take it, with or without `/v1`.

    Raises:
        ConfigError: it is no http or https address, or holds a name, a password or a query.
    """
    try:
        parts = urlsplit(base_url.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError:
        parts, host, port = urlsplit(""), "", None
    if parts.scheme not in ("http", "https") or not re.fullmatch(r"[A-Za-z0-9.:_%-]+", host):
        raise ConfigError(
            "llm.base_url is not an http or https address",
            hint='for example llm.base_url = "http://localhost:11434/v1"',
        )
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ConfigError(
            "llm.base_url holds more than an address",
            hint="put the key into an environment variable and name the variable in llm.api_key_env",
        )
    shown = f"[{host}]" if ":" in host else host
    place = f"{parts.scheme}://{shown}{f':{port}' if port else ''}"
    path = parts.path.rstrip("/")
    url = place + (path if path.endswith(_PATH) else (path or "/v1") + _PATH)
    return Server(url, place, _is_loopback(host), key)


def key_from(environ: Mapping[str, str], variable: str) -> Key:
    """The key in the named variable; an empty one where none is named.

    Raises:
        LlmError: the variable is not set, or holds what no header can carry.
    """
    if not variable:
        return Key("")
    shown = (
        f"the environment variable {variable}"
        if _VARIABLE.fullmatch(variable)
        else "the environment variable that llm.api_key_env names"
    )
    text = environ.get(variable, "").strip()
    if not text:
        raise LlmError(
            f"{shown} is not set",
            hint="set it to the server's key; llm.api_key_env holds the name of the variable, never the key",
        )
    if not re.fullmatch(r"[\x21-\x7e]+", text):
        raise LlmError(
            f"{shown} holds no key: there are blanks or letters in it that no header can carry",
            hint="set it to the server's key alone",
        )
    return Key(text)


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False
