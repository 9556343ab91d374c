"""Logs of test runs, builds and services under a token budget."""
