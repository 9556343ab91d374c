"""Shows a decision: as an HTML page, Markdown for a pull request, a picture, plain lines."""
