"""Saves what was tuned as a profile of the user or of the repository, as the default, or as a scenario; it also
opens the item at the cursor in the user's editor."""

from __future__ import annotations

import os
import shlex
import subprocess
import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from secateur import directories
from secateur.errors import SecateurError
from secateur.kinds.run import location_of
from secateur.profile_files import ConfigFile, adopt_profile, own_file, profile_of, repository_file, write_profile
from secateur.render.page import count_noun
from secateur.settings import PROFILES, with_profile, with_values
from secateur.settings.keys import nest_tables
from secateur.system.processes import start_detached
from secateur.terminal import visible
from textual.app import SuspendNotSupported

from secateur_tui.parts.first_answers import FirstAnswers
from secateur_tui.parts.scenarios import Scenarios
from secateur_tui.screen import ScreenPart
from secateur_tui.state.bench_state import WrittenFile
from secateur_tui.state.editors import build_editor_command
from secateur_tui.styled_text import Line, Span, describe_error, line, wrap_words
from secateur_tui.widgets.dialogue import AskPage, ChoiceLine, Chooser, Offers

SCENARIO, YOURS, REPOSITORY, DEFAULT = "scenario", "yours", "repository", "default"

_NEW = "mine"
"""The name that is proposed for a new profile."""


class Keeping(ScreenPart):
    """See the module docstring."""

    def no_edit(self) -> str:
        return "" if self.state.outcome is not None and self.state.listed else "there is no item"

    # --- where to keep it ---

    def do_save(self) -> None:
        places = {
            SCENARIO: "this screen: input, settings and assertions, for `secateur check`",
            YOURS: "the settings as a profile in your configuration, for every repository",
            REPOSITORY: "the settings as a profile in its secateur.toml, as far as it may set them",
            DEFAULT: f"the profile {self._default} becomes your default"
            f"{', without what you changed' if self.state.changed else ''}",
        }
        if unanswered := self.state.outcome is None:
            del places[SCENARIO]
        if self._root is None:
            del places[REPOSITORY]

        def draw(name: str, _: int) -> Line:
            return line(Span(f" {name:<11}", "bold"), places[name])

        def offer(typed: str) -> Offers:
            wanted = typed.lower().split()
            names = [name for name, text in places.items() if all(word in f"{name} {text}".lower() for word in wanted)]
            names.sort(key=lambda name: not name.startswith(typed.lower().strip()))
            lines = [ChoiceLine(name, partial(draw, name)) for name in names]
            return Offers(lines, "no scenario: there is no answer yet" if unanswered else "")

        page = Chooser("Save", offer, "scenario, yours, repository, default", fitted=True)
        self.bench.ask(page, self._save_to)

    def _save_to(self, choice: str) -> None:
        if choice == SCENARIO:
            self.bench.part(Scenarios).ask_name()
        elif choice == DEFAULT:
            self._make_default()
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
            words = wrap_words(f"{where}: {count_noun(len(values), 'setting')}.", cells)
            if name in settings.profiles:
                words += wrap_words("There is such a profile: it is replaced.", cells, "accent")
            for key, why in refused.items():
                words += wrap_words(f"not {key}: {why}", cells, "warning")
            return words

        page = AskPage("Save as a profile", draw, asked, replaced=not wrong)
        self.bench.ask(page, partial(self._save_profile, choice))

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
        state.know_profiles({**state.settings.profiles, name: nest_tables(written.values)})
        state.saved = settings = with_profile(state.settings, name)
        self.bench.change(settings, file)
        self.app.say(f"saved: [profiles.{name}] in {written.path}")

    @property
    def _default(self) -> str:
        """The profile that is offered, else the one on the screen."""
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
            return
        command = build_editor_command(self.app.environ, location.path, location.line)
        try:
            if command.takes_terminal:
                with self.app.suspend():
                    subprocess.run(command.words, check=False)
                self.app.refresh(layout=True)
                self.bench.returned_to()
                return
            with open(os.devnull, "r+b") as nothing:  # noqa: PTH123 - a device
                started = start_detached(command.words, nothing)
            threading.Thread(target=started.wait, daemon=True).start()  # otherwise a zombie process would stay
        except SuspendNotSupported:
            say(f"no editor can be shown here; run {shlex.join(command.words)}")
        except (OSError, ValueError) as error:
            say(f"{command.words[0]} cannot be started: {getattr(error, 'strerror', None) or error}")
