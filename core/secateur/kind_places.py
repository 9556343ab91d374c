"""The places of all kinds of context: ours, and those that other distributions register. Imports none of them.

It lies below the settings, which look here for the tables of other people's kinds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from secateur.errors import UsageError, shown
from secateur.notice import Notice

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "secateur.kinds"

UNAVAILABLE = "kind_unavailable"
"""Code of the notices about kinds that cannot be used."""


@dataclass(frozen=True, slots=True)
class Place:
    """The place where a kind is found, and its description before it is imported."""

    name: str  # also of its folder
    command: str
    summary: str  # of the command, for its help
    attribute: str  # of its module `kind`
    about: str  # see `Kind`, as what follows
    fields: Mapping[str, str] = field(default_factory=dict)  # its flags of `inspect` -> what stands for their values
    opens_folders: bool = False
    loads_itself: tuple[str, ...] = ()

    @property
    def module(self) -> str:
        """The module that holds the kind."""
        return f"secateur.kinds.{self.name}.kind"


BUILT_IN = (
    Place(
        "search",
        "search",
        "find what answers a query and print it within a token budget",
        "Search",
        "what answers a query from a repository",
        {"query": "QUERY", "rev": "COMMIT"},
        opens_folders=True,
    ),
    Place(
        "files",
        "files",
        "bring files within a number of tokens: the best ones whole, or the lines that matter",
        "FilesKind",
        "files within a number of tokens",
        {"query": "Q"},
    ),
    Place(
        "conversation",
        "conversation",
        "prune a transcript to a safe zone of tokens: clear tool results, summarize, truncate",
        "Conversation",
        "a transcript under a safe zone",
    ),
    Place(
        "envelope",
        "envelope",
        "trim a prompt envelope to a model's context budget",
        "Envelope",
        "a prompt envelope within a model's budget",
        {"model": "M"},
    ),
    Place(
        "diff",
        "chunk",
        "cut a pull request into chunks that fit a model, every changed file accounted for",
        "PullRequest",
        "a pull request in chunks that fit a model",
        {"base": "REV", "head": "REV", "ignore": "GLOB", "skill": "FILE", "linter": "FILE"},
        loads_itself=("chunking",),  # what is compared may have written them
    ),
    Place(
        "log",
        "log",
        "bring a log within a number of tokens: what failed first, verbatim lines only",
        "LogKind",
        "a log under a budget, verbatim lines only",
        {"query": "Q"},
    ),
)
"""Ours, in the order of the inspector's keys."""


def place_of(name: str) -> Place:
    """The place of a kind of ours."""
    return next(place for place in BUILT_IN if place.name == name)


COMMANDS = (
    *("inspect", "check", "mine", "evaluate", "tune", "bisect", "replay", "demo"),
    *("mcp", "sessions", "prefer", "index", "status", "config", "completion"),
)
"""Commands that prune nothing. No kind of another distribution has the name of one, or of a kind or command of ours."""

FLAGS_OF_ALL = frozenset(("command", "config", "counter", "format", "profile", "report", "save", "set", "sets"))
FLAGS_OF_ALL |= {"debug", "explain", "help", "no_redact", "quiet", "trust_git_dir", "verbose"}
FLAGS_OF_INSPECT = frozenset(("bench", "budget", "everywhere", "follow", "only", "plain", "record", "refresh"))
FLAGS_OF_INSPECT |= {"replay", "session", "shallow", "workspace"}
"""Names of the flags that every command of a kind takes, and of those of `inspect` beside the inputs of the kinds."""

_NAME = re.compile(r"[a-z][a-z0-9_-]*")


@cache
def others() -> tuple[Mapping[str, EntryPoint], tuple[Notice, ...]]:
    """The kinds of other distributions by name, and which of them cannot be used for their name."""
    from importlib.metadata import entry_points  # takes a while, and most runs know what they want

    found: dict[str, EntryPoint] = {}
    wrong = []
    ours = {name for place in BUILT_IN for name in (place.name, place.command)}
    for point in sorted(set(entry_points(group=GROUP)), key=lambda point: (point.name, point.value)):
        what = (
            "a name is small letters, digits, - and _"
            if not _NAME.fullmatch(point.name)
            else "the name is that of a kind of ours"
            if point.name in ours
            else "the name is that of a command"
            if point.name in COMMANDS
            else f"the name is that of {found[point.name].value}"
            if point.name in found
            else ""
        )
        if what:
            wrong.append(Notice(UNAVAILABLE, unusable(point, what).message))
        else:
            found[point.name] = point
    return found, tuple(wrong)


def unusable(point: EntryPoint, what: str) -> UsageError:
    return UsageError(
        f"the kind of context {shown(point.name)} ({shown(point.value)}) cannot be used: {what}",
        hint="mend or uninstall the package that registers it",
    )
