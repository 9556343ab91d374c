"""A scenario that is looked at on a screen: its input and settings, and what of it holds for what is decided there.

opened = open_scenario(Path("tests/refunds.scenario.toml"), session)
status = status_of(opened, outcome)      # follows every turn of a knob
status.result.verdict, status.figures, status.recorded
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from secateur.kinds.base import Environment, Kind, Outcome
from secateur.ledger import Entry, Ledger, Reason, State
from secateur.scenarios.check import Result, result_of
from secateur.scenarios.comparison import matched, wanted_ids
from secateur.scenarios.location import root_of
from secateur.scenarios.running import Decided, Session, decided_of, given
from secateur.scenarios.scenario import Recorded, Scenario, read_scenario
from secateur.settings import Loaded

_STATES = {state.label: state for state in State}
_REASONS = {reason.label: reason for reason in Reason}


@dataclass(frozen=True)
class OpenedScenario:
    """A scenario with what it names: nothing of the user counts for it but the cache."""

    path: Path
    scenario: Scenario
    kind: Kind[Any, Any]
    inputs: Mapping[str, Any]  # all of the kind's; paths count from the folder of `environment`
    loaded: Loaded
    environment: Environment


@dataclass(frozen=True)
class ScenarioStatus:
    """The standing of a scenario for one outcome."""

    result: Result
    decided: Decided


def open_scenario(path: Path, session: Session) -> OpenedScenario:
    """Opens a scenario's file.

    Raises:
        SecateurError: as `read_scenario` and `Session.decide`, but for reading the input.
    """
    scenario, root = read_scenario(path), root_of(path)
    kind, inputs = given(scenario, root)
    loaded = session.loaded(kind, inputs, scenario.settings, root)
    environment = replace(session.environment(root), shared=None, notices=loaded.notices)
    return OpenedScenario(path, scenario, kind, inputs, loaded, environment)


def status_of(path: Path, scenario: Scenario, kind: Kind[Any, Any], outcome: Outcome[Any]) -> ScenarioStatus:
    """Findings of a scenario about an outcome of its kind. It follows a knob: nothing is read but the texts of entries.

    Raises:
        SecateurError: an assertion says nothing to the kind, or a text can no longer be read.
    """
    decided = decided_of(kind, outcome, wanted_ids(scenario))
    return ScenarioStatus(result_of(path, path.name, scenario, decided), decided)


def recorded_ledger(recorded: Recorded, decided: Decided) -> Ledger:
    """The recorded decisions as a ledger beside the present one: an entry that is still there has its present id, one
    that is gone the recorded one. What was not recorded of many is dropped."""
    pairs, gone, new = matched(recorded, decided)
    ids = {one.number: one.entry.id for one in decided.listed}
    entries = [(one.number, _entry(item.state, item.reason, item.tokens, one.entry.id)) for item, one in pairs]
    if recorded.listed == "best":
        entries += [(one.number, replace(one.entry, state=State.DROPPED, after=0)) for one in new]
    entries += [
        (len(ids) + number, _entry(item.state, item.reason, item.tokens, item.id)) for number, item in enumerate(gone)
    ]
    ordered = [entry for _, entry in sorted(entries, key=lambda pair: pair[0])]
    return Ledger.closed(decided.kind.name, recorded.budget, ordered, recorded.after)


def _entry(state: str, reason: str, tokens: tuple[int, int], id_: str) -> Entry:
    return Entry(id_, _STATES[state], _REASONS[reason], *tokens)
