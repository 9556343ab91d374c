"""Reads the files to prune that a user names: files, folders, patterns, samples; as carefully as a repository.

    files, notices = read_files(["src", "docs/*.md", "sample:orders"], settings, cache_dir)

Folders and patterns yield the files that the index would read: no ignored, binary, huge generated or linked files. A
file named by itself is read even if it is ignored. No link is followed out of the folder it was named in.
"""

import os
import stat
from collections import Counter as Tally
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from secateur.errors import SecateurError, UsageError, shown, too_large, unreadable
from secateur.kinds.files.sourcecode import SourceCode
from secateur.languages.syntax.file_flags import BINARY, UNINDEXED, classify
from secateur.languages.syntax.fragments import read_text
from secateur.model import Notice
from secateur.redaction import Redactor, recognise_in_names
from secateur.render.page import listed
from secateur.settings import FILE_NAME, Settings
from secateur.sources.files import MAGIC, Folder, LeadsOut, confine_path
from secateur.sources.globs import ShellPattern
from secateur.sources.named import folder_of, is_named
from secateur.sources.open import ListedSource, open_source
from secateur.sources.source import Source

NAMED_BYTES = 64 << 20  # largest file that may be named by itself: dozens of times the largest window
HEAD_BYTES = 65536  # the first bytes of a file, which classification looks at


@dataclass(frozen=True, slots=True)
class _Read:
    name: str
    real: Path  # its resolved path, to recognise files already read
    data: bytes | None = None
    reason: str = ""


def read_files(
    words: Sequence[str],
    settings: Settings,
    cache_dir: Path,
    base: Path | None = None,
    redactor: Redactor | None = None,
    named: Callable[[str], Path] | None = None,
    chosen: Sequence[str] | None = None,
) -> tuple[list[SourceCode], list[Notice]]:
    """Reads the files that the words name, each once, in the order of the words; those of one folder or pattern in byte
    order of the paths.

    Args:
        words: paths, patterns with `*`, `?`, `[…]` and `**`, or `sample:NAME[/PATH]`, or a git URL.
        cache_dir: the folder of unpacked samples and clones.
        base: the folder that relative paths start from, by default the current one.
        redactor: removes credentials; by default made from the settings.
        named: returns the folder of a sample or URL; by default `folder_of`, which fetches nothing.
        chosen: paths within folders and patterns to read; None: all.

    Raises:
        SecateurError: `NO_SUCH_FILE`, `NO_MATCH`, `TOO_LARGE`, `UNREADABLE`, `SYMBOLIC_LINK`; with the path.
        RepositoryError: a folder cannot be listed; no such sample.
    """
    base, redactor = base or Path.cwd(), redactor or Redactor.of(settings.redaction, cache_dir)
    named = named or (lambda name: folder_of(name, cache_dir))
    files: list[SourceCode] = []
    left_out: list[tuple[str, str]] = []
    damaged: list[str] = []
    notices: dict[str, Notice] = {}
    seen: set[Path] = set()
    shared = f"{home_of(words, base)}/"
    for word in words:
        for read in _read_word(word, settings, named, base, notices, chosen):
            read = replace(read, name=read.name.removeprefix(shared))
            if read.real in seen:
                continue
            seen.add(read.real)
            if read.data is None:
                left_out.append((read.name, read.reason))
                continue
            text, broken = read_text(read.name, redactor.data(read.data, read.name))
            damaged += [read.name] if broken else []
            files.append(SourceCode(read.name, text))
    recognise_in_names(file.module_name for file in files)
    files = [replace(file, source_code=redactor.bare(file.source_code)) for file in files]
    if left_out:
        tally = sorted(Tally(reason for _, reason in left_out).items())
        reasons = ", ".join(f"{times:,} {reason}" for reason, times in tally)
        notices["left_out"] = Notice("left_out", f"Left out: {reasons} ({listed([name for name, _ in left_out])}).")
    if damaged:
        notices["invalid_utf8"] = Notice("invalid_utf8", f"Bytes that are not text were replaced in {listed(damaged)}.")
    return files, list(notices.values())


def home_of(words: Sequence[str], base: Path) -> Path:
    """The folder that the names of files from absolute paths are relative to: the base if it holds them all, else the
    innermost folder that does. Beside relative paths, an absolute one outside the base keeps its name."""
    absolute = [Path(os.path.normpath(word)) for word in words if word.startswith("/")]
    if len(absolute) < len(words) or (base != Path("/") and all(path.is_relative_to(base) for path in absolute)):
        return base
    folders = []
    for path in absolute:
        first = next((part for part in (*reversed(path.parents), path) if MAGIC.search(part.name)), path)
        folders.append(path if path.is_dir() else first.parent)
    return Path(os.path.commonpath(folders))


def _read_word(
    word: str,
    settings: Settings,
    named: Callable[[str], Path],
    base: Path,
    notices: dict[str, Notice],
    chosen: Sequence[str] | None,
) -> Iterator[_Read]:
    if word.startswith("sample:"):
        sample, _, inside = word.partition("/")
        base = named(sample)
        try:
            confine_path(inside, base, "the sample")
        except LeadsOut as error:
            raise UsageError(f"{shown(word)} {error}", hint=f"name a path below {sample}") from error
        word = inside or "."
    elif is_named(word):
        base, word = named(word), "."
    path = base / word
    try:
        is_folder, exists = path.is_dir(), os.path.lexists(path)
    except (OSError, ValueError) as error:
        raise unreadable(word, error) from error
    if not exists and MAGIC.search(word):
        yield from _read_matching(word, settings, base, notices, chosen)
    elif is_folder:
        _resolve_inside(path, base, word)
        yield from _read_folder(path, _name_prefix(word), None, settings, notices, chosen)
    elif exists:
        yield _read_named(path, base, word)
    else:
        hint = "check the path; a pattern such as 'src/**/*.py' names many"
        raise SecateurError(f"there is no file {shown(word)}", hint=hint, code="NO_SUCH_FILE")


def _read_matching(
    word: str, settings: Settings, base: Path, notices: dict[str, Notice], chosen: Sequence[str] | None
) -> Iterator[_Read]:
    parts = [part for part in word.split("/") if part != "."]
    first = next(index for index, part in enumerate(parts) if MAGIC.search(part))
    folder = "/".join(parts[:first]) or ("/" if word.startswith("/") else ".")
    try:
        pattern = ShellPattern("/".join(parts[first:]))
    except ValueError as error:
        raise UsageError(f"{shown(word)} is not a pattern: {error}", hint="wildcards are *, ?, [a-z] and **") from error
    matches = []
    if (base / folder).is_dir():
        _resolve_inside(base / folder, base, folder)
        matches = list(_read_folder(base / folder, _name_prefix(folder), pattern, settings, notices, chosen))
    if not matches:
        hint = "ignored files do not match: name them, or their folder; ** matches folders of any depth"
        raise SecateurError(f"nothing matches {shown(word)}", hint=hint, code="NO_MATCH")
    yield from matches


def _read_folder(
    folder: Path,
    prefix: str,
    pattern: ShellPattern | None,
    settings: Settings,
    notices: dict[str, Notice],
    chosen: Sequence[str] | None,
) -> Iterator[_Read]:
    index, largest = settings.index, settings.index.max_file_kb * 1024
    source: Source = open_source(folder, ignore=index.ignore, max_file_bytes=largest, trust=index.trust_git_dir)
    if chosen is not None:
        source = ListedSource(source, chosen)
    root = folder.resolve()
    wanted = [entry.path for entry in source.entries() if pattern is None or pattern.matches(entry.path)]
    for path, data in source.read(wanted):
        flags = classify(path, data[:HEAD_BYTES]) & UNINDEXED if data is not None else frozenset({"unreadable"})
        yield _Read(prefix + path, root / path, None, min(flags)) if flags else _Read(prefix + path, root / path, data)
    for skip in source.skips():
        if pattern is None or pattern.matches(skip.path):
            yield _Read(prefix + skip.path, root / skip.path, None, skip.reason)
    for notice in source.notices():
        notices.setdefault(notice.code, notice)


def _read_named(path: Path, base: Path, word: str) -> _Read:
    real = _resolve_inside(path, base, word)
    name = _name_prefix(word).removesuffix("/")
    try:
        status = real.stat()
    except OSError as error:
        raise unreadable(word, error) from error
    if not stat.S_ISREG(status.st_mode):
        raise unreadable(word, "it is not a regular file")
    if status.st_size > NAMED_BYTES:
        raise too_large(word, NAMED_BYTES, "text for a model")
    with Folder(real.parent) as folder:
        data = folder.read(real.name, NAMED_BYTES)
    if data is None:
        raise unreadable(word, "permission denied, or it changes while it is read")
    return _Read(name, real, None, BINARY) if BINARY in classify(name, data[:HEAD_BYTES]) else _Read(name, real, data)


def _resolve_inside(path: Path, base: Path, word: str) -> Path:
    """Resolves all links in the path. They may lead anywhere below the base; for a path outside the base, anywhere
    below the folder of the file."""
    try:
        real, lexical, home = path.resolve(), Path(os.path.normpath(path)), base.resolve()
        allowed = home if lexical.is_relative_to(base) else path.parent.resolve()
        if allowed is not home and path.is_dir():
            return real
    except (OSError, ValueError, RuntimeError) as error:
        raise unreadable(word, error) from error
    if not real.is_relative_to(allowed):
        hint = f"name what it leads to: {shown(str(real))}"
        raise SecateurError(f"{shown(word)} is a link that leads elsewhere", hint=hint, code="SYMBOLIC_LINK")
    return real


def _name_prefix(word: str) -> str:
    clean = os.path.normpath(word)
    return "" if clean == "." else clean.rstrip("/") + "/"


def root_of(paths: Sequence[str], current: Path | None) -> Path | None:
    """The folder whose configuration counts: the repository of the first path, else the current folder; None if that is
    gone."""
    try:
        first = (current or Path()).joinpath(paths[0]).resolve()
        for folder in (first, *first.parents) if first.exists() else ():
            if (folder / FILE_NAME).is_file() or (folder / ".git").exists():
                return folder
            if current and folder == current.resolve():
                break
    except (OSError, ValueError, RuntimeError):  # not a valid path: reading it reports that
        pass
    return current
