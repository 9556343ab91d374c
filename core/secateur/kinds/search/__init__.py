"""What answers a query from a repository."""
