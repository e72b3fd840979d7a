"""Metrics that follow from others of the same cell and phase: what a paper plots, computed once for all figures."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # results.py calls this module
    from plots.results import Cell, Value


def add_to(cell: Cell) -> None:
    """Adds `time_per_operation`; where the workload counts the bytes asked for, `allocated_bytes_per_second`; and for the
    phases that come once in each of several `batches`, `time_per_batch`."""
    batches = cell.workload_parameters.get("batches")
    requested = cell.values.get(("", "requested_bytes"))
    for (phase, metric), time in list(cell.values.items()):
        if metric != "time":
            continue
        operations = cell.values.get((phase, "operations"))
        if operations and operations.value:
            cell.values[phase, "time_per_operation"] = _scaled(time, 1 / operations.value)
        if batches and phase in ("insert", "delete"):
            cell.values[phase, "time_per_batch"] = _scaled(time, 1 / batches)
        if requested and time.value > 0 and phase != "free":
            cell.values[phase, "allocated_bytes_per_second"] = _rate(time, requested.value)


def _scaled(time: Value, factor: float) -> Value:
    return replace(time, value=time.value * factor, low=_times(time.low, factor), high=_times(time.high, factor))


def _rate(time: Value, amount: float) -> Value:
    bounded = time.low is not None and time.high is not None and time.low > 0
    return replace(time, value=amount / time.value, low=amount / time.high if bounded else None,
                   high=amount / time.low if bounded else None, unit="B/s")


def _times(number: float | None, factor: float) -> float | None:
    return None if number is None else number * factor
