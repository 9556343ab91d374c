"""`secateur inspect [PATH]`: the inspector, found through an entry point; without a terminal the headless report."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path
from types import MappingProxyType
from typing import Any

from secateur.cli import kinds, status
from secateur.cli.common import (
    common_arguments,
    quiet_settings,
    sample_or_path,
    say,
    trusts_git_dir,
)
from secateur.cli.output import on_terminal
from secateur.cli.parsing import whole_number
from secateur.config import Committed, Loaded
from secateur.errors import ConfigError, SecateurError, UsageError
from secateur.kinds import registry
from secateur.kinds.base import Environment, Kind
from secateur.settings import Chunking, Settings


@dataclass(frozen=True, slots=True)
class BenchCommand:
    """A bench as the command line knows it."""

    name: str  # of `--bench`
    budget: str  # key of the setting that `--budget` is
    command: str  # of the headless report
    own: tuple[str, ...] = ()  # further flags that only it takes


BENCHES: Mapping[str, BenchCommand] = MappingProxyType(
    {
        bench.name: bench
        for bench in (
            BenchCommand("search", "budget", "search", ("query", "rev")),
            BenchCommand("files", "context_prune.max_tokens", "files", ("query",)),
            BenchCommand("conversation", "conversation_prune.safe_zone_tokens", "conversation"),
            BenchCommand("envelope", "context_budget.tokens", "envelope", ("model",)),
            BenchCommand("diff", "chunking.max_chunk_tokens", "chunk", ("base", "head", "skill", "linter")),
        )
    }
)
"""Benches there are."""

GROUP = "secateur.inspector"

HEAD = 1 << 16
"""Bytes by which a file is told: every transcript and every envelope begins as one."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Flags of the command."""
    names = ", ".join(BENCHES)
    parser.add_argument(
        "path",
        metavar="PATH",
        nargs="?",
        default=".",
        help="a folder, sample:NAME[/FOLDER], a transcript, an envelope or a diff (default: here)",
    )
    parser.add_argument("--query", metavar="Q", default="", help="start with this query (benches search and files)")
    parser.add_argument(
        "--bench", metavar="BENCH", help=f"which bench to open: {names} (default: the one for what PATH is)"
    )
    parser.add_argument("--rev", metavar="COMMIT", help="read this commit instead of the working tree (bench search)")
    parser.add_argument("--model", metavar="M", default="", help="the model an envelope is for (bench envelope)")
    parser.add_argument(
        "--base",
        metavar="REV",
        help="compare a repository with the merge base of this revision and the head (bench diff)",
    )
    parser.add_argument("--head", metavar="REV", help="the changed revision (bench diff)")
    parser.add_argument("--skill", metavar="FILE", help="instructions that go into every chunk (bench diff)")
    parser.add_argument(
        "--linter", metavar="FILE", help="a linter's findings, put beside the files they speak of (bench diff)"
    )
    parser.add_argument(
        "--budget",
        type=whole_number("--budget", 0),
        metavar="N",
        help="start with this budget; of a conversation its safe zone, of a diff the limit of a chunk",
    )
    common_arguments(parser, formats=("text", "json", "markdown", "xml"))


def run(options: argparse.Namespace) -> int:
    """Opens the inspector; where there is no terminal, prints what the bench's command prints."""
    if options.bench is not None and options.bench not in BENCHES:
        raise UsageError(f"there is no bench {options.bench}", hint=f"benches: {', '.join(BENCHES)}")
    path = sample_or_path(options.path)
    bench = BENCHES[options.bench or bench_of(path)]
    for flag in dict.fromkeys(flag for other in BENCHES.values() for flag in other.own):
        if getattr(options, flag) and flag not in bench.own:
            raise UsageError(
                f"--{flag} says nothing to the bench {bench.name}", hint="leave it out, or choose another --bench"
            )
    kind = registry.kind(bench.name)
    inputs = _inputs(kind, path, options)
    flags = {} if options.budget is None else {bench.budget: options.budget}
    if not (on_terminal(sys.stdin) and on_terminal(sys.stdout)):
        say(options, "no terminal here: printing the headless report")
        if bench.name == "search" and not options.query:
            options.check = False
            return status.run(options)
        return kinds.run_with(kind, inputs, options, flags)
    loaded = _loaded(kind, inputs, options, flags)
    settings = loaded.settings if bench.name == "diff" else _chunking_of_the_user(options, loaded.settings, flags)
    if bench.name == "files":
        path = Path(options.path)
    found = next(iter(entry_points(group=GROUP)), None)
    if found is None:
        raise UsageError("the inspector is not installed", hint="install the whole distribution: pip install secateur")
    inspector = found.load()
    fields: dict[str, Any] = {"query": options.query, "rev": options.rev, "model": options.model}
    if bench.name == "diff":
        fields["inputs"] = {flag: getattr(options, flag) or "" for flag in bench.own}
    return int(inspector(path, settings=settings, bench=bench.name, notices=loaded.notices, **fields) or 0)


def bench_of(path: Path) -> str:
    """The bench for what a path is: a folder is searched, files are told by how they begin. What is not there is for
    the bench to say."""
    try:
        if not path.is_file():
            return "search"
        with path.open("rb") as file:
            text = file.read(HEAD).decode("utf-8-sig", "replace").lstrip()
    except OSError:
        return "search"
    for name, kind in [*registry.kinds().items()][::-1]:  # what has fewer signs of its own stands further in front
        if name in BENCHES and kind.recognises(path, text):
            return name
    return "files"


def _inputs(kind: Kind[Any, Any], path: Path, options: argparse.Namespace) -> dict[str, Any]:
    """The inputs of a kind that the call names. Where several files can be named, the path is as typed: it may be a
    pattern."""
    given = {one: value for one in kind.inputs if (value := getattr(options, one.name, None))}
    named = {one.name: [value] if one.repeatable else value for one, value in given.items()}
    return kind.blank() | named | dict(kind.opened_on(options.path if kind.inputs[0].repeatable else str(path)))


def _loaded(kind: Kind[Any, Any], inputs: dict[str, Any], options: argparse.Namespace, flags: dict[str, Any]) -> Loaded:
    """The settings that count for what is opened; where that cannot be told none of the repository: the bench says
    why."""

    def load(root: Path | None, committed: Committed | None = None) -> Loaded:
        return quiet_settings(options, root, flags, committed)

    try:
        loaded = kind.load(inputs, load, Environment(regular=True, trusts_git_dir=partial(trusts_git_dir, options)))
    except ConfigError:
        raise
    except SecateurError:
        loaded = load(None)
    for notice in loaded.notices:
        say(options, f"warning: {notice.message}")
    return loaded


def _chunking_of_the_user(options: argparse.Namespace, settings: Settings, flags: dict[str, Any]) -> Settings:
    """The settings without what the files on disk say of chunks: the Diff bench may be opened later, on a change that
    wrote them."""
    try:
        own = quiet_settings(options, None, flags, None).settings.chunking
    except ConfigError:  # a profile that the repository defines was chosen
        own = Chunking()
    return replace(settings, chunking=own)
