"""Turns stored allocbench results into figures and tables.

Reads results.csv and results.json only (harness/README.md describes both); never starts a worker and needs no GPU.
`python3 -m plots --help` says how to use it; README.md in this folder lists the keys of a config's `plot` object.
"""
