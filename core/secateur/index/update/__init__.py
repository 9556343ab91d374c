"""How the index follows what it was made from."""
