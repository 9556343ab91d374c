"""Benches: one screen and one stylesheet each, on the skeleton in `bench.py`."""
