"""The report of `secateur replay`: every event with what it changed, as text and as JSON."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import msgspec
import secateur
from msgspec import UNSET, Meta, UnsetType, structs

from secateur_lab.replays.events import AnswerSeen, Captioned
from secateur_lab.replays.recording import Recording
from secateur_lab.replays.replaying import ReplayStep, ledger_digest
from secateur_lab.scenarios.comparison import Aspect, DecisionChange
from secateur_lab.scenarios.report import difference_lines
from secateur_lab.scenarios.running import Decided

MOST_SHOWN = 6  # most changes of a step that the text lists without --verbose
_LEAVES = (secateur.State.KEPT, secateur.State.SHORTENED, secateur.State.SUMMARISED)


class StepShape(secateur.Shape, frozen=True):
    """One event of a recording. Its decision is present if it could change the output."""

    step: secateur.Number
    event: Annotated[dict[str, Any], Meta(description="As in the file.")]
    kind: str
    said: Annotated[str, Meta(description="The event in words.")]
    error: (
        Annotated[secateur.ErrorDetails, Meta(description="Instead of an answer: a budget cannot be met.")] | UnsetType
    ) = UNSET
    as_recorded: bool | UnsetType = UNSET
    differs: str | UnsetType = UNSET
    budget: int | UnsetType = UNSET
    before: secateur.Count | UnsetType = UNSET
    after: secateur.Count | UnsetType = UNSET
    states: Annotated[dict[str, secateur.Count], Meta(description="Number of entries by state.")] | UnsetType = UNSET
    digest: Annotated[str, Meta(description="Of the ledger.")] | UnsetType = UNSET
    changes: list[DecisionChange] | UnsetType = UNSET
    ledger: Annotated[secateur.LedgerShape, Meta(description="With --verbose.")] | UnsetType = UNSET


class AsRecorded(secateur.Shape, frozen=True):
    """The number of recorded answers, and how many are decided the same."""

    answers: secateur.Count
    equal: secateur.Count


class ReplayOutput(secateur.Shape, frozen=True):
    """The output of `secateur replay --format json`."""

    schema_version: secateur.Version
    about: str
    steps: list[StepShape]
    as_recorded: AsRecorded
    warnings: list[secateur.Notice]


def text_report(recording: Recording, steps: Iterable[ReplayStep], *, verbose: bool = False) -> str:
    """Formats a paragraph per effective event, then whether the answers are as recorded."""
    lines = [secateur.visible(recording.head.about)] if recording.head.about else []
    lines += [f"! {notice.title}: {secateur.visible(notice.message)}" for notice in recording.notices]
    seen = 0
    other: list[str] = []
    for step in steps:
        if isinstance(step.event, AnswerSeen):
            seen += 1
            other += [f"event {step.number}: {step.differs}"] if step.differs else []
        else:
            lines += _paragraph(step, verbose=verbose)
    if seen:
        counts_text = f"{seen - len(other):,} of {seen:,} answers are as recorded"
        lines += ["", counts_text, *(f"! {difference}" for difference in other)]
    return "\n".join(lines) + "\n"


def json_report(recording: Recording, steps: Sequence[ReplayStep], *, verbose: bool = False) -> str:
    """Formats everything as JSON; with `verbose` also the ledger after each deciding event."""
    answers = [step for step in steps if isinstance(step.event, AnswerSeen)]
    equal = sum(not step.differs for step in answers)
    steps_shown = [_step(step, verbose=verbose) for step in steps]
    recorded, notices = AsRecorded(len(answers), equal), list(recording.notices)
    return secateur.dumps(ReplayOutput(secateur.SCHEMA_VERSION, recording.head.about, steps_shown, recorded, notices))


def _paragraph(step: ReplayStep, *, verbose: bool) -> list[str]:
    if isinstance(step.event, Captioned):
        return ["", f"    “{step.said}”"]
    lines = ["", f"{step.number:>3}  {step.said}"]
    if step.refusal is not None:
        return [*lines, f"     ✗ {secateur.visible(step.refusal.message)}"]
    if step.decided is None:
        return lines
    lines.append(f"     {summary(step.decided, step.then)}")
    shown = step.changes if verbose else step.changes[:MOST_SHOWN]
    for change in shown:
        head, *causes = change_lines(change)
        lines += [f"     {head}", *(f"         {cause}" for cause in causes)]
    if len(step.changes) > len(shown):
        lines.append(f"     ... and {len(step.changes) - len(shown):,} more (--verbose lists all)")
    if not step.changes and step.then is not None:
        lines.append("     no decision changed")
    return lines


def change_lines(change: DecisionChange) -> list[str]:
    """Formats a change on one line, and its causes on further ones."""
    was, now = change.was, change.now
    if change.what is Aspect.TOKENS and was is not None and now is not None:
        return [f"{secateur.visible(change.id)}: {now.state}: {was.tokens[1]:,} -> {now.tokens[1]:,} tokens"]
    return difference_lines(change)


def summary(decided: Decided, then: int | None = None) -> str:
    """Formats an answer on one line: "990 of 1,000 tokens (-10): kept 10, dropped 69"."""
    ledger = decided.ledger
    moved = f" ({ledger.after - then:+,})" if then is not None and then != ledger.after else ""
    of = f" of {ledger.budget:,}" if ledger.budget else ""
    counts_text = ", ".join(f"{name} {count:,}" for name, count in counts_of(decided).items())
    return f"{ledger.after:,}{of} tokens{moved}: {counts_text or 'nothing'}"


def counts_of(decided: Decided) -> dict[str, int]:
    """Counts the entries of each state, those in the output first."""
    sums = decided.ledger.sums
    return {state.label: sums[state].number for state in (*_LEAVES, secateur.State.DROPPED) if sums[state].number}


def _step(step: ReplayStep, *, verbose: bool) -> StepShape:
    shape = StepShape(step.number, msgspec.to_builtins(step.event), step.kind, step.said)
    if step.refusal is not None:
        return structs.replace(shape, error=step.refusal.details)
    if isinstance(step.event, AnswerSeen):
        return structs.replace(shape, as_recorded=not step.differs, differs=step.differs or UNSET)
    if step.decided is None:
        return shape
    ledger = step.decided.ledger
    return structs.replace(
        shape,
        budget=ledger.budget,
        before=ledger.before,
        after=ledger.after,
        states=counts_of(step.decided),
        digest=ledger_digest(ledger),
        changes=list(step.changes),
        ledger=ledger.shape() if verbose else UNSET,
    )
