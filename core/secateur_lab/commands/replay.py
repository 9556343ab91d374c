"""`secateur replay FILE`: runs a recorded session without a screen and prints what each event changed."""

import os
import sys
from contextlib import closing
from pathlib import Path

from secateur import CommandCall, CommandParser, refuse_links

from secateur_lab.replays.recording import Recording, read_recording
from secateur_lab.replays.replaying import replay
from secateur_lab.replays.report import json_report, text_report
from secateur_lab.scenarios.running import session


def arguments(parser: CommandParser) -> None:
    """Adds the flags of the command."""
    parser.add_argument("file", metavar="FILE", type=Path, help="a recorded session, NAME.replay.jsonl")
    parser.add_argument("--svg", type=Path, metavar="OUT.svg", help="draw it as an animation of the inspector instead")
    parser.common_arguments()


def run(options: CommandCall) -> int:
    """Prints the steps. The exit code is 0 even if answers differ from the recorded ones; the report says so."""
    recording = read_recording(options.file)
    if options.svg is None:
        return print_replay(recording, options)
    refuse_links(options.svg)
    code = shown(recording, options, options.svg)
    options.say(f"drawn: {options.svg}")
    return code


def play(recording: Recording, options: CommandCall) -> int:
    """Shows a recording on the screen, or prints it without a terminal."""
    if not (options.on_terminal(sys.stdin) and options.on_terminal(sys.stdout)):
        return print_replay(recording, options)
    return shown(recording, options)


def shown(recording: Recording, options: CommandCall, picture: Path | None = None) -> int:
    """Shows a recording in the inspector, or has it draw a picture. The user's theme and keys apply."""
    own = options.quiet_settings(None, {}, None).settings
    return int(options.inspector()("", settings=own, replay=recording, picture=picture) or 0)


def print_replay(recording: Recording, options: CommandCall) -> int:
    """Runs a recording and prints what each event changed."""
    with closing(options.progress_bar()) as progress, session(os.environ, progress) as opened:
        steps = list(replay(recording, opened))
        report = json_report if options.format == "json" else text_report
        text = report(recording, steps, verbose=options.verbose)
    options.emit(text)
    return 0
