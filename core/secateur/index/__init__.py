"""What is remembered of a repository, and how it follows the repository."""
