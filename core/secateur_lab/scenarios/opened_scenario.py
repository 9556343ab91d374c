"""A scenario that is open on a screen: its input and settings, and how it compares with the decisions there.

opened = open_scenario(Path("tests/refunds.scenario.toml"), session)
status = status_of(opened, outcome)      # updated at every turn of a knob
status.result.verdict, status.figures, status.recorded
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import structs
from secateur import Entry, Environment, Kind, Ledger, Loaded, Outcome, Reason, State

from secateur_lab.scenarios.check import Result, result_of
from secateur_lab.scenarios.comparison import match_entries, wanted_ids
from secateur_lab.scenarios.location import root_of
from secateur_lab.scenarios.running import Decided, Session, check_scenario_inputs, decided_of
from secateur_lab.scenarios.scenario import Recorded, Scenario, read_scenario

_STATES = {state.label: state for state in State}
_REASONS = {reason.label: reason for reason in Reason}


@dataclass(frozen=True)
class OpenedScenario:
    """A scenario with everything that it names. Of the user's files only the cache is used."""

    path: Path
    scenario: Scenario
    kind: Kind[Any, Any]
    inputs: Mapping[str, Any]  # all inputs of the kind; paths are relative to the folder of `environment`
    loaded: Loaded
    environment: Environment


@dataclass(frozen=True)
class ScenarioStatus:
    """The status of a scenario for one outcome."""

    result: Result
    decided: Decided


def open_scenario(path: Path, session: Session) -> OpenedScenario:
    """Opens a scenario's file. Raises SecateurError: like `read_scenario` and `Session.decide`, except for reading the
    input."""
    scenario, root = read_scenario(path), root_of(path)
    kind, inputs = check_scenario_inputs(scenario, root)
    loaded = session.loaded(kind, inputs, scenario.settings, root)
    environment = structs.replace(session.environment(root), shared=None, notices=loaded.notices)
    return OpenedScenario(path, scenario, kind, inputs, loaded, environment)


def status_of(path: Path, scenario: Scenario, kind: Kind[Any, Any], outcome: Outcome[Any]) -> ScenarioStatus:
    """Compares a scenario with an outcome of its kind. It follows a knob, so it reads nothing but texts of entries.
    Raises SecateurError: an assertion does not apply to the kind, or a text can no longer be read."""
    decided = decided_of(kind, outcome, wanted_ids(scenario))
    return ScenarioStatus(result_of(path, path.name, scenario, decided), decided)


def recorded_ledger(recorded: Recorded, decided: Decided) -> Ledger:
    """Returns the recorded decisions as a ledger beside the present one. An entry that still exists has its present id,
    a missing one its recorded id. Entries that were not recorded count as dropped."""
    pairs, gone, new = match_entries(recorded, decided)
    ids = {listed.number: listed.entry.id for listed in decided.listed}
    entries = [(listed.number, _entry(item.state, item.reason, item.tokens, listed.entry.id)) for item, listed in pairs]
    if recorded.listed == "best":
        entries += [(listed.number, structs.replace(listed.entry, state=State.DROPPED, after=0)) for listed in new]
    entries += [
        (len(ids) + index, _entry(item.state, item.reason, item.tokens, item.id)) for index, item in enumerate(gone)
    ]
    ordered = [entry for _, entry in sorted(entries, key=lambda pair: pair[0])]
    return Ledger.closed(decided.kind.name, recorded.budget, ordered, recorded.after)


def _entry(state: str, reason: str, tokens: tuple[int, int], id_: str) -> Entry:
    return Entry(id_, _STATES[state], _REASONS[reason], *tokens)
