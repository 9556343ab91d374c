"""A decision as something to show: an HTML page, Markdown for a pull request, a picture, plain lines."""
