"""Moves curves that coincide apart, so that each can be seen: by points on paper, never in the data."""

from __future__ import annotations

import math
from typing import Sequence

from plots.series import Series

_NEAR = 1.8   # points on paper within which two curves coincide
_MOST = 0.6   # share of their common positions at which they must
_MOST_OF_MARKERS = 0.2
_STEP = 1.8   # points that neighbours of a bundle are moved apart
_FARTHEST = 3.6


def offsets(all_series: Sequence[Series], bounds: tuple[float, float], log: bool, height: float, fixed: str = "", joined: bool = True) -> list[float]:
    """For each series, by how many points to the right and up it is drawn; `height` of the axes is in inches. The allocator
    `fixed`, to which others are relative, stays on its line. Markers that no line joins coincide sooner."""
    places = [{} if series.allocator == fixed else _places(series, bounds, log, height * 72) for series in all_series]
    bundle = list(range(len(places)))
    for one in range(len(places)):
        for other in range(one):
            if _coincide(places[one], places[other], _MOST if joined else _MOST_OF_MARKERS):
                old, new = bundle[one], bundle[other]
                bundle = [new if each == old else each for each in bundle]
    made = []
    for number, own in enumerate(bundle):
        members = [i for i, each in enumerate(bundle) if each == own]
        step = min(_STEP, 2 * _FARTHEST / max(1, len(members) - 1))
        made.append(step * (members.index(number) - (len(members) - 1) / 2))
    return made


def _places(series: Series, bounds: tuple[float, float], log: bool, points: float) -> dict[float, float]:
    scale = (lambda y: math.log(y) if y > 0 else -math.inf) if log else float
    low, high = scale(bounds[0]), scale(bounds[1])
    return {x: points * (scale(y) - low) / (high - low) for x, y in zip(series.points["x"], series.points["value"])
            if not math.isnan(y)}


def _coincide(one: dict[float, float], other: dict[float, float], most: float) -> bool:
    common = [x for x in one if x in other]
    near = sum(abs(one[x] - other[x]) < _NEAR for x in common)
    return len(common) > 1 and near >= most * len(common)
