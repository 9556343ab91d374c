"""Finds the units of code that no grammar reads, by its indentation.

A unit begins at the least indentation, below a blank, closing, deeper or comment line. It ends above the next one, and
holds deeper lines or defines a function on one line. It is named by its first line: by the name which that defines, if
there is one. Units inside are found in the same way.

Code of other languages inside, such as a script or `@code` of a Razor page, is read by its own grammar. What that
cannot read stays in units by indentation.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate

from secateur.languages import rules_of, traits_of
from secateur.languages.plain import COMPONENTS, MARKUP, UNPARSED
from secateur.languages.syntax import grammar
from secateur.languages.syntax.collector import ALWAYS, LONG_FUNCTION, LONG_WRAPPER, Collector, Definition
from secateur.languages.syntax.names import read_receiver
from secateur.languages.syntax.partition import make_facts
from secateur.languages.syntax.text import UNPARSED_LINES, is_blank, is_closing
from secateur.model import FileFacts, FragmentKind

_HEAD = 200  # most characters of a line that are examined
_LONGEST = 2000  # most characters of a line that are searched for calls
_NAME_LENGTH = 80
_SHORT_ELEMENT = 4  # elements of fewer lines are no units
_DEEPEST = 12
_MOST_REGIONS = 200  # most pieces of embedded code in a file that are parsed
_MOST_UNCLOSED = 8  # most of them without an end: each is searched for it to the end of the file
_TOP = 4  # most rows of a unit that are searched for its name
_WRAPPER = 12  # a block without a name that has more lines is opened

# Comments that span lines, by how they begin and end.
_COMMENTS = (
    ("/*", "*/"), ("(*", "*)"), ("{-", "-}"), ("<!--", "-->"), ("<#", "#>"), ("{#", "#}"), ("#=", "=#"), ("@*", "*@"),
    ("{{!--", "--}}"), ("<%--", "--%>"), ("<%#", "%>"), ("=pod", "=cut"), ("=head", "=cut"), ('"""', '"""'),
)  # fmt: skip
_NOTE = re.compile(
    r"//|\*[ /*]|--(?![\[>])|#(?![\[({*])|[!'](?=[!'\s])|\[<?\w[^\]]*\]\s*$|@\w+(?:\([^()]*\))?\s*$|pragma\b"
)
_BODY = re.compile(r"\s*(?:[{(\[]|begin|is|as)\s*", re.IGNORECASE)
# Lines that never begin a unit: the further parts of one, and statements.
_CONTINUES = re.compile(
    r"\s*(?:[)\]},|&+>\[]|\{(?![%{!#])|\W*(?:and|as|begin|catch|contains|do|elif|else|elseif|elsif|ensure|except"
    r"|exception|finally|in|is|language|of|or|otherwise|rescue|then|where)\b(?!-))",
    re.IGNORECASE,
)
_CONTROL = re.compile(
    r"\W*(?:(?:case|cond|default|each|for|foreach|forall|if|lock|loop|match|parallel|repeat|switch|synchronized|try"
    r"|unless|until|when|while|with|yield)\b(?!-)|(?:echo|import|include|open|print|raise|require|return|select|throw"
    r"|use|uses|using)(?!\s*\(|[\w-]))",
    re.IGNORECASE,
)
_NAME = r"[$@%&*\"']?(?P<name>(?:[\w$'-]+(?:::|[.:#]))*[\w$'?!-]*[\w?!])"
_DEFINES = re.compile(
    r"(?<![\w.'\"<-])(?:(?P<type>class|module|namespace|contract|interface|library|trait|struct|structure|record|union"
    r"|enum|impl|object|package|unit|protocol|extension|instance|role|actor|type|newtype|data|service|mod"
    r"|implementation|(?<!@)model|resource)|(?P<weak>let|val|var|my|our|local|const|member|block|component)"
    r"|(?:function|func|fun|fn|def[\w-]*|sub|subroutine|proc|procedure|method|macro|modifier|filter|predicate|program"
    r"|rule|template|iterator|test|snippet|theorem|lemma|fixpoint|definition|^\s*:(?=\w)))!?(?:\s+(?:abstract|async"
    r"|automatic|body|inline|int|internal|method|mutable|private|rec|static|void))*(?:[\s(]+|(?<=:))(?:::\s*)?"
    r"(?!(?:division|section|subroutine|function|procedure|pure|class|struct|type)\b)" + _NAME,
    re.IGNORECASE,
)
_ASSIGNED = re.compile(
    r"\s*(?!(?:type|integer|real|logical|character)\b)" + _NAME + r"\s*(?P<sign><<?-|:=|=(?!=)|::?)(?:\s|$)"
)
_TYPED = re.compile(r"=\s*(?:\w+\s+){0,2}(?:struct|union|enum|class|object|R6Class|setRefClass)\b")
_DATA = re.compile(r"(?:=|<-|:)\s*(?!function|fun|sub|proc|lambda)[@%$\w.]*\s*[\[({]\s*$")
# Other lines that define a name; one with a title, `describe("a cart", ...)`, is named by the whole line.
_NAMED = re.compile(
    r"\s*\(?[\w.$]+[\s(]+[\"']|\s*[-+]\s*\([^()]*\)\s*(\w+)"  # a method of Objective-C
    r"|\s*(?:with\s+(?:recursive\s+)?)?(\w+)\s+as\s+(?:\w+\s+){0,2}\("  # a table of a query
    r"|.*?(?<![\w$.:'-])([a-z_$][\w$.:'?!-]*)\s*\((?!\s*[\"'])"
    r"|\s*(?!let\b)([a-z_][\w']*)(?:\s+[\w'_~()\[\]:,]+){1,20}\s*=",
    re.IGNORECASE,
)
# Expressions and statements in text, and functions that handle an event
_ISLAND = re.compile(r"(?:\{[{%]|<%|(?<![\w@])@(?=\w)(?!(?!on)[\w:.-]*=))((?:=>|[^{}%<>]){0,400})")
_EXPRESSION = re.compile(r"(?:(?<!\$)\{|(?:@|:|\bv-|\bon:|\bbind:)[\w:.-]{1,80}=\")((?:=>|[^{}<>]){0,400})")
_HANDLER = re.compile(r"(?:@|\bv-on:|\bon:?)[\w:.-]{0,80}=[\"{](?:return )?@?([A-Za-z_$][\w$]*)[\"}(]")
_CALL = re.compile(rb"(?<!macro )(?<!test )(?<![\w$])([A-Za-z_$][\w$]*)\(")
_OPENED = re.compile(
    r"\s*(?:\{%[-+]?\s*|@)(macro|test|block|snapshot|materialization|docs|call|schema|(?:section|push)(?!\([^)]*,))\b"
)
_SCOPE = re.compile(
    r"\s*(?:@(?:code|functions)\b|<(?:script|html|head|body|main)\b|@section\s+Scripts\b|@php\s*$"
    r"|<%[!-]?\s*$)",
    re.IGNORECASE,
)
_SELF = re.compile(r"(?:this|self|_+|x|me)\.(?=\w)")

_SCRIPT = re.compile(
    rb"(?i:<script\b(?![^>]{0,300}\btype\s?=\s?[\"']?(?!module|(?:text|application)/(?:x-)?(?:java|ecma)script))"
    rb"(?:[^<>\"']|\"[^\"\n]{0,300}\"|'[^'\n]{0,300}'){0,300}>)"
)
_SCRIPT_END = re.compile(rb"(?P<close></script)", re.IGNORECASE)
_FRONT_END = re.compile(rb"^(?P<close>---)[ \t]*$", re.MULTILINE)
_LINE = re.compile(rb"(?P<close>[;\r\n]|\Z)")
_BRACES = re.compile(
    rb"//[^\n]*|/\*(?:[^*]|\*(?!/))*|(?<!\\)(?:\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')|(?P<open>\{)|(?P<close>\})"
)
# Code inside text: the languages of the text, how the code begins and ends, the language of the code, and what its
# grammar needs before and after it.
_EMBEDDED = (
    (COMPONENTS, re.compile(rb"\A---[ \t]*(?=\n)"), _FRONT_END, "typescript", b"", b""),
    (COMPONENTS, _SCRIPT, _SCRIPT_END, "typescript", b"", b""),
    (MARKUP - COMPONENTS, _SCRIPT, _SCRIPT_END, "javascript", b"", b""),
    ({"razor"}, re.compile(rb"@(?:code|functions)\s{0,99}\{"), _BRACES, "csharp", b"class A {", b"}"),
    ({"razor"}, re.compile(rb"@\{"), _BRACES, "csharp", b"{", b"}"),
    ({"razor"}, re.compile(rb"@using[ \t]+(?=\w)"), _LINE, "csharp", b"using ", b";"),
    ({"razor"}, re.compile(rb"@inject[ \t]+"), _LINE, "csharp", b"class A {", b";}"),
    ({"razor"}, re.compile(rb"@model[ \t]+"), _LINE, "csharp", b"class A {", b" Model;}"),
    ({"blade"}, re.compile(rb"@php\b(?!\s?\()"), re.compile(rb"(?P<close>@endphp)"), "php", b"<?php ", b""),
    (MARKUP, re.compile(rb"<\?(?:php\b|=)"), re.compile(rb"(?P<close>\?>)"), "php", b"<?php ", b";"),
    ({"template"}, re.compile(rb"<%!"), re.compile(rb"(?P<close>%>)"), "java", b"class A {", b"}"),
)
_PLACEHOLDER = re.compile(  # parts of a template inside a script
    rb"(?P<value>\{\{[^{}\n]{0,400}\}\}|\{!![^{}\n]{0,400}!!\}|<%[=-][^%]{0,400}%>|<\?[^?]{0,400}\?>"
    rb"|(?<![\w@])@[\w.]+(?:\([^()\n]{0,200}\))?)|<%[^%]{0,400}%>|\{[%#][^%#]{0,400}[%#]\}"
)


def read_blocks(language: str, lines: Sequence[str], problems: tuple[str, ...]) -> FileFacts | None:
    """Returns the facts of a file that is not parsed; None if no unit is found."""
    is_markup = language in MARKUP
    holds_calls = is_markup or language == "sql"
    notes = frozenset(_find_notes(lines, "//" if is_markup else traits_of(language).line_comment, is_markup))
    # White space before each row; -1 for blank rows and comments
    indents = [
        -1 if row in notes or is_blank(line) else len(line) - len(line.lstrip()) for row, line in enumerate(lines)
    ]
    out = Collector(b"")
    waiting = [(0, len(lines) - 1, -1, 0, False)]
    while waiting:
        first, last, outer, depth, in_function = waiting.pop()
        before: Definition | None = None
        for head, end, least, is_block in _split(lines, indents, first, last, outer):
            # Attributes and declarations of types may stand above the line that defines the name.
            top = (row for row in range(head, min(head + _TOP, end + 1)) if indents[row] == least)
            row = next((row for row in top if _DEFINES.search(lines[row][:_HEAD])), head)
            if (unit := _define(lines[row][:_HEAD], (head, row, end), is_block, holds_calls, in_function)) is None:
                continue
            unit.is_text = is_markup
            if before is not None and (before.name, before.last) == (unit.name, head - 1):
                before.last, before.end = end, end + 1  # a further clause of the same function
            else:
                out.definitions.append(before := unit)
            if depth < _DEEPEST:
                is_function = unit.kind is FragmentKind.FUNCTION and unit.opens_at == LONG_WRAPPER
                waiting.append((head + 1, end, least, depth + 1, is_function))
    parsed = _read_embedded(language, lines, out)
    if parsed and language in UNPARSED:
        problems = (*problems, f"{UNPARSED_LINES}{len(lines) - len(parsed)}")
    family, own = rules_of(language).family, {unit.name for unit in out.definitions}
    helpers = "()" if language == "erb" else ""  # Rails makes the methods of all helpers known to templates
    is_component = language in COMPONENTS
    for row, line in enumerate(lines if holds_calls else ()):
        if is_component and row in parsed:
            continue
        for island in (_EXPRESSION if is_component else _ISLAND).finditer(line[:_LONGEST]):
            code = island[1].encode()
            for call in _CALL.finditer(code):
                receiver = read_receiver(code, call.start()) or helpers if family != "template" else ""
                out.calls.append((row, call[1].decode(), receiver))
        out.calls += ((row, name, "") for name in _HANDLER.findall(line[:_LONGEST]) if family == "js" or name in own)
    return make_facts(language, lines, out, notes, problems) if out.definitions or out.calls or out.imports else None


@cache
def _find_openings(language: str) -> re.Pattern[bytes]:
    """Returns a pattern of all that begins code inside a language; its last group is named by a row of `_EMBEDDED`."""
    rows = (b"(?P<_%d>%b)" % (row, entry[1].pattern) for row, entry in enumerate(_EMBEDDED) if language in entry[0])
    return re.compile(b"|".join(rows) or rb"(?!)")


def _read_embedded(language: str, lines: Sequence[str], out: Collector) -> set[int]:
    """Puts what grammars read in embedded code in the place of units by indentation. Returns its rows."""
    source = "\n".join(lines).encode()
    offsets = list(accumulate((len(line) + 1 for line in source.split(b"\n")), initial=0))
    ends, whole = {-1: -1}, set[int]()  # first and last rows of embedded code, and all rows of code without errors
    units: list[Definition] = []
    calls: list[tuple[int, str, str]] = []  # of languages that cannot call what the text calls
    lasts = {unit.sig_first: unit.last for unit in out.definitions}
    at = unclosed = 0
    for _ in range(_MOST_REGIONS):
        opening = _find_openings(language).search(source, at)
        if opening is None or opening.lastgroup is None or unclosed == _MOST_UNCLOSED:
            break
        _, _, signs, inner, before, after = _EMBEDDED[int(opening.lastgroup[1:])]
        start, depth = opening.end(), 1
        for sign in signs.finditer(source, start):
            depth += {"open": 1, "close": -1}.get(sign.lastgroup or "", 0)
            if not depth:
                break
        else:
            at, unclosed = start, unclosed + 1
            continue
        at = sign.end()
        code = source[start : sign.start()]
        first, last = (bisect_right(offsets, position) - 1 for position in (start, sign.start()))
        if len(code) > min(grammar.MAX_PARSE_BYTES, grammar.MINIFIED_BYTES_A_LINE * (last - first + 1)):
            continue
        if inner == "javascript":
            code = _PLACEHOLDER.sub(lambda part: re.sub(rb"[^\n]", b"_" if part["value"] else b" ", part[0]), code)
        try:
            part, _, _ = grammar.read_tree(inner, before + code + after)
        except (grammar.GrammarMissing, grammar.ParseStopped):
            continue
        ends[first] = last
        # In PHP, closures that a variable holds are units by indentation alone.
        whole.update(range(first, last + 1) if not part.has_error and inner != "php" else ())
        for unit in part.definitions:
            # Left out: `class` around it, `@if` of Razor, and nameless units that an error may have made too long
            if unit.start >= len(before) and unit.name[:1] != "@" and (unit.kind or unit.methods or not part.has_error):
                unit.start, unit.end = unit.start + start - len(before), unit.end + start - len(before)
                unit.first, unit.last = unit.first + first, unit.last + first
                unit.sig_first, unit.sig_last = unit.sig_first + first, unit.sig_last + first
                if part.has_error and lasts.get(unit.sig_first, unit.last) < unit.last:
                    unit.opens_at = ALWAYS  # without its closing bracket, it seems to hold all that is below
                units.append(unit)
        out.branches += (row + first for row in part.branches)
        if rules_of(inner).family == rules_of(language).family:
            for facts in ("calls", "overloaded_calls", "imports", "bases", "annotations"):
                getattr(out, facts).extend((row + first, *rest) for row, *rest in getattr(part, facts))
            out.import_rows += ((start_row + first, end_row + first) for start_row, end_row in part.import_rows)
        else:
            calls += ((row + first, name, receiver) for row, name, receiver in part.calls)
    own = {unit.name for unit in units}
    out.calls += (call for call in calls if call[1] in own)
    firsts, heads = sorted(ends), sorted(unit.first for unit in units if unit.kind)
    for unit in out.definitions:
        region = firsts[bisect_right(firsts, unit.sig_first) - 1]
        # What begins below the first row of code ends with the code.
        unit.last = min(unit.last, ends[region]) if region < unit.sig_first < ends[region] else unit.last
        unit.start, unit.end = offsets[unit.first], offsets[unit.last + 1]
        holds_units = bisect_right(heads, unit.first - 1) < bisect_right(heads, unit.last)
        if unit.last > ends[region]:  # it is not inside code
            unit.opens_at = ALWAYS if holds_units else unit.opens_at
        elif holds_units or unit.sig_first in whole:
            continue
        units.append(unit)
    out.definitions = units
    return {row for first, last in ends.items() for row in range(max(first, 0), last + 1)}


def _find_notes(lines: Sequence[str], mark: str, is_markup: bool) -> Iterator[int]:
    """Yields the rows that hold nothing but comments and attributes."""
    end, comments = "", _COMMENTS if mark != ";" else ()  # in Lisp, `(*` multiplies
    for row, line in enumerate(map(str.strip, lines)):
        start = 0 if end else 2
        end = end or next((close for start, close in comments if line.startswith(start)), "")
        if end:
            at = line.find(end, start)
            if at < 0 or start == 0 or not line[at + len(end) :]:
                yield row
            end = "" if at >= 0 else end
        elif (mark and line.startswith(mark)) or (not is_markup and _NOTE.match(line[:_HEAD])):
            yield row


def _split(
    lines: Sequence[str], indents: Sequence[int], first: int, last: int, outer: int
) -> Iterator[tuple[int, int, int, bool]]:
    """Yields first and last row of each run at the least indentation above `outer`, that indentation, and whether
    deeper rows or a body follow its first row."""
    rows = [row for row in range(first, last + 1) if indents[row] > outer]
    least = min((indents[row] for row in rows), default=0)
    head, end, is_block, close = -1, -1, False, ""
    for row in rows:
        line = lines[row][:_HEAD]
        if close:  # the body of a macro need not be indented
            close, end, is_block = "" if close in line else close, row, True
            continue
        is_start = row == first or indents[row - 1] != least or is_closing(lines[row - 1]) or _SCOPE.match(line)
        if indents[row] == least and is_start and not is_closing(lines[row]) and not _CONTINUES.match(line):
            if head >= 0:
                yield head, end, least, is_block
            head, is_block = row, False
            opened = _OPENED.match(line)
            close = f"end{opened[1]}" if opened and f"end{opened[1]}" not in line else ""
        is_block = is_block or (row > head >= 0 and (indents[row] > least or _BODY.fullmatch(line) is not None))
        end = row
    if head >= 0:
        yield head, end, least, is_block


def _define(
    line: str, rows: tuple[int, int, int], is_block: bool, is_markup: bool, in_function: bool
) -> Definition | None:
    """Returns the unit in rows (first, that of its name, last); None for rows that stay with what is around them."""
    head, row, end = rows
    control, start, name = _CONTROL.match(line), line.lstrip(), ""
    assigned, defines = (None, None) if control else (_ASSIGNED.match(line), _DEFINES.search(line))
    if defines and "(" in defines[0] and line[: defines.start()].strip():
        defines = None  # a parameter of an anonymous function
    if in_function and (not defines or defines["weak"]):
        return None
    kind: FragmentKind | None = FragmentKind.FUNCTION
    opens_at = LONG_WRAPPER
    if _SCOPE.match(line):
        kind, opens_at = None, ALWAYS
    elif assigned:
        name, is_block = assigned["name"], is_block or "function" in line or assigned["sign"] == "::"
    elif defines:
        name, is_block = defines["name"], is_block or not (defines["type"] or defines["weak"])
    elif is_markup and (control or (start.startswith("<") and not start.startswith("<%"))):
        kind, is_block = FragmentKind.SECTION, is_block and end - head >= _SHORT_ELEMENT
    elif control:
        return None
    else:
        found = _NAMED.match(line)
        name = found[found.lastindex] if found and found.lastindex else ""
        is_block = is_block or (name != "" and ") =>" in line)  # a method with an expression as its body
        opens_at = LONG_WRAPPER if name or is_markup else _WRAPPER
    if name and (_TYPED.search(line) or (defines and defines["type"] and not assigned)):
        kind, opens_at = FragmentKind.CLASS, ALWAYS
    if not is_block or (kind and not any(map(str.isalnum, line))):
        return None
    is_text = is_markup and not defines and "function" not in line and ("<" in line or not start[0].isalpha())
    if kind is FragmentKind.FUNCTION and (is_text or _DATA.search(line) or end - head >= LONG_FUNCTION):
        kind = FragmentKind.SECTION
    name = _SELF.sub("", name) if name else " ".join(line.split())[:_NAME_LENGTH].rstrip(" .:;{(")
    is_class = kind is FragmentKind.CLASS
    return Definition(kind, name if kind else "", head, end + 1, head, end, row, row, opens_at, methods=is_class)
