"""This module draws the figure kind `histogram`.

It shows how often the untimed passes counted each value of a quantity (such as the steps of a malloc), or how often a
workload requests each size. Each value of the setting that `panels` names gets its own panel if it has counts. A
histogram of the pages that a warp finds also has the normal curve of equation (9) of Pham et al. 2025, for the free
share of the pages.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Callable, Sequence

import matplotlib
import numpy
from matplotlib.patches import Patch

from allocbench.errors import NothingToDraw
from plots import theory
from plots.figures.model import series
from plots.runs import labels, origin
from plots.runs.results import Run
from plots.sheet import grid, quantity, style
from plots.sheet.page import BODY_WIDTH, Drawing, Heading, Page

_HEIGHT = 1.9
_BELOW = 0.40
_LEFT = 0.55
_BETWEEN = 0.36
_ABOVE = 0.22
_WIDEST = 8  # standard deviations to both sides of the mean
_LABEL = 0.42  # inches of room for a label of a bin
_LEGEND = 0.2
_OUTLINE = "#b03060"
_PALE = 0.55  # opacity of bars under outlines and curves


@dataclass(frozen=True)
class _Words:
    """These are the words that readers see about a distribution."""

    what: str
    share: str
    label: Callable[[float], str]
    caption: str


_WORDS = {
    "steps": _Words("steps", "share of mallocs", quantity.count,
                    "Bars: share of mallocs by their steps, in bins that begin where the axis says and end before the next."),
    "pages_found": _Words("pages found", "share of draws", quantity.count,
                          "Bars: how often a warp of 32 lanes saw so many free pages in its first round, in a pool whose pages in use are "
                          "drawn anew for each pass. Line: normal distribution with mean n p and variance n p (1 - p), n = 1024, p: free share of "
                          "the pages."),
    "request_bytes": _Words("request size", "share of requests", quantity.in_bytes,
                            "Bars: share of requests by their size, in bins that begin where the axis says and end before the next."),
}


@dataclass(frozen=True)
class _Counted:
    """The distribution that was counted in one cell.

    `expected` has the mean and deviation of equation (9) before any page is taken. It is None unless the histogram is
    `pages_found`.
    """

    allocator: str
    name: str
    bins: dict[int, int]  # count of each bin, by the first value of the bin
    expected: tuple[float, float] | None

    @property
    def total(self) -> int:
        return sum(self.bins.values())


def make(run: Run, stem: str) -> Drawing:
    what = run.plot["histogram"]
    panels = _panels(run, what)
    if not panels:
        raise NothingToDraw(f"{run.folder}: no cell that is ok has the histogram {what!r}. A results.csv of an older version has no histograms. "
                            "Make it again from the log of its run: allocbench report RUN.")
    heading = origin.heading(run, origin.title(run), [_WORDS[what].caption, *_far(panels), *run.plot.get("notes", [])])
    with matplotlib.rc_context(style.RC):
        page = _page(heading, panels, _WORDS[what])
    table = grid.Grid(["", "allocator", "count"] + _moments_header(panels), [_row(title, each) for title, counted in panels for each in counted], aligned_left=2)
    return Drawing(stem, page, heading.markdown([grid.markdown(table)], run.config.get("assumed", [])))


def _panels(run: Run, what: str) -> list[tuple[str, list[_Counted]]]:
    """Returns the panels that have counts, with their titles."""
    def counted(cell: str) -> _Counted:
        allocator = run.cells.at[cell, "allocator"]
        entry = run.details.get(cell, {}) if run.cells.at[cell, "status"] == "ok" else {}
        return _Counted(allocator, labels.allocator(run, allocator), dict(entry.get("counted", {}).get("histograms", {}).get(what, [])),
                        theory.corw_drift(1.0, run.settings.at[cell, "free_share"], 0.0) if what == "pages_found" else None)

    panels = [(title, [counted(cell) for cell in run.cells.index if cell in cells]) for title, cells in series.parts(run, "panels")]
    panels = [(title, [each for each in found if each.bins]) for title, found in panels]
    return [(title, found) for title, found in panels if found]


def _page(heading: Heading, panels: Sequence[tuple[str, list[_Counted]]], words: _Words) -> Page:
    names = {each.allocator: each.name for _, counted in panels for each in counted}
    foot = _LEGEND if len(names) > 1 else 0.0
    page = Page(heading, foot + _BELOW + _HEIGHT + _ABOVE)
    width = (BODY_WIDTH - _LEFT - _BETWEEN * (len(panels) - 1) - 0.1) / len(panels)
    for number, (title, counted) in enumerate(panels):
        axes = page.axes(_LEFT + number * (width + _BETWEEN), foot + _BELOW, width, _HEIGHT)
        for each in counted:
            _draw(axes, each, words, max(2, int(width / _LABEL)), outlined=each.allocator != next(iter(names)))
        axes.set_title(title, loc="left", fontsize=7.5, weight="bold")
        axes.set_xlabel(words.what)
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter(lambda value, _: quantity.formatter("internal_waste")(value))
        if number == 0:
            axes.set_ylabel(words.share)
    if foot:
        patches = [Patch(facecolor="none" if number else style.look(allocator).colour, edgecolor=_OUTLINE if number else "none", alpha=1 if number else _PALE, label=name)
                   for number, (allocator, name) in enumerate(names.items())]
        page.figure.legend(handles=patches, loc="upper left", borderaxespad=0, borderpad=0, ncol=len(patches), bbox_to_anchor=page.point(_LEFT, foot - 0.03))
    return page


def _draw(axes, each: _Counted, words: _Words, most: int, outlined: bool) -> None:
    """Draws one distribution. With `outlined`, bars under a normal curve become outlines, drawn over the first
    allocator's bars.
    """
    look, shares = style.look(each.allocator), [count / each.total for count in each.bins.values()]
    if each.expected:
        if outlined:
            values = range(min(each.bins), max(each.bins) + 1)
            axes.stairs([each.bins.get(value, 0) / each.total for value in values], [value - 0.5 for value in (*values, max(each.bins) + 1)], color=_OUTLINE,
                        linewidth=0.8, gid=f"histogram {each.allocator}")
        else:
            axes.bar(list(each.bins), shares, width=1.0, color=look.colour, alpha=_PALE, linewidth=0, gid=f"histogram {each.allocator}")
        mean, deviation = each.expected
        xs = numpy.linspace(max(0.0, mean - 4 * deviation), mean + 4 * deviation, 200)
        axes.plot(xs, numpy.exp(-((xs - mean) / deviation) ** 2 / 2) / (deviation * math.sqrt(2 * math.pi)),
                  color=style.BLACK, linewidth=0.9, gid="normal")
        axes.set_xlim(max(-0.6, mean - _WIDEST * deviation), mean + _WIDEST * deviation)
        return
    # The bins double in size and are drawn side by side.
    places = [0 if first == 0 else 1 + int(math.log2(first)) for first in each.bins]
    axes.bar(places, shares, width=0.9, color=look.colour, gid=f"histogram {each.allocator}")
    every = -(-len(places) // most)  # step between labels, so that each has room
    axes.set_xticks(places[::every], [words.label(first) for first in list(each.bins)[::every]])


def _far(panels: Sequence[tuple[str, list[_Counted]]]) -> list[str]:
    """Lists the values that are not drawn. They lie so far out that an axis with them would squeeze the distribution."""
    told = []
    for title, counted in panels:
        for each in counted:
            mean, deviation = each.expected or (0.0, math.inf)
            far = {value: count for value, count in each.bins.items() if abs(value - mean) > _WIDEST * deviation}
            if far:
                lanes = [f"{32 * value / mean:.0f}" for value in (min(far), max(far))]
                told.append(f"{title}: {sum(far.values())} of {each.total:,} draws at {min(far)} to {max(far)} "
                            f"pages, more than {_WIDEST} standard deviations from the mean; that many is the average of only "
                            f"{' to '.join(dict.fromkeys(lanes))} lanes, so the warp may have split")
    return [f"Not shown: {'; '.join(told)}."] if told else []


def _moments_header(panels: Sequence[tuple[str, list[_Counted]]]) -> list[str]:
    """Returns the columns of the moments, or none if the bins double in size."""
    return ["mean", "standard deviation", "n p", "sqrt(n p q)"] if panels[0][1][0].expected else []


def _row(title: str, each: _Counted) -> Sequence[str]:
    row = [title, each.name, f"{each.total:,}"]
    if not each.expected:
        return row
    mean = sum(value * count for value, count in each.bins.items()) / each.total
    variance = sum(count * (value - mean) ** 2 for value, count in each.bins.items()) / each.total
    return row + [f"{value:.2f}" for value in (mean, math.sqrt(variance), *each.expected)]
