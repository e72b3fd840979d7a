"""This module measures how much an application depends on its allocator.

In the runs that it reads, every malloc or every free waits for some cycles. The module compares the application's times
for several waits.

The configs of these runs sweep a wait of the adaptor `Delayed` (allocators/support/adaptors/delayed.hpp) on the x axis.
A straight line is fitted to the times of one allocator in one phase. Its slope, times the clock rate, is the number of
calls in a row: calls that follow one another on the way to the result. At a slope of 0, a faster allocator does not
help.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Sequence

import numpy

from allocbench.errors import NothingToDraw
from plots.figures.model import choice, series
from plots.ledger.effects import Estimate
from plots.runs import origin
from plots.runs.results import Run
from plots.sheet import provisional, style

WAITS = {"allocator.malloc_delay": "malloc", "allocator.free_delay": "free"}
STEP = 1000         # cycles of wait that `share` refers to
_CONFIDENCE = 0.95
_LEAST_POINTS = 3   # two points always lie on one line


@dataclass(frozen=True)
class Slope:
    """A slope belongs to one allocator in one phase of an application."""

    application: str
    call: str       # call that waits: malloc or free
    phase: str
    allocator: str
    label: str
    look: style.Look
    points: int     # number of points with a time
    without: tuple[str, ...]   # statuses of the points without a time
    base: float | None         # seconds without waits, None if this point has no time
    slope: Estimate | None      # seconds per cycle, None with fewer than two points
    off_line: float | None     # distance of the farthest point from the line, divided by `base`
    clock: float | None        # clock in Hz during the samples, None if the back end has no clock
    provisional: bool = False  # whether a point is provisional, so that the slope has no interval

    @property
    def share(self) -> Estimate | None:
        """Returns the time that STEP cycles of wait per call add, as a share of the time without waits. Returns None if the slope
        or the time without waits is unknown.
        """
        return self.slope.times(STEP / self.base) if self.slope and self.base else None

    @property
    def in_a_row(self) -> Estimate | None:
        """Returns the number of calls in a row on the way to the result, or None without a slope or a clock."""
        return self.slope.times(self.clock) if self.slope and self.clock else None

    @property
    def seen(self) -> bool:
        """Returns whether the interval proves that the time grows with the wait."""
        return self.slope is not None and self.slope.low is not None and self.slope.low > 0


def is_about_waits(run: Run) -> bool:
    return run.plot.get("kind") == "lines" and run.plot.get("x") in WAITS


def slopes(runs: Sequence[Run]) -> list[Slope]:
    """Returns the slopes of all runs that sweep a wait, in the order of the runs."""
    used = [run for run in runs if is_about_waits(run)]
    if not used:
        raise NothingToDraw("these runs do not sweep malloc_delay or free_delay. Measure configs that do: allocbench study delay")
    origin.require_one_device(used)
    return [slope for run in used for slope in _of_run(choice.shown(run))]


def _of_run(run: Run) -> list[Slope]:
    x = run.plot["x"]
    clocks = run.at("", "sm_clock")["value"]
    made = []
    for panel in series.panels_of(run):
        if panel.metric != "time":
            continue
        for each in series.series_of(panel.run, x, panel.phase, "time"):
            drawn = each.drawn()
            base = drawn.loc[drawn["x"] == 0, "value"]
            own = clocks.reindex(drawn["cell"]).dropna()
            found = None if len(drawn) < 2 else _line(drawn["x"].to_numpy(), *(drawn[name].to_numpy() for name in ("value", "low", "high")))
            doubtful = bool(drawn[provisional.FLAG].any())
            if found and doubtful:
                found = replace(found[0], low=None, high=None, provisional=True), found[1]
            made.append(Slope(run.config.get("description", run.name).partition(":")[0], WAITS[x], panel.phase, each.allocator, each.label, each.look,
                              len(drawn), tuple(word for word in each.points["word"] if word), base.iloc[0] if len(base) else None,
                              found[0] if found else None, found[1] / base.iloc[0] if found and len(base) else None,
                              1e6 * float(own.median()) if len(own) else None, doubtful))
    return made


def _line(xs: numpy.ndarray, ys: numpy.ndarray, lows: numpy.ndarray, highs: numpy.ndarray) -> tuple[Estimate, float]:
    """Returns the slope, and the distance of the farthest point from the line.

    A slope is uncertain for two reasons. The points lie beside the line (Student's t over the points), and each point
    has an interval (independent errors, so their squares add up). The result has the wider of the two intervals.
    """
    from scipy import stats

    fit = stats.linregress(xs, ys)
    off = float(numpy.abs(ys - (fit.intercept + fit.slope * xs)).max())
    if len(xs) < _LEAST_POINTS:
        return Estimate(fit.slope, None, None, ""), off
    half = fit.stderr * stats.t.ppf((1 + _CONFIDENCE) / 2, len(xs) - 2)
    weights = (xs - xs.mean()) / ((xs - xs.mean()) ** 2).sum()
    own = math.sqrt(((weights * (highs - lows) / 2) ** 2).sum())
    if not math.isnan(own):
        half = max(half, own)
    return Estimate(float(fit.slope), float(fit.slope - half), float(fit.slope + half), ""), off
