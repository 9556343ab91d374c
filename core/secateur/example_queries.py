"""Suggests questions from a repository itself: subjects of its commits, sentences of its docstrings, headings of its
documents, names of its functions. Each was tried: its answer keeps something, and drops something.

    for example in example_queries(engine, Settings()):
        print(example.query, example.drawn_from, example.budget)    # "Round refunds half to even", "a commit", 1000

The same index gives the same suggestions: nothing is random, and no model is asked.
"""

import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import Annotated

import numpy as np
from msgspec import Meta

from secateur.engine import Engine
from secateur.errors import RepositoryError
from secateur.history import FEWEST_WORDS, is_release, is_revert, query_of
from secateur.index.facts.snapshot import Snapshot
from secateur.model import FragmentKind, Notice
from secateur.redaction.spans import MARKER
from secateur.render.page import notices_of
from secateur.retrieval.cache import LOW
from secateur.settings import Settings, with_values
from secateur.shape import Count, Shape
from secateur.terminal import visible

# Budgets to try if the one in force drops nothing: the specs' own example first.
BUDGETS = (4_000, 2_000, 1_000, 500, 250)

MOST_TRIED = 12  # most questions that are tried
LOOKED_AT = 200  # fragments, and commits, that are examined for a question
LONGEST = 90  # characters of a question: one line of a screen
FEWEST_KEPT, FEWEST_DROPPED = 2, 3  # least candidates that an answer must keep, and drop, to show anything

_FUNCTIONS = (FragmentKind.FUNCTION, FragmentKind.METHOD)

# Flags of files whose functions give no suggestions.
_SET_ASIDE = frozenset(("test", "generated", "vendored", "example"))

_PROSE = frozenset(("markdown", "restructuredtext"))  # languages of documents, whose sections have headings

_QUOTED = re.compile(r'(?:"""|\'\'\')\s*(.+?)(?:"""|\'\'\'|\n\s*\n|\Z)', re.DOTALL)
_COMMENT = re.compile(r"\s*(?:///?!?|#|\*|/\*\*?|--)\s?")
_MARKUP = re.compile(r"[`*_]{1,3}|<[^>]{0,200}>|:\w+:")
_SENTENCE = re.compile(r".+?(?:[.?!](?=\s|$)|[。！？])")


class ExampleQuery(Shape, frozen=True):
    """A suggested question, and a budget at which its answer drops something."""

    query: str
    drawn_from: Annotated[str, Meta(extra_json_schema={"enum": ["a commit", "a docstring", "a heading", "a name"]})]
    budget: Count
    kept: Count
    dropped: Count


def example_queries(engine: Engine, settings: Settings, count: int = 3) -> list[ExampleQuery]:
    """Returns the first questions whose answers keep and drop something, from different sources if possible.
    `settings`: for the answers. Their budget is proposed if it drops something, else a smaller one."""
    examples: list[ExampleQuery] = []
    for _, (query, drawn_from) in zip(range(MOST_TRIED), _suggest_questions(engine), strict=False):
        if (example := _try_question(engine, query, drawn_from, settings)) is not None:
            examples.append(example)
        if len(examples) == count:
            break
    return examples


def _try_question(engine: Engine, query: str, drawn_from: str, settings: Settings) -> ExampleQuery | None:
    """Returns the question with the first budget that drops something; None if it has no good answer, or all fits."""
    asked = with_values(settings, {"budget": settings.effective_budget})
    pool = engine.retrieve(query, asked, refresh=False)
    for budget in (asked.budget, *(size for size in BUDGETS if size < asked.budget)):
        selection = engine.select(pool, with_values(asked, {"budget": budget}))
        notices: tuple[Notice, ...] = notices_of(selection)
        kept = len(selection.kept_rows)
        if len(selection) <= FEWEST_KEPT or any(notice.code in LOW for notice in notices):
            return None
        if kept >= FEWEST_KEPT and len(selection) - kept >= FEWEST_DROPPED:
            return ExampleQuery(query, drawn_from, budget, kept, len(selection) - kept)
    return None


def _suggest_questions(engine: Engine) -> Iterator[tuple[str, str]]:
    """Yields questions from each source in turn, each once, with their source."""
    snapshot, lines = engine.code()
    # of the repository's own code, the most changed and most complex ones first
    order = np.argsort(-snapshot.hotspots.score, kind="stable")[: 10 * LOOKED_AT].tolist()
    functions = [row for row in order if snapshot.kind(row) in _FUNCTIONS]
    functions = [row for row in functions if not _SET_ASIDE & snapshot.flags[_file(snapshot, row)]][:LOOKED_AT]
    places = (
        ("a commit", _subjects(engine)),
        ("a docstring", _sentences(snapshot, functions, lines)),
        ("a heading", _headings(snapshot)),
        ("a name", (name for row in functions if "." in (name := snapshot.qualnames[row]))),
    )
    seen = set()
    for turn in zip_longest(*(texts for _, texts in places)):
        for (drawn_from, _), text in zip(places, turn, strict=True):
            query = " ".join(visible(text).split()) if text else ""
            if query and len(query) <= LONGEST and query.lower() not in seen:
                seen.add(query.lower())
                yield query, drawn_from


def _file(snapshot: Snapshot, row: int) -> int:
    return int(snapshot.file[row])


def _subjects(engine: Engine) -> Iterator[str]:
    try:
        subjects = engine.subjects(LOOKED_AT)
    except RepositoryError:
        return
    for subject in subjects:
        if not is_release(subject) and not is_revert(subject) and MARKER.search(subject) is None:
            yield query_of(subject)


def _headings(snapshot: Snapshot) -> Iterator[str]:
    files = sorted(range(len(snapshot.paths)), key=lambda file: (snapshot.paths[file].count("/"), snapshot.paths[file]))
    rank = {file: index for index, file in enumerate(files)}
    prose = [language in _PROSE for language in snapshot.languages]
    rows = [row for row in range(len(snapshot)) if prose[_file(snapshot, row)] and snapshot.qualnames[row]]
    for row in sorted(rows, key=lambda row: (rank[_file(snapshot, row)], row))[:LOOKED_AT]:
        heading = _MARKUP.sub("", snapshot.qualnames[row].rpartition(" > ")[2]).strip()
        if not is_release(heading):
            yield query_of(heading)


def _sentences(snapshot: Snapshot, functions: list[int], lines: object) -> Iterator[str]:
    assert callable(lines)
    for row in functions:
        try:
            text = lines(snapshot.paths[_file(snapshot, row)])
        except RepositoryError:  # the file has changed since
            continue
        first, last = int(snapshot.line_start[row]) - 1, int(snapshot.line_end[row])
        yield first_sentence("\n".join(text[first:last][:30]))


def first_sentence(code: str) -> str:
    """Returns the first sentence of a docstring, or of the comment above a definition; "" if it has too few words."""
    if quoted := _QUOTED.search(code):
        text = quoted[1]
    else:
        comment = []
        for line in code.splitlines():
            if not (match := _COMMENT.match(line)):
                break
            comment.append(line[match.end() :].rstrip().removesuffix("*/"))
        text = " ".join(comment)
    text = _MARKUP.sub("", " ".join(text.split()))
    match = _SENTENCE.match(text)
    sentence = (match[0] if match else text).rstrip(".。 /")
    telling = len(sentence.split()) >= FEWEST_WORDS or not sentence.isascii()  # Chinese has no blanks between words
    return sentence if telling and len(sentence) <= LONGEST else ""
