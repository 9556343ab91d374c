"""Words that a shell offers while a command line is typed, from what the parsers of the commands declare.

An argument offers its choices, those of its type, or what `completed_by` names: a function of this module. Else one
that is a path offers files, and any other nothing. argcomplete asks; it also knows how shells split and quote words.
Nothing here loads the engine, and what cannot be found out is not offered.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from secateur import directories
from secateur.cli.parsing import CHOICES
from secateur.terminal import visible

# Names under which the help speaks of files and folders.
OF_PATHS = frozenset(("CASES", "DIR", "FILE", "INPUT", "OUT.svg", "PATH"))

MOST_ENTRIES = 5_000  # entries of a folder that are looked at
_DESCRIBED = 80  # characters of what is said of a word


def complete(parser_for: Callable[[Sequence[str]], argparse.ArgumentParser]) -> None:
    """Answers the shell that asks in the environment, and ends the process. `parser_for`: the parser for the words of a
    call."""
    from argcomplete import autocomplete
    from argcomplete.exceptions import ArgcompleteException
    from argcomplete.lexers import split_line

    line = os.environ.get("COMP_LINE", "")
    try:
        words = split_line(line, int(os.environ.get("COMP_POINT", len(line))))[3]
    except (ValueError, ArgcompleteException):
        os._exit(1)
    offered: Any = _offer_words
    autocomplete(parser_for(words[1:]), always_complete_options=False, default_completer=offered)


def _offer_words(prefix: str, action: argparse.Action, **_: object) -> Mapping[str, str]:
    if choices := getattr(action.type, CHOICES, ()):
        return dict.fromkeys(choices, "")
    if action.type is not Path and action.metavar not in OF_PATHS:
        return {}
    return folders(prefix) if "sample:" in (action.help or "") else files(prefix)


def files(prefix: str) -> Mapping[str, str]:
    """Files and folders; hidden ones where a dot is typed."""
    folder, slash, start = prefix.rpartition("/")
    matches: dict[str, str] = {}
    with suppress(OSError, ValueError), os.scandir(Path(folder + slash or ".").expanduser()) as entries:
        for entry in islice(entries, MOST_ENTRIES):
            if entry.name.startswith(start) and (start or not entry.name.startswith(".")) and is_plain(entry.name):
                matches[folder + slash + entry.name + ("/" if entry.is_dir() else "")] = ""
    return dict(sorted(matches.items()))


def folders(prefix: str) -> Mapping[str, str]:
    """Files and folders, and sample repositories by name."""
    from secateur.sources import samples

    named = {f"sample:{name}": "a sample repository" for name in or_nothing(samples.sample_names)}
    return {**files(prefix), **named}


def settings(prefix: str) -> Mapping[str, str]:
    """`KEY=` of every setting; of one that is typed, its values where these are words."""
    from secateur.settings import installed_keys

    name, typed, _ = prefix.partition("=")
    keys = installed_keys()
    if not typed:
        return {f"{key.name}=": short(key.doc) for key in keys.values()}
    if name not in keys:
        return {}
    key = keys[name]
    words = key.choices or (("true", "false") if key.kind is bool else ())
    if name == "profile":
        words = tuple(profiles(""))
    return {f"{name}={word}": "" for word in words}


def profiles(_prefix: str) -> Mapping[str, str]:
    """Built-in profiles, the user's, and those of the repository in the working folder."""
    from secateur.settings import PROFILES, load

    def own() -> Iterator[str]:
        loaded = load(directories.current_folder(), user_dir=directories.config_dir(os.environ))
        return iter(loaded.settings.profiles)

    return {**dict.fromkeys(PROFILES, "built in"), **dict.fromkeys(or_nothing(own), "of your configuration")}


def counters(_prefix: str) -> Mapping[str, str]:
    """Counters of tokens."""
    from secateur.tokens import COUNTERS

    return dict.fromkeys(COUNTERS, "")


def benches(_prefix: str) -> Mapping[str, str]:
    """Benches of the inspector."""
    from secateur.kinds import registry

    return dict.fromkeys(registry.benches(), "")


def or_nothing(find: Callable[[], Any]) -> list[Any]:
    """Returns what `find` returns, or nothing if it fails: a shell cannot show an error."""
    try:
        return list(find())
    except Exception:
        return []


def short(text: str) -> str:
    return visible(text.partition(". ")[0].rstrip("."))[:_DESCRIBED]


def is_plain(name: str) -> bool:
    """Tells whether a name can be shown and typed as it is."""
    return name.isprintable() and visible(name) == name
