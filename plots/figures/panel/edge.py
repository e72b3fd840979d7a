"""This module draws values beyond the limits of an axis as triangles at its edge, with their numbers."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Callable, Sequence

from plots.figures.model.series import Series
from plots.sheet import style, ticks

_AWAY = 0.015      # distance of a triangle from the edge, as a share of the height of the axes
_ASIDE = 6         # distance of a number from its triangle, in points
_LINE = 8          # height of a line of numbers, in points
_MOST_LINES = 2    # most lines for the numbers of a series, so that they do not fill the panel


@dataclass(frozen=True)
class Number:
    """A number is written beside its triangle. `line` counts from the edge; `start` and `end` are shares of the width
    of the axes.
    """

    text: str
    x: float
    above: bool
    to_left: bool
    line: int
    start: float
    end: float


def draw(axes, series: Series, aside: float, bounds: tuple[float, float], write: Callable[[float], str], taken: list[Number]) -> None:
    """Draws the triangles and numbers of a series, and adds the numbers to `taken`.

    Numbers do not overlap those in `taken`. If the numbers need too many lines, their range is written instead.
    """
    low, high = bounds
    points = list(zip(series.drawn()["x"] + aside, series.drawn()["value"]))
    for above in (True, False):
        past = [(x, value) for x, value in points if (value > high if above else value < low)]
        for x, _ in past:
            axes.plot([x], [_edge(above)], transform=axes.get_xaxis_transform(), marker="^" if above else "v", clip_on=False,
                      color=series.look.colour, markersize=5, linestyle="none", gid=f"beyond {series.label}")
        numbers = _placed(axes, [(x, write(value)) for x, value in past], above, taken)
        if len({number.line for number in numbers}) > _MOST_LINES:
            values = [value for _, value in past]
            told = f"{write(min(values))} to {write(max(values))}"
            numbers = _placed(axes, [(past[0][0], told)], above, taken)
            if numbers[0].to_left:
                numbers = _placed(axes, [(past[-1][0], told)], above, taken)
        taken += numbers
        for number in numbers:
            _write(axes, number, series.look.colour)


def _edge(above: bool) -> float:
    return 1 - _AWAY if above else _AWAY


def _placed(axes, texts: Sequence[tuple[float, str]], above: bool, taken: Sequence[Number]) -> list[Number]:
    """Places each number beside its triangle, on the first free line from the edge."""
    made: list[Number] = []
    for x, text in texts:
        place = axes.transAxes.inverted().transform(axes.transData.transform((x, axes.get_ylim()[1])))[0]
        width = (ticks.text_width(text, style.LEAST) + 0.1) / (axes.get_position().width * style.WIDTH)
        to_left = place + width > 1  # the other side has no room
        start, end = (place - width, place) if to_left else (place, place + width)
        others = [other for other in (*taken, *made) if other.above == above and start < other.end and other.start < end]
        line = next(line for line in itertools.count() if all(other.line != line for other in others))
        made.append(Number(text, x, above, to_left, line, start, end))
    return made


def _write(axes, number: Number, colour: str) -> None:
    lines = 1 + _LINE * number.line
    axes.annotate(number.text, (number.x, _edge(number.above)), xycoords=axes.get_xaxis_transform(),
                  xytext=(-_ASIDE if number.to_left else _ASIDE, -lines if number.above else lines), textcoords="offset points",
                  fontsize=style.LEAST, color=colour, va="top" if number.above else "bottom", ha="right" if number.to_left else "left",
                  gid="number beyond", bbox={"facecolor": "white", "alpha": 0.75, "linewidth": 0, "pad": 0.4})
