"""Curves of theory in line figures (`theory` of a config's plot): for a series, what its formula gives at its settings."""

from __future__ import annotations

import math
from typing import Sequence

import numpy

from allocbench.errors import UsageError
from plots import theory
from plots.results import Run
from plots.series import Series

_POINTS = 160


def names(run: Run, metrics: Sequence[str]) -> list[str]:
    """The equations drawn for these metrics, as the paper numbers them."""
    chosen = [formulas[metric] for formulas in run.plot.get("theory", {}).values() for metric in metrics
              if metric in formulas]
    return list(dict.fromkeys(_formula(run, name)[0] for name in chosen))


def of_series(run: Run, series: Series, x: str, metric: str, log_x: bool) -> tuple[list[float], list[float]]:
    """Positions and values, without those where the formula has none; both empty where no curve is asked for."""
    name = run.plot.get("theory", {}).get(series.allocator, {}).get(metric)
    if name is None or series.points.empty:
        return [], []
    formula = _formula(run, name)[1]
    measured = list(series.points["x"])
    spread = numpy.geomspace if log_x else numpy.linspace
    between = spread(min(measured), max(measured), _POINTS).tolist() if len(measured) > 1 else []
    if all(position == int(position) for position in measured):
        between = [round(position) for position in between]
    positions = sorted(set(measured) | set(between))
    settings = run.settings.loc[series.points["cell"].iloc[0]].to_dict()
    values = [formula(_setting(settings, x, position)) for position in positions]
    finite = [(position, value) for position, value in zip(positions, values) if math.isfinite(value)]
    return [position for position, _ in finite], [value for _, value in finite]


def value_at(run: Run, name: str, cell: str) -> float:
    """What a formula gives at the settings of a cell; infinite where it has no value."""
    return _formula(run, name)[1](_setting(run.settings.loc[cell].to_dict(), "", 0))


def _formula(run: Run, name: str):
    if name not in theory.CURVES:
        raise UsageError(f"{run.folder}: plot.theory names {name!r}. Known are: {', '.join(theory.CURVES)}.")
    return theory.CURVES[name]


def _setting(settings: dict, x: str, position: float) -> theory.Setting:
    def value(setting: str, otherwise):
        found = position if setting == x else settings.get(setting)
        return otherwise if found is None else found

    page_bytes = value("page_bytes", value("request_bytes", 256))
    threads = value("threads", 1)
    return theory.Setting(pages=value("pool_bytes", 0) // page_bytes, free_share=value("free_share", 1.0),
                          threads=threads, cluster_pages=value("cluster_pages", 1), lanes=min(threads, value("lanes_per_warp", 1)))
