"""Stored results of allocbench as pandas tables. Needs pandas and jsonschema; no GPU and no build.

    import allocbench
    values = allocbench.read("results/smoke")            # a row per cell, phase and metric; every setting is a column
    cells = allocbench.cells("results/reference/h200")   # a row per cell: how it ended, and why
    samples = allocbench.samples("results/smoke")        # a row per sample
    calls = allocbench.read_trace("my.trace")            # a row per call of a recorded application

Paths are folders with runs at or below them, single files of a run, or patterns; packed (.gz, .xz) or not.
"""

from allocbench.errors import NothingToDraw, UsageError
from allocbench.tables import cells, read, samples
from allocbench.traces import read_trace

__all__ = ["NothingToDraw", "UsageError", "cells", "read", "read_trace", "samples"]
