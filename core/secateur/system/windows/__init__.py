"""The services on Windows 10 and newer: from its documentation, and tried under Wine."""
