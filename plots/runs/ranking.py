"""This module compares how two sides rank the same things, such as the allocators of two runs by their times."""

from __future__ import annotations

import math

import pandas

from plots.runs.results import Run


def rankable(run: Run) -> pandas.Series:
    """Returns for each cell whether its times can be ranked: it is ok, not provisional, and no request got null."""
    return (run.cells["status"] == "ok") & ~run.cells["provisional"].astype(bool) & ~run.got_null


def correlation(pairs: pandas.DataFrame) -> float:
    """Returns Spearman's rank correlation of two columns, or NaN if all values of a column are equal."""
    one, other = (pairs.iloc[:, column].rank() for column in (0, 1))
    return float(one.corr(other)) if one.nunique() > 1 and other.nunique() > 1 else math.nan
