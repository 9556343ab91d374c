"""The kinds of context: what each reads, how it decides under a budget, and what goes out."""
