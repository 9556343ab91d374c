"""Runs scenarios and says how each came out.

    with session(os.environ) as opened:
        results = check(found_scenarios([Path("tests")]), opened)

A scenario that cannot be run costs itself: the others are run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType
from msgspec import field as named

from secateur.error_shapes import ErrorDetails
from secateur.errors import SecateurError
from secateur.output_files import write_output
from secateur.scenarios.assertions import FailureShape
from secateur.scenarios.comparison import ChangeShape, CheckFindings, compare, wanted_ids
from secateur.scenarios.location import root_of
from secateur.scenarios.malformed import ScenarioError, malformed, placed
from secateur.scenarios.running import Decided, Session
from secateur.scenarios.scenario import Recorded, Scenario, parse_scenario, read_text, with_recorded
from secateur.scenarios.toml_places import toml_places
from secateur.shape import Number, Shape
from secateur.sources.git import Git

STALE_CODES = ("CHANGED", "INDEX")
"""Codes of errors that mean: what was decided is not what is on disk now."""

MOVING = (
    "git_failed",
    "git_foreign",
    "history_incomplete",
    "shallow_clone",
    "config_ignored",
    "read_as_text",
    "code_not_indexed",
)
"""Codes of warnings that say why decisions may be others here than where they were recorded."""

SHALLOW = "this clone is shallow: hotspots know a part of the history only; fetch all of it (git fetch --unshallow)"
"""The warning about a clone that a build made, where decisions changed."""


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


class MovedSetting(Shape, frozen=True):
    """A setting that was another when the decisions were recorded."""

    was: Any
    now: Any
    from_: Annotated[str, Meta(description="Where it is set.")] | UnsetType = named(name="from", default=UNSET)


class ScenarioShape(Shape, frozen=True):
    """The result of one scenario. With an error there are no differences, failures, knobs and files."""

    scenario: str
    verdict: CheckVerdict
    kind: Annotated[str, Meta(description="Empty where the file cannot be read.")]
    about: str | UnsetType = UNSET
    updated: bool | UnsetType = UNSET
    unrecorded: bool | UnsetType = UNSET
    error: ErrorDetails | UnsetType = UNSET
    line: Annotated[Number, Meta(description="Of the scenario's file, that the error is about.")] | UnsetType = UNSET
    differences: list[ChangeShape] | UnsetType = UNSET
    failures: list[FailureShape] | UnsetType = UNSET
    knobs: dict[str, MovedSetting] | UnsetType = UNSET
    files: Annotated[Sequence[str], Meta(description="Whose text changed.")] | UnsetType = UNSET
    remarks: Sequence[str] | UnsetType = UNSET


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
    line: int = 1  # of the file, where the error is
    remarks: tuple[str, ...] = ()  # what else may have moved decisions

    def shape(self) -> ScenarioShape:
        """The result in JSON."""
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
            differences=[one.shape() for one in compared.differences] if ran else UNSET,
            failures=[one.shape() for one in compared.failures] if ran else UNSET,
            knobs=knobs if ran else UNSET,
            files=compared.files if ran else UNSET,
            remarks=self.remarks if ran and self.remarks else UNSET,
        )


def check(paths: Iterable[Path], session: Session) -> Iterator[Result]:
    """Runs scenarios, each of its own: one that cannot be run costs itself."""
    for path in paths:
        yield check_one(path, session)


def check_one(path: Path, session: Session, name: str | None = None) -> Result:
    """Runs one scenario. Whatever is wrong with it, or raised by a kind of another distribution, is its result."""
    told = name or path.as_posix()
    kind = about = text = ""
    given: Mapping[str, Any] = {}
    settings: Mapping[str, Any] = {}
    try:
        root = root_of(path)
        text = read_text(path)
        scenario = parse_scenario(text, path)
        kind, about, given, settings = scenario.kind, scenario.about, scenario.input, scenario.settings
        decided = session.decide(scenario, root, wanted_ids(scenario))
        result = result_of(path, told, scenario, decided)
        if result.verdict is CheckVerdict.PASSED:
            return result
        return replace(result, compared=_with_lines(result.compared, text), remarks=_remarks(decided, root))
    except SecateurError as error:
        stale = error.code in STALE_CODES
        verdict = CheckVerdict.STALE if stale else CheckVerdict.CANNOT_RUN
        said = placed(error, path, text, given, settings)
        line = said.line if isinstance(said, ScenarioError) else 1
        return Result(path, told, verdict, kind, about, error=said, line=line)
    except Exception as error:
        unexpected = SecateurError(
            f"unexpected {type(error).__name__}: {error}",
            hint="run its command with --debug and report what it prints",
            code="UNEXPECTED",
        )
        return Result(path, told, CheckVerdict.CANNOT_RUN, kind, about, error=unexpected)


def result_of(path: Path, name: str, scenario: Scenario, decided: Decided) -> Result:
    """The result of a scenario that was decided, without lines and remarks.

    Args:
        decided: with `wanted_ids(scenario)` looked up.

    Raises:
        SecateurError: an assertion says nothing to the kind; as `Decided.recorded`.
    """
    compared, recorded = compare(scenario, decided), decided.recorded()
    verdict = CheckVerdict.PASSED
    if compared.failures:
        verdict = CheckVerdict.FAILED
    elif compared.differences:
        verdict = CheckVerdict.CHANGED
    unrecorded = scenario.recorded is None and scenario.expect.empty
    return Result(
        path,
        name,
        verdict,
        scenario.kind,
        scenario.about,
        compared,
        recorded,
        unrecorded=unrecorded,
    )


def _with_lines(compared: CheckFindings, text: str) -> CheckFindings:
    places = toml_places(text)
    return replace(
        compared,
        differences=tuple(replace(one, line=places.line(one.where)) for one in compared.differences),
        failures=tuple(replace(one, line=places.line(one.where)) for one in compared.failures),
    )


def _remarks(decided: Decided, root: Path) -> tuple[str, ...]:
    """The warnings of the answer that tell why, and one of a history that is not all there."""
    said = [notice.message for notice in decided.outcome.warnings if notice.code in MOVING]
    if decided.kind.finds_entries:
        git = Git.discover(root)
        said += [SHALLOW] if isinstance(git, Git) and git.shallow() else []
    return tuple(dict.fromkeys(said))


def updated_text(result: Result) -> str | None:
    """The text of a scenario's file with the decisions as they are now; None where they are recorded already.

    Raises:
        SecateurError: the file cannot be read any more.
    """
    if result.recorded is None:
        return None
    text = read_text(result.path)
    new = with_recorded(text, result.recorded)
    if new == text:
        return None
    if parse_scenario(new, result.path).recorded != result.recorded:
        hint = "take [recorded] out by hand, and run it again"
        raise malformed(result.path, 1, "what is recorded there cannot be told from the rest", hint)
    return new


def updated(result: Result) -> Result:
    """The result with the decisions of now recorded in the scenario's file. Where that cannot be written, this is its
    error."""
    try:
        text = updated_text(result)
        if text is None:
            return result
        write_output(result.path, text)
    except SecateurError as error:
        hint = "check the permissions of the file and its folder" if error.code == "OUTPUT" else error.hint
        failed = SecateurError(error.message, hint=hint, code=error.code)
        return replace(result, verdict=CheckVerdict.CANNOT_RUN, error=failed)
    return replace(result, updated=True)


def exit_code(results: Sequence[Result]) -> int:
    """Of a whole run: 1 where a scenario cannot run, else 4 where one came out otherwise, else 0.

    Recording the decisions of now settles a change, and no assertion.
    """
    settled = (CheckVerdict.CHANGED, CheckVerdict.PASSED)
    codes = {result.verdict.exit_code for result in results if not (result.updated and result.verdict in settled)}
    return 1 if 1 in codes else max(codes, default=0)
