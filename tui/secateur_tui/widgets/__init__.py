"""Widgets: one a file, each a pure drawing function and the thin widget that paints it."""
