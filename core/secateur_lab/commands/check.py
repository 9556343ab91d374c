"""`secateur check PATH…`: runs scenarios and says which decisions changed and which assertions fail."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from fnmatch import fnmatch
from pathlib import Path

from secateur import (
    CommandCall,
    CommandParser,
    UsageError,
    shown,
)

from secateur_lab.scenarios.build_reports import github_report, junit_report, markdown_report
from secateur_lab.scenarios.check import CheckVerdict, Result, exit_code, record_decisions
from secateur_lab.scenarios.jobs import results_of
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
    """Exit code 4 where a decision changed or an assertion failed, 1 where a scenario cannot run."""
    _check_call(options)
    paths = _chosen(options)
    results = _run(paths, options)
    if options.review:
        results = _reviewed(results, options)
    options.emit(FORMATS[options.format](results, options.verbose))
    return exit_code(results)


def _run(paths: Sequence[Path], options: CommandCall) -> list[Result]:
    """The results in the order of the paths, each recorded as it comes where that is asked for."""
    indexing, checking = options.progress_bar(), options.progress_bar(unit="scenarios")
    results: dict[int, Result] = {}
    try:
        with options.executor_of() as jobs, closing(results_of(paths, os.environ, jobs, indexing)) as coming:
            checking("checking", 0, len(paths))
            for number, result in coming:
                results[number] = record_decisions(result) if options.update else result
                checking("checking", len(results), len(paths))
    except KeyboardInterrupt:
        told = f", {sum(result.updated for result in results.values()):,} updated" if options.update else ""
        indexing.close()
        checking.close()
        options.say(
            f"{len(results):,} of {len(paths):,} scenario{' was' if len(paths) == 1 else 's were'} run{told}",
        )
        raise
    finally:
        indexing.close()
        checking.close()
    return [results[number] for number in sorted(results)]


def _check_call(options: CommandCall) -> None:
    """Checks flags that mean nothing together, or for scenarios, whose settings are their own."""
    flags = {"--config": options.config, "--profile": options.profile, "--set": options.sets}
    flags |= {"--counter": options.counter, "--trust-git-dir": options.trust_git_dir}
    given = next((name for name, value in flags.items() if value), None)
    if given is not None:
        raise UsageError(
            f"check has no use for {given}: a scenario is decided under its own settings",
            hint="write them below [settings] of the scenario",
        )
    if options.review and options.update:
        raise UsageError("--review asks, --update does not", hint="give one of them")
    if options.review and not (options.on_terminal(sys.stdin) and options.on_terminal(sys.stderr)):
        raise UsageError("--review asks on a terminal, and there is none", hint="--update --only GLOB records without")


def _chosen(options: CommandCall) -> list[Path]:
    """The scenarios that are run. Says which kind of empty it is where there are none."""
    found = find_scenarios([Path(name) for name in options.paths])
    chosen = [path for path in found if _matches(path, options.only)]
    if found and not chosen:
        raise UsageError(
            f"--only {' --only '.join(map(shown, options.only))} matches none of {len(found):,}"
            f" scenario{'' if len(found) == 1 else 's'}",
            hint=f"it is compared with paths such as {shown(found[0])}, and with names",
        )
    if not found:
        where = ", ".join(shown(name) for name in options.paths)
        options.say(f"warning: no scenario lies below {where}: their names end in .scenario.toml")
    return chosen


def _matches(path: Path, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatch(path.as_posix(), one) or fnmatch(path.name, one) for one in patterns)


def _reviewed(results: Sequence[Result], options: CommandCall) -> list[Result]:
    """Asks of each scenario whose decisions changed whether to record them, until told to stop."""
    out, asking = [], True
    waiting = [result for result in results if _can_be_recorded(result)]
    for result in results:
        if asking and _can_be_recorded(result):
            number = waiting.index(result) + 1
            options.emit("\n".join([heading(result), *(f"    {line}" for line in details(result)), ""]), sys.stderr)
            answer = _answer(options, f"record these decisions? ({number} of {len(waiting)}) [y]es, [n]o, [q]uit: ")
            asking = answer != "q"
            out.append(record_decisions(result) if answer == "y" else result)
        else:
            out.append(result)
    return out


def _can_be_recorded(result: Result) -> bool:
    return result.recorded is not None and (
        result.verdict is CheckVerdict.CHANGED or bool(result.compared.differences) or result.unrecorded
    )


def _answer(options: CommandCall, question: str) -> str:
    """The letter that was typed; "q" where the input ends."""
    while True:
        options.emit(question, sys.stderr)
        line = sys.stdin.readline()
        letter = line.strip().lower()[:1]
        if not line or letter == "q":
            return "q"
        if letter in ("y", "n", "a", "s"):
            return {"a": "y", "s": "n"}.get(letter, letter)
