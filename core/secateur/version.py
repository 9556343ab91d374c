"""The version, in a module of its own: whoever needs it does not import the public names."""

__version__ = "0.1.0"
