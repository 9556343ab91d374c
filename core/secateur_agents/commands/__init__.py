"""The commands of coding agents, each a module with `arguments` and `run`."""
