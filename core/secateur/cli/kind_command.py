"""The command of any kind of context: its arguments from what the kind declares, one run for all."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from secateur.cli import completers
from secateur.cli.command_parser import CommandParser
from secateur.cli.common import CommandCall
from secateur.cli.output import emit, on_terminal
from secateur.cli.parsing import completed_by, integer, literal, number, offering, whole_number
from secateur.errors import SecateurError, UsageError
from secateur.kinds.base import Environment, Flag, Input, Kind, Outcome
from secateur.kinds.run import DROPPED, EXPLAIN, WHY, carry_out, check_format
from secateur.output_files import refuse_missing_folder, write_folder, write_output
from secateur.settings import Committed, Loaded, Settings, key_of
from secateur.terminal import visible


def arguments(kind: Kind[Any, Any], parser: CommandParser) -> None:
    """The arguments and flags of a kind's command."""
    for declared in kind.inputs:
        _add_input(parser, declared, optional=declared.sessions)
    if any(declared.sessions for declared in kind.inputs):
        add_session(parser)
    parser.budget = next((flag.name for flag in kind.flags if flag.key == kind.budget.key), "")
    for flag in kind.flags:
        if flag.kind is bool:
            parser.add_argument(flag.name, action="store_true", default=None, help=literal(flag.help))
        elif flag.repeatable:
            parser.add_argument(flag.name, action="append", metavar=flag.metavar, help=literal(flag.help))
        else:
            parser.add_argument(flag.name, metavar=flag.metavar, help=literal(flag.help), type=_find_converter(flag))
    parser.add_argument(
        "--save",
        type=Path,
        metavar="FILE",
        help="write a scenario, NAME.scenario.toml, for `secateur check`: the input, the settings, and assertions about"
        " the best of what is kept",
    )
    parser.add_argument("--exact", action="store_true", help="with --save: record and compare every decision")
    if EXPLAIN not in kind.blank_inputs():
        parser.add_argument(
            "--explain",
            action="store_true",
            help="prove what would change the decision: the levers that keep each listed item, cheapest first (--pin,"
            " a budget, ...), the ranges in which nothing changes, and how much goes out at each budget",
        )
        _add_input(parser, _EXPLAINED, optional=False)
    parser.add_argument(
        "--why",
        metavar="ID",
        help="instead of the report: what happened to this item (its id or the end of it), and the levers that are"
        " proven to change that, cheapest first",
    )
    parser.add_argument(
        "--report",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="write the decision and its reasons as a page to share: FILE.html, .md, .json or .svg; repeatable",
    )
    if any(declared.workspaces for declared in kind.inputs):
        parser.workspace_argument()
    if any(declared.folders for declared in kind.inputs):
        parser.source_arguments()
    parser.common_arguments(formats=kind.formats, default=kind.formats[0])


def run(kind: Kind[Any, Any], options: CommandCall) -> int:
    """Reads, decides, and prints in the format asked for. Returns the exit code of the kind:
    empty output alone is not an error."""
    inputs = {declared.name: getattr(options, declared.name) for declared in kind.inputs}
    inputs |= {item.name: path_of_session(options, inputs[item.name]) for item in kind.inputs if item.sessions}
    inputs |= {declared.name: options.workspace_or_path() for declared in kind.inputs if declared.workspaces}
    inputs |= {EXPLAIN: options.explain, DROPPED: options.dropped, WHY: options.why}
    if options.why is not None:
        options.format = options.format if "format_typed" in options else "text"
        if options.format not in ("text", "json"):
            raise UsageError("--why is printed as text or json", hint="choose another --format")
    if EXPLAIN not in kind.blank_inputs() and options.dropped is not None and not options.explain:
        raise UsageError("--dropped needs --explain", hint="add --explain; --verbose lists every item without proofs")
    flags: dict[str, Any] = {}
    for flag in kind.flags:
        flags |= _settings(options, flag)
    return run_with(kind, inputs, options, flags)


def run_with(
    kind: Kind[Any, Any],
    inputs: Mapping[str, Any],
    options: CommandCall,
    flags: Mapping[str, Any],
    *,
    plain: bool = False,
) -> int:
    """Runs a kind with inputs and settings that are known; `plain`: the text is that of the screen, in plain lines.
    Raises UsageError: the kind has no such format, or `--exact` is given without `--save`."""
    check_format(kind, options.format)
    if getattr(options, "exact", False) and options.save is None:
        raise UsageError("--exact needs --save", hint="add --save NAME.scenario.toml")
    save: Path | None = getattr(options, "save", None)
    reports = _Reports(kind, inputs, getattr(options, "report", ()), plain=plain and options.format == "text")
    if save is not None:
        refuse_missing_folder(save)

    def load(root: Path | None, committed: Committed | None = None) -> Loaded:
        loaded = options.quiet_settings(root, dict(flags), committed)
        if reports.wanted:
            reports.opened = options.settings_of_files(root, loaded, committed)
        return loaded

    progress = options.progress_bar(unit=kind.wording.unit, meanwhile="--partial answers now" * ("partial" in inputs))
    heard = Heard()
    environment = Environment(
        stdin=heard if sys.stdin is not None else None,
        form=options.format,
        progress=progress,
        trusts_git_dir=options.trusts_git_dir,
        fetching=options.fetch_options() if any(declared.folders for declared in kind.inputs) else None,
    )
    loaded = kind.load(inputs, load, environment)
    for notice in loaded.notices:
        options.say(f"warning: {notice.message}")
    environment = replace(environment, notices=loaded.notices)
    also = reports.draw if reports.wanted else None
    try:
        delivery = carry_out(kind, inputs, loaded, environment, verbose=options.verbose, also=also)
    finally:
        progress.close()
    saved = []
    if save is not None:
        from secateur_lab.scenarios.running import session
        from secateur_lab.scenarios.saving import save_scenario

        with session(os.environ) as opened:
            scenario = save_scenario(kind, inputs, loaded.settings, save, opened, stdin=heard.data, exact=options.exact)
        saved = [f"saved: {save}", *(f"note: {message}" for message in scenario.left_out)]
    for path, text in (*delivery.files, *reports.drawn.items()):
        write_output(path, text)
    if delivery.folder is not None:
        write_folder(delivery.folder.path, delivery.folder.files, delivery.folder.outdated)
    for message in (*delivery.said, *saved, *(f"report: {path}" for path in reports.drawn)):
        options.say(message)
    text = delivery.text if reports.plain is None else reports.plain
    visibly = options.format not in ("text", "json") and on_terminal(sys.stdout)
    emit(visible(text, keep_newlines=True, keep_tabs=True) if visibly else text)  # it holds texts from outside as is
    return delivery.exit_code


_EXPLAINED = Input(
    DROPPED,
    "with --explain: list N items that do not go out whole, nearest to the cut, with their levers (default 40)",
    metavar="N|all",
    default=None,
    least=0,
    words=("all",),
)
MOST_SESSIONS = 100  # sessions that a shell offers, the newest


class _Reports:
    """Draws the files of `--report`, and the plain lines of `inspect`. What makes them is imported where it is used."""

    def __init__(self, kind: Kind[Any, Any], inputs: Mapping[str, Any], paths: Sequence[Path], *, plain: bool) -> None:
        """Raises UsageError: a name has another ending, or its file is there already."""
        self._kind, self._inputs = kind, inputs
        self.forms: dict[Path, str] = {}
        self.drawn: dict[Path, str] = {}
        self.plain: str | None = None
        self.opened = Settings()  # what a command line without flags loads
        self.wanted = bool(paths) or plain
        self._plain = plain
        if paths:
            from secateur.kinds.decision_report import form_of

            self.forms = {path: form_of(path) for path in paths}

    def draw(self, outcome: Outcome[Any]) -> None:
        """Draws all of them."""
        from secateur.kinds.decision_report import PLAIN, command_of, draw_report, report_of

        kind = self._kind
        command = command_of(kind, outcome, self._inputs, self.opened)
        report = report_of(kind, outcome, self._inputs, command, brief=not self.forms)
        self.drawn = {path: draw_report(kind, outcome, report, form) for path, form in self.forms.items()}
        self.plain = draw_report(kind, outcome, report, PLAIN) if self._plain else None


class Heard:
    """Reads standard input, and keeps it for who saves it."""

    data: bytes | None = None

    def __call__(self, most: int) -> bytes:
        self.data = sys.stdin.buffer.read(most)
        return self.data


WITH = "with"  # the id of the newest record of `secateur with`


def add_session(parser: CommandParser) -> None:
    """Adds the flag that names a session of a coding agent."""
    session = parser.add_argument(
        "--session",
        metavar="ID",
        help="a coding agent's session on this machine: latest, an id from `secateur sessions`, or `with`: what"
        " `secateur with` sends now or sent last",
    )
    completed_by(session, _session_ids)


def _session_ids(_prefix: str) -> Mapping[str, str]:
    from secateur_agents.sessions.places import LATEST, TITLES, find_sessions, known_places

    sessions = completers.or_nothing(lambda: find_sessions(known_places(os.environ))[0])[:MOST_SESSIONS]
    titles = {
        session.id: completers.short(TITLES[session.agent]) for session in sessions if completers.is_plain(session.id)
    }
    return {LATEST: "the newest", WITH: "of secateur with", **titles}


def path_of_session(options: CommandCall, path: str) -> str:
    """The path to read: that of the session which `--session` names, else the one that was given.

    Raises:
        UsageError: both are given, or neither.
        SecateurError: there is no such session.
    """
    if options.session is None:
        if not path:
            raise UsageError("no transcript is named", hint="name a transcript, or --session latest")
        return path
    if path:
        raise UsageError("--session does not go with a path", hint="leave one of the two out")
    if options.session == WITH:
        from secateur_agents.proxy.record import newest_record

        record = newest_record(os.environ, running=True) or newest_record(os.environ, running=False)
        if record is None:
            raise SecateurError("secateur with has recorded nothing", hint="see docs/use/with.md", code="NO_SESSION")
        return str(record)
    from secateur_agents.sessions.places import choose_session, find_sessions, known_places

    places = known_places(os.environ)
    return choose_session(find_sessions(places)[0], options.session, places).path


def _add_input(parser: CommandParser, declared: Input, *, optional: bool = False) -> None:
    words: dict[str, Any] = {"help": literal(declared.help)}
    if declared.switch:
        words["action"] = "store_true"
    else:
        words["metavar"] = declared.metavar
        if declared.least is not None:
            whole = whole_number("--" + declared.name.replace("_", "-"), declared.least)
            words["type"] = lambda text: text if text in declared.words else whole(text)
    if declared.positional:
        if declared.repeatable:
            words["nargs"] = "+" if declared.required else "*"
        elif optional or not declared.required:
            words |= {"nargs": "?", "default": declared.default}
        action = parser.add_argument(declared.name, **words)
    else:
        if declared.repeatable:
            words |= {"action": "append", "default": []}
        elif not declared.switch:
            words["default"] = declared.default
        action = parser.add_argument("--" + declared.name.replace("_", "-"), required=declared.required, **words)
    if declared.role == "path":
        completed_by(action, completers.folders if declared.folders else completers.files)


def _find_converter(flag: Flag) -> Callable[[str], Any]:
    if flag.least is not None:
        return whole_number(flag.name, flag.least)
    choices = () if flag.values is not None else key_of(flag.key).choices
    if choices:
        return offering(lambda text: text, choices)
    return {int: integer, float: number}.get(flag.kind, str)


def _settings(options: CommandCall, flag: Flag) -> Mapping[str, Any]:
    if (value := getattr(options, flag.name.removeprefix("--").replace("-", "_"))) is None:
        return {}
    if flag.values is not None:
        return flag.values(value)
    if flag.kind is tuple and not flag.repeatable:
        value = [name.strip() for name in value.split(",") if name.strip()]
    return {flag.key: value}
