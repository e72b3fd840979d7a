"""This module draws the points of points.py as a picture and a Markdown table. The picture has a mark for each place with a factor,
and the table has every number.
"""

from __future__ import annotations

import functools
from typing import Sequence

import matplotlib
from matplotlib.ticker import LogLocator

from plots.ledger.effects import Estimate
from plots.runs import few_rounds, origin
from plots.runs.results import Run
from plots.sheet import grid, marks, provisional, quantity, style, ticks
from plots.sheet.page import Drawing, Heading, Page
from plots.studies.points import LOST, MET, OPEN, UNMEASURED, Place, Point, configs_of, judge, written

_ROW = 0.3    # least height of a row
_LANE = 0.055  # height of a lane of marks
_APART = 1.06  # factor by which the room of a mark extends to both sides
_NAME = 2.9
_VERDICT = 0.95
_COLOURS = {MET: "#1b7837", LOST: style.WARNING, OPEN: style.GREY}


def drawings(data: dict, runs: Sequence[Run]) -> list[Drawing]:
    wanted = configs_of(data)
    return [drawing(data, judge(data, runs), [run for run in runs if run.name in wanted])]


def drawing(data: dict, points: Sequence[Point], runs: Sequence[Run]) -> Drawing:
    heading = _heading(data, points, runs)
    with matplotlib.rc_context(style.RC):
        page = _draw(heading, points)
    return Drawing(f"{data['allocator']}_points", page, markdown(heading, points))


def _heading(data: dict, points: Sequence[Point], runs: Sequence[Run]) -> Heading:
    verdicts = [point.verdict for point in points]
    counted = ", ".join(f"{verdicts.count(word)} {word}" for word in (MET, LOST, OPEN, UNMEASURED) if word in verdicts)
    caption = [f"{len(points)} points: {counted}. A point is met if its limit is met at all of its settings. A mark is the value divided by that of the best other "
               "allocator at one setting, with its 95 % interval. Left of 1 the value is better than that of all others. The colour of a mark is the verdict about the limit. "
               "Some limits do not refer to the best other allocator."
               + (" If more is better, the factor is inverted." if any(point.higher for point in points) else "")
               + (" No factor: a number is missing, or the best other has 0." if any(len(_lanes(point)) < len(point.places) for point in points if point.verdict != UNMEASURED)
                  else ""),
               few_rounds.MARKED if any(point.few for point in points) else "",
               provisional.HOLLOW if any(place.ratio and place.ratio.provisional for point in points for place in point.places) else "",
               data.get("goal", "")]
    return Heading(data["title"], "", [sentence for sentence in caption if sentence], origin.lines(runs[0])[:1],
                   origin.CPU_BANNER if runs[0].backend == "cpu" else "")


def _draw(heading: Heading, points: Sequence[Point]) -> Page:
    rows = [marks.Row(_height(point), ((0, "\n".join(ticks.wrapped(text, style.LEAST, _NAME - 0.08)[0] for text in (point.name, point.wanted)), style.BLACK),
                             (_NAME, _told(point), _COLOURS.get(point.verdict, style.GREY))), functools.partial(_draw_row, point=point)) for point in points]
    present = [word for word in (MET, LOST, OPEN) if any(place.verdict == word for point in points for place in point.places)]
    page, axes = marks.page(heading, rows, _NAME + _VERDICT, _limits(points), "over the best other allocator", [marks.handle(_look(word), word) for word in present])
    low, high = axes.get_xlim()
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 50 * low else (1,)))
    return page


def _look(verdict: str) -> style.Look:
    return style.Look("", _COLOURS[verdict], "o")


def _told(point: Point) -> str:
    if point.verdict == UNMEASURED:
        return UNMEASURED
    met = sum(place.verdict == MET for place in point.places)
    verdict = f"{point.verdict} {few_rounds.MARK}" if point.few else point.verdict
    return f"{verdict}\n(met at {met} of {len(point.places)})" if len(point.places) > 1 else verdict


def _lanes(point: Point) -> list[tuple[int, Place, Estimate]]:
    """Returns the marks of a row with their lanes. The marks of a lane and their intervals do not touch each other."""
    ends: list[float] = []  # right end of the last mark in each lane
    made = []
    for place, ratio in sorted(((place, ratio) for place in point.places if (ratio := point.worse(place))), key=lambda each: _span(each[1])):
        low, high = _span(ratio)
        lane = next((number for number, end in enumerate(ends) if low > end), len(ends))
        ends[lane:lane + 1] = [high]
        made.append((lane, place, ratio))
    return made


def _span(ratio: Estimate) -> tuple[float, float]:
    """Returns the room of a mark with its interval on the axis."""
    low, high = _ends(ratio)
    return min(low, ratio.number / _APART), max(high, ratio.number * _APART)


def _ends(ratio: Estimate) -> tuple[float, float]:
    """Returns the ends of the interval, or the number itself for an end that the axis cannot show."""
    return ratio.low if ratio.low and ratio.low > 0 else ratio.number, ratio.high if ratio.high else ratio.number


def _height(point: Point) -> float:
    return max(_ROW, _LANE * (3 + max((lane for lane, *_ in _lanes(point)), default=0)))


def _draw_row(axes, top: float, point: Point) -> None:
    shown = _lanes(point)
    middle = top + _height(point) / 2 - _LANE * max((lane for lane, *_ in shown), default=0) / 2
    for lane, place, ratio in shown:
        marks.draw(axes, middle + _LANE * lane, ratio, _look(place.verdict), 3)
    lacking = len(point.places) - len(shown)
    if lacking and point.verdict != UNMEASURED:
        told = "no factor" if lacking == len(point.places) else f"{lacking} of {len(point.places)} without a factor"
        axes.text(0.005, top + _height(point) / 2, told, transform=axes.get_yaxis_transform(), fontsize=style.LEAST, va="center", color=style.GREY, gid="lacking")


def _limits(points: Sequence[Point]) -> tuple[float, float]:
    """Returns limits on both sides of 1. They cover the numbers with their intervals, and at least 0.5 to 2."""
    spans = [_ends(ratio) for point in points for place in point.places if (ratio := point.worse(place))]
    return min(0.5, *(0.9 * low for low, _ in spans), 0.5), max(2.0, *(1.1 * high for _, high in spans), 2.0)


def markdown(heading: Heading, points: Sequence[Point]) -> str:
    def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        return grid.markdown(grid.Grid(header, rows, aligned_left=len(header)))

    by_point = table(["point", "limit", "verdict", "met at", "at worst", "this", "best other", "over it", "reason"], [_row(point) for point in points])
    by_setting = table(["point", "at", "this", "best other", "its value", "over it", "over the limit", "verdict"],
                       [[point.name, *_place_row(point, place)] for point in points for place in point.places if place.verdict != UNMEASURED or place.at])
    return heading.markdown(["## By point", by_point, "## At every setting", by_setting], caption_first=True)


def _row(point: Point) -> list[str]:
    worst = point.worst()
    met = sum(place.verdict == MET for place in point.places)
    return [point.name, point.wanted, _verdict(point.verdict, point.few), "–" if point.verdict == UNMEASURED else f"{met} of {len(point.places)}", worst.at or "–",
            written(point, worst.own), f"{worst.rival} {written(point, worst.theirs)}" if worst.theirs else "–", _factor(worst.ratio), point.reason()]


def _place_row(point: Point, place: Place) -> list[str]:
    return [place.at or "–", written(point, place.own), place.rival or "–", written(point, place.theirs), _factor(place.ratio), _factor(place.margin),
            _verdict(place.verdict, place.why or few_rounds.sentence([place.rounds]))]


def _verdict(word: str, more: str) -> str:
    return f"{word} ({more})" if more else word


def _factor(ratio: Estimate | None) -> str:
    if ratio is None:
        return "–"
    text = provisional.marked(f"{ratio.number:.3g}", ratio.provisional)
    return text if ratio.low is None or ratio.high is None else quantity.with_interval(text, ratio.number, ratio.low, ratio.high)
