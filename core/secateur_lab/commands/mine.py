"""`secateur mine [PATH] --out DIR`: draws judged cases from the history of a repository, or of each repository of a
workspace."""

import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import secateur
from msgspec import UNSET, Meta, UnsetType

from secateur_lab.evaluation.cases import Mined, MinedCase, mine
from secateur_lab.scenarios.location import SAMPLE, find_scenarios, root_of
from secateur_lab.scenarios.scenario import SUFFIX, dump_scenario


@dataclass(frozen=True, slots=True)
class MiningTask:
    """Names a repository, the commit its history ends at, and the most cases to draw from it."""

    root: Path
    rev: str
    most: int
    settings: secateur.Settings


def mined_by(
    jobs: int | secateur.Executor, tasks: Sequence[MiningTask], environ: Mapping[str, str]
) -> Generator[tuple[int, secateur.TaskOutcome[Mined]]]:
    """Yields the index and the outcome of each task as it arrives. An error fails only its own repository. `jobs` means
    the same as in `measure_with`."""
    with secateur.spread_tasks(_mined, tasks, [str(task.root) for task in tasks], jobs, environ) as outcomes:
        here = ((index, secateur.TaskOutcome.of(_mined, task)) for index, task in enumerate(tasks))
        yield from here if outcomes is None else outcomes


def _mined(task: MiningTask) -> Mined:
    return mine(secateur.RepositoryHistory.open(task.root, task.settings), task.most, task.rev)


class MinedShape(secateur.Shape, frozen=True):
    """One case that was written."""

    file: str
    commit: str
    part: Annotated[str, Meta(extra_json_schema={"enum": ["training", "held_out"]})]
    query: str
    judged: Annotated[Sequence[str], Meta(description="Ids of the functions that the commit changed, at its parent.")]


class MineFailure(secateur.Shape, frozen=True):
    """A repository of a workspace that no cases were drawn from."""

    name: str
    code: str
    message: str
    hint: str


class MineOutput(secateur.Shape, frozen=True):
    """The output of `secateur mine --format json`."""

    schema_version: secateur.Version
    commits: Annotated[secateur.Count, Meta(description="That were looked at.")]
    cases: list[MinedShape]
    left_out: Annotated[dict[str, secateur.Count], Meta(description="Commits that are no cases, by reason.")]
    interrupted: bool
    failed: Annotated[list[MineFailure] | UnsetType, Meta(description="With --workspace: repositories not read.")] = (
        UNSET
    )


def arguments(parser: secateur.CommandParser) -> None:
    """Adds the flags of the command."""
    parser.add_argument(
        "path",
        nargs="?",
        default=".",
        metavar="PATH",
        help="a folder, sample:NAME[/FOLDER] or a git URL (default: here)",
    )
    parser.add_argument(
        "--out",
        required=True,
        metavar="DIR",
        help="new folder for the cases, inside the repository: their paths start from its root",
    )
    parser.add_argument(
        "--most",
        type=parser.whole_number("--most", 1),
        default=100,
        metavar="N",
        help="most cases, newest first (default 100)",
    )
    parser.add_argument("--rev", default="HEAD", metavar="COMMIT", help="newest commit to read (default HEAD)")
    parser.workspace_argument()
    parser.executor_arguments("draw cases from the repositories of a workspace")
    parser.source_arguments()
    parser.common_arguments()


def run(options: secateur.CommandCall) -> int:
    """Draws cases and writes them. The exit code is 0 even if there is no case. After an interruption (130) it keeps
    the cases found so far."""
    if options.workspace is not None:
        return _run_workspace(options)
    if options.jobs is not None or options.on is not None:
        raise secateur.UsageError("--jobs and --on need several repositories", hint="name them with --workspace FILE")
    folder = options.named_folder(options.path)
    settings = options.repository_settings(folder).settings
    out = Path(options.out)
    history = secateur.RepositoryHistory.open(folder, settings)
    path = _place(options.path, history.root, out)
    mined, interrupted = Mined(), False
    with closing(options.progress_bar(unit="cases")) as progress:
        try:
            mine(history, options.most, options.rev, progress, mined)
        except KeyboardInterrupt:
            interrupted = True
    cases = mined.cases
    output = _output(mined, _shapes(cases, _write(out, cases, path)), interrupted=interrupted)
    options.emit(
        secateur.dumps(output) if options.format == "json" else _text(mined, cases, out, verbose=options.verbose)
    )
    if interrupted:
        options.say("interrupted; what was found until then is kept")
    return 130 if interrupted else 0


def _run_workspace(options: secateur.CommandCall) -> int:
    members = secateur.read_workspace(Path(options.workspace_or_path()))
    if Path(options.out).is_absolute():
        raise secateur.UsageError(
            "--out must be a relative path with --workspace",
            hint="cases of each repository go into a folder of that name in it",
        )
    tasks, targets, failed = [], dict[str, tuple[Path, str]](), dict[str, secateur.SecateurError]()
    for member in members:
        try:
            root, path = _root_for_cases(member.location, options)
        except secateur.SecateurError as error:
            failed[member.name] = error
            continue
        targets[member.name] = root / options.out, path
        rev = member.rev or options.rev
        tasks.append((member.name, MiningTask(root, rev, options.most, options.repository_settings(root).settings)))
    total, written, histories = Mined(), list[MinedShape](), dict[str, Mined]()
    with closing(options.progress_bar(unit="repositories")) as progress, options.executor_of() as jobs:
        for index, outcome in mined_by(jobs, [task for _, task in tasks], os.environ):
            name = tasks[index][0]
            if outcome.error is not None:
                failed[name] = outcome.error
            else:
                histories[name] = outcome.got()
            progress("mining", len(histories) + len(failed), len(members))
    for name, mined in sorted(histories.items()):
        out, path = targets[name]
        cases = mined.cases
        written += _shapes(cases, [f"{name}/{options.out}/{file}" for file in _write(out, cases, path)])
        total.looked_at += mined.looked_at
        total.left_out += mined.left_out
        total.found += cases
    failures = [MineFailure(name, error.code, error.message, error.hint) for name, error in sorted(failed.items())]
    text = _text(total, total.found, Path(options.out), verbose=options.verbose)
    options.emit(secateur.dumps(_output(total, written, failures)) if options.format == "json" else text)
    for name, why in sorted(failed.items()):
        options.say(f"error: {name}: {why.message}")
    return 1 if failed else 0


def _root_for_cases(location: str, options: secateur.CommandCall) -> tuple[Path, str]:
    """Returns the root of a repository that will hold cases, and its path as the cases write it. Raises
    SecateurError."""
    if secateur.is_named(location):
        _place(location, Path(), Path(options.out))
    folder = options.named_folder(location)
    root = secateur.RepositoryHistory.open(folder, options.repository_settings(folder).settings).root
    if not (root / ".git").exists():
        raise secateur.UsageError(
            f"{secateur.shown(root)} has no files to keep cases among", hint="clone it, and name the clone"
        )
    return root, _place(location, root, root / options.out)


def _place(named: str, root: Path, out: Path) -> str:
    secateur.refuse_links(out)
    if out.exists() and not out.is_dir():
        raise secateur.UsageError(f"--out {secateur.shown(out)} is not a folder", hint="name a folder for the cases")
    if out.is_dir() and find_scenarios([out]):
        raise secateur.UsageError(
            f"--out {secateur.shown(out)} already has scenarios",
            hint="name a new folder: which cases are for fitting and which for reporting is settled once",
        )
    if named.startswith(SAMPLE):
        return named
    if secateur.is_named(named):
        raise secateur.UsageError(
            "cases cannot name a git URL: what comes with a repository chooses none",
            hint="clone it yourself and name the folder; `secateur tune URL` draws cases and writes none",
        )
    holder = root_of(out / "case")
    if not root.is_relative_to(holder):
        raise secateur.UsageError(
            f"--out {secateur.shown(out)} lies outside {secateur.shown(root)}",
            hint="a case searches nothing outside the repository that holds it; for example --out"
            f" {secateur.shown(root / 'cases')}",
        )
    return root.relative_to(holder).as_posix()


def _write(out: Path, cases: Sequence[MinedCase], repository: str) -> list[str]:
    digits = max(3, len(str(len(cases))))
    names = [f"{position:0{digits}}-{case.commit[:10]}{SUFFIX}" for position, case in enumerate(cases, 1)]
    if cases:
        secateur.write_folder(
            out, {name: dump_scenario(case.scenario(repository)) for name, case in zip(names, cases, strict=True)}
        )
    return names


def _shapes(cases: Sequence[MinedCase], names: Sequence[str]) -> list[MinedShape]:
    return [
        MinedShape(name, case.commit, case.part, case.query, case.ids) for name, case in zip(names, cases, strict=True)
    ]


def _output(
    mined: Mined, cases: list[MinedShape], failed: list[MineFailure] | UnsetType = UNSET, *, interrupted: bool = False
) -> MineOutput:
    left_out = {reason.name.lower(): count for reason, count in sorted(mined.left_out.items())}
    return MineOutput(secateur.SCHEMA_VERSION, mined.looked_at, cases, left_out, interrupted, failed)


def _text(mined: Mined, cases: Sequence[MinedCase], out: Path, *, verbose: bool) -> str:
    lines = [
        f"{mined.looked_at:,} commits looked at, {len(cases):,} cases" + (f" in {secateur.shown(out)}" if cases else "")
    ]
    for part, what in (("training", "to fit weights on"), ("held_out", "to report on")):
        if of_part := [case for case in cases if case.part == part]:
            lines.append(f"  {len(of_part):>6,} {part.replace('_', '-')}, {what}")
    if mined.left_out:
        lines.append("left out:")
        most_first = sorted(mined.left_out.items(), key=lambda pair: (-pair[1], pair[0].name))
        lines += [f"  {count:>6,} {reason.value}" for reason, count in most_first]
    if not cases:
        lines.append("no case was found: a good one is a commit that changes functions and says in words why")
    for case in cases if verbose else ():
        lines.append(
            f"{case.commit[:10]} {secateur.visible(case.subject)}: {', '.join(map(secateur.visible, case.ids))}"
        )
    return "\n".join(lines) + "\n"
