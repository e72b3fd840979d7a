"""This module splits a figure with too many curves into several pictures.

The first picture of a paper's figure has published forms in the order of the config, or other forms if there are none.
It has at most as many curves as the paper draws (`curves` of the plot, else eight). The other pictures have the rest,
and each repeats the first curve of the first picture as a yardstick. A figure that belongs to no paper has all forms in
the order of the config.
"""

from __future__ import annotations

import math
from typing import Sequence

from plots.figures.model.series import Series
from plots.runs import forms

MOST = 8


def of(drawn: Sequence[Sequence[Series]], most: int, of_paper: bool) -> list[list[str]]:
    """Returns the labels of each picture. Series without any value do not count as curves, and stay in the picture of
    their neighbours.
    """
    labels = list(dict.fromkeys(series.label for panel in drawn for series in panel))
    valued = {series.label for panel in drawn for series in panel if len(series.drawn())}
    if max((len({series.label for series in panel} & valued) for panel in drawn), default=0) <= most:
        return [labels]
    ids = {series.label: series.allocator for panel in drawn for series in panel}
    first = [label for label in labels if forms.form_of(ids[label]) == forms.PUBLISHED] if of_paper else labels
    later = [label for label in labels if label not in first]
    head = _taken(first or later, most, valued)
    rest = [label for label in first + later if label not in head]
    room = most - 1
    count = math.ceil(sum(label in valued for label in rest) / room)
    parts, each = [head], math.ceil(sum(label in valued for label in rest) / count) if count else 0
    while rest and each:
        taken = _taken(rest, each, valued)
        parts.append([head[0], *taken])
        rest = rest[len(taken):]
    parts[-1] += rest
    return parts


def sentence(parts: Sequence[Sequence[str]], number: int, alone: Sequence[int] = ()) -> str:
    """Returns the sentence that numbers a picture of the figure, or an empty text if the figure has only one. The pictures
    `alone` have y axes of their own.
    """
    if len(parts) == 1:
        return ""
    yardstick = f", and {parts[0][0]} is repeated for comparison" if number > 1 else ""
    axes = "this one has a y axis of its own" if number in alone else \
        f"all but picture{'s' if len(alone) > 1 else ''} {' and '.join(map(str, alone))} have the same axes" if alone else "all have the same axes"
    return f"Picture {number} of {len(parts)} of this figure, whose curves do not fit into one picture; {axes}{yardstick}."


def _taken(labels: Sequence[str], most: int, valued: set[str]) -> list[str]:
    """Returns the first labels, of which at most `most` have a value."""
    taken: list[str] = []
    for label in labels:
        if label in valued and sum(each in valued for each in taken) == most:
            break
        taken.append(label)
    return taken
