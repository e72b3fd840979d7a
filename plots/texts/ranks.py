"""This module compares how two kept runs rank their allocators, for numbers in texts: `ranks=RUN` in a query of numbers.py.

The answer is Spearman's rank correlation of a time, over the allocators that have it in both runs: "0.82 over 41
allocators". `phase` and the settings apply to the first run. `ranks.phase` is the phase of the other run, and all its
cells count. Cells with null returns are left out, as in the ledger. An allocator with several cells is an error.
"""

from __future__ import annotations

import pandas

from allocbench.errors import UsageError
from plots.runs.results import Run


def text(run: Run, phase: str, where: dict, other: Run, other_phase: str) -> str:
    both = pandas.concat([_times(run, phase, where), _times(other, other_phase, {})], axis=1, join="inner")
    if len(both) < 3:
        raise UsageError(f"{run.name} and {other.name} have {len(both)} allocators in common, but at least three are needed. Choose other runs.")
    ranks = both.rank()
    return f"{ranks.iloc[:, 0].corr(ranks.iloc[:, 1]):.2f} over {len(both)} allocators"


def _times(run: Run, phase: str, where: dict) -> pandas.Series:
    got_null = run.at("", "null_returns")["value"].reindex(run.cells.index).gt(0)
    cells = run.cells[run.matching(where) & (run.cells["status"] == "ok") & ~got_null]
    values = run.values[(run.values["phase"] == phase) & (run.values["metric"] == "time") & run.values["cell"].isin(cells.index)]
    times = values.set_index(values["cell"].map(cells["allocator"]))["value"]
    if times.empty or times.index.has_duplicates:
        raise UsageError(f"{run.name} has {'no time of phase' if times.empty else 'several cells of one allocator with phase'} {phase!r}. Name the phase and the settings.")
    return times
