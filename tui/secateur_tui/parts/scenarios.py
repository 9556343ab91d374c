"""Saves the screen as a scenario, and shows where decisions deviate from an opened or saved scenario.

What is decided on the screen is compared with the scenario after every decision, on the engine's thread; nothing waits
for it. The recorded decisions are the baseline until another one is pinned.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from secateur.errors import SecateurError
from secateur.output_files import write_output
from secateur.render.page import count_noun
from secateur.settings import Settings, lookup
from secateur.terminal import visible
from secateur_lab.evaluation.measuring import AT, Figures, figures_of
from secateur_lab.scenarios.assertions import Failure
from secateur_lab.scenarios.check import CheckVerdict, Result, ScenarioStatus, status_of
from secateur_lab.scenarios.location import propose_name
from secateur_lab.scenarios.report import MARKS, status_line, text_report
from secateur_lab.scenarios.running import decided_of, deciding_keys, session
from secateur_lab.scenarios.saving import save_scenario
from secateur_lab.scenarios.scenario import (
    STATE_LISTS,
    SUFFIX,
    Expect,
    Scenario,
    parse_scenario,
    read_text,
    set_assertion,
)
from secateur_lab.scenarios.toml_writing import replace_expected

from secateur_tui.parts.editors import open_editor
from secateur_tui.screen import Bench, ScreenPart
from secateur_tui.state.input_files import expand_path
from secateur_tui.styled_text import Line, Span, choose_fitting, clip_line, describe_error, line, wrap_words
from secateur_tui.widgets.dialogue import AskPage, ModalPage

_ROLES = {CheckVerdict.PASSED: "success", CheckVerdict.CHANGED: "warning", CheckVerdict.FAILED: "error"}


def draw_status(result: Result, key: str, cells: int) -> Line:
    """Draws whether a scenario holds, and the first reason why not. `key` shows all reasons."""
    more = f"  {key} tells all" if key and result.verdict is not CheckVerdict.PASSED else ""
    words = f"{MARKS[result.verdict]} {visible(status_line(result))}"
    drawn = clip_line(line(Span(words, _ROLES[result.verdict])), max(1, cells - len(more)))
    return (*drawn, Span(more, "faint"))


def draw_findings(result: Result, expect: Expect, cells: int) -> list[Line]:
    """Draws what `secateur check` prints of a scenario, and the states that it asserts."""
    text = text_report([result], verbose=True).rpartition("\n\n")[0]
    lines: list[Line] = []
    for row in text.split("\n"):  # a row keeps its indent where it goes on in further lines
        words = row.lstrip(" ")
        lines += wrap_words(words, cells, indent=" " * min(len(row) - len(words), cells // 2)) if words else [()]
    asserted = [f"{name} {id_}" for name in STATE_LISTS for id_ in getattr(expect, name)]
    assertions = [part for row in asserted for part in wrap_words(visible(row), cells, "faint")]
    return [*lines, *([(), line(Span("asserted", "bold")), *assertions] if assertions else [])]


def draw_figures(now: Figures, was: Figures, cells: int) -> Line:
    """Draws the figures of the judged items under these settings, beside those under the first settings."""
    if was != now:
        moved = (f"{was.recall:.2f}→{now.recall:.2f}", f"{was.ndcg:.2f}→{now.ndcg:.2f}")
        return line(" judged  ", Span(f"recall {moved[0]}  nDCG@{AT} {moved[1]}", "bold"))
    figures = Span(f"recall {now.recall:.2f}", "bold"), Span(f"  nDCG@{AT} {now.ndcg:.2f}", "bold")
    counts = f" ({now.found:,} of {now.judged:,})"
    return choose_fitting([line(" judged  ", figures[0], counts, figures[1]), line(" judged  ", *figures)], cells)


INSTANT = 0.2  # seconds up to which a comparison runs at every step of a knob; a slower one waits for a pause

_list_keys = lru_cache(maxsize=32)(deciding_keys)

_SAVING, _COMPARING = "saving", "comparing"

# List of `[expect]` that asserts a state.
_LISTS = {"kept": "must_keep", "shortened": "must_shorten", "summarised": "must_shorten", "dropped": "must_drop"}


@dataclass(frozen=True)
class HeldScenario:
    """The scenario that was opened or saved last, with its inputs."""

    path: Path
    scenario: Scenario
    inputs: Mapping[str, Any]
    settings: Settings
    text: str = ""  # of the file


class Scenarios(ScreenPart):
    """See the module docstring."""

    def __init__(self, bench: Bench) -> None:
        super().__init__(bench)
        opened = bench.kind_page.scenario
        self._held = (
            HeldScenario(opened.path, opened.scenario, opened.inputs, opened.loaded.settings) if opened else None
        )
        self._status: ScenarioStatus | None = None
        self._wrong = ""  # why the scenario cannot be compared
        self._followed: tuple[object, object] | None = None  # the answer and the scenario that were compared last
        self._took = 0.0  # seconds of the last comparison
        self._figures: Figures | None = None  # of the judged items for the answer on the screen; None: none is judged
        self._opened_figures: Figures | None = None  # the first of them
        self._recorded: object = None  # the baseline that the scenario's recorded decisions are

    def state_taken(self) -> None:
        self._status = None

    def mounted(self) -> None:
        self.refreshing()

    # --- following ---

    @property
    def following(self) -> bool:
        """Tells whether the screen shows the input of the held scenario."""
        return self._held is not None and dict(self.bench.given) == dict(self._held.inputs)

    def painted(self) -> None:
        followed = self.state.answer, self._held
        if self.state.outcome is not None and self.following and self._followed != followed:
            self._followed = followed
            self.jobs.stop(_COMPARING)
            if self._took < INSTANT:
                self._compare()
            else:  # of thousands of items: knobs that are held down would wait for it
                self.jobs.after(_COMPARING, self.app.pace.rest, self._compare)
        panel, now, was = self.bench.knobs, self._figures, self._opened_figures
        panel.tell(
            "scenario", draw_figures(now, was, max(1, panel.content_cells)) if now and was and self.following else ()
        )

    def _compare(self) -> None:
        held, state, outcome = self._held, self.state, self.state.outcome
        if held is None or outcome is None:
            return
        recorded, kind, answer, settings = held.scenario.recorded, self.kind, state.answer, state.settings
        wanted = recorded is not None and (state.baseline is None or state.baseline is self._recorded)

        def work() -> tuple[ScenarioStatus, Any, Figures | None]:
            began = time.perf_counter()
            status = status_of(held.path, held.scenario, kind, outcome, held.text)
            baseline = None
            if recorded is not None and wanted:
                baseline = state.kind_page.make_baseline(recorded, status.decided, settings)
            figures = figures_of(outcome, held.scenario.judged)
            self._took = time.perf_counter() - began
            return status, baseline, figures

        def take(made: tuple[ScenarioStatus, Any, Figures | None]) -> None:
            if (self.state.answer, self._held) != (answer, held):
                return  # a newer one is on its way
            (self._status, baseline, self._figures), self._wrong = made, ""
            self._opened_figures = self._opened_figures or self._figures
            if baseline is not None and (state.baseline is None or state.baseline is self._recorded):
                if made[0].result.compared.differences:
                    state.baseline = self._recorded = baseline
                else:  # the answer is what is recorded, and knows more
                    state.baseline, self._recorded = state.answer, None
            self.bench.paint()

        def fail(error: SecateurError) -> None:
            self._status, self._wrong = None, describe_error(error)
            self.bench.paint()

        self.jobs.work_out("scenario", work, take, fail)

    # --- saving ---

    def _saves(self, what: str) -> str:
        save = self.key("save")
        return f"; {save} saves {what}" if save else ""

    def no_check(self) -> str:
        if self._held is None:
            return f"no scenario is open{self._saves('this screen as one')}"
        return "" if self.following else f"input differs from the scenario's{self._saves('it')}"

    def no_accept(self) -> str:
        if reason := self._not_compared:
            return reason
        status, held = self._status, self._held
        recorded = status is not None and held is not None and held.scenario.recorded is not None
        accepted = recorded and not self._changed_settings and not (status and status.result.compared.differences)
        return "the scenario has these decisions already" if accepted else ""

    def no_must(self) -> str:
        if reason := self._not_compared:
            return reason
        if self._changed_settings:
            return f"the settings are others than the scenario's{self._saves('it again')}"
        return "this is no item" if self.state.entry_number is None else ""

    @property
    def _not_compared(self) -> str:
        return self.no_check() or ((self._wrong or "there is no answer yet") if self._status is None else "")

    @property
    def _changed_settings(self) -> list[tuple[str, str, str]]:
        if self._held is None:
            return []
        labels, then, now = {knob.key: knob.label for knob in self.kind.knobs}, self._held.settings, self.state.settings
        values = ((key, lookup(then, key), lookup(now, key)) for key in _list_keys(self.kind))
        return [(labels.get(key, key), str(was), str(is_now)) for key, was, is_now in values if was != is_now]

    def ask_name(self) -> None:
        """Asks for the name of the file, and saves the screen as a scenario."""
        held = self._held
        try:
            new = "" if held else propose_name(self.kind, self.bench.given, Path.cwd(), SUFFIX)
        except OSError as error:  # the working folder was removed
            self.app.say(f"there is no place for a scenario: {error.strerror}")
            return

        def is_held(path: Path) -> bool:
            try:
                return self._held is not None and path.resolve() == self._held.path.resolve()
            except (OSError, RuntimeError):
                return False

        def draw(cells: int, typed: str) -> Sequence[Line]:
            path = _complete_name(typed)
            sentence = "Its input, its settings, and assertions about the best items kept, for `secateur check`."
            words = wrap_words(sentence, cells)
            if is_held(path):
                again = "It is the scenario at hand: it is written again. Its assertions stay."
                words += wrap_words(again, cells, "accent")
            elif path.exists():
                words += wrap_words("There is such a file already: choose another name.", cells, "error")
            return words

        def save(typed: str) -> None:
            path = _complete_name(typed)
            if typed:
                self._save(path, again=is_held(path))

        self.bench.ask(AskPage("Save as a scenario", draw, _shorten_path(held.path) if held else new), save)

    def _save(self, path: Path, *, again: bool, exact: bool = False) -> None:
        kind, given, settings = self.kind, dict(self.bench.given), self.state.settings
        environ, progress = self.app.environ, self.jobs.report
        base = self.state.kind_page.outside.folder or Path.cwd()  # where relative inputs start

        def save() -> tuple[Scenario, str]:
            with session(environ, progress) as opened:
                made = save_scenario(kind, given, settings, path, opened, base=base, again=again, exact=exact)
            return made.scenario, f"saved{' again' if again else ''}: {_shorten_path(path)}"

        self._write(path, save, pin=True)

    def _write(self, path: Path, write: Callable[[], tuple[Scenario, str]], *, pin: bool = False) -> None:
        jobs, given, settings = self.jobs, dict(self.bench.given), self.state.settings

        def follow(made: tuple[Scenario, str]) -> None:
            self._held = HeldScenario(path, made[0], given, settings, read_text(path))
            if pin:
                self.state.pin_baseline()
            end(made[1])

        def end(message: str) -> None:
            jobs.activity = "" if jobs.activity == _SAVING else jobs.activity
            self.app.say(message)
            self.bench.paint()

        jobs.activity = jobs.activity or _SAVING
        self.bench.repaint_frame()
        jobs.work_out(_SAVING, write, follow, lambda error: end(describe_error(error)))

    def do_accept(self) -> None:
        held, status = self._held, self._status
        if held is None or status is None:
            return
        compared = status.result.compared
        decisions = f"{count_noun(len(compared.differences), 'decision is', 'decisions are')} recorded anew"
        if held.scenario.recorded is None:
            decisions = "Every decision is recorded, and compared from now on,"

        def draw(cells: int, _: str) -> Sequence[Line]:
            words = wrap_words(f"{decisions} in {visible(_shorten_path(held.path))}.", cells)
            for label, was, now in self._changed_settings:
                words += wrap_words(visible(f"{label} {was} → {now}"), cells, "accent")
            if compared.failures:
                fail = count_noun(len(compared.failures), "assertion fails", "assertions fail")
                words += wrap_words(f"{fail}, and will: only what is recorded is written.", cells, "error")
            return words

        self.bench.ask(AskPage("Accept", draw), lambda _: self._save(held.path, again=True, exact=True))

    def refreshing(self) -> None:
        """Reads the scenario's file again too: a person may have written into it."""
        try:
            if self._held is not None:
                text = read_text(self._held.path)
                self._held = replace(self._held, scenario=parse_scenario(text, self._held.path), text=text)
        except SecateurError as error:
            self.app.say(describe_error(error))

    # --- assertions ---

    def do_must(self) -> None:
        """Asserts the state of the item at the cursor; pressed again it asserts "kept", then nothing."""
        held, outcome, entry_number = self._held, self.state.outcome, self.state.entry_number
        if held is None or outcome is None:
            return
        path, kind, entry = held.path, self.kind, self.state.entry

        def turn_assertion() -> tuple[Scenario, str]:
            listed = decided_of(kind, outcome, [entry]).listed
            id_, state = next((item.id, item.entry.state.label) for item in listed if item.number == entry_number)
            text = read_text(path)
            expect = parse_scenario(text, path).expect
            present = next((name for name in STATE_LISTS if id_ in getattr(expect, name)), "")
            turns = list(dict.fromkeys(("", _LISTS[state], "must_keep")))
            name = turns[(turns.index(present) + 1) % len(turns)] if present in turns else _LISTS[state]
            text = set_assertion(text, id_, name)
            write_output(path, text)
            return parse_scenario(text, path), f"{name} {id_}" if name else f"nothing is asserted about {id_} any more"

        self._write(path, turn_assertion)

    # --- telling ---

    def do_check(self) -> None:
        """Shows what fails. Keys there remove or replace the first failed assertion, or open its line."""
        failures = self._status.result.compared.failures if self._status is not None else ()
        first = failures[0] if failures else None
        keys = {"e": "opens its line"} if first else {}
        keys |= {"x": "removes it"} if first and len(first.ids) == 1 else {}
        keys |= {"r": f"asserts it of {first.now}"} if first and isinstance(first.now, str) else {}

        def draw(cells: int) -> Sequence[Line]:
            if self._status is None or self._held is None:
                return wrap_words(visible(self._wrong or "there is no answer yet"), cells, "error")
            lines = draw_findings(self._status.result, self._held.scenario.expect, cells)
            if first is None:
                return lines
            of = wrap_words(visible(f"the first, {first.assertion}:"), cells, "faint")
            return [*of, *(line(Span(f" {key} ", "key"), visible(does)) for key, does in keys.items()), (), *lines]

        self.bench.ask(ModalPage("Scenario", draw, {key: key for key in keys}), partial(self._settle, first))

    def _settle(self, failure: Failure | None, key: str) -> None:
        held = self._held
        if held is None or failure is None:
            return
        if key == "e":
            open_editor(self.bench, held.path.absolute(), failure.line)
            self.refreshing()
            self.bench.paint()
            return
        new = failure.now if key == "r" and isinstance(failure.now, str) else None

        def write() -> tuple[Scenario, str]:
            text = replace_expected(read_text(held.path), failure.ids[0], new)
            write_output(held.path, text)
            return parse_scenario(text, held.path), f"asserted of {new}" if new else f"removed: {failure.assertion}"

        self._write(held.path, write)

    def notices(self, cells: int) -> list[Line]:
        """Draws in a line whether the scenario holds, and the first reason why it does not."""
        if self._held is None:
            return []
        name = visible(self._held.path.name)
        if not self.following:
            return wrap_words(f"{name}: the input differs now", cells, "faint")
        if self._wrong:
            return [clip_line(line(Span(f"! {name}: {visible(self._wrong)}", "error")), cells)]
        if self._status is None:
            return [clip_line(line(Span(f"{name}: comparing …", "faint")), cells)]
        return [draw_status(self._status.result, self.key("check"), cells)]


def _complete_name(typed: str) -> Path:
    path = Path(expand_path(typed))
    return path if path.name.endswith(SUFFIX) or not path.name else path.with_name(path.name + SUFFIX)


def _shorten_path(path: Path) -> str:
    try:
        return str(path.relative_to(Path.cwd())) if path.is_absolute() else str(path)
    except (OSError, ValueError):
        return str(path)
