"""The version, in its own module, so that reading it does not import the public names."""

__version__ = "0.1.0"
