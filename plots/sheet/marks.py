"""This module draws rows of marks on one axis of factors, with words on the left. A mark shows a number with its interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Sequence

from matplotlib.lines import Line2D

from plots.sheet import provisional, style
from plots.sheet.page import BODY_WIDTH, Heading, Page

_AXIS = 0.42
_LEGEND = 0.22
_RIGHT = 0.12  # room to the right of the axis for its last number


@dataclass(frozen=True)
class Row:
    """A row has words and marks.

    Each entry of `words` has the inches from the left, the text and the colour. `draw` gets the axes and the top of the
    row, in inches below the first row's top.
    """

    height: float
    words: Sequence[tuple[float, str, str]]
    draw: Callable[..., None]


def page(heading: Heading, rows: Sequence[Row], left: float, limits: tuple[float, float], label: str, handles: Sequence, one: bool = True):
    """Returns the page and its axes, which begin `left` inches from the left. `one` adds a line at the factor 1."""
    height = sum(row.height for row in rows)
    made = Page(heading, height + _AXIS + _LEGEND)
    axes = made.axes(left, _AXIS, BODY_WIDTH - left - _RIGHT, height)
    axes.set_xscale("log")
    axes.set_xlim(*limits)
    axes.set_ylim(height, 0)
    if one:
        axes.axvline(1, color=style.GREY, linewidth=0.7, zorder=1)
    top = 0.0
    for row in rows:
        axes.axhline(top, color=style.LIGHT, linewidth=0.4, zorder=0)
        row.draw(axes, top)
        for begin, text, colour in row.words:
            made.figure.text(*made.point(begin, _AXIS + height - top - row.height / 2), text, fontsize=style.LEAST, va="center", color=colour, linespacing=1.05)
        top += row.height
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(label)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    axes.xaxis.set_minor_formatter(lambda value, _: "")
    if handles:
        made.figure.legend(handles=handles, loc="upper right", ncols=len(handles), borderaxespad=0, bbox_to_anchor=made.point(BODY_WIDTH, made.body_height))
    return made, axes


def handle(look: style.Look, label: str, size: float | None = 4) -> Line2D:
    return Line2D([], [], color=look.colour, marker=look.marker, fillstyle=look.fill, markerfacecoloralt="white", markersize=size, linestyle="none", label=label)


def draw(axes, y: float, estimate, look: style.Look, size: float, width: float = 0.8, gid: str = "", beyond: bool = False) -> None:
    """Draws a number (with `number`, `low`, `high` and `provisional`) and its interval, cut off at the ends of the
    axis.

    With `beyond`, a triangle at the end of the axis shows a number outside of it.
    """
    least, most = axes.get_xlim()
    at = min(max(estimate.number, least), most)
    if estimate.low is not None and estimate.high is not None and estimate.low > 0:
        axes.plot([max(estimate.low, least), min(estimate.high, most)], [y, y], color=look.colour, linewidth=width, zorder=2)
    beyond = beyond and at != estimate.number
    if estimate.provisional and not beyond:
        provisional.draw(axes, [at], [y], look, 4.5, zorder=3, clip_on=False, gid=f"provisional {gid}")
        return
    axes.plot(at, y, marker=look.marker if not beyond else "<" if estimate.number < at else ">", fillstyle=look.fill, color=look.colour, markerfacecoloralt="white",
              markersize=size, zorder=3, clip_on=False, gid=gid)
