"""The report of `secateur check` as text for people and as JSON."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Annotated, Any

from msgspec import Meta
from secateur import SCHEMA_VERSION, Count, Shape, Version, dumps, visible

from secateur_lab.scenarios.assertions import join_first
from secateur_lab.scenarios.check import CheckVerdict, Result, ScenarioShape, exit_code
from secateur_lab.scenarios.comparison import Aspect, DecisionChange, Way

MOST_SHOWN = 20  # most items of a scenario that a report for people lists without --verbose
MOST_FILES = 5  # most changed files of a scenario that a report for people lists

MARKS = {
    CheckVerdict.PASSED: "✓",
    CheckVerdict.CHANGED: "±",
    CheckVerdict.FAILED: "✗",
    CheckVerdict.CANNOT_RUN: "!",
    CheckVerdict.STALE: "!",
}


TITLES = {
    Way.OUT: "no longer in the output:",
    Way.IN: "now in the output:",
    Way.OTHERWISE: "decided differently:",
    Way.FIGURES: "other figures:",
}


class ScenariosOutput(Shape, frozen=True):
    """The output of `secateur check --format json`."""

    schema_version: Version
    exit_code: Annotated[int, Meta(extra_json_schema={"enum": [0, 1, 4]})]
    counts: dict[str, Count]
    scenarios: list[ScenarioShape]


def text_report(results: Sequence[Result], verbose: bool = False) -> str:
    """Formats a paragraph per scenario that did not pass, and the totals."""
    lines: list[str] = []
    for result in results:
        passed = result.verdict is CheckVerdict.PASSED and not result.compared.flips
        if not passed or verbose or result.updated or result.unrecorded:
            lines += [heading(result), *(f"    {line}" for line in details(result, verbose=verbose)), ""]
    return "\n".join([*lines, summary(results)]) + "\n"


def json_report(results: Sequence[Result], verbose: bool = False) -> str:  # noqa: ARG001 - like the others
    """Formats everything as JSON."""
    counts = Counter(result.verdict for result in results)
    sums = {verdict.value: counts[verdict] for verdict in CheckVerdict}
    return dumps(ScenariosOutput(SCHEMA_VERSION, exit_code(results), sums, [result.shape() for result in results]))


def summary(results: Sequence[Result]) -> str:
    """Formats the totals on one line."""
    counts = Counter(result.verdict for result in results)
    counts_text = ", ".join(f"{counts[verdict]:,} {words(verdict)}" for verdict in CheckVerdict if counts[verdict])
    updated = sum(result.updated for result in results)
    sums = f"{len(results):,} scenario{'' if len(results) == 1 else 's'}" + (f": {counts_text}" if counts_text else "")
    return sums + (f"; {updated:,} updated" if updated else "")


def status_line(result: Result) -> str:
    """Formats a result on one line: the number of differences, and the first of them; or that everything holds."""
    compared = result.compared
    failed, changed = len(compared.failures), len(compared.differences)
    counts = [f"{failed:,} assertion{' fails' if failed == 1 else 's fail'}"] if failed else []
    counts += [f"{changed:,} decision{'' if changed == 1 else 's'} changed"] if changed else []
    if not counts:
        return f"{visible(result.name)} holds" + (", but records nothing yet" if result.unrecorded else "")
    first = [f"{singular.assertion}: {singular.said}" for singular in compared.failures[:1]]
    first = first or difference_lines(compared.differences[0])
    return f"{', '.join(counts)}: {visible(first[0])}"


def words(verdict: CheckVerdict) -> str:
    """Formats a verdict for people."""
    return verdict.value.replace("_", " ")


def heading(result: Result) -> str:
    """Formats a result's heading on one line."""
    about = f"  {visible(result.about)}" if result.about else ""
    return f"{MARKS[result.verdict]} {visible(result.name)}: {words(result.verdict)}{about}"


def details(result: Result, *, verbose: bool = False) -> list[str]:
    """Describes a result in lines that outside text cannot break. No line begins with outside text, because a build
    server would obey `::` there."""
    if result.error is not None:
        hint = [f"hint: {visible(result.error.hint)}"] if result.error.hint else []
        return [f"error: {visible(result.error.message)}", *hint]
    lines = []
    if result.unrecorded:
        lines.append("it has no recorded decisions and no assertions: --update records the decisions")
    compared = result.compared
    for failure in compared.failures:
        lines.append(f"- {visible(failure.assertion)}: {visible(failure.said)}")
        lines += [f"    {'- ' * cause.startswith('::')}{visible(cause)}" for cause in failure.causes]
    lines += [visible(compared.input_read)] if verbose and compared.input_read else []
    shown = compared.differences if verbose else compared.differences[:MOST_SHOWN]
    for way, changes in groupby(shown, key=lambda finding: finding.way):
        room = any(finding.way is Way.OUT for finding in shown)  # other items left the output
        lines.append("in the output instead:" if way is Way.IN and room else TITLES[way])
        for finding in changes:
            first, *further = difference_lines(finding)
            lines += [f"- {first}", *(f"    {line}" for line in further)]
    if len(compared.differences) > len(shown):
        lines.append(f"... and {len(compared.differences) - len(shown):,} more (--verbose lists all)")
    texts = sum(change.text_changed for change in compared.differences)
    if compared.differences:
        total = len(compared.differences)
        items = f"{total:,} item{'' if total == 1 else 's'}"
        changed = f"{texts:,} of {items} also changed {'its' if texts == 1 else 'their'} text"
        lines.append(changed if texts else "no text changed, only the decisions")
    if compared.flips:
        lines.append("at the cut, within cut_tolerance:")
        lines += [f"- {difference_lines(change)[0]}" for change in compared.flips[:MOST_SHOWN]]
    lines += list(_reasons(result))
    if result.updated:
        lines.append("updated: the present decisions are recorded")
    return [*lines, *result.ways_to_accept]


def _reasons(result: Result) -> Iterator[str]:
    compared = result.compared
    for key, (was, now) in compared.knobs.items():
        origin = f" ({visible(compared.origins[key])})" if key in compared.origins else ""
        yield f"setting {visible(key)}: {_value(was)} -> {_value(now)}{origin}"
    if compared.files:
        yield f"changed: {join_first([visible(path) for path in compared.files], MOST_FILES)}"
    yield from (f"warning: {visible(remark)}" for remark in result.remarks)


def difference_lines(change: DecisionChange) -> list[str]:
    """Formats a difference on one line, and its causes on further ones."""
    name = visible(change.id)
    was, now = change.was, change.now
    causes = [f"{'- ' if cause.lstrip().startswith('::') else ''}{visible(cause)}" for cause in change.causes]
    if change.what is Aspect.GONE:
        assert was is not None
        because = f": {visible(change.because)}" if change.because else ""
        return [f"{name}: {was.state} -> gone{because}", *causes]
    assert now is not None
    if was is None:
        return [f"{name}: new -> {now.state}: {visible(change.because)}", *causes]
    if was.id != now.id:
        name += f" (recorded as {visible(was.id)})"
    if change.what is Aspect.STATE:
        head = f"{name}: {was.state} -> {now.state}: {visible(change.because)}"
    elif change.what is Aspect.REASON:
        head = f"{name}: {now.state}, but {was.reason} -> {now.reason}: {visible(change.because)}"
    else:
        figures = {Aspect.SCORE: (was.score, now.score), Aspect.RANK: (was.rank, now.rank)}
        before, after = figures.get(change.what, (f"{item.tokens[1]:,} of {item.tokens[0]:,}" for item in (was, now)))
        head = f"{name}: {change.what.value} {before} -> {after}"
    return [head, *causes]


def _value(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else visible(str(value))
