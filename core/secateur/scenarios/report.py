"""The report of `secateur check` as text for people and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Annotated, Any

from msgspec import Meta

from secateur.render import dumps
from secateur.scenarios.check import CheckVerdict, Result, ScenarioShape, exit_code
from secateur.scenarios.comparison import Aspect, DecisionChange, Way
from secateur.scenarios.scenario import RecordedItem
from secateur.shape import SCHEMA_VERSION, Count, Shape, Version
from secateur.terminal import visible

SHOWN = 20
"""Items of a scenario that a report for people names without --verbose."""

FILES_SHOWN = 5
"""Changed files of a scenario that a report for people names."""

MARKS = {
    CheckVerdict.PASSED: "✓",
    CheckVerdict.CHANGED: "±",
    CheckVerdict.FAILED: "✗",
    CheckVerdict.CANNOT_RUN: "!",
    CheckVerdict.STALE: "!",
}


class ScenariosOutput(Shape, frozen=True):
    """The output of `secateur check --format json`."""

    schema_version: Version
    exit_code: Annotated[int, Meta(extra_json_schema={"enum": [0, 1, 4]})]
    counts: dict[str, Count]
    scenarios: list[ScenarioShape]


def text_report(results: Sequence[Result], verbose: bool = False) -> str:
    """A paragraph a scenario that did not pass, and the sums."""
    lines: list[str] = []
    for result in results:
        if result.verdict is not CheckVerdict.PASSED or verbose or result.updated or result.unrecorded:
            lines += [heading(result), *(f"    {line}" for line in details(result, verbose=verbose)), ""]
    return "\n".join([*lines, summary(results)]) + "\n"


def json_report(results: Sequence[Result], verbose: bool = False) -> str:  # noqa: ARG001 - as the others
    """All of it as JSON."""
    counts = Counter(result.verdict for result in results)
    sums = {verdict.value: counts[verdict] for verdict in CheckVerdict}
    return dumps(ScenariosOutput(SCHEMA_VERSION, exit_code(results), sums, [result.shape() for result in results]))


def summary(results: Sequence[Result]) -> str:
    """The sums in a line."""
    counts = Counter(result.verdict for result in results)
    told = ", ".join(f"{counts[verdict]:,} {words(verdict)}" for verdict in CheckVerdict if counts[verdict])
    updated = sum(result.updated for result in results)
    sums = f"{len(results):,} scenario{'' if len(results) == 1 else 's'}" + (f": {told}" if told else "")
    return sums + (f"; {updated:,} updated" if updated else "")


def status_line(result: Result) -> str:
    """A result in a line: how many things do not hold, and the first of them; the name where all holds."""
    compared = result.compared
    counts = [
        f"{len(found):,} {one if len(found) == 1 else many}"
        for found, one, many in (
            (compared.failures, "assertion fails", "assertions fail"),
            (compared.differences, "decision changed", "decisions changed"),
        )
        if found
    ]
    if not counts:
        return f"{visible(result.name)} holds" + (", and records nothing yet" if result.unrecorded else "")
    first = [f"{one.assertion}: {one.said}" for one in compared.failures[:1]]
    first = first or difference_lines(compared.differences[0])
    return f"{', '.join(counts)}: {visible(first[0])}"


def words(verdict: CheckVerdict) -> str:
    """A verdict for people."""
    return verdict.value.replace("_", " ")


def heading(result: Result) -> str:
    """A result in a line."""
    about = f"  {visible(result.about)}" if result.about else ""
    return f"{MARKS[result.verdict]} {visible(result.name)}: {words(result.verdict)}{about}"


def details(result: Result, *, verbose: bool = False) -> list[str]:
    """The account of a result, in lines that nothing from outside can break, and none of which begins with text
    from outside: a build server would obey `::` there."""
    if result.error is not None:
        hint = [f"hint: {visible(result.error.hint)}"] if result.error.hint else []
        return [f"error: {visible(result.error.message)}", *hint]
    lines = []
    if result.unrecorded:
        lines.append("nothing is recorded and nothing asserted: --update records the decisions")
    compared = result.compared
    lines += [f"- {visible(one.assertion)}: {visible(one.said)}" for one in compared.failures]
    shown = compared.differences if verbose else compared.differences[:SHOWN]
    for way, changes in groupby(shown, key=lambda one: one.way):
        lines.append(_title(way, any(one.way is Way.OUT for one in shown)))
        for one in changes:
            first, *further = difference_lines(one)
            lines += [f"- {first}", *(f"    {line}" for line in further)]
    if len(compared.differences) > len(shown):
        lines.append(f"... and {len(compared.differences) - len(shown):,} more (--verbose lists all)")
    lines += list(_reasons(result))
    if result.updated:
        lines.append("updated: the decisions of now are recorded")
    return lines


def _title(way: Way, room: bool) -> str:
    """The line above changes that went one way. `room`: others went out."""
    return {
        Way.OUT: "no longer goes out:",
        Way.IN: "goes out instead:" if room else "goes out now:",
        Way.OTHERWISE: "decided otherwise:",
        Way.FIGURES: "other figures:",
    }[way]


def _reasons(result: Result) -> Iterator[str]:
    """The things that moved the decisions: settings, files, and what else was said of the answer."""
    compared = result.compared
    for key, (was, now) in compared.knobs.items():
        origin = f" ({visible(compared.origins[key])})" if key in compared.origins else ""
        yield f"setting {visible(key)}: {_value(was)} -> {_value(now)}{origin}"
    if compared.files:
        more = len(compared.files) - FILES_SHOWN
        named = ", ".join(visible(path) for path in compared.files[:FILES_SHOWN])
        yield f"changed: {named}" + (f" and {more:,} more" if more > 0 else "")
    yield from (f"warning: {visible(remark)}" for remark in result.remarks)


def difference_lines(one: DecisionChange) -> list[str]:
    """A difference in a line, and what moved it in further ones."""
    name = visible(one.id)
    was, now = one.was, one.now
    causes = [visible(cause) for cause in one.causes]
    if one.what is Aspect.GONE:
        assert was is not None
        because = f": {visible(one.because)}" if one.because else ""
        return [f"{name}: {was.state} -> gone{because}", *causes]
    assert now is not None
    if was is None:
        return [f"{name}: new -> {now.state}: {visible(one.because)}", *causes]
    if was.id != now.id:
        name += f" (recorded as {visible(was.id)})"
    if one.what is Aspect.STATE:
        head = f"{name}: {was.state} -> {now.state}: {visible(one.because)}"
    elif one.what is Aspect.REASON:
        head = f"{name}: {now.state}, but {was.reason} -> {now.reason}: {visible(one.because)}"
    else:
        before, after = (_compared(item, one.what) for item in (was, now))
        head = f"{name}: {one.what.value} {before} -> {after}"
    return [head, *causes]


def _compared(item: RecordedItem, what: Aspect) -> str:
    if what is Aspect.TOKENS:
        return f"{item.tokens[1]:,} of {item.tokens[0]:,}"
    return str(item.score if what is Aspect.SCORE else item.rank)


def _value(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else visible(str(value))
