"""Formats a report as text, for every kind: labelled figures, warnings, then tables under titles. Decides which notices
an answer shows: a pack that holds an item has none, because a model reads it.

Formats reason codes and figures as sentences, for screen, text, JSON and docs. No other module does that.

A sentence has no subject: it follows "kept: " or "dropped: ", or a name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from secateur.ledger import ModelCall, Notice, State
from secateur.terminal import visible

if TYPE_CHECKING:
    from secateur.model import Selection
from collections.abc import Mapping
from string import Formatter

from secateur.ledger import Entry, Figure, Reason, Redaction

_NAMED_REDACTIONS = 5  # most credentials of one input in a sentence
_OLDEST = "is among the oldest, and {over:# token|# tokens} still had to go"
_LEFT = "{left:; nothing was left|, only # left|, only # left}"
_ROUTINE = (
    "{lines:a routine line|# routine lines}{away:|, # line or more from any error, match or end|, # or more from any"
    " error, match or end}; "
)
_NO_MATCH = "{lines:it does|its # lines do} not match the query; "
_NO_PART = (
    "{parts:as a whole it needs|the smallest of # parts needs} {part:,}, only {left:,} left then: {first:# other|#"
    " others} came first"
)
_NO_LINE = "no room was left for {lines:it|them}: {first:# other|# others} came first"
_PIECES = "its relevant pieces go out: the whole needs {needed:,}"
_CUT = f"{_OLDEST}; cuts begin above {{zone:,}} tokens and go down to {{target:,}} (cut_to)"

# By reason; figures of the entry in braces, with a format or with the words for one and for several, or for none, one
# and several.
SENTENCES: Mapping[Reason, str] = {
    Reason.FITS: "there was room: needed {needed:,} of {left:,} left",
    Reason.NO_ROOM: f"needs {{needed:,}}{_LEFT} then",
    Reason.LARGER_THAN_BUDGET: "needs {needed:,}, more than the whole budget of {budget:,}",
    Reason.ZERO_BUDGET: "the budget is 0, needs {needed:,}",
    Reason.WRAPPER: "text around the items: headings, names, punctuation",
    Reason.NOT_LISTED: "stands for items that are not listed: {items:,}",
    Reason.DAMAGED: "it cannot be read, so it stays as it is",
    Reason.PINNED: "pinned: needed {needed:,} of {left:,} left",
    Reason.SIGNATURE: f"its declaration fits; the whole needs {{needed:,}}{_LEFT} then",
    Reason.EXCLUDED: "excluded",
    Reason.BEYOND_DEPTH: "further from the anchors than max_depth",
    Reason.NO_SIGNAL: "its priority is 0",
    Reason.ELSEWHERE: "outside the part that --only names",
    Reason.DISABLED: "pruning is switched off",
    Reason.WHOLE: "it is relevant, and within the share for whole files",
    Reason.NOT_SHORTER: "its snippets would take as many tokens as the whole",
    Reason.SNIPPETS: _PIECES + _LEFT,
    Reason.NOT_RELEVANT: "it scores {score:g}, {setting} asks for {asked:g}: {value:g} of the best, {best:g}",
    Reason.SYSTEM: "system messages always stay",
    Reason.ASIDE: "no model is sent this line; it stays as it is",
    Reason.RENEWED: "the result that it refers to is cleared, so it has the text again",
    Reason.UNPAIRED: "its call or its result may be in a message that cannot be read",
    Reason.LAST_USER: "it is the last thing the user said, which always stays",
    Reason.FIRST_USER: "it is the first thing the user said, which these settings keep",
    Reason.LATEST: "it is the latest step, which always stays",
    Reason.BESIDE_PINNED: "a pinned message needs it: a call stays with its result, and a turn stays together",
    Reason.SUMMARY: "it is a summary, or joins one to the rest",
    Reason.SUMMARY_BY_MODEL: "it is a summary that a model wrote",
    Reason.KEPT: "nothing in it had to be cut, or may be cut",
    Reason.OLDEST_GROUP: f"it {_OLDEST}",
    Reason.OLDEST_RESULT: f"its result {_OLDEST}",
    Reason.SUPERSEDED: "a later message shows a newer state of the same file",
    Reason.OUTDATED: "the file was changed later, so it shows an old state",
    Reason.REPEATED: "a later message says the same",
    Reason.LONG_RESULT: "its result was long, and was shortened as it came",
    Reason.TARGET: "the target snapshot is always returned unchanged",
    Reason.LONG_LIST: "stage 1: a list of more than {first:,} items keeps its first ones",
    Reason.LONG_TEXT: "stage 2: a text of more than {characters:,} characters keeps its beginning",
    Reason.REFERENCE_ONLY: "stage 3: entries and other fields become references, the largest savings first",
    Reason.SUMMARY_SHORTENED: "after the stages, all summaries are shortened evenly",
    Reason.SUMMARY_DROPPED: "after the stages, summaries are dropped, the last entry's first",
    Reason.HASH_DROPPED: "after the stages, summaries and then hashes are dropped, the last entry's first",
    Reason.ENTRIES_DROPPED: "after the stages, entries are dropped, the last first, and finally whole fields",
    Reason.PATTERN: "a pattern of chunking.ignore ({pattern})",
    Reason.LOCKFILE: "lock file ({name})",
    Reason.VENDORED: "third-party ({sign})",
    Reason.BUILD: "build output ({sign})",
    Reason.EDITOR: "editor settings ({sign})",
    Reason.BINARY: "binary ({sign})",
    Reason.GENERATED: "generated ({sign})",
    Reason.MINIFIED: "minified",
    Reason.TOO_LARGE: "too large ({bytes:,} bytes, the limit is {limit:,})",
    Reason.LONG_LINE: "larger than a chunk: {parts:# part|# parts}; shortened ({where}: {characters:,} characters)",
    Reason.SPLIT: "larger than a chunk: {parts:# part|# parts}",
    Reason.SOME_LINES: "room for {shown:,} of {lines:# line|# lines}",
    Reason.FIRST_FAILURE: "it is the first thing that went wrong",
    Reason.DISTINCT_ERROR: "it reports an error that no line before it reports",
    Reason.LAST_LINES: "it is among the last lines",
    Reason.MATCHES_QUERY: "it has words of the query",
    Reason.ROUTINE: _ROUTINE + _NO_LINE,
    Reason.RUN_RESULT: "it sums up a run",
    Reason.BESIDE_ERROR: "it is beside an error",
    Reason.REPEATS_EARLIER: "like earlier ones (numbers aside): {repeats:,} of its {lines:# line|# lines}",
    Reason.LONG_LINES: "lines are cut off after {longest:,} characters",
}

# By reason and figure, or several: the sentence if the entry has these figures, and none is 0.
VARIANTS: Mapping[tuple[Reason, str], str] = {
    **{
        (reason, "left"): "{steps}: {left}" for reason in Reason if Reason.LONG_LIST <= reason <= Reason.ENTRIES_DROPPED
    },
    (Reason.LONG_LIST, "item"): "stage 1: item {item:,} of {items:,}, after the first {first:,}",
    (Reason.SNIPPETS, "budget"): f"{_PIECES}, more than the whole budget of {{budget:,}}",
    (Reason.SNIPPETS, "setting"): f"{_PIECES}, {{setting}} leaves it {{left:,}}",
    (Reason.NO_ROOM, "marks"): f"needs {{needed:,}}, {{marks:,}} of them for marks of left-out lines{_LEFT} then",
    (Reason.NO_ROOM, "spared"): f"needs {{needed:,}} more than the marks that it replaces{_LEFT} then",
    (Reason.LARGER_THAN_BUDGET, "head"): (
        "needs {needed:,}, more than the {room:,} that the pack's first and last line leave of the budget of {budget:,}"
    ),
    (Reason.FITS, "chunk"): "fits",
    (Reason.FITS, "uncut"): "only dependency_digest and extension fields are ever cut",
    (Reason.FIRST_FAILURE, "sounds"): "it is the first that sounds like a failure",
    (Reason.DISTINCT_ERROR, "sounds"): "it sounds like an error that no line before it reports",
    (Reason.ROUTINE, "asked part left"): _NO_MATCH + _NO_PART,
    (Reason.ROUTINE, "part left"): _ROUTINE + _NO_PART,
    (Reason.ROUTINE, "asked"): _NO_MATCH + _NO_LINE,
    (Reason.REPEATS_EARLIER, "error_dropped"): "it repeats the error of line {error_dropped:,}, which is dropped too",
    (Reason.REPEATS_EARLIER, "error"): "it repeats the error of line {error:,}",
    (Reason.REPEATS_EARLIER, "equal_dropped"): (
        "{lines:it repeats|its # lines repeat} line {equal_dropped:,}, which is dropped too"
    ),
    (Reason.REPEATS_EARLIER, "equal"): "{lines:it repeats|its # lines repeat} line {equal:,}",
    (Reason.REPEATS_EARLIER, "like_dropped"): (
        "{lines:it is|its # lines are} like line {like_dropped:,} (numbers aside), which is dropped too"
    ),
    (Reason.REPEATS_EARLIER, "like"): "{lines:it is|its # lines are} like line {like:,} (numbers aside)",
    (Reason.REPEATS_EARLIER, "dropped"): (
        "its {lines:,} lines are like earlier ones (numbers aside); {dropped:# of these is|# of these are} dropped too"
    ),
    (Reason.REPEATED, "later_cut"): "messages[{later_cut}] says the same, and is not whole either",
    (Reason.REPEATED, "later"): "messages[{later}] says the same",
    (Reason.SUPERSEDED, "later_cut"): (
        "messages[{later_cut}] shows a newer state of the same file, and is not whole either"
    ),
    (Reason.SUPERSEDED, "later"): "messages[{later}] shows a newer state of the same file",
    (Reason.OUTDATED, "later"): "messages[{later}] changed the file, so it shows an old state",
    (Reason.OLDEST_GROUP, "target"): f"it {_CUT}",
    (Reason.OLDEST_RESULT, "wrote target"): f"what it wrote {_CUT}",
    (Reason.OLDEST_RESULT, "picture target"): f"its picture {_CUT}",
    (Reason.OLDEST_RESULT, "target"): f"its result {_CUT}",
    (Reason.OLDEST_RESULT, "wrote"): f"what it wrote {_OLDEST}",
    (Reason.OLDEST_RESULT, "picture"): f"its picture {_OLDEST}",
    (Reason.NO_ROOM, "capacity"): "no room (a line with the file's header takes more than {capacity:,} tokens)",
    (Reason.WRAPPER, "limit"): "rules, instructions and headings of every chunk",
    (Reason.DAMAGED, "fault"): "damaged in the diff ({fault})",
}


def fewer_together(wrapper: int) -> str:
    """Words for the tokens of a wrapper below 0: neighbours may take fewer tokens together than alone."""
    return f"{-wrapper:,} fewer together"


def sentence(entry: Entry) -> str:
    """Formats the reason of an entry with its figures. If a figure is missing, the rest is cut, or the code is used."""
    if entry.reason is Reason.WRAPPER and entry.after < 0:
        return f"together the items take {-entry.after:,} fewer tokens than one by one"
    return phrase(entry.reason, entry.figures)


def phrase(reason: Reason, figures: Mapping[str, Figure]) -> str:
    """Does the same for a reason and figures without an entry."""
    given = {name for name, figure in figures.items() if figure}
    varied = (text for (code, names), text in VARIANTS.items() if code is reason and given.issuperset(names.split()))
    return _fill_template(next(varied, SENTENCES[reason]), figures) or reason.label.replace("_", " ")


def _fill_template(template: str, figures: Mapping[str, Figure]) -> str:
    filled = ""
    for text, name, form, _ in Formatter().parse(template):
        filled += text
        if name is None:
            continue
        if name not in figures:
            return filled.rpartition(":")[0] or template.partition("{")[0].rpartition(",")[0] or filled.rstrip(" (")
        if form and "|" in form:  # words for one and for several, maybe with those for none: "nothing|# line|# lines"
            *none, one, several = form.split("|")
            words = none if none and not figures[name] else [one if figures[name] == 1 else several]
            filled += words[0].replace("#", f"{figures[name]:,}")
        else:
            filled += format(figures[name], form or "")
    return filled


def describe_redactions(redactions: Sequence[Redaction]) -> str:
    """Describes the credentials that were removed from an input: "aws-access-key in line 6, jwt in line 9", or ""."""
    return listed([f"{found.rule} in line {found.line:,}" for found in redactions], _NAMED_REDACTIONS)


LONGEST_NAME = 200  # most characters of a name in a sentence
# Codes of notices about what is installed: `index` and `status` say them and JSON keeps them. In every answer for
# people they would hide the others.
OF_INSTALLATION = frozenset({"not_scanned"})

NO_MATCH = Notice("no_match", "Nothing that is indexed matches the query.")


def notices_of(selection: Selection) -> tuple[Notice, ...]:
    """Returns the selection's warnings, once each. They explain why an empty answer is empty; an empty pool without a
    warning gets one here."""
    notices = tuple(dict.fromkeys(selection.warnings))
    return notices if shown_notices(notices) or len(selection) else (NO_MATCH, *notices)


def shown_notices(notices: Iterable[Notice]) -> list[Notice]:
    """Returns the notices that an answer shows to people."""
    return [notice for notice in notices if notice.code not in OF_INSTALLATION]


def listed(names: Sequence[str], most: int = 3) -> str:
    """Formats the first of many names for a sentence."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(name[:LONGEST_NAME] for name in names[:most]) + more


LABEL_CELLS = 9  # cells for the labels of a page


class Column(Struct, frozen=True):
    """A column of a table. Wider cells push the rest of their row to the right."""

    width: int = 0
    right: bool = False  # aligned to the right, as numbers are
    gap: int = 2  # spaces before it


class Section(Struct, frozen=True):
    """Rows that belong together. Outside text in them is already safe (`terminal.visible`)."""

    rows: Sequence[Sequence[str] | str]  # cells of the first columns; a text is a whole row
    title: str = ""
    more: str = ""  # the last line, about rows that are not shown
    apart: bool = True  # an empty line above it
    columns: Sequence[Column] = ()


class Page(Struct, frozen=True):
    """A report before its layout."""

    head: Sequence[tuple[str, str]]  # label, figures; without a label the text stands alone
    sections: Sequence[Section] = ()
    notices: Sequence[Notice] = ()
    calls: Sequence[ModelCall] = ()
    label_cells: int = LABEL_CELLS
    headline: tuple[str, str] | None = None  # what was asked or read, and where that is from; None: the first input

    def text(self) -> str:
        """Formats the page, ending in a line break."""
        lines = [f"{label:<{self.label_cells}} {text}" if label else text for label, text in self.head]
        if self.calls:
            spent = sum(call.prompt_tokens + call.completion_tokens for call in self.calls)
            answered = sum(call.outcome == "answered" for call in self.calls)
            told = f"{answered:,} of {len(self.calls):,} questions answered, {spent:,} tokens"
            lines.append(f"{'model':<{self.label_cells}} {told}")
        lines += [f"! {notice.title}: {visible(notice.message)}" for notice in shown_notices(self.notices)]
        for section in self.sections:
            lines += [""] if section.apart else []
            lines += [section.title] if section.title else []
            lines += [row if isinstance(row, str) else _row(row, section.columns) for row in section.rows]
            lines += [section.more] if section.more else []
        return "\n".join(lines) + "\n"


_MOST_REDACTIONS = 5  # most credentials in one line


def add_redactions(page: Page, taken: Sequence[tuple[bool, str]]) -> Page:
    """Adds a line about removed credentials: for each, whether its item is in the output, and its rule and place as
    outside text. Returns the same page if there are none."""
    if not taken:
        return page
    going = [visible(what) for goes, what in taken if goes]
    others = len(taken) - len(going)
    text = ": " + ", ".join(going[:_MOST_REDACTIONS]) if going else ""
    more = f" and {len(going) - _MOST_REDACTIONS:,} more" if len(going) > _MOST_REDACTIONS else ""
    rest = f"; {others:,} in what does not go out" if others else ""
    secrets = f"{count_noun(len(going), 'credential')} taken out{text}{more}{rest}"
    return replace(page, head=(*page.head, ("secrets", secrets)))


_MOST_PINS = 5  # most pins that a report names
_PIN_WORDS = {
    State.KEPT: "goes out whole",
    State.SHORTENED: "goes out in part",
    State.SUMMARISED: "goes out in a summary",
    State.DROPPED: "does not go out",
}


def add_pins(page: Page, pins: Sequence[tuple[str, State, str]]) -> Page:
    """Adds a line about each pinned entry: its id, its state, and the reason where it is not whole."""
    lines = []
    for id_, state, reason in pins[:_MOST_PINS]:
        words = _PIN_WORDS[state] + ("" if state is State.KEPT else f": {reason}")
        lines.append(("pinned", f"{state.glyph} {visible(id_)} {visible(words)}"))
    more = [("", f"{len(pins) - _MOST_PINS:,} more are pinned")] if len(pins) > _MOST_PINS else []
    return replace(page, head=(*page.head, *lines, *more))


def change(before: int, after: int) -> str:
    """Formats figures of the input and of the output."""
    return f"{before:,} -> {after:,}"


def count_noun(count: int, noun: str, nouns: str = "") -> str:
    """Formats a number of things: "1 line", "2 lines"; `nouns`: the words for several, if an s is not enough."""
    return f"{count:,} {noun if count == 1 else nouns or f'{noun}s'}"


def line_range(first: int, last: int) -> str:
    """Formats a range of lines: "690-700", "690"."""
    return f"{first}-{last}" if first != last else f"{first}"


def not_shown(rows: int, what: str = "") -> str:
    """Returns the last line of a section about rows that are not shown; "" if all are."""
    return f"  ... and {rows:,} more{what} (--verbose lists all)" if rows else ""


def _row(cells: Sequence[str], columns: Sequence[Column]) -> str:
    return "".join(
        " " * column.gap + (cell.rjust(column.width) if column.right else cell.ljust(column.width))
        for cell, column in zip(cells, columns, strict=False)
    )
