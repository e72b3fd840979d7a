"""Computes the curves of theory in line figures (`theory` of a config's plot): the values of a series by its
formula.
"""

from __future__ import annotations

import math
from typing import Sequence

import numpy

from plots.figures.model.series import Series
from plots.runs import formulas
from plots.runs.results import Run

_POINTS = 160


def names(run: Run, metrics: Sequence[str]) -> list[str]:
    """Returns the equations drawn for these metrics, with the numbers of the paper."""
    there = set(run.cells["allocator"])
    chosen = [named[metric] for allocator, named in run.plot.get("theory", {}).items() for metric in metrics
              if metric in named and allocator in there]
    return list(dict.fromkeys(formulas.equation(run, name) for name in chosen))


def of_series(run: Run, series: Series, x: str, metric: str, log_x: bool) -> tuple[list[float], list[float]]:
    """Returns positions and values of the curve.

    Positions without a finite value are left out. Both lists are empty if the plot has no formula for the series.
    """
    name = run.plot.get("theory", {}).get(series.allocator, {}).get(metric)
    if name is None or series.points.empty:
        return [], []
    measured = list(series.points["x"])
    spread = numpy.geomspace if log_x else numpy.linspace
    between = spread(min(measured), max(measured), _POINTS).tolist() if len(measured) > 1 else []
    if all(position == int(position) for position in measured):
        between = [round(position) for position in between]
    positions = sorted(set(measured) | set(between))
    formula = formulas.along(run, name, series.points["cell"].iloc[0], x)
    values = [formula(position) for position in positions]
    finite = [(position, value) for position, value in zip(positions, values) if math.isfinite(value)]
    return [position for position, _ in finite], [value for _, value in finite]
