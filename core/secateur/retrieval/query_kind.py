"""Tells what kind of query a text is, by plain rules, the first that fits:

- **trace**: it has several lines, and a stack trace among them.
- **issue**: it has several lines, or more than SHORT_QUERY characters.
- **usage**: it asks where one named thing is used, called, imported ("who calls `parse_url`", "`X` 在哪里被调用").
- **symbol**: it is one name (`Cart.total`, `handleToolCall()`), or asks where one is defined.
- **message**: it begins with an error or an exception and a colon; or it is no question and is quoted, speaks of a
  failure, or ends like a sentence.
- **question**: it begins with a question word or ends with a question mark (how, where, 如何, 怎么).
- **phrase**: any other words.

`relevance.py` says what follows from a kind.
"""

import re
from enum import StrEnum
from functools import cache

from msgspec import Struct

from secateur.index.facts.lexical import CJK, STOP_WORDS, has_cjk

SHORT_QUERY = 200  # a single line with more characters is an issue: few titles are longer
SHORTEST_MESSAGE = 3  # words of the shortest message; fewer words ("import error") are a phrase


class QueryKind(StrEnum):
    """Names the kinds; the module docstring has the rules."""

    SYMBOL = "symbol"
    USAGE = "usage"
    MESSAGE = "message"
    PHRASE = "phrase"
    QUESTION = "question"
    ISSUE = "issue"
    TRACE = "trace"


class RecognisedKind(Struct, frozen=True):
    """Holds the kind of a query, the name that the query is about ("" if it names nothing), and why it has that
    kind."""

    kind: QueryKind
    subject: str = ""
    because: str = ""

    def to_dict(self) -> dict[str, str]:
        return {"kind": str(self.kind), "subject": self.subject, "because": self.because}


_PART = rf"(?:[^\W\d{CJK}]|[$~@])(?:[^\W{CJK}]|[$])*"
_SUBJECT = rf"`?(?P<subject>{_PART}(?:(?:\.|::|#|->|/){_PART}){{0,8}})[!?]?(?:\(\))?`?"
_WHAT = r"(?:(?:the|a|an|all|any|our)\s+)?(?:(?:function|method|class|struct|type|macro|constant|variable|module)\s+)?"
_USED = r"(?:used|called|invoked|referenced|instantiated|imported|constructed|consumed)"
_USES = r"(?:calls?|uses?|invokes?|references?|instantiates?|imports?|constructs?|consumes?)"
_ASIDE = r"(?:\s+(?:of|on|in|from|by)\s+(?:the\s+)?[\w ]{1,40})?"
_END = r"\s*[?.？。]*"
_FIND = r"(?:(?:find|list|show)(?:\s+me)?\s+)?(?:all\s+)?(?:the\s+)?"
_CALL = r"(?:调用|使用|引用|用到|用|导入|实例化)"
_PLACE = r"(?:在?(?:哪里|哪儿|哪些地方|什么地方|何处|哪)|被?谁|哪些(?:函数|代码|文件|方法))"


@cache
def _patterns(texts: tuple[str, ...], chinese: bool) -> tuple[re.Pattern[str], ...]:
    """Compiles the expressions for queries with Chinese letters, or without. Character classes that exclude those
    letters take 0.2 s to compile, so other queries do without them."""
    whole = (rf"\s*{text}{_END}" for text in texts)
    return tuple(re.compile(text if chinese else text.replace(CJK, ""), re.IGNORECASE) for text in whole)


_USAGE = (
    rf"(?:where|how|when|from\s+where)(?:'s|\s+is|\s+are|\s+do\s+we|\s+does|\s+gets?)?\s+{_WHAT}{_SUBJECT}{_ASIDE}\s+"
    rf"(?:being\s+|actually\s+)?{_USED}{_ASIDE}",
    rf"where\s+(?:do|does)\s+(?:we|it|they)\s+(?:call|use|invoke|import|instantiate)\s+{_WHAT}{_SUBJECT}{_ASIDE}",
    rf"(?:who|what|which\s+\w+)\s+{_USES}\s+{_WHAT}{_SUBJECT}{_ASIDE}",
    rf"{_FIND}(?:usages?|uses|callers?|call\s+sites?|references?|invocations?|calls)\s+(?:of|to|for)\s+{_WHAT}"
    rf"{_SUBJECT}{_ASIDE}",
    rf"{_SUBJECT}\s+(?:usages?|callers?|call\s+sites?|references)",
    rf"{_PLACE}(?:会|都)?{_CALL}(?:了|到|过)?\s*{_SUBJECT}",
    rf"{_SUBJECT}\s*(?:函数|方法|类)?\s*(?:是|都|会)*{_PLACE}(?:被|里)?{_CALL}(?:了|到|过|的)*",
    rf"{_SUBJECT}\s*(?:函数|方法|类)?\s*的(?:调用者|调用处|用法|引用|使用处|调用)",
)
_DEFINITION = (
    rf"(?:where|how)(?:'s|\s+is|\s+are)?\s+{_WHAT}{_SUBJECT}\s+(?:defined|declared|implemented)",
    rf"{_FIND}(?:definition|declaration|implementation)\s+of\s+{_WHAT}{_SUBJECT}",
    rf"(?:class|struct|interface|enum|trait|def|fn|func|function|method|type|macro|module)\s+{_SUBJECT}",
    rf"{_SUBJECT}\s*(?:函数|方法|类)?\s*(?:是)?(?:在哪里|在哪儿|在哪|何处)(?:里)?(?:定义|声明|实现)的?",
    rf"{_SUBJECT}\s*(?:函数|方法|类)?\s*的(?:定义|声明|实现)",
    rf"{_SUBJECT}",
)
_QUESTION = re.compile(
    r"\s*(?:how|where|what|when|which|who|whom|whose|why|is|are|does|do|did)\b|.*[?？]\s*\Z"
    r"|.*(?:如何|怎么|怎样|怎麽|什么|哪里|哪个|哪些|为什么|为何|是否|吗|多少|谁|何时|呢)",
    re.IGNORECASE,
)
_RAISED = re.compile(
    r"\s*(?:\w+(?:\.|::|\\\\))*\w*(?:Error|Exception|Warning|panic(?:ked)?)\b.{0,40}:\s*\S", re.IGNORECASE
)
_MESSAGE = re.compile(
    r"""\s*(?:["'“‘「『`].{4,}["'”’」』`])[.!?]?\s*\Z"""
    r"|.*(?:error|exception|panic(?:ked)?|failed|failure|fatal|warning|cannot|can't|could not|couldn't|unable to"
    r"|invalid|unexpected|unsupported|unknown|missing|not found|no such|not allowed|must be|must not|is not a|错误|异常"
    r"|失败|无法|不能|警告)(?![A-Za-z_])"
    r"|.*(?:[a-z]{2}[.!]|: \S.*)\s*\Z",
    re.IGNORECASE,
)
_TRACE = re.compile(
    r"Traceback \(most recent call last\)|^[ \t]*at \S{1,200} ?\([^()\n]{1,400}:\d+|stack backtrace:|^goroutine \d+",
    re.MULTILINE,
)


def find_kind(text: str, frames: int = 0) -> RecognisedKind:
    """Finds the kind of a query.

    Args:
        text: as the user wrote it.
        frames: how many frames of a stack trace were recognised in it.
    """
    body = text.strip()
    if (several := "\n" in body) and (frames or _TRACE.search(body)):
        return RecognisedKind(QueryKind.TRACE, because="it holds a stack trace")
    if several or len(body) > SHORT_QUERY:
        return RecognisedKind(
            QueryKind.ISSUE, because="it has several lines" if several else f"it has more than {SHORT_QUERY} characters"
        )
    if name := _find_subject(_USAGE, body):
        return RecognisedKind(QueryKind.USAGE, name, f"it asks where {name} is used")
    if name := _find_subject(_DEFINITION, body):
        return RecognisedKind(
            QueryKind.SYMBOL, name, "it is one name" if len(body.split()) == 1 else f"it asks for {name}"
        )
    if _RAISED.match(body):
        return RecognisedKind(QueryKind.MESSAGE, because="it begins with an error")
    if _QUESTION.match(body):
        return RecognisedKind(QueryKind.QUESTION, because="it is a question")
    if len(body.split()) >= SHORTEST_MESSAGE and _MESSAGE.match(body):
        return RecognisedKind(QueryKind.MESSAGE, because="it reads like a message")
    return RecognisedKind(QueryKind.PHRASE, because="it is words, and of no other kind")


def _find_subject(texts: tuple[str, ...], body: str) -> str:
    for pattern in _patterns(texts, has_cjk(body)):
        if match := pattern.fullmatch(body):
            name = match["subject"]
            if name.lower() not in STOP_WORDS:
                return name
    return ""
