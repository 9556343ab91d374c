"""The report on the chunks of a diff for people: figures, chunks with their files, and files left out or cut."""

from __future__ import annotations

from collections.abc import Sequence

from secateur.kinds.diff.chunks import Chunks
from secateur.kinds.diff.measured_diff import LINTER, SIGNATURES
from secateur.model import Notice
from secateur.render.page import Column, Page, Section, not_shown
from secateur.terminal import visible

SHOWN_FILES = 40
"""Files listed per heading without --verbose."""

_COLUMNS = Column(8, right=True), Column(), Column()
"""Tokens of a file, its path, and a remark."""


def page_of(chunks: Chunks, notices: Sequence[Notice], *, verbose: bool = False) -> Page:
    """The report; with `verbose` every file is listed."""
    sections = []
    for chunk in chunks:
        rows = []
        for file in chunk.files:
            row = [f"{file.tokens:,}", visible(file.path)]
            if (part := file.part) is not None:
                row.append(f"part {part.number}/{part.of}, lines {part.line_start}-{part.line_end}")
            rows.append(row)
        title = f"chunk {chunk.index}/{chunk.of}  {chunk.tokens:,} tokens  {chunk.tokens / chunks.plan.limit:.0%}"
        sections.append(_section(title, rows, verbose))
    left = chunks.plan.skipped
    if left:
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
    figures = [
        ("compared", visible(measured.compared.what)),
        ("changed", f"{len(changes):,} files, +{added:,} -{removed:,}, {tokens:,} tokens"),
        (
            "chunks",
            f"{len(chunks):,} of at most {plan.limit:,} tokens ({measured.counter.name}{about}); not possible in fewer"
            f" than {plan.fewest:,}",
        ),
        ("injected", f"{plan.limit - plan.capacity:,} tokens in each: headings{injected}"),
    ]
    around, findings = plan.lines_under(SIGNATURES), plan.lines_under(LINTER)
    if around["lines"]:
        figures.append(("around", f"{around['shown']:,} of {around['lines']:,} signatures of callers and callees"))
    if findings["lines"] or measured.elsewhere:
        elsewhere = f"{measured.elsewhere:,} are about other files"
        figures.append(("linter", f"{findings['shown']:,} findings shown of {findings['lines']:,}; {elsewhere}"))
    return figures


def _section(title: str, rows: list[list[str]], verbose: bool) -> Section:
    more = 0 if verbose else max(0, len(rows) - SHOWN_FILES)
    return Section(rows[: len(rows) - more], title, not_shown(more), columns=_COLUMNS)
