"""`secateur check PATH…`: runs scenarios and reports changed decisions and failed assertions."""

import html
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from fnmatch import fnmatch
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from secateur import CommandCall, CommandParser, UsageError, shown, visible, write_output

from secateur_lab.scenarios.assertions import join_first
from secateur_lab.scenarios.check import CheckVerdict, Result, exit_code, record_decisions, results_of
from secateur_lab.scenarios.location import find_scenarios
from secateur_lab.scenarios.report import (
    MARKS,
    details,
    difference_lines,
    json_report,
    summary,
    text_report,
    words,
)
from secateur_lab.scenarios.scenario import parse_scenario, read_text
from secateur_lab.scenarios.toml_writing import replace_expected

ANNOTATIONS = 5  # annotations per scenario: GitHub shows ten per step
LARGEST_COMMENT = 60_000  # most characters of a comment: GitHub allows 65,536
COMMENT_MARK = "<!-- secateur check -->"  # the first line of a comment, by which its author finds it again


def junit_report(results: Sequence[Result], verbose: bool = False) -> str:
    """JUnit XML with one case per scenario: changes and failed assertions are failures; an error is an error."""
    cases = [line for result in results for line in _case(result, verbose=verbose)]
    kinds = Counter(_element(result) for result in results)
    sums = f'tests="{len(results)}" failures="{kinds["failure"]}" errors="{kinds["error"]}" skipped="0"'
    head = ['<?xml version="1.0" encoding="UTF-8"?>', f"<testsuites {sums}>"]
    suite = [f'  <testsuite name="secateur check" {sums}>', *cases, "  </testsuite>"]
    return "\n".join([*head, *suite, "</testsuites>", ""])


def github_report(results: Sequence[Result], verbose: bool = False) -> str:
    """Workflow commands of GitHub, each at the line of the scenario that it concerns, and the totals."""
    lines = [line for result in results for line in _annotations(result, verbose=verbose)]
    return "\n".join([*lines, summary(results)]) + "\n"


def markdown_report(results: Sequence[Result], verbose: bool = False) -> str:
    """Markdown for a comment: the totals, then a fold for each scenario that did not pass."""
    passed = all(result.verdict is CheckVerdict.PASSED for result in results)
    text = f"{COMMENT_MARK}\n### {'✓' if passed else '✗'} secateur check\n\n{summary(results)}\n"
    listed = [result for result in results if result.verdict is not CheckVerdict.PASSED or result.updated or verbose]
    for index, result in enumerate(listed):
        # A fold in GitHub's Markdown: the name in escaped HTML, the rest in a fence that it cannot close.
        name = f"{MARKS[result.verdict]} <code>{_text(result.name)}</code>: {words(result.verdict)}"
        about = f" – {_text(result.about)}" if result.about else ""
        body = "\n".join(details(result, verbose=verbose)) or "nothing to say"
        fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", body)), 3)
        fold = f"\n<details><summary>{name}{about}</summary>\n\n{fence}text\n{body}\n{fence}\n\n</details>\n"
        if len(text) + len(fold) > LARGEST_COMMENT:
            return text + f"\n... and {len(listed) - index:,} more: run `secateur check` to see them\n"
        text += fold
    return text


def _element(result: Result) -> str:
    if result.verdict is CheckVerdict.PASSED or (result.updated and result.verdict is CheckVerdict.CHANGED):
        return ""
    return "failure" if result.verdict.exit_code == 4 else "error"


def _case(result: Result, *, verbose: bool) -> Iterator[str]:
    name = quoteattr(visible(result.name))
    case = f"    <testcase classname={quoteattr(visible(result.kind or 'scenario'))} name={name} file={name}"
    if not (element := _element(result)):
        yield f"{case}/>"
        return
    lines = details(result, verbose=verbose)
    yield f"{case}>"
    attributes = f"message={quoteattr(_summarize_result(result))} type={quoteattr(result.verdict.value)}"
    yield f"      <{element} {attributes}>{escape(chr(10).join(lines))}</{element}>"
    yield "    </testcase>"


def _summarize_result(result: Result) -> str:
    if result.error is not None:
        return visible(result.error.message)
    failed, changed = len(result.compared.failures), len(result.compared.differences)
    parts = [f"{failed:,} assertion{'' if failed == 1 else 's'} failed"] if failed else []
    return ", ".join([*parts, *([f"{changed:,} decision{'' if changed == 1 else 's'} changed"] if changed else [])])


def _annotations(result: Result, *, verbose: bool) -> Iterator[str]:
    if not _element(result):
        return
    title = f"secateur: {words(result.verdict)}"
    if result.error is not None:
        yield _command(result, result.line, title, "\n".join(details(result)))
        return
    messages = [(item.line, f"{item.assertion}: {item.said}") for item in result.compared.failures]
    for item in result.compared.differences:
        if isinstance(item.line, int):
            instead = [f"in its place: {join_first(item.instead)}"] if item.instead else []
            messages.append((item.line, "\n".join([*difference_lines(item), *instead])))
    shown = messages if verbose else messages[:ANNOTATIONS]
    for index, (line, message) in enumerate(shown):
        ending = []
        if index == len(shown) - 1:
            more = len(messages) - len(shown)
            ending = [*([f"and {more:,} more"] if more else []), *result.ways_to_accept]
        yield _command(result, line, title, "\n".join([message, *ending]))


def _command(result: Result, line: int, title: str, message: str) -> str:
    properties = f"file={_property(result.name)},line={max(line, 1)},title={_property(title)}"
    return f"::error {properties}::{_data(message)}"


def _data(text: str) -> str:
    """Escapes the message of a workflow command, as GitHub's own toolkit does."""
    return visible(text, keep_newlines=True).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(visible(text)).replace(":", "%3A").replace(",", "%2C")


def _text(text: str) -> str:
    """Escapes text for HTML, so that mentions and links in it have no effect."""
    shown = html.escape(visible(text))
    return re.sub(r"[@#:]", lambda sign: f"&#{ord(sign[0])};", shown)


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
        "paths", metavar="PATH", nargs="*", default=["."], help="scenarios, or folders of scenarios (default: here)"
    )
    parser.add_argument(
        "--update", action="store_true", help="record the decisions as they are now; assertions stay as they are"
    )
    parser.add_argument(
        "--remove",
        action="append",
        default=[],
        metavar="ID",
        help="first remove the assertions on an item; repeatable",
    )
    parser.add_argument(
        "--replace",
        action="append",
        nargs=2,
        default=[],
        metavar=("ID", "NEW"),
        help="first move assertions to another item, such as a renamed one; repeatable",
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
    _change_assertions(paths, [*((id_, None) for id_ in options.remove), *options.replace])
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
    options.emit(FORMATS[options.format](in_order, options.verbose))
    return exit_code(in_order)


def _check_call(options: CommandCall) -> None:
    flags = {"--config": options.config, "--profile": options.profile, "--set": options.sets}
    flags |= {"--counter": options.counter, "--trust-git-dir": options.trust_git_dir}
    if (given := next((name for name, value in flags.items() if value), None)) is not None:
        raise UsageError(
            f"check does not take {given}: a scenario has its own settings",
            hint="write them below [settings] of the scenario",
        )


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


def _change_assertions(paths: Sequence[Path], changes: Sequence[tuple[str, str | None]]) -> None:
    texts = {path: read_text(path) for path in paths} if changes else {}
    new = dict(texts)
    for old, now in changes:
        changed = {path: replace_expected(text, old, now) for path, text in new.items()}
        if changed == new:
            raise UsageError(f"no assertion is about {shown(old)}", hint="give an id, a text or a key of [expect]")
        new = changed
    for path, text in new.items():
        if text != texts[path]:
            parse_scenario(text, path)
            write_output(path, text)
