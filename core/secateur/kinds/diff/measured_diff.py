"""Counts every changed file of a diff once, and collects its facts from diff and repository: the slow part. `plan` uses
the result for every limit and rule.

    measured = measure_diff(parse_diff(text), Settings(), Injection(rules, skill))

Changed files that use each other are linked, by the changed files alone, without an index: a call of a name is taken to
mean the one changed file that defines it. That is good enough to choose between two chunks, its only use.
"""

import re
from collections import Counter as Multiset
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated

from msgspec import Meta

from secateur.kinds.diff.changes import NOT_IN_CLONE, Change, Diff, Treatment, sendable
from secateur.kinds.diff.chunk_text import Injection, Remark, block_pieces
from secateur.kinds.diff.file_parts import Outline, Splitter
from secateur.kinds.diff.linter_output import Finding, group_by_file
from secateur.kinds.diff.skip_rules import Facts, facts_of, verdict_by_path
from secateur.languages.syntax.text import CONFLICT, find_conflict
from secateur.model import FragmentKind, Notice
from secateur.redaction import Redactor
from secateur.render.page import count_noun, listed
from secateur.settings import Settings
from secateur.shape import Shape
from secateur.sources.files import path_bytes
from secateur.tokens import Counter, get_counter

LINKS_OF_A_FILE = 12  # the strongest links kept per file: a helper that all files use belongs to no file in particular
FURTHER_USE = 0.5  # each further name adds this share of the distance to 1
_DEFINES = (FragmentKind.FUNCTION, FragmentKind.METHOD, FragmentKind.CLASS)
_TEST = re.compile(r"(?:test[_-])?(.+?)(?:[._-](?:test|spec|tests))?")
_SHORTEST_NAME = 3


def links(outlines: Mapping[int, Outline], paths: Mapping[int, str]) -> dict[tuple[int, int], float]:
    """Returns the value of two files sharing a chunk, by their numbers, the lower first: 0.5 for the first use, rising
    to 1; 1 for a test and its file.

    Args:
        outlines: of the files with known content.
        paths: of all files, by number.
    """
    definitions: dict[str, int] = {}  # name -> the file that defines it, -1: several do
    for file, outline in sorted(outlines.items()):
        for name in {
            fragment.name
            for fragment in outline.facts.fragments
            if fragment.kind in _DEFINES and len(fragment.name) >= _SHORTEST_NAME
        }:
            definitions[name] = file if definitions.get(name, file) == file else -1
    uses: Multiset[tuple[int, int]] = Multiset()
    for file, outline in sorted(outlines.items()):
        for name in sorted({call.name for call in outline.facts.calls}):
            home = definitions.get(name, -1)
            if home >= 0 and home != file:
                uses[min(file, home), max(file, home)] += 1
    worth = {pair: 1 - FURTHER_USE**count for pair, count in uses.items()}
    stems: dict[tuple[str, str], list[int]] = {}
    for file, path in sorted(paths.items()):
        name, _, suffix = path.rpartition("/")[2].rpartition(".")
        stem = _TEST.fullmatch(name.lower())
        stems.setdefault((stem[1] if stem else name.lower(), suffix), []).append(file)
    for numbers in stems.values():
        if len(numbers) == 2:
            worth[numbers[0], numbers[1]] = 1.0
    links_of_file: Multiset[int] = Multiset()
    strongest = {}
    for pair in sorted(worth, key=lambda pair: (-worth[pair], pair)):
        if max(links_of_file[pair[0]], links_of_file[pair[1]]) < LINKS_OF_A_FILE:
            links_of_file.update(pair)
            strongest[pair] = worth[pair]
    return strongest


# Characters that are invisible or make text look different.
_HIDDEN = re.compile("[\x08\x1b\x9b\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\U000e0000-\U000e01ef]")

LINTER = "Linter findings in"  # title of the findings of linters in a file
SIGNATURES = "Signatures around the changes of"  # title of the declarations of callers and callees
# Bytes of contents that are parsed to link files: two seconds' worth. In larger diffs only the first files are linked.
LINKED_BYTES = 2 << 20

_NAMED = 5  # most files that a notice names


@dataclass(frozen=True, slots=True)
class Hint:
    """A line about one changed file."""

    path: str
    line: int  # of the changed function
    rank: tuple[int, ...]  # lower goes first
    text: str  # with its end


@dataclass(frozen=True, slots=True)
class RepositoryFacts:
    """Facts of a changed file that come from the repository, not from the diff."""

    # the new content, of a deleted file the old; None: unknown, or too large to read
    content: bytes | None = None
    size: int | None = None  # bytes
    generated: bool | None = None  # what `.gitattributes` says
    vendored: bool | None = None


class Compared(Shape, frozen=True):
    """The two sides of a diff, for people and for JSON. Names and revisions are text from outside."""

    what: Annotated[str, Meta(description="`main...feature`")]
    base: Annotated[str, Meta(description="Id of a commit; empty for none.")] = ""
    head: Annotated[str, Meta(description="Id of a commit; empty for none.")] = ""
    repository: str = ""


@dataclass(frozen=True, slots=True)
class MeasuredChange:
    """A changed file with its facts for the rules and its cost."""

    number: int  # position in the order of paths
    change: Change
    facts: Facts
    tokens: int  # of its patch as it stands in the diff
    cost: int  # of its block in a chunk: the tokens of its pieces


@dataclass(frozen=True, eq=False)
class MeasuredDiff:
    """A diff, counted."""

    diff: Diff
    files: tuple[MeasuredChange, ...]  # in the order of their paths
    as_listed: tuple[int, ...]  # the numbers of the files in the order of the diff
    counter: Counter
    injection: Injection
    compared: Compared
    known: Mapping[str, RepositoryFacts]
    notices: tuple[Notice, ...] = ()
    remarks: Mapping[int, tuple[Remark, ...]] = field(default_factory=dict)  # by number of the file
    elsewhere: int = 0  # findings of linters about files that did not change
    redactor: Redactor | None = None  # the redactor that read it
    _splitters: dict[int, Splitter] = field(default_factory=dict)
    _outlines: dict[int, Outline | None] = field(default_factory=dict)

    def splitter(self, number: int) -> Splitter:
        """The splitter of a file; kept, so that its rows are counted only once."""
        if number not in self._splitters:
            self._splitters[number] = Splitter(self.files[number].change, self.counter, self.outline(number))
        return self._splitters[number]

    @cached_property
    def links(self) -> dict[tuple[int, int], float]:
        """The value of two files sharing a chunk, by their numbers; computed only if there are several chunks."""
        outlines: dict[int, Outline] = {}
        left = LINKED_BYTES
        for file in self.files:
            if verdict_by_path(file.change.path) is not None or file.change.treatment is Treatment.DELETED:
                continue
            content = self.known[file.change.path].content if file.change.path in self.known else None
            left -= len(file.change.text if content is None else content)
            if left < 0:
                break
            if (outline := self.outline(file.number)) is not None:
                outlines[file.number] = outline
        return links(outlines, {file.number: file.change.path for file in self.files})

    def remarks_under(self, title: str) -> list[Remark]:
        """All remarks with this title."""
        return [remark for remarks in self.remarks.values() for remark in remarks if remark.title == title]

    def outline(self, number: int) -> Outline | None:
        """The fragments of a file; None if its content is unknown."""
        if number not in self._outlines:
            change = self.files[number].change
            self._outlines[number] = _outline(change, self.known.get(change.path), self.redactor)
        return self._outlines[number]


def counter_of(settings: Settings) -> Counter:
    """The counter of the settings; `chunking.token_ratio` is the ratio of chars4."""
    if settings.tokens.counter == "chars4":
        from secateur.tokens.estimate import CharacterCounter

        return CharacterCounter(settings.chunking.token_ratio)
    return get_counter(settings.tokens.counter)


def measure_diff(
    diff: Diff,
    settings: Settings,
    injection: Injection | None = None,
    *,
    known: Mapping[str, RepositoryFacts] | None = None,
    compared: Compared | None = None,
    findings: Sequence[Finding] = (),
    hints: Sequence[Hint] = (),
    notices: tuple[Notice, ...] = (),
) -> MeasuredDiff:
    """Counts every file of a diff and collects its facts. Files are numbered in the order of their paths, not of the
    diff: the same changes give the same chunks.

    Args:
        known: the repository's facts of the changed files, by path.
        findings: the findings of linters.
        hints: signatures around the changes, from the code graph.
        notices: further notices for the output.

    Raises:
        TokenizerError: the counter's data cannot be read.
    """
    counter = counter_of(settings)
    known = known or {}
    fences: dict[tuple[str, str], int] = {}
    files = []
    # by the bytes of paths, as git sorts
    keys = [tuple(map(path_bytes, (change.path, change.old_path, change.text))) for change in diff.changes]
    in_order = sorted(range(len(diff)), key=keys.__getitem__)
    for index, change in enumerate(diff.changes[at] for at in in_order):
        start, patch, end = block_pieces(change.text)
        if (start, end) not in fences:
            fences[start, end] = sum(counter.count_many((start, end)))
        tokens, said = counter.count(patch), known.get(change.path, RepositoryFacts())
        seen = facts_of(change, said.content, said.size)
        facts = Facts(seen.flags, seen.size, said.generated, said.vendored)
        files.append(MeasuredChange(index, change, facts, tokens, tokens + fences[start, end]))
    findings_by_path, elsewhere = group_by_file(findings, (change.path for change in diff.changes))
    hints_by_path: dict[str, list[Hint]] = {}
    for hint in hints:
        hints_by_path.setdefault(hint.path, []).append(hint)
    remarks = {
        file.number: (
            *_remarks(file.change, findings_by_path.get(file.change.path, ()), counter),
            *(
                Remark(SIGNATURES, hint.line, hint.rank, hint.text, counter.count(hint.text))
                for hint in hints_by_path.get(file.change.path, ())
            ),
        )
        for file in files
        if file.change.path in findings_by_path or file.change.path in hints_by_path
    }
    return MeasuredDiff(
        diff=diff,
        files=tuple(files),
        as_listed=tuple(sorted(range(len(files)), key=in_order.__getitem__)),
        counter=counter,
        injection=injection or Injection(),
        compared=compared or Compared("a diff"),
        known=known,
        notices=(*notices, *_notices(diff)),
        remarks=remarks,
        elsewhere=elsewhere,
    )


def _remarks(change: Change, findings: Sequence[Finding], counter: Counter) -> list[Remark]:
    changed = change.changed_lines()
    texts = [finding.text for finding in findings]
    ranks = [(at.line not in changed, at.severity, at.line, at.column) for at in findings]
    rows = zip(findings, ranks, texts, counter.count_many(texts), strict=True)
    return [Remark(LINTER, finding.line, rank, text, tokens) for finding, rank, text, tokens in rows]


def _outline(change: Change, known: RepositoryFacts | None, redactor: Redactor | None) -> Outline | None:
    from secateur.languages.syntax.fragments import parse_file, read_text, split_lines

    content = known.content if known else None
    if content is None:
        if len(change.patches) != 1 or change.treatment not in (Treatment.ADDED, Treatment.DELETED):
            return None
        # the diff shows an added or deleted file completely
        content = path_bytes("\n".join(line for _, line in change.side(new=change.treatment is Treatment.ADDED)) + "\n")
    content = content if redactor is None else redactor.data(content, change.path)
    return Outline.of(parse_file(change.path, content), split_lines(read_text(change.path, content)[0]))


def _notices(diff: Diff) -> list[Notice]:
    notices = []
    if diff.outside:
        first, count = diff.outside[0][0], sum(lines for _, lines in diff.outside)
        lines, go = count_noun(count, "line belongs", "lines belong"), "does" if count == 1 else "do"
        notices.append(
            Notice("text_outside", f"{lines} to no changed file (the first is line {first:,}) and {go} not go out.")
        )
    if damaged := [change for change in diff.changes if change.fault not in ("", NOT_IN_CLONE)]:
        files = count_noun(len(damaged), "changed file is", "changed files are")
        names = listed([change.path for change in damaged], _NAMED)
        sentence = f"{files} damaged in the diff and left out: {names}; {damaged[0].fault}."
        notices.append(Notice("damaged_files", f"{sentence} Make the diff again to see the whole change."))
    if foreign := [change.path for change in diff.changes if sendable(change.text) != change.text]:
        notices.append(Notice("invalid_utf8", f"Bytes that are not UTF-8 go out as U+FFFD: {listed(foreign, _NAMED)}."))
    if hidden := [change.path for change in diff.changes if _HIDDEN.search(change.text)]:
        sentence = "Characters that are invisible, or that reorder the text on a screen, are in"
        notices.append(Notice("hidden_characters", f"{sentence} {listed(hidden, _NAMED)}."))
    marks = ((change.path, find_conflict(change.side(new=True))) for change in diff.changes if "<<<<<<<" in change.text)
    if conflicts := [f"{path}:{line}" for path, line in marks if line]:
        notices.append(Notice(CONFLICT, f"Markers of a merge conflict are in {listed(conflicts, _NAMED)}."))
    return notices
