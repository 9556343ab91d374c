"""What a commit message says of the fault it mends, in the words of somebody who reports it: what was wrong, not what
was done about it."""

from __future__ import annotations

import re

BODY_WORDS = (15, 400)
"""Fewest and most words of a message's body that make a report."""

NOTE_WORDS = (12, 400)
"""Of a note for users."""

_FAULT = re.compile(
    r"\b(fix\w*|bugs?|crash\w*|incorrect\w*|wrong\w*|rais(e|es|ed|ing)|fail\w*|errors?|broken|breaks?|regress\w*|unexpected\w*|leak\w*|hangs?"
    r"|panic\w*|exceptions?|invalid|mistaken\w*|overflow\w*|ignored|deadlock\w*|race|missing|cannot|can't|doesn't|does"
    r" not|didn't|wasn't|isn't)\b",
    re.IGNORECASE,
)
_SYMPTOM = re.compile(
    r"\b(when|if|instead|expected|should|would|currently|previously|because|but|however|causes?|caused|results?)\b",
    re.IGNORECASE,
)
_CHORE = re.compile(
    r"^(revert|merge|release|bump|docs?|test\w*|refactor\w*|chore|style|ci|build|typo|rename\w*|clean|clippy|lint"
    r"|format\w*|deprecat\w*|feat\w*|perf|(remov|delet)\w+ (dead|unused|obsolete))\b",
    re.IGNORECASE,
)
_TITLE_AREA = re.compile(r"^(\[[^\]]*\]\s*)*([\w./*,{}-]+(\([^)]*\))?!?:\s+){0,3}")
"""`fix(core):`, `net/http:`, `[ABC-12]`: where the fix went, which somebody who reports a fault does not know."""

_REFERENCE = re.compile(
    r"\(?(\b(fix|clos|resolv)(es|ed|e)?:? +)?(([\w-]+/[\w.-]+)?#\d+|\bgh-\d+\b|https?://[^\s)]+)[).]*", re.IGNORECASE
)
_TRAILER = re.compile(
    r"\W*(([A-Za-z]+(-[A-Za-z]+)+|Trust):(\s|$)|\(cherry picked|git-svn-id|[-*] \[[ x]\]).*|[*-] \w+(\([^)]*\))?!?: .*",
    re.IGNORECASE,
)
"""Trailers, check lists, titles of squashed commits."""

_DONE = (
    "fix guard use add move replace update introduce modif rename refactor implement remove simplif teach make extract"
    " pass check convert switch extend"
)
_REMEDY = re.compile(
    r"((this|the) (commit|change|patch|pr|pull request|fix\w*|solution)|(we |i )?(now |also |just"
    rf" )?({_DONE.replace(' ', '|')})\w*"
    r"|(this|it) (must|should|can|may|needs? to) be (back)?ported"
    r"|to (fix|solve|address|resolve|avoid)|so\b|instead,|test\w*\b|release notes?)",
    re.IGNORECASE,
)
"""How a paragraph begins that tells what was done, not what was wrong."""

_REFERRING = re.compile(
    r"[\W\d]*((this|also|and|in|to|for|from|with|issues?|bugs?|tickets?|pull request|pr|part"
    r" of|see|cc|refs?|references?|links?|updates?|re|url|via"
    r"|(fix|clos|resolv|address|relat)(es|ed|e|ing)?)\b[\W\d]*)*",
    re.IGNORECASE,
)
"""Lines that say nothing once their references are gone."""

_REVIEW = re.compile(
    r"^(testing( done)?|test plan|how (was|to)( this| it)? test\w*|review\w*( by)?|bugs closed)\b:?\s*$.*"
    r"|^(test plan|reviewers|testing): .*",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
"""From here on a message tells how the change was tried and read."""

_LABEL = re.compile(
    r"^#*\s*(summary|description|problem|issue|symptoms?|what happened|why|context|background|motivation)\b"
    r":?\**:?[ \t]*$|^summary:[ \t]*",
    re.IGNORECASE | re.MULTILINE,
)

_TEMPLATE = re.compile(
    r"<!--.*?-->|^#+ *(check ?list|this pull request is|pull request check\w*|type of change)\b.*",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)

_NOTE_OTHER = re.compile(
    r"^(prelude|features|upgrade|deprecations|security|issues|critical|other|api|perf\w*|critical_\w+):", re.MULTILINE
)
"""Sections of a note that tell of anything but a fault."""

_NOTE_FIXES = re.compile(r"^fixes:\s*$(.*?)(?=^\w+:|\Z)", re.MULTILINE | re.DOTALL)
_MARKUP = re.compile(r":[\w:]+:`([^`]*)`|``([^`]*)``|`([^`<]*?)(?: <[^>]*>)?`_{0,2}")
_BUG = re.compile(
    r"\W*\b(bug|lp|story|issue|ticket|rhbz)s?:? *#?\d+\W*(?=$|\n)|\[?`?(bug|story) +\d+`?\]?:?|<https?://[^>\s]+>_{0,2}",
    re.IGNORECASE,
)


def _told(body: str) -> str:
    return _LABEL.sub("", _REVIEW.sub("", _TEMPLATE.sub("", body)))


def query_of(message: str) -> str:
    """The message as somebody who reports the fault could have written it; "" when it does not describe one in
    prose."""
    title, _, body = message.partition("\n")
    if _CHORE.match(title):
        return ""
    title = " ".join(_REFERENCE.sub("", _TITLE_AREA.sub("", title, count=1)).split())
    kept = [_REFERENCE.sub("", line).rstrip() for line in _told(body).split("\n")]
    kept = [line for line in kept if not line or not (_TRAILER.match(line) or _REFERRING.fullmatch(line))]
    paragraphs = [
        part for part in re.split(r"\n\s*\n", "\n".join(kept).strip("\n")) if not _REMEDY.match(part.lstrip(" *->#"))
    ]
    body = "\n\n".join(paragraphs)
    bullets = sum(part.count("\n* ") + part.count("\n- ") + part.startswith(("* ", "- ")) for part in paragraphs)
    said = f"{title}\n\n{body}\n"
    if not BODY_WORDS[0] <= len(body.split()) <= BODY_WORDS[1] or bullets * 2 > body.count("\n") + 1:
        return ""
    faults, symptoms = len(_FAULT.findall(said)), len(_SYMPTOM.findall(said))
    return said if faults and symptoms and faults + symptoms >= 3 else ""


def note_of(text: str) -> str:
    """What a note for users (one section of a change log, in a file of its own) says was mended: its first sentence
    as a title, then the rest; "" when it tells of anything else, or too little."""
    if re.search(r"^\w+:\s*$", text, re.MULTILINE):
        sections = _NOTE_FIXES.findall(text)
        if not sections or _NOTE_OTHER.search(text):
            return ""
        text = re.sub(r"^\s*-\s*[|>]?-?", "", sections[0], flags=re.MULTILINE)
    text = _BUG.sub("", _MARKUP.sub(lambda match: match[1] or match[2] or match[3] or "", _REFERENCE.sub("", text)))
    lines = [line.strip() for line in text.split("\n")]
    said = " ".join(" ".join(lines).split())
    title, _, rest = said.partition(". ")
    if not NOTE_WORDS[0] <= len(said.split()) <= NOTE_WORDS[1] or not _FAULT.search(said):
        return ""
    return f"{title}\n\n{rest}\n" if rest else f"{title}\n"
