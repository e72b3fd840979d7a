"""Values that a paper states (`marks` of a config's plot), set beside what was measured here.

A stated value of the drawn metric becomes a reference mark in the figure; any other becomes a sentence of the caption.
"""

from __future__ import annotations

from typing import Sequence

from plots import quantity
from plots.results import Cell, Run


def marks(run: Run, x: str, phase: str, metric: str) -> list[tuple[float, float, str]]:
    """(x, value, source) of the stated values that lie in the panel of this phase and metric."""
    return [(float(entry["where"][x]), float(entry["value"]), entry["source"])
            for entry in run.plot.get("marks", [])
            if (entry.get("phase", ""), entry["metric"]) == (phase, metric) and list(entry["where"]) == [x]]


def sentences(run: Run, drawn: Sequence[tuple[str, str]]) -> list[str]:
    """One sentence per source and place, for the stated values whose (phase, metric) is not among those `drawn`."""
    groups: dict[tuple, list[dict]] = {}
    for entry in run.plot.get("marks", []):
        if (entry.get("phase", ""), entry["metric"]) not in drawn:
            where = ", ".join(f"{name} = {value:,}" for name, value in entry["where"].items())
            groups.setdefault((entry["source"], where), []).append(entry)
    made = []
    for (source, where), entries in groups.items():
        theirs = ", ".join(f"{quantity.count(entry['value'])} {quantity.metric_name(entry['metric'])}" for entry in entries)
        there = [cell for cell in run.cells
                 if all(cell.setting(name) == value for name, value in entries[0]["where"].items())]
        ours = "here: " + ", ".join(_measured(there, entry) for entry in entries) if there else "not run here"
        made.append(f"{source} states {theirs} at {where}; {ours}.")
    return made


def _measured(cells: Sequence[Cell], entry: dict) -> str:
    found = {cell.values[entry.get("phase", ""), entry["metric"]].value for cell in cells
             if (entry.get("phase", ""), entry["metric"]) in cell.values}
    if not found:
        return f"{quantity.metric_name(entry['metric'])} not measured"
    low, high = quantity.count(min(found)), quantity.count(max(found))
    return f"{low if low == high else f'{low} to {high}'} {quantity.metric_name(entry['metric'])}"
