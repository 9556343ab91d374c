"""The index on disk: records, arrays and the folder they lie in."""
