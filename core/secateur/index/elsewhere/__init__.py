"""Workspaces whose repositories are read and searched by workers: of this machine, or of a cluster.

`places.py`     what a worker needs to know, and what it answers; the names of snapshots in the store
`members.py`    in a worker: the repositories that are open there, and the tasks about them
`parts.py`      the parts that workers search: joined snapshots, and the figures of all of them
`workspace.py`  in the process that asks: the workspace, with the interface that `OpenIndex` has for one repository
"""
