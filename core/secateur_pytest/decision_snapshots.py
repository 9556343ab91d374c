"""Snapshots of decisions with syrupy: written as a scenario records decisions, compared as a scenario is.

States and reason codes are compared; with `ExactDecisionExtension` also tokens, scores and ranks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import ReferenceType, ref

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

if TYPE_CHECKING:
    from secateur.kinds.base import Outcome
    from secateur_lab.scenarios.scenario import Scenario

HEAD = "# Decisions of `secateur.prune`, {}; `pytest --snapshot-update` writes them.\n"
COMPARED = {False: "compared by state and reason", True: "compared with tokens, scores and ranks"}


class DecisionExtension(SingleFileSnapshotExtension):
    """Writes each snapshot to a file of its own, `__snapshots__/TEST_FILE/TEST.decision.toml`."""

    _write_mode = WriteMode.TEXT
    file_extension = "decision.toml"
    exact = False

    def __init__(self) -> None:
        self._outcome: ReferenceType[Outcome[Any]] | None = None  # of the last assertion
        self._lines: list[str] = []  # of its difference

    def serialize(self, data: Any, **filters: Any) -> str:
        """Formats the decisions of an outcome as a scenario records them. Raises TypeError: `data` is not an outcome,
        or `include` or `exclude` is given: all of a decision is recorded."""
        from secateur.kinds.base import Outcome
        from secateur.terminal import visible
        from secateur_lab.scenarios.running import decided_of
        from secateur_lab.scenarios.scenario import FORMAT, replace_recorded

        if not isinstance(data, Outcome):
            raise TypeError(f"decision_snapshot is compared with an Outcome of secateur.prune, not with {type(data)}")
        if filters.get("include") or filters.get("exclude"):
            raise TypeError("decision_snapshot takes no include and no exclude: all decisions are compared")
        self._outcome = ref(data)
        decided = decided_of(_kind_of(data), data)
        head = HEAD.format(COMPARED[self.exact]) + "".join(f"# {visible(line)}\n" for line in decided.left_out)
        head += f'scenario = {FORMAT}\nkind = "{data.kind}"\n'
        head += "\n[expect]\nexact = true\n" if self.exact else ""
        text = replace_recorded(head, decided.recorded())
        # the head says who wrote it
        return re.sub(r"^\[recorded\].*$", "[recorded]", text, count=1, flags=re.MULTILINE)

    def matches(self, *, serialized_data: Any, snapshot_data: Any) -> bool:
        """Tells whether the decisions are those of the snapshot. An unreadable snapshot never matches."""
        from secateur_lab.scenarios.check import CheckVerdict, Result
        from secateur_lab.scenarios.comparison import compare, wanted_ids
        from secateur_lab.scenarios.report import details
        from secateur_lab.scenarios.running import decided_of

        self._lines = []
        scenario = _parse_snapshot(snapshot_data)
        outcome = self._outcome() if self._outcome is not None else None
        if scenario is None or outcome is None or scenario.kind != outcome.kind or scenario.expect.exact != self.exact:
            return bool(serialized_data == snapshot_data)
        decided = decided_of(_kind_of(outcome), outcome, wanted_ids(scenario))
        compared = compare(scenario, decided)
        result = Result(Path(), "", CheckVerdict.CHANGED, compared=compared, remarks=decided.left_out)
        self._lines = details(result, verbose=True)
        return not compared.differences

    def diff_lines(self, serialized_data: Any, snapshot_data: Any) -> Iterator[str]:
        """Yields the changed decisions and their causes; for an unreadable snapshot, the changed lines of the file."""
        if not snapshot_data:
            yield "pytest --snapshot-update records it"
        elif self._lines:
            yield "to accept: pytest --snapshot-update"  # first, because pytest cuts the end off
            yield from self._lines
        else:
            yield from super().diff_lines(serialized_data, snapshot_data)


class ExactDecisionExtension(DecisionExtension):
    """A snapshot that compares tokens, scores and ranks too."""

    exact = True


def fixture_value(request: pytest.FixtureRequest) -> SnapshotAssertion:
    """Returns the value of `decision_snapshot`."""
    snapshot = None
    with suppress(pytest.FixtureLookupError):
        snapshot = request.getfixturevalue("snapshot")
    if not isinstance(snapshot, SnapshotAssertion):
        cause = "syrupy is turned off" if snapshot is None else "another plugin or conftest.py has one of that name"
        pytest.fail(f"decision_snapshot needs the fixture snapshot of syrupy: {cause}", pytrace=False)
    return snapshot.use_extension(DecisionExtension)


def _parse_snapshot(text: object) -> Scenario | None:
    from secateur.errors import SecateurError
    from secateur_lab.scenarios.scenario import parse_scenario

    try:
        scenario = parse_scenario(str(text), Path("snapshot"))
    except SecateurError:
        return None
    return scenario if scenario.recorded else None


def _kind_of(outcome: Outcome[Any]) -> Any:
    from secateur.kinds import registry

    return registry.get_kind(outcome.kind)
