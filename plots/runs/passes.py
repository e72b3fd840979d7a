"""This module computes intervals of counts from the passes that were counted.

A count whose passes differ, such as the steps of a random walk, has the 95 % t interval of its mean. A count whose passes
are equal, or that has one pass, is exact.
"""

from __future__ import annotations

import math
import statistics
from typing import Sequence

from plots.runs.results import Run


def of(run: Run, cell: str, metric: str) -> Sequence[float]:
    """Returns the counts of the cell's passes, or nothing if the metric is not counted in passes."""
    return run.details.get(cell, {}).get("counted", {}).get("values", {}).get(metric, ())


def interval(counts: Sequence[float]) -> tuple[float, float]:
    """Returns the interval of the mean. The lower bound is at least 0, because a count is not negative."""
    mean, half = statistics.fmean(counts), _half(counts) if len(set(counts)) > 1 else 0.0
    return max(mean - half, 0.0), mean + half


def interval_of_ratio(counts: Sequence[float], others: Sequence[float]) -> tuple[float, float] | None:
    """Returns the interval of the ratio of two means of the same passes, or None if there are fewer than two passes.

    What a pass adds to both counts cancels out, so this interval is narrower than that of independent counts.
    """
    if len(counts) < 2 or len(counts) != len(others) or statistics.fmean(others) <= 0:
        return None
    ratio = statistics.fmean(counts) / statistics.fmean(others)
    half = _half([count - ratio * other for count, other in zip(counts, others)]) / statistics.fmean(others)
    return ratio - half, ratio + half


def _half(numbers: Sequence[float]) -> float:
    """Returns half the width of the 95 % t interval of the mean."""
    from scipy import stats

    return float(stats.t.ppf(0.975, len(numbers) - 1)) * statistics.stdev(numbers) / math.sqrt(len(numbers))
