"""This module orders the rows of a picture with many allocators, and shortens their names.

Families stay together, and the forms of an allocator follow it. The name of a form has only the words that the
allocator's name lacks.
"""

from __future__ import annotations

import itertools
from typing import Callable, Sequence

from plots.sheet import style


def by_family(allocators: Sequence[str], name_of: Callable[[str], str]) -> list[str]:
    """Sorts families by the alphabetically first name among their members. Within a family, the forms of an allocator
    follow it.

    An allocator of no known family counts as a family of its own.
    """
    families: dict[str, list[str]] = {}
    for allocator in allocators:
        families.setdefault(family_of(allocator), []).append(allocator)
    ordered = sorted(families.values(), key=lambda members: min(name_of(each).casefold() for each in members))
    return [each for members in ordered for each in sorted(members, key=lambda each: (style.original_of(each), each))]


def family_of(allocator: str) -> str:
    return style.family(allocator) or style.original_of(allocator)


def below(labels: Sequence[str]) -> list[str]:
    """Returns for each label the words that it adds to the last full label. The text is empty for a full label."""
    made, head = [], ""
    for label in labels:
        rest = label.removeprefix(f"{head}, ") if head else label
        made.append("" if rest == label else rest)
        head = label if rest == label else head
    return made


def split(lengths: Sequence[int], parts: int) -> list[tuple[int, int]]:
    """Splits groups of rows, given by their lengths, into at most `parts` stretches whose longest is as short as
    possible.

    A stretch is (first row, row after the last).
    """
    bounds = [0, *itertools.accumulate(lengths)]
    least = -(-bounds[-1] // parts)
    while True:
        made, first = [], 0
        for end, following in zip(bounds[1:], [*bounds[2:], None]):
            if following is None or following - first > least:
                made.append((first, end))
                first = end
        if len(made) <= parts:
            return made
        least += 1
