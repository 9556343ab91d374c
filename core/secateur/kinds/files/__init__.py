"""Files that fit a number of tokens: whole, as snippets, or not at all."""
