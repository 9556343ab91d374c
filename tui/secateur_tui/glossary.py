"""The glossary of the words on the screen: `?` lists them, and Why explains those that stand on it.

Knobs are explained by their settings.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from secateur.kinds.knobs import Knob, Steer
from secateur.model import Reason, State
from secateur.render.page import SENTENCES
from secateur.settings import key_of, keys

from secateur_tui.styled_text import Line, Span, wrap_words

# Letters before the glyph of a decision that the settings overrule.
SIGNS: Mapping[Steer, str] = {Steer.PIN: "P", Steer.EXCLUDE: "X", Steer.BOOST: "B", Steer.DAMP: "D"}

# Words of the budget's headline, its bar, the cut, and the line below the list.
BUDGET: Mapping[str, str] = {
    "kept": "is sent as it came",
    "shortened": "a part of it is sent",
    "summarised": "a summary is sent in its place",
    "dropped": "nothing of it is sent",
    "wrapper": "tokens around the items: headings, fences, names; and the error of an estimate",
    "fewer together": "tokens by which the whole is smaller than the sum of its items",
    "free": "tokens of the budget that are not used",
    "over": "tokens that are sent above the budget, because less cannot be sent",
    "reserve": "tokens of the model's window that are kept free for its answer",
    "was": "tokens of the ghost, and the difference to it",
    "chunk": "a part of a pull request that a model reads at once",
    "fewest": "the smallest number of chunks that these files need",
    "ghost": "the answer before the first change, or when x was pressed",
    "cut": "the line where the budget ends: the first item below it had no room",
    "last out": "the last item that is sent, by rank",
    "first dropped": "the first item that is not sent, by rank",
    "gap": "score of the last out minus score of the first dropped; below 0 if a smaller item fitted",
}

# Titles of the columns of all lists.
COLUMNS: Mapping[str, str] = {
    "#": "rank, or the number of a message; = marks what a provider's prompt cache still holds",
    "Δ": "places moved since the ghost, or tokens gained or lost; ! marks another decision",
    "name": "what it is called",
    "message": "the line of a log that says most, without its time",
    "in": "its place; under it a number: tokens that came in",
    "out": "tokens that are sent; · if all that came in",
    "tok": "tokens of the whole item",
    "tokens": "tokens of the item",
    "▾": "marks the column that orders the list",
    "prio": "the priority: the sum of the weighted terms",
    "dens": "the density: priority per token, by which the strategy density orders",
    "rel": "the relevance alone",
    "hot": "the hotspot alone",
    "dist": "1 / steps of calls from an anchor",
    "pref": "the preference alone",
    "file": "the file",
    "chunk": "the chunks of the file, after those before the last change",
    "folder": "the folder that the file is in",
    "score": "how well the file answers the query, from 0 to 10",
    "section": "a section of the envelope, or a field of it",
    "stage": "what shortened it: 1 lists and references, 2 long texts, 3 whole sections",
    "characters": "characters that came in, and that are sent",
    "role": "who said it",
    "beginning": "how it begins",
    "tool": "the tool that it calls, or whose result it has",
    "saved": "tokens that came in and are not sent",
    "share": "its share of the safe zone, as it is sent",
    "lines": "lines added and removed, the lines of a part, or why it is left out; in a log, line numbers",
}

# Signs before the name of an item; a letter takes the place of the exclamation mark, in its colour.
MARKS: Mapping[str, str] = {
    **{state.glyph: state.label for state in State},
    "!": "another decision than that of the ghost",
    SIGNS[Steer.PIN]: "pinned: sent before all others",
    SIGNS[Steer.EXCLUDE]: "excluded: never sent",
    SIGNS[Steer.BOOST]: "boosted: its priority is multiplied by more than 1",
    SIGNS[Steer.DAMP]: "damped: its priority is multiplied by less than 1",
}

# Words of the page Why of a search, and of the weights.
TERMS: Mapping[str, str] = {
    "priority": "the sum of the terms below it; candidates are ordered by it",
    "relevance": "how well it answers the query, by its words, its names and its meaning; 0 to 1",
    "hotspot": "how often its file changes and how complex it is, which is where bugs are; 0 to 1",
    "distance": "1 / steps of calls from an anchor; an anchor has 1",
    "preference": "what you prefer in this repository",
    "boost": "your factor on the other terms",
    "anchor": "one of the best candidates, whose calls are followed",
    "lexical": "found by words of the query in its text",
    "semantic": "found by its meaning, through an embedding",
    "mention": "found because the query names its file or line",
    "graph": "found through calls from an anchor",
    "churn rank": "how often and how recently its file changed, among all files",
    "complexity rank": "how complex it is, among all code",
    "density": "priority per token",
    "re-run": "proven: the engine decided again with this change",
    "range": "the values of a weight between which the same items are sent",
}

_WEIGHT = "Weight of "

# Parts of the relevance, each as its weight is explained.
PARTS: Mapping[str, str] = {
    **{
        name.removeprefix("relevance."): (text := key.doc.removeprefix(_WEIGHT))[0].lower() + text[1:]
        for name, key in keys().items()
        if name.startswith("relevance.") and key.doc.startswith(_WEIGHT)
    },
    "penalty": "the share of relevance that a test, a document or an example loses",
}

# Words of the pages Compare and Curve, and of the sections of a report.
PAGES: Mapping[str, str] = {
    "only left": "items that only the decision on the left sends",
    "only right": "items that only the decision on the right sends",
    "both": "items that both decisions send; cut otherwise: in another state or length",
    "worth": "the sum of the priorities of what is sent whole",
    "knee": "the budget above which a token brings less than the average",
    "whole": "items that are sent as they came",
    "partly": "items that are sent in part",
    "certain": "how certain the call is, from 0 to 1",
    "together": "items that calls connect; alone: items without such calls",
}

# Words of the page Window.
WINDOW: Mapping[str, str] = {
    "dead": "tokens of results that are repeated, superseded or outdated",
    "saved": "tokens that a strategy removes",
    "pays after": "requests until the tokens saved exceed those read again",
    "read again": "tokens that a provider's prompt cache no longer holds",
    "first changed": "the first message that the prompt cache no longer holds",
}

# Reasons by which the list is filtered, as reports word them; figures are left out.
REASONS: Mapping[str, str] = {
    reason.label.replace("_", " "): re.sub(r"\{[^}]*\}", "…", SENTENCES[reason]) for reason in Reason
}

SECTIONS: Mapping[str, Mapping[str, str]] = {
    "Budget": BUDGET,
    "Columns": COLUMNS,
    "Marks": MARKS,
    "Terms": TERMS,
    "Parts": PARTS,
    "Pages": PAGES,
    "Window": WINDOW,
    "Reasons": REASONS,
}

# Sections whose words stand on one bench alone.
_OF_ONE_BENCH = {"Terms": "search", "Parts": "search", "Window": "conversation"}


def draw_words(words: Iterable[str], cells: int) -> list[Line]:
    """Explains those of these words that a page holds, in their order."""
    known = {word: text for section in SECTIONS.values() for word, text in section.items()}
    return [drawn for word in words if word in known for drawn in draw_entry(word, known[word], "", cells)]


def glossary_sections(
    knobs: Sequence[Knob], bench: str = "", listed: Collection[str] = ()
) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yields (heading, its words), the knobs of the bench first. With the name of a bench it leaves out what stands on
    others only, and the columns and reasons that are not `listed`."""
    if knobs:
        yield "Knobs", {knob.label: key_of(knob.key).doc for knob in knobs}
    for title, section in SECTIONS.items():
        words = section
        if bench and title in ("Columns", "Reasons"):
            words = {word: text for word, text in section.items() if word in listed}
        if words and bench in ("", _OF_ONE_BENCH.get(title, bench)):
            yield f"Words: {title.lower()}", words


def draw_entry(word: str, text: str, role: str, cells: int) -> list[Line]:
    """Draws a word, or keys, with its explanation beside it."""
    parts = wrap_words(text, max(10, cells - 18), role)
    return [(Span(f" {word if index == 0 else '':<16} ", "key"), *part) for index, part in enumerate(parts)]
