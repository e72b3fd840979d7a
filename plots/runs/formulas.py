"""This module evaluates the formulas of theory.py at the settings of a run's cells."""

from __future__ import annotations

from typing import Callable

from allocbench.errors import UsageError
from plots import theory
from plots.runs.results import Run


def value_at(run: Run, name: str, cell: str) -> float:
    """Returns the value of a formula at the settings of a cell. The value is infinite if the formula has none."""
    return along(run, name, cell, "")(0)


def along(run: Run, name: str, cell: str, x: str) -> Callable[[float], float]:
    """Returns a formula at the settings of a cell, as a function of one of them."""
    settings, formula = run.settings.loc[cell].to_dict(), _known(run, name)[1]
    return lambda position: formula(_setting(settings, x, position))


def equation(run: Run, name: str) -> str:
    """Returns the equation's number in the paper, or its description if it has none."""
    return _known(run, name)[0]


def _known(run: Run, name: str):
    if name not in theory.CURVES:
        raise UsageError(f"{run.folder}: plot.theory names {name!r}. Known: {', '.join(theory.CURVES)}.")
    return theory.CURVES[name]


def _setting(settings: dict, x: str, position: float) -> theory.Setting:
    def value(setting: str, otherwise):
        found = position if setting == x else settings.get(setting)
        return otherwise if found is None else found

    page_bytes = value("page_bytes", value("request_bytes", 256))
    threads = value("threads", 1)
    return theory.Setting(pages=value("pool_bytes", 0) // page_bytes, free_share=value("free_share", 1.0),
                          threads=threads, cluster_pages=value("cluster_pages", 1), lanes=min(threads, value("lanes_per_warp", 1)))
