"""Turns bytes from outside into UTF-8: the one place that knows of other encodings.

    as_utf8("# 退款".encode("gb18030"))     # the same text in UTF-8

A byte order mark, then UTF-8 itself, then what the text declares (PEP 263, Emacs, Vim, XML, HTML, CSS, gettext), then
what it looks like. Bytes of which nothing tells the encoding stay as they are, and so do the broken bytes of UTF-8:
whoever decodes the result finds them. Only a bounded part of a text is looked at to tell its encoding.
"""

from __future__ import annotations

import codecs
import re

_MARKS = (  # UTF-32 first: its mark begins with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

# First bytes that tell whether a text without a mark is UTF-16, and last ones in which an editor's note may stand.
_HEAD = 8192

_FEW_ZEROS = 4  # zeros of the usual half in UTF-16 for one of the other: such as the low half of U+9000
_DECLARING = 1024  # first bytes in which a document names its encoding
_SAMPLE = 1 << 16  # bytes of lines beyond ASCII that are looked at

_LINES = re.compile(rb"^[^\n]*[^\x00-\x7f\n][^\n]*\n?", re.MULTILINE)
_CODING = re.compile(rb"coding[ \t]*[:=][ \t]*[\"']?([-\w.]+)")  # PEP 263 and Ruby, Emacs, Vim
_MODELINE = re.compile(rb"(?:coding:|(?:fenc|fileencoding)=)[ \t]*([-\w.]+)")
_CHARSET = re.compile(
    rb"<\?xml[^>]*\bencoding[ \t]*=[ \t]*[\"']([-\w.]+)|charset[ \t]*=?[ \t]*[\"']?([-\w.]+)"
    rb"|\[(\w+)\]\{inputenc\}|\buse encoding [\"']([-\w.]+)",
    re.IGNORECASE,
)

# Bytes that mean the same in every encoding which a text may declare, or its declaration could not be read.
_ASCII = bytes(range(0x20, 0x7F))

# Encodings that people name for another that holds more.
_READ_AS = {"gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949", "iso8859-1": "cp1252"}

# Encodings that are told by the look of a text: more of them would be mistaken for one another.
_DETECTED = ["gb18030", "big5", "cp932", "euc_jp", "cp949", "cp1252", "cp1251", "koi8_r"]

# Chinese of the 3,755 commonest characters alone: no other encoding uses just these pairs, and Korean no first byte
# from this one on. A few words are enough, where the shares of characters tell nothing yet.
_SIMPLIFIED = re.compile(rb"(?:[\x00-\x7f]|[\xa1-\xa3\xb0-\xd7][\xa1-\xfe])*+")
_NOT_KOREAN = 0xC9

_IN_PAIRS = re.compile(rb"[\x80-\xff]{2}")

_JSON = re.compile(rb"\s*(?:\{\s*\"|\[\s*\{\s*\")")

# Beginnings of files in a diff, each of which may have an encoding of its own.
_PARTS = re.compile(rb"^(?=diff --git |Index: )", re.MULTILINE)


def as_utf8(data: bytes) -> bytes:
    """Returns a text in UTF-8: the same object if it is UTF-8 already, or if its encoding is unknown."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _from_wide(data[len(mark) :], encoding)
    if data.find(b"\0", 0, _HEAD) >= 0:
        wide = _utf16_of(data[:_HEAD])
        return _from_wide(data, wide) if wide else data
    if data.isascii():
        return data
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        if _JSON.match(data):  # it is UTF-8 (RFC 8259): a byte that is not costs its line
            return data
        parts = _PARTS.split(data)
        return b"".join(map(_from_part, parts)) if len(parts) > 1 else _from_legacy(data)
    return data


def _from_part(part: bytes) -> bytes:
    """The changes of one file in UTF-8; the names before them have the encoding of the file system."""
    head, mark, changes = part.partition(b"\n@@ ")
    return head + mark + _from_legacy(changes) if mark else _from_legacy(part)


def _from_wide(data: bytes, encoding: str) -> bytes:
    """UTF-16 or UTF-32 in UTF-8, with a byte that is not UTF-8 for each unit that is broken."""
    try:
        return data.decode(encoding).encode("utf-8")
    except UnicodeDecodeError:
        return data.decode(encoding, "replace").encode("utf-8").replace("\ufffd".encode(), b"\xff")


def _utf16_of(head: bytes) -> str:
    """The byte order of UTF-16 without a mark; "" for anything else. Text of any language has line breaks and
    blanks, of which always the same half is zero."""
    head = head[: len(head) & ~1]
    even, odd = head[::2].count(0), head[1::2].count(0)
    if min(even, odd) * _FEW_ZEROS > max(even, odd):
        return ""
    encoding = "utf-16-be" if even > odd else "utf-16-le"
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(head)  # the last character may be cut
    except UnicodeDecodeError:
        return ""
    readable = all(character.isprintable() or character.isspace() for character in text)
    return encoding if readable and (text.isascii() or "\n" in text) else ""


def _from_legacy(data: bytes) -> bytes:
    """A text that is not valid UTF-8, in UTF-8; the same object if nothing tells its encoding."""
    sample = _sample(data)
    text = sample.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    if 2 * broken <= sum(character > "\x7f" for character in text) - broken or _ends_early(data):
        return data  # UTF-8 with broken bytes
    for encoding in (_declared(data), _detected(sample)):
        if encoding:
            text = data.decode(encoding, "surrogateescape")
            return text.encode("utf-8", "surrogateescape")
    return data


def _sample(data: bytes) -> bytes:
    lines, room = [], _SAMPLE
    for match in _LINES.finditer(data):
        lines.append(match.group()[:_SAMPLE])
        room -= len(lines[-1])
        if room <= 0:
            break
    return b"".join(lines)


def _ends_early(data: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:
        return False
    return True


def _declared(data: bytes) -> str:
    """The encoding that the first or last lines name, if it is one that files have."""
    start = data[:_DECLARING]
    notes = [_CODING.search(line) for line in start.split(b"\n", 2)[:2]]
    notes += [_CHARSET.search(start), *_MODELINE.finditer(data[-_HEAD:])]
    for note in filter(None, notes):
        name = next(filter(None, note.groups())).decode("ascii").lower()
        name = re.sub(r"-(unix|dos|mac)$", "", name)  # Emacs
        try:
            known = codecs.lookup(name).name
            known = _READ_AS.get(known, known)
            if "unicode" not in known and _ASCII.decode(known) == _ASCII.decode("ascii"):
                return known
        except (LookupError, UnicodeError):
            continue
    return ""


def _detected(sample: bytes) -> str:
    from charset_normalizer import from_bytes

    pairs = sample.translate(None, bytes(range(0x80)))
    if not pairs.strip(b"\xfe\xff"):
        return ""  # bytes of something else
    if _SIMPLIFIED.fullmatch(sample) and max(pairs[::2]) >= _NOT_KOREAN:
        return "gb18030"
    known = _DETECTED if _IN_PAIRS.search(sample) else ["cp1252"]  # single letters within ASCII words are Western
    for match in from_bytes(sample, cp_isolation=known, enable_fallback=False, preemptive_behaviour=False):
        if match.encoding == "cp949" and re.search("[\u4e00-\u9fff]", str(match)):
            continue  # Korean is written without Chinese characters: they are Chinese
        return match.encoding
    return ""
