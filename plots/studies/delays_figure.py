"""The slopes of plots/delays.py as a picture and a Markdown table: a row per application and phase, a mark per allocator."""

from __future__ import annotations

import itertools
from typing import Sequence

import matplotlib
from matplotlib.lines import Line2D

from plots.runs import origin
from plots.runs.results import Run
from plots.sheet import grid, provisional, quantity, style, ticks
from plots.sheet.page import BODY_WIDTH, Drawing, Heading, Page
from plots.studies import delays
from plots.studies.delays import STEP, Bounded, Slope

_ROW = 0.26
_NAME = 2.7
_AXIS = 0.42
_LEGEND = 0.22
_LEAST = 1e-3  # share at the left edge of the axis at most: a tenth of a percent


def drawing(runs: Sequence[Run]) -> Drawing:
    slopes = delays.slopes(runs)
    heading = _heading(slopes, [run for run in runs if delays.is_about_waits(run)])
    with matplotlib.rc_context(style.RC):
        page = _draw(heading, slopes)
    return Drawing(f"delay_{_backend(runs)}", page, markdown(heading, slopes))


def _backend(runs: Sequence[Run]) -> str:
    return next(run.backend for run in runs if delays.is_about_waits(run))


def _heading(slopes: Sequence[Slope], runs: Sequence[Run]) -> Heading:
    unit = "steps of the executor" if _backend(runs) == "cpu" else "cycles"
    caption = [f"What {STEP:,} {unit} of waiting in every call add to the time without waits: the slope of a straight line through all waits, over the time "
               "without. The bars are its 95 % interval: of the line, or of the times if that is wider. An allocator whose calls take so much less would save "
               "about as much.",
               "A mark at the left edge: the interval includes 0, so no dependence is seen. No mark: no time without waits, or too few times; the table has the statuses."]
    if any(each.provisional for each in slopes):
        caption.append(f"{provisional.HOLLOW} {provisional.MARKED}")
    return Heading("How much does an application depend on its allocator?", "", caption, origin.lines(runs[0])[:1],
                   origin.CPU_BANNER if _backend(runs) == "cpu" else "")


def _rows(slopes: Sequence[Slope]) -> list[tuple[str, list[Slope]]]:
    named = [(f"{each.application}: {each.phase.replace('_', ' ')}, every {each.call} waits", each) for each in slopes]
    return [(name, [each for _, each in group]) for name, group in itertools.groupby(named, key=lambda pair: pair[0])]


def _draw(heading: Heading, slopes: Sequence[Slope]) -> Page:
    rows = _rows(slopes)
    height = _ROW * len(rows)
    page = Page(heading, height + _AXIS + _LEGEND)
    axes = page.axes(_NAME, _AXIS, BODY_WIDTH - _NAME - 0.12, height)
    limits = _limits(slopes)
    axes.set_xscale("log")
    axes.set_xlim(*limits)
    axes.set_ylim(height, 0)
    for number, (name, beside) in enumerate(rows):
        top = _ROW * number
        axes.axhline(top, color=style.LIGHT, linewidth=0.4, zorder=0)
        for place, each in enumerate(beside):
            _draw_mark(axes, each, top + _ROW * (place + 1) / (len(beside) + 1), limits)
        page.figure.text(*page.point(0, _AXIS + height - top - _ROW / 2), "\n".join(ticks.wrapped(name, style.LEAST, _NAME - 0.08)), fontsize=style.LEAST,
                         va="center", linespacing=1.05)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(f"added by {STEP:,} cycles per call, of the time without waits")
    axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:,g} %")
    axes.xaxis.set_minor_formatter(lambda value, _: "")
    looks = {each.label: each.look for each in slopes}
    handles = [Line2D([], [], color=look.colour, marker=look.marker, fillstyle=look.fill, markerfacecoloralt="white", markersize=4, linestyle="none", label=label)
               for label, look in looks.items()]
    page.figure.legend(handles=handles, loc="upper right", ncols=len(handles), borderaxespad=0, bbox_to_anchor=page.point(BODY_WIDTH, page.body_height))
    return page


def _draw_mark(axes, each: Slope, middle: float, limits: tuple[float, float]) -> None:
    share = each.share
    if share is None:
        return
    least, most = limits
    look = {"color": each.look.colour, "fillstyle": each.look.fill, "markerfacecoloralt": "white", "markersize": 4, "zorder": 3, "clip_on": False}
    if not each.seen and share.low is not None:
        axes.plot(least, middle, marker="<", gid=f"unseen {each.label}", **look)
        if share.high > least:
            axes.plot([least, share.high], [middle, middle], color=each.look.colour, linewidth=0.8, zorder=2)
        return
    if each.provisional:
        provisional.draw(axes, [min(max(share.value, least), most)], [middle], each.look, 4.5, zorder=3, clip_on=False, gid=f"provisional {each.label}")
        return
    if share.low is not None:
        axes.plot([max(share.low, least), min(share.high, most)], [middle, middle], color=each.look.colour, linewidth=0.8, zorder=2)
    axes.plot(min(max(share.value, least), most), middle, marker=each.look.marker, gid=f"share {each.label}", **look)


def _limits(slopes: Sequence[Slope]) -> tuple[float, float]:
    """Around all shares that are seen and all ends of intervals above zero."""
    shares = [each.share for each in slopes if each.share]
    numbers = [number for share in shares for number in (share.value, share.low, share.high) if number is not None and number > _LEAST / 10]
    return min([_LEAST, *(0.8 * number for number in numbers)]), max([10 * _LEAST, *(1.25 * number for number in numbers)])


def markdown(heading: Heading, slopes: Sequence[Slope]) -> str:
    header = ["application", "phase", "waits", "allocator", "time without waits", f"{STEP:,} cycles add", "of that time", "calls in a row", "off the line", "points"]
    explained = ("Calls in a row: the slope times the clock during the samples, so many calls follow one another on the way to the result. Off the line: how far the "
                 "farthest point lies from it, over the time without waits; where that is much, waits of other lengths cost more or less than the line says.")
    return heading.markdown([explained, grid.markdown(grid.Grid(header, [_row(each) for each in slopes], aligned_left=4))], caption_first=True)


def _row(each: Slope) -> list[str]:
    added = each.slope.times(STEP) if each.slope else None
    counted = f"{each.points}" + (f" ({', '.join(each.without)})" if each.without else "")
    base = provisional.marked(quantity.in_si(each.base, "s"), each.provisional) if each.base is not None else "–"
    return [each.application, each.phase, each.call, each.label, base,
            _told(added, lambda value: quantity.in_si(value, "s")), _told(each.share, lambda value: f"{quantity.count(100 * value)} %"),
            _told(each.in_a_row, quantity.count), f"{100 * each.off_line:.2g} %" if each.off_line is not None else "–", counted]


def _told(number: Bounded | None, write) -> str:
    if number is None:
        return "–"
    return write(number.value) if number.low is None else f"{write(number.value)} ({write(number.low)} to {write(number.high)})"
