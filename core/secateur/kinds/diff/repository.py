"""Measures the changes of a repository, for `secateur chunk`, the Diff bench and `chunk_repository`. Collects the
declarations of callers and callees of changed functions from the code graph of the changed state: they go out if a
chunk has room, after the findings of linters.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from secateur.errors import SecateurError, shown
from secateur.index.facts.snapshot import Snapshot
from secateur.index.graph.code_graph import Direction
from secateur.kinds.diff.chunk_text import SKILL_FILE, Injection, one_line, skill_notice
from secateur.kinds.diff.chunks import Chunks, chunk_measured_diff, merge_arguments
from secateur.kinds.diff.comparison import ComparedStates, Comparison, RepositoryDiff
from secateur.kinds.diff.linter_output import Finding, read_findings
from secateur.kinds.diff.measured_diff import Hint, MeasuredDiff, measure_diff
from secateur.model import FragmentKind, Notice
from secateur.progress import Progress, unreported
from secateur.redaction import Redactor
from secateur.settings import Settings

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
