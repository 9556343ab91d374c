"""The folder that a text names, whatever a user may write for one: the one place where that is decided.

    folder_of("src", cache_dir)                                             # a path
    folder_of("sample:orders/core", cache_dir)                              # unpacked on first use
    folder_of("https://github.com/pallets/flask", cache_dir, FetchOptions())    # a clone, fetched on first use
    folder_of("flask-3.0.0.tar.gz", cache_dir)                              # unpacked, anew where it has changed

`open_source` and `Engine.open` open what comes out; of a clone they read the commit that is its HEAD.
"""

from __future__ import annotations

from pathlib import Path

from secateur.errors import shown, unreadable_folder
from secateur.sources import samples
from secateur.sources.archive_record import is_archive
from secateur.sources.clones import clone_of, place_of, remove_clone
from secateur.sources.fetch_options import FetchOptions
from secateur.sources.git_addresses import git_address, is_git_address

FORMS = "a folder, sample:NAME[/FOLDER], a git URL or an archive"
"""The forms that a user may write, for the help of commands."""


def is_named(text: str) -> bool:
    """Tells whether a text stands for a folder elsewhere: it is no path, and is to be kept as it was typed."""
    return text.startswith("sample:") or is_git_address(text)


def stands_for_folder(text: str) -> bool:
    """Tells whether `folder_of` gives another folder than the path that a text is: a name, or an archive."""
    return is_named(text) or is_archive(Path(text))


def folder_of(text: str, cache_dir: Path, options: FetchOptions | None = None) -> Path:
    """The folder that a text names. Of a path it is for the reader to say whether it is there.

    Args:
        cache_dir: where samples, clones and unpacked archives lie.
        options: None: nothing is fetched, and of a git URL only a clone that is in the cache is found.

    Raises:
        UsageError: a git URL that is not used.
        SecateurError: an archive cannot be read.
        RepositoryError: an archive is refused; the name is too long, or lies behind a folder that may not be
            entered; unknown sample; the repository cannot be fetched; the cache cannot be written.
    """
    address = git_address(text)
    if address is not None:
        return clone_of(address, cache_dir, options)
    path = samples.path_of(text, cache_dir)
    try:
        path.is_dir()
    except OSError as error:
        raise unreadable_folder(Path(shown(text)), error) from error
    if not is_archive(path):
        return path
    from secateur.sources.archives import unpacked  # what reads archives takes a while to import

    return unpacked(path, cache_dir, options)


def place_in_cache(text: str, cache_dir: Path) -> Path | None:
    """The folder in the cache that `folder_of` makes of a URL or an archive, where it may not be yet; None for other
    texts. Raises UsageError: a git URL that is not used."""
    address = git_address(text)
    if address is not None:
        return place_of(address, cache_dir)
    if not is_archive(Path(text)):
        return None
    from secateur.sources.archives import place_of_archive

    return place_of_archive(Path(text), cache_dir)


def forget(text: str, cache_dir: Path) -> int:
    """Removes what `folder_of` has put into the cache for a URL or an archive, and returns how many bytes it held; 0
    for other texts. Raises OSError."""
    address = git_address(text)
    if address is not None:
        return remove_clone(address, cache_dir)
    if not is_archive(Path(text)):
        return 0
    from secateur.sources.archives import remove_unpacked

    return remove_unpacked(Path(text), cache_dir)
