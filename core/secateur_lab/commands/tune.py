"""`secateur tune [PATH|DIR]… --profile A --out FILE`: fits the weights of a profile on judged cases."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from secateur import CommandCall, CommandParser, SecateurError, UsageError, refuse_links, shown, write_output

from secateur_lab.commands.evaluate import measured_budgets

if TYPE_CHECKING:
    from secateur_lab.evaluation.tuning_run import CaseSplit, TuningRun

_NAME = re.compile(r"[A-Za-z0-9_-]+")


def arguments(parser: CommandParser) -> None:
    """Adds the flags of the command."""
    parser.add_argument(
        "paths",
        metavar="PATH",
        nargs="*",
        default=["."],
        help="folders of judged cases, or repositories to draw cases from: folders, sample:NAME, git URLs"
        " (default: here)",
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="where the profile is written, if its gain is proven")
    parser.add_argument("--name", default="tuned", metavar="NAME", help="name of the profile (default tuned)")
    parser.add_argument("--anyway", action="store_true", help="write it even if no gain is proven; the file says so")
    measured_budgets(parser)
    parser.executor_arguments("measure")
    parser.source_arguments()
    parser.common_arguments()


def run(options: CommandCall) -> int:
    """Fits a profile and measures its gain. The exit code is 0 even if nothing is gained, and 1 if no case can be used.
    After an interruption (130) it prints what it measured, and writes no profile without a proven gain."""
    from secateur_lab.evaluation.measuring import BUDGETS, Choice
    from secateur_lab.evaluation.tuned_profile import profile_text, tuning_json, tuning_text
    from secateur_lab.evaluation.tuning_run import TuningRun, collect_cases

    _check_call(options)
    choice = Choice(options.profile, sources=options.settings_sources())
    settings = choice.load(None).settings  # reports a wrong name or key before anything is measured
    budgets = tuple(dict.fromkeys(options.budget)) or BUDGETS
    progress = options.progress_bar(unit="cases")
    run: TuningRun | None = None
    try:
        split = collect_cases([(name, options.named_folder(name)) for name in options.paths], settings, progress)
        _check_cases(options, split)
        with options.executor_of() as jobs:
            run = TuningRun(split, choice, os.environ, options.name, budgets, jobs, progress)
            run.carry_out()
    except KeyboardInterrupt:
        if run is None or run.fit is None:
            progress.close()
            options.say("interrupted before anything was fitted; nothing is written")
            raise
    finally:
        progress.close()
    tuned, written = run.result(), None
    if options.out is not None and tuned.fit.found and not tuned.interrupted and (tuned.proven or options.anyway):
        write_output(options.out, profile_text(run.kind, tuned))
        written = str(options.out)
    options.emit(tuning_json(tuned, written) if options.format == "json" else tuning_text(tuned, written))
    return 130 if tuned.interrupted else 0


def _check_call(options: CommandCall) -> None:
    from secateur import PROFILES

    if not _NAME.fullmatch(options.name):
        raise UsageError(f"--name {shown(options.name)} is not a valid name", hint="letters, digits, - and _")
    if options.name in PROFILES:
        raise UsageError(f"--name {options.name} is built in", hint="choose another name for the profile")
    if options.anyway and options.out is None:
        raise UsageError("--anyway writes nothing without --out", hint="name the file: --out FILE")
    if options.out is not None:
        refuse_links(options.out)
        if options.out.exists():
            raise UsageError(f"--out {shown(options.out)} already exists", hint="name a new file")


def _check_cases(options: CommandCall, split: CaseSplit) -> None:
    if split.training and split.held_out:
        return
    wrong = split.left_out[0] if split.left_out else None
    if wrong is not None:
        raise SecateurError(f"{shown(wrong.name)}: {wrong.error.message}", hint=wrong.error.hint, code="NO_CASES")
    part = "training" if not split.training else "held-out"
    raise SecateurError(
        f"there is no {part} case in {', '.join(map(shown, options.paths))}",
        hint="both parts need some: write [judged] tables, or name a repository with more history",
        code="NO_CASES",
    )
