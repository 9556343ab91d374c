"""Search in a repository as a kind of context."""
