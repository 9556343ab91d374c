"""What the pruners ask of a language model, and what comes back. Off by default; nothing here needs one."""
