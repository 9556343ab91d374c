"""The index of a repository, and how it follows the repository."""
