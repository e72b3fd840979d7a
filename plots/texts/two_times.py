"""The samples of a cell that take either of two times, for numbers in texts: `<!--n h200/guide/large two_times of=cfm_malloc ...-->`.

They come from the log of the kept run, as its results have only their median.
"""

from __future__ import annotations

import json
from typing import Sequence

from allocbench import stored
from allocbench.errors import UsageError
from plots.runs.results import Run
from plots.sheet import quantity


def text(run: Run, cells: Sequence[str], phase: str) -> str:
    """How many samples lie below the widest gap, and the times on both sides of it."""
    if len(cells) != 1:
        raise UsageError(f"two_times needs a query that matches one cell; this one matches {len(cells)} in {run.name}.")
    times = sorted(_seconds(run, cells[0], phase))
    if len(times) < 2:
        raise UsageError(f"the log of {run.name} has {len(times)} samples of phase {phase!r} in that cell, but two_times needs two.")
    split = max(range(1, len(times)), key=lambda place: times[place] / times[place - 1])
    return f"{split} of {len(times)} samples took {_range(times[:split])}, the others {_range(times[split:])}"


def _seconds(run: Run, cell: str, phase: str) -> list[float]:
    """Of the last attempt, as in the results."""
    found: dict[int, list[float]] = {}
    for line in stored.content_of(run.folder, "events.jsonl").splitlines():
        if f'"cell":"{cell}"'.encode() not in line:
            continue
        event = json.loads(line)
        if event["event"] == "sample":
            found.setdefault(event["attempt"], []).extend(each["seconds"] for each in event["phases"] if each["name"] == phase)
    return found[max(found)] if found else []


def _range(times: Sequence[float]) -> str:
    low, high = (quantity.in_si(float(f"{time:.2g}"), "s") for time in (times[0], times[-1]))
    if low == high:
        return low
    number, _, unit = low.partition(" ")
    return f"{number} to {high}" if high.endswith(f" {unit}") else f"{low} to {high}"
