"""Where secateur keeps things of its own: the user's cache and configuration folders, and data that comes with the package."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def cache_dir(environ: Mapping[str, str]) -> Path:
    """`SECATEUR_CACHE_DIR`, or the user's cache folder of the system."""
    import platformdirs

    chosen = environ.get("SECATEUR_CACHE_DIR")
    return Path(chosen).expanduser().absolute() if chosen else Path(platformdirs.user_cache_dir("secateur", appauthor=False))


def config_dir(environ: Mapping[str, str]) -> Path:
    """`SECATEUR_CONFIG_DIR`, or the user's configuration folder of the system."""
    import platformdirs

    chosen = environ.get("SECATEUR_CONFIG_DIR")
    return Path(chosen).expanduser().absolute() if chosen else Path(platformdirs.user_config_dir("secateur", appauthor=False))


def data_dir(name: str) -> Path:
    """A folder that ships with secateur (`themes`, `sample_repos`): in the wheel beside the modules, in a checkout at its top."""
    packaged = Path(__file__).resolve().parent / "_data" / name
    return packaged if packaged.is_dir() else packaged.parents[3] / name
