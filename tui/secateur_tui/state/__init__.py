"""What the benches know and show, as values and state without a screen."""
