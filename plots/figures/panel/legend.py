"""This module draws the legend of a figure: beside a single column of panels, or below several columns."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Sequence

from matplotlib.collections import PathCollection
from matplotlib.legend_handler import HandlerLine2D
from matplotlib.lines import Line2D

from plots.figures.model.chart import Panel
from plots.sheet import style, ticks
from plots.sheet.page import BODY_WIDTH, Page

_HANDLE = 0.42
_ROW = 0.15
_COLOURFUL = ", in the markers' colours"  # end of the name of equations whose curves have several colours


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


def with_equations(panels: Sequence[Panel]) -> list[Panel]:
    """Returns the panels with one name for all equations whose curves have the same colours and dashes, because their entries
    would look alike. The name has the label of the curves' series, or says that they have several colours.
    """
    looks: dict[str, dict[tuple[str, str], str]] = {}  # label of the series by look, by equation
    for panel in panels:
        for each, _ in panel.theory():
            looks.setdefault(panel.equations[each.allocator], {})[each.look.colour, str(each.look.dash)] = each.label
    groups: dict[frozenset, list[str]] = {}
    for equation, own in looks.items():
        groups.setdefault(frozenset(own), []).append(equation)
    names = {}
    for own, alike in groups.items():
        labels = set(looks[alike[0]].values())
        owner = f"{labels.pop()}: " if len(groups) > 1 and len(labels) == 1 else ""
        names |= dict.fromkeys(alike, f"{owner}{_together(alike)}{_COLOURFUL if len({colour for colour, _ in own}) > 1 else ''}")
    return [replace(panel, equations={allocator: names.get(equation, equation) for allocator, equation in panel.equations.items()}) for panel in panels]


def _together(equations: Sequence[str]) -> str:
    """Returns one name for several equations. Their common end is there once: `equations (5) and (6) with w = 64`."""
    if len(equations) < 2 or not all(equation.startswith("equation (") for equation in equations):
        return " and ".join(equations)
    numbers, ends = zip(*(equation.removeprefix("equation ").partition(" ")[::2] for equation in equations))
    if len(set(ends)) == 1:
        return f"equations {' and '.join(numbers)} {ends[0]}".rstrip()
    return f"equations {' and '.join(equation.removeprefix('equation ') for equation in equations)}"


def draw(page: Page, place: tuple[float, float], below: bool, title: str = "") -> None:
    """Draws one entry per label of all panels, in the order of the first panel. The paper's statements, curves of theory
    and the interval of the reference come last.

    A series without any value has no entry, because the strip names it. A series with only provisional values has the
    marker of such values.
    """
    handles = [(handle, label) for axes in page.figure.axes for handle, label in zip(*axes.get_legend_handles_labels())]
    handles.sort(key=lambda each: (each[0].get_gid() or "").startswith(("stated", "band", "position", "noise", "theory ")))
    names = dict.fromkeys(label for _, label in handles)
    seen = {label: [handle for handle, own in handles if own == label and _seen(handle)] for label in names}
    entries = {label: _grey() if label.endswith(_COLOURFUL) else _key(found) for label, found in seen.items() if found}
    columns = rows_of(list(entries))[0] if below else 1
    page.figure.legend(list(entries.values()), [shown(name) for name in entries], loc="upper left", borderaxespad=0, borderpad=0, handlelength=2.6,
                              handletextpad=0.5, labelspacing=0.35, columnspacing=1.0, ncol=columns, bbox_to_anchor=page.point(*place),
                              title=title or None, title_fontsize=style.RC["legend.fontsize"], alignment="left",
                              handler_map={handle: _Upright() for handle in entries.values() if isinstance(handle, Line2D) and handle.get_gid() == "position"})


class _Upright(HandlerLine2D):
    """Draws the vertical line of a position as the panel does: upright and dashed. Other lines are horizontal."""

    def create_artists(self, legend, orig_handle, xdescent, ydescent, width, height, fontsize, trans):
        middle, beyond = width / 2 - xdescent, 0.35 * height
        return [Line2D([middle, middle], [height - ydescent + beyond, -ydescent - beyond], color=orig_handle.get_color(), linestyle=style.POSITION_DASH,
                       linewidth=orig_handle.get_linewidth(), transform=trans)]


def _grey() -> Line2D:
    """Returns the key of curves of several colours."""
    return Line2D([], [], color=style.GREY, linewidth=0.9)


def _key(found: Sequence):
    """Returns the handle of an entry from the handles of its label in all panels."""
    hollow = [handle for handle in found if isinstance(handle, PathCollection)]
    lines = [handle for handle in found if isinstance(handle, Line2D)]
    if not hollow or len(hollow) < len(lines):
        return next((handle for handle in found if handle not in hollow), None)
    line = Line2D([], [])
    line.update_from(lines[0])
    line.set_marker("none")
    return line, hollow[0]


def _seen(handle) -> bool:
    return not hasattr(handle, "get_ydata") or any(not math.isnan(y) for y in handle.get_ydata())
