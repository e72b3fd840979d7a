"""This module computes the curves of theory in line figures (`theory` of a config's plot): the values of a series by its
formula.
"""

from __future__ import annotations

import math
from typing import Sequence

import numpy

from plots import theory
from plots.figures.model.series import Series
from plots.runs import formulas, labels
from plots.runs.results import Run
from plots.sheet import quantity

_POINTS = 160
_LONGER = " with w = 64"  # end of the name of an equation for words of 64 pages


def sentence(run: Run, metrics: Sequence[str]) -> str:
    """Returns the sentence about the drawn equations. It has the equations of each metric, if the metrics differ in them. The text
    is empty if there are none.
    """
    drawn = list(dict.fromkeys(name for allocator in run.allocators() for metric in metrics if (name := formula(run, allocator, metric))))
    by_metric = {metric: found for metric in dict.fromkeys(metrics) if (found := names(run, [metric]))}
    if not by_metric:
        return ""
    alike = len({tuple(found) for found in by_metric.values()}) < 2
    told_ones = [_listed(names(run, metrics))] if alike else [f"{_listed(found)} for {short(metric)}" for metric, found in by_metric.items()]
    longer = " Dashed lines: the same equations with w = 64." if any(map(_has_both, by_metric.values())) else ""
    floor = " Equation (11) is drawn as 1 where it is less, because each request takes a step." if set(drawn) & set(theory.AT_LEAST_ONE) else ""
    return f"Lines: {', and '.join(told_ones)} at the same settings (plots/theory.py).{longer}{_bounds(run, drawn)}{floor}"


def _bounds(run: Run, drawn: Sequence[str]) -> str:
    bounds = list(dict.fromkeys(formulas.equation(run, name).removesuffix(_LONGER) for name in drawn if name in theory.UPPER_BOUNDS))
    if not bounds:
        return ""
    return f" {_together(bounds).capitalize()} {'are upper bounds' if len(bounds) > 1 else 'is an upper bound'}."


def short(metric: str) -> str:
    """Returns the abbreviation of a metric's name, or the name if it has none."""
    return f"{'relative ' if quantity.is_ratio(metric) else ''}{quantity.metric_name(metric).partition(':')[0]}"


def _listed(equations: Sequence[str]) -> str:
    """Returns the equations as a list. An equation that is drawn for both lengths of words is there once."""
    if not all(name.startswith("(") for name in equations):
        return labels.together([told(name) for name in equations])
    return f"{_together([name for name in equations if name.removesuffix(_LONGER) == name or name.removesuffix(_LONGER) not in equations])} of the paper"


def _together(numbers: Sequence[str]) -> str:
    return f"equation{'s' if len(numbers) > 1 else ''} {labels.together(numbers)}"


def _has_both(equations: Sequence[str]) -> bool:
    return any(f"{name}{_LONGER}" in equations for name in equations)


def names(run: Run, metrics: Sequence[str]) -> list[str]:
    """Returns the names of the equations drawn for these metrics, in the order of theory.CURVES: their numbers in the paper, or
    their descriptions.
    """
    there = set(run.cells["allocator"])
    chosen = [named[metric] for allocator, named in run.plot.get("theory", {}).items() for metric in metrics
              if metric in named and allocator in there]
    known = [name for name in theory.CURVES if name in chosen]
    return list(dict.fromkeys(formulas.equation(run, name) for name in [*known, *chosen]))


def of_series(run: Run, series: Series, x: str, metric: str, log_x: bool) -> tuple[list[float], list[float]]:
    """Returns positions and values of the curve.

    Positions without a finite value are left out. Both lists are empty if the plot has no formula for the series.
    """
    name = formula(run, series.allocator, metric)
    return _along(run, series, name, x, log_x) if name else ([], [])


def formula(run: Run, allocator: str, metric: str) -> str:
    return run.plot.get("theory", {}).get(allocator, {}).get(metric, "")


def lent(run: Run, here: Sequence[Series], of: Series, x: str, metric: str, log_x: bool) -> tuple[list[float], list[float]]:
    """Returns the curve of a series that the panel lacks, at the settings of the panel's first series with points."""
    owner = next((each for each in here if len(each.points)), None)
    return _along(run, owner, formula(run, of.allocator, metric), x, log_x) if owner else ([], [])


def told(equation: str) -> str:
    """Returns the equation as readers see it."""
    return f"equation {equation}" if equation.startswith("(") else equation


def _along(run: Run, series: Series, name: str, x: str, log_x: bool) -> tuple[list[float], list[float]]:
    if series.points.empty:
        return [], []
    measured = list(series.points["x"])
    spread = numpy.geomspace if log_x else numpy.linspace
    between = spread(min(measured), max(measured), _POINTS).tolist() if len(measured) > 1 else []
    if all(position == int(position) for position in measured) and max(measured) - min(measured) > _POINTS:  # rounding would make kinks in a curve over a short range
        between = [round(position) for position in between]
    positions = sorted(set(measured) | set(between))
    value_at = formulas.along(run, name, series.points["cell"].iloc[0], x)
    values = [value_at(position) for position in positions]
    finite = [(position, value) for position, value in zip(positions, values) if math.isfinite(value)]
    return [position for position, _ in finite], [value for _, value in finite]
