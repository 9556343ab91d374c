"""Weights the lines of a long query. Titles and sentences count most, pasted code less; traces, version tables and the
text of forms not at all.

People paste issues. Most words of an issue are a stack trace, an environment, headings of a form: words of every issue,
which find anything. Names, paths and frames in those parts still count, because `query.py` looks for them in the whole
text.
"""

from __future__ import annotations

import re

from secateur.retrieval.issue_forms import is_of_form

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
