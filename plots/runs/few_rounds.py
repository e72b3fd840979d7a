"""This module adds the t intervals that results.json has for times of three to five rounds, for verdicts on claims and on Comb's
points.

Figures of times do not draw these intervals, because the intervals assume a distribution of the processes' times
(docs/methodology-measurement.md, "Claims about few rounds").

Counts of passes get the intervals of passes.py, and facts of the compiled code and of the heap are exact. A counter of a
workload may differ from sample to sample. Without a stored interval it has no bounds.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Sequence

import pandas

from plots.runs import passes
from plots.runs.results import Run
from plots.sheet import provisional

EXPLAINED = ("`few rounds` and \"judged on 3 rounds\" mean that a cell has three to five rounds. Its t interval assumes a distribution of the times of "
             "processes, and figures do not show this interval. A value within a factor of 1.5 of the paper's bound decides nothing")
MARK = "†"  # mark of a verdict in a picture
MARKED = f"{MARK}: judged on three to five rounds; the t interval is shown (docs/methodology-measurement.md)."
COLUMN = "few_rounds"  # column with the number of rounds of a t interval
PASSES = "passes"  # column with the number of passes of a t interval
# These numbers are the same in every round.
_EXACT = ("registers", "local_bytes", "metadata_bytes", "metadata_share", "device_heap_bytes", "operations")
_RATES = ("op/s", "B/s")
TIMED = ("s", *_RATES)  # units of values that get the interval of a time


def bounded(run: Run) -> Run:
    """Returns the same run with t intervals. The intervals also apply to metrics that are proportional to a time or to
    its inverse.
    """
    if COLUMN in run.values:
        return run
    entries = {(cell, phase["name"]): phase["few_rounds"] for cell, entry in run.details.items() for phase in entry.get("phases", [])
               if phase.get("few_rounds", {}).get("low") is not None}
    table = run.values[["cell", "phase", "metric", "unit", "value", "low", "high", "flags"]]
    times = {(row.cell, row.phase): row.value for row in table.itertuples() if row.metric == "time"}
    made = []
    for row in table.itertuples():
        low, high, rounds, counted, key = row.low, row.high, math.nan, math.nan, (row.cell, row.phase)
        if key in entries and math.isnan(low) and row.unit in TIMED:
            few = entries[key]
            low, high = few["low"] / times[key], few["high"] / times[key]
            low, high = (1 / high, 1 / low) if row.unit in _RATES else (low, high)
            low, high, rounds = row.value * low, row.value * high, len(few["values"])
        elif math.isnan(low) and row.metric in _EXACT and provisional.FLAG not in row.flags:
            low = high = row.value
        elif math.isnan(low) and not row.phase and (counts := passes.of(run, row.cell, row.metric)):
            low, high = passes.interval(counts)
            counted = len(counts) if low < high else math.nan
        made.append((low, high, rounds, counted))
    bounds = pandas.DataFrame(made, columns=["low", "high", COLUMN, PASSES], index=run.values.index, dtype=float)
    return dataclasses.replace(run, values=run.values.assign(**{name: bounds[name] for name in bounds}))


def fewest(numbers: Sequence[int]) -> int:
    """Returns the fewest rounds among the parts of an estimate that have few rounds, or 0 if no part has."""
    return min((number for number in numbers if number), default=0)


def sentence(rounds: Sequence[int]) -> str:
    """Returns how many places of a claim were judged on few rounds, or an empty text if none was.

    `rounds` has a number per place, 0 for a place with enough rounds.
    """
    few = sorted(number for number in rounds if number)
    if not few:
        return ""
    told = f"{few[0]}" if few[0] == few[-1] else f"{few[0]} to {few[-1]}"
    return f"judged on {told} rounds" if len(rounds) == 1 else f"{len(few)} of {len(rounds)} places judged on {told} rounds"
