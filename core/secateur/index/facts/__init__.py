"""The facts of a repository: its words, names, vectors and history, and the snapshot that holds them."""
