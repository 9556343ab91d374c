"""What is kept on disk: records, arrays and the folder they lie in."""
