"""Decides which changed files are left out, and by which rule: the patterns of the spec (CHUNKING-AC-1) at any depth,
current lock files, generated and vendored code, also by `linguist-generated` and `linguist-vendored` in
`.gitattributes`, which is read without git.

Unreadable files are left out. Then the user's patterns decide: a matching pattern leaves a file out, one with `!` takes
it in whatever the other rules say. Rules use the new path of a file, for a deleted file the old one. Pure.

    attributes = Attributes({".gitattributes": b"*.pb.go linguist-generated\\n"})
    attributes.says("api/a.pb.go", GENERATED)   # True; None if no rule matches
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from secateur.kinds.diff.changes import Change, Treatment
from secateur.kinds.diff.diff_parser import unquote
from secateur.languages.syntax import file_flags
from secateur.ledger import Figure, Reason
from secateur.render.page import phrase
from secateur.sources.files import path_bytes, path_text
from secateur.sources.ignore import Rules

GENERATED = "linguist-generated"
VENDORED = "linguist-vendored"
FILE = ".gitattributes"

_LINE = re.compile(r'("(?:[^"\\]|\\.)*"|\S+)\s+(.*)', re.DOTALL)
_TRUE = ("", "true", "1", "set", "yes")


class Attributes:
    """The rules of all `.gitattributes` files of a tree, by their paths. The deepest file with a match decides."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._rules: dict[tuple[str, str], Rules] = {}
        for path, content in files.items():
            folder = path.rpartition("/")[0]
            for attribute in (GENERATED, VENDORED):
                if patterns := list(_patterns(path_text(content), attribute)):
                    self._rules[folder, attribute] = Rules.of(patterns)

    def says(self, path: str, attribute: str) -> bool | None:
        """Tells whether the file at `path` has the attribute; None if no rule matches."""
        folder = path.rpartition("/")[0]
        while self._rules:
            rules = self._rules.get((folder, attribute))
            inside = path[len(folder) + 1 :] if folder else path
            decision = rules.decide(path_bytes(inside), is_folder=False) if rules else None
            if decision is not None or not folder:
                return decision
            folder = folder.rpartition("/")[0]
        return None


def _patterns(text: str, attribute: str) -> list[str]:
    patterns = []
    for line in text.removeprefix("\ufeff").split("\n"):
        parts = _LINE.fullmatch(line.strip())
        if not parts or line.lstrip().startswith(("#", "!", "[attr]")):
            continue
        pattern = unquote(parts[1][1:-1]) if parts[1].startswith('"') else parts[1]
        for word in parts[2].split():
            name, equals, value = word.partition("=")
            if name == attribute:
                patterns.append(pattern if value.lower() in _TRUE or not equals else f"!{pattern}")
            elif name in (f"-{attribute}", f"!{attribute}"):
                patterns.append(f"!{pattern}")
    return patterns


# The rules that leave out a file or a part of it; `--allow-skip` takes their names.
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

# Folders of the spec: files below them, at any depth, are left out.
FOLDERS = {
    **dict.fromkeys(("vendor", "node_modules"), Reason.VENDORED),
    **dict.fromkeys(("dist", "build"), Reason.BUILD),
    ".idea": Reason.EDITOR,
}

MAX_FILE_BYTES = 1 << 20  # a file of this size or more is no text for a review: 1 MB in the spec
LOCK_SUFFIX = ".lock"

_SPEC_SUFFIXES = ("png", "jpg", "exe", "so", "dll")
_PICTURES = ("jpeg", "gif", "bmp", "ico", "icns", "webp", "avif", "tif", "tiff", "psd", "pdf")
_ARCHIVES = ("zip", "gz", "tgz", "bz2", "xz", "7z", "rar", "zst", "jar", "war", "ear")
_PROGRAMS = ("class", "pyc", "pyo", "o", "a", "lib", "obj", "dylib", "pdb", "wasm")
_FONTS = ("woff", "woff2", "ttf", "otf", "eot")
_MEDIA = ("mp3", "mp4", "m4a", "m4v", "mov", "avi", "mkv", "webm", "ogg", "flac", "wav")
_DATA = ("sqlite", "sqlite3", "parquet", "npy", "npz", "onnx", "pkl")
# Extensions of binary files, whatever a diff shows.
BINARY_SUFFIXES = frozenset(
    f".{suffix}" for suffix in (*_SPEC_SUFFIXES, *_PICTURES, *_ARCHIVES, *_PROGRAMS, *_FONTS, *_MEDIA, *_DATA)
)

_LIBRARY = re.compile(r".*\.so(\.\d+)+")


@dataclass(frozen=True, slots=True)
class Verdict:
    """The rule that leaves a file out, with the figures that it matched."""

    rule: Reason  # one of RULES
    figures: Mapping[str, Figure] = field(default_factory=dict)  # text from outside may be in them

    @property
    def words(self) -> tuple[str, str]:
        """The rule and the match: ("lock file", "pnpm-lock.yaml"); the match may be ""."""
        rule, _, detail = phrase(self.rule, self.figures).partition(" (")
        return rule, detail.removesuffix(")")


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of a changed file besides its path."""

    flags: frozenset[str]  # of `file_flags.classify`, from the known content
    size: int  # bytes; of unknown content the bytes that the diff shows
    generated: bool | None = None  # what `.gitattributes` says
    vendored: bool | None = None


class Pruner:
    """The rules under given settings: `Pruner(("*.sql", "!build/")).verdict(change, facts)`."""

    def __init__(self, ignore: Sequence[str]) -> None:
        self._patterns = [(pattern, Rules.of([pattern])) for pattern in ignore]
        self._together = Rules.of(ignore)

    def verdict(self, change: Change, facts: Facts) -> Verdict | None:
        """The first rule that leaves the file out; None if no rule does."""
        if change.fault:
            return Verdict(Reason.DAMAGED, {"fault": change.fault})
        if (chosen := self._user_pattern(change.path)) is not None:
            return Verdict(Reason.PATTERN, {"pattern": chosen}) if chosen else None
        return verdict_by_path(change.path) or self._verdict_by_facts(change, facts)

    def _user_pattern(self, path: str) -> str | None:
        """The user's pattern that leaves the path out; "" if a pattern takes it in, None if no pattern matches. A match
        of the path itself counts before one of a folder above it."""
        if not self._together:
            return None
        folder_path, is_folder = path, False
        while folder_path:
            raw = path_bytes(folder_path)
            if (excluded := self._together.decide(raw, is_folder=is_folder)) is not None:
                if not excluded:
                    return ""
                last_first = reversed(self._patterns)
                return next(name for name, rules in last_first if rules.decide(raw, is_folder=is_folder) is not None)
            folder_path, is_folder = folder_path.rpartition("/")[0], True
        return None

    def _verdict_by_facts(self, change: Change, facts: Facts) -> Verdict | None:
        if facts.vendored:
            return Verdict(Reason.VENDORED, {"sign": "linguist-vendored in .gitattributes"})
        if facts.generated:
            return Verdict(Reason.GENERATED, {"sign": "linguist-generated in .gitattributes"})
        if file_flags.BINARY in facts.flags:
            return Verdict(Reason.BINARY)
        if facts.size >= MAX_FILE_BYTES and change.treatment is not Treatment.MODE:
            return Verdict(Reason.TOO_LARGE, {"bytes": facts.size, "limit": MAX_FILE_BYTES})
        if change.binary:
            return Verdict(Reason.BINARY)
        if file_flags.LOCKFILE in facts.flags:
            return Verdict(Reason.LOCKFILE, {"name": change.path.rpartition("/")[2]})
        if file_flags.VENDORED in facts.flags and facts.vendored is not False:
            return Verdict(Reason.VENDORED, {"sign": "by its path or name"})
        if file_flags.MINIFIED in facts.flags and facts.generated is not False:
            return Verdict(Reason.MINIFIED)
        if file_flags.GENERATED in facts.flags and facts.generated is not False:
            named = file_flags.GENERATED in file_flags.classify(change.path, b"")
            sign = "by its path or name" if named else "by its first lines"
            return Verdict(Reason.GENERATED, {"sign": sign})
        return None


def verdict_by_path(path: str) -> Verdict | None:
    """The verdict on a path by the spec's patterns and the table of lock files."""
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
    """Makes a pattern that matches only this path."""
    text = "".join(f"\\{character}" if character in "\\*?[" else character for character in path)
    return "/" + (text[:-1] + "\\ " if text.endswith(" ") else text)


def facts_of(change: Change, content: bytes | None = None, size: int | None = None) -> Facts:
    """Derives facts from path and content. If the content is unknown, the lines in the diff stand for it, provided that
    they are the beginning of the file."""
    if content is None:
        shown = change.side(new=change.treatment is not Treatment.DELETED)
        text = "".join(f"{line}\n" for _, line in shown)
        size = len(path_bytes(text)) if size is None else size
        content = path_bytes(text[:_HEAD]) if shown and shown[0][0] <= 1 else b""
    return Facts(file_flags.classify(change.path, content[:_HEAD]), len(content) if size is None else size)


_HEAD = 65536  # bytes that classification looks at
