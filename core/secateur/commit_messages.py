"""Turns the message of a commit into a query: without references, signatures and templates. Pure.

query_of("Round refunds half to even (#812)\\n\\nSigned-off-by: A <a@b.c>")     # "Round refunds half to even"
"""

import re

from secateur.index.facts.lexical import STOP_WORDS, words

FEWEST_WORDS = 3  # least different words about the code in a message: "fix typo" asks for nothing specific
LONGEST = 2_000  # characters of a message that are read: longer ones describe releases

_REVERT = re.compile(
    r"\W*(revert|reapply|back(ing|ed)?[ -]?out|roll(ing|ed)?[ -]?back)\b|.*\bThis reverts commit\b", re.I
)

_RELEASE = re.compile(
    r"\W*((chore|build|ci|deps|release)(\([^)]*\))?!?:\s*)?(\[[^\]]{0,200}\]\s*)?(v?\d+\.\d\S*+\W*$"
    r"|release\b|prepar(e|ing) (for )?(the )?(next|release|version)|(start|begin|back to|open) .{0,30}\bdev"
    r"|(bump|update|upgrade|increment)(s|ed|ing)?\b.*"
    r"(\b(version|dependenc|requirement|pin)|from \S+ to\b|\d\.\d)"
    r"|version (bump|v?\d+\.\d))|.*\[maven-release-plugin\]|.*\bpre-commit\.ci\b",
    re.I,
)

_MERGE = re.compile(r"merge\b.*", re.I)  # first lines of pull requests that were squashed into one commit

_REFERENCE = re.compile(
    r"\(?(\b((fix|clos|resolv)(es|ed|e)?|refs?|see|issues?|pr|pull request)\b:?\s*)?"
    r"(([\w-]+/[\w.-]+)?#\d+|\bgh-\d+|https?://\S+/(issues|pull)/\d+)\)?",
    re.I,
)
_TRAILER = re.compile(
    r"\s*([A-Z][A-Za-z]+(-[A-Za-z]+)+:\s|\(cherry picked from|git-svn-id:|PiperOrigin-RevId|-{3,}\s*$|<!--)", re.M
)
_EMPTY_TEXT = """
    add added address adjust allow another better bit bug bugfix change changed changes chore clean cleanup code
    comment comments commit correct couple docs edit feedback few fix fixed fixes fixing fixup format formatting further
    general improve improved improvement improvements initial lint linter little make merge minor misc more new nit nits
    oops patch polish pr refactor refactoring remove removed rename review rework simplify small some stuff style test
    tests thing things tidy tweak tweaks typo typos unused update updated updates use various version wip work
    apply black clippy eslint flake8 gofmt hook hooks isort latest mypy noqa prettier pylint pyupgrade ruff rubocop run
"""

_EMPTY = frozenset(_EMPTY_TEXT.split())  # words that fit any change


def query_of(message: str) -> str:
    """Returns the message as a query; "" if it says nothing to search for."""
    first, _, rest = message[:LONGEST].partition("\n")
    if _MERGE.fullmatch(first.strip()):
        first, _, rest = rest.strip().partition("\n")
    lines = []
    for line in (first, *rest.split("\n")):
        if _TRAILER.match(line):
            continue
        stripped = _REFERENCE.sub("", line)
        lines.append(stripped.rstrip() if stripped == line else stripped.strip(" ,;:"))
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
    told = {word.lower() for word in words(text)} - STOP_WORDS - _EMPTY
    return text if sum(len(word) > 1 and not word.isdigit() for word in told) >= FEWEST_WORDS else ""


def is_revert(message: str) -> bool:
    """Tells whether the commit reverts another one."""
    return bool(_REVERT.match(message)) or "\nThis reverts commit " in message


def is_release(message: str) -> bool:
    """Tells whether the commit changes a version: its own, or that of a dependency."""
    return bool(_RELEASE.match(message.partition("\n")[0]))
