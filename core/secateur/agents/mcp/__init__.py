"""A server of the Model Context Protocol: five tools over the engine and the kinds of context, read only.

    toolbox = Toolbox(load, environ)                      # engines, and results that may be asked about again
    server = mcp_server(toolbox, folders_of(["."], ...))  # lists the tools, runs each call on a thread

`tools.py` is what each tool does, without a word of the protocol; `server.py` puts them behind it; `stdio.py` and
`http_server.py` are the two ways to reach it. The packages of the protocol are imported by those three alone.
"""
