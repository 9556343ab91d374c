"""Keeps the index up to date with its source."""
