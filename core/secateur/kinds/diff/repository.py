"""Measures the changes of a repository, for `secateur chunk`, the Diff bench and `chunk_repository`. Collects the
declarations of callers and callees of changed functions from the code graph of the changed state: they go out if a
chunk has room, after the findings of linters.

The inputs of `secateur chunk` and the Diff bench: inputs, flags, and how each input is read.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from secateur.errors import SecateurError, UsageError, not_allowed, shown
from secateur.index.facts.snapshot import Snapshot
from secateur.index.graph.code_graph import Direction
from secateur.kinds.base import Environment, Flag, Input, Inputs
from secateur.kinds.diff.changes import Diff
from secateur.kinds.diff.chunk_text import SKILL_FILE, Injection, decode_injection, one_line, skill_notice
from secateur.kinds.diff.chunks import Chunks, chunk_measured_diff, merge_arguments
from secateur.kinds.diff.comparison import ComparedStates, Comparison, RepositoryDiff
from secateur.kinds.diff.diff_parser import parse_diff
from secateur.kinds.diff.linter_output import Finding, Findings, read_findings
from secateur.kinds.diff.measured_diff import Hint, MeasuredDiff, measure_diff
from secateur.kinds.diff.skip_rules import RULES
from secateur.model import FragmentKind, Notice
from secateur.progress import Progress, unreported
from secateur.redaction import Redactor
from secateur.settings import Settings
from secateur.sources.named import FORMS, is_named
from secateur.suggestions import suggestion

_TABLE = "chunking."


def is_repository(path: str) -> bool:
    """Tells whether `path` is a repository to compare, and not a diff to read."""
    try:
        return is_named(path) or Path(path).is_dir()
    except (OSError, ValueError):
        return False


INPUTS: Sequence[Input] = (
    Input(
        "path",
        f"a repository: {FORMS} (default: here)",
        metavar="PATH",
        positional=True,
        default=".",
        title="Diff",
        placeholder="a diff file, a repository, or sample:NAME",
        folders=True,
        takes=is_repository,
    ),
    Input(
        "base",
        "compare the head with the commit where it branched off REV (default: the main branch)",
        metavar="REV",
        default=None,
        title="Base",
        placeholder="its start",
        optional=True,
    ),
    Input(
        "head",
        "the changed revision (default: HEAD)",
        metavar="REV",
        default=None,
        title="Head",
        placeholder="HEAD",
        optional=True,
    ),
    Input("staged", "compare the index: what would be committed", switch=True),
    Input("worktree", "compare the files as they are on disk", switch=True),
    Input("untracked", "like --worktree, with untracked files that git does not ignore", switch=True),
    Input("diff", "read a unified diff instead of a repository; - reads stdin", default=None),
    Input(
        "ignore",
        "leave out matching files, besides those of chunking.ignore (gitignore syntax); !GLOB takes files in;"
        " repeatable",
        metavar="GLOB",
        repeatable=True,
        title="Leave out",
        placeholder="*.md !docs/",
        optional=True,
    ),
    Input(
        "skill",
        "instructions that go into every chunk",
        default=None,
        title="Instructions",
        placeholder="a file",
        optional=True,
    ),
    Input(
        "rules",
        "project rules that go into every chunk (default: CLAUDE.md and AGENTS.md of the base)",
        default=None,
    ),
    Input("no_rules", "leave out project rules", switch=True),
    Input(
        "linter",
        "linter findings to show beside their files if there is room: SARIF, JSON of ruff or ESLint,"
        " path:line:col: message; repeatable",
        repeatable=True,
        title="Linter",
        placeholder="what it found",
        optional=True,
    ),
    Input("only", "with --format markdown: print only chunk K", metavar="K", default=None, least=1, holds="output"),
    Input(
        "out",
        "write one file per chunk, chunk-001.md and so on, and coverage.json",
        metavar="DIR",
        default=None,
        holds="output",
    ),
    Input("fail_on_skip", "exit 4 if a changed file, or a part of one, is in no chunk", switch=True, holds="output"),
    Input(
        "allow_skip",
        "rules that --fail-on-skip ignores, e.g. lockfile,binary",
        metavar="RULE,...",
        default=None,
        holds="output",
    ),
)

FLAGS: Sequence[Flag] = (
    Flag(_TABLE + "max_chunk_tokens", "N", "most tokens of a chunk, rules and instructions included (default 32000)"),
    Flag(
        _TABLE + "signatures",
        "",
        "if there is room, add the declarations of callers and callees of the changed functions",
    ),
    Flag(_TABLE + "context_lines", "N", "unchanged lines around a change (default 3)"),
)


def read_states(inputs: Inputs) -> ComparedStates:
    """Returns the states to compare. Raises UsageError: inputs contradict each other."""
    if inputs["rules"] is not None and inputs["no_rules"]:
        raise UsageError("--rules and --no-rules contradict each other", hint="leave one of them out")
    names = ("base", "head", "staged", "worktree", "untracked")
    states = ComparedStates(*(inputs[name] for name in names))
    if inputs["diff"] is not None and states != ComparedStates():
        flag = next(name for name in names if inputs[name])
        raise UsageError(
            f"--{flag} does not go with --diff",
            hint="a diff from a file is what it is; name a repository to compare revisions",
        )
    return states


def name_of(diff: str) -> str:
    """The name of a diff for people."""
    return "standard input" if diff == "-" else diff


def diff_of(inputs: Inputs, environment: Environment) -> Diff:
    """Reads and parses the diff that the inputs name."""
    name = inputs["diff"]
    return parse_diff(environment.bytes_of(name, "diff", flag="--diff"), shown(name_of(name)))


def text_of_input(inputs: Inputs, name: str, environment: Environment) -> tuple[str | None, tuple[Notice, ...]]:
    """Reads a text for every chunk, None if not given; notices report its faults."""
    path, flag = inputs[name], f"--{name}"
    if path is None:
        return None, ()
    return decode_injection(environment.bytes_of(path, "text", flag=flag), f"{flag} {shown(path)}")


def findings_of(inputs: Inputs, environment: Environment) -> tuple[Findings, tuple[Notice, ...]]:
    """Reads the linters' findings; notices count the entries that were skipped."""
    outputs = [
        read_findings(environment.bytes_of(name, "list of findings", flag="--linter"), f"--linter {shown(name)}")
        for name in inputs["linter"]
    ]
    findings = Findings(finding for output in outputs for finding in output)
    return findings, tuple(notice for output in outputs for notice in output.notices)


def parse_allowed_rules(inputs: Inputs) -> frozenset[str]:
    """Returns the rules that --allow-skip names. Raises UsageError: there is no such rule."""
    known = [rule.label for rule in RULES]
    names = [name.strip() for name in (inputs["allow_skip"] or "").split(",") if name.strip()]
    for name in names:
        if name not in known:
            raise not_allowed("--allow-skip", name, "some of " + ", ".join(known), suggestion(name, known))
    return frozenset(names)


NEIGHBOURS = 12  # most callers, and most callees, of one changed function; more explain nothing
LONGEST_SIGNATURE = 160  # cells of a declaration
_AFTER_LINTERS = 2
_NAMED = (FragmentKind.FUNCTION, FragmentKind.METHOD, FragmentKind.CLASS)


def signatures(
    snapshot: Snapshot, lines_of: Callable[[str], Sequence[str]], changed: Mapping[str, frozenset[int]]
) -> list[Hint]:
    """Callers and callees of the functions with changed lines, without functions that changed too; in a total order.

    Those of many changed functions come first, callers before callees, tests last.

    Args:
        lines_of: lines of a file of the snapshot, by path.
        changed: numbers of changed lines, by path.
    """
    rows: dict[int, None] = {}  # that changed
    for file, path in enumerate(snapshot.paths):
        lines = changed.get(path, ())
        for row in range(*np.searchsorted(snapshot.file, (file, file + 1)).tolist()) if lines else ():
            start, end = int(snapshot.line_start[row]), int(snapshot.line_end[row])
            if snapshot.kind(row) in _NAMED and any(start <= line <= end for line in lines):
                rows[row] = None
    users_by_relation: dict[tuple[str, int, str], list[int]] = {}  # (path, neighbour, relation) -> changed rows
    for row in rows:
        path = snapshot.paths[int(snapshot.file[row])]
        for direction, relation in ((Direction.CALLED_BY, "calls"), (Direction.CALLS, "called by")):
            for other in map(int, snapshot.graph.neighbours(row, direction)[:NEIGHBOURS]):
                if other not in rows and snapshot.kind(other) in _NAMED:
                    users_by_relation.setdefault((path, other, relation), []).append(row)
    hints = []
    for (path, other, relation), users in users_by_relation.items():
        home = snapshot.paths[int(snapshot.file[other])]
        tests = "test" in snapshot.flags[int(snapshot.file[other])]
        names = ", ".join(snapshot.qualnames[row] for row in users[:2])
        names += f" and {len(users) - 2} more" if len(users) > 2 else ""
        first, last = int(snapshot.column("sig_start")[other]), int(snapshot.column("sig_end")[other])
        declared = one_line(" ".join(line.strip() for line in lines_of(home)[first - 1 : last]), LONGEST_SIGNATURE)
        used = f"({relation} {one_line(names, LONGEST_SIGNATURE)})"
        text = f"{one_line(home, LONGEST_SIGNATURE)}:{first} {declared} {used}\n"
        rank = (_AFTER_LINTERS, int(tests), -len(users), int(relation != "calls"), other)
        hints.append(Hint(path, int(snapshot.line_start[users[0]]), rank, text))
    return sorted(hints, key=lambda hint: (hint.path, hint.rank))


def chunk_repository(
    path: str | Path,
    base: str | None = None,
    head: str | None = None,
    max_chunk_tokens: int = 32_000,
    *,
    skill: str = "",
    rules: str | None = None,
    linter: str | bytes = "",
    ignore: Sequence[str] = (),
    counter: str | None = None,
    settings: Settings | None = None,
) -> Chunks:
    """Makes chunks of the changes in a repository, as `chunk_diff` does of a diff.

    Args:
        base: the head is compared with the merge base of this revision and itself; by default that of the main branch.
        head: the changed revision; by default HEAD, or the files on disk where HEAD is the main branch.
        rules: the project's rules; by default CLAUDE.md and AGENTS.md as they were at the base. "": no rules.
        skill, linter, ignore, counter, settings: as for `chunk_diff`. Files of settings in the repository do not count.

    Raises:
        RepositoryError: no repository, no such revision, no common ancestor, git failed.
        SecateurError, BudgetExceeded, ConfigError: as `chunk_diff`.
    """
    settings = merge_arguments(max_chunk_tokens, ignore, counter, settings)
    findings = read_findings(linter.encode("utf-8", "replace") if isinstance(linter, str) else linter)
    comparison = Comparison(Path(path), ComparedStates(base, head), trust=settings.index.trust_git_dir)
    measured = changes_of(
        Path(path), comparison, settings, rules=rules, skill=skill, findings=findings, notices=findings.notices
    )
    return chunk_measured_diff(measured, settings)


def changes_of(
    path: Path,
    comparison: Comparison,
    settings: Settings,
    *,
    rules: str | None,
    skill: str | None,
    findings: Sequence[Finding],
    notices: tuple[Notice, ...],
    progress: Progress = unreported,
    redactor: Redactor | None = None,
) -> MeasuredDiff:
    """Reads and counts the changes that a comparison of the repository at `path` finds.

    Args:
        rules: None: the rules of the repository.
        skill: None: no instructions; a notice says so if the repository has a SKILL.md.
        notices: about the other inputs.
        redactor: removes credentials; by default made from the settings.
    """
    redactor = redactor or Redactor.of(settings.redaction)
    repository_diff = comparison.read(settings.chunking, redactor)
    hints, failures = _hints(path, settings, repository_diff, progress) if settings.chunking.signatures else ([], ())
    unused = (skill_notice(shown(path / SKILL_FILE)),) if repository_diff.has_skill and skill is None else ()
    progress("counting", 0, 0)
    measured = measure_diff(
        repository_diff.diff,
        settings,
        Injection(redactor.text(repository_diff.rules) if rules is None else rules, skill or ""),
        known=repository_diff.known,
        compared=repository_diff.compared,
        findings=findings,
        hints=hints,
        notices=(*notices, *repository_diff.notices, *failures, *unused),
    )
    return replace(measured, redactor=redactor)


def _hints(
    path: Path, settings: Settings, repository_diff: RepositoryDiff, progress: Progress
) -> tuple[list[Hint], tuple[Notice, ...]]:
    from secateur.engine import Engine

    try:
        with Engine.open(path, settings, rev=repository_diff.compared.head or None) as engine:
            engine.refresh(progress)
            changed = {change.path: change.changed_lines() for change in repository_diff.diff.changes}
            return signatures(*engine.code(), changed), ()
    except SecateurError as error:
        return [], (Notice("no_signatures", f"No signatures: {error.message}"),)
