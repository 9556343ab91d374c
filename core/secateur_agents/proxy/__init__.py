"""`secateur with`: a server on this machine through which one agent reaches its model provider."""
