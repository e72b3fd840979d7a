"""This module selects the cells and values of the two sides of an effect (effects.py), and names its places.

A side is an allocator, a list of allocators, or an object with `allocator`, `where`, `phase` and `metric`
(plots/README.md, "Claims").
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Collection, Sequence

import pandas

from allocbench.errors import UsageError
from plots.runs import configs, few_rounds, forms, labels
from plots.runs.results import TIMES, Run
from plots.sheet import provisional, quantity


@dataclass(frozen=True)
class Side:
    """A side selects cells by allocator and settings (`where`), and their values by phase and metric."""

    allocators: tuple[str, ...]
    where: dict
    phase: str
    metric: str
    pooled: bool = False  # whether the side is the median of its cells at the same settings


class FormNotMeasured(Exception):
    """This error says that the run lacks an allocator that the claim names. Either the run has only another form of the
    allocator, or the claim is newer than the results.
    """


def known_to(run: Run) -> set[str]:
    """Returns the ids and labels that a claim about the run may name."""
    return {*run.allocators(), *_ids(run.config)}


def _planned(name: str) -> set[str]:
    """Returns the allocators of the current config of this name, which may be newer than the results."""
    return _ids(configs.named(name) or {})


def _ids(config: dict) -> set[str]:
    return {entry["id"] if isinstance(entry, dict) else entry for entry in config.get("allocators", [])}


def side_of(run: Run, given, effect: dict, where: dict) -> Side:
    """Reads a side: an allocator, a list of allocators, or an object with `allocator`, `where`, `phase` and
    `metric`.
    """
    given = given if isinstance(given, dict) else {"allocator": given}
    pooled = given.get("pooled", False)
    names = given.get("allocator", [name for name in run.allocators() if pooled or forms.form_of(name) == forms.PUBLISHED])
    names = [names] if isinstance(names, str) else names
    if not names:
        raise FormNotMeasured
    known = known_to(run)
    for name in names:
        if name not in known:
            if name in _planned(run.name) or any(forms.in_form(name, form) in known for form in (forms.REWORKED, forms.ORIGINAL)):
                raise FormNotMeasured(name)
            raise UsageError(f"{run.name}: a claim names {name!r}, which is not in the run. Allowed: {', '.join(sorted(known))}.")
    return Side(tuple(names), {**where, **given.get("where", {})},
                 given.get("phase", effect.get("phase", _only(run.plot.get("y", "total")))),
                 given.get("metric", effect.get("metric", _measured(_only(run.plot.get("metric", "time"))))), pooled)


def _only(listed) -> str:
    return listed if isinstance(listed, str) else listed[0]


def along_of(run: Run, effect: dict) -> str:
    return effect.get("along") or _only(run.plot.get("x", ""))


def _measured(metric: str) -> str:
    """Returns the measured metric for a relative one, because claims compute their ratios themselves."""
    return "throughput" if metric == "speed_up" else metric.removeprefix("relative_")


def cells_of(run: Run, side: Side) -> pandas.DataFrame:
    """Returns the cells of a side in the order of its allocators, with the value of each and its bounds.

    The value is NaN if the cell has none. A time or a rate is also NaN if requests of the cell got null, because claims
    are about successful allocations. The table is computed once for each side of the run.
    """
    key = repr(side)
    if key not in run.computed:
        run.computed[key] = _cells_of(run, side)
    return run.computed[key]


def _cells_of(run: Run, side: Side) -> pandas.DataFrame:
    cells = run.cells.loc[run.matching(side.where), ["allocator", "axes", "status"]].rename_axis("cell").reset_index()
    values = run.at(side.phase, side.metric).reindex(columns=["value", "low", "high", "unit", few_rounds.COLUMN, few_rounds.PASSES, "flags"])
    cells = cells.join(values.assign(provisional=provisional.among(values["flags"])).drop(columns="flags"), on="cell")
    cells["provisional"] = cells["provisional"].eq(True)
    cells["got_null"] = run.got_null[cells["cell"]].to_numpy() & cells["unit"].isin(TIMES)
    cells.loc[cells["got_null"], ["value", "low", "high"]] = math.nan
    ordered = [cells[cells["allocator"] == name] for name in side.allocators]
    listed = pandas.concat(ordered, ignore_index=True)
    return _pooled(listed) if side.pooled else listed


def _pooled(cells: pandas.DataFrame) -> pandas.DataFrame:
    """Returns one row for all allocators at the same settings: the median of their values with its 95 % interval."""
    cells = cells[cells["value"].notna() & ~cells["provisional"]]
    places = cells["axes"].map(lambda axes: tuple(sorted((name, str(value)) for name, value in axes.items() if not name.startswith("allocator."))))
    rows = []
    for _, values in cells.groupby(places, sort=False):
        low, high = _interval_of_median(values["value"])
        rows.append({**values.iloc[0], "allocator": "", "value": values["value"].median(), "low": low, "high": high, few_rounds.COLUMN: math.nan, few_rounds.PASSES: math.nan})
    return pandas.DataFrame(rows, columns=cells.columns)


def _interval_of_median(values: pandas.Series) -> tuple[float, float]:
    """Returns the order statistics that enclose the median with 95 % confidence, or NaN if there are too few values."""
    from scipy import stats

    rank, ordered = int(stats.binom.ppf(0.025, len(values), 0.5)), sorted(values)
    return (ordered[rank - 1], ordered[-rank]) if rank > 0 else (math.nan, math.nan)


def bounds_of(row) -> tuple[float | None, float | None]:
    return None if math.isnan(row.low) else row.low, None if math.isnan(row.high) else row.high


def rounds_of(*rows) -> int:
    """Returns the fewest rounds of the t intervals of these rows (few_rounds.py), or 0 if there is no such interval."""
    return few_rounds.fewest([0 if math.isnan(rounds := getattr(row, few_rounds.COLUMN)) else int(rounds) for row in rows])


def passes_of(*rows) -> int:
    """Returns the fewest passes of the t intervals of these rows, or 0 if there is no such interval."""
    return few_rounds.fewest([0 if math.isnan(number := getattr(row, few_rounds.PASSES)) else int(number) for row in rows])


def provisional_of(*rows) -> bool:
    return any(row.provisional for row in rows)


def parameters_of(run: Run, row, without: Collection[str] = ()) -> str:
    """Returns the parameters that separate the cells of an allocator with several sets of parameters."""
    left_out = {name.removeprefix("allocator.") for name in without}
    parameters = run.cells.at[row.cell, "allocator_parameters"]
    return json.dumps({name: value for name, value in parameters.items() if name not in left_out}, sort_keys=True)


def place_of(run: Run, rows: Sequence, axes: Sequence[str]) -> str:
    names = " to ".join(dict.fromkeys(_named(run, row) for row in rows))
    told = [f"{quantity.axis_name(name)} {quantity.written(name, run.settings.at[rows[0].cell, name])}" for name in axes]
    return ", ".join([names, *told])


def _named(run: Run, row) -> str:
    """Returns the allocator's name, with its parameters if the config has several sets."""
    if not row.allocator:
        return "the median of all"
    name, told = labels.allocator(run, row.allocator), run.differing_parameters[row.allocator]
    return f"{name} ({', '.join(labels.told(run, each, run.settings.at[row.cell, each]) for each in told)})" if told else name


def axes_of(row, without: Collection[str] = ()) -> list[str]:
    return [name for name in row.axes if name not in without]
