"""The rows of a picture with many allocators: families together, the forms of an allocator below it, and of their names only
what tells them apart."""

from __future__ import annotations

import itertools
from typing import Callable, Sequence

from plots.sheet import style


def by_family(allocators: Sequence[str], name_of: Callable[[str], str]) -> list[str]:
    """Families in the order of their first names, strangers among them; within one the forms of an allocator follow it."""
    families: dict[str, list[str]] = {}
    for allocator in allocators:
        families.setdefault(family_of(allocator), []).append(allocator)
    ordered = sorted(families.values(), key=lambda members: min(name_of(each).casefold() for each in members))
    return [each for members in ordered for each in sorted(members, key=lambda each: (style.original_of(each), each))]


def family_of(allocator: str) -> str:
    return style.family(allocator) or style.original_of(allocator)


def below(labels: Sequence[str]) -> list[str]:
    """For each label what it adds to the last one that stands in full; empty where it stands in full itself."""
    made, head = [], ""
    for label in labels:
        rest = label.removeprefix(f"{head}, ") if head else label
        made.append("" if rest == label else rest)
        head = label if rest == label else head
    return made


def split(lengths: Sequence[int], parts: int) -> list[tuple[int, int]]:
    """Groups of rows, by their lengths, as `parts` stretches (first row, row behind the last), the longest as short as it can be."""
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
