"""Reads a unified diff, as git or `diff -u` write it, into changed files. The counts in the head of a hunk are checked,
not trusted.

    diff = parse_diff(Path("pull.diff").read_bytes())
    for change in diff.changes: print(change.path, change.treatment, change.added, change.removed)

It reads renames, copies, deletions, changes of mode, binary files, submodules, links, any line ends, no newline at the
end, quoted names, combined diffs of merges, patches by mail, several patches of one file, and diffs without git's
headers. Text between files is skipped and its lines noted. A damaged file costs itself: reading continues at the header
of the next file. Linear in the text.
"""

import codecs
import re

from secateur.errors import SecateurError
from secateur.kinds.diff.changes import SUBMODULE, Change, Damage, Diff, Hunk, HunkReader, Patch, Treatment
from secateur.sources.files import path_text

NULL = "/dev/null"

_LETTERS = (("a/", "b/"), ("i/", "w/"), ("c/", "i/"), ("c/", "w/"), ("o/", "w/"))
# Prefixes that git puts before the two paths: by default, with `diff.mnemonicPrefix`, with `-R`, and without a
# repository.
_PREFIXES = (*_LETTERS, ("w/", "i/"), ("b/", "a/"), ("1/", "2/"))

_ESCAPES = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}
_ESCAPED = re.compile(r'\\([abtnvfr"\\]|[0-3][0-7]{2})')
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*+)"')
_BEGUN = re.compile(r'"((?:[^"\\]|\\.)*+)("?)')  # also matches a text that does not end, whose quotes are read once


def unquote(quoted: str) -> str:
    """Decodes the inside of a quoted path as git writes it: escapes stand for bytes."""
    pieces = _ESCAPED.split(quoted)
    raw = bytearray()
    for index, piece in enumerate(pieces):
        if index % 2:
            raw.append(_ESCAPES[piece] if piece in _ESCAPES else int(piece, 8))
        else:
            lone = any(0xD800 <= ord(char) < 0xDC80 or 0xDCFF < ord(char) < 0xE000 for char in piece)  # not a byte
            raw += piece.encode("utf-8", "surrogatepass" if lone else "surrogateescape")
    return path_text(bytes(raw))


def unquote_header(header: str) -> str:
    """Rewrites the names in a header as with `core.quotePath` off: letters of other scripts instead of octal
    numbers."""

    def plain(match: re.Match[str]) -> str:
        name = unquote(match[1]) if match[2] and "\\" in match[1] else ""
        return name if name and name.isprintable() and not {'"', "\\"} & set(name) else match[0]

    return _BEGUN.sub(plain, header) if "\\" in header else header


def parse_name(field: str) -> str:
    """Parses the path in a header line: quoted, or up to a tab, which a time stamp may follow."""
    field = field.removesuffix("\r")
    whole = _QUOTED.match(field)
    return unquote(whole[1]) if whole else field.partition("\t")[0]


def parse_git_names(fields: str) -> tuple[str, str] | None:
    """Parses the two paths of `diff --git A B`; None if it is not clear where the first ends.

    Names without quotes may hold spaces. If only this line names the file, both paths differ only in their prefixes.
    """
    fields = fields.removesuffix("\r")
    if '"' in fields:
        if first := _QUOTED.match(fields):
            apart = fields[first.end() : first.end() + 1] == " "
            return (unquote(first[1]), parse_name(fields[first.end() + 1 :])) if apart else None
        cut = fields.find(' "')
        return (fields[:cut], parse_name(fields[cut + 1 :])) if cut > 0 else None
    half = len(fields) // 2
    if len(fields) % 2 and fields[half] == " ":
        first_half, second_half = fields[:half], fields[half + 1 :]
        if first_half == second_half or any(
            first_half[2:] == second_half[2:] and first_half.startswith(a) and second_half.startswith(b)
            for a, b in _PREFIXES
        ):
            return first_half, second_half
    parts = fields.split(" ")
    return (parts[0], parts[1]) if len(parts) == 2 else None


def strip_prefixes(old: str, new: str) -> tuple[str, str]:
    """Strips the pair of prefixes that git puts before both paths. `/dev/null` and paths without such a pair stay."""
    if NULL in (old, new):
        known = {prefix for pair in _LETTERS for prefix in pair}
        old, new = (path[2:] if path != NULL and path[:2] in known else path for path in (old, new))
        return old, new
    for old_prefix, new_prefix in _PREFIXES:
        if old.startswith(old_prefix) and new.startswith(new_prefix):
            return old[2:], new[2:]
    return old, new


MALFORMED = "MALFORMED_DIFF"  # code of the error that a text is not a diff
NAMELESS = "(a file without a name, line {line:,})"  # the path given to a damaged file whose own cannot be read
_WANTED = "give what `git diff` or `diff -u` prints"
_COLOURED = "\x1b["

_LOOK_AHEAD = 5  # the names of a file follow within so many lines after `Index:` or `diff -r a b`
_GIT = "diff --git "
_COMBINED = ("diff --cc ", "diff --combined ")
_EXTENDED = re.compile(
    r"(old mode|new mode|deleted file mode|new file mode|copy from|copy to|rename from|rename to|rename old|rename new"
    r"|similarity index|dissimilarity index|index|mode) (.*)"
)
_BINARY = re.compile(r"Binary files (.*) and (.*) differ\r?")
# Ends of such a line. They are checked first: on a long line without them the expression would try every `and`.
_DIFFER = (" differ", " differ\r")
_SUBMODULE = re.compile(
    r"Submodule (.+) (?:[0-9a-f]{4,64}\.{2,3}[0-9a-f]{4,64}.*|contains (?:untracked|modified) content)\r?"
)
_SUBMODULE_LOG = ("  > ", "  < ")
_MODES = re.compile(r"[0-7]{6}")
_IDS = re.compile(r"([0-9a-f]+)\.\.([0-9a-f]+)(?: ([0-7]{6}))?")


def parse_diff(diff: str | bytes, name: str = "the diff") -> Diff:
    """Parses a diff into changed files. Blank text is an empty diff.

    Args:
        name: the name of the diff in errors.

    Raises:
        SecateurError: `MALFORMED_DIFF`, with the line: the text is not a diff, or every file in it is damaged (a hunk
            does not match its head, or has no file). If some files can be read, the others have a `fault`.
    """
    if isinstance(diff, str):
        text = diff.removeprefix("\ufeff")
    elif diff.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):  # what PowerShell's `>` writes
        text = diff.decode("utf-16", "replace")
    else:
        text = path_text(diff.removeprefix(codecs.BOM_UTF8))
    return _DiffReader(text, name).read()


class _DiffReader(HunkReader):
    def read(self) -> Diff:
        patches: list[Patch] = []
        damages: list[Damage] = []
        outside: list[tuple[int, int]] = []
        while self._at < len(self._lines):
            start, self._path = self._at, ""
            try:
                if (patch := self._patch()) is None:
                    self._refuse_stray_line(self._lines[start])
            except Damage as damage:
                damages.append(damage)
                # the damaged part is a patch without hunks: all lines up to the header of the next file
                before = patches.pop() if damage.behind else None
                first = start if before is None else before.line - 1
                path = self._path if before is None else before.path
                by_git = self._lines[first].startswith((_GIT, *_COMBINED))
                at = max(damage.resume, start + 1)
                while at < len(self._lines) and not self._starts_file(at, bare=not by_git):
                    at += 1
                self._at = at
                name = path or NAMELESS.format(line=first + 1)
                patch = Patch(first + 1, name, name, Treatment.MODIFIED, self._text(first, at), fault=damage.fault)
            if patch is not None:
                patches.append(patch)
                continue
            self._at = start + 1
            if outside and sum(outside[-1]) == start + 1:
                outside[-1] = (outside[-1][0], outside[-1][1] + 1)
            else:
                outside.append((start + 1, 1))
        if damages and all(patch.fault for patch in patches):
            raise SecateurError(f"{self._name}: {damages[0].fault}", hint=damages[0].hint, code=MALFORMED)
        if not patches and any(line.strip() for line in self._lines):
            coloured = any(line.startswith(_COLOURED) for line in self._lines)
            hint = "print it without colours: git diff --no-color" if coloured else _WANTED
            raise SecateurError(
                f"{self._name}: no changed file in {len(self._lines):,} lines", hint=hint, code=MALFORMED
            )
        changes: dict[str, list[Patch]] = {}
        for patch in patches:
            changes.setdefault(patch.path, []).append(patch)
        return Diff(tuple(Change(tuple(parts)) for parts in changes.values()), tuple(outside), len(self._lines))

    def _starts_file(self, at: int, *, bare: bool) -> bool:
        """Tells whether a file starts at this line. With `bare`, `---` and `+++` alone are enough: git never writes
        that, and lines of a hunk can look like it."""
        line = self._lines[at]
        if line.startswith((_GIT, *_COMBINED)):
            return True
        if line.startswith(("Index: ", "diff -")):
            return self._names_below(at) is not None
        if line.startswith("--- "):
            return bare and self._names_follow(at)
        return bool(_match_binary(line) or _SUBMODULE.fullmatch(line))

    # --- one file -----------------------------------------------------------------------------------------------------

    def _patch(self) -> Patch | None:
        line = self._lines[self._at]
        if line.startswith(_GIT):
            return self._git_patch(parse_git_names(line[len(_GIT) :]))
        if line.startswith(_COMBINED):
            path = parse_name(line.partition(" ")[2].partition(" ")[2])
            return self._git_patch((path, path))
        if line.startswith("--- ") and self._names_follow(self._at):
            return self._plain_patch(self._at)
        if line.startswith(("Index: ", "diff -")) and (names := self._names_below(self._at)) is not None:
            return self._plain_patch(names)
        if line.startswith("Binary files ") and (binary := _match_binary(line)):
            self._at += 1
            return self._patch_of_names(self._at - 1, binary[1], binary[2], binary=True)
        if line.startswith("Submodule ") and (submodule := _SUBMODULE.fullmatch(line)):
            start = self._at
            self._at += 1
            while self._at < len(self._lines) and self._lines[self._at].startswith(_SUBMODULE_LOG):
                self._at += 1
            name, modes = submodule[1], frozenset({SUBMODULE})
            return self._finish_patch(start, self._at, name, name, Treatment.MODIFIED, modes=modes)
        return None

    def _git_patch(self, names: tuple[str, str] | None) -> Patch:
        start = self._at
        self._at += 1
        headers: dict[str, str] = {}
        modes: set[str] = set()
        while self._at < len(self._lines) and (header := _EXTENDED.fullmatch(self._lines[self._at].removesuffix("\r"))):
            headers.setdefault(header[1], header[2])
            if "mode" in header[1]:
                modes.update(_MODES.findall(header[2]))
            self._at += 1
        if (ids := _IDS.fullmatch(headers.get("index", ""))) and ids[3]:
            modes.add(ids[3])
        old, new = names or ("", "")
        binary = False
        if self._names_follow(self._at):
            old, new = parse_name(self._lines[self._at][4:]), parse_name(self._lines[self._at + 1][4:])
            self._at += 2
        elif self._at < len(self._lines) and self._lines[self._at].startswith("--- ") and "index" in headers:
            self._path = (
                parse_name(headers["rename to"])
                if "rename to" in headers
                else next((path for path in strip_prefixes(old, new)[::-1] if path != NULL), "")
            )
            hint = "the diff was cut off, edited or is damaged; make it again"
            raise self._damage_at(self._at, "names a file, and no hunk follows", hint)
        elif self._at < len(self._lines) and _match_binary(self._lines[self._at]):
            binary = True
            self._at += 1
        elif self._at < len(self._lines) and self._lines[self._at].rstrip("\r") == "GIT binary patch":
            binary = True
            while self._at < len(self._lines) and not self._lines[self._at].startswith((_GIT, *_COMBINED)):
                self._at += 1
        old, new = strip_prefixes(old, new)
        for kind in ("rename", "copy"):
            if f"{kind} from" in headers and f"{kind} to" in headers:
                old, new = parse_name(headers[f"{kind} from"]), parse_name(headers[f"{kind} to"])
        treatment = _treatment(headers, old, new)
        if NULL in (old, new):  # only the first line has the path
            first = strip_prefixes(*names) if names else (old, new)
            old, new = (first[0] if old == NULL else old), (first[1] if new == NULL else new)
            old, new = (new if old == NULL else old), (old if new == NULL else new)
        both = (ids[1], ids[2]) if ids else ("", "")
        return self._finish_patch(
            start, self._at, old or new, new, treatment, binary=binary, modes=frozenset(modes), ids=both
        )

    def _plain_patch(self, names: int) -> Patch:
        start = self._at
        self._at = names + 2
        return self._patch_of_names(start, self._lines[names][4:], self._lines[names + 1][4:])

    def _patch_of_names(self, start: int, old_name: str, new_name: str, *, binary: bool = False) -> Patch:
        old, new = strip_prefixes(parse_name(old_name), parse_name(new_name))
        path = old if new == NULL else new
        return self._finish_patch(
            start, self._at, path if old == NULL else old, path, _treatment({}, old, new), binary=binary
        )

    def _finish_patch(
        self,
        start: int,
        end: int,
        old: str,
        new: str,
        treatment: Treatment,
        *,
        binary: bool = False,
        modes: frozenset[str] = frozenset(),
        ids: tuple[str, str] = ("", ""),
    ) -> Patch:
        if not new:
            raise self._damage_at(start, "names no file clearly", "write names with spaces or quotes the way git does")
        self._path = new
        hunks: list[Hunk] = []
        added = removed = 0
        while self._at < len(self._lines) and self._lines[self._at].startswith("@@"):
            hunk, plus, minus = self._hunk()
            hunks.append(hunk)
            added += plus
            removed += minus
        header = unquote_header(self._text(start, end))
        return Patch(start + 1, new, old, treatment, header, tuple(hunks), binary, modes, *ids, added, removed)

    def _names_below(self, start: int) -> int | None:
        return next((at for at in range(start + 1, start + _LOOK_AHEAD) if self._names_follow(at)), None)


def _match_binary(line: str) -> re.Match[str] | None:
    return _BINARY.fullmatch(line) if line.endswith(_DIFFER) else None


def _treatment(headers: dict[str, str], old: str, new: str) -> Treatment:
    if "deleted file mode" in headers or new == NULL:
        return Treatment.DELETED
    if "new file mode" in headers or old == NULL:
        return Treatment.ADDED
    if "rename from" in headers or "rename old" in headers:
        return Treatment.RENAMED
    if "copy from" in headers:
        return Treatment.COPIED
    return Treatment.MODE if "old mode" in headers and "index" not in headers else Treatment.MODIFIED
