"""This module marks provisional values: values of fewer than three rounds, if the cell is to have more
(harness/front/statistics/rounds.hpp).

Figures draw them hollow with a dashed edge, heat maps write them in italics, and tables mark them. They have no
interval, and they decide no claim. Counts of untimed passes and facts from the compiler are final after the first round.
"""

from __future__ import annotations

from typing import Iterable

import pandas

from plots.sheet import style

FLAG = "provisional"  # flag of values and of cells
MARK = "~"            # mark before a number in a table
WORD = "provisional"
MEANT = "provisional, fewer than three rounds"
HOLLOW = f"Hollow with a dashed edge: {MEANT}."
MARKED = f"{MARK}: {MEANT}."
LEANING = f"Italic: {MEANT}."
_EDGE = (0, (2.0, 1.2))  # dashes of a marker's edge
_DOT = 2.2               # size of the dot in points
_PALE, _INSIDE = 0.45, 0.8  # share of white, and share of the marker's size


def among(flags: Iterable[list[str]]) -> list[bool]:
    """Returns which of these values are provisional."""
    return [FLAG in each if isinstance(each, list) else False for each in flags]


def any_of(values: pandas.DataFrame) -> bool:
    return any(among(values["flags"]))


def marked(text: str, is_provisional: bool) -> str:
    return f"{MARK}{text}" if is_provisional else text


def draw(axes, xs, ys, look: style.Look, size: float, gid: str = "", label: str = "", **more) -> None:
    """Draws white markers with dashed edges, which interrupt their line. With a `label` they are in the legend.

    The marker still shows the form. A full marker becomes white, and a half-filled one keeps a pale half. The marker of
    an original is always hollow, so it gets a dot. Crosses have no face and are only dashed.
    """
    open_ended = look.marker in "x+"
    size += 1
    axes.scatter(xs, ys, s=size**2, marker=look.marker, facecolors=look.colour if open_ended else "white", edgecolors=None if open_ended else look.colour,
                 linewidths=0.8, linestyles=[_EDGE], gid=gid, label=label or None, **more)
    if look.fill == "none":
        axes.scatter(xs, ys, s=_DOT**2, marker="o", color=look.colour, linewidths=0, **more)
    elif look.fill != "full":
        axes.plot(xs, ys, linestyle="none", marker=look.marker, markersize=_INSIDE * size, fillstyle=look.fill, markerfacecolor=style.mixed(look.colour, _PALE),
                  markerfacecoloralt="none", markeredgewidth=0, **more)
