"""Sessions of coding agents on this machine: where they are, what fills them. Everything is read only."""
