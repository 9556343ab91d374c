"""Properties are tried on the same examples in every run, and never fail because the machine is busy."""

from hypothesis import settings

settings.register_profile("suite", deadline=None, derandomize=True)
settings.load_profile("suite")
