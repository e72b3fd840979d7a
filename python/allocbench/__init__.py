"""Reads stored results of allocbench as pandas tables. The package needs pandas and jsonschema, but no GPU and no
build.

    import allocbench
    values = allocbench.read("results/smoke")            # a row per cell, phase and metric; every setting is a column
    cells = allocbench.cells("results/reference/h200")   # a row per cell: its status and reason
    samples = allocbench.samples("results/smoke")        # a row per sample
    calls = allocbench.read_trace("my.trace")            # a row per call of a recorded application

A path is a folder with runs at or below it, a file of a run, or a pattern. Files may be packed (.gz, .xz).
"""

from allocbench.errors import NothingToDraw, UsageError
from allocbench.tables import cells, read, samples
from allocbench.traces import read_trace

__all__ = ["NothingToDraw", "UsageError", "cells", "read", "read_trace", "samples"]
