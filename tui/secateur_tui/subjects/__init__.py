"""The subjects of the benches over a ledger: what each reads and decides, and how it words that."""
