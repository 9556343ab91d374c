"""The lines of the Search bench while nothing is asked: questions that the repository suggests and that were asked
before, and words that are true of where the keys go."""

from __future__ import annotations

from collections.abc import Sequence

from secateur.evaluation.example_queries import ExampleQuery
from secateur.terminal import cell_width, clip, visible

from secateur_tui.state.search_engine import Status
from secateur_tui.styled_text import Line, Span, line, wrapped

MOST_RECENT = 5


def draw_first_screen(
    status: Status | None,
    examples: Sequence[ExampleQuery],
    recent: Sequence[str],
    keys: tuple[str, str, str],
    cells: int,
    *,
    typing: bool,
) -> list[Line]:
    """Draws what can be asked.

    Args:
        keys: of the query, of the help, and of the list of questions.
        typing: whether the keys go to the query.
    """
    query, help_key, again = keys
    lines: list[Line] = [line(Span("Ask in the words of the task, or name what you mean.", "bold")), ()]
    if examples:
        lines.append(line(Span("This repository suggests:", "faint")))
        lines += [_question(one.query, f"{one.drawn_from}, cut at {one.budget:,}", cells) for one in examples]
        lines.append(())
    if recent:
        lines.append(line(Span("Asked before:", "faint")))
        lines += [_question(one, "", cells) for one in recent[:MOST_RECENT]]
        lines.append(())
    known = f", {again} lists these questions" if (examples or recent) and again else ""
    if typing:
        told = f"A pause asks. Esc leaves the query; then {help_key} shows every key{known}."
    else:
        told = f"{query} goes to the query, {help_key} shows every key{known}."
    lines += wrapped(told, cells, "faint")
    if status is not None:
        words = f"{status.files:,} files, {status.fragments:,} fragments indexed"
        lines += [(), *wrapped(words, cells, "faint")]
    return lines


def _question(query: str, beside: str, cells: int) -> Line:
    shown = clip(visible(" ".join(query.split())), max(10, cells - 2))
    fits = beside and cell_width(shown) + cell_width(beside) + 4 <= cells  # the question comes first
    return line("  ", Span(shown, "accent"), *([Span(f"  {beside}", "faint")] if fits else []))
