"""Values that a paper states (`marks` of a config's plot), set beside what was measured here.

A stated value of the drawn metric becomes a reference mark in the figure; any other becomes a sentence of the caption.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

from plots import quantity
from plots.results import Cell, Run


@dataclass(frozen=True)
class Mark:
    x: float
    y: float
    source: str
    allocator: str  # whose colour it has; empty where the config does not say


def marks(run: Run, x: str, phase: str, metric: str) -> list[Mark]:
    """The stated values that lie in the panel of this phase and metric, made of the cells of `run`."""
    return [Mark(float(entry["where"][x]), float(entry["value"]), entry["source"], entry.get("allocator", ""))
            for entry in _entries(run)
            if (entry.get("phase", ""), entry["metric"]) == (phase, metric) and x in entry["where"]
            and all(cell.setting(name) == value for cell in run.cells
                    for name, value in entry["where"].items() if name != x)]


def _entries(run: Run) -> list[dict]:
    """Those that are meant for the back end of the run."""
    return [entry for entry in run.plot.get("marks", []) if entry.get("backend", run.backend) == run.backend]


def sentences(run: Run, drawn: Sequence[tuple[str, str]]) -> list[str]:
    """One sentence per source and place, for the stated values whose (phase, metric) is not among those `drawn`."""
    groups: dict[tuple, list[dict]] = {}
    for entry in _entries(run):
        if (entry.get("phase", ""), entry["metric"]) not in drawn:
            where = ", ".join(f"{name} = {quantity.formatter(name)(value)}" for name, value in entry["where"].items())
            alone = entry["metric"] if _unit(run, entry) else ""  # counts share a sentence
            groups.setdefault((entry["source"], where, alone), []).append(entry)
    made = []
    for (source, where, _), entries in groups.items():
        theirs = ", ".join(_written(run, entry, [entry["value"]]) for entry in entries)
        there = [cell for cell in run.cells
                 if all(cell.setting(name) == value for name, value in entries[0]["where"].items())]
        ours = "here: " + ", ".join(_measured(run, there, entry) for entry in entries) if there else "not run here"
        made.append(f"{source} states {theirs} at {where}; {ours}.")
    return made


def _measured(run: Run, cells: Sequence[Cell], entry: dict) -> str:
    found = {cell.values[entry.get("phase", ""), entry["metric"]].value for cell in cells
             if (entry.get("phase", ""), entry["metric"]) in cell.values}
    if not found:
        return f"{quantity.metric_name(entry['metric'])} not measured"
    return _written(run, entry, sorted({min(found), max(found)}))


def _written(run: Run, entry: dict, values: Sequence[float]) -> str:
    """`150 mallocs`, or with a unit `1.5 ms (init)`."""
    unit, phase = _unit(run, entry), entry.get("phase", "")
    numbers = " to ".join(map(quantity.formatter(entry["metric"], unit), values))
    return f"{numbers} {quantity.metric_name(entry['metric'])}" if not unit else f"{numbers} ({phase})" if phase else numbers


def _unit(run: Run, entry: dict) -> str:
    key = (entry.get("phase", ""), entry["metric"])
    return next((cell.values[key].unit for cell in run.cells if key in cell.values), "")
