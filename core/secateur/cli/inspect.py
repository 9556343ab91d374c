"""`secateur inspect [PATH]`: the inspector; without a terminal the headless report."""

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from secateur_lab.scenarios.scenario import SUFFIX

from secateur.cli import completers, kind_command
from secateur.cli.command_parser import CommandParser
from secateur.cli.common import CommandCall
from secateur.cli.output import on_terminal
from secateur.cli.parsing import completed_by, literal, whole_number
from secateur.errors import ConfigError, SecateurError, UsageError
from secateur.kinds import registry
from secateur.kinds.base import Environment, Kind
from secateur.settings import Committed, Loaded, Settings
from secateur.sources.named import FORMS, is_named

_ONLY = "graph_rag.only"  # the key of --only


def arguments(parser: CommandParser) -> None:
    """Flags of the command."""
    names = ", ".join(registry.benches())
    parser.add_argument(
        "path",
        metavar="PATH",
        nargs="?",
        default=".",
        help=f"{FORMS}, a transcript, an envelope, a diff, a log or a scenario (default: here)",
    )
    bench = parser.add_argument(
        "--bench", metavar="BENCH", help=f"what PATH is opened as: {names} (default: what it is)"
    )
    completed_by(bench, completers.benches)
    for name, metavar in _fields().items():
        parser.add_argument(_flag(name), metavar=metavar, help=_FieldHelp(name))
    parser.add_argument(
        "--budget",
        type=whole_number("--budget", 0),
        metavar="N",
        help="the first budget; for a conversation its safe zone, for a diff the limit of a chunk",
    )
    parser.add_argument(
        "--only", action="append", metavar="GLOB", help="answer only from these (bench search); repeatable"
    )
    kind_command.add_session(parser)
    parser.add_argument(
        "--follow",
        action="store_true",
        help="look every second for new text, and show it; without PATH, what a running `secateur with` sends",
    )
    parser.add_argument(
        "--cases",
        type=Path,
        action="append",
        default=[],
        metavar="DIR",
        help="folder of judged cases and scenarios; every turn of a knob shows its effect on them; repeatable",
    )
    parser.add_argument(
        "--plain", action="store_true", help="print the screen as plain lines, for screen readers and pipes"
    )
    parser.add_argument(
        "--serve",
        action="store_true",
        help="show the inspector in a browser on this machine, at the address printed (needs the extra serve)",
    )
    parser.add_argument(
        "--record", type=Path, metavar="FILE", help="record what you do in NAME.replay.jsonl, for `secateur replay`"
    )
    parser.add_argument(
        "--replay", type=Path, metavar="FILE", help="show a recording instead of PATH; n goes to the next stop, N back"
    )
    parser.workspace_argument()
    parser.source_arguments()
    parser.common_arguments(formats=("text", "json", "markdown", "xml"))


class _FieldHelp(str):
    """The help of a flag that fills a field of benches: made where argparse prints it, by `%`, as each start would
    import the kinds otherwise."""

    __slots__ = ()

    def __mod__(self, values: Any) -> str:
        takers = [name for name, bench in registry.benches().items() if self in bench.fields]
        help_text = next(declared.help for declared in registry.get_kind(takers[0]).inputs if declared.name == self)
        text = literal(f"{help_text} ({'benches' if len(takers) > 1 else 'bench'} {', '.join(takers)})")
        return str(text % values)


def _fields() -> dict[str, str]:
    """The flags that fill fields, and what stands for the value of each as the first bench that has it says."""
    metavars: dict[str, str] = {}
    for bench in registry.benches().values():
        for name, metavar in bench.fields.items():
            metavars.setdefault(name, metavar)
    return metavars


def run(options: CommandCall) -> int:
    """Opens the inspector; with --plain prints what it says, without a terminal what the bench's command prints."""
    if options.serve:
        words = [word for word in sys.argv[1:] if word != "--serve"]
        settings = options.quiet_settings(None, {}, None).settings
        return int(options.inspector()(options.path, settings=settings, serve=words) or 0)
    if options.replay is not None:
        return _show_recording(options)
    known = registry.benches()
    workspace = options.workspace is not None
    options.path, options.workspace = options.workspace_or_path(), None
    if options.follow and options.session is None and options.path == ".":
        from secateur_agents.proxy.record import newest_record

        options.session = kind_command.WITH if newest_record(os.environ, running=True) is not None else None
    if options.session is not None:
        options.path = kind_command.path_of_session(options, "" if options.path == "." else options.path)
        options.bench = options.bench or next(name for name in known if registry.get_kind(name).inputs[0].sessions)
    if options.cases and _headless(options):
        raise UsageError("--cases needs a terminal", hint="secateur evaluate DIR measures cases without one")
    if options.path.endswith(SUFFIX):
        return _scenario(options)
    if options.bench is not None and options.bench not in known:
        raise UsageError(f"there is no bench {options.bench}", hint=f"benches: {', '.join(known)}")
    path = options.named_folder(options.path)
    if workspace:
        options.bench = options.bench or _bench_of_folders()
    kind = registry.get_kind(options.bench or bench_of(path))
    own = known[kind.name].fields
    for field in _fields():
        if getattr(options, field) and field not in own:
            raise UsageError(
                f"{_flag(field)} is ignored by the bench {kind.name}", hint="leave it out, or choose another --bench"
            )
    # where several files can be named, it is as typed: it may be a pattern
    opened = str(options.path if kind.inputs[0].repeatable or is_named(options.path) else path)
    given = [declared for declared in kind.inputs if declared.name != "path" and getattr(options, declared.name, None)]
    values = {declared: getattr(options, declared.name) for declared in given}
    named = {declared.name: [value] if declared.repeatable else value for declared, value in values.items()}
    inputs = kind.blank_inputs() | named | kind.opened_inputs(opened)
    flags: dict[str, Any] = {} if options.budget is None else {kind.budget.key: options.budget}
    if options.only:
        if all(flag.key != _ONLY for flag in kind.flags):
            raise UsageError(f"--only is ignored by the bench {kind.name}", hint="leave it out")
        flags[_ONLY] = options.only
    if _headless(options):
        if options.record is not None:
            raise UsageError("--record needs a terminal: it records the inspector", hint="leave it out")
        if not options.plain:
            options.say("no terminal here: printing the headless report")
        if not inputs[kind.inputs[0].name]:
            from secateur.cli import status

            options.check = False
            return status.run(options)
        return kind_command.run_with(kind, inputs, options, flags, plain=options.plain)
    loaded = _load_settings(kind, inputs, options, flags)
    tables = {table for name, other in known.items() if name != kind.name for table in other.loads_itself}
    try:
        own_settings = options.quiet_settings(None, flags, None).settings
    except ConfigError:  # a profile that the repository defines was chosen
        own_settings = Settings()
    # Without what the files on disk say in these tables: the benches that load those themselves may be opened later.
    settings = replace(loaded.settings, **{table: getattr(own_settings, table) for table in tables})
    texts = {flag: getattr(options, flag) or "" for flag in own}
    arguments: dict[str, Any] = {"bench": kind.name, "notices": loaded.notices, "inputs": texts}
    if options.record is not None:  # an inspector of another distribution need not know it
        arguments["record"] = options.record
    if options.follow:
        arguments["follow"] = True
    arguments |= _name_cases(options)
    return int(options.inspector()(opened, settings=settings, **arguments) or 0)


def _name_cases(options: CommandCall) -> dict[str, Any]:
    return {"cases": [options.named_folder(str(folder)) for folder in options.cases]} if options.cases else {}


def _headless(options: CommandCall) -> bool:
    """Tells whether lines are printed in place of the screen. A browser's page has no terminal, and is a screen."""
    in_browser = os.environ.get("TEXTUAL_DRIVER", "").endswith(":WebDriver")
    return options.plain or not (in_browser or (on_terminal(sys.stdin) and on_terminal(sys.stdout)))


def _scenario(options: CommandCall) -> int:
    if given := _given_flags(options):
        hint = "leave it out: the scenario says what is read, and under which settings"
        raise UsageError(f"{given[0]} does not go with a scenario", hint=hint)
    if _headless(options):
        if not options.plain:
            options.say("no terminal here: checking the scenario")
        from secateur_lab.commands import check

        return check.run(_check_options(options))
    from secateur_lab.scenarios.check import open_scenario
    from secateur_lab.scenarios.running import session

    with session(os.environ) as opened:
        scenario = open_scenario(Path(options.path), opened)
    settings = options.quiet_settings(None, {}, None).settings
    for notice in scenario.loaded.notices:
        options.say(f"warning: {notice.message}")
    arguments = {"bench": scenario.kind.name, "scenario": scenario, **_name_cases(options)}
    return int(options.inspector()(options.path, settings=settings, **arguments) or 0)


def _given_flags(options: CommandCall) -> list[str]:
    names = ("bench", "workspace", "session", *sorted(_fields()), "budget", "only", "profile", "counter", "record")
    given = [_flag(name) for name in names if getattr(options, name) is not None]
    return given + [f"--set {text}" for text in options.sets if not text.strip().startswith("ui.")]


def _check_options(options: CommandCall) -> CommandCall:
    from secateur_lab.commands import check

    parser = CommandParser()
    check.arguments(parser)
    given = parser.parse_args(["--format", options.format, "--", options.path], CommandCall())
    given.quiet, given.verbose, given.debug = options.quiet, options.verbose, options.debug
    return given


def _show_recording(options: CommandCall) -> int:
    from secateur_lab.commands.replay import play, print_replay
    from secateur_lab.replays.recording import read_recording

    if given := [*(["PATH"] if options.path != "." else []), *_given_flags(options)]:
        hint = f"leave {given[0]} out: the recording says what is read, and under which settings"
        raise UsageError("--replay shows a recording alone", hint=hint)
    recording = read_recording(options.replay)
    return print_replay(recording, options) if options.plain else play(recording, options)


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def bench_of(path: Path) -> str:
    """The bench for what a path is: files are told by how they begin, and all else is taken for a folder: that there is
    none is for its bench to say. The bench of folders takes the file of a workspace too."""
    data, of_folders = None, _bench_of_folders()
    with suppress(OSError):
        if path.is_file():
            with path.open("rb") as file:
                data = file.read(registry.HEAD)
    if data is None or registry.get_kind(of_folders).recognises(path, registry.head_of(data)):
        return of_folders
    return registry.recognise_kind(path, data).name


def _bench_of_folders() -> str:
    return next(name for name, bench in [*registry.benches().items()][::-1] if bench.opens_folders)


def _load_settings(kind: Kind[Any, Any], inputs: dict[str, Any], options: CommandCall, flags: dict[str, Any]) -> Loaded:
    """The settings that count for what is opened; where that cannot be told none of the repository: the bench says
    why."""

    def load(root: Path | None, committed: Committed | None = None) -> Loaded:
        return options.quiet_settings(root, flags, committed)

    environment = Environment(regular=True, trusts_git_dir=options.trusts_git_dir, fetching=options.fetch_options())
    try:
        loaded = kind.load(inputs, load, environment)
    except ConfigError:
        raise
    except SecateurError:
        loaded = load(None)
    for notice in loaded.notices:
        options.say(f"warning: {notice.message}")
    return loaded
