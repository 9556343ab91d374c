"""Recorded sessions: what a user did with a kind of context, as events that can be replayed."""
