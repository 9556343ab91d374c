"""The commands of the lab, each a module with `arguments` and `run`."""
