"""The history of a repository: what its commits say, and the functions that they change.

history = RepositoryHistory.open(Path("flask"), settings)
for commit in history.commits("HEAD", most=100):
    changes = history.changes(commit)
    history.query(commit), history.changed_functions(commit.parents[0], changes)

Turns the message of a commit into a query: without references, signatures and templates. Pure.

query_of("Round refunds half to even (#812)\n\nSigned-off-by: A <a@b.c>")     # "Round refunds half to even"
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from secateur.errors import RepositoryError, shown
from secateur.index.facts.lexical import STOP_WORDS, words
from secateur.index.facts.snapshot import symbol_ids
from secateur.kinds.diff.changes import Change, Treatment
from secateur.kinds.diff.diff_parser import parse_diff
from secateur.languages import traits_of
from secateur.languages.syntax.file_flags import UNINDEXED, classify
from secateur.languages.syntax.fragments import language_of, parse_file
from secateur.model import FragmentKind
from secateur.redaction import redact_typed
from secateur.settings import Settings
from secateur.sources.git import Git, HistoryCommit
from secateur.sources.open import SourceOpener, open_source
from secateur.sources.provenance import NoGit

FEWEST_WORDS = 3  # least different words about the code in a message: "fix typo" asks for nothing specific
LONGEST = 2_000  # characters of a message that are read: longer ones describe releases

_REVERT = re.compile(
    r"\W*(revert|reapply|back(ing|ed)?[ -]?out|roll(ing|ed)?[ -]?back)\b|.*\bThis reverts commit\b", re.I
)

_RELEASE = re.compile(
    r"\W*((chore|build|ci|deps|release)(\([^)]*\))?!?:\s*)?(\[[^\]]{0,200}\]\s*)?(v?\d+\.\d\S*+\W*$"
    r"|release\b|prepar(e|ing) (for )?(the )?(next|release|version)|(start|begin|back to|open) .{0,30}\bdev"
    r"|(bump|update|upgrade|increment)(s|ed|ing)?\b.*"
    r"(\b(version|dependenc|requirement|pin)|from \S+ to\b|\d\.\d)"
    r"|version (bump|v?\d+\.\d))|.*\[maven-release-plugin\]|.*\bpre-commit\.ci\b",
    re.I,
)

_MERGE = re.compile(r"merge\b.*", re.I)  # first lines of pull requests that were squashed into one commit

_REFERENCE = re.compile(
    r"\(?(\b((fix|clos|resolv)(es|ed|e)?|refs?|see|issues?|pr|pull request)\b:?\s*)?"
    r"(([\w-]+/[\w.-]+)?#\d+|\bgh-\d+|https?://\S+/(issues|pull)/\d+)\)?",
    re.I,
)
_TRAILER = re.compile(
    r"\s*([A-Z][A-Za-z]+(-[A-Za-z]+)+:\s|\(cherry picked from|git-svn-id:|PiperOrigin-RevId|-{3,}\s*$|<!--)", re.M
)
_EMPTY_TEXT = """
    add added address adjust allow another better bit bug bugfix change changed changes chore clean cleanup code
    comment comments commit correct couple docs edit feedback few fix fixed fixes fixing fixup format formatting further
    general improve improved improvement improvements initial lint linter little make merge minor misc more new nit nits
    oops patch polish pr refactor refactoring remove removed rename review rework simplify small some stuff style test
    tests thing things tidy tweak tweaks typo typos unused update updated updates use various version wip work
    apply black clippy eslint flake8 gofmt hook hooks isort latest mypy noqa prettier pylint pyupgrade ruff rubocop run
"""

_EMPTY = frozenset(_EMPTY_TEXT.split())  # words that fit any change


def query_of(message: str) -> str:
    """Returns the message as a query; "" if it says nothing to search for."""
    first, _, rest = message[:LONGEST].partition("\n")
    if _MERGE.fullmatch(first.strip()):
        first, _, rest = rest.strip().partition("\n")
    lines = []
    for line in (first, *rest.split("\n")):
        if _TRAILER.match(line):
            continue
        stripped = _REFERENCE.sub("", line)
        lines.append(stripped.rstrip() if stripped == line else stripped.strip(" ,;:"))
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
    told = {word.lower() for word in words(text)} - STOP_WORDS - _EMPTY
    return text if sum(len(word) > 1 and not word.isdigit() for word in told) >= FEWEST_WORDS else ""


def is_revert(message: str) -> bool:
    """Tells whether the commit reverts another one."""
    return bool(_REVERT.match(message)) or "\nThis reverts commit " in message


def is_release(message: str) -> bool:
    """Tells whether the commit changes a version: its own, or that of a dependency."""
    return bool(_RELEASE.match(message.partition("\n")[0]))


_HEAD_BYTES = 65_536
_OTHER = frozenset({"test", "documentation", "example", "vendored", "generated"}) | UNINDEXED
_FUNCTIONS = (FragmentKind.FUNCTION, FragmentKind.METHOD)


@dataclass(frozen=True)
class RepositoryHistory:
    """A repository whose commits are examined."""

    git: Git
    root: Path
    settings: Settings

    @classmethod
    def open(cls, path: Path, settings: Settings) -> RepositoryHistory:
        """Opens the history of the repository that holds a folder. Raises RepositoryError: it has no history, or it may
        not be read."""
        try:
            source = open_source(path, "HEAD", trust=settings.index.trust_git_dir)
        except RepositoryError as error:
            if error.code not in NoGit.__members__:
                raise
            message = f"{shown(path)} has no history to mine cases from: {NoGit[error.code].value}"
            raise RepositoryError(message, hint="name a folder of a git repository", code=error.code) from error
        git = Git.discover(source.root or path, trust=settings.index.trust_git_dir)
        assert isinstance(git, Git)  # otherwise the source could not have been opened
        return cls(git, git.root, settings)

    def query(self, commit: HistoryCommit) -> str:
        """Returns the message of a commit as a query, without credentials; "" if it says nothing to search for."""
        return redact_typed(query_of(commit.message), self.settings.redaction)

    def commits(self, rev: str, most: int) -> Iterator[HistoryCommit]:
        """Yields the newest commits up to a revision, at most so many; raises RepositoryError."""
        return self.git.log(self.git.resolve(rev), limit=most)

    reverts = staticmethod(is_revert)
    changes_version = staticmethod(is_release)

    @staticmethod
    def is_code(path: str) -> bool:
        """Tells whether a path is that of code, except tests, documents, examples, vendored and generated code."""
        return traits_of(language_of(path, b"")).grammar is not None and not classify(path, b"") & _OTHER

    def changes(self, commit: HistoryCommit) -> tuple[Change, ...]:
        """Returns the changes of a commit to its code files. Raises SecateurError."""
        paths = [path for path in commit.paths if self.is_code(path)]
        return parse_diff(self.git.diff(commit.parents[0], commit.id, context=0, paths=paths)).changes

    def contents(self, commit: str, paths: list[str]) -> Mapping[str, bytes]:
        """Returns the files of a commit as its index reads them, without those that it does not index."""
        source = SourceOpener(self.root, commit, self.settings.index)()
        return {path: data for path, data in source.read(paths) if data is not None}

    def changed_functions(self, parent: str, changes: tuple[Change, ...]) -> tuple[str, ...]:
        """Returns the ids of a commit's functions, as of its parent, in which lines were changed or added."""
        old = {
            change.old_path: change
            for change in changes
            if change.treatment in (Treatment.MODIFIED, Treatment.RENAMED, Treatment.DELETED)
            and self.is_code(change.old_path)
        }
        ids: list[str] = []
        for path, data in self.contents(parent, list(old)).items() if old else ():
            if classify(path, data[:_HEAD_BYTES]) & _OTHER:
                continue
            fragments = parse_file(path, data).fragments
            hunks = [hunk.old[0] for patch in old[path].patches for hunk in patch.hunks]  # (first line, count)
            for id_, fragment in zip(symbol_ids(path, fragments), fragments, strict=True):
                start, end = fragment.line_start, fragment.line_end
                # a hunk of no line of the old side only adds text after its first
                if fragment.kind in _FUNCTIONS and any(
                    start <= first + max(count, 1) - 1 and first <= end - (not count) for first, count in hunks
                ):
                    ids.append(id_)
        return tuple(ids)
