"""Draws the lines in place of the candidates: progress, an error, an empty query, or why the answer is empty."""

from __future__ import annotations

from secateur.errors import SecateurError
from secateur.index.update.refresh import IndexStatus
from secateur.model import Pool
from secateur.progress import FIRST
from secateur.render.page import count_noun, shown_notices
from secateur.terminal import visible

from secateur_tui.messages import IndexProgress
from secateur_tui.styled_text import Line, Span, line, outside, stack_bar, wrap_words

_LONGEST_BAR = 50


def draw_progress(
    source: str, progress: IndexProgress | None, cells: int, unit: str = "", meanwhile: str = ""
) -> list[Line]:
    """Something is being read, of which so many units are: files. `meanwhile`: what can be done before a first reading
    is over."""
    lines = [*wrap_words(f"Reading {visible(source)}", cells, "bold"), ()]
    if progress is None:
        return [*lines, line(Span("looking for changed files …" if unit else "opening …", "faint"))]
    total = max(progress.total, progress.done)
    units = unit.removesuffix("s") if total == 1 else unit
    figures = f"  {progress.done:,} of {total:,} {units}".rstrip() if total else " …"
    lines.append(line(outside(progress.phase), figures))
    if total:
        lines.append(
            stack_bar(
                [(progress.done, "━", "accent"), (total - progress.done, "─", "faint")], total, min(cells, _LONGEST_BAR)
            )
        )
    if meanwhile and progress.phase == FIRST:
        lines += [(), *wrap_words(meanwhile, cells, "faint")]
    return lines


def draw_error(error: SecateurError, cells: int) -> list[Line]:
    """Draws what went wrong, where, and what to do."""
    lines = wrap_words(visible(error.message), cells, "error")
    if error.hint:
        lines += [(), *wrap_words(visible(error.hint), cells)]
    return lines


def draw_no_match(query: str, pool: Pool, status: IndexStatus | None, cells: int) -> list[Line]:
    """Says why the pool is empty: nothing is indexed, or nothing matched."""
    if status is not None and status.fragments == 0:
        lines = wrap_words("Nothing is indexed here: no readable source file was found.", cells, "warning")
        return [
            *lines,
            (),
            *wrap_words("`secateur status` lists what was skipped and why.", cells, "faint"),
            *_draw_warnings(pool, cells),
        ]
    lines = wrap_words(f"Nothing matched {visible(query)}", cells, "warning")
    lines += [
        (),
        *wrap_words("Other words, a name from the code, or a larger depth may find something.", cells, "faint"),
    ]
    return [*lines, *draw_indexed(status, cells), *_draw_warnings(pool, cells)]


def draw_indexed(status: IndexStatus | None, cells: int) -> list[Line]:
    """Draws how much is indexed, below an empty line; nothing while that is not known."""
    if status is None:
        return []
    words = f"{count_noun(status.files, 'file')}, {count_noun(status.fragments, 'fragment')} indexed"
    return [(), *wrap_words(words, cells, "faint")]


def _draw_warnings(pool: Pool, cells: int) -> list[Line]:
    shown = (warning.message for warning in shown_notices(pool.warnings))
    return [part for message in shown for part in ((), *wrap_words(visible(message), cells, "warning"))]
