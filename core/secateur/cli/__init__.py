"""The command line: one file a command. Nothing here decides; it parses, asks the engine, prints."""
