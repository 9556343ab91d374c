"""Third-party code we carry with us. Replace whole files, never edit in place."""
