"""The services on Windows 10 and newer, by pywin32 and Python's own modules, written from their documentation."""
