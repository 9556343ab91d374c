"""Resolves the facts of files to edges between fragments."""
