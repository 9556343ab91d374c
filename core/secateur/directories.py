"""Finds secateur's own directories: the user's cache and configuration, and the data that comes with the package."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from secateur.system.files import NOWHERE


def cache_dir(environ: Mapping[str, str]) -> Path:
    """Returns `SECATEUR_CACHE_DIR`, or the user's cache folder of the system; NOWHERE if the home folder is unknown."""
    return _user_folder(environ.get("SECATEUR_CACHE_DIR"), "user_cache_dir")


def config_dir(environ: Mapping[str, str]) -> Path:
    """Returns `SECATEUR_CONFIG_DIR`, or the user's configuration folder of the system; NOWHERE if the home folder is
    unknown."""
    return _user_folder(environ.get("SECATEUR_CONFIG_DIR"), "user_config_dir")


def state_dir(environ: Mapping[str, str]) -> Path:
    """Returns `SECATEUR_STATE_DIR`, or the user's state folder of the system; NOWHERE if the home folder is unknown."""
    return _user_folder(environ.get("SECATEUR_STATE_DIR"), "user_state_dir")


def _user_folder(chosen: str | None, kind: str) -> Path:
    import platformdirs

    try:
        folder = Path(chosen or getattr(platformdirs, kind)("secateur", appauthor=False)).expanduser()
    except RuntimeError:  # the home folder that `~` means is unknown
        return NOWHERE
    if chosen:
        with suppress(OSError):  # the working folder is gone
            return folder.absolute()
    return folder if folder.is_absolute() else NOWHERE


def data_dir(name: str) -> Path:
    """Returns a folder that ships with secateur (`themes`, `sample_repos`, `docs/examples`): in the wheel beside the
    modules, in a checkout at its top."""
    package = Path(__file__).resolve().parent
    packaged = package / "_data" / name
    return packaged if packaged.is_dir() else package.parents[1] / name


def current_folder() -> Path | None:
    """Returns the working folder; None if it was removed."""
    try:
        return Path.cwd()
    except OSError:
        return None
