"""Remembers in the user's folder what is asked and tuned, offers what a session that was cut off had tuned, and lists
the questions that were asked before and those that the repository suggests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from secateur.engine import Engine
from secateur.errors import SecateurError
from secateur.example_queries import ExampleQuery, example_queries
from secateur.remembered.inspector_session import UnfinishedSession, changes, with_changes
from secateur.settings import with_values
from secateur.terminal import clip, visible

from secateur_tui.background import Cancelled
from secateur_tui.pages.search import SearchPage
from secateur_tui.part import ScreenPart
from secateur_tui.parts.asking import Asking
from secateur_tui.screen import Bench
from secateur_tui.styled_text import Line, Span, line, wrap_words
from secateur_tui.widgets.chooser import ChoiceLine, Chooser, Offers

REST = 1.0
"""Seconds without a change after which the state is written."""

NAMED = 4
"""Values that an offer names; the rest is counted."""

_WRITING, _SUGGESTING = "remember", "suggest"


class Remembering(ScreenPart):
    """See the module docstring. Without a memory in the application it does nothing."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._suggested = False
        self._written: object = None

    @property
    def actions(self) -> Mapping[str, Callable[[], object]]:
        return {"again": self._again, "recover": self._recover, "forget": self._forget}

    def unavailable(self, action: str) -> str:
        if action in ("recover", "forget") and self._offer is None:
            return "no session was cut off"
        if action == "again" and not (self._bench.scene.recent or self._bench.scene.examples):
            return "nothing was asked here before"
        return ""

    def mounted(self) -> None:
        self._bench.scene.recent = self._bench.app.recent
        self._bench.scene.typing, self._bench.scene.offered = self._bench.in_field, self._describe_offer

    def job_ended(self, group: str) -> None:
        if group != _SUGGESTING:
            self._suggest()

    # --- writing down ---

    def painted(self) -> None:
        memory, state = self._bench.app.memory, self._bench.state
        if memory is None or state.answer is None:
            return
        now = tuple(state.inputs.items()), state.settings
        if now != self._written and not state.needs_answer:
            self._written = now
            self._bench.jobs.after(_WRITING, REST, self.write, matters=False)

    def write(self) -> None:
        """Saves what is asked and tuned now."""
        memory, state = self._bench.app.memory, self._bench.state
        if memory is not None:
            memory.tuned(self._bench.name_of_bench, state.inputs, changes(state.opened, state.settings))
            if isinstance(state.kind_page, SearchPage):
                memory.asked(state.question)

    # --- what was cut off ---

    @property
    def _offer(self) -> UnfinishedSession | None:
        offered = self._bench.app.unfinished
        return offered if offered is not None and offered.bench == self._bench.name_of_bench else None

    def notices(self, cells: int) -> Iterable[Line]:
        return wrap_words(f"! {offered}", cells, "warning") if (offered := self._describe_offer()) else ()

    def _describe_offer(self) -> str:
        """Describes the offer, with the keys that take it where the keys go now; "" if there is no offer."""
        offer = self._offer
        if offer is None:
            return ""
        named = [f"{name} {_in_short(value)}" for name, value in list(offer.values.items())[:NAMED]]
        more = f" and {len(offer.values) - NAMED} more" if len(offer.values) > NAMED else ""
        shown = self._bench.app.keymap.first_key
        leave = f"{shown('back')}, then " if self._bench.in_field else ""
        return (
            f"a session was cut off; it had tuned {clip(visible(', '.join(named)), 90)}{more}:"
            f" {leave}{shown('recover')} takes it up, {shown('forget')} forgets it"
        )

    def _recover(self) -> None:
        offer, bench = self._offer, self._bench
        if offer is None:
            return
        bench.change(with_changes(bench.state.settings, offer.values))
        known = bench.state.inputs
        texts = {name: text for name, text in offer.inputs.items() if isinstance(text, str) and name in known}
        bench.part(Asking).type(texts)
        self._forget()

    def _forget(self) -> None:
        self._bench.app.forget_unfinished()
        self._bench.paint()

    # --- questions ---

    def _suggest(self) -> None:
        """Asks the repository once for suggested questions, while no query is typed."""
        page, state = self._bench.kind_page, self._bench.state
        wanted = isinstance(page, SearchPage) and page.prepared and not state.asks and isinstance(page.engine, Engine)
        if wanted and not self._suggested and not self._bench.jobs.at_work:
            self._suggested = True
            self._bench.jobs.start(self._find_examples, _SUGGESTING)

    async def _find_examples(self) -> None:
        page, settings = self._bench.kind_page, self._bench.state.settings
        if not isinstance(page, SearchPage) or not isinstance(page.engine, Engine):
            return
        try:
            examples = await self._bench.jobs.run(partial(example_queries, page.engine, settings))
        except (SecateurError, Cancelled):  # the screen does without
            return
        self._bench.scene.examples = examples
        self._bench.paint()

    def _again(self) -> None:
        self._bench.app.push_screen(Chooser("Ask again", self._questions, "words of a question"), self._take)

    def _questions(self, typed: str) -> Offers:
        words, scene = typed.lower().split(), self._bench.scene
        offered: list[tuple[str, str, object]] = [(query, "asked before", query) for query in scene.recent]
        offered += [(case.query, f"{case.drawn_from}, cut at {case.budget:,}", case) for case in scene.examples]
        matching = [question for question in offered if all(word in question[0].lower() for word in words)]
        lines = [ChoiceLine(value, partial(_draw_question, text, beside)) for text, beside, value in matching]
        return Offers(lines, "" if lines else "no such question")

    def _take(self, question: ExampleQuery | str | None) -> None:
        if question is None:
            return
        if isinstance(question, ExampleQuery) and question.budget != self._bench.state.settings.effective_budget:
            self._bench.change(with_values(self._bench.state.settings, {"budget": question.budget}))
        text = question.query if isinstance(question, ExampleQuery) else question
        self._bench.part(Asking).type({self._bench.kind_page.fields[0].name: text})
        self._bench.go_home()


def _draw_question(text: str, beside: str, cells: int) -> Line:
    shown = clip(visible(" ".join(text.split())), max(10, cells - len(beside) - 4))
    return line(" ", shown, Span(f"  {beside}", "faint"))


def _in_short(value: object) -> str:
    """A setting in few words: of several items their number."""
    if isinstance(value, list | tuple | dict) and len(value) != 1:
        return f"({len(value):,})"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple | dict) else str(value)
