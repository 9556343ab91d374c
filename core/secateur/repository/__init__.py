"""The outside world, read only: which files there are, their contents and history, and what they consist of."""
