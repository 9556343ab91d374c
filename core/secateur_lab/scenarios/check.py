"""Runs scenarios and returns their results.

    with session(os.environ) as opened:
        results = [check_one(path, opened) for path in find_scenarios([Path("tests")])]

A scenario that cannot run does not stop the others. Results do not depend on the process that makes them: scenarios of
one repository run together, so that its index is opened once, and one of them first, which brings it up to date.

A scenario that is open on a screen: its input and settings, and how it compares with the decisions there.

opened = open_scenario(Path("tests/refunds.scenario.toml"), session)
status = status_of(opened, outcome)      # updated at every turn of a knob
status.result.verdict, status.figures, status.recorded
"""

import os
import shlex
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

import secateur
from msgspec import UNSET, Meta, UnsetType, structs
from msgspec import field as named
from secateur import Entry, Environment, Kind, Ledger, Loaded, Outcome, Reason, State

from secateur_lab.scenarios.assertions import Failure
from secateur_lab.scenarios.comparison import CheckFindings, DecisionChange, compare, match_entries, wanted_ids
from secateur_lab.scenarios.location import root_of
from secateur_lab.scenarios.malformed import ScenarioError, add_location, malformed
from secateur_lab.scenarios.running import TEST_ASKS, Decided, Session, check_scenario_inputs, decided_of, session
from secateur_lab.scenarios.scenario import (
    Recorded,
    Scenario,
    parse_scenario,
    read_scenario,
    read_text,
    replace_recorded,
)
from secateur_lab.scenarios.toml_writing import toml_places

STALE_CODES = ("CHANGED", "INDEX")  # codes of errors that mean that the files on disk changed after they were read

# Codes of warnings that explain why decisions may differ from those on the machine where they were recorded.
MOVING = (
    "git_failed",
    "git_foreign",
    "history_incomplete",
    "shallow_clone",
    "config_ignored",
    "read_as_text",
    "code_not_indexed",
    TEST_ASKS,
)

# The warning about a clone made by a build, shown if decisions changed.
SHALLOW = "this clone is shallow: hotspots use only a part of the history; fetch all of it (git fetch --unshallow)"


MOST_WORDS = 9  # words of a command that accepts failed assertions; a longer one is not printed


class CheckVerdict(StrEnum):
    """The possible results of a scenario; the worst one counts."""

    PASSED = "passed"
    CHANGED = "changed"  # decisions differ from the recorded ones
    FAILED = "assertion_failed"
    CANNOT_RUN = "cannot_run"
    STALE = "index_stale"  # the files on disk differ from the index

    @property
    def exit_code(self) -> int:
        """0 if it passed, 4 if a decision changed or an assertion failed, 1 if it cannot run."""
        return {"passed": 0, "changed": 4, "assertion_failed": 4}.get(self.value, 1)


class MovedSetting(secateur.Shape, frozen=True):
    """A setting that had another value when the decisions were recorded."""

    was: Any
    now: Any
    from_: Annotated[str, Meta(description="Where it is set.")] | UnsetType = named(name="from", default=UNSET)


class ScenarioShape(secateur.Shape, frozen=True):
    """The result of one scenario. With an error there are no differences, failures, knobs and files."""

    scenario: str
    verdict: CheckVerdict
    kind: Annotated[str, Meta(description="Empty if the file cannot be read.")]
    about: str | UnsetType = UNSET
    updated: bool | UnsetType = UNSET
    unrecorded: bool | UnsetType = UNSET
    error: secateur.ErrorDetails | UnsetType = UNSET
    line: Annotated[secateur.Number, Meta(description="In the scenario's file, of the error.")] | UnsetType = UNSET
    differences: list[DecisionChange] | UnsetType = UNSET
    failures: list[Failure] | UnsetType = UNSET
    flips: Annotated[list[DecisionChange], Meta(description="Changes within the tolerance at the cut.")] | UnsetType = (
        UNSET
    )
    knobs: dict[str, MovedSetting] | UnsetType = UNSET
    files: Annotated[Sequence[str], Meta(description="Those whose text changed.")] | UnsetType = UNSET
    remarks: Sequence[str] | UnsetType = UNSET
    accept: Annotated[Sequence[str], Meta(description="How a person accepts what changed.")] | UnsetType = UNSET


@dataclass(frozen=True)
class Result:
    """The result of one scenario."""

    path: Path
    name: str  # for the report
    verdict: CheckVerdict
    kind: str = ""
    about: str = ""
    compared: CheckFindings = field(default_factory=CheckFindings)
    recorded: Recorded | None = None  # the present decisions, which can be recorded; None: it only asserts
    error: secateur.SecateurError | None = None
    updated: bool = False
    unrecorded: bool = False  # it has no recorded decisions and no assertions
    line: int = 1  # of the error in the file
    remarks: tuple[str, ...] = ()  # other possible causes of changed decisions

    def shape(self) -> ScenarioShape:
        """Returns the result in JSON."""
        compared, ran = self.compared, self.error is None
        knobs = {
            key: MovedSetting(was, now, compared.origins.get(key, UNSET)) for key, (was, now) in compared.knobs.items()
        }
        return ScenarioShape(
            self.name,
            self.verdict,
            self.kind,
            about=self.about or UNSET,
            updated=self.updated or UNSET,
            unrecorded=self.unrecorded or UNSET,
            error=UNSET if self.error is None else self.error.details,
            line=UNSET if ran else self.line,
            differences=list(compared.differences) if ran else UNSET,
            failures=list(compared.failures) if ran else UNSET,
            flips=list(compared.flips) if compared.flips else UNSET,
            knobs=knobs if ran else UNSET,
            files=compared.files if ran else UNSET,
            remarks=self.remarks if ran and self.remarks else UNSET,
            accept=self.ways_to_accept or UNSET,
        )

    @property
    def ways_to_accept(self) -> tuple[str, ...]:
        """One line on how to accept changed decisions, and one on failed assertions; outside text cannot break them."""
        lines = []
        if self.name and self.compared.differences and not self.updated:
            lines.append(f"to accept: secateur check {secateur.visible(shlex.quote(self.name))} --update")
        if self.name and self.compared.failures:
            places = sorted({failure.line for failure in self.compared.failures})
            where = f"line{'' if len(places) == 1 else 's'} {', '.join(map(str, places))} of {self.name}"
            lines.append(f"to accept: edit {secateur.visible(where)}; --update changes no assertion")
            words = [word for failure in self.compared.failures for word in failure.words_to_accept]
            if 0 < len(words) <= MOST_WORDS:
                lines.append(secateur.visible(f"or: secateur check {shlex.join([self.name, *words])}"))
        return tuple(lines)


def check_one(path: Path, session: Session, name: str | None = None) -> Result:
    """Runs one scenario. Any fault of it, and any exception of another distribution's kind, becomes its result."""
    shown_name = name or path.as_posix()
    kind = about = text = ""
    given: Mapping[str, Any] = {}
    settings: Mapping[str, Any] = {}
    try:
        root = root_of(path)
        text = read_text(path)
        scenario = parse_scenario(text, path)
        kind, about, given, settings = scenario.kind, scenario.about, scenario.input, scenario.settings
        decided = session.decide(scenario, root, wanted_ids(scenario))
        result = result_of(path, shown_name, scenario, decided, text)
        if result.verdict is CheckVerdict.PASSED and not result.compared.flips:
            return replace(result, remarks=decided.left_out)
        # the warnings that may explain a change, and that the history is incomplete
        remarks = [notice.message for notice in decided.outcome.warnings if notice.code in MOVING]
        git = secateur.Git.discover(root) if decided.kind.finds else None
        remarks += [SHALLOW] if isinstance(git, secateur.Git) and git.shallow() else []
        return replace(result, remarks=tuple(dict.fromkeys(remarks)))
    except secateur.SecateurError as error:
        stale = error.code in STALE_CODES
        verdict = CheckVerdict.STALE if stale else CheckVerdict.CANNOT_RUN
        located_error = add_location(error, path, text, given, settings)
        line = located_error.line if isinstance(located_error, ScenarioError) else 1
        return Result(path, shown_name, verdict, kind, about, error=located_error, line=line)
    except Exception as error:
        unexpected = secateur.SecateurError(
            f"unexpected {type(error).__name__}: {error}",
            hint="run its command with --debug and report what it prints",
            code="UNEXPECTED",
        )
        return Result(path, shown_name, CheckVerdict.CANNOT_RUN, kind, about, error=unexpected)


def result_of(path: Path, name: str, scenario: Scenario, decided: Decided, text: str = "") -> Result:
    """Returns the result of a decided scenario, without remarks.

    Args:
        decided: with `wanted_ids(scenario)` looked up.

    Raises:
        SecateurError: an assertion does not apply to the kind; like `Decided.recorded`.
    """
    compared = compare(scenario, decided, lambda where: _places(text).line(where))
    verdict = CheckVerdict.PASSED
    if compared.failures:
        verdict = CheckVerdict.FAILED
    elif compared.differences:
        verdict = CheckVerdict.CHANGED
    unrecorded = scenario.recorded is None and scenario.expect.empty
    records = unrecorded or scenario.recorded is not None or scenario.expect.exact
    recorded = decided.recorded() if records else None  # a scenario of assertions alone stays one
    return Result(path, name, verdict, scenario.kind, scenario.about, compared, recorded, unrecorded=unrecorded)


_places = lru_cache(maxsize=1)(toml_places)  # a scenario on a screen is compared at every step of a knob


def text_with_decisions(result: Result) -> str | None:
    """Returns the text of a scenario's file with the present decisions; None if they are recorded already. Raises
    SecateurError: the file can no longer be read."""
    if result.recorded is None:
        return None
    text = read_text(result.path)
    new = replace_recorded(text, result.recorded)
    if new == text:
        return None
    if parse_scenario(new, result.path).recorded != result.recorded:
        hint = "remove [recorded] by hand, and run it again"
        raise malformed(result.path, 1, "the recorded decisions cannot be separated from the rest", hint)
    return new


def record_decisions(result: Result) -> Result:
    """Records the present decisions in the scenario's file and returns the result. If the file cannot be written, the
    result is that error."""
    try:
        if (text := text_with_decisions(result)) is None:
            return result
        secateur.write_output(result.path, text)
    except secateur.SecateurError as error:
        hint = "check the permissions of the file and its folder" if error.code == "OUTPUT" else error.hint
        failed = secateur.SecateurError(error.message, hint=hint, code=error.code)
        return replace(result, verdict=CheckVerdict.CANNOT_RUN, error=failed)
    return replace(result, updated=True)


def exit_code(results: Sequence[Result]) -> int:
    """Returns the exit code of a run: 1 if a scenario cannot run, else 4 if one did not pass, else 0.

    Recording the present decisions settles a change, but not a failed assertion.
    """
    settled = (CheckVerdict.CHANGED, CheckVerdict.PASSED)
    codes = {result.verdict.exit_code for result in results if not (result.updated and result.verdict in settled)}
    return 1 if 1 in codes else max(codes, default=0)


LEAST = 8  # scenarios of one repository per further process: opening an index costs as much as a dozen scenarios


def results_of(
    paths: Sequence[Path],
    environ: Mapping[str, str],
    jobs: int | secateur.Executor = 1,
    progress: secateur.Progress = secateur.unreported,
) -> Generator[tuple[int, Result]]:
    """Yields results with their indexes among the paths, as they are finished.

    Args:
        jobs: processes of this machine, or an executor.
        progress: reports indexing if it runs in this process.
    """
    roots = [_root(path) for path in paths]
    work = len(paths) // LEAST if len(set(roots)) == 1 else len(paths)
    with secateur.spread_tasks(_result, list(zip(paths, roots, strict=True)), roots, jobs, environ, work) as outcomes:
        for index, outcome in outcomes or ():
            path = paths[index]
            failed = Result(path, path.as_posix(), CheckVerdict.CANNOT_RUN, error=outcome.error)
            yield index, failed if outcome.error is not None else outcome.got()
        if outcomes is not None:
            return
    for root in dict.fromkeys(roots):
        with session(environ, progress) as opened:
            for index, path in enumerate(paths):
                if roots[index] == root:
                    yield index, check_one(path, opened)


def _root(path: Path) -> str:
    """Returns the folder to which a scenario's paths are relative; "" if it is unknown, which becomes its result."""
    try:
        return str(root_of(path))
    except (secateur.SecateurError, OSError, RuntimeError):
        return ""


def _result(task: tuple[Path, str]) -> Result:
    """Runs a scenario in a worker. An error keeps only what reports show."""
    path, root = task
    result = check_one(path, secateur.keep_open("session", root, lambda: Session(os.environ)))
    if (error := result.error) is not None and not isinstance(error, ScenarioError):
        result = replace(result, error=secateur.SecateurError(error.message, hint=error.hint, code=error.code))
    return result


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


def status_of(
    path: Path, scenario: Scenario, kind: Kind[Any, Any], outcome: Outcome[Any], text: str = ""
) -> ScenarioStatus:
    """Compares a scenario with an outcome of its kind. It follows a knob, so it reads nothing but texts of entries.
    `text`: of the scenario's file, for lines.
    Raises SecateurError: an assertion does not apply to the kind, or a text can no longer be read."""
    decided = decided_of(kind, outcome, wanted_ids(scenario))
    return ScenarioStatus(result_of(path, path.name, scenario, decided, text), decided)


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
