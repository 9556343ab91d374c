"""The formats in which coding agents write their sessions: one module for each agent, and the common parts in
`base`."""
