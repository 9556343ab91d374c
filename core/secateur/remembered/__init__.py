"""Files that remember a user's work on each repository. They are in the user's own folder, never in the repository."""
