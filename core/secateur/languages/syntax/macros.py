"""Masks the macros of C and C++ before parsing: a grammar does not know their meaning, and a single macro can break the
class or namespace around it.

A masked macro becomes blanks, so that every byte and line keeps its position; texts are read from the original. Macros
are recognised by their names in capitals, and by their position. A name that may also be a type (`HRESULT Open(`)
stays.
"""

from __future__ import annotations

import re
from itertools import pairwise

from secateur.languages.syntax.names import words

# A text ends at the latest with its line, and a character is short, so that no quotation mark is looked behind twice.
_SILENT = rb'"(?:\\.|[^"\\\n])*+"?|\'(?:\\.|[^\'\\\n]){1,20}+\'|//[^\n]*|/\*(?:[^*]|\*(?!/))*\*?/?'
_DIRECTIVE = rb"^[ \t]*#(?:\\\r?\n|[^\n])*"
_TOKEN = re.compile(_SILENT + rb"|(" + _DIRECTIVE + rb"|\w+|::|->|[^\w\s])", re.MULTILINE)
_MACRO = re.compile(r"[A-Z][A-Z0-9_]+|\w+_(?:EXPORT|API)")
_NAME = re.compile(r"[A-Za-z_]\w*")
_EMIT = ("emit", "Q_EMIT")
_SHAPES = words("class struct union enum")
_MATTERS = _SHAPES | words("template slots signals Q_SLOTS Q_SIGNALS unsigned emit")
_ACCESS = words("public private protected")
_CONDITIONS = words("if while for switch")
_STARTERS = frozenset(
    {"", "#", ";", "{", "}", ":", ">", "]", ")", *words("static inline constexpr extern virtual else")}
)
_BEGINS_DECLARATION = (
    _SHAPES
    | _ACCESS
    | words(
        "namespace using template typedef static inline extern virtual explicit friend constexpr consteval auto void"
        " bool char int short long unsigned signed float double return typename ~"
    )
)
_AFTER_DECLARATOR = frozenset({"{", ":", "->", *words("const noexcept override final")})
_AFTER_VARIABLE = frozenset(";=,)[{:")
_AFTER_NAME = frozenset({"{", ":", "<", "::", "final"})

_BRANCHING = re.compile(rb"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b(?:\\\r?\n|[^\n])*", re.MULTILINE)
_SILENT_TEXT = re.compile(_SILENT)
_BODY = re.compile(rb"\s*\{")
_UNBROKEN = re.compile(rb"[^\r\n]")
_NO_BRACKETS = bytes(byte for byte in range(256) if byte not in b"{}()")
_DEEPEST = 40  # most levels of nested conditionals that are examined: the time would grow with more
_LONGEST_HEAD = 100  # most tokens of a template's parameters that are examined
_SHORTEST_DEFINITION = 5  # a shorter name leaves no room for a type and a name


def mask_macros(source: bytes, language: str) -> bytes:
    """Replaces the macros in a "c" or "cpp" source with blanks."""
    masker = _Masker(_mask_branches(source), language == "cpp")
    masker.mask()
    return bytes(masker.masked)


class _Masker:
    def __init__(self, source: bytes, is_cpp: bool) -> None:
        self.is_cpp = is_cpp
        self.masked = bytearray(source)
        self.spans: list[tuple[int, int]] = []
        self.texts: list[str] = []
        self.partners: dict[int, int] = {}  # position of each parenthesis → position of its partner
        openings: list[int] = []
        for match in _TOKEN.finditer(source):
            if match[1] is None:
                continue
            text = match[1].decode("ascii", errors="replace")
            if text.lstrip().startswith("#"):
                text = "#"
            elif text == "(":
                openings.append(len(self.texts))
            elif text == ")" and openings:
                opening = openings.pop()
                self.partners[opening], self.partners[len(self.texts)] = len(self.texts), opening
            self.texts.append(text)
            self.spans.append(match.span())
        self.texts += [""] * 4

    def mask(self) -> None:
        """Blanks all macros, in source order."""
        position, before, end = 0, "", len(self.spans)
        matters = {text for text in set(self.texts) if text in _MATTERS or _MACRO.fullmatch(text)}
        while position < end:
            text = self.texts[position]
            following = position
            if text not in matters:
                pass
            elif text in _SHAPES and before not in ("<", ","):
                following = self._mask_head(position + 1)
            elif text == "template" and self.texts[position + 1] == "<":
                self._mask_conditions(position + 1)
            elif text in ("slots", "signals", "Q_SLOTS", "Q_SIGNALS") and self.texts[position + 1] == ":":
                first, last = self.spans[position]
                self.masked[first:last] = (b"" if text.lower().endswith("slots") else b"public").ljust(last - first)
            elif text == "unsigned" and self.texts[position + 1] == "(" and self.texts[position + 2] != "*":
                self._blank(position, position + 1)  # the grammar knows `int(x)`, not `unsigned(x)`
            elif self._is_macro(position) or text in _EMIT:
                following = self._mask_macro(position, before)
            if following == position:
                before = text
                position += 1
            else:  # `before` stays: it now precedes the next token
                position = following

    def _is_macro(self, position: int) -> bool:
        return _MACRO.fullmatch(self.texts[position]) is not None

    def _find_unit_end(self, position: int) -> int:
        last = self.partners.get(position + 1, position) if self.texts[position + 1] == "(" else position
        return last + 1

    def _blank(self, first: int, last: int) -> int:
        """Blanks the tokens from `first` up to `last`, which is returned."""
        start, end = self.spans[first][0], self.spans[last - 1][1]
        self.masked[start:end] = _UNBROKEN.sub(b" ", self.masked[start:end])
        return last

    def _mask_head(self, position: int) -> int:
        """Blanks macros of `class SHOP_EXPORT Ledger {` and `class Ledger SHOP_FINAL : ...`. Returns the position of
        the name, at which the caller continues."""
        if self.texts[position] in _SHAPES:
            position += 1
        while True:
            end = self._find_unit_end(position) if self._is_macro(position) else position + 1
            name, after = self.texts[end], self.texts[end + 1]
            if not _NAME.fullmatch(name) or not _NAME.fullmatch(self.texts[position]) or name == "final":
                return position
            if self._is_macro(end) and (not self._is_macro(position) or after in ("(", "{", ":")):
                if self.texts[self._find_unit_end(end)] in ("{", ":") and self.texts[position + 1] != "(":
                    self._blank(end, self._find_unit_end(end))  # a macro behind the name
                    return position
            elif not self._is_macro(position) and (self.texts[position - 1] != "class" or after not in ("{", ":")):
                return position
            if (
                after not in _AFTER_NAME
                and not _NAME.fullmatch(after)
                and (after != ";" or self.texts[position - 1] != "class")
            ):
                return position
            position = self._blank(position, end)

    def _mask_conditions(self, position: int) -> None:
        """Blanks macros in the place of a parameter: `template <typename T, FMT_ENABLE_IF(...)>`."""
        depth, end = 0, position + _LONGEST_HEAD
        while self.texts[position] and position < end:
            text = self.texts[position]
            depth += (text == "<") - (text == ">")
            if depth <= 0 or text in "{};":
                return
            if text == "(":
                position = self.partners.get(position, position)
            elif text == "," and self._is_macro(position + 1) and self.texts[position + 2] == "(":
                behind = self._find_unit_end(position + 1)
                if self.texts[behind] in (",", ">"):
                    self._blank(position, behind)
                    position = behind - 1
            position += 1

    def _mask_macro(self, position: int, before: str) -> int:
        """Blanks a macro unless it is a value, a type or a call. Returns the position at which the caller continues."""
        end = self._find_unit_end(position)
        following = self.texts[end]
        if self.texts[position] in _EMIT:
            return self._blank(position, position + 1)
        if before in _CONDITIONS and end > position + 1:
            return self._blank(position, position + 1)  # if FMT_CONSTEXPR (...)
        if self._is_suffix(position, before, end):
            return self._blank(position, end)
        if end == position + 1:
            return self._blank(position, end) if self._is_prefix(end, before) else position
        if following == "(" and end == position + 4 and _NAME.fullmatch(self.texts[position + 2]):
            self._blank(end - 1, end)  # UPB_PRIVATE(name)(...) declares `name`
            return self._blank(position, position + 2)
        if before not in _STARTERS:
            return position
        if following in ("", "}", "#", "~") or (_NAME.fullmatch(following) and following not in ("and", "or")):
            return self._blank(position, end)
        start = self.spans[position][0]
        if following == "{" and (not start or self.masked[start - 1] == 10):
            self._mask_definition(position, end)
        return position

    def _is_prefix(self, position: int, before: str) -> bool:
        following, after = self.texts[position], self.texts[position + 1]
        if following in ("", "}", "#", "~") or (following == "{" and before in (";", "{", "}")):
            return before in _STARTERS
        if not _NAME.fullmatch(following):
            return False
        if following in _BEGINS_DECLARATION:
            return before in _STARTERS or following not in _ACCESS
        if following in ("const", "volatile"):
            return after not in ("&", "*")
        if following == "operator":
            return _NAME.fullmatch(after) is not None
        if before not in _STARTERS:  # `char *SHOP_API name(`
            is_typed = before in ("*", "&") or _NAME.fullmatch(before) is not None
            return _NAME.fullmatch(after) is not None or (is_typed and after in ("(", "::"))
        if after == "(":
            closed = self._find_unit_end(position)
            return self.is_cpp and (self.texts[closed] in _AFTER_DECLARATOR or self._is_macro(closed))
        return after not in _AFTER_VARIABLE

    def _is_suffix(self, position: int, before: str, end: int) -> bool:
        if before != ")" and before not in _AFTER_DECLARATOR - {"{", ":", "->"}:
            return False
        if before == ")":
            opening = self.partners.get(position - 1)
            if opening is not None and self.texts[opening - 1] in _CONDITIONS:
                return False
        return self.texts[end] in _AFTER_DECLARATOR | {";", "="} or self._is_macro(end)

    def _mask_definition(self, position: int, end: int) -> None:
        """Makes `SYSCALL_DEFINE2(name, int, x) {` a function, whose name the reader takes from the original."""
        first, last = self.spans[position]
        if last - first < _SHORTEST_DEFINITION or self.is_cpp:
            return
        self.masked[first : first + 4] = b"int "
        if end > position + 3:
            self._blank(position + 2, end - 1)


def _mask_branches(source: bytes) -> bytes:
    """Keeps only the first branch of conditionals with unbalanced brackets. The other branches and all directives of
    these conditionals become blanks."""
    masked = bytearray(source)
    quiet = bytearray(_SILENT_TEXT.sub(lambda match: _UNBROKEN.sub(b" ", match[0]), source))
    groups: list[list[re.Match[bytes]]] = []
    for match in _BRANCHING.finditer(bytes(quiet)):
        if match[1].startswith(b"if"):
            groups.append([])
        if not groups:
            continue
        groups[-1].append(match)
        if match[1] != b"endif":
            continue
        marks = groups.pop()
        branches = [(mark.end(), following.start()) for mark, following in pairwise(marks)]
        has_body_below = _BODY.match(quiet, match.end()) is not None
        if len(groups) >= _DEEPEST or all(
            _is_balanced(bytes(quiet[first:last]))
            and not (has_body_below and quiet[first:last].rstrip().endswith(b")"))
            for first, last in branches
        ):
            continue
        for first, last in [*(mark.span() for mark in marks), *branches[1:]]:
            for text in (masked, quiet):
                text[first:last] = _UNBROKEN.sub(b" ", text[first:last])
    return bytes(masked)


def _is_balanced(code: bytes) -> bool:
    depths = {b"(": 0, b"{": 0}
    for bracket in code.translate(None, _NO_BRACKETS):
        opening = b"{" if bracket in b"{}" else b"("
        depths[opening] += 1 if bracket in b"{(" else -1
        if depths[opening] < 0:
            return False
    return not any(depths.values())
