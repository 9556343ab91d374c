"""Sessions of coding agents on this machine: where they are, and what fills them. Everything is read only."""
