"""Where settings come from, under the names of before; the package `secateur.settings` holds them."""

from secateur.settings.keys import FILE_NAME, Key, keys, lookup, schema
from secateur.settings.layers import IGNORED, MAX_BOOST, Layer, Loaded, condensed, merge, with_profile, with_values
from secateur.settings.loading import MAX_FILE_BYTES, PROJECT_NAME, Committed, load
from secateur.settings.names import FLAGS

__all__ = [
    "FILE_NAME",
    "FLAGS",
    "IGNORED",
    "MAX_BOOST",
    "MAX_FILE_BYTES",
    "PROJECT_NAME",
    "Committed",
    "Key",
    "Layer",
    "Loaded",
    "condensed",
    "keys",
    "load",
    "lookup",
    "merge",
    "schema",
    "with_profile",
    "with_values",
]
