"""One module for each kind of context with looks of its own; `kind_page.py` is that of any other."""
