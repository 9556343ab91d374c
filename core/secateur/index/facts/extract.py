"""Makes the record of one file from its bytes: a pure function, which any process may run in any order."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from secateur.distributions import version_of
from secateur.encodings import as_utf8
from secateur.errors import SecateurError
from secateur.index.facts.lexical import LEXICON_VERSION, TermBag
from secateur.index.facts.runs import RunCounts
from secateur.languages.syntax.file_flags import UNINDEXED, UNREADABLE_TEXT, classify
from secateur.languages.syntax.parser_version import parser_version
from secateur.model import FileFacts, Fragment, FragmentKind
from secateur.redaction import CredentialNumbers, Scanning, insert_markers
from secateur.redaction.spans import format_spans

if TYPE_CHECKING:
    from secateur.index.facts.embedding import Embedder
    from secateur.tokens import Counter

RECORD_VERSION = 6
"""Raise it when the shape of `Record` changes."""

DIGEST_BYTES = 16
"""The length of a content digest."""

HEAD_BYTES = 65536
"""The first bytes of a file, which it is classified by."""


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
    """The first field of a record."""

    facts: FileFacts


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(Record)
_FACTS_DECODER = msgspec.msgpack.Decoder(_FactsAlone)


def encode(record: Record) -> bytes:
    """Encodes a record for the store."""
    return _ENCODER.encode(record)


def decode(data: bytes) -> Record:
    """Decodes a record.

    Raises:
        msgspec.DecodeError: the bytes are not a record.
    """
    return _DECODER.decode(data)


def decode_facts(data: bytes) -> FileFacts:
    """Decodes the facts of a record, and skips the rest.

    Raises:
        msgspec.DecodeError: the bytes are not a record.
    """
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


NOT_WHOLLY_SCANNED = "credentials_part_scanned"
"""The problem of a file that the full scanner for credentials did not finish."""


def extract(
    path: str,
    data: bytes,
    counter: Counter,
    embedder: Embedder | None,
    problem: str = "",
    scanning: Scanning | None = None,
) -> Record:
    """Parses one file, counts its tokens, and collects its words and vectors. Pure; no content makes it raise.

    Credentials are replaced by markers first, so that no fact, word, vector or count contains one. If a step fails, the
    file becomes blocks of text; if that fails too, it is only counted.

    Args:
        problem: why the syntax of the file must not be read. The file becomes blocks of text with this problem. "": its
            syntax is read.
        scanning: finds credentials; None: our own rules and the scanner that is installed.

    Raises:
        SecateurError: vectors cannot be made, for this file or any other.
    """
    from secateur.languages.syntax.fragments import READER_FAILED, concerns_run, make_text_blocks, parse_file

    text = as_utf8(data)
    flags = classify(path, text[:HEAD_BYTES])
    if flags & UNINDEXED:
        return make_unindexed_record(*sorted(flags & UNINDEXED))
    for reason in (problem,) if problem else ("", READER_FAILED):
        try:
            spans, whole = (scanning or Scanning()).spans(text, path)
            clean = insert_markers(text, spans, CredentialNumbers()) if spans else text
            named = insert_markers(text, spans, CredentialNumbers(numbered=False)) if spans else text
            facts = make_text_blocks(path, named, reason) if reason else parse_file(path, named)
            if not whole:
                facts = replace(facts, problems=(*facts.problems, NOT_WHOLLY_SCANNED))
            return _record(path, clean, flags, facts, counter, embedder, format_spans(text, spans))
        except BaseException as error:
            if concerns_run(error) or isinstance(error, SecateurError):
                raise
    return make_unindexed_record(UNREADABLE_TEXT)


def make_unindexed_record(*flags: str) -> Record:
    """Makes the record of a file that is not indexed; the flags say why."""
    return Record(FileFacts("", ()), 0, flags, b"", b"", b"", _NOTHING, _NOTHING, b"", "", b"")


def _record(
    path: str,
    data: bytes,
    flags: frozenset[str],
    facts: FileFacts,
    counter: Counter,
    embedder: Embedder | None,
    redactions: str,
) -> Record:
    from secateur.index.facts.embedding import documents
    from secateur.index.graph.resolve.exported_symbols import digest_of_links
    from secateur.languages.syntax.fragments import read_text, split_lines
    from secateur.render.pack import body, ingredients

    text, _ = read_text(path, data)
    lines = split_lines(text)
    texts = [text_of(lines, fragment.line_start, fragment.line_end) for fragment in facts.fragments]
    names = [fragment.qualname for fragment in facts.fragments]
    declared = [
        text_of(lines, f.sig_start, f.sig_end) if has else ""
        for f, has in zip(facts.fragments, have_declarations(facts.fragments), strict=True)
    ]
    runs = RunCounts.of(texts)
    vectors = b""
    if embedder is not None and texts:
        embedded = documents(embedder, [f"{path}::{name}" for name in names], texts, runs)
        vectors = np.ascontiguousarray(embedded, dtype=np.int8).tobytes()
    return Record(
        facts=facts,
        lines=len(lines),
        flags=tuple(sorted(flags)),
        tokens=_column(counter.count_many([body(text) for text in texts])),
        sig_tokens=_column(counter.count_many([body(text) if text else "" for text in declared])),
        wrapping=np.array([ingredients(text) for text in texts], dtype="<i4").tobytes(),
        body=_bag(TermBag.of_runs(runs)),
        names=_bag(TermBag.of(names)),
        vectors=vectors,
        redactions=redactions,
        links=digest_of_links(facts, DIGEST_BYTES),
    )


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
