"""What is shortened to fit: files, conversations, tool results, prompt envelopes."""
