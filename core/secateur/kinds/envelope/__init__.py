"""Prompt envelopes that fit the context budget of a model."""
