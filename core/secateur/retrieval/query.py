"""Parses a query: its words with weights, and the symbols and files it names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from secateur.errors import RepositoryError
from secateur.index.facts.lexical import CJK, STOP_WORDS, has_cjk, hash_of, word_terms, words
from secateur.model import Notice
from secateur.retrieval.query_kind import QueryKind, RecognisedKind, find_kind

HAN = r"\u3400-\u9fff"  # chinese characters, as the inside of a character class

# Matches runs of Chinese characters, and runs without any letter of Chinese, Japanese or Korean.
_HAN = f"[{HAN}]+"
_PARTS = rf"[{HAN}]+|[^\s{CJK}]+"

_PARTICLE_TEXT = """
的 了 是 在 和 与 或 把 被 让 给 对 从 到 为 以 及 等 于 之 其 这 那 此 该 个 一个 一 一些 某 每 每个 各 有 没有 不
没 也 都 就 才 还 又 再 很 更 最 吗 呢 吧 啊 么 着 过 得 地 所 中 里 上 下 内 外 前 后 时 时候 当 如果 要 会 能 可以
应该 需要 正在 已经 如何 怎么 怎样 怎麽 什么 哪里 哪儿 哪个 哪些 哪 为什么 为何 是否 多少 几 谁 何时 何处 我 我们 你
它 它们 他 用 像 不像 以及 之前 之后 关于 实现 进行 代码 功能 逻辑 地方 部分 具体
"""
_PARTICLES = frozenset(_PARTICLE_TEXT.split())

# Lines with a Chinese word and the English words that code uses for it.
_GLOSSARY = Path(__file__).with_name("glossary_zh.txt")

_LONGEST_WORD = 8  # most characters of a word that is looked up


@lru_cache(maxsize=1)
def glossary() -> Mapping[str, tuple[str, ...]]:
    """Returns English words of code by Chinese word, the most usual first."""
    rows = (line.split() for line in _GLOSSARY.read_text("utf-8").splitlines())
    return {chinese: tuple(english) for chinese, *english in rows}


class TranslatedWord(Struct, frozen=True):
    """Holds a Chinese word of a query, and the English words that it may stand for: none if the glossary does not know
    it. Characters that form no known word stay together."""

    chinese: str
    english: tuple[str, ...]


def has_chinese(text: str) -> bool:
    """Tells whether a text holds Chinese characters."""
    return not text.isascii() and re.search(_HAN, text) is not None


def han_runs(text: str) -> list[str]:
    """Returns the runs of Chinese characters in a text, in order."""
    return re.findall(_HAN, text)


def translate(text: str) -> tuple[str | TranslatedWord, ...]:
    """Translates the Chinese words of a text that say something, and returns all other text unchanged, in order."""
    known = glossary()
    parts: list[str | TranslatedWord] = []
    for part in re.findall(_PARTS, text):
        if not has_chinese(part):
            parts.append(part)
            continue
        unknown = ""
        for word in (*_cut_run(part), ""):
            english = () if word in _PARTICLES else known.get(word, ())
            if word and not english and word not in _PARTICLES:
                unknown += word
                continue
            if unknown:
                parts.append(TranslatedWord(unknown, ()))
                unknown = ""
            if english:
                parts.append(TranslatedWord(word, english))
    return tuple(parts)


def english_words(text: str) -> tuple[str, ...]:
    """Returns English words for the Chinese words of a text, in order, without repetition."""
    return tuple(
        dict.fromkeys(word for part in translate(text) if isinstance(part, TranslatedWord) for word in part.english)
    )


def to_english(parts: Iterable[str | TranslatedWord]) -> str:
    """Joins the parts that `translate` returned to a text, with the English words of each Chinese word."""
    return " ".join(word for part in parts for word in ([part] if isinstance(part, str) else part.english))


def _cut_run(run: str) -> list[str]:
    """Cuts a run into words, from its end or from its beginning. The cut with fewer words wins, then the one with fewer
    single characters ("保存 在 哪里", not "保 存在 哪里")."""

    def cost(words: list[str]) -> tuple[int, int]:
        return len(words), sum(len(word) == 1 and word not in _PARTICLES for word in words)

    return min(_longest_words(run), _longest_words(run, forward=True), key=cost)


def _longest_words(run: str, *, forward: bool = False) -> list[str]:
    """Cuts a run into the longest known words, from its end, because the head of a Chinese compound stands last, or
    from its beginning. A character that belongs to no known word is a word of its own."""
    terms: list[str] = []
    rest = run
    while rest:
        for size in range(min(_LONGEST_WORD, len(rest)), 0, -1):
            word = rest[:size] if forward else rest[-size:]
            if size == 1 or word in _PARTICLES or word in glossary():
                break
        terms.append(word)
        rest = rest[size:] if forward else rest[:-size]
    return terms if forward else terms[::-1]


# Most characters of a query that are read: more than any issue text has, and few enough that no query hangs.
MAX_QUERY = 100_000

QUERY_CUT = Notice("query_cut", f"Only the first {MAX_QUERY:,} characters of the query are read.")

# Most identifiers, and most paths, that are read from a query: more than any stack trace holds. Each identifier is
# compared with every name, and each path with every path.
MAX_NAMES = 500

# Most groups of synonyms that count as one word each; a text with more Chinese words is written in Chinese.
MAX_SYNONYMS = 500

# Weight of an English word that translates a Chinese one: the field is right, the choice of word is uncertain.
TRANSLATED_WEIGHT = 0.5

# The notice about a query in another language than the code.
NO_WORD_HERE = Notice("no_gloss", "No word of the query, nor a translation of one, occurs here.")

REPEATED = 0.3  # the share of the line's weight that a further occurrence of a word adds; three of them count
MIN_PLAIN = 3  # letters of the shortest plain word: shorter words are the names of too many things
SHORT_QUERY = 200  # characters up to which a query that says "test" asks for tests; a longer text only mentions them

# Chinese is written without spaces, so its letters end a URL, a name and a path.
_URL = re.compile(r"(?:https?|ftp|file)://[!-~]+")
# A link to a file, or to a line, on the page of a repository: GitHub, GitLab, Gitea, Bitbucket.
_LINK = re.compile(
    r"https?://(?:[^\s/]{1,200}/){3,9}?(?:blob|blame|raw|src)/[^\s/]{1,200}/(?P<path>[^\s#?()<>\"'`]{1,400})"
    r"(?:\?[^\s#]{0,200})?(?:#(?:L|lines-)(?P<line>\d{1,7}))?"
)
_CODE_LIKE = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]|_|\.|::|#|->|\$|\d")


@cache
def _compile_identifier(ends: str) -> re.Pattern[str]:
    """Returns the pattern of names and paths of names. `ends`: letters that end a name, as the inside of a class."""
    name = rf"(?:[^\W\d{ends}]|\$)(?:[^\W{ends}]|\$)*"
    return re.compile(rf"{name}(?:(?:\.|::|#|->){name})*")


class StackFrame(NamedTuple):
    """A line of a stack trace; `function` is "" if the line names no function."""

    path: str
    line: int
    function: str


class Query(Struct, frozen=True):
    """A cleaned query.

    Attributes:
        text: as the user wrote it.
        words: terms for matching, with weights, in order of first occurrence.
        identifiers: names that look like code, as written; or the whole query if it is one word.
        plain: its words in lower case, without stop words.
        paths: file paths it mentions, with forward slashes, without what leads there from elsewhere (`/`, `./`, `../`).
        frames: of stack traces in it, each once.
        title: its first line.
        asks: kinds of file it asks for by name ("test", "documentation", ...), which then get no penalty.
        foreign: True if it holds Chinese, Japanese or Korean text.
        synonyms: groups of its words that count as one word: the English words that one Chinese word may mean.
        translated: its text with the Chinese words in English; "" if nothing was translated.
        recognised: its kind; None if the settings answer queries of all kinds alike.
        named_paths: the paths that it mentions outside stack traces.
        raising: its frames; each trace begins with the frame that raised.
        linked: the files and lines that its links to the page of a repository name; line 0 for a whole file. Empty if
            `recognised` is None.
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
    recognised: RecognisedKind | None = None
    named_paths: tuple[str, ...] = ()
    raising: tuple[StackFrame, ...] = ()
    linked: tuple[StackFrame, ...] = ()

    @property
    def terms(self) -> list[tuple[int, float]]:
        """(hash, weight) for `Postings.score`."""
        return [(hash_of(word), weight) for word, weight in self.words]

    @property
    def title_terms(self) -> list[tuple[int, float]]:
        """The terms of the first line alone; all have the same weight."""
        telling = [word for word in words(self.title) if word.lower() not in STOP_WORDS]
        return [(hash_of(term), 1.0) for term in dict.fromkeys(term for word in telling for term in word_terms(word))]

    @property
    def text_for_model(self) -> str:
        """Its text for a model that reads whole texts: the text as written, then the translation if there is one. Some
        models read only English; others know the language better than a glossary does."""
        return f"{self.text}\n{self.translated}" if self.translated else self.text

    @property
    def empty(self) -> bool:
        """True if nothing in it can be matched."""
        return not self.words and not self.identifiers and not self.paths


def parse_with_kind(
    text: str, frequency: Callable[[int], float], kind: str, form: frozenset[str] = frozenset()
) -> tuple[Query, tuple[Notice, ...]]:
    """Parses a query and finds its kind. Returns notices about its words too.

    Args:
        frequency: counts how often a term occurs in what is searched.
        kind: a value of `relevance.query_kind`.
        form: see `parse_query`.
    """
    cut = (QUERY_CUT,) if len(text) > MAX_QUERY else ()
    text = text[:MAX_QUERY]
    if kind == "off":
        query, notices = parse_with_words(text, frequency, form)
        return query, cut + notices
    query, notices = parse_with_glossary(text, frequency, form)
    recognised = find_kind(text, len(query.frames))
    if kind != "auto":
        subject = recognised.subject or next(iter(query.identifiers), "")
        recognised = RecognisedKind(QueryKind(kind), subject, "relevance.query_kind says so")
    links = (StackFrame(link["path"].rstrip(".,:;"), int(link["line"] or 0), "") for link in _LINK.finditer(text))
    return replace(query, recognised=recognised, linked=tuple(dict.fromkeys(links))[:MAX_NAMES]), cut + notices


def parse_with_glossary(
    text: str, frequency: Callable[[int], float], form: frozenset[str] = frozenset()
) -> tuple[Query, tuple[Notice, ...]]:
    """Parses a query and translates its Chinese words into the English of programmers. The English words of one Chinese
    word, and the pairs of its characters that occur here, become synonyms. Pairs that belong to no word say nothing and
    are left out. The translated first line becomes the title."""
    query = parse_query(text, form=form)
    parts = translate(text) if query.foreign else ()
    chinese = list(dict.fromkeys(part for part in parts if isinstance(part, TranslatedWord)))
    english = english_words(text) if chinese else ()
    parsed = parse_query(text, tuple((word, 1.0) for word in english), form)
    if not english or not any(frequency(term) for term, _ in parsed.terms):
        return parse_with_words(text, frequency, form)
    split = {pair for run in han_runs(text) for pair in word_terms(run)}
    split -= {pair for translation in chinese for pair in word_terms(translation.chinese)}
    words = (
        (word, weight)
        for word, weight in parsed.words
        if not has_cjk(word) or (word not in split and frequency(hash_of(word)))
    )
    synonyms = (
        (*(term for word in translation.english for term in word_terms(word)), *word_terms(translation.chinese))
        for translation in chinese
    )
    return replace(
        parsed,
        words=tuple(words),
        synonyms=tuple(group for group in synonyms if len(group) > 1)[:MAX_SYNONYMS],
        title=to_english(translate(query.title)) or query.title,
        translated=to_english(parts),
    ), ()


def parse_with_words(
    text: str, frequency: Callable[[int], float], form: frozenset[str] = frozenset()
) -> tuple[Query, tuple[Notice, ...]]:
    """Parses a query as it is, or, if it is not English and none of its words occurs, like `parse_in_english`; with a
    notice if none of these occurs either.

    `frequency` counts how often a term occurs in what is searched; for `form` see `parse_query`.
    """
    query = parse_query(text, form=form)
    if not query.foreign:
        return query, form_notices(remove_form(text, form)[1])
    if any(frequency(term) for term, _ in query.terms):
        return query, ()
    query = parse_in_english(text, form)
    return query, () if any(frequency(term) for term, _ in query.terms) else (NO_WORD_HERE,)


def parse_in_english(text: str, form: frozenset[str] = frozenset()) -> Query:
    """Parses a query, and adds the English words of its Chinese ones. For `form` see `parse_query`."""
    query = parse_query(text, form=form)
    english = english_words(text) if query.foreign else ()
    return parse_query(text, tuple((word, TRANSLATED_WEIGHT) for word in english), form) if english else query


def parse_query(
    text: str, translation: tuple[tuple[str, float], ...] = (), form: frozenset[str] = frozenset()
) -> Query:
    """Cleans a query: removes URLs, traces, tables and stop words, weighs the title more, recognises identifiers and
    paths.

    Args:
        text: any text; only the first MAX_QUERY characters are read.
        translation: English words for its Chinese part, with weights, if a dictionary is installed.
        form: lines of the repository's issue form, which are left out (`issue_forms`).
    """
    body = _URL.sub(" ", text[:MAX_QUERY])
    lines = weigh_lines(body, form)
    body = remove_form(body, form)[0]
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
    if not weights:  # the query has only stop words: looking for them is better than looking for nothing
        weights = {term: 1.0 for word in words(body) for term in word_terms(word)}
    candidates = dict.fromkeys(_compile_identifier(CJK if has_cjk(body) else "").findall(body))
    single = body.strip()
    identifiers = [name for name in candidates if _CODE_LIKE.search(name) or name == single]
    plain = dict.fromkeys(
        word.lower() for word in words(body) if len(word) >= MIN_PLAIN and word.lower() not in STOP_WORDS
    )
    frames = python, others, plain_frames = _find_frames(body)
    # Python's traces and pytest's `path:line` end with the frame that raised; the other notations begin with it
    if plain_frames and plain_frames[0].path.endswith(".py"):
        plain_frames = plain_frames[::-1]
    without_frames = body
    for pattern in _FRAMES:
        without_frames = pattern.sub(" ", without_frames)
    asked = {word.lower() for word in words(body)} if len(body) <= SHORT_QUERY else set()
    return Query(
        text=text,
        words=tuple(weights.items()),
        identifiers=tuple(identifiers[:MAX_NAMES]),
        plain=tuple(plain)[: 4 * MAX_NAMES],
        paths=tuple(_find_paths(body)[:MAX_NAMES]),
        frames=tuple(dict.fromkeys(frame for trace in frames for frame in trace))[:MAX_NAMES],
        title=lines[0][0] if lines else "",
        asks=frozenset(kind for kind, names in _ASKING.items() if asked & names),
        foreign=has_cjk(body),
        named_paths=tuple(_find_paths(without_frames)[:MAX_NAMES]),
        raising=tuple(dict.fromkeys([*reversed(python), *others, *plain_frames]))[:MAX_NAMES],
    )


# --- the lines that count ---------------------------------------------------------------------------------------------

TITLE = 2.0  # the first line of several says most

PROSE = 1.0

CODE = 0.5  # pasted code and output: full of words, and few of them are the matter
LONGEST_LINE = 400  # characters read of a line; longer ones are data
SAME_SHAPE = 2  # lines alike but for their numbers that count; the rest of a table or a log says the same

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


def weigh_lines(text: str, form: frozenset[str] = frozenset()) -> list[tuple[str, float]]:
    """Returns the lines that count, with their weights, in order. Lines of a form do not count. A single line counts in
    full, whatever it is."""
    lines = [line[:LONGEST_LINE] for line in _COMMENT.sub(" ", text).splitlines()]
    filled = [line for line in lines if line.strip()]
    if len(filled) <= 1:
        return [(line, PROSE) for line in filled]
    weighted: list[tuple[str, float]] = []
    shapes: dict[str, int] = {}
    fenced = environment = after_frame = titled = False
    for line in lines:
        if not line.strip():
            continue
        if not titled:
            titled = True
            weighted.append((line, TITLE))
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
        weighted.append((line, CODE if fenced or line.startswith(("    ", "\t", ">>>", "$ ")) else PROSE))
    return weighted


# --- the lines of an issue form ---------------------------------------------------------------------------------------

MOST_FORMS = 30  # most forms that are read: the first by path
MOST_LINES = 500  # most lines that are read of each form
SHORTEST = 4  # a line with fewer letters may stand in a form by chance

_FORM_PATH = re.compile(
    r"(?:\.github/|\.gitea/|\.gitlab/|docs/)?issue_templates?(?:/[^/]+)?\.(?:md|markdown|txt|ya?ml)"
    r"|(?:\.github|\.gitea|\.gitlab)/issue_templates?/(?:[^/]+/)?[^/]+\.(?:md|markdown|txt|ya?ml)",
    re.IGNORECASE,
)
_KEY = re.compile(r"(?:(?<!\s)\s+)?(?:- )?(?:label|description|placeholder|value|title):\s*[|>]?[+-]?")
_MARKS = re.compile(r"[\W_]+")
_NO_ANSWER = frozenset({"no response"})  # words that a form fills in where nothing was written


def find_forms(paths: Sequence[str]) -> list[str]:
    """Finds the issue forms among the paths of a repository."""
    return [path for path in paths if _FORM_PATH.fullmatch(path)][:MOST_FORMS]


def read_form_lines(paths: Sequence[str], lines: Callable[[str], list[str]]) -> frozenset[str]:
    """Reads the lines of the issue forms among some paths, and strips their marks. `lines` returns the lines of a file,
    and raises RepositoryError if the file changed: such a form is passed over."""
    plain: set[str] = set()
    for path in find_forms(paths):
        with suppress(RepositoryError):
            for line in lines(path)[:MOST_LINES]:
                plain |= {_strip_marks(line), _strip_marks(_KEY.sub("", line, count=1))}
    return frozenset(line for line in plain if len(line) >= SHORTEST) | _NO_ANSWER if plain else frozenset()


def remove_form(text: str, form: frozenset[str]) -> tuple[str, int]:
    """Empties the lines of a form in a text, and counts them. The first line with any text stays; so does a line that
    opens or ends code."""
    if not form:
        return text, 0
    lines, removed, titled = [], 0, False
    for line in text.splitlines():
        emptied = titled and is_of_form(line, form)
        lines.append("" if emptied else line)
        removed += emptied
        titled = titled or bool(line.strip())
    return "\n".join(lines), removed


def is_of_form(line: str, form: frozenset[str]) -> bool:
    """Tells whether a line stands in a form, whatever marks it carries."""
    return not _FENCE.match(line) and _strip_marks(line) in form


def form_notices(left: int) -> tuple[Notice, ...]:
    """Returns the notice that lines of the form were left out; () if there were no such lines."""
    if not left:
        return ()
    lines = "1 line of the query is" if left == 1 else f"{left:,} lines of the query are"
    return (Notice("issue_form", f"{lines} of this repository's issue form: not looked for."),)


def _strip_marks(line: str) -> str:
    return _MARKS.sub(" ", line).strip().lower()


# --- stack traces, paths, kinds of file -------------------------------------------------------------------------------

_FRAMES = (
    re.compile(r'File "(?P<path>[^"\n]{1,400})", line (?P<line>\d+)(?:, in (?P<name>[\w.<>]{1,200}))?'),
    re.compile(r"\bat (?P<name>[\w$.<>]{1,200}) ?\((?P<path>[^()\s:]{1,400}):(?P<line>\d+)(?::\d+)?\)"),
    re.compile(r"(?P<path>[\w./\\-]{1,400}\.(?:py|js|jsx|ts|tsx|go|java|rs|c|h|cc|cpp|cs|rb|php)):(?P<line>\d+)"),
)


def _find_frames(body: str) -> list[list[StackFrame]]:
    """Finds the frames in each notation, in the order of the text: Python's traces, the traces of Java and JavaScript,
    and `path:line`, which compilers, Go and Rust write."""
    by_notation: list[list[StackFrame]] = []
    for pattern in _FRAMES:
        by_notation.append([])
        for group in (match.groupdict() for match in pattern.finditer(body)):
            function = (group.get("name") or "").rpartition(".")[2]
            by_notation[-1].append(StackFrame(group["path"].replace("\\", "/"), int(group["line"][:7]), function))
    return by_notation


_PATH_RUN = re.compile(r"[\w.@+/\\-]+")
_PATH_RUN_WITHOUT_CJK = rf"(?:[^\W{CJK}]|[.@+/\\-])+"
_FILE_NAME = re.compile(r".\.(?:py|js|jsx|ts|tsx|go|java|rs|c|h|cc|cpp|hpp|cs|rb|php|md|toml|ya?ml|json)\Z", re.DOTALL)


def _find_paths(body: str) -> list[str]:
    """Finds paths, and names of files with a well-known ending. Where CJK letters touch a path, both readings count:
    with the letters and without them."""
    paths: dict[str, None] = {}
    for run in _PATH_RUN.findall(body):
        for text in (run, *(re.findall(_PATH_RUN_WITHOUT_CJK, run) if has_cjk(run) else ())):
            parts = text.replace("\\", "/").rstrip("./").split("/")
            while parts and parts[0] in ("", ".", ".."):
                del parts[0]
            if len(parts) > 1 or (parts and _FILE_NAME.search(parts[0])):
                paths["/".join(parts)] = None
    return list(paths)


_ASKING = {
    "test": {"test", "tests", "testing", "tested", "unittest", "spec", "specs", "测试"},
    "documentation": {"doc", "docs", "documentation", "readme", "changelog", "guide", "文档"},
    "example": {"example", "examples", "demo", "demos", "tutorial", "sample", "samples", "示例"},
    "vendored": {"vendor", "vendored", "thirdparty", "bundled"},
    "generated": {"generated", "codegen"},
}
