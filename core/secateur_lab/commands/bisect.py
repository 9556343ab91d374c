"""`secateur bisect --from A --to B --item ID QUERY [PATH]`: finds the one differing setting that moves an item."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from secateur import CommandCall, CommandParser, Progress, UsageError, kind_names, shown

if TYPE_CHECKING:
    from secateur import Environment, Kind, SettingsSources

    from secateur_lab.scenarios.bisection import Side

_SIDE = "a profile, a configuration file, or KEY=VALUE; repeatable"


def arguments(parser: CommandParser) -> None:
    """Adds the flags of the command."""
    parser.add_argument(
        "given",
        metavar="INPUT",
        nargs="+",
        help="QUERY [PATH] of a search, NAME.scenario.toml, or with --kind what that command takes in their place",
    )
    parser.add_argument("--item", required=True, metavar="ID", help="id of an entry, as --format json names them")
    parser.add_argument(
        "--from",
        action="append",
        default=[],
        dest="before",
        metavar="A",
        help=f"the first side: {_SIDE} (default: the settings in force)",
    )
    parser.add_argument(
        "--to", action="append", required=True, dest="after", metavar="B", help=f"the second side: {_SIDE}"
    )
    parser.add_argument("--rank", action="store_true", help="look at its rank where its state and reason are the same")
    kind = parser.add_argument(
        "--kind", metavar="NAME", help="kind of context: files, conversation, envelope, chunk, log ..."
    )
    parser.completed_by(kind, lambda _prefix: dict.fromkeys(kind_names(), ""))
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        dest="named",
        metavar="NAME=VALUE",
        help="an input of the kind that is a flag of its command, e.g. model=gpt-4o; repeatable",
    )
    parser.source_arguments()
    parser.common_arguments()


def run(options: CommandCall) -> int:
    """Prints what moves the item. The exit code is 1 if neither side has the item, and 0 even if nothing moves it."""
    from secateur_lab.scenarios.bisection import Side, bisect, open_bisected_input
    from secateur_lab.scenarios.bisection_report import bisection_json, bisection_text

    progress = options.progress_bar(unit="decisions")
    kind, inputs, environment, sources = _opened(options, progress)
    sides: list[Side] = []
    notices: dict[str, None] = {}
    for flag, texts in (("--from", options.before), ("--to", options.after)):
        loaded = kind.load(inputs, _with_side(sources, texts, flag).load, environment)
        notices |= dict.fromkeys(notice.message for notice in loaded.notices)
        sides.append(Side(", ".join(texts) or "in force", loaded.settings))
    for message in notices:
        options.say(f"warning: {message}")
    try:
        with open_bisected_input(kind, inputs, environment) as subject:
            bisection = bisect(subject, sides[0], sides[1], options.item, rank=options.rank, progress=progress)
    finally:
        progress.close()
    options.emit(
        bisection_json(bisection) if options.format == "json" else bisection_text(bisection, verbose=options.verbose)
    )
    return 0


def _opened(
    options: CommandCall, progress: Progress
) -> tuple[Kind[Any, Any], Mapping[str, Any], Environment, SettingsSources]:
    """Returns the kind, its inputs, the environment they are read in, and the settings that both sides share."""
    from secateur import Environment, get_kind

    from secateur_lab.scenarios.location import root_of
    from secateur_lab.scenarios.running import Session, check_hermetic, check_scenario_inputs
    from secateur_lab.scenarios.scenario import SUFFIX, read_scenario

    first = options.given[0]
    if first.endswith(SUFFIX) and options.kind is None:
        if len(options.given) > 1 or options.named:
            raise UsageError("a scenario names its inputs itself", hint=f"leave out all but {shown(first)}")
        path = Path(first)
        scenario = read_scenario(path)
        root = root_of(path)
        kind, inputs = check_scenario_inputs(scenario, root)
        check_hermetic(scenario.settings)
        environment = Session(os.environ, progress).environment(root)
        without_user = replace(options.settings_sources(), user_dir=None)
        return kind, inputs, environment, without_user.over("[settings]", scenario.settings)
    kind = get_kind("diff" if options.kind == "chunk" else options.kind or "search")
    stdin = sys.stdin.buffer.read if sys.stdin is not None else None
    return (
        kind,
        kind_inputs(kind, options.given, options.named),
        Environment(
            stdin=stdin,
            progress=progress,
            trusts_git_dir=options.trusts_git_dir,
            fetching=options.fetch_options(),
        ),
        options.settings_sources(),
    )


def kind_inputs(kind: Kind[Any, Any], words: Sequence[str], named: Sequence[str]) -> dict[str, Any]:
    """Returns the inputs of a kind from the words of a call and its `NAME=VALUE` texts. Raises UsageError: there are
    too many words, the kind has no such input, or a required input is missing."""
    inputs, rest = kind.blank_inputs(), list(words)
    for declared in (declared for declared in kind.inputs if declared.positional):
        if declared.repeatable:
            inputs[declared.name], rest = rest, []
        elif rest:
            inputs[declared.name] = rest.pop(0)
    command = kind.command
    if rest:
        raise UsageError(
            f"{command} has no place for {shown(rest[0])}", hint="put words that belong together in quotes"
        )
    known = {declared.name: declared for declared in kind.inputs if declared.holds != "output"}
    for text in named:
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or name not in known:
            raise UsageError(f"--input {shown(text)} is no input of {kind.name}", hint=f"inputs: {', '.join(known)}")
        declared = known[name]
        if declared.repeatable:
            inputs[name] = [*inputs[name], value]
        else:
            inputs[name] = value.lower() in ("true", "1", "yes") if declared.switch else value
    missing = [declared.name for declared in known.values() if declared.required and not inputs[declared.name]]
    if missing:
        raise UsageError(f"{command} needs {' and '.join(missing)}", hint=f"see secateur {command} --help")
    return inputs


def _with_side(sources: SettingsSources, texts: Sequence[str], flag: str) -> SettingsSources:
    """Returns the settings sources of one side. Raises UsageError: the side names two profiles or two files."""
    sets = [text for text in texts if "=" in text]
    files = [text for text in texts if "=" not in text and (text.endswith(".toml") or "/" in text or os.sep in text)]
    profiles = [text for text in texts if text not in sets and text not in files]
    for what, names in (("profile", profiles), ("file", files)):
        if len(names) > 1:
            raise UsageError(f"{flag} names {len(names)} {what}s", hint=f"a side has one {what}, and any KEY=VALUE")
    return sources.choosing(flag, Path(files[0]) if files else None, profiles[0] if profiles else None, sets)
