"""The services on Windows 10 and newer, by pywin32 and what Python has: from their documentation."""
