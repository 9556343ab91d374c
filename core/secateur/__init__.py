"""secateur: prunes what a language model reads under a token budget, and shows every decision it makes."""

__version__ = "0.1.0"
