"""The report of `secateur check` for build servers: JUnit XML, GitHub annotations, Markdown for a pull request's
comment.

Text from outside cannot break the formats: it passes `terminal.visible` and is then escaped for the format.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape, quoteattr

from secateur import visible

from secateur_lab.scenarios.causes import join_first
from secateur_lab.scenarios.check import CheckVerdict, Result
from secateur_lab.scenarios.report import MARKS, details, difference_lines, summary, words

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
    """Returns the element of a JUnit case; "" if it passed, or its change was accepted."""
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
