"""Figure kind `histogram`: how often the untimed passes counted each value, or a workload requests each size; one panel per value of
`panels`.

Pages found by a warp come with the normal curve of equation (9) of Pham et al. 2025, at the share of pages that is free.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Callable, Sequence

import matplotlib
import numpy

from allocbench.errors import NothingToDraw
from plots import theory
from plots.figures.model import series
from plots.runs import labels, origin
from plots.runs.results import Run
from plots.sheet import grid, quantity, style
from plots.sheet.page import BODY_WIDTH, Drawing, Page

_HEIGHT = 1.9
_BELOW = 0.40
_LEFT = 0.55
_BETWEEN = 0.36
_ABOVE = 0.22
_WIDEST = 8  # standard deviations to both sides of the mean
_LABEL = 0.42  # inches that a label of a bin takes


@dataclass(frozen=True)
class _Words:
    """What readers see of a distribution."""

    what: str
    share: str
    label: Callable[[float], str]
    caption: str


_WORDS = {
    "steps": _Words("steps", "share of mallocs", quantity.count,
                    "Bars: share of mallocs by their steps, in bins that begin where the axis says and end before the next."),
    "pages_found": _Words("pages found", "share of draws", quantity.count,
                          "Bars: how often a warp of 32 lanes saw so many free pages in its first round, in a pool whose pages in use are "
                          "drawn anew for each pass. Line: normal distribution with mean n p and variance n p (1 - p), n = 1024."),
    "request_bytes": _Words("request size", "share of requests", quantity.in_bytes,
                            "Bars: share of requests by their size, in bins that begin where the axis says and end before the next."),
}


def make(run: Run, stem: str) -> Drawing:
    name = run.plot["histogram"]
    panels = _panels(run, name)
    if not panels:
        raise NothingToDraw(f"{run.folder}: no ok cell has counted the histogram {name!r}; a results.csv of an older program has none. Write it again with: allocbench report")
    far = _far(run, panels, name)
    with matplotlib.rc_context(style.RC):
        heading = origin.heading(run, origin.title(run), [_WORDS[name].caption, *far, *run.plot.get("notes", [])])
        page = Page(heading, _BELOW + _HEIGHT + _ABOVE)
        width = (BODY_WIDTH - _LEFT - _BETWEEN * (len(panels) - 1) - 0.1) / len(panels)
        for number, (title, cells) in enumerate(panels):
            axes = page.axes(_LEFT + number * (width + _BETWEEN), _BELOW, width, _HEIGHT)
            for cell in cells:
                _draw(axes, run, cell, name, max(2, int(width / _LABEL)))
            axes.set_title(title, loc="left", fontsize=7.5, weight="bold")
            axes.set_xlabel(_WORDS[name].what)
            axes.set_ylim(bottom=0)
            axes.yaxis.set_major_formatter(lambda value, _: quantity.formatter("internal_waste")(value))
            if number == 0:
                axes.set_ylabel(_WORDS[name].share)
    table = grid.Grid(["", "allocator", "count"] + _moments_header(name),
                      [_row(run, title, cell, name) for title, cells in panels for cell in cells], aligned_left=2)
    return Drawing(stem, page, heading.markdown([grid.markdown(table)]))


def _bins(run: Run, cell: str, name: str) -> dict[int, int]:
    """First value of each bin -> how often."""
    if run.cells.at[cell, "status"] != "ok":
        return {}
    return dict(run.details.get(cell, {}).get("counted", {}).get("histograms", {}).get(name, []))


def _panels(run: Run, name: str) -> list[tuple[str, list[str]]]:
    counted = [cell for cell in run.cells.index if _bins(run, cell, name)]
    panels = [(title, [cell for cell in counted if cell in cells]) for title, cells in series.parts(run, "panels")]
    return [(title, cells) for title, cells in panels if cells]


def _draw(axes, run: Run, cell: str, name: str, most: int) -> None:
    bins = _bins(run, cell, name)
    total = sum(bins.values())
    allocator = run.cells.at[cell, "allocator"]
    look = style.look(allocator)
    if name == "pages_found":
        axes.bar(list(bins), [count / total for count in bins.values()], width=1.0, color=look.colour, alpha=0.55,
                 linewidth=0, gid=f"histogram {allocator}")
        mean, deviation = _expected(run, cell)
        xs = numpy.linspace(max(0.0, mean - 4 * deviation), mean + 4 * deviation, 200)
        axes.plot(xs, numpy.exp(-((xs - mean) / deviation) ** 2 / 2) / (deviation * math.sqrt(2 * math.pi)),
                  color=style.BLACK, linewidth=0.9, gid="normal")
        axes.set_xlim(max(-0.6, mean - _WIDEST * deviation), mean + _WIDEST * deviation)
        return
    # Bins that double, side by side.
    places = [0 if first == 0 else 1 + int(math.log2(first)) for first in bins]
    axes.bar(places, [count / total for count in bins.values()], width=0.9, color=look.colour,
             gid=f"histogram {allocator}")
    every = -(-len(places) // most)  # labels that have room
    axes.set_xticks(places[::every], [_WORDS[name].label(first) for first in list(bins)[::every]])


def _far(run: Run, panels: Sequence[tuple[str, list[str]]], name: str) -> list[str]:
    """What lies beyond the axis: as it is far outside of the distribution, it would squeeze everything else."""
    if name != "pages_found":
        return []
    told = []
    for title, cells in panels:
        for cell in cells:
            mean, deviation = _expected(run, cell)
            far = {value: count for value, count in _bins(run, cell, name).items() if abs(value - mean) > _WIDEST * deviation}
            if far:
                lanes = [f"{32 * value / mean:.0f}" for value in (min(far), max(far))]
                told.append(f"{title}: {sum(far.values())} of {sum(_bins(run, cell, name).values()):,} draws at {min(far)} to {max(far)} "
                            f"pages, more than {_WIDEST} standard deviations from the mean; {' to '.join(dict.fromkeys(lanes))} of the 32 lanes would "
                            "see so many, as if the warp had split")
    return [f"Not shown: {'; '.join(told)}."] if told else []


def _expected(run: Run, cell: str) -> tuple[float, float]:
    """(9) before anything is taken."""
    return theory.corw_drift(1.0, run.settings.at[cell, "free_share"], 0.0)


def _moments_header(name: str) -> list[str]:
    """Bins that double give no moments."""
    return ["mean", "standard deviation", "n p", "sqrt(n p q)"] if name == "pages_found" else []


def _row(run: Run, title: str, cell: str, name: str) -> Sequence[str]:
    bins = _bins(run, cell, name)
    total = sum(bins.values())
    row = [title, labels.allocator(run, run.cells.at[cell, "allocator"]), f"{total:,}"]
    if name != "pages_found":
        return row
    mean = sum(value * count for value, count in bins.items()) / total
    variance = sum(count * (value - mean) ** 2 for value, count in bins.items()) / total
    return row + [f"{value:.2f}" for value in (mean, math.sqrt(variance), *_expected(run, cell))]
