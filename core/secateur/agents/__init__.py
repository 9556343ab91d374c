"""Everything that coding agents meet of secateur: their sessions on this machine, and the server that they call."""
