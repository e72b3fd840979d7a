"""This module gives counts of cells, minutes, dates and revisions of a group of kept runs, for numbers in texts:
`<!--n h200/guide cells-->`. Commas separate several folders.

The word `minutes` is an error for a group with a continued run, because the log of such a run includes the pause.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Callable, Sequence

from allocbench import stored
from allocbench.errors import UsageError
from plots.runs import kept, older_code
from plots.runs.results import Run



def answer(names: str, word: str) -> str:
    return COUNTS[word](runs(names))


def older(names: str, allocator: str) -> str:
    """Returns how many of the runs with this allocator measure an older version of it. It is an error if none does, because
    the text must then lose its remark.
    """
    found = older_code.measured_by(runs(names), allocator)
    if not any(found):
        raise UsageError(f"no run at or below {names} measures an older version of {allocator}. Delete the sentence about it.")
    return f"{sum(found)} of {len(found)} runs"


def runs(names: str) -> list[Run]:
    """Returns the kept runs at and below the folders."""
    return [kept.read(folder) for name in names.split(",") for folder in _folders(name)]


def _folders(name: str) -> list:
    found = stored.find_runs(kept.REFERENCE / name)
    if not found:
        raise UsageError(f"there is no run {name!r} at or below results/reference. Correct the first word of the query.")
    return found


def _left_out(run: Run) -> int:
    return int(run.cells["left_out"].sum())


def _fewer_rounds(run: Run) -> int:
    return sum(any("no_interval" in phase for phase in entry.get("phases", [])) for entry in run.details.values())


def _minutes(group: Sequence[Run]) -> str:
    """Returns the minutes from the first line of the logs to the last one."""
    times = []
    for run in group:
        lines = [json.loads(line) for line in stored.content_of(run.folder, "events.jsonl").splitlines()]
        if sum(line["event"] == "run" for line in lines) != 1:
            raise UsageError(f"{run.folder} was continued, so its log does not contain its duration.")
        times += [datetime.fromisoformat(lines[place]["time"]) for place in (0, -1)]
    return f"{(max(times) - min(times)).total_seconds() / 60:.1f}"


def _sum(count: Callable[[Run], int]) -> Callable[[Sequence[Run]], str]:
    return lambda group: f"{sum(map(count, group)):,}"


def _different(values: Callable[[Run], Sequence[str]]) -> Callable[[Sequence[Run]], list[str]]:
    return lambda group: sorted({value for run in group for value in values(run)})


_dates = _different(lambda run: [run.date])
_revisions = _different(lambda run: [revision or "unknown" for revision in run.cells["revision"]])

COUNTS: dict[str, Callable[[Sequence[Run]], str]] = {
    "cells": _sum(lambda run: len(run.cells)),
    "minutes": _minutes,
    "left_out": _sum(_left_out),
    "fewer_rounds": _sum(_fewer_rounds),
    "dates": lambda group: ", ".join(_dates(group)),
    "revisions": lambda group: ", ".join(_revisions(group)),
}
