"""One digest of how a source looks, without reading a file of it: equal digests mean equal content, commit and history.

state_of(open_source(Path("orders")))
"""

from __future__ import annotations

from hashlib import blake2b

from secateur.sources.files import path_bytes
from secateur.sources.source import TOKEN_BYTES, Source


def state_of(source: Source) -> str:
    """The digest, in hexadecimal: of the files by path and token, the commit, how far the history reaches, the name for
    people, and what reading met on the way. Raises RepositoryError where the source cannot be listed."""
    parts = [source.commit, source.history_id, source.describe()]
    for entry in source.entries():
        parts += entry.path, entry.token
    parts.append("")  # no path is empty
    for notice in source.notices():
        parts += notice.code, notice.message
    return blake2b(b"\0".join(map(path_bytes, parts)), digest_size=TOKEN_BYTES).hexdigest()
