"""A server for the Model Context Protocol: tools over the engine and the kinds of context, read only.

    toolbox = Toolbox(load, os.environ, time.time)     # engines, and results for later questions
    server = mcp_server(toolbox, make_roots(folders))  # lists the tools, runs each call on a thread

`tools.py` implements the tools without the protocol; `server.py` connects them to it; `stdio.py` and `http_server.py`
are the two ways to reach it. Only those three import the protocol's packages.
"""
