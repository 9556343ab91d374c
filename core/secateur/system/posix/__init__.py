"""The services on Linux, macOS and other POSIX systems."""
