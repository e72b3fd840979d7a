"""This module draws the legend of a figure: beside a single column of panels, or below several columns."""

from __future__ import annotations

import math
from typing import Sequence

from matplotlib.lines import Line2D

from plots.sheet import style, ticks
from plots.sheet.page import BODY_WIDTH, Page

_HANDLE = 0.42
_ROW = 0.15


def width_of(names: Sequence[str]) -> float:
    return max((ticks.text_width(shown(name), style.RC["legend.fontsize"]) for name in names), default=0) + _HANDLE


def shown(name: str) -> str:
    """Returns a name in the form of the legend: no wider than the page."""
    return ticks.cut(name, style.RC["legend.fontsize"], BODY_WIDTH - _HANDLE - 0.1)


def rows_of(names: Sequence[str]) -> tuple[int, int]:
    """Returns the number of columns and rows of a legend as wide as the page."""
    columns = max(1, min(len(names), int((BODY_WIDTH - 0.1) / (width_of(names) + 0.12))))
    return columns, math.ceil(len(names) / columns)


def height_of(names: Sequence[str], titled: bool) -> float:
    return 0.06 + _ROW * (rows_of(names)[1] + titled)


def draw(page: Page, place: tuple[float, float], below: bool, title: str = "") -> None:
    """Draws one entry per label of all panels, in the order of the first panel. The paper's statements come last.

    A series without any value has no entry, because the strip names it.
    """
    handles = [(handle, label) for axes in page.figure.axes for handle, label in zip(*axes.get_legend_handles_labels())]
    handles.sort(key=lambda each: (each[0].get_gid() or "").startswith(("stated", "band", "position", "noise", "theory ")))
    names = dict.fromkeys(label for _, label in handles)
    found = {label: _upright(handle) if handle.get_gid() == "position" else handle for handle, label in reversed(handles) if _seen(handle)}
    entries = {label: found[label] for label in names if label in found}
    columns = rows_of(list(entries))[0] if below else 1
    page.figure.legend(list(entries.values()), [shown(name) for name in entries], loc="upper left", borderaxespad=0, borderpad=0, handlelength=2.6,
                              handletextpad=0.5, labelspacing=0.35, columnspacing=1.0, ncol=columns, bbox_to_anchor=page.point(*place),
                              title=title or None, title_fontsize=style.RC["legend.fontsize"], alignment="left")


def _upright(line: Line2D) -> Line2D:
    """Returns a vertical line for the legend, which would draw it as a horizontal one."""
    return Line2D([], [], linestyle="none", marker="|", markersize=9, markeredgewidth=line.get_linewidth(), color=line.get_color())


def _seen(handle) -> bool:
    return not hasattr(handle, "get_ydata") or any(not math.isnan(y) for y in handle.get_ydata())
