"""Components of Vue, Svelte and Astro: scripts are read as TypeScript, markup and styles are sections, and calls in the
markup count as calls."""

import re
from collections.abc import Iterator

from secateur.languages.ecmascript import RULES
from secateur.languages.ecmascript import reader as ecmascript
from secateur.languages.syntax.blocks import ATTRIBUTES
from secateur.languages.syntax.collector import ALWAYS, Captures, Collector, Definition
from secateur.languages.traits import SCRIPT_SILENT, Grammar, LanguageTraits
from secateur.model import FragmentKind

LANGUAGES = tuple(
    LanguageTraits(
        name=name,
        extensions=name,
        test_names_lower=((name, r".*\.(test|tests|spec|specs|e2e|cy)"),),
        grammar=Grammar("tree_sitter_typescript", __name__, "language_typescript", "ecmascript typescript"),
        silent=SCRIPT_SILENT,
        rules=RULES,
    )
    for name in ("astro", "svelte", "vue")
)

READS_CALLS = True

_FRONT_MATTER = re.compile(rb"\A(?:\xef\xbb\xbf)?---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)
_BLOCK = re.compile(rb"^[ \t]*<(script|style)\b" + ATTRIBUTES + rb">|</(script|style)\s*>", re.MULTILINE)
_EXPRESSION = re.compile(
    rb"\{\{([^{}\n]{0,400})\}\}"
    rb"|(?:@|:|\bv-|\bon:|\bbind:)[\w:.-]{1,80}=\"([^\"\n]{0,400})\""
    rb"|(?<![{$])\{([^{}\n]{0,400})\}"
)
_CALL = re.compile(rb"(?<![\w$.])([A-Za-z_$][\w$]*)\s*\(")
_NAME = re.compile(rb"\s*([A-Za-z_$][\w$]*)\s*")
_NOT_LINE_BREAK = re.compile(rb"[^\r\n]")
_EVENT_ATTRIBUTE = re.compile(rb"(?:@|\bv-on:|\bon:?)[\w:.-]{0,80}=(?:\"[\w$\s]{0,90}\"|\{[\w$\s]{0,90}\})\Z")
_EVENT_LOOKBACK = 90
_KEYWORDS = frozenset(b"if for while switch function return await true false null".split())


def prepare(source: bytes, _language: str) -> bytes:
    """Replaces everything but the scripts with blanks."""
    parts = []
    at = 0
    for name, start, end in _find_blocks(source):
        if name == "script":
            parts += [_NOT_LINE_BREAK.sub(b" ", source[at:start]), source[start:end]]
            at = end
    return b"".join([*parts, _NOT_LINE_BREAK.sub(b" ", source[at:])])


def read(captures: Captures, out: Collector) -> None:
    """Reads the definitions of the scripts, and the sections between them with their calls."""
    ecmascript.read(captures, out)
    at = 0
    for name, start, end in [*_find_blocks(out.source), ("", len(out.source), len(out.source))]:
        block_start = max(at, out.source.rfind(b"\n", at, start) + 1 if name else start)
        if _add_section("template", at, block_start, out):
            row, counted_to = out.source.count(b"\n", 0, at), at
            for match in _EXPRESSION.finditer(out.source, at, block_start):
                row += out.source.count(b"\n", counted_to, match.start())
                counted_to = match.start()
                expression = match[1] or match[2] or match[3] or b""
                is_handler = _EVENT_ATTRIBUTE.search(out.source, max(at, match.start() - _EVENT_LOOKBACK), match.end())
                handler = _NAME.fullmatch(expression) if is_handler else None
                for call in [handler] if handler else _CALL.finditer(expression):
                    if call[1] not in _KEYWORDS:
                        out.calls.append((row, call[1].decode(), ""))
        if name == "style":
            _add_section("style", block_start, out.source.find(b">", end) + 1, out)
        at = out.source.find(b"\n", end) + 1 or len(out.source)


def _find_blocks(source: bytes) -> Iterator[tuple[str, int, int]]:
    at = 0
    if front := _FRONT_MATTER.match(source):
        yield "script", front.start(1), front.end(1)
        at = front.end()
    opening: re.Match[bytes] | None = None
    for match in _BLOCK.finditer(source, at):
        if opening is None and match[1]:
            opening = match
        elif opening is not None and match[2] == opening[1]:
            yield opening[1].decode(), opening.end(), match.start()
            opening = None


def _add_section(name: str, start: int, end: int, out: Collector) -> bool:
    text = out.source[start:end]
    start += len(text) - len(text.lstrip())
    end = start + len(text.strip())
    if start >= end or text.strip() == b"---":
        return False
    first = out.source.count(b"\n", 0, start)
    last = first + out.source.count(b"\n", start, end)
    out.definitions.append(Definition(FragmentKind.SECTION, name, start, end, first, last, first, first, ALWAYS))
    return True
