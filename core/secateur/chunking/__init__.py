"""Git diffs in chunks that a model can read: nothing lost, nothing repeated, every file accounted for."""
