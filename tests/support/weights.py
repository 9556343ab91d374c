"""The weights of the parts of relevance."""

from __future__ import annotations

from secateur.settings.keys import keys

PARTS = tuple(
    name.removeprefix("relevance.") for name, key in keys().items() if name.startswith("relevance.") and key.high == 4
)
"""Their names, in the order of the settings: thresholds and penalties are at most 1."""
