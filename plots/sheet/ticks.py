"""This module chooses axis limits and ticks. The ticks of an x axis lie at measured positions, so every labelled x was
measured.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Callable, Sequence

from matplotlib import font_manager
from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator, NullFormatter, NullLocator

from plots.sheet import fonts

_MEASURED = 100.0  # font size in points at which widths are measured
_LONGEST_WORD = 30  # number of letters above which a word may be split


def text_width(text: str, points: float, bold: bool = False) -> float:
    """Returns the width of a text in inches."""
    return _width(text, bold) * points / _MEASURED


@lru_cache(maxsize=None)
def _width(text: str, bold: bool) -> float:
    font = font_manager.get_font(font_manager.findfont(f"{fonts.FAMILY}:bold" if bold else fonts.FAMILY))
    font.set_size(_MEASURED, 72)
    strange = fonts.strange(text)  # these need another font, and count as wide as high
    font.set_text("".join(each for each in text if each not in strange), 0.0)
    return (font.get_width_height()[0] / 64 + _MEASURED * sum(each in strange for each in text)) / 72


def wrapped(text: str, points: float, width: float, bold: bool = False) -> list[str]:
    """Splits a text into lines that are at most `width` inches wide.

    A wider word has its own line. If it is also longer than _LONGEST_WORD, it is split.
    """
    lines: list[str] = []
    for word in text.split():
        while len(word) > _LONGEST_WORD and text_width(word, points, bold) > width:
            fits = next((count for count in range(len(word), 1, -1) if text_width(word[:count], points, bold) <= width), 1)
            lines.append(word[:fits])
            word = word[fits:]
        if lines and text_width(f"{lines[-1]} {word}", points, bold) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def cut(text: str, points: float, width: float) -> str:
    """Shortens a text to at most `width` inches: … replaces the middle."""
    if text_width(text, points) <= width:
        return text
    made = (f"{text[:(kept + 1) // 2]}…{text[len(text) - kept // 2:]}" for kept in range(len(text) - 1, 0, -1))
    return next((each for each in made if text_width(each, points) <= width), "…")


def limits(values: Sequence[float], log: bool, padding: float) -> tuple[float, float]:
    """Returns limits around `values` with `padding` (share of their range) on both sides."""
    low, high = min(values), max(values)
    if log:
        low, high = math.log(low), math.log(high)
    room = (high - low) * padding or (math.log(2) if log else abs(high) * 0.5 or 1.0)
    low, high = low - room, high + room
    return (math.exp(low), math.exp(high)) if log else (low, high)


def position(value: float, bounds: tuple[float, float], log: bool) -> float:
    """Returns the position of `value` between the bounds: 0 at the left or bottom, 1 at the other end."""
    scale = math.log if log else float
    return (scale(value) - scale(bounds[0])) / (scale(bounds[1]) - scale(bounds[0]))


def set_x(axes, values: Sequence[float], bounds: tuple[float, float], log: bool, width: float, points: float, write: Callable[[float], str]) -> None:
    """Sets scale and limits, and ticks at the measured `values`. The labels are thinned until they fit into `width`
    inches.
    """
    values = sorted(set(values))
    axes.set_xscale("log" if log else "linear")
    axes.set_xlim(*bounds)
    labelled = named(values, bounds, log, width, points, write)
    axes.xaxis.set_major_locator(FixedLocator(labelled))
    axes.xaxis.set_major_formatter(FixedFormatter([write(value) for value in labelled]))
    axes.xaxis.set_minor_locator(FixedLocator(values))
    axes.xaxis.set_minor_formatter(NullFormatter())


def named(values: Sequence[float], bounds: tuple[float, float], log: bool, width: float, points: float, write: Callable[[float], str]) -> list[float]:
    """Returns the `values` that get labels, thinned until the labels fit on an axis of `width` inches."""
    return _thinned(values, lambda v: position(v, bounds, log) * width, lambda v: text_width(write(v), points))


def _thinned(values: Sequence[float], place: Callable, width_of: Callable) -> list[float]:
    """Returns every k-th value, with the smallest k for which neighbouring labels keep a gap, or with k + 1 if only that keeps the
    last value.

    For values at uneven distances, it returns as many as fit between both ends.
    """
    def apart(a: float, b: float) -> bool:
        return place(b) - place(a) > (width_of(a) + width_of(b)) / 2 + 0.06

    def fits(kept: Sequence[float]) -> bool:
        return all(apart(a, b) for a, b in zip(kept, kept[1:]))

    gaps = [place(b) - place(a) for a, b in zip(values, values[1:])]
    if gaps and max(gaps) > 1.5 * min(gaps):
        return _between_ends(values, apart)
    smallest = next((step for step in range(1, len(values)) if fits(values[::step])), len(values))
    for step in range(smallest, smallest + 2):
        if (len(values) - 1) % step == 0 and fits(values[::step]) and len(values) > step:
            return list(values[::step])
    return list(values[::smallest])


def _between_ends(values: Sequence[float], apart: Callable) -> list[float]:
    """Returns both ends, and the values that fit when they are placed one by one from one end. If the labels of
    both ends do not fit, it returns the first value only.

    It starts at the end for which the longest gap between labels is shorter.
    """
    def from_end(ordered: Sequence[float]) -> list[float]:
        kept = [ordered[0]]
        for value in ordered[1:-1]:
            if fits(kept[-1], value) and fits(value, ordered[-1]):
                kept.append(value)
        return sorted([*kept, ordered[-1]])

    def fits(a: float, b: float) -> bool:
        return apart(min(a, b), max(a, b))

    def longest_without(kept: Sequence[float]) -> int:
        places = [values.index(value) for value in kept]
        return max(b - a for a, b in zip(places, places[1:]))

    if not fits(values[0], values[-1]):
        return [values[0]]
    return min(from_end(values), from_end(values[::-1]), key=longest_without)


def y_bounds(values: Sequence[float], log: bool) -> tuple[float, float]:
    """Returns limits that cover `values`. A linear axis starts at zero, so that heights can be compared."""
    if log:
        return _widened(limits(values, True, 0.06))
    return 0.0, max(values) * 1.06 or 1.0


def set_y(axes, values: Sequence[float], log: bool, write: Callable[[float], str], binary: bool = False) -> None:
    """Sets scale, limits and ticks that cover `values`.

    A `binary` quantity, such as bytes, has ticks at powers of two on a logarithmic axis. On a linear axis, it has ticks
    at round numbers of KiB, MiB and so on.
    """
    bounds = y_bounds(values, log)
    axes.set_yscale("log" if log else "linear")
    axes.set_ylim(*bounds)
    marks = y_marks(bounds, log, binary)
    axes.yaxis.set_major_locator(FixedLocator(marks))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FixedFormatter([write(mark) for mark in marks]))


def y_marks(bounds: tuple[float, float], log: bool, binary: bool = False) -> list[float]:
    """Returns the positions of the ticks of a y axis."""
    if log:
        return _binary_marks(bounds) if binary else _log_marks(bounds)
    # A binary quantity has ticks at round numbers of KiB, MiB and so on.
    unit = 1024.0 ** int(math.log(bounds[1], 1024)) if binary and bounds[1] > 1 else 1.0
    return [unit * mark for mark in _even_marks(6, (bounds[0] / unit, bounds[1] / unit)) if 0 <= mark <= bounds[1] / unit]


def _widened(bounds: tuple[float, float]) -> tuple[float, float]:
    """Widens an axis to at least a factor of 1.25, so that nearly equal values look equal."""
    missing = math.sqrt(max(1.0, 1.25 / (bounds[1] / bounds[0])))
    return bounds[0] / missing, bounds[1] * missing


def _binary_marks(bounds: tuple[float, float]) -> list[float]:
    """Returns powers of two, if possible three to nine. If the axis has fewer than two, it returns other ticks."""
    first, last = math.ceil(math.log2(bounds[0])), math.floor(math.log2(bounds[1]))
    for step in (10, 5, 4, 2):
        marks = [2.0**power for power in range(first, last + 1) if power % step == 0]
        if len(marks) >= 3:
            return marks[::math.ceil(len(marks) / 9)]
    marks = [2.0**power for power in range(first, last + 1)]
    return marks if len(marks) >= 2 else _log_marks(bounds)


def _log_marks(bounds: tuple[float, float]) -> list[float]:
    """Returns decades if they are enough, otherwise decades with 2 and 5, otherwise equal steps. Every axis has at
    least two labels.
    """
    first, last = math.floor(math.log10(bounds[0])), math.ceil(math.log10(bounds[1]))
    for steps in ((1,), (1, 2, 5)):
        marks = [step * 10.0**power for power in range(first, last + 1) for step in steps]
        marks = [mark for mark in marks if bounds[0] <= mark <= bounds[1]]
        if len(marks) >= 3:
            return marks[::math.ceil(len(marks) / 9)]
    return [mark for mark in _even_marks(5, bounds) if bounds[0] <= mark <= bounds[1]]


def _even_marks(count: int, bounds: tuple[float, float]) -> list[float]:
    return list(MaxNLocator(count, steps=[1, 2, 2.5, 5, 10]).tick_values(*bounds))
