"""Makes the report on a decision of any kind, and draws it in the format that a file's name asks for.

report = report_of(kind, outcome, inputs, command)
draw_report(kind, outcome, report, "html")
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import structs

from secateur.errors import SecateurError, UsageError, shown
from secateur.kinds.base import Kind
from secateur.kinds.environment import Inputs
from secateur.kinds.protocols import Outcome
from secateur.kinds.run import command_line_of, describe_reason, render, report_page
from secateur.kinds.side_by_side import side_by_side
from secateur.ledger import Entry, State, Sums
from secateur.redaction import redact_typed
from secateur.render.page import Page, change, describe_redactions, shown_notices
from secateur.render.proofs import lever_words, sections_of
from secateur.render.report.content import CHANGED, DecisionReport, Excerpt, ReportItem, markdown_report, plain_lines
from secateur.render.report.html_page import html_page
from secateur.render.report.picture import svg_picture
from secateur.settings import Settings
from secateur.terminal import visible
from secateur.version import __version__

FORMS = (".html", ".md", ".json", ".svg")  # file extensions of reports
PLAIN = "plain"  # the format of plain lines, which has no file extension
MOST_ITEMS = 1_000  # most entries that are listed one by one; the others are counted
MOST_DROPPED = 200  # most dropped entries listed for a kind that finds its entries: the best of them
LONGEST_TEXT = 20_000  # longest text of an item, in characters
TEXT_LIMIT = 1_200_000  # most characters of all items' texts together; the outgoing text may have a quarter of that
LONGEST_NAME = 400  # longest name, place or fact, in characters
LONGEST_QUESTION = 20_000


def form_of(path: Path) -> str:
    """The format of a report by the extension of its file: "html", "md", "json", "svg". Raises UsageError: the
    extension is unknown, the file already exists, or its folder does not."""
    ending = path.suffix.lower()
    if ending not in FORMS:
        known = ", ".join(FORMS[:-1]) + f" or {FORMS[-1]}"
        what = f"ends in {shown(ending)}" if ending else "has no ending"
        example = shown(path.with_suffix(".html")) if path.name else "report.html"
        raise UsageError(f"{shown(path)} {what}: a report is written as {known}", hint=f"for example {example}")
    if path.exists() or path.is_symlink():
        raise UsageError(f"{shown(path)} already exists", hint="choose another name, or remove it")
    if not path.parent.is_dir():
        raise UsageError(f"there is no folder {shown(path.parent)}", hint="make it first, or choose another place")
    return ending.removeprefix(".")


def report_of(
    kind: Kind[Any, Any],
    outcome: Outcome[Any],
    inputs: Inputs,
    command: str,
    *,
    brief: bool = False,
    before: Outcome[Any] | None = None,
) -> DecisionReport:
    """Makes the report on an outcome whose texts can still be read.

    Args:
        before: an earlier outcome of the same input: what changed since is a part of the report.
        command: the command line that reproduces the decision.
        brief: without texts, and without the sections below the list.
    """
    ledger = outcome.ledger
    page = report_page(kind, outcome)
    question, source = page.headline or (_first_input(kind, inputs), "")
    budget = f"{kind.budget_in_force(outcome.settings, outcome):,}"
    listed = [(ledger.entries[number], number) for number in ledger.listed(MOST_DROPPED)]
    if len(listed) > MOST_ITEMS:
        best = sorted(listed, key=lambda pair: (pair[0].state is State.KEPT, -pair[0].before))
        chosen = {number for _, number in best[:MOST_ITEMS]}
        listed = [pair for pair in listed if pair[1] in chosen]
    unlisted = dict(ledger.sums)
    for entry, _ in listed:
        unlisted[entry.state] -= Sums(1, entry.before, entry.after)
    texts, without_text = ({}, 0) if brief else _read_texts(kind, outcome, listed)
    changed = _describe_changes(kind, before, outcome) if before is not None else ""
    further = [] if brief else _proven_sections(kind, outcome)
    return DecisionReport(
        kind=kind.wording.title,
        noun=kind.wording.entries or kind.wording.noun,
        question=_line(question, LONGEST_QUESTION, lines=True),
        source=_line(source),
        figures=[(label, _line(text)) for label, text in page.head],
        knobs=[
            (knob.label, _line(budget if knob.key == kind.budget.key else knob.text(outcome.settings)))
            for knob in kind.knobs
        ],
        budget=ledger.budget,
        before=ledger.before,
        after=ledger.after,
        wrapper=ledger.entries[-1].after,
        items=[_item(kind, outcome, entry, index, texts.get(index)) for entry, index in listed],
        unlisted={state: sums for state, sums in unlisted.items() if sums.number},
        changed=changed,
        further=[*([(CHANGED, changed)] if changed else []), *further],
        notices=shown_notices(outcome.warnings),
        command=visible(command),
        leaving=None if brief else _excerpt(kind.leaving(outcome), TEXT_LIMIT // 4),
        without_text=without_text,
        version=__version__,
    )


def command_of(kind: Kind[Any, Any], outcome: Outcome[Any], inputs: Inputs, opened: Settings) -> str:
    """The command line of an outcome. It does not ask a language model; the reader's configuration may."""
    settings = structs.replace(outcome.settings, llm=structs.replace(outcome.settings.llm, enabled=False))
    return redact_typed(command_line_of(kind, inputs, settings, opened, outcome), outcome.settings.redaction)


def draw_report(kind: Kind[Any, Any], outcome: Outcome[Any], report: DecisionReport, form: str) -> str:
    """Draws the report as "html", "md", "svg" or PLAIN; "json" is the output of the command."""
    if form == "json":
        return render(kind, outcome, "json")
    return {PLAIN: plain_lines, "html": html_page, "md": markdown_report, "svg": svg_picture}[form](report)


def _item(
    kind: Kind[Any, Any], outcome: Outcome[Any], entry: Entry, index: int, texts: tuple[str, str] | None
) -> ReportItem:
    description = kind.describe(outcome, index)
    before, after = texts or ("", "")
    went = _excerpt(after, LONGEST_TEXT) if entry.state is not State.DROPPED else None
    facts, proven = [*description.facts], outcome.explanation
    if entry.redactions:
        facts.append(("credentials taken out", describe_redactions(entry.redactions)))
    if proven is not None and index < len(proven.trials.ids):
        facts += (
            ("lever" if value else "levers", ", ".join(filter(None, (value, what))))
            for value, what in lever_words(proven, index)
        )
    return ReportItem(
        number=outcome.ledger.rank[index],
        id=_line(entry.id),
        name=_line(description.name),
        place=_line(description.place),
        beside=_line(description.beside),
        state=entry.state,
        reason=visible(description.because),
        before=entry.before,
        after=entry.after,
        position=entry.position,
        terms=entry.terms,
        facts=[(label, _line(text)) for label, text in facts],
        came=_excerpt(before, LONGEST_TEXT) if before != after or went is None else None,
        went=went,
    )


def _read_texts(
    kind: Kind[Any, Any], outcome: Outcome[Any], listed: Sequence[tuple[Entry, int]]
) -> tuple[dict[int, tuple[str, str]], int]:
    """Reads as many texts of entries as there is room for, outgoing ones first; returns them by index, and the number
    of entries without text."""
    texts: dict[int, tuple[str, str]] = {}
    room, without = TEXT_LIMIT, 0
    order = sorted(listed, key=lambda pair: (pair[0].state is State.DROPPED, pair[0].position or 0))
    for entry, index in order:
        try:
            before, after = kind.texts(outcome, index)
        except SecateurError:  # its file changed meanwhile: only this text is lost
            without += 1
            continue
        if entry.state is State.KEPT:
            before = after or before
        taken = min(len(before), LONGEST_TEXT) + (min(len(after), LONGEST_TEXT) if after != before else 0)
        if taken > room:
            without += 1
            continue
        room -= taken
        texts[index] = before, after
    return texts, without


def _first_input(kind: Kind[Any, Any], inputs: Inputs) -> str:
    first = kind.inputs[0]
    given = inputs[first.name] or ""
    names = given if isinstance(given, list) else [given]
    return ", ".join(Path(name).name or name if first.role == "path" else name for name in names)


def _proven_sections(kind: Kind[Any, Any], outcome: Outcome[Any]) -> list[tuple[str, str]]:
    proven = outcome.explanation
    sections = sections_of(proven, partial(describe_reason, kind, outcome)) if proven is not None else ()
    titled: list[tuple[str, str]] = []
    for part in sections:
        text = Page((), [structs.replace(part, title="", apart=False)]).text()
        if part.title or not titled:
            titled.append((part.title, text))
        else:
            titled[-1] = titled[-1][0], titled[-1][1] + text
    return titled


def _describe_changes(kind: Kind[Any, Any], before: Outcome[Any], outcome: Outcome[Any]) -> str:
    """Returns the tokens then and now, and a line for each entry that is decided otherwise; "" if none is."""
    sides = side_by_side(before, outcome)
    lines = [
        f"{sign} {_line(pair.id)}: {pair.right.entry.state.label if pair.right is not None else 'gone'}"
        + (f", {_line(kind.describe(outcome, pair.right.number).because)}" if pair.right is not None else "")
        for sign, pairs in (("+", sides.only_right), ("-", sides.only_left), ("~", sides.otherwise))
        for pair in pairs
    ]
    budgets = f"budget {change(sides.left.budget, sides.right.budget)}"
    return "\n".join([f"tokens {change(sides.left.after, sides.right.after)}, {budgets}", *lines, ""] if lines else [])


def _excerpt(text: str, most: int) -> Excerpt | None:
    if not text:
        return None
    return Excerpt(visible(text[:most], keep_newlines=True, keep_tabs=True), max(0, len(text) - most))


def _line(text: str, most: int = LONGEST_NAME, *, lines: bool = False) -> str:
    return visible(text if len(text) <= most else text[:most] + "…", keep_newlines=lines)
