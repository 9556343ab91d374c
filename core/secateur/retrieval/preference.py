"""Intent preference (SC-SP-007): symbols a user prefers, kept in the user's own folder, never in the repository.

`preferences.toml`:

    [symbols]
    "orders/services/*" = 0.6
    "*::OrderProcessor.*" = 1.0

Patterns are shell patterns over symbol ids (`path::qualified.name`); the largest value that matches counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

from secateur.errors import ConfigError
from secateur.model import FloatArray

FILE_NAME = "preferences.toml"


def load_preferences(user_dir: Path | None) -> dict[str, float]:
    """Pattern -> preference in [0, 1]; empty without a file.

    Raises:
        ConfigError: the file is malformed or a value is outside [0, 1].
    """
    import tomli

    path = user_dir / FILE_NAME if user_dir else None
    try:
        if path is None or not path.is_file():
            return {}
        symbols = tomli.loads(path.read_text("utf-8")).get("symbols", {})
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: {error}", hint='write [symbols] and lines like "path::Name" = 0.8') from error
    if not isinstance(symbols, dict):
        raise ConfigError(f"{path}: symbols is a table", hint='write [symbols] and lines like "path::Name" = 0.8')
    for pattern, value in symbols.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
            raise ConfigError(f"{path}: {pattern} = {value!r} is not allowed", hint="a preference is a number from 0 to 1")
    return {pattern: float(value) for pattern, value in symbols.items()}


def preference_scores(symbols: Sequence[str], preferences: Mapping[str, float]) -> FloatArray:
    """Preference per symbol id, 0 where no pattern matches."""
    scores = np.zeros(len(symbols))
    for pattern, value in sorted(preferences.items()):
        for row, symbol in enumerate(symbols):
            if value > scores[row] and fnmatchcase(symbol, pattern):
                scores[row] = value
    return scores
