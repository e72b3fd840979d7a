"""Values of fewer than three rounds, of cells that are to have more: the front end calls them provisional (harness/front/statistics/rounds.hpp).

They are drawn hollow with a dashed edge and marked in tables, have no interval, and judge nothing. What a cell counts
in its untimed passes, and what its compiler says, is final after the first round and never provisional.
"""

from __future__ import annotations

from typing import Iterable

import pandas

from plots.sheet import style

FLAG = "provisional"  # of values and of cells
MARK = "~"            # before a number in a table
WORD = "provisional"
MEANT = "provisional, fewer than three rounds"
HOLLOW = f"Hollow with a dashed edge: {MEANT}."
MARKED = f"{MARK}: {MEANT}."
LEANING = f"Italic: {MEANT}."
_EDGE = (0, (2.0, 1.2))  # of a marker
_DOT = 2.2               # points
_PALE, _INSIDE = 0.45, 0.8  # share of white, and of the marker's size


def among(flags: Iterable[list[str]]) -> list[bool]:
    """Which of these values are."""
    return [FLAG in each if isinstance(each, list) else False for each in flags]


def any_of(values: pandas.DataFrame) -> bool:
    return any(among(values["flags"]))


def marked(text: str, is_provisional: bool) -> str:
    return f"{MARK}{text}" if is_provisional else text


def draw(axes, xs, ys, look: style.Look, size: float, gid: str = "", **more) -> None:
    """White markers with dashed edges, which interrupt their line. What tells a form from the published one stays: a pale half, or a dot in
    those of an original, which are hollow anyway. Crosses have no face and are dashed."""
    open_ended = look.marker in "x+"
    size += 1
    axes.scatter(xs, ys, s=size**2, marker=look.marker, facecolors=look.colour if open_ended else "white", edgecolors=None if open_ended else look.colour,
                 linewidths=0.8, linestyles=[_EDGE], gid=gid, **more)
    if look.fill == "none":
        axes.scatter(xs, ys, s=_DOT**2, marker="o", color=look.colour, linewidths=0, **more)
    elif look.fill != "full":
        axes.plot(xs, ys, linestyle="none", marker=look.marker, markersize=_INSIDE * size, fillstyle=look.fill, markerfacecolor=style.mixed(look.colour, _PALE),
                  markerfacecoloralt="none", markeredgewidth=0, **more)
