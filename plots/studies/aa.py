"""This module draws the A/A figure: runs of one config on one card, compared with each other.

Every difference between these runs is an error of the measurement. The figure counts intervals of one cell that do not
overlap. If few pairs of intervals are disjoint, a difference between two allocators is credible.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Sequence

import matplotlib
from matplotlib.lines import Line2D

from allocbench.errors import NothingToDraw, UsageError
from plots.runs import labels, origin
from plots.runs.results import Run
from plots.sheet import quantity, style, ticks
from plots.sheet.page import BODY_WIDTH, Drawing, Heading, Page

PRECISION = 0.013  # wanted half-width of an interval as a share of the time, the default of the stopping rule

_ROW = 0.155
_BESIDE = 0.12  # inches between the names and the axis
_AXIS = 0.32
_TITLE = 0.18   # height of the line of phases above the panels
_GAP = 0.15
_WIDEST = 0.12  # deviation from the middle above which a share is cut off at the border


@dataclass(frozen=True)
class Place:
    """A place is a phase of a cell, with the (value, low, high) of each run that has an interval there."""

    name: str
    phase: str
    times: list[tuple[float, float, float]]

    @property
    def pairs(self) -> list[tuple[tuple, tuple]]:
        return list(itertools.combinations(self.times, 2))

    @property
    def disjoint(self) -> int:
        return sum(one[2] < other[1] or other[2] < one[1] for one, other in self.pairs)

    @property
    def precise(self) -> Place:
        """Returns the place with only the runs that reached the wanted precision there."""
        return Place(self.name, self.phase, [each for each in self.times if (each[2] - each[1]) / 2 <= PRECISION * each[0]])


def make(runs: Sequence[Run], stem: str = "aa") -> Drawing:
    places = find(runs)
    phases = list(dict.fromkeys(place.phase for place in places))
    names = list(dict.fromkeys(place.name for place in places))
    run = runs[0]
    caption = [f"Each line is the 95 % interval of a run, as a distance from the median of the runs. It is red if it is disjoint from the interval of another run. {_counts(places)}"]
    with matplotlib.rc_context(style.RC):
        page = Page(Heading(f"One config, {len(runs)} times on one card", origin.title(run), caption, origin.lines(run)), _AXIS + _ROW * len(names) + _TITLE)
        shown = [ticks.cut(name, style.LEAST, style.NAME) for name in names]
        left = max(ticks.text_width(name, style.LEAST) for name in shown) + _BESIDE
        width = (BODY_WIDTH - left - _GAP * (len(phases) - 1)) / len(phases)
        limit = _limit(places)
        for number, phase in enumerate(phases):
            axes = page.axes(left + number * (width + _GAP), _AXIS, width, _ROW * len(names))
            _draw(axes, [place for place in places if place.phase == phase], names, limit)
            axes.set_title(phase, fontsize=style.LEAST, pad=2)
            axes.set_yticks(range(len(names)), shown if number == 0 else [], fontsize=style.LEAST)
    return Drawing(stem, page, _markdown(runs, places))


def find(runs: Sequence[Run]) -> list[Place]:
    if len(runs) < 2:
        raise UsageError("An A/A figure needs at least two runs of one config.")
    cards = {str(run.device.get("uuid") or run.device.get("name")) for run in runs}
    if len(cards) > 1:
        raise UsageError(f"The runs come from {len(cards)} cards ({', '.join(sorted(cards))}), but an A/A figure needs runs of one card. Leave some "
                         "runs out.")
    if len({run.name for run in runs}) > 1:
        raise UsageError(f"The runs are of several configs ({', '.join(sorted({run.name for run in runs}))}), but an A/A figure needs runs of one "
                         "config. Leave some runs out.")
    places = []
    first = runs[0]
    phases = [phase for phase, metric in first.values[["phase", "metric"]].drop_duplicates().itertuples(index=False) if metric == "time"]
    for phase in [phase for phase in phases if phase != "total"] or phases:  # the total follows from the other phases
        tables = [run.at(phase, "time") for run in runs]
        for cell in first.cells.index:
            times = [tuple(table.loc[cell, ["value", "low", "high"]]) for table in tables if cell in table.index]
            times = [each for each in times if each[1] == each[1]]
            if len(times) > 1:
                places.append(Place(_name(first, cell), phase, times))
    if not places:
        raise NothingToDraw("no cell has an interval in two runs: an interval needs six rounds")
    return places


def _name(run: Run, cell: str) -> str:
    axes = run.cells.at[cell, "axes"]
    values = [quantity.formatter(name)(value) if isinstance(value, int) else str(value) for name, value in axes.items()]
    return " ".join([run.label(cell) or labels.allocator(run, run.cells.at[cell, "allocator"]), *values])


def _counts(places: Sequence[Place]) -> str:
    def share(chosen: Sequence[Place]) -> str:
        disjoint, pairs = sum(place.disjoint for place in chosen), sum(len(place.pairs) for place in chosen)
        return f"{disjoint} of {pairs} pairs ({100 * disjoint / pairs:.1f} %)" if pairs else "no pair"

    precise = [place.precise for place in places]
    return f"Disjoint: {share(places)}; of intervals within ±{100 * PRECISION:g} %: {share(precise)}."


def _limit(places: Sequence[Place]) -> float:
    farthest = max(max(abs(bound / _middle(place) - 1) for bound in each[1:]) for place in places for each in place.times)
    return min(farthest * 1.05, _WIDEST)


def _middle(place: Place) -> float:
    values = sorted(each[0] for each in place.times)
    return (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2


def _draw(axes, places: Sequence[Place], names: Sequence[str], limit: float) -> None:
    for place in places:
        middle = _middle(place)
        for number, each in enumerate(place.times):
            apart = any(each[2] < other[1] or other[2] < each[1] for other in place.times)
            colour = style.WARNING if apart else style.BLACK
            y = names.index(place.name) + 0.7 * ((number + 0.5) / len(place.times) - 0.5)
            axes.add_line(Line2D([each[1] / middle - 1, each[2] / middle - 1], [y, y], color=colour, linewidth=0.7))
            axes.plot(each[0] / middle - 1, y, marker="|", markersize=1.6, color=colour)
    axes.axvline(0, color=style.GREY, linewidth=0.5, zorder=0)
    axes.set_xlim(-limit, limit)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:+.0f} %" if value else "0")
    axes.tick_params(axis="y", length=0)


def _markdown(runs: Sequence[Run], places: Sequence[Place]) -> str:
    rows = [f"| {place.name} | {place.phase} | {min(each[0] for each in place.times):.4g} to {max(each[0] for each in place.times):.4g} "
            f"| {max((each[2] - each[1]) / 2 / each[0] for each in place.times) * 100:.2f} % | {place.disjoint} of {len(place.pairs)} |" for place in places]
    head = "| cell | phase | times of the runs in s | widest half interval | disjoint pairs |\n|---|---|---|---:|---:|"
    return "\n".join([f"# One config, {len(runs)} times on one card", "", _counts(places), "", head, *rows, "", *origin.lines(runs[0]), ""])
