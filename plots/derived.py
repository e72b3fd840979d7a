"""Metrics that follow from others of the same cell and phase: what a paper plots, computed once for all figures."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # results.py calls this module
    from plots.results import Cell, Run, Value


def add_to(cell: Cell) -> None:
    """Adds `time_per_operation`; `time_per_launch` where the workload counts launches; `time_per_batch` for the phases
    that come once in each of several `batches`; `allocated_bytes_per_second` where it counts the bytes asked for;
    `utilisation` where it fills the pool."""
    batches = cell.workload_parameters.get("batches")
    requested = cell.values.get(("", "requested_bytes"))
    launches = cell.workload_parameters.get("launches")
    if ("", "served_bytes") in cell.values:
        cell.values["", "utilisation"] = _utilisation(cell)
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
        if launches and phase == "total":
            cell.values[phase, "time_per_launch"] = _scaled(time, 1 / launches)


def _utilisation(cell: Cell) -> Value:
    """What requests got of all memory that the allocator has, inside and outside of its pool."""
    served = cell.values["", "served_bytes"]
    metadata = cell.values.get(("", "metadata_bytes"))
    memory = (cell.pool_bytes or 0) + (metadata.value if metadata else 0)
    return replace(_scaled(served, 1 / memory), unit="")


def add_relative(run: Run, reference: str) -> None:
    """Adds for every metric, say `time`, its `relative_time`: over that of the reference allocator's cell with the same
    settings, with the interval of the cell alone. And `beyond_reference`, the share of a time that exceeds the reference's:
    with an allocator that costs next to nothing as reference, what allocation takes of an application."""
    def place(cell: Cell) -> tuple:
        return tuple(sorted((name, str(value)) for name, value in cell.axes.items() if not name.startswith("allocator.")))

    bases = {(place(cell), key): value.value for cell in run.cells if cell.allocator == reference
             for key, value in cell.values.items()}
    for cell in run.cells:
        for (phase, metric), value in list(cell.values.items()):
            base = bases.get((place(cell), (phase, metric)))
            if not base:
                continue
            cell.values[phase, f"relative_{metric}"] = replace(_scaled(value, 1 / base), unit="")
            if metric == "time" and value.value:
                beyond = replace(value, value=1 - base / value.value, low=None, high=None, unit="")
                cell.values[phase, "beyond_reference"] = beyond


def _scaled(time: Value, factor: float) -> Value:
    return replace(time, value=time.value * factor, low=_times(time.low, factor), high=_times(time.high, factor))


def _rate(time: Value, amount: float) -> Value:
    bounded = time.low is not None and time.high is not None and time.low > 0
    return replace(time, value=amount / time.value, low=amount / time.high if bounded else None,
                   high=amount / time.low if bounded else None, unit="B/s")


def _times(number: float | None, factor: float) -> float | None:
    return None if number is None else number * factor
