"""`secateur replay FILE`: runs a recorded session without a screen and prints what each event changed."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from secateur.cli.common import ProgressBar, common_arguments
from secateur.cli.output import emit
from secateur.replays.recording import Recording, read_recording
from secateur.replays.replaying import replay
from secateur.replays.report import json_report, text_report
from secateur.scenarios.running import session


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the flags of the command."""
    parser.add_argument("file", metavar="FILE", type=Path, help="a recorded session, NAME.replay.jsonl")
    common_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Prints the steps; exit code 0 also where answers are others than those recorded, which is said."""
    return print_replay(read_recording(options.file), options)


def play(recording: Recording, options: argparse.Namespace) -> int:
    """Shows a recording on the screen; without a terminal prints it."""
    return print_replay(recording, options)


def print_replay(recording: Recording, options: argparse.Namespace) -> int:
    """Runs a recording and prints what each event changed."""
    progress = ProgressBar(options)
    try:
        with session(os.environ, progress, ahead=True) as opened:
            steps = list(replay(recording, opened))
            report = json_report if options.format == "json" else text_report
            text = report(recording, steps, verbose=options.verbose)
    finally:
        progress.close()
    emit(text)
    return 0
