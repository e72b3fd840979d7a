"""This module splits a figure with too many curves into several pictures.

The first picture of a paper's figure has published forms in the order of the config, or other forms if there are none.
It has at most as many curves as the paper draws (`curves` of the plot, else eight). The other pictures have the rest.
Every picture has the curves that others are compared with, or else the first curve as a yardstick. A figure that belongs to no paper has all forms in
the order of the config.
"""

from __future__ import annotations

import math
from typing import Collection, Sequence

from plots.figures.model.series import Series
from plots.runs import forms

MOST = 8


def of(drawn: Sequence[Sequence[Series]], most: int, of_paper: bool, references: Collection[str] = ()) -> list[list[str]]:
    """Returns the labels of each picture. Series without any value do not count as curves, and stay in the picture of
    their neighbours. The allocators `references` are in every picture, unless they would take more than half of it.
    """
    labels = list(dict.fromkeys(series.label for panel in drawn for series in panel))
    valued = {series.label for panel in drawn for series in panel if len(series.drawn())}
    if max((len({series.label for series in panel} & valued) for panel in drawn), default=0) <= most:
        return [labels]
    ids = {series.label: series.allocator for panel in drawn for series in panel}
    first = [label for label in labels if forms.form_of(ids[label]) == forms.PUBLISHED] if of_paper else labels
    later = [label for label in labels if label not in first]
    shared = [label for label in first + later if label in valued and ids[label] in references]
    shared = shared if len(shared) <= most / 2 else []
    taken = [*shared, *_taken([label for label in first or later if label not in shared], most - len(shared), valued)]
    head = [label for label in first + later if label in taken]
    rest = [label for label in first + later if label not in head]
    repeated = shared or head[:1]
    room = most - len(repeated)
    count = math.ceil(sum(label in valued for label in rest) / room)
    parts, each = [head], math.ceil(sum(label in valued for label in rest) / count) if count else 0
    while rest and each:
        taken = _taken(rest, each, valued)
        parts.append([*repeated, *taken])
        rest = rest[len(taken):]
    parts[-1] += rest
    return parts


def sentence(parts: Sequence[Sequence[str]], number: int, alone: Sequence[int] = ()) -> str:
    """Returns the sentence that numbers a picture of the figure, or an empty text if the figure has only one. The pictures
    `alone` have y axes of their own.
    """
    if len(parts) == 1:
        return ""
    others = [each for each in range(1, len(parts) + 1) if each != number and each not in alone]
    axes = "; its y axis differs from those of the others" if number in alone or not others else \
        f" with the same axes as picture{'s' if len(others) > 1 else ''} {' and '.join(map(str, others))}" if alone else ". A panel has the same axes in all pictures"
    shared = [label for label in parts[0] if all(label in part for part in parts)]
    yardstick = f" {' and '.join(shared)} {'is' if len(shared) == 1 else 'are'} repeated for comparison." if number > 1 else ""
    return f"Picture {number} of {len(parts)}{axes}.{yardstick}"


def _taken(labels: Sequence[str], most: int, valued: set[str]) -> list[str]:
    """Returns the first labels, of which at most `most` have a value."""
    taken: list[str] = []
    for label in labels:
        if label in valued and sum(each in valued for each in taken) == most:
            break
        taken.append(label)
    return taken
