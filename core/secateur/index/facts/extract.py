"""Makes the records of files from their bytes: a pure function, which any process may run in any order.

Lists the files of a snapshot that were read only in part, so that a search says where it may miss something.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from hashlib import blake2b
from itertools import chain
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from secateur.distributions import version_of
from secateur.encodings import as_utf8
from secateur.errors import SecateurError
from secateur.index.facts.lexical import LEXICON_VERSION, RunCounts, TermBag, runs_of
from secateur.languages import language_of, parser_version, traits_of
from secateur.languages.plain import UNPARSED
from secateur.languages.syntax.file_flags import BINARY, UNINDEXED, UNREADABLE_TEXT, classify
from secateur.languages.syntax.text import CONFLICT, DAMAGED_TEXT, UNPARSED_LINES
from secateur.model import FileFacts, Fragment, FragmentKind, Notice
from secateur.redaction import CredentialNumbers, Scanning, insert_markers
from secateur.redaction.spans import format_spans
from secateur.render.page import listed

if TYPE_CHECKING:
    from secateur.index.facts.embedding.vectors import Embedder
    from secateur.index.facts.snapshot import Snapshot
    from secateur.tokens import Counter

RECORD_VERSION = 6  # raise it when the shape of `Record` changes
DIGEST_BYTES = 16  # the length of a content digest
HEAD_BYTES = 65536  # the first bytes of a file, which it is classified by


class Record(msgspec.Struct, frozen=True, array_like=True):
    """The stored facts of one file. Arrays are little-endian bytes with one entry for each fragment."""

    facts: FileFacts
    lines: int
    flags: tuple[str, ...]  # classification: "test", "generated", "vendored", ...
    tokens: bytes  # int32: tokens of the fragment's text
    sig_tokens: bytes  # int32: tokens of its declaration lines; 0 = none
    wrapping: bytes  # int32 [fragments, k]: facts about the text that the bound of the pack needs
    body: tuple[bytes, bytes, bytes]  # TermBag of the texts
    names: tuple[bytes, bytes, bytes]  # TermBag of the qualified names
    vectors: bytes  # int8 [fragments, dimension]; empty without an embedder
    redactions: str  # spans of credentials, which no other column contains: see `format_spans`
    links: bytes  # digest of the facts that make the call graph: if it stays, the graph stays

    @property
    def indexed(self) -> bool:
        """False for files that are only counted."""
        return not UNINDEXED & set(self.flags)

    def column(self, name: str) -> npt.NDArray[np.int32]:
        """Returns one of the int32 columns."""
        return np.frombuffer(getattr(self, name), dtype="<i4")


class _FactsAlone(msgspec.Struct, array_like=True):
    facts: FileFacts  # the first field of a record


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(Record)
_FACTS_DECODER = msgspec.msgpack.Decoder(_FactsAlone)


def encode(record: Record) -> bytes:
    """Encodes a record for the store."""
    return _ENCODER.encode(record)


def decode(data: bytes) -> Record:
    """Decodes a record. Raises msgspec.DecodeError: the bytes are not a record."""
    return _DECODER.decode(data)


def decode_facts(data: bytes) -> FileFacts:
    """Decodes the facts of a record, and skips the rest. Raises msgspec.DecodeError: the bytes are not a record."""
    return _FACTS_DECODER.decode(data).facts


@cache
def fingerprint(counter: str, embedder: str) -> str:
    """Names all versions that a record depends on. Records of different fingerprints are never mixed."""
    tiktoken = version_of("tiktoken") or "none"
    return f"{RECORD_VERSION}|{parser_version()}|{LEXICON_VERSION}|{counter}|{tiktoken}|{embedder}"


def digest_of(data: bytes) -> bytes:
    """Returns the digest of a file's content."""
    return blake2b(data, digest_size=DIGEST_BYTES).digest()


def text_of(lines: Sequence[str], first: int, last: int) -> str:
    """Returns the lines `first..last`, 1-based and inclusive, as the text that is counted and goes out."""
    return "\n".join(lines[first - 1 : last])


# The problem of a file that the full scanner for credentials did not finish.
NOT_WHOLLY_SCANNED = "credentials_part_scanned"

# The problem of a file with so many different words that the longest have no vectors.
WORDS_LEFT_OUT = "words_left_out"
MOST_WORDS = 50_000  # different words of a file that are indexed; the larger files of code have a tenth of it


def extract(
    path: str,
    data: bytes,
    counter: Counter,
    embedder: Embedder | None,
    problem: str = "",
    scanning: Scanning | None = None,
) -> Record:
    """Makes the record of one file. See `extract_many`."""
    return extract_many([(path, data)], counter, embedder, problem, scanning)[0]


def extract_many(
    files: Sequence[tuple[str, bytes]],
    counter: Counter,
    embedder: Embedder | None,
    problem: str = "",
    scanning: Scanning | None = None,
    before_each: Callable[[], None] = lambda: None,
) -> list[Record]:
    """Parses files, counts their tokens, and collects their words and vectors. Pure; no content makes it raise.

    Credentials are replaced by markers first, so that no fact, word, vector or count contains one. If a step fails, the
    file becomes blocks of text; if that fails too, it is only counted. A record depends on its own file alone, but the
    words of all files are counted together: most of the time of a small file is the fixed cost of numpy's calls.

    Args:
        files: (path, content) of each.
        problem: why the syntax of the files must not be read. They become blocks of text with this problem. "": their
            syntax is read.
        scanning: finds credentials; None: our own rules and the scanner that is installed.
        before_each: is called before each file is read, and before the words are counted.

    Raises:
        SecateurError: vectors cannot be made, for these files or any others.
    """
    from secateur.languages.syntax.fragments import READER_FAILED, concerns_run

    try:
        read = []
        for path, data in files:
            before_each()
            read.append(_read(path, data, problem, scanning or Scanning()))
        before_each()
        return list(_make_records(read, counter, embedder))
    except BaseException as error:
        if concerns_run(error) or isinstance(error, SecateurError):
            raise
    if len(files) > 1:
        return [extract(path, data, counter, embedder, problem, scanning) for path, data in files]
    if not problem:
        return extract_many(files, counter, embedder, READER_FAILED, scanning)
    return [make_unindexed_record(UNREADABLE_TEXT)]


def make_unindexed_record(*flags: str) -> Record:
    """Makes the record of a file that is not indexed; the flags say why."""
    return Record(FileFacts("", ()), 0, flags, b"", b"", b"", _NOTHING, _NOTHING, b"", "", b"")


class _ReadFile(Struct, frozen=True):
    """A file that was read, and whose words are not counted yet."""

    path: str
    lines: int
    flags: frozenset[str]
    facts: FileFacts
    texts: Sequence[str]  # of each fragment
    declared: Sequence[str]  # the declaration of each fragment; "" = none
    redactions: str


def _read(path: str, data: bytes, problem: str, scanning: Scanning) -> _ReadFile:
    """Reads the syntax of a file. A file that is not indexed has no fragments."""
    from secateur.languages.syntax.fragments import make_text_blocks, parse_file, read_text, split_lines

    data = as_utf8(data)
    flags = classify(path, data[:HEAD_BYTES])
    if flags & UNINDEXED:
        return _ReadFile(path, 0, flags & UNINDEXED, FileFacts("", ()), (), (), "")
    spans, whole = scanning.spans(data, path)
    clean = insert_markers(data, spans, CredentialNumbers()) if spans else data
    named = insert_markers(data, spans, CredentialNumbers(numbered=False)) if spans else data
    facts = make_text_blocks(path, named, problem) if problem else parse_file(path, named)
    if not whole:
        facts = replace(facts, problems=(*facts.problems, NOT_WHOLLY_SCANNED))
    lines = split_lines(read_text(path, clean)[0])
    return _ReadFile(
        path,
        len(lines),
        flags,
        facts,
        [text_of(lines, fragment.line_start, fragment.line_end) for fragment in facts.fragments],
        [
            text_of(lines, fragment.sig_start, fragment.sig_end) if has else ""
            for fragment, has in zip(facts.fragments, have_declarations(facts.fragments), strict=True)
        ],
        format_spans(data, spans),
    )


def _make_records(files: Sequence[_ReadFile], counter: Counter, embedder: Embedder | None) -> Iterator[Record]:
    from secateur.index.facts.embedding import documents
    from secateur.index.graph.resolve.exported_symbols import digest_of_links
    from secateur.render.layouts import body, ingredients

    texts = [text for file in files for text in file.texts]
    names = [fragment.qualname for file in files for fragment in file.facts.fragments]
    ids = [f"{file.path}::{fragment.qualname}" for file in files for fragment in file.facts.fragments]
    searched = [_cut_words(file.texts) for file in files]
    runs = RunCounts.of(chain.from_iterable(searched))
    body_words, name_words = TermBag.of_runs(runs), TermBag.of(names)
    sizes = [len(file.texts) for file in files]
    vectors, cut = np.zeros((0, 0), dtype=np.int8), list[int]()
    if embedder is not None and texts:
        vectors, cut = documents(embedder, ids, texts, runs, sizes)
    cut += [position for position, file in enumerate(files) if searched[position] is not file.texts]
    tokens = counter.count_many([body(text) for text in texts])
    sig_tokens = counter.count_many([body(text) if text else "" for file in files for text in file.declared])
    first = 0
    for position, file in enumerate(files):
        end = first + len(file.texts)
        if file.flags & UNINDEXED:
            yield make_unindexed_record(*sorted(file.flags))
            continue
        facts = file.facts
        if position in cut:
            facts = replace(facts, problems=(*facts.problems, WORDS_LEFT_OUT))
        yield Record(
            facts=facts,
            lines=file.lines,
            flags=tuple(sorted(file.flags)),
            tokens=_column(tokens[first:end]),
            sig_tokens=_column(sig_tokens[first:end]),
            wrapping=_column([ingredients(text) for text in file.texts]),
            body=_bag(body_words.part(first, end)),
            names=_bag(name_words.part(first, end)),
            vectors=vectors[first:end].astype(np.int8).tobytes(),
            redactions=file.redactions,
            links=digest_of_links(file.facts, DIGEST_BYTES),
        )
        first = end


def _cut_words(texts: Sequence[str]) -> Sequence[str]:
    """Returns the texts of a file with their words up to the MOST_WORDS-th different one, or the same object."""
    if sum(map(len, texts)) < 2 * MOST_WORDS:
        return texts
    met: set[str] = set()
    searched = []
    for text in texts:
        left, words = max(0, MOST_WORDS - len(met)), runs_of(text)
        met.update(words)
        searched.append(text if len(met) <= MOST_WORDS else " ".join(words[:left]))
    return searched if len(met) > MOST_WORDS else texts


def have_declarations(fragments: Sequence[Fragment]) -> list[bool]:
    """Tells for each fragment of a file whether it has a declaration that is shorter than the whole fragment.

    Further pieces of a class, between and after its methods, have the name of the class but no declaration.
    """
    classes: set[str] = set()
    declared = []
    for fragment in fragments:
        is_further_piece = fragment.kind is FragmentKind.CLASS and fragment.qualname in classes
        if fragment.kind is FragmentKind.CLASS:
            classes.add(fragment.qualname)
        declared.append(
            bool(fragment.name)
            and not is_further_piece
            and (fragment.sig_start, fragment.sig_end) != (fragment.line_start, fragment.line_end)
        )
    return declared


def bag_of(parts: tuple[bytes, bytes, bytes]) -> TermBag:
    """Decodes a stored TermBag."""
    return TermBag(*(np.frombuffer(part, dtype=dtype) for part, dtype in zip(parts, ("<i8", "<u8", "u1"), strict=True)))


def _bag(bag: TermBag) -> tuple[bytes, bytes, bytes]:
    return bag.start.astype("<i8").tobytes(), bag.hashes.astype("<u8").tobytes(), bag.counts.tobytes()


_NOTHING = _bag(TermBag.of(()))


def _column(values: Sequence[int] | Any) -> bytes:
    return np.asarray(values, dtype="<i4").tobytes()


# Problems for which a file is indexed as blocks of text although its language has a grammar.
_AS_TEXT = ("reader_failed", "parser_crashed", "parse_timeout", "too_large", "grammar_missing")


def warn_of_partly_read(snapshot: Snapshot, candidates: Collection[str] = ()) -> tuple[Notice, ...]:
    """Makes a notice for each way in which files of a snapshot were read only in part.

    `candidates`: the paths that an answer is made from; of the others it names only files that a search cannot find by
    all of their words. If empty, it names all."""
    pairs = [
        (path, problem)
        for path, problems in zip(snapshot.paths, snapshot.problems, strict=True)
        for problem in problems.split()
        if not candidates or path in candidates or problem == WORDS_LEFT_OUT
    ]
    as_text = {path: problem for path, problem in pairs if problem.startswith(_AS_TEXT)}
    sizes = dict(zip(snapshot.paths, snapshot.arrays["file.lines"].tolist(), strict=True))
    sizes |= {
        path: int(problem[len(UNPARSED_LINES) :]) for path, problem in pairs if problem.startswith(UNPARSED_LINES)
    }
    as_text |= {
        path: f"no grammar for {kind}"
        for path in candidates or snapshot.paths
        if sizes[path] and (kind := language_of(path)) in UNPARSED
    }
    left_out = [  # their names say that they hold code
        f"{path} ({reason})"
        for path, reason in snapshot.unindexed
        if reason == UNREADABLE_TEXT or (reason == BINARY and traits_of(language_of(path)).grammar is not None)
    ]
    notices = []
    if as_text:
        largest = sorted(as_text, key=lambda path: (-sizes[path], path))
        named = listed([f"{path} ({as_text[path]}, {sizes[path]:,} lines)" for path in largest])
        lines = sum(sizes[path] for path in as_text)
        total = f"{lines:,} lines in {len(as_text):,} files: " if len(as_text) > 1 else ""
        message = f"Not parsed, so cut by indentation, and most calls are not known: {total}{named}."
        notices.append(Notice("read_as_text", message))
    if left_out:
        message = f"Not indexed, although it should be code: {listed(left_out)}."
        notices.append(Notice("code_not_indexed", message))
    messages = {
        NOT_WHOLLY_SCANNED: "Credentials: the full scanner stopped, and only the built-in rules looked at",
        WORDS_LEFT_OUT: "Not all words are searched, because there are far more different ones than in prose, in",
        CONFLICT: "Markers of a merge conflict are in",
        DAMAGED_TEXT: "Bytes that are neither UTF-8 nor of a recognised encoding are read as U+FFFD in",
    }
    for problem, message in messages.items():
        if files := [path for path, found in pairs if found == problem]:
            code = "scanner_failed" if problem == NOT_WHOLLY_SCANNED else problem
            notices.append(Notice(code, f"{message} {listed(files)}."))
    return tuple(notices)
