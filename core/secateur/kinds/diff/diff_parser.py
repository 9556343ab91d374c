"""Reads a unified diff, as git or `diff -u` write it, into changed files. Believes nothing: what a head says is
counted.

    diff = parse_diff(Path("pull.diff").read_bytes())
    for change in diff.changes: print(change.path, change.treatment, change.added, change.removed)

Read are: renames, copies, deletions, changes of mode, binary files, submodules, links, any line ends, no newline at the
end, quoted names, combined diffs of merges, patches by mail, several patches of one file, and diffs without git's
headers. Text between files is passed over and its place noted. A damaged file costs itself: reading goes on at the
header of the next one. Linear in the text.
"""

from __future__ import annotations

import codecs
import re

from secateur.errors import SecateurError
from secateur.kinds.diff.changes import SUBMODULE, Change, Diff, Hunk, Patch, Treatment
from secateur.kinds.diff.names import NULL, both_named, named, without_prefixes
from secateur.sources.files import path_text
from secateur.terminal import clip, visible

MALFORMED = "MALFORMED_DIFF"
"""Code of the error about a text that is no diff."""

NAMELESS = "(a file without a name, line {line:,})"
"""What stands for the path of a damaged file that cannot be told."""

_WANTED = "give what `git diff` or `diff -u` prints"
_COLOURED = "\x1b["

_SHOWN_CELLS = 60
"""Cells of a line that an error repeats."""

_LOOK_AHEAD = 5
"""Lines after `Index:` or `diff -r a b` within which the names of the file come."""

_GIT = "diff --git "
_COMBINED = ("diff --cc ", "diff --combined ")
_EXTENDED = re.compile(
    r"(old mode|new mode|deleted file mode|new file mode|copy from|copy to|rename from|rename to|rename old|rename new"
    r"|similarity index|dissimilarity index|index|mode) (.*)"
)
_HUNK = re.compile(r"@@ -(\d{1,10})(?:,(\d{1,10}))? \+(\d{1,10})(?:,(\d{1,10}))? @@(.*)", re.DOTALL)
_MERGE_HUNK = re.compile(r"(@{3,}) ((?:-\d{1,10}(?:,\d{1,10})? )+)\+(\d{1,10})(?:,(\d{1,10}))? (@{3,})(.*)", re.DOTALL)
_RANGE = re.compile(r"-(\d+)(?:,(\d+))?")
_BINARY = re.compile(r"Binary files (.*) and (.*) differ\r?")
_DIFFER = ("differ", "differ\r")
"""How such a line ends; asked first, or the expression would try every `and` of a long one that does not."""
_SUBMODULE = re.compile(
    r"Submodule (.+) (?:[0-9a-f]{4,64}\.{2,3}[0-9a-f]{4,64}.*|contains (?:untracked|modified) content)\r?"
)
_SUBMODULE_LOG = ("  > ", "  < ")
_MODES = re.compile(r"[0-7]{6}")
_IDS = re.compile(r"([0-9a-f]+)\.\.([0-9a-f]+)(?: ([0-7]{6}))?")


def parse_diff(diff: str | bytes, name: str = "the diff") -> Diff:
    """The changed files of a diff. Blank text is a diff of nothing.

    Args:
        name: what errors call it.

    Raises:
        SecateurError: `MALFORMED_DIFF`: no diff at all, or one of which every file is damaged (a hunk that is not what
        its head says, a hunk of no
            file); with the number of the line. Where some files can be read, the others have a `fault`.
    """
    text = _decoded(diff) if isinstance(diff, bytes) else diff.removeprefix("\ufeff")
    return _Reader(text, name).read()


def _decoded(data: bytes) -> str:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):  # what PowerShell's `>` writes
        return data.decode("utf-16", "replace")
    return path_text(data.removeprefix(codecs.BOM_UTF8))


class _Damage(Exception):
    """A file cannot be read on."""

    def __init__(self, fault: str, hint: str, resume: int, *, behind: bool = False) -> None:
        super().__init__(fault)
        self.fault = fault
        self.hint = hint
        self.resume = resume  # the first line that may belong to another file
        self.behind = behind  # whether it is the file before that is damaged


class _Reader:
    """One pass over the lines."""

    def __init__(self, text: str, name: str) -> None:
        self._lines = text.split("\n")
        self._closed = self._lines[-1] == ""
        if self._closed:
            self._lines.pop()
        self._name = name
        self._at = 0
        self._hunk_end = -1  # where the last hunk ended
        self._path = ""  # of the file that is being read, as far as it is known

    def read(self) -> Diff:
        patches: list[Patch] = []
        damages: list[_Damage] = []
        outside: list[tuple[int, int]] = []
        while self._at < len(self._lines):
            start, self._path = self._at, ""
            try:
                patch = self._patch()
                if patch is None:
                    self._refuse_stray(self._lines[start])
            except _Damage as damage:
                damages.append(damage)
                patch = self._damaged(patches.pop() if damage.behind else None, start, damage)
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
            hint = (
                "print it without colours: git diff --no-color"
                if any(line.startswith(_COLOURED) for line in self._lines)
                else _WANTED
            )
            raise SecateurError(
                f"{self._name}: no changed file in {len(self._lines):,} lines", hint=hint, code=MALFORMED
            )
        changes: dict[str, list[Patch]] = {}
        for patch in patches:
            changes.setdefault(patch.path, []).append(patch)
        return Diff(tuple(Change(tuple(each)) for each in changes.values()), tuple(outside), len(self._lines))

    def _damaged(self, before: Patch | None, start: int, damage: _Damage) -> Patch:
        """What is damaged, as a patch without hunks: all lines up to the header of the next file.

        Args:
            before: the patch that goes on behind its end; None where the damaged one starts at `start`.
        """
        first = start if before is None else before.line - 1
        path = self._path if before is None else before.path
        by_git = self._lines[first].startswith((_GIT, *_COMBINED))
        at = max(damage.resume, start + 1)
        while at < len(self._lines) and not self._starts_file(at, bare=not by_git):
            at += 1
        self._at = at
        name = path or NAMELESS.format(line=first + 1)
        return Patch(
            first + 1,
            name,
            name,
            Treatment.MODIFIED,
            self._text(first, at),
            (),
            False,
            frozenset(),
            "",
            "",
            0,
            0,
            damage.fault,
        )

    def _starts_file(self, at: int, *, bare: bool) -> bool:
        """Whether a file starts at this line. `bare`: also with `---` and `+++` alone, which lines of a hunk can look
        like, and git never writes."""
        line = self._lines[at]
        if line.startswith((_GIT, *_COMBINED)):
            return True
        if line.startswith(("Index: ", "diff -")):
            return self._names_below(at) is not None
        if line.startswith("--- "):
            return bare and self._named_here(at)
        return bool(_wordless(line) or _SUBMODULE.fullmatch(line))

    # --- one file -----------------------------------------------------------------------------------------------------

    def _patch(self) -> Patch | None:
        """The patch that starts at this line, None where none does."""
        line = self._lines[self._at]
        if line.startswith(_GIT):
            return self._git_patch(both_named(line[len(_GIT) :]))
        if line.startswith(_COMBINED):
            path = named(line.partition(" ")[2].partition(" ")[2])
            return self._git_patch((path, path))
        if line.startswith("--- ") and self._named_here(self._at):
            return self._plain_patch(self._at)
        if line.startswith(("Index: ", "diff -")) and (names := self._names_below(self._at)) is not None:
            return self._plain_patch(names)
        if line.startswith("Binary files ") and (binary := _wordless(line)):
            return self._wordless(binary[1], binary[2])
        if line.startswith("Submodule ") and (submodule := _SUBMODULE.fullmatch(line)):
            start = self._at
            self._at += 1
            while self._at < len(self._lines) and self._lines[self._at].startswith(_SUBMODULE_LOG):
                self._at += 1
            return self._made(
                start, self._at, submodule[1], submodule[1], Treatment.MODIFIED, modes=frozenset({SUBMODULE})
            )
        return None

    def _git_patch(self, names: tuple[str, str] | None) -> Patch:
        start = self._at
        self._at += 1
        said: dict[str, str] = {}
        modes: set[str] = set()
        while self._at < len(self._lines) and (found := _EXTENDED.fullmatch(self._lines[self._at].removesuffix("\r"))):
            said.setdefault(found[1], found[2])
            if "mode" in found[1]:
                modes.update(_MODES.findall(found[2]))
            self._at += 1
        ids = _IDS.fullmatch(said.get("index", ""))
        if ids and ids[3]:
            modes.add(ids[3])
        old, new = names or ("", "")
        binary = False
        if self._named_here(self._at):
            old, new = named(self._lines[self._at][4:]), named(self._lines[self._at + 1][4:])
            self._at += 2
        elif self._at < len(self._lines) and self._lines[self._at].startswith("--- ") and "index" in said:
            self._path = (
                named(said["rename to"])
                if "rename to" in said
                else next((path for path in without_prefixes(old, new)[::-1] if path != NULL), "")
            )
            raise self._wrong(
                self._at,
                "names a file, and no hunk follows",
                "the diff was cut off, edited or is damaged; make it again",
            )
        elif self._at < len(self._lines) and _wordless(self._lines[self._at]):
            binary = True
            self._at += 1
        elif self._at < len(self._lines) and self._lines[self._at].rstrip("\r") == "GIT binary patch":
            binary = True
            self._skip_binary()
        old, new = without_prefixes(old, new)
        for kind in ("rename", "copy"):
            if f"{kind} from" in said and f"{kind} to" in said:
                old, new = named(said[f"{kind} from"]), named(said[f"{kind} to"])
        treatment = _treatment(said, old, new)
        if NULL in (old, new):  # an old or new path that is there on the first line alone
            first = without_prefixes(*names) if names else (old, new)
            old, new = (first[0] if old == NULL else old), (first[1] if new == NULL else new)
            old, new = (new if old == NULL else old), (old if new == NULL else new)
        return self._made(
            start,
            self._at,
            old or new,
            new,
            treatment,
            binary=binary,
            modes=frozenset(modes),
            ids=(ids[1], ids[2]) if ids else ("", ""),
        )

    def _plain_patch(self, names: int) -> Patch:
        start = self._at
        old, new = without_prefixes(named(self._lines[names][4:]), named(self._lines[names + 1][4:]))
        self._at = names + 2
        treatment = Treatment.DELETED if new == NULL else Treatment.ADDED if old == NULL else Treatment.MODIFIED
        path = old if new == NULL else new
        return self._made(start, self._at, path if old == NULL else old, path, treatment)

    def _wordless(self, one: str, other: str) -> Patch:
        """`Binary files A and B differ` without a header of git."""
        old, new = without_prefixes(named(one), named(other))
        self._at += 1
        treatment = Treatment.DELETED if new == NULL else Treatment.ADDED if old == NULL else Treatment.MODIFIED
        path = old if new == NULL else new
        return self._made(self._at - 1, self._at, path if old == NULL else old, path, treatment, binary=True)

    def _made(
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
        """The patch whose header is the lines from `start` to `end`, with the hunks that follow."""
        if not new:
            raise self._wrong(
                start, "names no file that can be told", "write names with spaces or quotes the way git does"
            )
        self._path = new
        hunks: list[Hunk] = []
        added = removed = 0
        while self._at < len(self._lines) and self._lines[self._at].startswith("@@"):
            hunk, plus, minus = self._hunk()
            hunks.append(hunk)
            added += plus
            removed += minus
        header = self._text(start, end)
        return Patch(
            start + 1, new, old, treatment, header, tuple(hunks), binary, modes, ids[0], ids[1], added, removed
        )

    def _skip_binary(self) -> None:
        """Past the encoded bytes of a binary patch: up to the next file."""
        while self._at < len(self._lines) and not self._lines[self._at].startswith((_GIT, *_COMBINED)):
            self._at += 1

    def _named_here(self, at: int) -> bool:
        """Whether the two lines that name a file stand here, and its hunks follow."""
        lines = self._lines[at : at + 3]
        return (
            len(lines) == 3
            and lines[0].startswith("--- ")
            and lines[1].startswith("+++ ")
            and lines[2].startswith("@@")
        )

    def _names_below(self, start: int) -> int | None:
        return next((at for at in range(start + 1, start + _LOOK_AHEAD) if self._named_here(at)), None)

    # --- one hunk -----------------------------------------------------------------------------------------------------

    def _hunk(self) -> tuple[Hunk, int, int]:
        """The hunk that starts here, the lines it adds and those it removes."""
        start = self._at
        head = self._lines[start]
        plain = _HUNK.fullmatch(head)
        if plain:
            old: tuple[tuple[int, int], ...] = (_range(plain[1], plain[2]),)
            new, section = _range(plain[3], plain[4]), plain[5]
        else:
            merge = _MERGE_HUNK.fullmatch(head)
            old = tuple(_range(first, count) for first, count in _RANGE.findall(merge[2])) if merge else ()
            if not merge or merge[1] != merge[5] or len(old) != len(merge[1]) - 1:
                raise self._wrong(
                    start, f"is no head of a hunk: {self._shown(start)}", "the diff is damaged; make it again"
                )
            new, section = _range(merge[3], merge[4]), merge[6]
        self._at += 1
        added, removed = self._plain_body(start, old[0][1], new[1]) if len(old) == 1 else self._merge_body(len(old))
        if self._at - 1 > start and self._named_here(self._at - 1):
            raise self._wrong(
                start, "promises lines that name another file", "the diff was edited or is damaged", resume=self._at - 1
            )
        while self._at < len(self._lines) and self._lines[self._at].startswith("\\"):
            self._at += 1
        self._hunk_end = self._at
        hunk = Hunk(
            start + 1,
            old,
            new,
            section.removesuffix("\r"),
            self._text(start, start + 1),
            self._text(start + 1, self._at),
        )
        return hunk, added, removed

    def _plain_body(self, start: int, old: int, new: int) -> tuple[int, int]:
        """Pass over the lines of a hunk that holds `old` and `new` lines of the two sides."""
        lines, at, end = self._lines, self._at, len(self._lines)
        added = removed = 0
        left_old, left_new = old, new
        while left_old or left_new:
            mark = lines[at][:1] if at < end else "?"
            if mark == "+":
                left_new -= 1
                added += 1
            elif mark == "-":
                left_old -= 1
                removed += 1
            elif mark in (" ", "", "\r"):  # mail and editors take the blank from an empty line
                left_old -= 1
                left_new -= 1
            elif mark != "\\":
                raise self._short(start, at, (old, new), (old - left_old, new - left_new))
            if left_old < 0 or left_new < 0:
                counts = f"promises {old:,} old and {new:,} new lines; line {at + 1:,} is one more"
                raise self._wrong(
                    start, counts, "the diff was edited or is damaged", resume=self._names_before(start, at)
                )
            at += 1
        self._at = at
        return added, removed

    def _merge_body(self, parents: int) -> tuple[int, int]:
        """The same for a combined diff, with as many marks before a line as there are parents.

        It ends where no marks stand: git's own counts of the parents' lines are wrong where it leaves out what is not
        interesting.
        """
        added = removed = 0
        while self._at < len(self._lines):
            line = self._lines[self._at]
            marks = line[:parents]
            if line.startswith("\\"):
                pass
            elif len(marks) < parents or not set(marks) <= set(" +-") or {"+", "-"} <= set(marks):
                break
            elif "-" in marks:
                removed += 1
            elif "+" in marks:
                added += 1
            self._at += 1
        return added, removed

    # --- what is wrong ------------------------------------------------------------------------------------------------

    def _refuse_stray(self, line: str) -> None:
        """Raises where a line can only be part of a hunk whose head promised less, or that has no file."""
        signature = line.rstrip() in ("--", "")  # a mail's; git ends the last hunk with it
        below = "".join(self._lines[self._at + 1 : self._at + 2])
        names = line.startswith("--- ") and below.startswith("+++ ")  # of the next file, whose hunks do not follow
        if self._at == self._hunk_end and line[:1] in ("+", "-", " ") and not signature and not names:
            what = f"goes on behind the end of its hunk: {self._shown(self._at)}"
            raise self._wrong(self._at, what, "the hunk's head promises fewer lines than it has", behind=True)
        if line.startswith("@@ -") and _HUNK.fullmatch(line):
            raise self._wrong(
                self._at,
                "is a hunk of no file: no `---` and `+++` before it",
                "give the whole diff, with the lines that name the files",
            )

    def _short(self, start: int, at: int, promised: tuple[int, int], held: tuple[int, int]) -> _Damage:
        where = f"line {at + 1:,} is none of them: {self._shown(at)}" if at < len(self._lines) else "the diff ends"
        counts = (
            f"promises {promised[0]:,} old and {promised[1]:,} new lines; after {held[0]:,} and {held[1]:,} {where}"
        )
        return self._wrong(
            start,
            counts,
            "the diff was cut off, edited or is damaged; make it again",
            resume=self._names_before(start, at),
        )

    def _names_before(self, start: int, at: int) -> int:
        """`at`, or the line before it where the names of a next file were taken for lines of the hunk that starts at
        `start`."""
        return next((place for place in (at - 2, at - 1) if place > start and self._named_here(place)), at)

    def _wrong(self, at: int, what: str, hint: str, *, resume: int = -1, behind: bool = False) -> _Damage:
        return _Damage(f"line {at + 1:,} {what}", hint, at + 1 if resume < 0 else resume, behind=behind)

    def _shown(self, at: int) -> str:
        return clip(visible(self._lines[at][: 4 * _SHOWN_CELLS]), _SHOWN_CELLS)

    def _text(self, start: int, end: int) -> str:
        """Lines `start` to `end` as they stand in the text."""
        if start >= end:
            return ""
        text = "\n".join(self._lines[start:end])
        return text if end == len(self._lines) and not self._closed else text + "\n"


def _wordless(line: str) -> re.Match[str] | None:
    """`Binary files A and B differ`."""
    return _BINARY.fullmatch(line) if line.endswith(_DIFFER) else None


def _range(first: str, count: str | None) -> tuple[int, int]:
    return int(first), int(count) if count else 1


def _treatment(said: dict[str, str], old: str, new: str) -> Treatment:
    """What a patch with git's headers does."""
    if "deleted file mode" in said or new == NULL:
        return Treatment.DELETED
    if "new file mode" in said or old == NULL:
        return Treatment.ADDED
    if "rename from" in said or "rename old" in said:
        return Treatment.RENAMED
    if "copy from" in said:
        return Treatment.COPIED
    return Treatment.MODE if "old mode" in said and "index" not in said else Treatment.MODIFIED
