"""Runs scenarios and says how each came out.

    with session(os.environ) as opened:
        results = check(found_scenarios(Path("tests")), opened)

A scenario that cannot be run costs itself: the others are run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from secateur.errors import IndexingError, SecateurError
from secateur.scenarios.comparison import CheckFindings, compare, wanted_ids
from secateur.scenarios.location import root_of
from secateur.scenarios.malformed import malformed
from secateur.scenarios.running import Session
from secateur.scenarios.scenario import Recorded, parse_scenario, read_text, with_recorded

STALE_CODES = ("CHANGED", "INDEX")
"""Codes of errors that mean: what was decided is not what is on disk now."""


class CheckVerdict(StrEnum):
    """The results that a scenario can have; the worst that holds counts."""

    PASSED = "passed"
    CHANGED = "changed"  # decisions are others than those recorded
    FAILED = "assertion_failed"
    CANNOT_RUN = "cannot_run"
    STALE = "index_stale"  # what the index knows is not what is on disk

    @property
    def exit_code(self) -> int:
        """0, 4 where a decision changed or an assertion failed, 1 where it cannot run."""
        return {"passed": 0, "changed": 4, "assertion_failed": 4}.get(self.value, 1)


@dataclass(frozen=True)
class Result:
    """The result of one scenario."""

    path: Path
    name: str  # as the report names it
    verdict: CheckVerdict
    kind: str = ""
    about: str = ""
    compared: CheckFindings = field(default_factory=CheckFindings)
    recorded: Recorded | None = None  # the decisions now, for accepting them
    error: SecateurError | None = None
    updated: bool = False
    unrecorded: bool = False  # it holds no recorded decisions, and no assertion

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        out: dict[str, Any] = {"scenario": self.name, "verdict": self.verdict.value, "kind": self.kind}
        out |= {"about": self.about} if self.about else {}
        out |= {"updated": True} if self.updated else {}
        if self.error is not None:
            return out | {"error": self.error.to_dict()}
        compared = self.compared
        return out | {
            "differences": [one.to_dict() for one in compared.differences],
            "failures": [one.to_dict() for one in compared.failures],
            "knobs": {key: {"was": was, "now": now} for key, (was, now) in compared.knobs.items()},
            "files": list(compared.files),
        }


def check(paths: Iterable[Path], session: Session) -> Iterator[Result]:
    """Runs scenarios, each of its own: one that cannot be run costs itself."""
    for path in paths:
        yield check_one(path, session)


def check_one(path: Path, session: Session, name: str | None = None) -> Result:
    """Runs one scenario."""
    shown = name or path.as_posix()
    kind = about = ""
    try:
        text = read_text(path)
        scenario = parse_scenario(text, path)
        kind, about = scenario.kind, scenario.about
        decided = session.decide(scenario, root_of(path), wanted_ids(scenario))
        compared = compare(scenario, decided)
        if compared.impossible:
            raise malformed(path, 1, compared.impossible[0], "leave it out")
        recorded = decided.recorded()
    except SecateurError as error:
        stale = isinstance(error, IndexingError) or error.code in STALE_CODES
        verdict = CheckVerdict.STALE if stale else CheckVerdict.CANNOT_RUN
        return Result(path, shown, verdict, kind, about, error=error)
    verdict = (
        CheckVerdict.FAILED
        if compared.failures
        else CheckVerdict.CHANGED
        if compared.differences
        else CheckVerdict.PASSED
    )
    unrecorded = scenario.recorded is None and scenario.expect.empty
    return Result(path, shown, verdict, kind, about, compared, recorded, unrecorded=unrecorded)


def updated_text(result: Result) -> str | None:
    """The text of a scenario's file with the decisions as they are now; None where they are recorded already.

    Raises:
        SecateurError: the file cannot be read any more.
    """
    if result.recorded is None:
        return None
    text = read_text(result.path)
    new = with_recorded(text, result.recorded)
    return new if new != text else None


def exit_code(results: Sequence[Result]) -> int:
    """Of a whole run: 1 where a scenario cannot run, else 4 where one came out otherwise, else 0."""
    codes = {result.verdict.exit_code for result in results if not result.updated}
    return 1 if 1 in codes else max(codes, default=0)
