"""The application as its screens and widgets know it: themes, keys, threads, messages. `app.py` adds the benches."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from secateur import directories
from secateur.kinds import registry
from secateur.model import Notice
from secateur.settings import Settings
from secateur.terminal import visible
from textual.app import App

from secateur_tui import actions
from secateur_tui.background import EngineThread
from secateur_tui.bench_names import BenchTitle
from secateur_tui.palette import Palette
from secateur_tui.themes import BASE_COLOURS, DEFAULT_THEME, load_themes


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds of rest before something slow starts."""

    debounce: float = 0.12  # after the last key of a query: a pause in typing, too short to be felt
    rest: float = 0.25  # before proofs are worked out: longer than the time between two steps of a knob held down
    watch: float = 2.0  # between two looks whether files have changed; 0: only when the terminal comes to the front


class Host(App[int]):
    """See the module docstring.

    Attributes:
        keymap: which keys do what.
        environ: variables by which the cache and the settings of the user are found.
        watching: `ui.watch`.
        thread: runs what retrieves, reads and decides.
        watcher: looks for changes on disk: that must neither wait for a retrieval nor hold one up.
        prover: proves hints.
    """

    def __init__(self, settings: Settings, theme_folders: Sequence[Path] = (), pace: Pace | None = None) -> None:
        super().__init__()
        self.animation_level = "none"
        self.environ: Mapping[str, str] = os.environ
        self.watching = settings.ui.watch
        self.pace = pace or Pace()
        self.thread, self.watcher, self.prover = EngineThread(), EngineThread(), EngineThread()
        self.keymap = actions.keymap(settings.ui.keys)
        self.set_keymap(actions.overrides(self.keymap))
        self._palette: tuple[str, Palette] | None = None
        self._themes, theme_notices = load_themes((directories.data_dir("themes"), *theme_folders))
        self._notices: tuple[Notice, ...] = (*registry.problems(), *theme_notices, *self.keymap.notices)
        for theme in self._themes.values():
            self.register_theme(theme)
        if settings.ui.theme not in self._themes:
            self._notices += (
                Notice("no_theme", f"there is no usable theme {settings.ui.theme}; {DEFAULT_THEME} takes its place"),
            )
        self.theme = settings.ui.theme if settings.ui.theme in self._themes else DEFAULT_THEME

    def say_notices(self) -> None:
        """Shows what was wrong with kinds of other distributions, themes and keys."""
        for notice in self._notices:
            self.say(notice.message)

    def on_unmount(self) -> None:
        for thread in (self.thread, self.watcher, self.prover):
            thread.close()

    @abstractmethod
    def show_bench(self, name: str) -> None:
        """Switches to another bench; each stays as it was left."""

    @abstractmethod
    def bench_titles(self, current: str) -> Sequence[BenchTitle]:
        """Returns all benches, for the title line."""

    def say(self, message: str) -> None:
        """Shows a passing message; text from outside is allowed in it."""
        self.notify(visible(message), severity="warning", markup=False)

    @property
    def palette(self) -> Palette:
        """Styles of the present theme."""
        if self._palette is None or self._palette[0] != self.theme:
            theme = self.current_theme
            self._palette = (
                self.theme,
                Palette({**theme.variables, **{name: getattr(theme, name) for name in BASE_COLOURS}}),
            )
        return self._palette[1]

    def next_theme(self) -> None:
        names = sorted(self._themes)
        self.theme = names[(names.index(self.theme) + 1) % len(names)]
