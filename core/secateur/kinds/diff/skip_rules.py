"""Decides which changed files are left out, and by which rule. The patterns of the spec (3.2) at any depth, today's
lock files, generated and vendored code.

What cannot be read is left out. Then patterns of the user decide: one that matches leaves a file out, one with `!`
takes it in whatever the other rules say. Every rule works on the path a file is called by: the new one, of a deleted
file the old one. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from secateur.kinds.diff.changes import Change, Treatment
from secateur.languages.syntax import file_flags
from secateur.ledger import Figure, Reason
from secateur.render.sentences import phrase
from secateur.sources.files import path_bytes
from secateur.sources.ignore import Rules

RULES = (
    Reason.DAMAGED,  # the diff cannot be read there, whatever the patterns of the user say
    Reason.PATTERN,  # of the user: chunking.ignore
    Reason.LOCKFILE,
    Reason.VENDORED,
    Reason.BUILD,
    Reason.EDITOR,
    Reason.BINARY,
    Reason.GENERATED,
    Reason.MINIFIED,
    Reason.TOO_LARGE,
    Reason.LONG_LINE,  # a line was shortened: alone it fills a chunk
    Reason.NO_ROOM,  # not even a line of it fits a chunk
)
"""Rules by which a changed file, or a part of it, does not go out: the reasons that `--allow-skip` takes."""

FOLDERS = {
    **dict.fromkeys(("vendor", "node_modules"), Reason.VENDORED),
    **dict.fromkeys(("dist", "build"), Reason.BUILD),
    ".idea": Reason.EDITOR,
}
"""Folders of the spec: what lies below one of them, at any depth, is left out."""

LOCK_SUFFIX = ".lock"

_SPEC_SUFFIXES = ("png", "jpg", "exe", "so", "dll")
_PICTURES = ("jpeg", "gif", "bmp", "ico", "icns", "webp", "avif", "tif", "tiff", "psd", "pdf")
_ARCHIVES = ("zip", "gz", "tgz", "bz2", "xz", "7z", "rar", "zst", "jar", "war", "ear")
_PROGRAMS = ("class", "pyc", "pyo", "o", "a", "lib", "obj", "dylib", "pdb", "wasm")
_FONTS_AND_MEDIA = (
    "woff",
    "woff2",
    "ttf",
    "otf",
    "eot",
    "mp3",
    "mp4",
    "m4a",
    "m4v",
    "mov",
    "avi",
    "mkv",
    "webm",
    "ogg",
    "flac",
    "wav",
)
_DATA = ("sqlite", "sqlite3", "parquet", "npy", "npz", "onnx", "pkl")
BINARY_SUFFIXES = frozenset(
    f".{suffix}" for suffix in (*_SPEC_SUFFIXES, *_PICTURES, *_ARCHIVES, *_PROGRAMS, *_FONTS_AND_MEDIA, *_DATA)
)
"""Extensions of files that are no text, whatever a diff shows of them."""

_LIBRARY = re.compile(r".*\.so(\.\d+)+")


@dataclass(frozen=True, slots=True)
class Verdict:
    """The rule that leaves a file out, and what in it matched."""

    rule: Reason  # one of RULES
    figures: Mapping[str, Figure] = field(default_factory=dict)  # text from outside may be in them

    @property
    def words(self) -> tuple[str, str]:
        """The rule and what in the file matched it: ("lock file", "pnpm-lock.yaml"); "" where nothing is to be said."""
        rule, _, detail = phrase(self.rule, self.figures).partition(" (")
        return rule, detail.removesuffix(")")


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of a changed file besides its path."""

    flags: frozenset[str]  # of `repository.classify`, from its content as far as it is known
    size: int  # bytes; of a file whose content is not known what the diff shows of it
    generated: bool | None = None  # what `.gitattributes` says
    vendored: bool | None = None


class Pruner:
    """The rules under given settings: `Pruner(("*.sql", "!build/")).verdict(change, facts)`."""

    def __init__(self, ignore: Sequence[str], max_bytes: int) -> None:
        self._patterns = [(pattern, Rules.of([pattern])) for pattern in ignore]
        self._together = Rules.of(ignore)
        self._max_bytes = max_bytes

    def verdict(self, change: Change, facts: Facts) -> Verdict | None:
        """The first rule that leaves the file out, None where none does."""
        if change.fault:
            return Verdict(Reason.DAMAGED, {"fault": change.fault})
        chosen = self._chosen(change.path)
        if chosen is not None:
            return Verdict(Reason.PATTERN, {"pattern": chosen}) if chosen else None
        return by_path(change.path) or self._by_facts(change, facts)

    def _chosen(self, path: str) -> str | None:
        """The user's pattern that leaves the path out, "" where one takes it in, None where none speaks of it. The
        deepest decides."""
        if not self._together:
            return None
        place, is_folder = path, False
        while place:
            raw = path_bytes(place)
            said = self._together.decide(raw, is_folder=is_folder)
            if said is not None:
                return (
                    next(
                        pattern
                        for pattern, rules in reversed(self._patterns)
                        if rules.decide(raw, is_folder=is_folder) is not None
                    )
                    if said
                    else ""
                )
            place, is_folder = place.rpartition("/")[0], True
        return None

    def _by_facts(self, change: Change, facts: Facts) -> Verdict | None:
        if facts.vendored:
            return Verdict(Reason.VENDORED, {"sign": "linguist-vendored in .gitattributes"})
        if facts.generated:
            return Verdict(Reason.GENERATED, {"sign": "linguist-generated in .gitattributes"})
        if file_flags.BINARY in facts.flags:
            return Verdict(Reason.BINARY)
        if facts.size >= self._max_bytes and change.treatment is not Treatment.MODE:
            return Verdict(Reason.TOO_LARGE, {"bytes": facts.size, "limit": self._max_bytes})
        if change.binary:
            return Verdict(Reason.BINARY)
        if file_flags.LOCKFILE in facts.flags:
            return Verdict(Reason.LOCKFILE, {"name": _name(change.path)})
        if file_flags.VENDORED in facts.flags and facts.vendored is not False:
            return Verdict(Reason.VENDORED, {"sign": "by its path or name"})
        if file_flags.MINIFIED in facts.flags and facts.generated is not False:
            return Verdict(Reason.MINIFIED)
        if file_flags.GENERATED in facts.flags and facts.generated is not False:
            named = file_flags.GENERATED in file_flags.classify(change.path, b"")
            sign = "by its path or name" if named else "a comment in its first lines says so"
            return Verdict(Reason.GENERATED, {"sign": sign})
        return None


def by_path(path: str) -> Verdict | None:
    """The verdict of the spec's patterns and of the table of lock files on a path."""
    *folders, name = path.split("/")
    lower = name.lower()
    if lower in file_flags.LOCKFILES or lower.endswith(LOCK_SUFFIX):
        return Verdict(Reason.LOCKFILE, {"name": name})
    for folder in folders:
        if folder in FOLDERS:
            return Verdict(FOLDERS[folder], {"sign": f"{folder}/"})
    suffix = "." + lower.rpartition(".")[2] if "." in lower else ""
    if suffix in BINARY_SUFFIXES or _LIBRARY.fullmatch(lower):
        return Verdict(Reason.BINARY, {"sign": suffix})
    return None


def pattern_of(path: str) -> str:
    """A pattern of the user that matches this path alone."""
    text = "".join(f"\\{character}" if character in "\\*?[" else character for character in path)
    return "/" + (text[:-1] + "\\ " if text.endswith(" ") else text)


def facts_of(change: Change, content: bytes | None = None, size: int | None = None) -> Facts:
    """The facts that path and content tell. Without the content, what the diff shows of it stands for it, where that is
    the beginning of the file."""
    if content is None:
        shown = change.side(new=change.treatment is not Treatment.DELETED)
        text = "".join(f"{line}\n" for _, line in shown)
        size = len(path_bytes(text)) if size is None else size
        content = path_bytes(text[:_HEAD]) if shown and shown[0][0] <= 1 else b""
    return Facts(file_flags.classify(change.path, content[:_HEAD]), len(content) if size is None else size)


_HEAD = 65536
"""Bytes that classification looks at."""


def _name(path: str) -> str:
    return path.rpartition("/")[2]
