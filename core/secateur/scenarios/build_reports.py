"""The report of `secateur check` for build servers: JUnit XML, GitHub annotations, Markdown for a comment on a pull
request.

Nothing from outside breaks them: all of it passes `terminal.visible`, and then the escapes of the format.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape, quoteattr

from secateur.scenarios.causes import NAMED
from secateur.scenarios.check import CheckVerdict, Result
from secateur.scenarios.comparison import DecisionChange
from secateur.scenarios.report import MARKS, details, difference_lines, summary, words
from secateur.terminal import visible

ANNOTATIONS = 5
"""Annotations of a scenario: GitHub shows ten of a step."""

LARGEST_COMMENT = 60_000
"""Characters of a comment: GitHub takes 65,536."""

COMMENT_MARK = "<!-- secateur check -->"
"""The first line of a comment, by which who posted it finds it again."""


def junit_report(results: Sequence[Result], verbose: bool = False) -> str:
    """JUnit XML: a case a scenario; a change and a failed assertion are failures, what cannot run is an error."""
    cases = [line for result in results for line in _case(result, verbose=verbose)]
    kinds = Counter(_element(result) for result in results)
    sums = f'tests="{len(results)}" failures="{kinds["failure"]}" errors="{kinds["error"]}" skipped="0"'
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f"<testsuites {sums}>",
            f'  <testsuite name="secateur check" {sums}>',
            *cases,
            "  </testsuite>",
            "</testsuites>",
            "",
        ]
    )


def github_report(results: Sequence[Result], verbose: bool = False) -> str:
    """Workflow commands of GitHub, each at the line of the scenario that it is about, and the sums."""
    lines = [line for result in results for line in _annotations(result, verbose=verbose)]
    return "\n".join([*lines, summary(results)]) + "\n"


def markdown_report(results: Sequence[Result], verbose: bool = False) -> str:
    """Markdown for a comment: the sums, then a fold a scenario that did not pass."""
    passed = all(result.verdict is CheckVerdict.PASSED for result in results)
    text = f"{COMMENT_MARK}\n### {'✓' if passed else '✗'} secateur check\n\n{summary(results)}\n"
    told = [result for result in results if result.verdict is not CheckVerdict.PASSED or result.updated or verbose]
    for number, result in enumerate(told):
        fold = "\n" + _fold(result, verbose=verbose)
        if len(text) + len(fold) > LARGEST_COMMENT:
            return text + f"\n... and {len(told) - number:,} more: run `secateur check` to see them\n"
        text += fold
    return text


def _element(result: Result) -> str:
    """The element of a JUnit case; "" of one that passed, or whose change was accepted."""
    if result.verdict is CheckVerdict.PASSED or (result.updated and result.verdict is CheckVerdict.CHANGED):
        return ""
    return "failure" if result.verdict.exit_code == 4 else "error"


def _case(result: Result, *, verbose: bool) -> Iterator[str]:
    name = quoteattr(visible(result.name))
    case = f"    <testcase classname={quoteattr(visible(result.kind or 'scenario'))} name={name} file={name}"
    element = _element(result)
    if not element:
        yield f"{case}/>"
        return
    lines = details(result, verbose=verbose)
    yield f"{case}>"
    said = f"message={quoteattr(_in_short(result))} type={quoteattr(result.verdict.value)}"
    yield f"      <{element} {said}>{escape(chr(10).join(lines))}</{element}>"
    yield "    </testcase>"


def _in_short(result: Result) -> str:
    if result.error is not None:
        return visible(result.error.message)
    failed, changed = len(result.compared.failures), len(result.compared.differences)
    told = [f"{failed:,} assertions failed"] if failed else []
    return ", ".join([*told, *([f"{changed:,} decisions changed"] if changed else [])])


def _annotations(result: Result, *, verbose: bool) -> Iterator[str]:
    if not _element(result):
        return
    title = f"secateur: {words(result.verdict)}"
    if result.error is not None:
        yield _command(result, result.line, title, "\n".join(details(result)))
        return
    told = [(one.line, f"{one.assertion}: {one.said}") for one in result.compared.failures]
    told += [(one.line, "\n".join([*difference_lines(one), *_instead(one)])) for one in result.compared.differences]
    shown = told if verbose else told[:ANNOTATIONS]
    for number, (line, message) in enumerate(shown):
        more = len(told) - len(shown) if number == len(shown) - 1 else 0
        yield _command(result, line, title, message + (f"\nand {more:,} more" if more else ""))


def _instead(one: DecisionChange) -> list[str]:
    more = len(one.instead) - NAMED
    named = ", ".join(one.instead[:NAMED]) + (f" and {more:,} more" if more > 0 else "")
    return [f"in its place: {named}"] if named else []


def _command(result: Result, line: int, title: str, message: str) -> str:
    place = f"file={_property(result.name)},line={max(line, 1)},title={_property(title)}"
    return f"::error {place}::{_data(message)}"


def _data(text: str) -> str:
    """The message of a workflow command, escaped as GitHub's own toolkit does it."""
    shown = visible(text, keep_newlines=True)
    return shown.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """A property of a workflow command, escaped likewise."""
    return _data(visible(text)).replace(":", "%3A").replace(",", "%2C")


def _fold(result: Result, *, verbose: bool) -> str:
    """A scenario as a fold of GitHub's Markdown: its name in escaped HTML, the rest in a fence that nothing closes."""
    name = f"{MARKS[result.verdict]} <code>{_text(result.name)}</code>: {words(result.verdict)}"
    about = f" – {_text(result.about)}" if result.about else ""
    body = "\n".join(details(result, verbose=verbose)) or "nothing to say"
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", body)), 3)
    return f"<details><summary>{name}{about}</summary>\n\n{fence}text\n{body}\n{fence}\n\n</details>\n"


def _text(text: str) -> str:
    """Text in HTML; a mention or a link in it reaches nobody."""
    shown = html.escape(visible(text))
    return re.sub(r"[@#:]", lambda sign: f"&#{ord(sign[0])};", shown)
