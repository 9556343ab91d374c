"""What the benches know and show, without a screen."""
