"""This module separates curves that coincide.

The markers of such curves are drawn side by side. Below the line of a curve, a wider line in the colour of another
curve shows that both are there. Markers keep their height, and lines keep their place.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Sequence

from plots.figures.model.series import Series

_STEP = 4.4      # points between the markers of neighbours in a bundle
_FARTHEST = 3.0  # greatest distance of a marker from its position, in points: with its radius, less than the margin of the axis
_WIDER = 1.1     # points by which a line is wider than the next line of its bundle
_WIDEST = 3.6


@dataclass(frozen=True)
class Rule:
    near: float  # distance on paper, in points, within which two series coincide
    most: float  # share of their common positions at which two series must coincide


LINES = Rule(near=1.8, most=0.6)
MARKERS = Rule(near=3.0, most=0.2)  # a marker hides one below it, so fewer coincidences matter


@dataclass(frozen=True)
class Move:
    """A move says how far the marks of one series move, in points."""

    aside: float = 0.0  # move of the markers to the right
    wider: float = 0.0  # extra width of the line below the series' own line


def moves(all_series: Sequence[Series], bounds: tuple[float, float], log: bool, height: float, spacing: float = math.inf, rule: Rule = LINES) -> list[Move]:
    """Returns one move for each series.

    `height` is the height of the axes in inches. `spacing` is the usual distance between two positions in points. The
    markers of a position take less than half of it on either side.
    """
    places = [_places(series, bounds, log, height * 72) for series in all_series]
    bundle = list(range(len(places)))
    for one in range(len(places)):
        for other in range(one):
            if _coincide(places[one], places[other], rule):
                old, new = bundle[one], bundle[other]
                bundle = [new if each == old else each for each in bundle]
    return [_of_member(number, [i for i, each in enumerate(bundle) if each == own], spacing) for number, own in enumerate(bundle)]


def _of_member(number: int, members: Sequence[int], spacing: float) -> Move:
    steps = max(1, len(members) - 1)
    step = min(_STEP, 2 * min(_FARTHEST, 0.4 * spacing) / steps)
    return Move(step * (members.index(number) - (len(members) - 1) / 2), min(_WIDER, _WIDEST / steps) * (len(members) - 1 - members.index(number)))


def _places(series: Series, bounds: tuple[float, float], log: bool, points: float) -> dict[float, float]:
    scale = (lambda y: math.log(y) if y > 0 else -math.inf) if log else float
    low, high = scale(bounds[0]), scale(bounds[1])
    return {x: points * (scale(y) - low) / (high - low) for x, y in zip(series.points["x"], series.points["value"])
            if not math.isnan(y)}


def _coincide(one: dict[float, float], other: dict[float, float], rule: Rule) -> bool:
    common = [x for x in one if x in other]
    near = sum(abs(one[x] - other[x]) < rule.near for x in common)
    return len(common) > 1 and near >= rule.most * len(common)
