"""This module compares how two kept runs rank their allocators, for numbers in texts: `ranks=RUN` in a query of numbers.py.

The answer is Spearman's rank correlation of a time, over the allocators that have it in both runs: "0.82 over 41
allocators". `phase` and the settings apply to the first run. `ranks.phase` is the phase of the other run, and all its
cells count. Provisional cells and cells with null returns are left out, as in the ledger. An allocator with several cells
is an error.
"""

from __future__ import annotations

import math

import pandas

from allocbench.errors import UsageError
from plots.runs import ranking
from plots.runs.results import Run


def text(run: Run, phase: str, where: dict, other: Run, other_phase: str) -> str:
    both = pandas.concat([_times(run, phase, where), _times(other, other_phase, {})], axis=1, join="inner")
    if len(both) < 3:
        raise UsageError(f"{run.name} and {other.name} have {len(both)} allocators in common, but at least three are needed. Choose other runs.")
    correlation = ranking.correlation(both)
    if math.isnan(correlation):
        raise UsageError(f"the times of {run.name} or of {other.name} are all equal, so they have no ranks. Choose other runs.")
    return f"{correlation:.2f} over {len(both)} allocators"


def _times(run: Run, phase: str, where: dict) -> pandas.Series:
    cells = run.cells[run.matching(where) & ranking.rankable(run)]
    values = run.values[(run.values["phase"] == phase) & (run.values["metric"] == "time") & run.values["cell"].isin(cells.index)]
    times = values.set_index(values["cell"].map(cells["allocator"]))["value"]
    if times.empty or times.index.has_duplicates:
        raise UsageError(f"{run.name} has {'no time of phase' if times.empty else 'several cells of one allocator with phase'} {phase!r}. Name the phase and the settings.")
    return times
