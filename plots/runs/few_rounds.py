"""What three to five rounds say, for verdicts on claims and on Comb's points: the t intervals that results.json has for times of so few rounds.

Figures of times draw no such interval, because it assumes how processes spread (docs/methodology-measurement.md, "Claims about few
rounds"). Counts need none: they are what they are.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Sequence

import pandas

from plots.runs.results import Run

EXPLAINED = ("`few rounds` (3 to 5, \"judged on 3 rounds\"): the samples took too long for six, or the run had no time left. The interval is a t interval then, which assumes how "
             "processes spread; figures do not show it, and nearer than a factor of 1.5 to what the paper says it decides nothing")
MARK = "†"  # of a verdict in a picture
MARKED = f"{MARK}: judged on three to five rounds; the t interval is shown (docs/methodology-measurement.md)."
COLUMN = "few_rounds"  # of values: how many rounds such an interval comes from
_RATES = ("op/s", "B/s")


def bounded(run: Run) -> Run:
    """The same run with those intervals, also of what is a time divided or divided by one."""
    if COLUMN in run.values:
        return run
    entries = {(cell, phase["name"]): phase["few_rounds"] for cell, entry in run.details.items() for phase in entry.get("phases", [])
               if phase.get("few_rounds", {}).get("low") is not None}
    table = run.values[["cell", "phase", "metric", "unit", "value", "low", "high"]]
    times = {(row.cell, row.phase): row.value for row in table.itertuples() if row.metric == "time"}
    made = []
    for row in table.itertuples():
        low, high, rounds, key = row.low, row.high, math.nan, (row.cell, row.phase)
        if key in entries and math.isnan(low) and row.unit in ("s", *_RATES):
            few = entries[key]
            low, high = few["low"] / times[key], few["high"] / times[key]
            low, high = (1 / high, 1 / low) if row.unit in _RATES else (low, high)
            low, high, rounds = row.value * low, row.value * high, len(few["values"])
        made.append((low, high, rounds))
    bounds = pandas.DataFrame(made, columns=["low", "high", COLUMN], index=run.values.index, dtype=float)
    return dataclasses.replace(run, values=run.values.assign(**{name: bounds[name] for name in bounds}))


def fewest(numbers: Sequence[int]) -> int:
    """Of the rounds behind the parts of an estimate; 0: none of them has few."""
    return min((number for number in numbers if number), default=0)


def sentence(rounds: Sequence[int]) -> str:
    """How many places of a claim were judged so; `rounds` has a number per place, 0 where it was not."""
    few = sorted(number for number in rounds if number)
    if not few:
        return ""
    told = f"{few[0]}" if few[0] == few[-1] else f"{few[0]} to {few[-1]}"
    return f"judged on {told} rounds" if len(rounds) == 1 else f"{len(few)} of {len(rounds)} places judged on {told} rounds"
