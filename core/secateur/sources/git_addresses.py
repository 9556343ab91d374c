"""Recognizes addresses of git repositories, and refuses those that could do more than name a repository.

    git_address("https://github.com/pallets/flask")    # GitAddress(url=…, scheme="https", name="flask")
    git_address("git@github.com:pallets/flask.git")    # scheme="ssh"
    git_address("../flask")                            # None: a path

git accepts more as an address than it seems: `ext::COMMAND` runs a command, a host that begins with a dash is an option
of ssh, a user name before the host may be a token. None of that reaches git. A possible credential is never printed.

Options of a call that names a remote repository: whether to fetch it again and how much of it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext

from msgspec import Struct, field

from secateur.errors import UsageError, shown
from secateur.hosts import is_this_machine
from secateur.progress import Progress, unreported


class FetchOptions(Struct, frozen=True):
    """Allows a call to use the network. One object serves one call, which fetches no repository twice."""

    refresh: bool = False  # fetch again what is in the cache
    shallow: bool = False  # the newest commit alone, where nothing is in the cache yet
    reporting: Callable[[], AbstractContextManager[Progress]] | None = None  # opened while something is fetched
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    refreshed: set[str] = field(default_factory=set)

    def open_progress(self) -> AbstractContextManager[Progress]:
        """Returns the progress to report to while something is fetched."""
        return self.reporting() if self.reporting is not None else nullcontext(unreported)


REFUSED = "URL_REFUSED"  # code of the error that an address is not used
LONGEST = 2048  # most characters of an address: more than servers and browsers allow
SCHEMES = ("https", "ssh", "file")  # allowed protocols; on this machine also `http`
_HINT = "secateur takes https://HOST/PATH, ssh://USER@HOST/PATH, USER@HOST:PATH and file:///PATH"
_LOCAL = "a path of this machine that looks like an address is written with ./ before it"

_HELPER = re.compile(r"[A-Za-z0-9][A-Za-z0-9+.-]*::")
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/]*)(.*)", re.DOTALL)
_SCP = re.compile(r"([^/]*)@([^/@]*?):(.*)", re.DOTALL)
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")
_HOST = re.compile(r"([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(?::([0-9]{1,5}))?")
# Characters that no path of a repository needs unescaped; a token may follow `?` and `#`.
_NOT_IN_PATHS = frozenset("\\\"'`<>{}|^?#$;")

_NAME_LETTERS = 40


class GitAddress(Struct, frozen=True):
    """An address that is safe to give to git. It holds no password, no query, no option."""

    url: str
    scheme: str  # "https", "ssh", "file"; "http" on this machine
    name: str  # of the repository, fit for a folder: "flask"


def is_git_address(text: str) -> bool:
    """Tells whether a text is meant as an address, even one that is refused."""
    return bool(_HELPER.match(text) or _URL.fullmatch(text) or _SCP.fullmatch(text))


def git_address(text: str) -> GitAddress | None:
    """Returns the address that a text is; None for a path. Raises UsageError: the address is refused (`URL_REFUSED`):
    another protocol, credentials, options, control characters."""
    if not is_git_address(text):
        return None
    if len(text) > LONGEST:
        raise _refusal("the git URL", f"is longer than {LONGEST:,} characters", _HINT)
    if not all(letter.isprintable() and letter != " " for letter in text):
        raise _refusal("the git URL", "holds control characters or spaces", f"write a space as %20; {_HINT}")
    if helper := _HELPER.match(text):
        fault = "would start a program that the URL names"
        raise _refusal(f"a git URL that begins with {shown(helper[0])}", fault, f"{_HINT}; {_LOCAL}")
    if (parts := _URL.fullmatch(text)) is None:
        return _parse_scp_address(text)
    scheme, authority, path = parts[1].lower(), parts[2], parts[3]
    if scheme not in (*SCHEMES, "http"):
        raise _refusal(f"a git URL with {shown(scheme)}://", "is not fetched", f"{_HINT}; {_LOCAL}")
    if scheme == "file":
        if authority:
            raise _refusal("the file:// URL", "names a host", "write three slashes: file:///PATH")
        return _address(scheme, "", path)
    user, _, host_text = authority.rpartition("@")
    _check_user(user, host_text, scheme)
    if (host := _HOST.fullmatch(host_text)) is None or int(host[2] or 1) > 65535:
        raise _refusal("the git URL", "has no host that a machine can have", _HINT)
    if scheme == "http" and not is_this_machine(host[1]):
        raise _refusal(f"http://{host[1]}", "is not fetched, because anybody on the way can change it", "use https://")
    before = f"{user}@" if user else ""
    return _address(scheme, before + host[1].lower() + (f":{host[2]}" if host[2] else ""), path)


def _parse_scp_address(text: str) -> GitAddress:
    parts = _SCP.fullmatch(text)
    assert parts is not None
    user, host, path = parts[1], parts[2], parts[3]
    _check_user(user, host, "ssh")
    if (match := _HOST.fullmatch(host)) is None or match[2]:
        raise _refusal("the git URL", "has no host that a machine can have", f"{_HINT}; {_LOCAL}")
    if path.startswith("-"):
        raise _refusal("the git URL", "has a path that begins with a dash", f"write ./ before the path; {_HINT}")
    _check_path(path)
    return GitAddress(f"{user}@{host.lower()}:{path.rstrip('/')}", "ssh", _name(path))


def _check_user(user: str, host: str, scheme: str) -> None:
    """Raises UsageError if a name before the host may be a credential or an option."""
    shown_host = host if _HOST.fullmatch(host) else "a host"
    if scheme != "ssh" and user:
        hint = "leave it out, and revoke it if it was a secret: command lines are stored. If the repository is private,"
        hint += " use ssh with a key, or clone it yourself and name the folder"
        raise _refusal(f"a {scheme} URL for {shown_host}", "holds a user name, a password or a token", hint)
    if user and not _USER.fullmatch(user):
        fault = "holds a password, or a user name with characters other than letters, digits, dot, dash and underscore"
        hint = "ssh://USER@HOST/PATH with a key in the agent needs no password"
        raise _refusal(f"an ssh URL for {shown_host}", fault, hint)


def _address(scheme: str, authority: str, path: str) -> GitAddress:
    _check_path(path.lstrip("/"))
    return GitAddress(f"{scheme}://{authority}{path.rstrip('/')}", scheme, _name(path))


def _check_path(path: str) -> None:
    if not path.strip("/"):
        raise _refusal("the git URL", "names no repository", _HINT)
    if strange := next((sign for sign in path if sign in _NOT_IN_PATHS), ""):
        fault = f"has {strange} in its path"
        raise _refusal("the git URL", fault, "a repository's URL has no query; write other characters as %XX")


def _name(path: str) -> str:
    last = path.rstrip("/").rpartition("/")[2].rpartition(":")[2].removesuffix(".git")
    clean = "".join(sign if sign.isascii() and (sign.isalnum() or sign in "-_.") else "_" for sign in last)
    return clean.strip(".")[:_NAME_LETTERS] or "repository"


def _refusal(what: str, fault: str, hint: str) -> UsageError:
    return UsageError(f"{what} {fault}", hint=hint, code=REFUSED)
