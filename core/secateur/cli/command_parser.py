"""The parser of one command, with the flags that commands share."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from secateur.cli import completers, parsing
from secateur.cli.parsing import Parser

ON = "who does the work: tcp://HOST:8786 or tls://HOST:8786 of a cluster, or processes:4 (docs/reference/cluster.md)"


class _Format(argparse.Action):
    """Stores the format, and that it was typed: `--why` has another default."""

    def __call__(self, _parser: Any, namespace: argparse.Namespace, values: Any, _flag: str | None = None) -> None:
        namespace.format, namespace.format_typed = values, True


class CommandParser(Parser):
    """The parser of one command, which adds the flags that commands share, and has the types of their arguments."""

    completed_by = staticmethod(parsing.completed_by)
    one_of = staticmethod(parsing.one_of)
    whole_number = staticmethod(parsing.whole_number)

    def common_arguments(
        self, formats: Sequence[str] = ("text", "json"), default: str = "text", *, several_profiles: bool = False
    ) -> None:
        """Adds the flags that every command takes; `several_profiles`: `--profile` may be given more than once."""
        group = self.add_argument_group("every command")
        group.add_argument(
            "--config",
            type=Path,
            metavar="FILE",
            help="one more configuration file; it overrides the repository's and your own",
        )
        meaning = "a named set of settings: spec (default), recommended, or one of yours"
        if several_profiles:
            profile = group.add_argument(
                "--profile", action="append", default=[], metavar="NAME", help=f"{meaning}; repeatable"
            )
        else:
            profile = group.add_argument("--profile", metavar="NAME", help=meaning)
        self.completed_by(profile, completers.profiles)
        sets = group.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="KEY=VALUE",
            dest="sets",
            help="any setting, e.g. graph_rag.max_depth=3; repeatable",
        )
        self.completed_by(sets, completers.settings)
        counter = group.add_argument(
            "--counter", metavar="NAME", help="token counter: o200k_base, cl100k_base, o200k_harmony, estimate, chars4"
        )
        self.completed_by(counter, completers.counters)
        group.add_argument(
            "--format",
            action=_Format,
            type=self.one_of("--format", formats),
            choices=formats,
            default=default,
            help=f"format of the output (default {default})",
        )
        group.add_argument(
            "--trust-git-dir",
            action="store_true",
            help="also read a .git that points elsewhere or borrows objects (clone --shared; docs/inside/security.md)",
        )
        group.add_argument(
            "--no-redact", action="store_true", help="leave credentials in the text (docs/inside/security.md)"
        )
        group.add_argument("--quiet", action="store_true", help="print nothing but errors on stderr")
        group.add_argument("--verbose", action="store_true", help="print more on stderr")
        group.add_argument("--debug", action="store_true", help="show the traceback of an error")

    def source_arguments(self) -> None:
        """Adds the flags of commands whose PATH may be a git URL."""
        group = self.add_argument_group("if PATH is a git URL (docs/use/search.md)")
        group.add_argument(
            "--refresh", action="store_true", help="fetch it again instead of reading the clone in the cache"
        )
        group.add_argument(
            "--shallow", action="store_true", help="fetch only the newest commit: faster, but without hotspots"
        )

    def workspace_argument(self) -> None:
        """Adds the flag of commands whose PATH may be a workspace."""
        self.add_argument(
            "--workspace",
            metavar="FILE",
            help="instead of PATH: the repositories of a workspace.toml, read as one (docs/reference/workspaces.md)",
        )

    def executor_arguments(self, does: str) -> None:
        """Adds the flags of commands whose work splits. `does`: the processes, as a verb, "measure"."""
        self.add_argument(
            "--jobs",
            type=self.whole_number("--jobs", 1),
            metavar="N",
            help=f"processes that {does} (default 1); the answer is the same for any number",
        )
        self.add_argument("--on", metavar="ADDRESS", help=ON)


class MixingParser(CommandParser):
    """The parser of one command: flags may stand before, between and behind its words."""

    _mixing = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse does it, but words may come in several groups; a call for help is answered before they are
        sorted. Where the rest is another program's, nothing is mixed."""
        rest = any(action.nargs == argparse.REMAINDER for action in self._actions)
        if rest or self._mixing or not {"-h", "--help", "--"}.isdisjoint(args or ()):
            return super().parse_known_args(args, namespace)
        self._mixing = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._mixing = False
