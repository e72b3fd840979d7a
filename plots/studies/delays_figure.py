"""This module draws the slopes of delays.py as a picture and a Markdown table, with a row per application and phase and a mark per
allocator.
"""

from __future__ import annotations

import functools
import itertools
from typing import Sequence

import matplotlib

from plots.ledger.effects import Estimate
from plots.runs import origin
from plots.runs.results import Run
from plots.sheet import grid, marks, provisional, quantity, style, ticks
from plots.sheet.page import Drawing, Heading, Page
from plots.studies import delays
from plots.studies.delays import STEP, Slope

_ROW = 0.26
_NAME = 2.7
_LEAST = 1e-3  # greatest share at the left edge of the axis: a tenth of a percent


def drawing(runs: Sequence[Run]) -> Drawing:
    slopes = delays.slopes(runs)
    used = [run for run in runs if delays.is_about_waits(run)]
    heading = _heading(slopes, used[0])
    with matplotlib.rc_context(style.RC):
        page = _draw(heading, slopes)
    return Drawing(f"delay_{used[0].backend}", page, markdown(heading, slopes))


def _heading(slopes: Sequence[Slope], run: Run) -> Heading:
    unit = "steps of the executor" if run.backend == "cpu" else "cycles"
    caption = [f"A mark is the share of the time without waits that {STEP:,} {unit} of waiting in every call add. It follows from the slope of a straight line through "
               "the times of all waits. The bars are its 95 % interval: the interval of the line, or that of the times if it is wider. If each "
               f"call is {STEP:,} {unit} shorter, the application saves about this share of the time.",
               "A mark at the left edge means that the interval includes 0, so no dependence is seen. A row without a mark has no time without waits, or too few times. "
               "The table has the statuses."]
    if any(each.provisional for each in slopes):
        caption.append(f"{provisional.HOLLOW} {provisional.MARKED}")
    return Heading("How much does an application depend on its allocator?", "", caption, origin.lines(run)[:1],
                   origin.CPU_BANNER if run.backend == "cpu" else "")


def _rows(slopes: Sequence[Slope]) -> list[tuple[str, list[Slope]]]:
    named = [(f"{each.application}: {quantity.phase_name(each.phase)}, every {each.call} waits", each) for each in slopes]
    return [(name, [each for _, each in group]) for name, group in itertools.groupby(named, key=lambda pair: pair[0])]


def _draw(heading: Heading, slopes: Sequence[Slope]) -> Page:
    rows = [marks.Row(_ROW, ((0, "\n".join(ticks.wrapped(name, style.LEAST, _NAME - 0.08)), style.BLACK),), functools.partial(_draw_row, beside=beside)) for name, beside in _rows(slopes)]
    looks = {each.label: each.look for each in slopes}
    page, axes = marks.page(heading, rows, _NAME, _limits(slopes), f"added by {STEP:,} cycles per call, of the time without waits",
                            [marks.handle(look, label) for label, look in looks.items()], one=False)
    axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:,g} %")
    return page


def _draw_row(axes, top: float, beside: Sequence[Slope]) -> None:
    for place, each in enumerate(beside):
        middle, share, least = top + _ROW * (place + 1) / (len(beside) + 1), each.share, axes.get_xlim()[0]
        if share is None:
            continue
        if each.seen or share.low is None:
            marks.draw(axes, middle, share, each.look, 4, gid=f"share {each.label}")
            continue
        axes.plot(least, middle, marker="<", color=each.look.colour, fillstyle=each.look.fill, markerfacecoloralt="white", markersize=4, zorder=3, clip_on=False,
                  gid=f"unseen {each.label}")
        if share.high > least:
            axes.plot([least, share.high], [middle, middle], color=each.look.colour, linewidth=0.8, zorder=2)


def _limits(slopes: Sequence[Slope]) -> tuple[float, float]:
    """Returns limits around 0.1 % to 1 %, and around all shares and ends of intervals above 0.01 %."""
    shares = [each.share for each in slopes if each.share]
    numbers = [number for share in shares for number in (share.number, share.low, share.high) if number is not None and number > _LEAST / 10]
    return min([_LEAST, *(0.8 * number for number in numbers)]), max([10 * _LEAST, *(1.25 * number for number in numbers)])


def markdown(heading: Heading, slopes: Sequence[Slope]) -> str:
    header = ["application", "phase", "waits", "allocator", "time without waits", f"{STEP:,} cycles add", "of that time", "calls in a row", "off the line", "points"]
    explained = ("`calls in a row` is the slope times the clock rate during the samples: so many calls follow one another on the way to the result. `off the line` is the "
                 "distance of the farthest point from the line, divided by the time without waits. If it is large, other waits cost more or less than the line says.")
    return heading.markdown([explained, grid.markdown(grid.Grid(header, [_row(each) for each in slopes], aligned_left=4))], caption_first=True)


def _row(each: Slope) -> list[str]:
    added = each.slope.times(STEP) if each.slope else None
    counted = f"{each.points}" + (f" ({', '.join(each.without)})" if each.without else "")
    base = provisional.marked(quantity.in_si(each.base, "s"), each.provisional) if each.base is not None else "–"
    return [each.application, each.phase, each.call, each.label, base,
            _told(added, lambda value: quantity.in_si(value, "s")), _told(each.share, lambda value: f"{quantity.count(100 * value)} %"),
            _told(each.in_a_row, quantity.count), f"{100 * each.off_line:.2g} %" if each.off_line is not None else "–", counted]


def _told(number: Estimate | None, write) -> str:
    if number is None:
        return "–"
    return write(number.number) if number.low is None else f"{write(number.number)} ({write(number.low)} to {write(number.high)})"
