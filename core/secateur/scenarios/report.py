"""The report of `secateur check` on its scenarios, as text for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from secateur.render import SCHEMA_VERSION, dumps
from secateur.scenarios.check import CheckVerdict, Result
from secateur.scenarios.comparison import Aspect, DecisionChange
from secateur.scenarios.scenario import RecordedItem
from secateur.terminal import visible

SHOWN = 20
"""Items of a scenario that the text names without --verbose."""

MARKS = {
    CheckVerdict.PASSED: "✓",
    CheckVerdict.CHANGED: "±",
    CheckVerdict.FAILED: "✗",
    CheckVerdict.CANNOT_RUN: "!",
    CheckVerdict.STALE: "!",
}


def text_report(results: Sequence[Result], verbose: bool = False) -> str:
    """A paragraph a scenario that did not pass, and the sums."""
    lines: list[str] = []
    for result in results:
        if result.verdict is not CheckVerdict.PASSED or verbose or result.updated or result.unrecorded:
            lines += [*_paragraph(result, verbose=verbose), ""]
    return "\n".join([*lines, summary(results)]) + "\n"


def json_report(results: Sequence[Result], verbose: bool = False) -> str:  # noqa: ARG001 - as the others
    """All of it as JSON."""
    return dumps({"schema_version": SCHEMA_VERSION, "scenarios": [result.to_dict() for result in results]})


def summary(results: Sequence[Result]) -> str:
    """The sums in a line; which kind of empty, where there is nothing."""
    if not results:
        return "no scenario was found: their names end in .scenario.toml"
    counts = Counter(result.verdict for result in results)
    told = ", ".join(f"{counts[verdict]:,} {words(verdict)}" for verdict in CheckVerdict if counts[verdict])
    updated = sum(result.updated for result in results)
    return f"{len(results):,} scenarios: {told}" + (f"; {updated:,} updated" if updated else "")


def words(verdict: CheckVerdict) -> str:
    """A verdict for people."""
    return verdict.value.replace("_", " ")


def _paragraph(result: Result, *, verbose: bool) -> list[str]:
    about = f"  {visible(result.about)}" if result.about else ""
    lines = [f"{MARKS[result.verdict]} {visible(result.name)}: {words(result.verdict)}{about}"]
    if result.error is not None:
        lines.append(f"    {visible(result.error.message)}")
        return [*lines, f"    hint: {visible(result.error.hint)}"] if result.error.hint else lines
    if result.unrecorded:
        lines.append("    nothing is recorded and nothing asserted: --update records the decisions")
    compared = result.compared
    lines += [f"    {visible(one.assertion)}: {visible(one.said)}" for one in compared.failures]
    shown = compared.differences if verbose else compared.differences[:SHOWN]
    for one in shown:
        lines += [f"    {line}" for line in difference_lines(one)]
    if len(compared.differences) > len(shown):
        lines.append(f"    ... and {len(compared.differences) - len(shown):,} more (--verbose lists all)")
    lines += [f"    setting {key}: {_value(was)} -> {_value(now)}" for key, (was, now) in compared.knobs.items()]
    if compared.files:
        more = len(compared.files) - 5
        named = ", ".join(visible(path) for path in compared.files[:5])
        lines.append(f"    changed: {named}" + (f" and {more:,} more" if more > 0 else ""))
    if result.updated:
        lines.append("    updated: the decisions of now are recorded")
    return lines


def difference_lines(one: DecisionChange) -> list[str]:
    """A difference in a line, and what moved it in further ones."""
    name = visible(one.id)
    was, now = one.was, one.now
    if one.what is Aspect.GONE:
        assert was is not None
        return [f"{name}: {was.state} -> gone"]
    assert now is not None
    if was is None:
        return [f"{name}: new -> {now.state}: {visible(one.because)}"]
    if one.what in (Aspect.STATE, Aspect.REASON):
        head = f"{name}: {_decided(was)} -> {_decided(now)}: {visible(one.because)}"
    else:
        before, after = (_compared(item, one.what) for item in (was, now))
        head = f"{name}: {one.what.value} {before} -> {after}"
    return [head, *(f"    {visible(cause)}" for cause in one.causes)]


def _decided(item: RecordedItem) -> str:
    return f"{item.state} ({item.reason})"


def _compared(item: RecordedItem, what: Aspect) -> str:
    if what is Aspect.TOKENS:
        return f"{item.tokens[0]:,} -> {item.tokens[1]:,}"
    return str(item.score if what is Aspect.SCORE else item.rank)


def _value(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
