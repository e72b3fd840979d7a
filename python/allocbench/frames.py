"""Turns the cells of results.json into tables: the cells, their settings and their numbers. Columns have the names of
results.csv.
"""

from __future__ import annotations

import math
from typing import Iterator

import pandas

from allocbench import stored

# These columns describe a cell, in addition to its settings.
ABOUT = ["allocator", "workload", "pool_bytes", "backend", "status", "left_out", "provisional", "reason"]
OBJECTS = ("axes", "workload_parameters", "allocator_parameters")  # settings, as dictionaries
VALUE_COLUMNS = ("cell", "phase", "metric", "unit", "better", "statistic", "value", "low", "high", "confidence", "samples", "flags")
NUMBERS = ("value", "low", "high", "confidence", "samples")
_WANT_OF_TIME = "put off until all others were measured"  # beginning of the reason (harness/front/log/run_log.hpp)
_CONFIDENCE = 0.95  # confidence of all intervals
# These units apply to results whose worker gave none.
_USUAL_UNITS = {"time": "s", "throughput": "op/s", "init_time": "s", "metadata_bytes": "B"}
# A row has (phase, metric, statistic, value, interval or None, samples, flags).
_Row = tuple[str, str, str, float, tuple[float, float] | None, int, str]


def cells_of(document: dict) -> pandas.DataFrame:
    """Returns one row per cell, in stored order. The reason is the first line of the stored reason."""
    figure = document.get("run", {}).get("config", {}).get("name", "")
    rows = [{"cell": cell["id"], "figure": figure,
             **{name: cell.get(name, "") for name in ("series", "allocator", "label", "display_name", "form", "workload", "backend", "device", "state",
                                                      "status")},
             **{name: _settings(cell[name]) for name in OBJECTS},
             "pool_bytes": cell.get("pool_bytes"), "uuid": cell.get("device_uuid", ""), "sm_clock_max_mhz": cell.get("sm_clock_max_mhz"),
             "revision": cell.get("measured_revision", ""), "seed": cell.get("seed"), "left_out": was_left_out(cell),
             "provisional": _is_provisional(cell),
             "reason": cell.get("reason", "").strip().partition("\n")[0].rstrip()}
            for cell in document["cells"]]
    return pandas.DataFrame(rows, dtype=object).set_index("cell")


def was_left_out(cell: dict) -> bool:
    """Returns whether the cell was skipped because the study's time was over, or because the device has too little
    memory for its pool. In older results, the reason says so.
    """
    return cell["status"] == "skipped" and cell.get("left_out", cell.get("reason", "").startswith(_WANT_OF_TIME))


def _is_provisional(cell: dict) -> bool:
    """Returns whether the cell has a number from fewer than three rounds, although its config asks for more."""
    return cell["status"] == "ok" and bool(cell.get("provisional"))


def settings_of(cells: pandas.DataFrame) -> pandas.DataFrame:
    """Returns every swept or fixed setting as a column, with None if a cell lacks it.

    If several settings have the same name, a swept setting wins over a parameter of the workload, which wins over a
    parameter of the allocator.
    """
    settings = pandas.DataFrame([{**row.allocator_parameters, **row.workload_parameters, "allocator": row.allocator,
                                  "pool_bytes": row.pool_bytes, **row.axes} for row in cells.itertuples()],
                                index=cells.index, dtype=object)
    return settings.where(settings.notna(), None)


def values_of(document: dict) -> pandas.DataFrame:
    """Returns one row per phase and metric of the cells that are ok, with VALUE_COLUMNS.

    Only these cells have numbers. Metrics of a whole cell have the phase ''.
    """
    run = document.get("run", {})
    told = {metric["name"]: metric for metric in run.get("metrics", [])}
    statistic = run.get("config", {}).get("statistic", "median")
    made = []
    for cell in document["cells"]:
        if cell["status"] != "ok":
            continue
        for phase, metric, kind, value, interval, samples, flags in _rows_of(cell, statistic):
            about = told.get(metric, {})
            made.append((cell["id"], phase, metric, about.get("unit", _USUAL_UNITS.get(metric, "")), about.get("better", "none"), kind, value,
                         *(interval or (None, None)), _CONFIDENCE if interval else None, samples, flags))
    table = pandas.DataFrame(made, columns=list(VALUE_COLUMNS))
    return table.astype({name: float for name in NUMBERS})


def _rows_of(cell: dict, statistic: str) -> Iterator[_Row]:
    phases, provisional = cell.get("phases", []), _is_provisional(cell)
    for phase in phases:
        yield from _rows_of_phase(phase, statistic, provisional)
    samples = stored.sample_count(phases[0]) if phases else 1
    intervals = cell.get("counter_intervals", {})
    for name, centre in cell.get("counters", {}).items():
        yield "", name, "median", centre, intervals.get(name), samples, "provisional" if provisional else ""
    for name, passes in cell.get("counted", {}).get("values", {}).items():
        if passes:
            yield "", name, "mean", math.fsum(passes) / len(passes), None, len(passes), ""
    facts = cell.get("metrics", {})
    for name in ("registers", "local_bytes"):
        for phase, value in facts.get(name, {}).items():
            yield phase, name, "value", value, None, 1, ""
    for name, stored_as in (("metadata_bytes", "metadata_bytes"), ("device_heap_bytes", "device_heap_bytes"), ("init_time", "init_seconds")):
        if stored_as in facts:
            yield "", name, "value", facts[stored_as], None, 1, ""


def _rows_of_phase(phase: dict, statistic: str, provisional: bool) -> Iterator[_Row]:
    name, centre, low, high = phase["name"], phase[statistic], phase.get("low"), phase.get("high")
    operations, samples = phase.get("operations", 0), stored.sample_count(phase)
    words = {"throttled": phase.get("throttled"), "not_held": phase.get("not_held"), "provisional": provisional}
    flags = " ".join(word for word, holds in words.items() if holds)
    interval = None if low is None or high is None else (low, high)
    yield name, "time", statistic, centre, interval, samples, flags
    if operations > 0 and centre > 0:
        rates = (operations / high, operations / low) if interval and low > 0 else None
        yield name, "throughput", statistic, operations / centre, rates, samples, flags
        yield name, "operations", "median", operations, None, samples, ""


def _settings(stored_object: dict) -> dict:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in stored_object.items()}
