"""Command lines that save a scenario of every kind of context, in the repository of `tests/scenarios`."""

from __future__ import annotations

from support.repos import QUERY

COMMANDS = {
    "search": ["search", QUERY, ".", "--set", "graph_rag.token_budget=4000"],
    "at_commit": ["search", "refund", "--rev", "HEAD", "--budget", "90", "--set", "smart_pruning.signature_share=0.5"],
    "files": ["files", "shop", "README.md", "--query", QUERY, "--max-tokens", "60", "--strategy", "extract"],
    "conversation": ["conversation", "inputs/session.jsonl", "--safe-zone", "6000"],
    "envelope": ["envelope", "inputs/envelope.json", "--model", "gpt-4o", "--context-budget", "2500"],
    "diff": ["chunk", "--base", "HEAD~1", "--head", "HEAD", "--max-tokens", "400"],
    "log": ["log", "inputs/ci.log", "--max-tokens", "500"],
}
"""Command line by name of the scenario that it saves."""
