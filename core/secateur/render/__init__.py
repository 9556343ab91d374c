"""Renders a Selection or TrimReport as Markdown, XML, JSON and plain text. Pure functions; outside text is made
harmless."""

from typing import TYPE_CHECKING

from secateur.submodules import import_on_demand

if not TYPE_CHECKING:  # type checkers need the modules by name
    __getattr__ = import_on_demand(__name__)
