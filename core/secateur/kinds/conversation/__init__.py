"""Conversations that fit a safe zone: tool results cleared, early messages summarised or dropped."""
