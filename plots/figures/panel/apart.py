"""This module moves markers apart and widens lines, where curves would cover each other in a picture.

The markers of curves that coincide are drawn side by side at every position. Below the line of a curve, a wider line in the
colour of another curve shows that both are there. Markers without lines are drawn side by side only at the positions
where they would cover each other. Markers keep their height, and lines keep their place.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from typing import Mapping, Sequence

from plots.figures.model.series import Series

_STEP = 4.4      # points between the markers of neighbours in a bundle
_FREE_STEP = 6.0  # the same if the markers have a column of their own, so that no marker touches another
_FARTHEST = 3.0  # greatest distance of a marker from its position, in points; distance and radius together are less than the axis's margin
_WIDER = 1.1     # points by which a line is wider than the next line of its bundle
_WIDEST = 2.2    # wider bundles would look like intervals


@dataclass(frozen=True)
class Rule:
    near: float  # distance on paper, in points, within which two series coincide
    most: float  # share of their common positions at which two series must coincide


_LINES = Rule(near=1.8, most=0.6)
_MARKERS = Rule(near=3.0, most=0.2)  # markers hide each other, so a fifth of the positions is enough
_TOUCH = 4.4  # distance of two heights in points below which one marker covers a part of the other


@dataclass(frozen=True)
class Move:
    """A move says how far the marks of one series move, in points."""

    aside: float = 0.0  # move of all markers to the right
    wider: float = 0.0  # extra width of the line below the series' own line
    at: Mapping[float, float] = field(default_factory=dict)  # move of the markers of single positions to the right

    def right(self, x: float) -> float:
        return self.at.get(x, self.aside)

    def __bool__(self) -> bool:
        return bool(self.aside or self.wider or any(self.at.values()))


def moves(all_series: Sequence[Series], bounds: tuple[float, float], log: bool, height: float, spacing: float = math.inf) -> list[Move]:
    """Returns one move for each series. A series without a line, such as a single point, joins the first bundle that
    its markers meet.

    `height` is the height of the axes in inches. `spacing` is the usual distance between two positions in points. The
    markers of a position take less than half of this distance on either side.
    """
    places = [_places(series, bounds, log, height * 72) for series in all_series]
    bundle = list(range(len(places)))
    lined = [number for number, each in enumerate(all_series) if _has_line(each)]
    for one, other in itertools.combinations(lined, 2):
        if _coincide(places[other], places[one], _LINES):
            old, new = bundle[other], bundle[one]
            bundle = [new if each == old else each for each in bundle]
    for one in sorted(set(bundle) - set(lined)):
        met = next((other for other in (*lined, *range(one)) if other != one and _coincide(places[one], places[other], _MARKERS, 1)), one)
        bundle[one] = bundle[met]
    return [_of_member(number, [i for i, each in enumerate(bundle) if each == own], spacing) for number, own in enumerate(bundle)]


def of_markers(all_series: Sequence[Series], bounds: tuple[float, float], log: bool, height: float, spacing: float = math.inf, farthest: float = _FARTHEST) -> list[Move]:
    """Returns one move for each series of a panel without lines. Only markers that would cover each other move, and no
    farther than `farthest` points.
    """
    places = [_places(series, bounds, log, height * 72) for series in all_series]
    asides: list[dict[float, float]] = [{} for _ in places]
    for x in {x for each in places for x in each}:
        for chain in _chains(sorted((each[x], number) for number, each in enumerate(places) if x in each)):
            count = 1 + max(lane for _, lane in chain)
            step = min(_STEP if farthest < math.inf else _FREE_STEP, 2 * min(farthest, 0.4 * spacing) / max(1, count - 1))
            for number, lane in chain:
                asides[number][x] = step * (lane - (count - 1) / 2)
    return [Move(at={x: aside for x, aside in each.items() if aside}) for each in asides]


def _chains(heights: Sequence[tuple[float, int]]) -> list[list[tuple[int, int]]]:
    """Groups the markers of a position, given as sorted pairs of height and number, so that markers of different groups do not
    touch. Returns pairs of number and lane, where markers in one lane do not touch either.
    """
    made: list[list[tuple[int, int]]] = []
    tops: list[float] = []  # height of the last marker in each lane of the last group
    for height, number in heights:
        if not tops or height - max(tops) >= _TOUCH:
            made.append([])
            tops = []
        lane = next((lane for lane, top in enumerate(tops) if height - top >= _TOUCH), len(tops))
        tops[lane:lane + 1] = [height]
        made[-1].append((number, lane))
    return made


def _of_member(number: int, members: Sequence[int], spacing: float) -> Move:
    steps = max(1, len(members) - 1)
    step = min(_STEP, 2 * min(_FARTHEST, 0.4 * spacing) / steps)
    return Move(step * (members.index(number) - (len(members) - 1) / 2), min(_WIDER, _WIDEST / steps) * (len(members) - 1 - members.index(number)))


def _places(series: Series, bounds: tuple[float, float], log: bool, points: float) -> dict[float, float]:
    scale = (lambda y: math.log(y) if y > 0 else -math.inf) if log else float
    low, high = scale(bounds[0]), scale(bounds[1])
    return {x: points * (scale(y) - low) / (high - low) for x, y in zip(series.points["x"], series.points["value"])
            if not math.isnan(y)}


def _has_line(series: Series) -> bool:
    """Returns whether two neighbouring points have values, so that a line joins them."""
    return any(not math.isnan(before) and not math.isnan(after) for before, after in itertools.pairwise(series.points["value"]))


def _coincide(one: dict[float, float], other: dict[float, float], rule: Rule, least: int = 2) -> bool:
    common = [x for x in one if x in other]
    near = sum(abs(one[x] - other[x]) < rule.near for x in common)
    return len(common) >= least and near >= rule.most * len(common)
