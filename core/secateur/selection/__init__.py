"""Makes a Selection of a Pool and Settings. Pure: no clock, no file, no global."""

from secateur.selection.greedy import select_greedy
from secateur.selection.priority import priority, terms_of
from secateur.selection.select import select

__all__ = ["priority", "select", "select_greedy", "terms_of"]
