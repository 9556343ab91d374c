"""Recorded sessions: what somebody did with a kind of context, as events that can be run again."""
