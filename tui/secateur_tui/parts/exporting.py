"""Copies the command line, the text that is sent or an item, and exports the screen as a file that others can open: an
HTML page, Markdown, JSON, a picture.

All but the picture of the screen is what the command writes with `--report`, made on the engine's thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, partialmethod
from pathlib import Path

from msgspec.structs import replace
from secateur.errors import SecateurError, UsageError, shown
from secateur.kinds.decision_report import draw_report, form_of, report_of
from secateur.output_files import write_output
from secateur.redaction import not_scanned
from secateur.terminal import visible
from secateur_lab.scenarios.naming import propose_name

from secateur_tui.screen import ScreenPart
from secateur_tui.state.input_files import expand_path
from secateur_tui.styled_text import Line, Span, describe_error, line, wrap_words
from secateur_tui.widgets.dialogue import AskPage, ModalPage

SCREEN = "screen"
"""The choice that exports the screen as it looks, and not a report."""

MOST_COPIED = 70_000
"""Characters that every terminal accepts on the clipboard; some accept more."""

_PACK, _ITEM = "pack", "item"


@dataclass(frozen=True)
class Export:
    """A format that can be exported."""

    key: str
    form: str
    ending: str
    summary: str


EXPORTS = (
    Export("h", "html", ".html", "one HTML page that opens from disk: list, bar, scores, texts"),
    Export("m", "md", ".md", "Markdown for a pull request"),
    Export("j", "json", ".json", "JSON, as the command prints it"),
    Export("s", "svg", ".svg", "a picture of the decision (SVG)"),
    Export("c", SCREEN, ".svg", "a picture of this screen (SVG)"),
)


class Exporting(ScreenPart):
    """See the module docstring."""

    def no_copy(self) -> str:
        return "" if self.state.asks else self.kind_page.nothing_asked

    def no_copy_item(self) -> str:
        return "this is no item" if self.state.entry_number is None else ""

    # --- copying ---

    def do_copy(self) -> None:
        """Copies the command line and shows it; a further key copies something else."""
        command = self.bench.command()
        self.app.copy_to_clipboard(command)
        choices = {"p": (_PACK, "the text that is sent"), "i": (_ITEM, "this item")}
        others = {key: what for key, what in choices.items() if not self.bench.unavailable(f"copy-{what[0]}")}

        def draw(cells: int) -> Sequence[Line]:
            lines = wrap_words(visible(command), cells)
            keys = [(Span(f" {key} ", "key"), Span(f"{label} instead  ")) for key, (_, label) in others.items()]
            return [*lines, (), line(*(span for pair in keys for span in pair))] if keys else lines

        choices_by_key = {key: what for key, (what, _) in others.items()}
        self.bench.ask(ModalPage("Copied: this screen, headless", draw, choices_by_key), self._copy_other)

    def _copy_other(self, what: str) -> None:
        kind, outcome, entry_number, say = self.kind, self.state.outcome, self.state.entry_number, self.app.say
        if outcome is None or (what == _ITEM and entry_number is None):
            return

        def text_of() -> tuple[str, str]:
            if what == _PACK or entry_number is None:
                return kind.leaving(outcome), f"the text that is sent, {outcome.ledger.after:,} tokens"
            before, after = kind.texts(outcome, entry_number)
            part = "" if after else ", as it came in"
            return after or before, f"{kind.describe(outcome, entry_number).name}{part}"

        def copy(made: tuple[str, str]) -> None:
            text, label = made
            if not text:
                say("nothing to copy: it has no text")
                return
            self.app.copy_to_clipboard(text)
            more = "" if len(text) <= MOST_COPIED else f" ({len(text):,} characters: some terminals take fewer)"
            say(f"copied: {visible(label)}{more}")

        self.jobs.work_out("copy", text_of, copy, lambda error: say(f"not copied: {error.message}"))

    do_copy_pack, do_copy_item = partialmethod(_copy_other, _PACK), partialmethod(_copy_other, _ITEM)

    # --- exporting ---

    def do_export(self) -> None:
        lines = [line(Span(f" {export.key}  ", "key"), export.summary) for export in EXPORTS]
        choices = {export.key: export.form for export in EXPORTS}
        self.bench.ask(ModalPage("Export", lambda _: lines, choices, EXPORTS[0].form), self._ask_name)

    def _ask_name(self, form: str) -> None:
        chosen = next(export for export in EXPORTS if export.form == form)
        try:
            name = propose_name(self.kind, self.bench.given, Path.cwd(), chosen.ending)
        except OSError as error:  # the working folder was removed
            self.app.say(f"there is no place for a file: {error.strerror}")
            return

        def draw(cells: int, typed: str) -> Sequence[Line]:
            try:
                path = _path(typed, chosen)
            except SecateurError as error:
                return wrap_words(visible(describe_error(error)), cells, "warning")
            return wrap_words(visible(f"writes {path.absolute()}"), cells, "faint")

        page = AskPage(f"Export {chosen.summary}", draw, name, check=partial(_path, chosen=chosen))
        self.bench.ask(page, partial(self._export_to, chosen))

    def _export_to(self, chosen: Export, typed: str) -> None:
        if not typed:
            return
        bench, path, say = self.bench, _path(typed, chosen), self.app.say

        def export(draw: Callable[[], str]) -> None:
            self.jobs.work_out(
                "export",
                lambda: write_output(path, draw()),
                lambda _: say(f"exported: {visible(str(path))}"),
                lambda error: say(f"not exported: {describe_error(error)}"),
            )

        outcome = self.state.outcome
        if chosen.form == SCREEN:  # once the page with the question is gone
            bench.call_after_refresh(lambda: export(partial(str, self.app.picture())))
        elif outcome is None:
            say("not exported: there is no answer any more")
        else:
            kind, given, command = self.kind, bench.given, bench.command()
            outcome = replace(outcome, of_settings=not_scanned(outcome.settings))  # as the command's report says it
            export(lambda: draw_report(kind, outcome, report_of(kind, outcome, given, command), chosen.form))


def _path(typed: str, chosen: Export) -> Path:
    """Returns the file that is meant; one without an ending gets that of the choice. Raises UsageError: it cannot
    be."""
    path = Path(expand_path(typed))
    if not path.name:
        raise UsageError("the file has no name", hint="type one, or Esc")
    if not path.suffix:
        path = path.with_name(path.name + chosen.ending)
    ending = form_of(path)
    if ending != chosen.ending.removeprefix("."):
        raise UsageError(f"{shown(path)} ends in .{ending}", hint=f"its name has to end in {chosen.ending}")
    return path
