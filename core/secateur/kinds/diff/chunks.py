"""A pull request in chunks (spec smart-chunking): `chunk_diff` takes a text, `chunk_measured_diff` a measured diff.

    for chunk in chunk_diff(Path("pull.diff").read_text(), skill=Path("SKILL.md").read_text()):
        send(chunk.text)                 # never more than chunk.tokens, which is within the limit

The recipe: parse -> measure (counted once) -> plan (pure, instant: rules, parts, bins) -> text, recounted.
"""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType, field

from secateur.kinds.diff.chunk_text import Injection
from secateur.kinds.diff.diff_parser import parse_diff
from secateur.kinds.diff.linter_output import read_findings
from secateur.kinds.diff.measured_diff import LINTER, SIGNATURES, Compared, MeasuredDiff, measure_diff
from secateur.kinds.diff.plan import LEFT_OUT, SPLIT, WHOLE, Coverage, FilePiece, Plan, ledger_of, plan_chunks, text_of
from secateur.kinds.report_logs import log_report
from secateur.ledger import VERBS, WRAPPER, Entry, LedgerShape, TrimAction, TrimReport
from secateur.model import Notice
from secateur.render.page import Column, Page, Section, count_noun, line_range, not_shown, sentence
from secateur.settings import Settings, with_values
from secateur.shape import SCHEMA_VERSION, Count, Number, Shape, Version
from secateur.terminal import visible
from secateur.what_if import ProofFields


class PartShape(Shape, frozen=True):
    """The part of a file that a chunk holds."""

    number: Number
    of: Number
    line_start: Count
    line_end: Count
    side: Literal["old", "new"]
    inside: str


class FilePart(Shape, frozen=True):
    """A file of a chunk; `part` is null where the whole file is there."""

    path: str
    part: PartShape | None
    tokens: Annotated[Count, Meta(description="Tokens, including fence and heading.")] = field(name="token_count")


class Chunk(Shape, frozen=True):
    """One text for a model."""

    index: Number
    of: Number
    tokens: Annotated[Count, Meta(description="Tokens of the finished text.")] = field(name="token_count")
    files: Sequence[FilePart]
    text: str


class CoverageShape(Shape, frozen=True, kw_only=True):
    """A changed file: the chunks that hold it, or the reason why none does. Only a renamed file has `old_path`."""

    path: str
    state: Annotated[str, Meta(extra_json_schema={"enum": [WHOLE, SPLIT, LEFT_OUT]})]
    chunks: Sequence[Number]
    reason: str
    rule: str | None
    treatment: Literal["modified", "added", "deleted", "renamed", "copied", "mode", "type"]
    added: Count
    removed: Count
    old_path: str | UnsetType = UNSET
    tokens_before: Count


class Packing(Shape, frozen=True):
    """The limit of a chunk, the tokens injected into each, the room left, and the chunks, never below `lower_bound`."""

    limit: Count
    injected: Count
    capacity: int
    chunks: Count
    lower_bound: Count
    counter: str


class LinesShown(Shape, frozen=True):
    """Lines available, and lines that fit."""

    lines: Count
    shown: Count


class LinterLines(LinesShown, frozen=True):
    """Linter lines; `elsewhere` counts findings in files that did not change."""

    elsewhere: Count


class ChunkOutput(ProofFields, frozen=True):
    """The output of `secateur chunk --format json`."""

    schema_version: Version
    chunks: list[Chunk]
    coverage: list[CoverageShape]
    compared: Compared
    packing: Packing
    linter: LinterLines
    signatures: LinesShown
    report: TrimReport
    ledger: LedgerShape
    warnings: list[Notice]


class Chunks(list[Chunk]):
    """The chunks of a diff, with the outcome for every changed file.

    Attributes:
        coverage: one entry per changed file: whole, split or left out, where, and why.
        ledger: every changed file once; the sum of `after` equals the tokens of all chunks.
        report: the ledger in the format fixed by the context-budget spec.
        plan: the plan that the chunks were rendered from.
    """

    def __init__(self, chunks: Iterable[Chunk], plan: Plan) -> None:
        super().__init__(chunks)
        self.plan = plan
        self.ledger = ledger_of(plan, [chunk.tokens for chunk in self])
        self.report = self.ledger.report(_trim_action)

    @property
    def coverage(self) -> tuple[Coverage, ...]:
        return self.plan.coverage

    @property
    def warnings(self) -> tuple[Notice, ...]:
        return self.plan.notices

    def output(self) -> ChunkOutput:
        """Returns the JSON output."""
        plan, measured = self.plan, self.plan.measured
        injected = plan.limit - plan.capacity
        return ChunkOutput(
            SCHEMA_VERSION,
            list(self),
            [_coverage_shape(entry) for entry in self.coverage],
            measured.compared,
            Packing(plan.limit, injected, plan.capacity, len(plan.chunks), plan.fewest, measured.counter.name),
            LinterLines(**plan.lines_under(LINTER), elsewhere=measured.elsewhere),
            LinesShown(**plan.lines_under(SIGNATURES)),
            self.report,
            self.ledger.shape(),
            list(self.warnings),
        )


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
    """Splits a unified diff into a list of chunks with `files`, `tokens` and `text`. Its `coverage` names every changed
    file once.

    Args:
        max_chunk_tokens: tokens a chunk may hold, everything injected included.
        skill: instructions that go into every chunk.
        rules: the project's rules, which go into every chunk too.
        linter: output of a linter (SARIF, JSON of ruff or ESLint, lines `path:line:column: message`), put beside the
            files it is about.
        ignore: patterns of files to leave out, in gitignore syntax; `!` takes files in.
        counter: name of a token counter.

    Raises:
        SecateurError: the diff is malformed (`MALFORMED_DIFF` names the line), or the linter output is
            (`LINTER_OUTPUT`).
        BudgetExceeded: instructions and rules leave no room for changes.
        ConfigError: a limit, pattern or counter is not valid.
    """
    settings = merge_arguments(max_chunk_tokens, ignore, counter, settings)
    findings = read_findings(linter.encode("utf-8", "replace") if isinstance(linter, str) else linter)
    diff, injection = parse_diff(diff_text), Injection(rules, skill)
    return chunk_measured_diff(
        measure_diff(diff, settings, injection, findings=findings, notices=findings.notices), settings
    )


def merge_arguments(
    max_chunk_tokens: int, ignore: Sequence[str], counter: str | None, settings: Settings | None
) -> Settings:
    """Adds the arguments of a call to the settings. Raises ConfigError."""
    changed: dict[str, Any] = {"chunking.max_chunk_tokens": max_chunk_tokens}
    if ignore:
        changed["chunking.ignore"] = [*(settings.chunking.ignore if settings else ()), *ignore]
    if counter is not None:
        changed["tokens.counter"] = counter
    return with_values(settings or Settings(), changed)


def chunk_measured_diff(measured: MeasuredDiff, settings: Settings) -> Chunks:
    """Splits a measured diff into chunks. Raises BudgetExceeded: what goes into every chunk leaves no room for
    changes."""
    return render_chunks(plan_chunks(measured, settings))


def render_chunks(plan: Plan) -> Chunks:
    """Renders the chunks of a plan, and counts their tokens again."""
    counter, of = plan.measured.counter, len(plan.chunks)
    rendered = []
    for index, pieces in enumerate(plan.chunks, 1):
        text = text_of(plan, index)
        rendered.append(Chunk(index, of, counter.count(text), tuple(map(_file_part, pieces)), text))
    chunks = Chunks(rendered, plan)
    log_report("chunk", chunks.report)
    return chunks


def _trim_action(entry: Entry) -> TrimAction:
    return TrimAction(
        "injected" if entry.id == WRAPPER else entry.id, VERBS[entry.state], sentence(entry), entry.before, entry.after
    )


def _file_part(piece: FilePiece) -> FilePart:
    part = None
    if piece.part is not None:
        location = piece.part.place
        side: Literal["old", "new"] = "old" if location.old else "new"
        part = PartShape(piece.number, piece.of, location.line_start, location.line_end, side, location.inside)
    return FilePart(piece.file.change.path, part, piece.cost)


def _coverage_shape(entry: Coverage) -> CoverageShape:
    change = entry.file.change
    return CoverageShape(
        path=entry.path,
        state=entry.state,
        chunks=entry.chunks,
        reason=entry.reason,
        rule=entry.verdict.rule.label if entry.verdict else None,
        treatment=change.treatment.value,
        added=change.added,
        removed=change.removed,
        old_path=change.old_path if change.old_path != change.path else UNSET,
        tokens_before=entry.file.tokens,
    )


SHOWN_FILES = 40  # files listed per heading without --verbose
_COLUMNS = Column(8, right=True), Column(), Column()  # tokens of a file, its path, and a remark


def page_of(chunks: Chunks, notices: Sequence[Notice], *, verbose: bool = False) -> Page:
    """The report; with `verbose` every file is listed."""
    sections = []
    for chunk in chunks:
        rows = []
        for file in chunk.files:
            row = [f"{file.tokens:,}", visible(file.path)]
            if (part := file.part) is not None:
                lines = "line" if part.line_start == part.line_end else "lines"
                row.append(f"part {part.number}/{part.of}, {lines} {line_range(part.line_start, part.line_end)}")
            rows.append(row)
        title = f"chunk {chunk.index}/{chunk.of}  {chunk.tokens:,} tokens  {chunk.tokens / chunks.plan.limit:.0%}"
        sections.append(_section(title, rows, verbose))
    if left := chunks.plan.skipped:
        rows = [[f"{entry.entry.before:,}", visible(entry.path), visible(entry.reason)] for entry in left]
        sections.append(_section(f"not seen, or not whole: {len(left):,}", rows, verbose))
    return Page(_figures(chunks), sections, notices)


def _figures(chunks: Chunks) -> list[tuple[str, str]]:
    plan = chunks.plan
    measured = plan.measured
    about = "" if measured.counter.exact else ", estimated"
    changes = [entry.file.change for entry in chunks.coverage]
    added, removed = (sum(getattr(change, side) for change in changes) for side in ("added", "removed"))
    tokens = sum(entry.entry.before for entry in chunks.coverage)
    injection = (("rules", measured.injection.rules), ("instructions", measured.injection.skill))
    injected = "".join(f", {name}" for name, text in injection if text.strip())
    within = f"{len(chunks):,} of at most {plan.limit:,} tokens ({measured.counter.name}{about})"
    figures = [
        ("compared", visible(measured.compared.what)),
        ("changed", f"{count_noun(len(changes), 'file')}, +{added:,} -{removed:,}, {count_noun(tokens, 'token')}"),
        ("chunks", f"{within}; not possible in fewer than {plan.fewest:,}"),
        ("injected", f"{plan.limit - plan.capacity:,} tokens in each: headings{injected}"),
    ]
    around, findings = plan.lines_under(SIGNATURES), plan.lines_under(LINTER)
    if around["lines"]:
        figures.append(("around", f"{around['shown']:,} of {around['lines']:,} signatures of callers and callees"))
    if findings["lines"] or measured.elsewhere:
        some = f"{count_noun(findings['shown'], 'finding')} shown of {findings['lines']:,}"
        figures.append(("linter", f"{some}; {measured.elsewhere:,} are about other files"))
    return figures


def _section(title: str, rows: list[list[str]], verbose: bool) -> Section:
    more = 0 if verbose else max(0, len(rows) - SHOWN_FILES)
    return Section(rows[: len(rows) - more], title, not_shown(more), columns=_COLUMNS)
