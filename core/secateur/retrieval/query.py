"""Parses a query: its words with weights, and the symbols and files it names."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

from secateur.errors import RepositoryError
from secateur.index.facts.lexical import CJK, STOP_WORDS, has_cjk, hash_of, word_terms, words
from secateur.model import Notice
from secateur.retrieval.query_kind import QueryKind, ToldKind, told_kind
from secateur.retrieval.query_translation import (
    COMMON,
    GLOSSED,
    TranslatedWord,
    han_runs,
    in_english,
    translated,
    translated_query,
)

TITLE = 2.0
"""The first line of several says most."""

PROSE = 1.0

CODE = 0.5
"""Pasted code and output: full of words, and few of them are the matter."""

LONGEST_LINE = 400
"""Characters read of a line; longer ones are data."""

SAME_SHAPE = 2
"""Lines alike but for their numbers that count; the rest of a table or a log says the same."""

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_FENCE = re.compile(r"\s*(```|~~~)")
_HEADING = re.compile(r"\s*(?:#{1,6}\s+|\*\*)(?P<text>[^*#]{1,80}?)[*:\s#]*$")
_FORM = re.compile(
    r"\W*(describe the (bug|issue|feature|problem)|(steps )?to reproduce.*|how to reproduce.*|reproduc\w+( \w+){0,3}"
    r"|(expected|actual|current|observed) (behaviou?r|results?|output)|what (did|do|have) you .*|what happened\??"
    r"|additional (context|information|notes?).*|screenshots?|checklist|description|summary|example|minimal"
    r" .*example.*|problem|issue|bug report"
    r"|code sample.*|output|logs?|anything else.*|relevant log output|traceback|context|details|motivation)\W*",
    re.IGNORECASE,
)
_ENVIRONMENT = re.compile(
    r"\W*((your )?environment|versions?( info\w*)?|system( info\w*)?|installed versions|output of"
    r" .*(versions|pip|--version).*|"
    r".*(xr|pd|sns)\.show_versions.*|pip (list|freeze).*|platform|setup|dependencies)\W*",
    re.IGNORECASE,
)
_VERSION = re.compile(
    r"(?:\W*+[\w.@/ ()-]{1,40}?[:=@\s|]++|\W{2,}+(?<=[.@/"
    r" ()-][:=@\s|]))v?\d+\.\d+[\w.+-]*(\s+\S+)?\W*$|\W*+[\w.-]{1,30}: (None|True|False)\W*$"
)
_CHECKBOX = re.compile(r"\s*[-*] \[[ xX]\]")
_TRACE = re.compile(
    r'\s*+(Traceback \(most recent|File ".*", line \d+|at [\w$.<>]+ ?\(|~+\^|\^+\s*$|During handling of|The above'
    r" exception"
    r"|-{5,}|={5,}|>{5,}|E\s{2,}|>{0,2}\s*+-*+>?\s*+\d+\s{2,}|\.\.\. \d+ more)"
)
_FRAME_CODE = re.compile(r'\s*File ".*", line \d+')
_NUMBER = re.compile(r"\d+")


def weighted_lines(text: str, form: frozenset[str] = frozenset()) -> list[tuple[str, float]]:
    """Returns the lines that count with their weights, in order; those of a form do not. A single line counts in full,
    whatever it is."""
    lines = [line[:LONGEST_LINE] for line in _COMMENT.sub(" ", text).splitlines()]
    filled = [line for line in lines if line.strip()]
    if len(filled) <= 1:
        return [(line, PROSE) for line in filled]
    kept: list[tuple[str, float]] = []
    shapes: dict[str, int] = {}
    fenced = environment = after_frame = titled = False
    for line in lines:
        if not line.strip():
            continue
        if not titled:
            titled = True
            kept.append((line, TITLE))
            continue
        if _FENCE.match(line):
            fenced = not fenced
            continue
        heading = _HEADING.match(line) if not fenced else None
        named = heading["text"] if heading else line
        if heading or (not fenced and len(named) <= 60):
            if _ENVIRONMENT.fullmatch(named):
                environment = True
                continue
            if heading:
                environment = False
            if _FORM.fullmatch(named):
                continue
        is_frame_code, after_frame = after_frame, bool(_FRAME_CODE.match(line))
        if environment or is_frame_code or _TRACE.match(line) or _CHECKBOX.match(line) or _VERSION.fullmatch(line):
            continue
        if form and is_of_form(line, form):
            continue
        shape = _NUMBER.sub("0", line.strip())
        shapes[shape] = shapes.get(shape, 0) + 1
        if shapes[shape] > SAME_SHAPE:
            continue
        kept.append((line, CODE if fenced or line.startswith(("    ", "\t", ">>>", "$ ")) else PROSE))
    return kept


MOST_FORMS = 30
"""Files that are read, the first by path."""

MOST_LINES = 500
"""Lines of each that are read."""

SHORTEST = 4
"""Letters of a line below which it may stand in a form by chance."""

_FORM_PATH = re.compile(
    r"(?:\.github/|\.gitea/|\.gitlab/|docs/)?issue_templates?(?:/[^/]+)?\.(?:md|markdown|txt|ya?ml)"
    r"|(?:\.github|\.gitea|\.gitlab)/issue_templates?/(?:[^/]+/)?[^/]+\.(?:md|markdown|txt|ya?ml)",
    re.IGNORECASE,
)
_KEY = re.compile(r"\s*(?:- )?(?:label|description|placeholder|value|title):\s*[|>]?[+-]?")
_MARKS = re.compile(r"[\W_]+")
_NO_ANSWER = frozenset({"no response"})
"""Words that a form fills in where nothing was written."""


def form_paths(paths: Sequence[str]) -> list[str]:
    """Those of a repository's paths that are issue forms."""
    return [path for path in paths if _FORM_PATH.fullmatch(path)][:MOST_FORMS]


def form_lines(paths: Sequence[str], lines: Callable[[str], list[str]]) -> frozenset[str]:
    """The lines of the issue forms among some paths, without their marks. `lines` gives those of a file, and raises
    RepositoryError where it changed: such a form is passed over."""
    found: set[str] = set()
    for path in form_paths(paths):
        with suppress(RepositoryError):
            for line in lines(path)[:MOST_LINES]:
                found |= {_plain(line), _plain(_KEY.sub("", line, count=1))}
    return frozenset(line for line in found if len(line) >= SHORTEST) | _NO_ANSWER if found else frozenset()


def without_form(text: str, form: frozenset[str]) -> tuple[str, int]:
    """The text with lines of a form made empty, and how many they are. The first line that says something stays, and so
    does what opens or ends code."""
    if not form:
        return text, 0
    kept, left, titled = [], 0, False
    for line in text.splitlines():
        emptied = titled and is_of_form(line, form)
        kept.append("" if emptied else line)
        left += emptied
        titled = titled or bool(line.strip())
    return "\n".join(kept), left


def is_of_form(line: str, form: frozenset[str]) -> bool:
    """Tells whether a line stands in a form, however it is marked."""
    return not _FENCE.match(line) and _plain(line) in form


def form_notices(left: int) -> tuple[Notice, ...]:
    """The notice that lines of the form were left out."""
    if not left:
        return ()
    some = "1 line of the query is" if left == 1 else f"{left:,} lines of the query are"
    return (Notice("issue_form", f"{some} of this repository's issue form: not looked for."),)


def _plain(line: str) -> str:
    return _MARKS.sub(" ", line).strip().lower()


MAX_QUERY = 100_000
"""Characters of a query that are read: more than any issue text, little enough that no query hangs."""

REPEATED = 0.3
"""The share of its line's weight that each further occurrence of a word adds, up to three."""

TRANSLATED_WEIGHT = 0.5
"""Weight of an English word that stands for a Chinese one: right in kind, uncertain in choice."""

MAX_NAMES = 500
"""Identifiers, and paths, that are read of a query: more than any stack trace holds; each is compared with every name,
or path, there is."""

MAX_SYNONYMS = 500
"""Groups of synonyms that are counted as one word each; a text with more Chinese words is one in Chinese."""

MIN_PLAIN = 3
"""Shorter words are names of too much."""

SHORT_QUERY = 200
"""Characters up to which a query that says "test" asks for tests; a longer text only mentions them."""

_ASKING = {
    "test": {"test", "tests", "testing", "tested", "unittest", "spec", "specs", "测试"},
    "documentation": {"doc", "docs", "documentation", "readme", "changelog", "guide", "文档"},
    "example": {"example", "examples", "demo", "demos", "tutorial", "sample", "samples", "示例"},
    "vendored": {"vendor", "vendored", "thirdparty", "bundled"},
    "generated": {"generated", "codegen"},
}

_FRAMES = (
    re.compile(r'File "(?P<path>[^"\n]{1,400})", line (?P<line>\d+)(?:, in (?P<name>[\w.<>]{1,200}))?'),
    re.compile(r"\bat (?P<name>[\w$.<>]{1,200}) ?\((?P<path>[^()\s:]{1,400}):(?P<line>\d+)(?::\d+)?\)"),
    re.compile(r"(?P<path>[\w./\\-]{1,400}\.(?:py|js|jsx|ts|tsx|go|java|rs|c|h|cc|cpp|cs|rb|php)):(?P<line>\d+)"),
)

# Chinese is written without spaces, so its letters end a URL, a name and a path.
_URL = re.compile(r"(?:https?|ftp|file)://[!-~]+")
_NAME = rf"(?:[^\W\d{CJK}]|\$)(?:[^\W{CJK}]|\$)*"
_IDENTIFIER = re.compile(rf"{_NAME}(?:(?:\.|::|#|->){_NAME})*")
_PATH_RUN = re.compile(r"[\w.@+/\\-]+")
_PATH_RUN_WITHOUT_CJK = re.compile(rf"(?:[^\W{CJK}]|[.@+/\\-])+")
_FILE_NAME = re.compile(r".\.(?:py|js|jsx|ts|tsx|go|java|rs|c|h|cc|cpp|hpp|cs|rb|php|md|toml|ya?ml|json)\Z", re.DOTALL)
_CODE_LIKE = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]|_|\.|::|#|->|\$|\d")


class StackFrame(NamedTuple):
    """A line of a stack trace; function "" where it names none."""

    path: str
    line: int
    function: str


@dataclass(frozen=True, slots=True)
class Query:
    """A cleaned query.

    Attributes:
        text: as the user wrote it.
        words: terms for matching, with weights, in order of first occurrence.
        identifiers: names as written that look like code, or the whole query if it is one word.
        plain: its words as written, in lower case, without stop words.
        paths: file paths it mentions, with forward slashes, without what leads there from elsewhere (`/`, `./`, `../`).
        frames: of stack traces in it, each once.
        title: its first line.
        asks: kinds of file it asks for by name ("test", "documentation", ...), which then get no penalty.
        foreign: True if it holds Chinese, Japanese or Korean text.
        synonyms: of its words those that stand for one, in groups: what a Chinese word may mean.
        translated: its text with the Chinese words in English; "" where nothing was translated.
        told: its kind; None where queries of all kinds are answered alike.
        told_paths: of its paths those that stand outside of stack traces.
        raising: its frames, in each trace from the one that raised on.
    """

    text: str
    words: tuple[tuple[str, float], ...]
    identifiers: tuple[str, ...]
    plain: tuple[str, ...]
    paths: tuple[str, ...]
    frames: tuple[StackFrame, ...]
    title: str
    asks: frozenset[str]
    foreign: bool
    synonyms: tuple[tuple[str, ...], ...] = ()
    translated: str = ""
    told: ToldKind | None = None
    told_paths: tuple[str, ...] = ()
    raising: tuple[StackFrame, ...] = ()

    @property
    def terms(self) -> list[tuple[int, float]]:
        """(hash, weight) for `Postings.score`."""
        return [(hash_of(word), weight) for word, weight in self.words]

    @property
    def synonym_terms(self) -> list[frozenset[int]]:
        """The hashes of its synonyms, for `WordStatistics`."""
        return [frozenset(hash_of(word) for word in some) for some in self.synonyms]

    @property
    def title_terms(self) -> list[tuple[int, float]]:
        """The terms of the first line alone, all of one weight."""
        told = [word for word in words(self.title) if word.lower() not in STOP_WORDS]
        return [(hash_of(term), 1.0) for term in dict.fromkeys(term for word in told for term in word_terms(word))]

    @property
    def text_for_model(self) -> str:
        """Its text for a model of whole texts: as written, and in English too where it was translated. Some models read
        only English, others know the language better than a glossary does."""
        return f"{self.text}\n{self.translated}" if self.translated else self.text

    @property
    def empty(self) -> bool:
        """True if nothing in it can be matched."""
        return not self.words and not self.identifiers and not self.paths


def parse_query(
    text: str, translation: tuple[tuple[str, float], ...] = (), form: frozenset[str] = frozenset()
) -> Query:
    """Clean a query: URLs, traces, tables and stop words out, title weighted, identifiers and paths recognised.

    Args:
        text: any text; only the first MAX_QUERY characters are read.
        translation: English words for the Chinese part of it, with weights, if a dictionary is there.
        form: lines of the repository's issue form, which are not read (`issue_forms`).
    """
    body = _URL.sub(" ", text[:MAX_QUERY])
    lines = weighted_lines(body, form)
    body = without_form(body, form)[0]
    weights: dict[str, float] = {}
    seen: dict[str, int] = {}
    for line, weight in lines:
        for word in words(line):
            if word.lower() in STOP_WORDS:
                continue
            for term in word_terms(word):
                times = seen[term] = seen.get(term, 0) + 1
                if times == 1:
                    weights[term] = weight
                elif times <= 4:
                    weights[term] = round(weights[term] + REPEATED * weight, 6)
    for word, weight in translation:
        for term in word_terms(word):
            weights.setdefault(term, weight)
    if not weights:  # nothing but stop words: better to look for them than for nothing
        weights = {term: 1.0 for word in words(body) for term in word_terms(word)}
    candidates = dict.fromkeys(_IDENTIFIER.findall(body))
    single = body.strip()
    identifiers = [name for name in candidates if _CODE_LIKE.search(name) or name == single]
    plain = dict.fromkeys(
        word.lower() for word in words(body) if len(word) >= MIN_PLAIN and word.lower() not in STOP_WORDS
    )
    frames = _frames(body)
    return Query(
        text=text,
        words=tuple(weights.items()),
        identifiers=tuple(identifiers[:MAX_NAMES]),
        plain=tuple(plain)[: 4 * MAX_NAMES],
        paths=tuple(_paths(body)[:MAX_NAMES]),
        frames=tuple(dict.fromkeys(frame for some in frames for frame in some))[:MAX_NAMES],
        title=lines[0][0] if lines else "",
        asks=_asked(body) if len(body) <= SHORT_QUERY else frozenset(),
        foreign=has_cjk(body),
        told_paths=tuple(_paths(_without_frames(body))[:MAX_NAMES]),
        raising=tuple(dict.fromkeys(_from_the_raising(frames)))[:MAX_NAMES],
    )


def _frames(body: str) -> list[list[StackFrame]]:
    """By notation the frames of Python's, of Java's and JavaScript's traces, and `path:line` as compilers, Go and Rust
    write it, as they follow each other."""
    found = []
    for pattern in _FRAMES:
        groups = [match.groupdict() for match in pattern.finditer(body)]
        found.append(
            [
                StackFrame(
                    group["path"].replace("\\", "/"),
                    int(group["line"][:7]),
                    (group.get("name") or "").rpartition(".")[2],
                )
                for group in groups
            ]
        )
    return found


def _from_the_raising(frames: list[list[StackFrame]]) -> list[StackFrame]:
    """The frames of all traces, the one that raised first: Python's, and pytest's `path:line`, end with it, others
    begin with it."""
    python, others, plain = frames
    backwards = bool(plain) and plain[0].path.endswith(".py")
    return [*reversed(python), *others, *(reversed(plain) if backwards else plain)]


def _without_frames(body: str) -> str:
    for pattern in _FRAMES:
        body = pattern.sub(" ", body)
    return body


def _asked(body: str) -> frozenset[str]:
    asked = {word.lower() for word in words(body)}
    return frozenset(kind for kind, names in _ASKING.items() if asked & names)


def _paths(body: str) -> list[str]:
    """Paths, and names of files with a well-known ending; what a path among CJK letters may be is taken with and
    without them."""
    found: dict[str, None] = {}
    for run in _PATH_RUN.findall(body):
        for text in (run, *(_PATH_RUN_WITHOUT_CJK.findall(run) if has_cjk(run) else ())):
            parts = text.replace("\\", "/").rstrip("./").split("/")
            while parts and parts[0] in ("", ".", ".."):
                del parts[0]
            if len(parts) > 1 or (parts and _FILE_NAME.search(parts[0])):
                found["/".join(parts)] = None
    return list(found)


def parse_with_glossary(
    text: str, frequency: Callable[[int], float], form: frozenset[str] = frozenset()
) -> tuple[Query, tuple[Notice, ...]]:
    """The query, its Chinese words in the English of programmers. The English words for one of them, and the pairs of
    its letters that occur, are synonyms; pairs that belong to no word say nothing. What is translated of its first line
    is its title."""
    query = parse_query(text, form=form)
    parts = translated(text[:MAX_QUERY]) if query.foreign else ()
    chinese = list(dict.fromkeys(part for part in parts if isinstance(part, TranslatedWord)))
    english: dict[str, float] = {}
    for word, weight in (pair for one in chinese for pair in one.english):
        english[word] = max(weight, english.get(word, 0.0))
    parsed = parse_query(text, tuple(english.items()), form)
    if not english or not any(frequency(term) for term, _ in parsed.terms):
        return parse_with_dictionary(text, frequency, form)
    split = {pair for run in han_runs(text[:MAX_QUERY]) for pair in word_terms(run)}
    split -= {pair for one in chinese for pair in word_terms(one.chinese)}
    words = (
        (word, weight)
        for word, weight in parsed.words
        if not has_cjk(word) or (word not in split and frequency(hash_of(word)))
    )
    synonyms = (
        (*(term for word, _ in one.english for term in word_terms(word)), *word_terms(one.chinese)) for one in chinese
    )
    return replace(
        parsed,
        words=tuple(words),
        synonyms=tuple(some for some in synonyms if len(some) > 1)[:MAX_SYNONYMS],
        title=in_english(translated(query.title), GLOSSED) or query.title,
        translated=in_english(parts, COMMON),
    ), ()


def parsed_query(
    text: str, frequency: Callable[[int], float], kind: str, form: frozenset[str] = frozenset()
) -> tuple[Query, tuple[Notice, ...]]:
    """The query with its kind, and notices about its words.

    Args:
        frequency: how often a term occurs in what is searched.
        kind: a value of `relevance.query_kind`.
        form: as in `parse_query`.
    """
    if kind == "off":
        return parse_with_dictionary(text, frequency, form)
    query, notices = parse_with_glossary(text, frequency, form)
    told = told_kind(text[:MAX_QUERY], len(query.frames))
    if kind != "auto":
        subject = told.subject or next(iter(query.identifiers), "")
        told = ToldKind(QueryKind(kind), subject, "relevance.query_kind says so")
    return replace(query, told=told), notices


def parse_with_dictionary(
    text: str, frequency: Callable[[int], float], form: frozenset[str] = frozenset()
) -> tuple[Query, tuple[Notice, ...]]:
    """The query, with English words for the Chinese ones where the dictionary is installed; a notice where it is
    missing and nothing matches.

    `frequency`: how often a term occurs in what is searched; `form` as in `parse_query`.
    """
    query = parse_query(text, form=form)
    if not query.foreign:
        return query, form_notices(without_form(text[:MAX_QUERY], form)[1])
    english = translated_query(text)
    if english is not None:
        return parse_query(text, tuple((word, TRANSLATED_WEIGHT) for word in english), form), ()
    if any(frequency(term) for term, _ in query.terms):
        return query, ()
    hint = "No word of the query occurs here. For Chinese queries on English code install secateur[zh]."
    return query, (Notice("no_gloss", hint),)
