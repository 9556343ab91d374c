"""Use cases: they coordinate the domain, the database and the gateways."""
