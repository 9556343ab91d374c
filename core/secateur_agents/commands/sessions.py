"""`secateur sessions`: the sessions of coding agents on this machine, the newest first."""

import os
from contextlib import closing
from pathlib import Path

from secateur import CommandCall, CommandParser

AGENT_NAMES = ("claude-code", "codex", "gemini-cli", "opencode", "copilot", "cline")
LIMIT = 20
_LEAST_CELLS = 6


def arguments(parser: CommandParser) -> None:
    """Adds the flags of the command."""
    parser.add_argument(
        "--agent",
        type=parser.one_of("--agent", AGENT_NAMES),
        choices=AGENT_NAMES,
        metavar="A",
        help=f"only sessions of one agent: {', '.join(AGENT_NAMES)}",
    )
    parser.add_argument("--project", type=Path, metavar="PATH", help="only sessions in this folder, or below it")
    parser.add_argument(
        "--limit",
        type=parser.whole_number("--limit", 1),
        default=LIMIT,
        metavar="N",
        help=f"most sessions to list (default {LIMIT})",
    )
    parser.add_argument("--subagents", action="store_true", help="include sessions that another session started")
    parser.common_arguments()


def run(options: CommandCall) -> int:
    """Finds, reads and lists them; exit code 0 also where there are none, with the places that were looked at."""
    from secateur import SCHEMA_VERSION, Column, Page, Section, dumps, visible

    from secateur_agents.sessions.places import (
        TITLES,
        SessionsOutput,
        describe_places,
        find_sessions,
        known_places,
        list_sessions,
    )

    settings = options.load_settings(None).settings
    places = [one for one in known_places(os.environ) if options.agent in (None, one.agent)]
    found, notices = find_sessions(places)
    project = options.project and Path(os.path.abspath(options.project.expanduser()))  # noqa: PTH100 - as it is written
    with closing(options.progress_bar(unit="sessions")) as bar:
        listed = list_sessions(
            found, settings, os.environ, project=project, limit=options.limit, subagents=options.subagents, progress=bar
        )
    for notice in notices:
        options.say(f"warning: {notice.message}")
    if options.format == "json":
        options.emit(dumps(SessionsOutput(SCHEMA_VERSION, listed, len(found), places)))
        return 0
    if not listed:
        options.emit(f"no sessions: {visible(describe_places(places))}\n")
        return 0
    cells = [("agent", "last written", "project", "messages", "tokens", "window", "dead", "id")]
    for one in listed:
        figures = "", "", "", ""
        if one.tokens is not None:
            filled = f"{'' if one.tokens_from == 'reported' else '~'}{one.tokens:,}"
            window, share = f"{one.window:,}" if one.window else "?", one.dead_share
            figures = f"{one.messages:,}", filled, window, f"{share:.0%}" if share is not None else ""
        texts = TITLES[one.agent], one.modified[:16].replace("T", " "), visible(one.project)
        cells.append((*texts, *figures, visible(one.id)))
    columns = [
        Column(max(_LEAST_CELLS if number else 0, *map(len, column)), gap=2 if number else 0, right=3 <= number <= 6)
        for number, column in enumerate(zip(*cells, strict=True))
    ]
    wrong = [f"! {visible(one.id)}: {visible(one.error)}" for one in listed if one.error]
    warned = [f"! {visible(one.id)}: {visible(said)}" for one in listed for said in one.warnings]
    more = len(found) - len(listed)
    foot = ["tokens: reported by the provider; ~ estimated. dead: repeated, superseded or outdated results"]
    if more > 0 and options.project is None:
        foot.append(f"{more:,} more: --limit, --subagents and --project choose")
    sections = [Section(cells, apart=False, columns=columns), Section([*wrong, *warned], apart=False), Section(foot)]
    options.emit(Page([], sections).text())
    return 0
