"""Resolves a text that a user may write for a folder. This is the only module that decides it.

    folder_of("src", cache_dir)                                             # a path
    folder_of("sample:orders/core", cache_dir)                              # unpacked on first use
    folder_of("https://github.com/pallets/flask", cache_dir, FetchOptions())    # a clone, fetched on first use

`open_source` and `Engine.open` open the result; for a clone they read the commit at its HEAD.
"""

from pathlib import Path

from secateur.errors import shown, unreadable_folder
from secateur.sources import samples
from secateur.sources.clones import clone_folder, clone_of, remove_clone
from secateur.sources.git_addresses import FetchOptions, git_address, is_git_address

FORMS = "a folder, sample:NAME[/FOLDER] or a git URL"  # the forms that a user may write, for the help of commands


def is_named(text: str) -> bool:
    """Tells whether a text stands for a folder elsewhere. Such a text is not a path, and is stored as typed."""
    return text.startswith("sample:") or is_git_address(text)


def folder_of(text: str, cache_dir: Path, options: FetchOptions | None = None) -> Path:
    """Returns the folder that a text names. A path is not checked; reading it does that.

    Args:
        cache_dir: the folder for samples and clones.
        options: None: nothing is fetched, and a git URL is found only if its clone is in the cache.

    Raises:
        UsageError: a git URL is refused.
        RepositoryError: the name is too long, or lies behind a folder that may not be
            entered; unknown sample; the repository cannot be fetched; the cache cannot be written.
    """
    if (address := git_address(text)) is not None:
        return clone_of(address, cache_dir, options)
    path = samples.path_of(text, cache_dir)
    try:
        path.is_dir()
    except OSError as error:
        raise unreadable_folder(Path(shown(text)), error) from error
    return path


def find_cache_folder(text: str, cache_dir: Path) -> Path | None:
    """Returns the folder in the cache that `folder_of` uses for a URL, which may not exist yet; None for other texts.
    Raises UsageError if a git URL is refused."""
    address = git_address(text)
    return None if address is None else clone_folder(address, cache_dir)


def remove_cached(text: str, cache_dir: Path) -> int:
    """Removes the clone of a URL from the cache, and returns how many bytes it held; 0 for other texts. Raises
    OSError."""
    address = git_address(text)
    return 0 if address is None else remove_clone(address, cache_dir)
