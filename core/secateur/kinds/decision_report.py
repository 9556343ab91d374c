"""Makes the report on a decision of any kind, and draws it in the format that a file's name asks for.

report = report_of(kind, outcome, inputs, command)
draw_report(kind, outcome, report, "html")
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from secateur.errors import SecateurError, UsageError, shown
from secateur.kinds.base import Kind
from secateur.kinds.entry_redactions import redacted_page
from secateur.kinds.environment import Inputs
from secateur.kinds.knobs import Knob
from secateur.kinds.outcomes import Outcome
from secateur.kinds.protocols import Finds
from secateur.kinds.run import command_line_of, render
from secateur.ledger import NOT_LISTED, WRAPPER, Entry, Ledger, State
from secateur.redaction import redact_typed
from secateur.render.notices import shown_notices
from secateur.render.page import Page, Section
from secateur.render.proofs import flip_words, sections_of
from secateur.render.report.content import DecisionReport, Excerpt, ReportItem, Sums
from secateur.render.report.html_page import html_page
from secateur.render.report.markdown_report import markdown_report
from secateur.render.report.picture import svg_picture
from secateur.render.report.plain_lines import plain_lines
from secateur.render.sentences import describe_redactions
from secateur.render.walk_shapes import Walk
from secateur.settings import Settings
from secateur.terminal import visible
from secateur.version import __version__

FORMS = (".html", ".md", ".json", ".svg")
"""Endings of the files that a report is written to."""

PLAIN = "plain"
"""The format of plain lines, which no file is named after."""

MOST_ITEMS = 1_000
"""Entries that are listed one by one; the others are counted."""

MOST_DROPPED = 200
"""Dropped entries that are listed of a kind that finds its entries: those that were next in line."""

LONGEST_TEXT = 20_000
"""Characters of one text."""

TEXT_LIMIT = 1_200_000
"""Characters of all texts of items together; and of the text that leaves, a quarter of that."""

LONGEST_NAME = 400
"""Characters of a name, a place or a fact."""

LONGEST_QUESTION = 20_000


def form_of(path: Path) -> str:
    """The format of a report by the ending of its file's name: "html", "md", "json", "svg".

    Raises:
        UsageError: the name has another ending, the file is there already, or its folder is not.
    """
    ending = path.suffix.lower()
    if ending not in FORMS:
        known = ", ".join(FORMS[:-1]) + f" or {FORMS[-1]}"
        what = f"ends in {shown(ending)}" if ending else "has no ending"
        raise UsageError(f"{shown(path)} {what}: a report is written as {known}", hint=f"for example {_renamed(path)}")
    if path.exists() or path.is_symlink():
        raise UsageError(f"{shown(path)} already exists", hint="choose another name, or remove it")
    if not path.parent.is_dir():
        raise UsageError(f"there is no folder {shown(path.parent)}", hint="make it first, or choose another place")
    return ending.removeprefix(".")


def report_of(
    kind: Kind[Any, Any], outcome: Outcome[Any], inputs: Inputs, command: str, *, brief: bool = False
) -> DecisionReport:
    """The report on an outcome whose texts can still be read.

    Args:
        command: the command line that decides the same again.
        brief: without texts, and without what stands below the list.
    """
    ledger, numbers = kind.listed(outcome, MOST_DROPPED)
    page = redacted_page(kind, outcome, kind.page(outcome))
    question, source = page.headline or (_first_input(kind, inputs), "")
    pairs = [(entry, number) for entry, number in zip(ledger.entries, numbers, strict=False) if entry.id != WRAPPER]
    listed = _most_telling(pairs)
    unlisted = _not_listed(ledger, (entry for entry, _ in listed))
    texts, without_text = ({}, 0) if brief else _texts(kind, outcome, listed)
    walk, further = (None, []) if brief else _walked(kind, outcome, page)
    wrapper = sum(entry.after for entry in ledger.entries if entry.id == WRAPPER)
    return DecisionReport(
        kind=kind.wording.title,
        noun=kind.wording.entries or kind.wording.noun,
        question=_line(question, LONGEST_QUESTION, lines=True),
        source=_line(source),
        figures=[(label, _line(text)) for label, text in page.head],
        knobs=[(knob.label, _line(_value(kind, knob, outcome))) for knob in kind.knobs],
        budget=ledger.budget,
        before=ledger.before,
        after=ledger.after,
        wrapper=wrapper,
        items=[_item(kind, outcome, entry, number, texts.get(number)) for entry, number in listed],
        unlisted=unlisted,
        further=further,
        notices=shown_notices(outcome.warnings),
        command=visible(command),
        leaving=None if brief else _excerpt(kind.leaving(outcome), TEXT_LIMIT // 4),
        without_text=without_text,
        version=__version__,
        walk=walk,
    )


def command_of(kind: Kind[Any, Any], outcome: Outcome[Any], inputs: Inputs, opened: Settings) -> str:
    """The command line of an outcome; whether a language model is asked is left to the reader's configuration."""
    settings = replace(outcome.settings, llm=replace(outcome.settings.llm, enabled=False))
    typed = command_line_of(kind, inputs, settings, opened, outcome)
    return redact_typed(typed, outcome.settings.redaction)


def draw_report(kind: Kind[Any, Any], outcome: Outcome[Any], report: DecisionReport, form: str) -> str:
    """The text of the file: "html", "md", "svg", or PLAIN; "json" is what the command prints."""
    if form == "json":
        return render(kind, outcome, "json")
    return {PLAIN: plain_lines, "html": html_page, "md": markdown_report, "svg": svg_picture}[form](report)


def _renamed(path: Path) -> str:
    return shown(path.with_suffix(".html")) if path.name else "report.html"


def _most_telling(pairs: Sequence[tuple[Entry, int]]) -> Sequence[tuple[Entry, int]]:
    """So many entries as are listed: those that changed before those that are as they came; in their order."""
    if len(pairs) <= MOST_ITEMS:
        return pairs
    best = sorted(pairs, key=lambda pair: (pair[0].state is State.KEPT, -pair[0].before, pair[1]))[:MOST_ITEMS]
    return sorted(best, key=lambda pair: pair[1])


def _not_listed(ledger: Ledger, listed: Iterable[Entry]) -> dict[State, Sums]:
    """Sums by state of what stands in the ledger and not in the list."""
    named = {id(entry) for entry in listed}
    sums: dict[State, Sums] = {}
    for entry in ledger.entries:
        if id(entry) in named or entry.id == WRAPPER:
            continue
        number = int(entry.figures.get("items", 1)) if entry.id.startswith(NOT_LISTED) else 1
        sums[entry.state] = sums.get(entry.state, Sums()) + Sums(number, entry.before, entry.after)
    return sums


def _item(
    kind: Kind[Any, Any], outcome: Outcome[Any], entry: Entry, number: int, texts: tuple[str, str] | None
) -> ReportItem:
    told = kind.describe(outcome, number)
    before, after = texts or ("", "")
    went = _excerpt(after, LONGEST_TEXT) if entry.state is not State.DROPPED else None
    return ReportItem(
        number=number + 1,
        id=_line(entry.id),
        name=_line(told.name),
        place=_line(told.place),
        beside=_line(told.beside),
        state=entry.state,
        reason=visible(told.because),
        before=entry.before,
        after=entry.after,
        position=entry.position,
        terms=entry.terms,
        facts=[(label, _line(text)) for label, text in (*told.facts, *_taken(entry), *_flips(outcome, number))],
        came=_excerpt(before, LONGEST_TEXT) if before != after or went is None else None,
        went=went,
    )


def _taken(entry: Entry) -> Iterator[tuple[str, str]]:
    """The credentials that were taken out of an entry, where there were any."""
    if entry.redactions:
        yield "credentials taken out", describe_redactions(entry.redactions)


def _flips(outcome: Outcome[Any], number: int) -> Iterator[tuple[str, str]]:
    """The values that turn an entry, where that was proven."""
    if outcome.explanation is not None and number < len(outcome.explanation.trials.ids):
        for value, what in flip_words(outcome.explanation, number):
            yield "turns at" if value else "turns", ", ".join(filter(None, (value, what)))


def _texts(
    kind: Kind[Any, Any], outcome: Outcome[Any], listed: Sequence[tuple[Entry, int]]
) -> tuple[dict[int, tuple[str, str]], int]:
    """The texts of entries by number, as many as there is room for, what goes out first; and how many have no room."""
    texts: dict[int, tuple[str, str]] = {}
    room, without = TEXT_LIMIT, 0
    order = sorted(listed, key=lambda pair: (pair[0].state is State.DROPPED, pair[0].position or 0, pair[1]))
    for entry, number in order:
        try:
            before, after = kind.texts(outcome, number)
        except SecateurError:  # its file changed meanwhile: that costs this text alone
            without += 1
            continue
        if entry.state is State.KEPT:
            before = after or before
        taken = min(len(before), LONGEST_TEXT) + (min(len(after), LONGEST_TEXT) if after != before else 0)
        if taken > room:
            without += 1
            continue
        room -= taken
        texts[number] = before, after
    return texts, without


def _first_input(kind: Kind[Any, Any], inputs: Inputs) -> str:
    """The text that was asked, or the names of the files that were read."""
    first = kind.inputs[0]
    given = inputs[first.name] or ""
    named = given if isinstance(given, list) else [given]
    return ", ".join(Path(one).name or one if first.role == "path" else one for one in named)


def _walked(kind: Kind[Any, Any], outcome: Outcome[Any], page: Page) -> tuple[Walk | None, list[tuple[str, str]]]:
    """The calls around what goes out, and the sections below the list; nothing where they cannot be had any more, which
    costs them alone."""
    if not isinstance(kind, Finds):
        return None, _titled(sections_of(outcome.explanation)) if outcome.explanation is not None else []
    try:
        walk, sections = kind.walked(outcome, page)
    except SecateurError:
        return None, []
    return walk, _titled(sections)


def _titled(sections: Iterable[Section]) -> list[tuple[str, str]]:
    """Sections as title and text; one without a title goes on with that before it."""
    told: list[tuple[str, str]] = []
    for part in sections:
        text = _rows_of(part)
        if part.title or not told:
            told.append((part.title, text))
        else:
            told[-1] = told[-1][0], told[-1][1] + text
    return told


def _rows_of(section: Section) -> str:
    """The rows of a section as lines."""
    return Page((), [replace(section, title="", apart=False)]).text()


def _value(kind: Kind[Any, Any], knob: Knob, outcome: Outcome[Any]) -> str:
    """The value of a knob; of a budget that follows from something else the one in force."""
    if knob.key != kind.budget.key:
        return knob.text(outcome.settings)
    return f"{kind.budget_in_force(outcome.settings, outcome):,}"


def _excerpt(text: str, most: int) -> Excerpt | None:
    if not text:
        return None
    return Excerpt(visible(text[:most], keep_newlines=True, keep_tabs=True), max(0, len(text) - most))


def _line(text: str, most: int = LONGEST_NAME, *, lines: bool = False) -> str:
    cut = text if len(text) <= most else text[:most] + "…"
    return visible(cut, keep_newlines=lines)
