"""Saves what was tuned as a profile of the user or of the repository, as the default, or as a scenario; opens the item
at the cursor in the user's editor; copies the command line, the text that is sent or an item, and exports the screen as
a file that others can open: an HTML page, Markdown, JSON, a picture.

All but the picture of the screen is what the command writes with `--report`, made on the engine's thread.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from msgspec.structs import replace
from secateur import directories
from secateur.errors import SecateurError, UsageError, shown
from secateur.kinds.decision_report import draw_report, form_of, report_of
from secateur.kinds.run import location_of
from secateur.output_files import write_output
from secateur.profile_files import (
    ConfigFile,
    adopt_profile,
    base_of,
    own_file,
    profile_of,
    repository_file,
    write_profile,
)
from secateur.redaction import not_scanned
from secateur.render.page import count_noun
from secateur.settings import PROFILES, with_profile, with_values
from secateur.terminal import visible
from secateur_lab.scenarios.location import propose_name

from secateur_tui.parts.asking import FirstAnswers
from secateur_tui.parts.editors import open_editor
from secateur_tui.parts.scenarios import Scenarios
from secateur_tui.screen import ScreenPart
from secateur_tui.state.bench_state import WrittenFile
from secateur_tui.state.input_files import expand_path
from secateur_tui.styled_text import Line, Span, describe_error, line, wrap_words
from secateur_tui.widgets.dialogue import AskPage, ChoiceLine, Chooser, ModalPage, Offers, match_rows

SCENARIO, YOURS, REPOSITORY = "scenario", "yours", "repository"

_NEW = "mine"  # the name that is proposed for a new profile


class Keeping(ScreenPart):
    """Saves, and opens the editor."""

    def no_edit(self) -> str:
        return "" if self.state.outcome is not None and self.state.listed else "there is no item"

    # --- where to keep it ---

    def do_save(self) -> None:
        places = {
            SCENARIO: "this screen: input, settings and assertions, for `secateur check`",
            YOURS: "the settings as a profile in your configuration, for every repository",
            REPOSITORY: "the settings as a profile in its secateur.toml, as far as it may set them",
        }
        if unanswered := self.state.outcome is None:
            del places[SCENARIO]
        if self._root is None:
            del places[REPOSITORY]

        def draw(name: str, _: int) -> Line:
            return line(Span(f" {name:<11}", "bold"), places[name])

        def offer(typed: str) -> Offers:
            rows = [(f"{name} {text}", ChoiceLine(name, partial(draw, name))) for name, text in places.items()]
            return Offers(match_rows(rows, typed), "no scenario: there is no answer yet" if unanswered else "")

        self.bench.ask(Chooser("Save", offer, "scenario, yours, repository", fitted=True), self._save_to)

    def _save_to(self, choice: str) -> None:
        if choice == SCENARIO:
            self.bench.part(Scenarios).ask_name()
        else:
            profile = self.state.settings.profile
            self._ask_profile(choice, _NEW if profile in PROFILES else profile)

    @property
    def _root(self) -> Path | None:
        path = self.bench.given.get("path")
        try:
            folder = self.kind_page.outside.folder_of(path) if isinstance(path, str) and path else Path()
        except SecateurError:
            return None
        return folder if folder.is_dir() else None

    @property
    def _user_dir(self) -> Path:
        return directories.config_dir(self.app.environ)

    def _target(self, choice: str) -> ConfigFile:
        return repository_file(self._root or Path()) if choice == REPOSITORY else own_file(self._user_dir)

    def _ask_profile(self, choice: str, asked: str, wrong: str = "") -> None:
        def draw(cells: int, name: str) -> Sequence[Line]:
            settings = self.state.settings
            try:
                if wrong and name == asked:
                    return wrap_words(visible(wrong), cells, "error")
                file = self._target(choice)
            except SecateurError as error:
                return wrap_words(visible(error.message), cells, "error")
            values, refused = profile_of(settings, file.scope)
            where = f"[profiles.{visible(name)}] in {visible(str(file.path))}"
            what = f"{count_noun(len(values), 'setting')} beside those of {base_of(settings)}"
            words = wrap_words(f"{where}: {what}.", cells)
            if name in settings.profiles:
                words += wrap_words("There is such a profile: it is replaced.", cells, "accent")
            for key, why in refused.items():
                words += wrap_words(f"not {key}: {why}", cells, "warning")
            return words

        self.bench.ask(
            AskPage("Save as a profile", draw, asked, replaced=not wrong), partial(self._save_profile, choice)
        )

    def _save_profile(self, choice: str, name: str) -> None:
        if not name:
            return
        state = self.state
        try:
            target = self._target(choice)
            file, written = WrittenFile.by(target.path, partial(write_profile, target, name, state.settings))
        except SecateurError as error:
            self._ask_profile(choice, name, describe_error(error))  # what was typed stays
            return
        state.know_profiles({**state.settings.profiles, name: written.table})
        state.saved = settings = with_profile(state.settings, name)
        self.bench.change(settings, file)
        self.app.say(f"saved: [profiles.{name}] in {written.path}")

    @property
    def _default(self) -> str:
        return self.bench.part(FirstAnswers).offered or self.state.settings.profile

    def do_default(self) -> None:
        """Asks before the offered profile, else the one on the screen, becomes the user's default."""

        def draw(cells: int, _: str) -> Sequence[Line]:
            path, undo = visible(str(own_file(self._user_dir).path)), self.key("undo")
            words = f"{visible(self._default)} becomes your default in every repository: {path} is written."
            if self.state.changed:
                words += f" What you changed is not in it: {self.key('save')} saves that as a profile."
            return [*wrap_words(words, cells), *wrap_words(f"{undo} takes it back." if undo else "", cells, "faint")]

        self.bench.ask(AskPage("Make it your default", draw), lambda _: self._make_default())

    def _make_default(self) -> None:
        profile, settings = self._default, self.state.settings
        path = own_file(self._user_dir).path
        file, _ = WrittenFile.by(path, partial(adopt_profile, self._user_dir, profile))
        if settings.profile != profile:
            settings = with_values(with_profile(settings, profile), {"budget": settings.budget})
        self.bench.change(settings, file)
        self.app.say(f"{profile} is your default from now on: {path}")

    # --- the editor ---

    def do_edit(self) -> None:
        page, outcome, entry_number, say = self.kind_page, self.state.outcome, self.state.entry_number, self.app.say
        if outcome is None or entry_number is None:
            return
        location = location_of(page.kind, outcome, entry_number, page.given(self.state.inputs), page.outside)
        if location is None:
            say("this item stands in no file that is there now")
        else:
            open_editor(self.bench, location.path, location.line)


SCREEN = "screen"  # the choice that exports the screen as it looks, and not a report
MOST_COPIED = 70_000  # characters that every terminal accepts on the clipboard; some accept more

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
    """Copies and exports."""

    def no_copy(self) -> str:
        return "" if self.state.asks else self.kind_page.nothing_asked

    # --- copying ---

    def do_copy(self) -> None:
        """Copies the command line and shows it; a further key copies something else."""
        command = self.bench.command()
        self.app.copy_to_clipboard(command)
        others = {"p": (_PACK, "the text that is sent")} if self.state.outcome is not None else {}
        others |= {"i": (_ITEM, "this item")} if others and self.state.entry_number is not None else {}

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
        if chosen.form == SCREEN:  # once the page with the question is gone, and a passing message
            self.app.clear_notifications()
            bench.screen.query("Toast").set(display=False)  # it is removed later; the first refresh lays out without it
            bench.call_after_refresh(bench.call_after_refresh, lambda: export(partial(str, self.app.picture())))
        elif outcome is None:
            say("not exported: there is no answer any more")
        else:
            kind, given, command, baseline = self.kind, bench.given, bench.command(), self.state.baseline
            before = baseline.outcome if baseline is not None and self.state.comparison is not None else None
            outcome = replace(outcome, of_settings=not_scanned(outcome.settings))  # as the command's report says it
            report = partial(report_of, kind, outcome, given, command, before=before)
            export(lambda: draw_report(kind, outcome, report(), chosen.form))


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
