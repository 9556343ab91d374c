"""The outside world, read only: which files there are, their contents and their history."""
