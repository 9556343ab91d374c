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
    "summarised": "something that tells of it is sent in its place",
    "dropped": "nothing of it is sent",
    "wrapper": "tokens around the items: headings, fences, names; what an estimate of the whole differs by",
    "fewer together": "tokens by which the whole, counted at the end, is below the sum of its items",
    "free": "tokens of the budget that nothing takes",
    "over": "tokens that are sent above the budget, because less cannot be sent",
    "reserve": "tokens of the model's window that are kept free for its answer",
    "was": "tokens of the ghost, and the difference to it",
    "chunk": "a part of a pull request that goes to a model at once",
    "fewest": "chunks that these files need at least",
    "ghost": "the answer before the first change, or that at which x was pressed",
    "cut": "the line where the budget ends: the first item below it had no room to be sent whole",
    "last out": "the last item that is sent, by rank",
    "first dropped": "the first item that is not sent, by rank",
    "gap": "the score of the last that is sent less that of the first that is not; below 0 where a smaller one fitted",
}

# Titles of the columns of all lists.
COLUMNS: Mapping[str, str] = {
    "#": "rank, or the number of a message; = marks what a provider's prompt cache still holds",
    "Δ": "places moved since the ghost, or tokens gained or lost; ! marks another decision",
    "name": "what it is called",
    "message": "the line of a log that says most, without its time",
    "in": "where it is; of figures, tokens that came in",
    "out": "tokens that are sent; · where they are those that came in",
    "tok": "tokens of the whole item",
    "tokens": "tokens of the item",
    "▾": "stands behind the title of what the list is ordered by",
    "prio": "the priority: the sum of the weighted terms",
    "dens": "the density: priority by the tokens it costs, which the strategy density orders by",
    "rel": "the relevance alone",
    "hot": "the hotspot alone",
    "dist": "1 / steps of calls from what answers best",
    "pref": "the preference alone",
    "why it ranks": "the terms of the priority, as long as they are: relevance, hotspot, distance",
    "file": "the file",
    "chunk": "the chunks that the file goes out in, behind those it was in before the last change",
    "folder": "the folder that the file is in",
    "score": "how well the file answers the query, from 0 to 10",
    "section": "a section of the envelope, or a field of it",
    "stage": "what shortened it: 1 lists and references, 2 long texts, 3 whole sections",
    "characters": "characters that came in, and that are sent",
    "role": "who said it",
    "beginning": "how it begins",
    "tool": "the tool that it calls, or has the result of",
    "saved": "tokens that came in and are not sent",
    "share": "the part of the safe zone that it takes as it is sent",
    "lines": "lines added and removed, the lines of a part, or why it is left out; of a log, their numbers",
}

# Signs before the name of an item; a letter takes the place of the exclamation mark, in its colour.
MARKS: Mapping[str, str] = {
    **{state.glyph: state.label for state in State},
    "!": "another decision than that of the ghost",
    SIGNS[Steer.PIN]: "pinned: kept whatever happens",
    SIGNS[Steer.EXCLUDE]: "excluded: never sent",
    SIGNS[Steer.BOOST]: "boosted: its priority is multiplied by more than 1",
    SIGNS[Steer.DAMP]: "damped: its priority is multiplied by less than 1",
}

# Words of the page Why of a search, and of the weights.
TERMS: Mapping[str, str] = {
    "priority": "what the candidates are ordered by: the sum of the terms below it",
    "relevance": "how well it answers the query, by its words, its names and its meaning; 0 to 1",
    "hotspot": "how often its file changes and how complicated it is: code where bugs are; 0 to 1",
    "distance": "1 / steps of calls from what answers best, which counts 1",
    "preference": "what you prefer in this repository",
    "boost": "a factor of yours on the other terms",
    "anchor": "one of the candidates that answer best; the calls around them are followed",
    "lexical": "found by words of the query in its text",
    "semantic": "found by its meaning, through an embedding",
    "mention": "found because the query names its file or line",
    "graph": "found through calls from what answers",
    "churn rank": "how often and how lately its file changed, among all files",
    "complexity rank": "how complicated it is, among all of the code",
    "density": "priority by the tokens it costs",
    "re-run": "the engine decided again with the change, and it held",
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
    "penalty": "the share of its relevance that a test, a document or an example loses",
}

# Words of the pages Compare and Curve, and of the sections of a report.
PAGES: Mapping[str, str] = {
    "only left": "items that only the decision on the left lets out",
    "only right": "items that only the decision on the right lets out",
    "both": "items that both decisions let out; cut otherwise: in another state or length",
    "worth": "the sum of the priorities of what is sent whole",
    "knee": "the budget from which on each token brings less than the average",
    "whole": "items that are sent as they came",
    "partly": "items of which a part is sent",
    "certain": "how sure it is that a call leads there, from 0 to 1",
    "together": "items that calls connect; alone: items that no call connects with others",
}

# Words of the page Window.
WINDOW: Mapping[str, str] = {
    "dead": "tokens of results that came again, were read again, or are out of date",
    "saved": "tokens that a strategy takes away",
    "pays after": "requests until what is saved exceeds what is read again",
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
