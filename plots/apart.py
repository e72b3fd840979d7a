"""Moves curves that coincide apart, so that each can be seen: by points on paper, never in the data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Sequence

from plots.series import Series

@dataclass(frozen=True)
class Rule:
    near: float      # points on paper within which two series coincide
    most: float      # share of their common positions at which they must
    step: float      # points that neighbours of a bundle are moved apart
    farthest: float
    upwards: bool    # as well as to the right


LINES = Rule(near=1.8, most=0.6, step=1.8, farthest=3.6, upwards=True)
MARKERS = Rule(near=3.0, most=0.2, step=4.4, farthest=4.4, upwards=False)  # beside each other, as a marker hides one below


def offsets(all_series: Sequence[Series], bounds: tuple[float, float], log: bool, height: float, fixed: str = "", rule: Rule = LINES) -> list[tuple[float, float]]:
    """For each series, by how many points to the right and up it is drawn; `height` of the axes is in inches. The allocator
    `fixed`, to which others are relative, stays on its line."""
    places = [{} if series.allocator == fixed else _places(series, bounds, log, height * 72) for series in all_series]
    bundle = list(range(len(places)))
    for one in range(len(places)):
        for other in range(one):
            if _coincide(places[one], places[other], rule):
                old, new = bundle[one], bundle[other]
                bundle = [new if each == old else each for each in bundle]
    made = []
    for number, own in enumerate(bundle):
        members = [i for i, each in enumerate(bundle) if each == own]
        step = min(rule.step, 2 * rule.farthest / max(1, len(members) - 1))
        moved = step * (members.index(number) - (len(members) - 1) / 2)
        made.append((moved, moved if rule.upwards else 0.0))
    return made


def _places(series: Series, bounds: tuple[float, float], log: bool, points: float) -> dict[float, float]:
    scale = (lambda y: math.log(y) if y > 0 else -math.inf) if log else float
    low, high = scale(bounds[0]), scale(bounds[1])
    return {x: points * (scale(y) - low) / (high - low) for x, y in zip(series.points["x"], series.points["value"])
            if not math.isnan(y)}


def _coincide(one: dict[float, float], other: dict[float, float], rule: Rule) -> bool:
    common = [x for x in one if x in other]
    near = sum(abs(one[x] - other[x]) < rule.near for x in common)
    return len(common) > 1 and near >= rule.most * len(common)
