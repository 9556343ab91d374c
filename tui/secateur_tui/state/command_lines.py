"""The command lines that reproduce what is on screen."""

from secateur.kinds.command_line import CommandWords, quoted, toml
from secateur.kinds.search.command_line import search_command

__all__ = ["CommandWords", "quoted", "search_command", "toml"]
