"""Who calls, imports and inherits whom."""
