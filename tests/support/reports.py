"""Reports on decisions as tests need them, with a text of choice in every place that a text from outside reaches."""

from __future__ import annotations

from collections.abc import Mapping
from html.parser import HTMLParser

from secateur.model import Notice, State
from secateur.render.report.content import DecisionReport, Excerpt, ReportItem, Sums
from secateur.terminal import visible

TERMS = {"relevance": 0.4, "hotspot": 0.25, "distance": 0.125}


def item(number: int, state: State, before: int, after: int, text: str = "x", **changed: object) -> ReportItem:
    """An item whose texts from outside are all `text`."""
    line, lines = visible(text), visible(text, keep_newlines=True, keep_tabs=True)
    position = number if state is not State.DROPPED else None
    values: dict[str, object] = {
        "number": number,
        "id": line,
        "name": line,
        "place": line,
        "beside": line,
        "state": state,
        "reason": line,
        "before": before,
        "after": after,
        "position": position,
        "terms": TERMS,
        "facts": [("id", line)],
        "came": Excerpt(lines + "\nsecond\n" if state is not State.KEPT else "") if state is not State.KEPT else None,
        "went": Excerpt(lines + "\n") if state is not State.DROPPED else None,
    }
    return ReportItem(**(values | changed))  # type: ignore[arg-type]


def report(text: str = "x", terms: Mapping[str, float] = TERMS) -> DecisionReport:
    """One item of every state, something that is not listed, a warning."""
    states = ((State.KEPT, 60, 60), (State.SHORTENED, 50, 20), (State.SUMMARISED, 40, 5), (State.DROPPED, 30, 0))
    items = [
        item(number, state, before, after, text, terms=terms) for number, (state, before, after) in enumerate(states, 1)
    ]
    line, lines = visible(text), visible(text, keep_newlines=True, keep_tabs=True)
    return DecisionReport(
        kind="Search",
        noun="Candidates",
        question=lines,
        source=line,
        figures=[("query", line)],
        knobs=[("budget", "100")],
        budget=100,
        before=280,
        after=90,
        wrapper=5,
        items=items,
        unlisted={State.DROPPED: Sums(7, 100, 0)},
        further=[("calls", lines)],
        notices=[Notice("odd_thing", text)],
        command=line,
        leaving=Excerpt(lines),
        without_text=2,
        version="1",
    )


class Parsed(HTMLParser):
    """A page as a browser reads it: its tags with attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return "".join(self.texts)

    def names(self) -> list[str]:
        return [tag for tag, _ in self.tags]

    def having(self, **attributes: str) -> list[dict[str, str | None]]:
        wanted = {name.rstrip("_"): value for name, value in attributes.items()}
        return [attrs for _, attrs in self.tags if wanted.items() <= attrs.items()]
