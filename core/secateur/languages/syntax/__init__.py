"""Source code as trees: one module a language reads definitions, calls, imports and types; `partition` makes fragments
of them."""
