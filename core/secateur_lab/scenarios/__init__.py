"""Scenarios: saved inputs with the decisions and assertions that `secateur check` holds them to."""
