"""This module finds means that few samples dominate. A line figure marks them with rings, and the caption lists up to
three.

Few samples dominate a mean of at least five samples if the mean exceeds twice the median. The samples come from
results.json.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import Sequence

from plots.runs import labels
from plots.runs.results import Run
from plots.sheet import quantity

_STANDS_OUT = 2.0
_LEAST = 5  # least number of samples
_MOST_TOLD = 3


@dataclass(frozen=True)
class Outlier:
    cell: str
    phase: str
    median: float
    largest: float
    samples: int
    far: int  # number of samples above twice the median


def few_decide(times: Sequence[float]) -> bool:
    return len(times) >= _LEAST and statistics.fmean(times) > _STANDS_OUT * statistics.median(times) > 0


def outliers(run: Run, wanted: Sequence[tuple[str, str]]) -> list[Outlier]:
    """Returns the drawn times that are means dominated by few samples."""
    phases = [phase for phase, metric in wanted if metric.removeprefix("relative_") == "time"]
    if run.config.get("statistic") != "mean" or not phases:
        return []
    made = []
    for cell in run.cells.index[run.cells["status"] == "ok"]:
        for entry in run.details.get(cell, {}).get("phases", []):
            times = entry.get("samples", [])
            if entry.get("name") in phases and few_decide(times):
                median = statistics.median(times)
                made.append(Outlier(cell, entry["name"], median, max(times), len(times),
                                    sum(time > _STANDS_OUT * median for time in times)))
    return made


def sentences(run: Run, wanted: Sequence[tuple[str, str]], mark: str = "") -> list[str]:
    """Returns the sentence of the caption about means that few samples dominate, if there are any. `mark` says in
    parentheses how the figure marks these means.
    """
    found = sorted(outliers(run, wanted), key=lambda each: each.median / each.largest)
    if not found:
        return []
    told = []
    for each in found[:_MOST_TOLD]:
        row = run.cells.loc[each.cell]
        place = ", ".join([labels.allocator(run, row["allocator"]),
                           *(labels.setting_of(run, name, value) for name, value in row["axes"].items()
                             if not name.startswith("allocator.") and name != "pool_bytes")])
        told.append(f"{place}: {each.far} of {each.samples} samples up to {quantity.in_si(each.largest, 's')}, "
                    f"median {quantity.in_si(each.median, 's')}")
    rest = f"; and {len(found) - _MOST_TOLD} more" if len(found) > _MOST_TOLD else ""
    return [f"Means that few samples dominate{mark}: {'; '.join(told)}{rest}."]
