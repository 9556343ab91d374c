"""The changes of a repository, measured: what `secateur chunk` and the Diff bench read, and `chunk_repository`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from secateur.errors import SecateurError, shown
from secateur.kinds.diff.chunk_text import Injection
from secateur.kinds.diff.chunks import Chunks, chunk, settings_of
from secateur.kinds.diff.comparison import Asked, Comparison, Found
from secateur.kinds.diff.linter_output import Finding, read_findings
from secateur.kinds.diff.measured_diff import MeasuredDiff, measure_diff
from secateur.kinds.diff.notes import SKILL_FILE, skill_seen
from secateur.kinds.diff.signatures import Hint, signatures
from secateur.model import Notice
from secateur.progress import Progress, unreported
from secateur.redaction import Redactor
from secateur.settings import Settings


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
    """The chunks of what changed in a repository, as `chunk_diff` gives those of a diff.

    Args:
        base: the head is compared with the merge base of this revision and itself; by default that of the main branch.
        head: the changed revision; by default HEAD, or the files on disk where HEAD is the main branch.
        rules: the project's rules; by default what `chunking.rules` names, as it was at the base. "": none.
        skill, linter, ignore, counter, settings: as for `chunk_diff`. Files of settings in the repository do not count.

    Raises:
        RepositoryError: no repository, no such revision, no common ancestor, git failed.
        SecateurError, BudgetExceeded, ConfigError: as `chunk_diff`.
    """
    settings = settings_of(max_chunk_tokens, ignore, counter, settings)
    findings = read_findings(linter.encode("utf-8", "replace") if isinstance(linter, str) else linter)
    comparison = Comparison(Path(path), Asked(base, head), trust=settings.index.trust_git_dir)
    measured = changes_of(
        Path(path), comparison, settings, rules=rules, skill=skill, findings=findings, notices=findings.notices
    )
    return chunk(measured, settings)


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
    """The changes that a comparison of the repository at `path` finds, counted.

    Args:
        rules: None: those of the repository.
        skill: None: there are none, and a notice says so where the repository has some.
        notices: of what was read besides.
        redactor: takes credentials out; by default one under the settings.
    """
    redactor = redactor or Redactor.of(settings.redaction)
    found = comparison.found(settings.chunking, redactor)
    hints, failed = _hints(path, settings, found, progress) if settings.chunking.signatures else ([], ())
    unused = (skill_seen(shown(path / SKILL_FILE)),) if found.has_skill and skill is None else ()
    progress("counting", 0, 0)
    measured = measure_diff(
        found.diff,
        settings,
        Injection(redactor.text(found.rules) if rules is None else rules, skill or ""),
        known=found.known,
        compared=found.compared,
        findings=findings,
        hints=hints,
        notices=(*notices, *found.notices, *failed, *unused),
    )
    return replace(measured, redactor=redactor)


def _hints(path: Path, settings: Settings, found: Found, progress: Progress) -> tuple[list[Hint], tuple[Notice, ...]]:
    """Declarations around the changes, from the index of the changed state; a notice instead where it cannot be
    read."""
    from secateur.engine import Engine

    try:
        with Engine.open(path, settings, rev=found.compared.head or None) as engine:
            engine.refresh(progress)
            changed = {change.path: change.changed_lines() for change in found.diff.changes}
            return signatures(*engine.code(), changed), ()
    except SecateurError as error:
        return [], (Notice("no_signatures", f"No signatures: {error.message}"),)
