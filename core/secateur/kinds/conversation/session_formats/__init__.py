"""The formats in which coding agents write their sessions: a module an agent, and what all of them have in `base`."""
