"""One file's bytes -> what is remembered of it: pure, for any bytes, and exactly what a pack of it would count."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur.index.facts.embedding.static import StaticEmbedder
from secateur.index.facts.embedding.vectors import TextKind, Vectors
from secateur.index.facts.extract import (
    bag_of,
    decode,
    digest_of,
    encode,
    extract,
    extract_many,
    fingerprint,
    have_declarations,
    text_of,
)
from secateur.languages.syntax.fragments import split_lines
from secateur.render.layouts import body
from secateur.tokens import get_counter

COUNTER = get_counter()
CODE = (
    'import os\n\n\nclass Cart:\n    """Holds lines."""\n\n    # what is owed\n    def total(self, tax):\n       '
    ' """Sum of the lines."""\n        return tax\n'
)


def test_columns_have_one_entry_a_fragment() -> None:
    record = extract("cart.py", CODE.encode(), COUNTER, None)
    names = [fragment.qualname for fragment in record.facts.fragments]
    assert "Cart.total" in names
    for column in ("tokens", "sig_tokens"):
        assert len(record.column(column)) == len(names)
    assert len(record.column("wrapping")) == 2 * len(names)
    assert record.lines == 10
    assert record.vectors == b""


def test_tokens_are_those_of_the_text_that_would_go_out() -> None:
    record = extract("cart.py", CODE.encode(), COUNTER, None)
    lines = split_lines(CODE)
    columns = zip(
        record.facts.fragments,
        have_declarations(record.facts.fragments),
        record.column("tokens"),
        record.column("sig_tokens"),
        strict=True,
    )
    for fragment, has, tokens, signature in columns:
        assert tokens == COUNTER.count(body(text_of(lines, fragment.line_start, fragment.line_end)))
        declared = text_of(lines, fragment.sig_start, fragment.sig_end) if has else ""
        assert signature == COUNTER.count(body(declared) if declared else "")


def test_only_the_first_piece_of_a_class_has_its_declaration() -> None:
    code = "class Cart:\n    a = 1\n\n    def total(self):\n        return 0\n\n    b = 2\n    c = 3\n"
    fragments = extract("cart.py", code.encode(), COUNTER, None).facts.fragments
    assert [
        (fragment.qualname, has) for fragment, has in zip(fragments, have_declarations(fragments), strict=True)
    ] == [
        ("Cart", True),
        ("Cart.total", True),
        ("Cart", False),
    ]


def test_bytes_and_back() -> None:
    record = extract("cart.py", CODE.encode(), COUNTER, None)
    assert decode(encode(record)) == record
    assert encode(record) == encode(extract("cart.py", CODE.encode(), COUNTER, None))
    for damaged in (b"", b"\xc1", encode(record)[:-1], encode(record) + b"x"):
        with pytest.raises(msgspec.DecodeError):
            decode(damaged)


@pytest.mark.parametrize(
    ("path", "data"),
    [("a.png", b"\x89PNG\r\n\x1a\n\0"), ("uv.lock", b"version = 1\n"), ("app.min.js", b"var a=1;" * 2000)],
)
def test_what_nobody_reads_is_counted_not_indexed(path: str, data: bytes) -> None:
    record = extract(path, data, COUNTER, None)
    assert not record.indexed
    assert record.facts.fragments == ()
    assert len(record.flags) == 1


def test_a_record_does_not_depend_on_the_files_beside_it() -> None:
    embedder = StaticEmbedder()
    files = [
        ("cart.py", CODE.encode()),
        ("empty.py", b""),
        ("a.png", b"\x89PNG\r\n\x1a\n\0"),
        ("notes.md", "# Summe\n\nDie Summe eines Warenkorbs, 購物車的總和\n".encode()),
        ("b.py", CODE.replace("Cart", "Basket").encode()),
    ]
    alone = [encode(extract(path, data, COUNTER, embedder)) for path, data in files]
    assert [encode(record) for record in extract_many(files, COUNTER, embedder)] == alone


class RoundingEmbedder:
    """A model whose vectors depend on the number of texts in a batch, as rounding can make them do."""

    id, dimension = "rounding", 1

    def embed(self, texts: Sequence[str], kind: TextKind) -> Vectors:  # noqa: ARG002
        return np.full((len(texts), 1), len(texts), dtype=np.int8)


def test_a_model_embeds_each_file_alone() -> None:
    files = [("cart.py", CODE.encode()), ("empty.py", b""), ("b.py", b"x = 1\n")]
    alone = [extract(path, data, COUNTER, RoundingEmbedder()) for path, data in files]
    assert extract_many(files, COUNTER, RoundingEmbedder()) == alone


def test_words_of_every_fragment() -> None:
    record = extract("cart.py", CODE.encode(), COUNTER, None)
    for bag in (record.body, record.names):
        assert len(bag_of(bag).start) == len(record.facts.fragments) + 1


@given(
    st.one_of(st.binary(max_size=300), st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass"))),
    st.sampled_from(["a.py", "a.md", "a.ts", "a.c", "a", "é/ü.toml"]),
)
def test_no_content_can_make_it_fail(data: bytes, path: str) -> None:
    record = extract(path, data, get_counter("chars4"), None)
    assert decode(encode(record)) == record
    covered = np.zeros(record.lines + 1, dtype=int)
    for fragment in record.facts.fragments:
        covered[fragment.line_start : fragment.line_end + 1] += 1
    assert (covered <= 1).all()


def test_versions_that_must_not_mix_have_other_names() -> None:
    assert (
        fingerprint("o200k_base", "none")
        != fingerprint("cl100k_base", "none")
        != fingerprint("cl100k_base", "wordllama")
    )
    assert digest_of(b"a") != digest_of(b"b")
    assert len(digest_of(b"")) == 16
