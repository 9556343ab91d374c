"""A pull request in chunks (spec smart-chunking): `chunk_diff` for a text, `chunk` for anything that was measured.

    for chunk in chunk_diff(Path("pull.diff").read_text(), skill=Path("SKILL.md").read_text()):
        send(chunk.text)                 # never more than chunk.tokens, which is within the limit

The recipe: parse -> measure (counted once) -> plan (pure, instant: rules, parts, bins) -> text, recounted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from secateur.kinds.diff.chunk_text import Injection, PartLocation
from secateur.kinds.diff.diff_parser import parse_diff
from secateur.kinds.diff.linter_output import read_findings
from secateur.kinds.diff.measured_diff import LINTER, SIGNATURES, MeasuredDiff, measure_diff
from secateur.kinds.diff.plan import Coverage, FilePiece, Plan, plan_chunks
from secateur.kinds.diff.plan_totals import ledger_of, text_of
from secateur.ledger import VERBS, WRAPPER, Entry, Ledger, Notice, TrimAction, TrimReport
from secateur.logs import log_report
from secateur.render.sentences import sentence
from secateur.settings import Settings, with_values


@dataclass(frozen=True, slots=True)
class FilePart:
    """A file of a chunk, or the part of it that the chunk holds."""

    path: str
    tokens: int  # charged for it, its fence and heading included
    number: int = 0  # of the part, from 1; 0 for a whole file
    of: int = 0
    place: PartLocation | None = None

    def to_dict(self) -> dict[str, Any]:
        """`{"path", "part", "token_count"}`; `part` is null for a whole file."""
        part = None
        if self.place is not None:
            lines = {
                "line_start": self.place.line_start,
                "line_end": self.place.line_end,
                "side": "old" if self.place.old else "new",
            }
            part = {"number": self.number, "of": self.of, **lines, "inside": self.place.inside}
        return {"path": self.path, "part": part, "token_count": self.tokens}


@dataclass(frozen=True, slots=True)
class Chunk:
    """One text for a model."""

    index: int  # from 1
    of: int
    tokens: int  # recounted
    files: tuple[FilePart, ...]
    text: str

    def to_dict(self) -> dict[str, Any]:
        """The contract's shape."""
        return {
            "index": self.index,
            "of": self.of,
            "token_count": self.tokens,
            "files": [file.to_dict() for file in self.files],
            "text": self.text,
        }


class Chunks(list[Chunk]):
    """The chunks of a diff, with what became of every changed file.

    Attributes:
        coverage: one entry per changed file: whole, split or left out, where, and why.
        ledger: every changed file once; `after` of its entries sum to the tokens of all chunks.
        report: the ledger in the frozen shape of the context-budget spec.
        plan: what the text was made from.
    """

    def __init__(self, chunks: Iterable[Chunk], plan: Plan) -> None:
        super().__init__(chunks)
        self.plan = plan
        self.ledger = ledger_of(plan, [chunk.tokens for chunk in self])
        self.report = report_of(self.ledger)

    @property
    def coverage(self) -> tuple[Coverage, ...]:
        return self.plan.coverage

    @property
    def warnings(self) -> tuple[Notice, ...]:
        return self.plan.notices

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the contract, and what was compared and how tight the packing is."""
        plan, measured = self.plan, self.plan.measured
        return {
            "chunks": [chunk.to_dict() for chunk in self],
            "coverage": [_covered(entry) for entry in self.coverage],
            "compared": measured.compared.to_dict(),
            "packing": {
                "limit": plan.limit,
                "injected": plan.limit - plan.capacity,
                "capacity": plan.capacity,
                "chunks": len(plan.chunks),
                "lower_bound": plan.fewest,
                "counter": measured.counter.name,
            },
            "linter": plan.lines_under(LINTER) | {"elsewhere": measured.elsewhere},
            "signatures": plan.lines_under(SIGNATURES),
            "report": self.report.to_dict(),
            "ledger": self.ledger.to_dict(),
            "warnings": [notice.to_dict() for notice in self.warnings],
        }


def chunk_diff(
    diff_text: str | bytes,
    max_chunk_tokens: int = 32_000,
    *,
    skill: str = "",
    rules: str = "",
    linter: str | bytes = "",
    ignore: Sequence[str] = (),
    counter: str | None = None,
    settings: Settings | None = None,
) -> Chunks:
    """The chunks of a unified diff, a list whose items have `files`, `tokens` and `text`; its `coverage` names every
    changed file once.

    Args:
        max_chunk_tokens: tokens a chunk may hold, everything injected included.
        skill: instructions that go into every chunk.
        rules: the project's rules, which do so too.
        linter: output of a linter (SARIF, JSON of ruff or ESLint, lines `path:line:column: message`), put beside the
        files it speaks of. ignore: patterns of files left out, in gitignore syntax; with `!` such that are not.
        counter: name of a token counter.

    Raises:
        SecateurError: `MALFORMED_DIFF`, with the number of the line; `LINTER_OUTPUT`.
        BudgetExceeded: instructions and rules leave no room for changes.
        ConfigError: a limit, pattern or counter that is none.
    """
    settings = settings_of(max_chunk_tokens, ignore, counter, settings)
    findings = read_findings(linter.encode("utf-8", "replace") if isinstance(linter, str) else linter)
    return chunk(
        measure_diff(
            parse_diff(diff_text), settings, Injection(rules, skill), findings=findings, notices=findings.notices
        ),
        settings,
    )


def settings_of(
    max_chunk_tokens: int, ignore: Sequence[str], counter: str | None, settings: Settings | None
) -> Settings:
    """The settings with what a call says besides. Raises ConfigError."""
    changed: dict[str, Any] = {"chunking.max_chunk_tokens": max_chunk_tokens}
    if ignore:
        changed["chunking.ignore"] = [*(settings.chunking.ignore if settings else ()), *ignore]
    if counter is not None:
        changed["tokens.counter"] = counter
    return with_values(settings or Settings(), changed)


def chunk(measured: MeasuredDiff, settings: Settings) -> Chunks:
    """The chunks of a measured diff as text.

    Raises:
        BudgetExceeded: what goes into every chunk leaves no room for changes.
    """
    return finish(plan_chunks(measured, settings))


def finish(plan: Plan) -> Chunks:
    """The text of every chunk of a plan, recounted, and the ledger."""
    counter, of = plan.measured.counter, len(plan.chunks)
    made = []
    for number, pieces in enumerate(plan.chunks, 1):
        text = text_of(plan, number)
        made.append(Chunk(number, of, counter.count(text), tuple(map(_file, pieces)), text))
    chunks = Chunks(made, plan)
    log_report("chunk", chunks.report)
    return chunks


def report_of(ledger: Ledger) -> TrimReport:
    """The ledger of a diff in the frozen shape of the context-budget spec."""
    return ledger.report(_action)


def _action(entry: Entry) -> TrimAction:
    section = "injected" if entry.id == WRAPPER else entry.id
    return TrimAction(section, VERBS[entry.state], sentence(entry), entry.before, entry.after)


def _file(piece: FilePiece) -> FilePart:
    return FilePart(
        piece.file.change.path, piece.cost, piece.number, piece.of, piece.part.place if piece.part else None
    )


def _covered(entry: Coverage) -> dict[str, Any]:
    change = entry.file.change
    said = {"path": entry.path, "state": entry.state, "chunks": list(entry.chunks), "reason": entry.reason}
    more = {
        "rule": entry.verdict.rule.label if entry.verdict else None,
        "treatment": change.treatment.value,
        "added": change.added,
        "removed": change.removed,
    }
    if change.old_path != change.path:
        more["old_path"] = change.old_path
    return said | more | {"tokens_before": entry.file.tokens}


__all__ = ["Chunk", "Chunks", "FilePart", "chunk", "chunk_diff", "finish"]
