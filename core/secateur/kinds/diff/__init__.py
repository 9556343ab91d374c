"""Git diffs: coverage, chunks, injection."""
