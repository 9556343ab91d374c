"""JavaScript, TypeScript and TSX."""
