"""Everything in secateur for coding agents: their sessions on this machine, and the server that they call."""
