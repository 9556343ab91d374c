"""The modules of all kinds of context, ours and those that other distributions register, and of the commands that
packages beside the engine register. Imports none of them.

It is below the settings, which need it to find the tables of other distributions' kinds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from msgspec import Struct, field

from secateur.errors import UsageError, shown
from secateur.notice import Notice

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

# Groups of entry points: each names the class of a kind, or the module of a command.
GROUP = "secateur.kinds"
COMMANDS_GROUP = "secateur.commands"

UNAVAILABLE = "kind_unavailable"  # code of the notices about kinds and commands that cannot be used


class Place(Struct, frozen=True):
    """The module of a kind, and its description before it is imported."""

    name: str  # also of its folder
    command: str
    summary: str  # of the command, for its help
    attribute: str  # of its module `kind`
    about: str  # this and the rest: see `Kind`
    fields: Mapping[str, str] = field(
        default_factory=dict
    )  # its flags of `inspect`, with placeholders for their values
    opens_folders: bool = False
    loads_itself: tuple[str, ...] = ()

    @property
    def module(self) -> str:
        """The name of the kind's module."""
        return f"secateur.kinds.{self.name}.kind"


# Our own kinds, in the order of the inspector's keys.
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
        "fit files into a token budget: the best ones whole, or the lines that matter",
        "FilesKind",
        "files within a token budget",
        {"query": "Q"},
    ),
    Place(
        "conversation",
        "conversation",
        "prune a conversation to a safe zone of tokens: clear tool results, summarize or truncate",
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
        "split a pull request into chunks that fit a model, with every changed file accounted for",
        "PullRequest",
        "a pull request in chunks that fit a model",
        {"base": "REV", "head": "REV", "ignore": "GLOB", "skill": "FILE", "linter": "FILE"},
        loads_itself=("chunking",),  # the compared change may have written them
    ),
    Place(
        "log",
        "log",
        "fit a log into a token budget: what failed comes first, all lines verbatim",
        "LogKind",
        "a log under a budget, verbatim lines only",
        {"query": "Q"},
    ),
)

_OURS = {name: "a built-in kind" for place in BUILT_IN for name in (place.name, place.command)}


def place_of(name: str) -> Place:
    """Returns the place of one of our own kinds."""
    return next(place for place in BUILT_IN if place.name == name)


def command_name(name: str) -> str:
    """The command of a kind: of other people's its name."""
    return next((place.command for place in BUILT_IN if place.name == name), name)


# Commands that prune nothing. A kind of another distribution may not use these names, nor those of our own kinds.
COMMANDS = (
    *("inspect", "check", "mine", "evaluate", "tune", "replay", "demo", "mcp", "run"),
    *("recall", "saved", "sessions", "prefer", "index", "status", "config", "completion"),
)

FLAGS_OF_ALL = frozenset(("command", "config", "counter", "format", "profile", "report", "save", "set", "sets"))
FLAGS_OF_ALL |= {"debug", "dropped", "exact", "explain", "help"}
FLAGS_OF_ALL |= {"no_redact", "pin", "quiet", "trust_git_dir", "verbose", "why"}
FLAGS_OF_INSPECT = frozenset(("bench", "budget", "follow", "only", "plain", "record", "refresh"))
FLAGS_OF_INSPECT |= {"cases", "replay", "serve", "session", "shallow", "workspace"}
"""Names of the flags that commands of kinds have, and of `inspect`'s flags besides the inputs of the kinds."""

_NAME = re.compile(r"[a-z][a-z0-9_-]*")


@cache
def others() -> tuple[Mapping[str, EntryPoint], tuple[Notice, ...]]:
    """Returns the kinds of other distributions by name, and notices about those whose name cannot be used."""
    return usable_points(GROUP, _OURS | dict.fromkeys(COMMANDS, "a command"))


@cache
def commands() -> tuple[Mapping[str, EntryPoint], tuple[Notice, ...]]:
    """Returns the commands of packages beside the engine by name, and notices about those whose name cannot be used."""
    return usable_points(COMMANDS_GROUP, _OURS | dict.fromkeys(others()[0], "a kind of context"))


def usable_points(group: str, taken: Mapping[str, str]) -> tuple[Mapping[str, EntryPoint], tuple[Notice, ...]]:
    """Returns the entry points of a group by name, and notices about those whose name cannot be used. Of two with one
    name ours is used, else the first. `taken`: names that nobody may use, each with what has it."""
    from importlib.metadata import entry_points  # slow to import, and rarely needed

    points: dict[str, EntryPoint] = {}
    wrong = []
    for point in sorted(
        set(entry_points(group=group)), key=lambda point: (not is_ours(point), point.name, point.value)
    ):
        if not _NAME.fullmatch(point.name):
            what = "a name consists of small letters, digits, - and _"
        elif point.name in taken:
            what = f"the name belongs to {taken[point.name]}"
        else:
            what = f"the name belongs to {points[point.name].value}" if point.name in points else ""
        if what:
            wrong.append(Notice(UNAVAILABLE, unusable(point, what).message))
        else:
            points[point.name] = point
    return points, tuple(wrong)


def is_ours(point: EntryPoint) -> bool:
    """Tells whether this distribution registers an entry point."""
    return point.dist is not None and point.dist.name == "secateur"


def unusable(point: EntryPoint, what: str) -> UsageError:
    """Returns the error about a kind or a command that cannot be used."""
    noun = "kind of context" if point.group == GROUP else "command"
    return UsageError(
        f"the {noun} {shown(point.name)} ({shown(point.value)}) cannot be used: {what}",
        hint="repair or uninstall the package that registers it",
    )
