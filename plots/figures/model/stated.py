"""This module reads what a paper states (`marks`, `bands` and `positions` of a config's plot).

A stated value of a drawn phase and metric becomes a mark in the panel whose cells have its settings. A value of another
phase or metric becomes a sentence of the caption. A band is a range that the paper gives for several settings, either
absolute or in factors of an allocator's measured value. A position is a value of x at which the paper reports an event.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Collection, Sequence

import pandas

from plots.figures.model.series import Series
from plots.runs import forms, labels
from plots.runs.results import Run
from plots.sheet import quantity, rows


@dataclass(frozen=True)
class Mark:
    x: float
    y: float
    source: str
    allocator: str  # allocator that decides the mark's colour and pictures; empty if the config names none


@dataclass(frozen=True)
class Band:
    """A band lies between `low` and `high` at each of `xs`."""

    xs: list[float]
    low: list[float]
    high: list[float]
    source: str
    allocator: str = ""  # allocator that the factors refer to, empty for an absolute band
    about: str = ""      # family whose pictures have the band, empty for all pictures


@dataclass(frozen=True)
class Position:
    x: float
    source: str
    allocator: str = ""  # allocator of the curve, empty for all curves


def marks(run: Run, x: str, phase: str, metric: str) -> list[Mark]:
    """Returns the stated values for the panel of `run` that shows this phase and metric. A stated value is left out if
    one of its settings, apart from `x`, differs from that of a cell of the panel.
    """
    columns = labels.columns_of(run, x)
    return [Mark(float(columns.index(at) if (at := entry["where"][x]) in columns else at), float(entry["value"]), entry["source"], entry.get("allocator", ""))
            for entry in _entries(run)
            if (entry.get("phase", ""), entry["metric"]) == (phase, metric) and x in entry["where"]
            and all(value == wanted for name, wanted in entry["where"].items() if name != x for value in run.column(name))]


def bands(run: Run, x: str, phase: str, metric: str, drawn: Sequence[Series]) -> list[Band]:
    """Returns the ranges stated for the panel of this phase and metric. The `where` of a range may restrict x, too."""
    made = []
    for entry in _in_panel(run, "bands", phase, metric, x):
        low, high = entry["between"]
        there = run.matching({name: wanted for name, wanted in entry.get("where", {}).items() if name == x})
        if "of" not in entry:
            xs = [at for series in drawn for at, cell in zip(series.points["x"], series.points["cell"]) if there[cell]]
            if xs:
                made.append(Band([min(xs), max(xs)], [low, low], [high, high], entry["source"], about=entry.get("about", "")))
            continue
        for series in drawn:
            points = series.drawn()
            points = points[[bool(there[cell]) for cell in points["cell"]]]
            if series.allocator == entry["of"] and len(points):
                made.append(Band(list(points["x"]), list(points["value"] * low), list(points["value"] * high), entry["source"], entry["of"], entry.get("about", "")))
    return made


def concerns(about: str, shown: Collection[str]) -> bool:
    """Returns whether a band or note about this family belongs to a picture of the allocators `shown`. Without a family it belongs to every picture."""
    return not about or any(rows.family_of(name) == about for name in shown)


def notes(run: Run) -> list[str]:
    """Returns the notes of the plot about the allocators of `run`."""
    entries = [note if isinstance(note, dict) else {"says": note, "about": ""} for note in run.plot.get("notes", [])]
    return [entry["says"] for entry in entries if concerns(entry["about"], set(run.cells["allocator"]))]


def positions(run: Run, phase: str, metric: str) -> list[Position]:
    """Returns the x values stated for the panel of this phase and metric."""
    return [Position(float(entry["at"]), entry["source"], entry.get("allocator", "")) for entry in _in_panel(run, "positions", phase, metric)]


def _in_panel(run: Run, key: str, phase: str, metric: str, x: str = "") -> list[dict]:
    """Returns the entries of the plot's list `key` that are about the panel of this phase and metric. Conditions on `x`
    do not count.
    """
    return [entry for entry in _of_back_end(run, run.plot.get(key, []))
            if (entry.get("metric", metric), entry.get("phase", phase)) == (metric, phase)
            and run.matching({name: wanted for name, wanted in entry.get("where", {}).items() if name != x}).all()]


def _entries(run: Run) -> list[dict]:
    return _of_back_end(run, run.plot.get("marks", []))


def _of_back_end(run: Run, entries: Sequence[dict]) -> list[dict]:
    return [entry for entry in entries if entry.get("backend", run.backend) == run.backend]


def sentences(run: Run, drawn: Sequence[tuple[str, str]], elsewhere: Collection[str] = ()) -> list[str]:
    """Returns sentences about the stated values that are not `drawn` as (phase, metric). Counts from one source at the
    same settings share a sentence. A paper is about published forms, so other forms count only if there is no published one. Values of the allocators `elsewhere` are left out.
    """
    groups: dict[tuple, list[dict]] = {}
    for entry in _entries(run):
        if (entry.get("phase", ""), entry["metric"]) not in drawn and entry.get("allocator") not in elsewhere:
            where = ", ".join(labels.told(run, name, value) if isinstance(value, (bool, str)) else f"{labels.setting_name(run, name)} {quantity.formatter(name)(value)}"
                              for name, value in entry["where"].items())
            alone = entry["metric"] if _unit(run, entry) else ""  # counts share a sentence
            groups.setdefault((entry["source"], where, alone), []).append(entry)
    made = []
    for (source, where, _), entries in groups.items():
        theirs = ", ".join(f"{entry.get('bound', '')} {_written(run, entry, [entry['value']])}".strip() for entry in entries)
        there = run.matching(entries[0]["where"])
        published = there & run.cells["allocator"].map(lambda name: forms.form_of(name) == forms.PUBLISHED)
        whose = " (published forms)" if published.any() and (there & ~published).any() and not any("allocator" in entry for entry in entries) else ""
        there = published if whose else there
        ours = f"here{whose}: " + ", ".join(_measured(run, there, entry) for entry in entries) if there.any() else "not run here"
        made.append(f"{source} states {theirs} at {where}; {ours}.")
    return made


def _measured(run: Run, there: pandas.Series, entry: dict) -> str:
    """Returns the measured range over the allocators of these cells, or over the cells of the allocator that the entry names."""
    if "allocator" in entry:
        there = there & (run.cells["allocator"] == entry["allocator"])
    found = run.at(entry.get("phase", ""), entry["metric"])["value"]
    found = found[found.index.isin(there.index[there])]
    if found.empty:
        return f"{quantity.metric_name(entry['metric'])} not measured"
    whose = f" with {labels.allocator(run, entry['allocator'])}" if "allocator" in entry else ""
    return _written(run, entry, sorted({found.min(), found.max()})) + whose


def _written(run: Run, entry: dict, values: Sequence[float]) -> str:
    """Returns the values with their name: `150 mallocs`, or with a unit `1.5 ms (init)`."""
    unit, phase = _unit(run, entry), entry.get("phase", "")
    numbers = " to ".join(map(quantity.formatter(entry["metric"], unit), values))
    return f"{numbers} {quantity.metric_name(entry['metric'])}" if not unit else f"{numbers} ({phase})" if phase else numbers


def _unit(run: Run, entry: dict) -> str:
    return run.unit_of(entry.get("phase", ""), entry["metric"])
