"""The state of the benches, as values without a screen."""
