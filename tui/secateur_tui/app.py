"""The application: opens what is inspected and shows the benches."""

import asyncio
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, chdir, closing
from functools import partial
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, cast

from msgspec.structs import replace
from secateur import directories
from secateur.engine import Engine
from secateur.errors import UsageError
from secateur.kinds import registry
from secateur.kinds.base import Kind
from secateur.model import Notice
from secateur.output_files import write_output
from secateur.remembered.store import first_time
from secateur.settings import Settings
from secateur.terminal import visible
from secateur_lab.replays.recorder import Recorder
from secateur_lab.replays.recording import Recording
from secateur_lab.replays.replaying import root_for
from secateur_lab.scenarios.check import OpenedScenario
from secateur_lab.scenarios.running import session
from textual.app import SystemCommand
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.screen import ModalScreen, Screen

from secateur_tui import actions
from secateur_tui.animation import animate_recording
from secateur_tui.background import reduce_collections
from secateur_tui.host import Host, Pace, RecordedStop
from secateur_tui.pages.kind_page import FolderPage, KindPage
from secateur_tui.pages.search import SearchPage
from secateur_tui.parts import PARTS
from secateur_tui.parts.asking import Asking
from secateur_tui.replay_player import ReplayPlayer
from secateur_tui.screen import Bench
from secateur_tui.state.bench_state import BenchState

QUIT_PATIENCE = 0.5  # seconds that quitting waits for the engine, so that it can put its index away

# The pace of a screen that follows: nothing is proven of an answer before it has stood for longer than a look.
FOLLOWING = Pace(watch=1.0, rest=2.0)

INTERRUPTED = 130  # exit code after Ctrl-C, as of every command


class ActionCommands(Provider):
    """The actions of the registry in the command palette. One is done each time it is open: Enter may be typed ahead
    twice."""

    _chosen = False

    async def discover(self) -> Hits:
        for action, text in self._commands():
            yield DiscoveryHit(Content(text), partial(self._do, action), text)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for action, text in self._commands():
            score = matcher.match(text)
            if score > 0:
                yield Hit(score, matcher.highlight(text), partial(self._do, action), text)

    def _commands(self) -> Iterator[tuple[str, str]]:
        """Yields (action, its label, keys and help), what people do most first, but not that of the palette."""
        most = dict.fromkeys((*actions.MOST_USED, *actions.BY_ID))
        keymap = cast("Host", self.app).keymap
        for action in (actions.BY_ID[id_] for id_ in most if id_ != "palette"):
            keys = " ".join(map(actions.key_name, keymap.keys[action.id]))
            yield action.id, f"{action.label}{f' ({keys})' if keys else ''}: {action.help}"

    def _do(self, action: str) -> None:
        if isinstance(self.screen, Bench) and not self._chosen:
            self._chosen = True
            self.screen.action_do(action)


class Inspector(Host):
    """`Inspector(engine, settings, path="orders").run()`; without an engine `path` is the file for `bench`, and
    `opener` opens folders typed later.

    `folder` is what the other benches that read folders start on; `scenario` is what the first bench shows, under the
    settings that it says.
    """

    TITLE = "secateur"
    COMMANDS: ClassVar[set[type[Provider]]] = {ActionCommands}  # type: ignore[assignment]
    ALLOW_SELECT = False

    def __init__(
        self,
        engine: Engine | None,
        settings: Settings,
        *,
        path: str,
        bench: str = "search",
        query: str = "",
        inputs: Mapping[str, str] = MappingProxyType({}),
        folder: str = "",
        scenario: OpenedScenario | None = None,
        environ: Mapping[str, str] | None = None,
        opener: Callable[[str, Settings], Engine] | None = None,
        theme_folders: Sequence[Path] = (),
        pace: Pace | None = None,
        player: ReplayPlayer | None = None,
    ) -> None:
        super().__init__(settings, theme_folders, pace)
        self.engine = engine
        self.environ = os.environ if environ is None else environ
        self._settings, self._opener, self._player = settings, opener, player
        self._path, self._folder, self._first, self._scenario = path, folder, bench, scenario
        self._inputs = {"path": path, **inputs, "query": visible(query, keep_newlines=True)}  # of the first bench
        self._benches: dict[str, Bench] = {}
        if player is not None:
            player.stage = self

    def bench(self, name: str) -> Bench | None:
        """Returns the bench of a kind, made where somebody first looks at it: most sessions see one or two, and kinds
        take a while to import. None for a search while no folder is open."""
        if name not in self._benches and (name != "search" or self.engine is not None):
            self._put(name, self._make_bench(name))
        return self._benches.get(name)

    def _put(self, name: str, bench: Bench) -> None:
        self._benches[name] = bench
        self.install_screen(bench, name)

    def _make_bench(self, name: str) -> Bench:
        engine, scenario, settings = self.engine, self._scenario, self._settings
        inputs: Mapping[str, Any] = self._inputs
        if name == self._first and scenario is not None:  # how the screen looks and which keys there are is the user's
            settings, inputs = replace(scenario.loaded.settings, ui=settings.ui), scenario.inputs
            page: KindPage[Any, Any] = page_of(scenario.kind, scenario)
            if engine is not None:
                page = SearchPage(engine, inputs["path"], inputs["rev"], scenario)
            return bench_on(page, settings, page.texts_of(inputs))
        if name == "search":
            assert engine is not None
            page = SearchPage(engine, self._path, inputs.get("rev") or None)
            return bench_on(page, settings, {"query": inputs["query"]})
        page = page_of(registry.get_kind(name))
        if self._folder and page.kind.inputs[0].folders:
            return bench_on(page, settings, {"path": self._folder, "query": inputs["query"]})
        return bench_on(page, settings, inputs if name == self._first else {})

    def on_mount(self) -> None:
        self.push_screen(self._shown(self._first))
        if self.notices:
            self.say("\n".join(notice.message for notice in self.notices))
        if self._player is not None:
            self.run_worker(self._player.begin(), group="replay")

    @property
    def stop(self) -> RecordedStop | None:
        return self._player.drawn if self._player is not None else None

    def replay(self, by: int) -> None:
        if self._player is not None:
            self.run_worker(self._player.move(by), group="replay")

    @property
    def at_work(self) -> bool:
        playing = self._player is not None and self._player.busy
        return playing or any(screen.jobs.busy for screen in self.screen_stack if isinstance(screen, Bench))

    def on_app_focus(self) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, Bench):
                screen.returned_to()

    def action_help_quit(self) -> None:
        """Leaves at once on Ctrl-C, whatever is under way, with the exit code of an interruption. In a field with
        marked text Ctrl-C copies that text."""
        self.exit(INTERRUPTED)

    def show_bench(self, name: str) -> None:
        while isinstance(self.screen, ModalScreen):  # else the other bench would take its place, on top of this one
            self.screen.dismiss(None)
        there, here = self._shown(name), self.present()
        # What is asked here is asked there too, where both read the same folder and nothing is asked there.
        query = here.state.inputs.get("query", "")
        same = all(bench.name_of_bench == "search" or bench.kind_page.kind.inputs[0].folders for bench in (here, there))
        if there is not here and self._player is None and query and same and not there.state.inputs.get("query", query):
            if there.standing:
                there.part(Asking).type({"query": query})
            else:
                there.state.type("query", query)
        self.switch_screen(there)

    def _shown(self, name: str) -> Bench:
        if (bench := self.bench(name)) is not None:
            return bench
        return bench_on(FolderPage(registry.get_kind(name), self._open_folder), self._settings, {})

    def place_messages(self) -> None:
        if not self.screen_stack:
            return
        if isinstance(self.screen, Bench):
            self.screen.place_messages()
        for holder in self.screen.query("ToastHolder"):  # Textual leaves those of earlier messages, each a row high
            if not holder.children:
                holder.remove()

    def _open_folder(self, path: str) -> None:
        """Opens a folder for the Search bench and shows it instead of the screen where the folder was typed."""
        if self._opener is None:
            raise UsageError("no folder can be opened here", hint="start the inspector on it: secateur inspect FOLDER")
        self.engine = self._opener(path, self._settings)
        self.add_search(BenchState(SearchPage(self.engine, path), self._settings, {}))

    def add_search(self, state: BenchState[Any]) -> None:
        """Shows a search on a folder that was opened."""
        self._put("search", Bench(state, PARTS))
        self.show_bench("search")

    def present(self) -> Bench:
        """Returns the bench that is shown."""
        return next(screen for screen in reversed(self.screen_stack) if isinstance(screen, Bench))

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:  # noqa: ARG002
        return ()  # the registry of actions is all there is


def bench_on(page: KindPage[Any, Any], settings: Settings, typed: Mapping[str, str]) -> Bench:
    """Returns the screen of a page; `typed` are the texts of its fields."""
    return Bench(BenchState(page, settings, dict(typed)), PARTS)


# Kinds with a page class of their own; any other kind uses `KindPage`. A search is opened on an engine, and has
# `SearchPage`.
PAGES: Mapping[str, str] = {
    "files": "FilesPage",
    "conversation": "ConversationPage",
    "envelope": "EnvelopePage",
    "diff": "DiffPage",
    "log": "LogPage",
}


def page_of(kind: Kind[Any, Any], opened: OpenedScenario | None = None) -> KindPage[Any, Any]:
    """Returns the page of a kind that is not a search."""
    if kind.name not in PAGES:
        return KindPage(kind, opened)
    module = import_module(f"secateur_tui.pages.{kind.name}")  # late: it imports what its kind decides with
    page: KindPage[Any, Any] = getattr(module, PAGES[kind.name])(kind, opened)
    return page


def run(
    path: str | Path,
    *,
    settings: Settings,
    inputs: Mapping[str, str] = MappingProxyType({}),
    bench: str = "search",
    notices: Sequence[Notice] = (),
    scenario: OpenedScenario | None = None,
    record: Path | None = None,
    follow: bool = False,
    cases: Sequence[Path] = (),
    serve: Sequence[str] | None = None,
    replay: Recording | None = None,
    picture: Path | None = None,
    cache_dir: Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> int:
    """Opens `path` in a bench and returns the exit code.

    Args:
        inputs: texts for the bench's fields, by name.
        follow: what was read is looked at every second, and read on where it has grown.
        cases: folders of judged cases and scenarios; every turn of a knob says what it does to them.
        record: what is done is written into this file; see `secateur_lab.replays.recorder`.
        replay: shown in place of `path`, stop by stop.
        serve: words of the command that opens the inspector, which is shown in a browser in place of `path`.
        picture: the recording is drawn into this file, as an animated SVG, and no terminal is needed.
        notices: what was ignored while the settings were read.
        scenario: what `bench` shows in place of `path`; the settings are then the user's own.

    Raises:
        UsageError: there is no such bench.
        SecateurError: the engine cannot open `path`.
        KeyboardInterrupt: Ctrl-C was pressed; the terminal is as it was.
    """
    from secateur.sources.git_addresses import FetchOptions
    from secateur.sources.named import folder_of

    if serve is not None:
        from secateur_tui.serving import serve_pages

        return serve_pages(serve)
    if replay is not None:
        return play(replay, settings, picture=picture, environ=environ)
    if bench not in registry.benches():
        raise UsageError(f"there is no bench {bench}", hint="benches: " + ", ".join(registry.benches()))

    def open_engine(folder: str | Path, under: Settings, commit: str | None = None) -> Engine:
        return Engine.open(folder, under, rev=commit, notices=tuple(notices), cache_dir=cache_dir, environ=environ)

    def find_folder(folder: str) -> Path:
        return folder_of(folder, directories.cache_dir(variables), FetchOptions(environ=variables))

    variables = os.environ if environ is None else environ
    folder, engine = str(path) if bench == "search" else "", None
    if scenario is not None and bench == "search":
        outside, given = scenario.environment, scenario.inputs
        root = outside.folder_of(given["path"])
        engine = Engine.open(
            root,
            scenario.loaded.settings,
            rev=given["rev"] or None,
            environ=outside.environ,
            notices=outside.notices,
            within=outside.within,
        )
        folder = str(root)
    elif bench == "search":
        engine = open_engine(find_folder(folder), settings, inputs.get("rev") or None)
    app = Inspector(
        engine,
        settings,
        path=str(path),
        bench=bench,
        query=inputs.get("query", ""),
        inputs=inputs,
        folder=folder,
        scenario=scenario,
        environ=environ,
        opener=lambda folder, under: open_engine(find_folder(folder), under),
        theme_folders=(directories.config_dir(variables) / "themes",),
        pace=FOLLOWING if follow else None,
    )
    app.cases = tuple(cases)
    app.follows = follow
    if scenario is None and record is None:
        app.first_time = partial(first_time, directories.config_dir(variables), Path(path))
    with ExitStack() as stack:
        stack.enter_context(reduce_collections())
        if record is not None:
            recorder = Recorder(record, stack.enter_context(session(variables)), time.monotonic)
            app.recorder = stack.enter_context(closing(recorder))
        code = app.run()
    return _finish(app, code)


def open_replay(player: ReplayPlayer, pace: Pace, theme_folders: Sequence[Path] = ()) -> Inspector:
    """Returns the inspector on what a recording opens first; raises as `ReplayPlayer.first`."""
    first = player.first()
    kind, inputs = first.kind.name, first.inputs
    texts = {name: inputs[name] for name in ("query", "path")} if kind == "search" else {}
    typed = texts or page_of(first.kind).texts_of(inputs)
    return Inspector(
        player.open_engine(first) if kind == "search" else None,
        first.settings,
        path=typed["path"],
        bench=kind,
        query=typed.get("query", ""),
        inputs={**typed, "rev": inputs.get("rev") or ""},
        theme_folders=theme_folders,
        pace=pace,
        player=player,
    )


def play(
    recording: Recording, own: Settings, *, picture: Path | None = None, environ: Mapping[str, str] | None = None
) -> int:
    """Shows a recording and returns the exit code; with `picture` draws it into a file.

    Args:
        own: settings of the user: their theme and keys alone count.

    Raises:
        SecateurError: what it opens first cannot be opened, or the picture cannot be written.
        KeyboardInterrupt: Ctrl-C was pressed.
    """
    variables = os.environ if environ is None else environ
    with session(variables) as opened, chdir(root_for(recording)):
        player = ReplayPlayer(recording, opened, own)
        app = open_replay(player, Pace(watch=0.0), (directories.config_dir(variables) / "themes",))
        if picture is None:
            return _finish(app, app.run())
        drawn = asyncio.run(animate_recording(app, player))
        _finish(app, 0)
    write_output(picture, drawn)
    return 0


def _finish(app: Inspector, code: int | None) -> int:
    # Otherwise it is at something long, and the index is safe as it is.
    if app.thread.wait_for_end(QUIT_PATIENCE) and isinstance(app.engine, Engine):
        app.engine.close()
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    return app.return_code or code or 0
