"""What each bench over a ledger reads and decides, and how it words that."""
