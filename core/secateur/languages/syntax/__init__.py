"""Reads source code: language modules collect definitions, calls, imports and types from syntax trees, and `partition`
makes fragments of them."""
