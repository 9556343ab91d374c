"""`secateur check PATH…`: runs scenarios and reports changed decisions and failed assertions."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from fnmatch import fnmatch
from pathlib import Path

from secateur import CommandCall, CommandParser, UsageError, shown

from secateur_lab.scenarios.build_reports import github_report, junit_report, markdown_report
from secateur_lab.scenarios.check import CheckVerdict, Result, exit_code, record_decisions, results_of
from secateur_lab.scenarios.location import find_scenarios
from secateur_lab.scenarios.report import details, heading, json_report, text_report

FORMATS: Mapping[str, Callable[[Sequence[Result], bool], str]] = {
    "text": text_report,
    "json": json_report,
    "junit": junit_report,
    "github": github_report,
    "markdown": markdown_report,
}


def arguments(parser: CommandParser) -> None:
    """Adds the flags of the command."""
    parser.add_argument(
        "paths", metavar="PATH", nargs="*", default=["."], help="scenarios, or folders that hold some (default: here)"
    )
    parser.add_argument(
        "--update", action="store_true", help="record the decisions as they are now; assertions stay as they are"
    )
    parser.add_argument(
        "--review", action="store_true", help="show each scenario that changed, and ask whether to record it"
    )
    parser.add_argument(
        "--only", action="append", default=[], metavar="GLOB", help="only scenarios whose path matches; repeatable"
    )
    parser.executor_arguments("run scenarios")
    parser.common_arguments(formats=tuple(FORMATS))


def run(options: CommandCall) -> int:
    """Runs the scenarios. The exit code is 4 if a decision changed or an assertion failed, 1 if a scenario cannot
    run."""
    _check_call(options)
    paths = _chosen(options)
    indexing, checking = options.progress_bar(), options.progress_bar(unit="scenarios")
    results: dict[int, Result] = {}
    try:
        with options.executor_of() as jobs, closing(results_of(paths, os.environ, jobs, indexing)) as coming:
            checking("checking", 0, len(paths))
            for index, result in coming:
                results[index] = record_decisions(result) if options.update else result  # as each arrives
                checking("checking", len(results), len(paths))
    except KeyboardInterrupt:
        updated = f", {sum(result.updated for result in results.values()):,} updated" if options.update else ""
        indexing.close()
        checking.close()
        options.say(
            f"{len(results):,} of {len(paths):,} scenario{' was' if len(paths) == 1 else 's were'} run{updated}"
        )
        raise
    finally:
        indexing.close()
        checking.close()
    in_order = [results[index] for index in sorted(results)]
    if options.review:
        in_order = _review(in_order, options)
    options.emit(FORMATS[options.format](in_order, options.verbose))
    return exit_code(in_order)


def _check_call(options: CommandCall) -> None:
    flags = {"--config": options.config, "--profile": options.profile, "--set": options.sets}
    flags |= {"--counter": options.counter, "--trust-git-dir": options.trust_git_dir}
    if (given := next((name for name, value in flags.items() if value), None)) is not None:
        raise UsageError(
            f"check has no use for {given}: a scenario is decided under its own settings",
            hint="write them below [settings] of the scenario",
        )
    if options.review and options.update:
        raise UsageError("--review asks, --update does not", hint="give one of them")
    if options.review and not (options.on_terminal(sys.stdin) and options.on_terminal(sys.stderr)):
        raise UsageError("--review asks on a terminal, and there is none", hint="--update --only GLOB records without")


def _chosen(options: CommandCall) -> list[Path]:
    """Returns the scenarios to run. If there are none, it says whether the folders or `--only` are the reason."""
    scenarios = find_scenarios([Path(name) for name in options.paths])
    chosen = [
        path
        for path in scenarios
        if not options.only or any(fnmatch(path.as_posix(), glob) or fnmatch(path.name, glob) for glob in options.only)
    ]
    if scenarios and not chosen:
        globs = " --only ".join(map(shown, options.only))
        raise UsageError(
            f"--only {globs} matches none of {len(scenarios):,} scenario{'' if len(scenarios) == 1 else 's'}",
            hint=f"it is compared with paths such as {shown(scenarios[0])}, and with names",
        )
    if not scenarios:
        folders = ", ".join(shown(name) for name in options.paths)
        options.say(f"warning: no scenario lies below {folders}: their names end in .scenario.toml")
    return chosen


def _review(results: Sequence[Result], options: CommandCall) -> list[Result]:
    out = list(results)
    waiting = [
        index
        for index, result in enumerate(results)
        if result.recorded is not None
        and (result.verdict is CheckVerdict.CHANGED or result.compared.differences or result.unrecorded)
    ]
    for position, index in enumerate(waiting, 1):
        result = results[index]
        options.emit("\n".join([heading(result), *(f"    {line}" for line in details(result)), ""]), sys.stderr)
        question = f"record these decisions? ({position} of {len(waiting)}) [y]es, [n]o, [q]uit: "
        answer = _read_answer(options, question)
        if answer == "q":
            break
        out[index] = record_decisions(result) if answer == "y" else result
    return out


def _read_answer(options: CommandCall, question: str) -> str:
    while True:
        options.emit(question, sys.stderr)
        line = sys.stdin.readline()
        letter = line.strip().lower()[:1]
        if not line or letter == "q":
            return "q"
        if letter in ("y", "n", "a", "s"):
            return {"a": "y", "s": "n"}.get(letter, letter)
