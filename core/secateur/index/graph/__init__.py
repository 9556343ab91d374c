"""The graph of calls, imports and inheritance."""
