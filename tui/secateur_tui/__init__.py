"""The inspector: asks the engine and draws the answer. Decides nothing."""
