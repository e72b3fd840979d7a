"""This module draws the figure kind `lines`: one line per series over a swept axis, and one panel per phase, metric and value of
the settings in `panels` and `rows`.

A line shows the median (or the config's `statistic`), and its bars show the 95 % interval. A cell without a value
interrupts the line and appears in a strip above the panel.

If x sweeps words, the values are marks side by side without lines, because nothing lies between two words. If the
config's `theory` has a formula for an allocator and metric, the line shows the formula and the markers show the
measured values.
"""

from __future__ import annotations

import itertools
import math
import statistics
from dataclasses import dataclass, replace
from typing import Sequence

import matplotlib

from allocbench.errors import NothingToDraw, UsageError
from plots.figures import table
from plots.figures.model import chart, choice, parts
from plots.figures.model.chart import Axis, Chart, Panel
from plots.figures.panel import apart, failures, legend
from plots.figures.panel.panel import Scale, draw_panel, gaps
from plots.runs.results import Run
from plots.sheet import quantity, style, ticks
from plots.sheet.page import BODY_WIDTH, Drawing, Heading, Page

_HEIGHTS = {1: 2.6, 2: 1.9, 3: 1.45}  # height of a panel, by the number of rows
_LEAST_HEIGHT = 1.35
_BELOW = 0.40        # room for x ticks and x label
_BETWEEN = 0.28      # gap between panels that share the y axis
_BETWEEN_AXES = 0.78  # gap between panels with separate axes
_LEFT = 0.6          # least room for y ticks and y label
_Y_LABEL = 0.26      # room for the y label beside the tick labels
_Y_LABEL_LINE = 0.12  # room for each further line of the y label
_APART = 0.15        # gap between a panel and the y label of the next one
_MOST_BESIDE = 0.4   # largest share of the page for words beside a single column of panels
_STRIP_GAP = 0.08
_NAME = 0.18         # height of a line of names above panels
_NAME_LINE = 0.125   # height of each further line of a name
_ZERO = "0"          # word of a cell whose value is zero
_SLANT = 40          # degrees by which words below the x axis are turned


@dataclass(frozen=True)
class _Layout:
    """A layout has widths and heights in inches. The axes of all panels have the same size, and the strips of a row have
    equal heights.
    """

    left: float
    width: float
    height: float
    positions: list[float]       # all x values of the figure
    bounds: tuple[float, float]  # bounds of the x axis
    log_x: bool
    leftmost: set[int]  # indices of the leftmost panel of each row; these panels show the rows' names
    rows: list[list[failures.Row]]  # rows of the strip, by panel
    strips: list[float]             # height of the strip, by row
    bottoms: list[float]            # bottom of the axes, by row
    between: float
    legend: tuple[float, float]  # upper left corner of the legend
    legend_below: bool
    total: float
    turned: bool  # whether words below the x axis are turned

    def panel_left(self, column: int) -> float:
        return self.left + column * (self.width + self.between)

    def spacing(self) -> float:
        """Returns the median distance between neighbouring positions, in points."""
        scale = math.log if self.log_x else float
        places = sorted({scale(x) for x in self.positions})
        gaps = [after - before for before, after in itertools.pairwise(places)]
        return statistics.median(gaps) * 72 * self.width / (scale(self.bounds[1]) - scale(self.bounds[0])) if gaps else math.inf


def make(run: Run, stem: str) -> Drawing:
    return draw(resolve(run), stem)


def resolve(run: Run) -> Chart:
    return chart.of(choice.shown(run))


def draw(shown: Chart, stem: str) -> Drawing:
    if not shown.has_value():
        raise NothingToDraw(f"{shown.source}: no cell of this figure is ok; its status table says why.")
    panels = panels_of(shown)
    with matplotlib.rc_context(style.RC):
        looks = scales_of(shown, panels)
        pictures = parts.of([panel.series for panel in panels], shown.most, shown.of_paper, shown.references())
        own = [_own_axes(shown, panels, looks, names) for names in pictures]
        alone = [number for number, each in enumerate(own, 1) if each != looks]
        pages = [_page(shown, [panel.of(names) for panel in panels], own[number - 1], shown.of_picture(names), parts.sentence(pictures, number, alone))
                 for number, names in enumerate(pictures, 1)]
    more = tuple(Drawing(f"{stem}_{number}", page, "") for number, page in enumerate(pages[1:], 2))
    return Drawing(stem, pages[0], table.markdown(shown), more)


def panels_of(shown: Chart) -> Sequence[Panel]:
    """Returns the panels as they are drawn: a series of zeros is in the strip of a logarithmic axis."""
    return _without_zeros(shown.panels) if shown.log_y else shown.panels


def scales_of(shown: Chart, panels: Sequence[Panel]) -> list[Scale]:
    """Returns the y axis of each panel."""
    return [Scale.of(shown, panel.metric, [other for other in panels if _shares_axis(panels, panel, other)]) for panel in panels]


def _page(shown: Chart, panels: Sequence[Panel], looks: Sequence[Scale], heading: Heading, part: str) -> Page:
    """Draws one picture of the figure. `part` is the sentence that numbers the picture."""
    panels = legend.with_equations(panels)
    one_axis = max(len({panel.metric for panel in panels if panel.row == row.row}) for row in panels) == 1
    layout = _layout(shown, panels, looks, one_axis)
    sentences = [part] if part else []
    moves = [look.moves(panel, shown.x, layout.height, layout.spacing(), shown.joined) for look, panel in zip(looks, panels)]
    if moved := _moved(panels, moves, shown.x, shown.joined):
        sentences.append(moved)
    sentences += [text for look in dict.fromkeys(looks) if (text := look.sentence())] + _explained(shown, panels)
    first, *rest = heading.caption
    page = Page(replace(heading, caption=(" ".join([first, *sentences]), *rest)), layout.total)
    for index, panel in enumerate(panels):
        axes = page.axes(layout.panel_left(panel.column), layout.bottoms[panel.row], layout.width, layout.height)
        lowest = not any(other.row > panel.row and other.column == panel.column for other in panels)
        positions = [x for series in panel.series for x in series.points["x"]] or layout.positions
        _set_axes(axes, shown.x, positions, layout, looks[index], panel.title if index in layout.leftmost or not one_axis else "", lowest)
        draw_panel(axes, shown, panel, looks[index], moves[index])
        _draw_above(page, layout, index, panel)
    legend.draw(page, layout.legend, layout.legend_below, _legend_title(shown, panels))
    return page


def _moved(panels: Sequence[Panel], moves: Sequence[Sequence[apart.Move]], x: Axis, joined: bool) -> str:
    """Returns the sentence about markers that were moved, or an empty text if none was. If each of these markers has a
    line through it, the sentence adds that the lines have the true places.
    """
    has_line = [joined and not curve[0] and len(series.drawn()) > 1
                for panel, of_panel in zip(panels, moves) for series, curve, move in zip(panel.series, panel.curves, of_panel) if move]
    if not has_line:
        return ""
    if x.even:
        return "Markers that would cover each other stand side by side in the column of their value."
    if all(has_line):
        wider = " Of lines that coincide, the lower ones are wider; the width means nothing." if any(move.wider for of_panel in moves for move in of_panel) else ""
        return f"Markers of curves that coincide stand side by side. The lines have the true places.{wider}"
    return "Markers that coincide stand side by side, up to 1 mm left or right of their true places."


def _explained(shown: Chart, panels: Sequence[Panel]) -> list[str]:
    """Returns the sentences about signs that only some pictures have."""
    drawn = [(series, curve) for panel in panels for series, curve in zip(panel.series, panel.curves)]
    made = []
    if any(panel.theory() for panel in panels) and shown.joined and any(len(series.drawn()) > 1 and not curve[0] for series, curve in drawn):
        made.append("Lines through markers join measured values.")
    xs = [sorted({x for series in panel.series for x in series.points["x"]}) for panel in panels]
    if shown.faint and shown.joined and not shown.x.words and any(
            gaps(series.points, own) for panel, own in zip(panels, xs) for series, curve in zip(panel.series, panel.curves) if not curve[0]):
        made.append("Pale part of a line: the curve has no cell between these two points.")
    if any((series.points["word"] == _ZERO).any() for series, _ in drawn):
        made.append(f"Crosses with {_ZERO}: the value is {_ZERO}, which a logarithmic axis lacks.")
    if any(band.low != band.high for panel in panels for band in panel.bands):
        made.append("Grey band with an edge: a range that the paper states.")
    return made


def _shares_axis(panels: Sequence[Panel], one: Panel, other: Panel) -> bool:
    """Returns whether two panels share an axis: whether they have the same metric and their rows have the same
    phases.
    """
    def phases(panel: Panel) -> set[str]:
        return {each.phase for each in panels if each.row == panel.row and each.metric == panel.metric}

    return one.metric == other.metric and phases(one) == phases(other)


def _own_axes(shown: Chart, panels: Sequence[Panel], looks: Sequence[Scale], names: Sequence[str]) -> list[Scale]:
    """Returns the y axes of a picture. They are the axes of the figure, but a logarithmic axis is narrowed if the curves of
    the picture would take less than a third of it.
    """
    def narrow(look: Scale, own: Scale) -> bool:
        span, room = (math.log(bounds[1] / bounds[0]) if bounds[0] > 0 else math.inf for bounds in (own.covered, look.covered))
        return look.log and own.log and span < room / 3

    made = []
    for look, panel in zip(looks, panels):
        own = Scale.of(shown, panel.metric, [other.of(names) for other in panels if _shares_axis(panels, panel, other)])
        made.append(own if narrow(look, own) else look)
    return made


def _without_zeros(panels: Sequence[Panel]) -> list[Panel]:
    """Moves series that are zero everywhere into the strip, with 0 as the word.

    A logarithmic axis has no place for them. If all series of a panel are zero, they stay.
    """
    def zero(metric: str, label: str) -> bool:
        values = [value for panel in panels if panel.metric == metric for series in panel.series if series.label == label for value in series.drawn()["value"]]
        return bool(values) and not any(values)

    made = []
    for panel in panels:
        zeros = {series.label for series in panel.series if zero(panel.metric, series.label)}
        if len(zeros) == len({series.label for series in panel.series}):
            zeros = set()
        made.append(replace(panel, series=[replace(series, points=series.points.assign(
            word=series.points["word"].where(series.points["word"] != "", _ZERO), value=math.nan, low=math.nan, high=math.nan))
            if series.label in zeros else series for series in panel.series]))
    return made


def _legend_title(shown: Chart, panels: Sequence[Panel]) -> str:
    """Returns the allocator as the title of the legend if all series are of this allocator and the first panel has
    several series.
    """
    return shown.owner if len(panels[0].series) > 1 else ""


def _layout(shown: Chart, panels: Sequence[Panel], looks: Sequence[Scale], one_axis: bool) -> _Layout:
    drawn, words = [panel.series for panel in panels], shown.x.words
    all_series = [series for panel in drawn for series in panel]
    positions = [x for series in all_series for x in series.points["x"]]
    log = shown.x.log and not words and min(positions) > 0
    height = _HEIGHTS.get(count := 1 + max(panel.row for panel in panels), _LEAST_HEIGHT)
    y_label = _Y_LABEL + _Y_LABEL_LINE * (max(len(_y_title(panel.title, height)) for panel in panels) - 1)
    between = _BETWEEN if one_axis else max(_BETWEEN_AXES, _APART + y_label + max(look.label_width() for look in looks))
    columns = 1 + max(panel.column for panel in panels)
    turned = not shown.x.even or max(ticks.text_width(word, style.RC["xtick.labelsize"]) for word in words) + _APART > (BODY_WIDTH / columns - 2 * _LEFT) / len(words)
    below = _BELOW + max((_rise(word) for word in words if turned), default=0.0)
    named_positions = {position.x for panel in panels for position in panel.positions}
    if words and named_positions:
        raise UsageError(f"{shown.source}: `positions` of the plot are numbers, but {quantity.axis_name(shown.x.setting)} has words. Remove "
                         "`positions`, or choose another axis.")
    bounds = (-0.5, len(words) - 0.5) if words else ticks.limits(sorted({*positions, *named_positions}), log, 0.04)
    left = max([_LEFT, *(y_label + look.label_width() for look, panel in zip(looks, panels) if panel.column == 0)] + [failures.width_of(series.label) + 0.08 for series in all_series if series.failed()])
    named = list(dict.fromkeys([series.label for series in all_series if len(series.drawn())] + [name for panel in panels for name in panel.sources()]))
    if any(look.metric.startswith("relative_") for look in looks) and any(series.allocator == shown.reference for series in all_series):
        named.append(shown.noise)
    titled = bool(_legend_title(shown, panels))
    below_legend = columns > 1 or left + legend.width_of(named) > _MOST_BESIDE * BODY_WIDTH
    legend_width = 0 if below_legend else legend.width_of(named) + 0.1
    width = (BODY_WIDTH - left - legend_width - between * (columns - 1) - 0.08) / columns

    by_row = [[i for i, panel in enumerate(panels) if panel.row == row] for row in range(count)]
    rows: list[list[failures.Row]] = [[] for _ in panels]
    for row in by_row:
        for i, strip in zip(row, failures.rows_of_panels([drawn[i] for i in row], bounds, log, width)):
            rows[i] = strip
    strips = [strip + _STRIP_GAP if (strip := failures.height_of(rows[row[0]])) else 0.0 for row in by_row]
    bottoms, top = [], legend.height_of(named, titled) if below_legend else 0.0
    foot = top
    for row in reversed(range(count)):  # rows from the foot of the page upwards
        bottoms.insert(0, top + below)
        names = [_height_above(panels[i], width + between) for i in by_row[row]]
        top += below + height + strips[row] + max(0.05, *names)
    if not below_legend:  # a legend may be higher than its panels
        missing = max(0.0, 0.15 * (len(named) + titled) - (bottoms[0] + height))
        bottoms, top = [bottom + missing for bottom in bottoms], top + missing
    corner = (0.05, foot - 0.03) if below_legend else (left + width + 0.1, bottoms[0] + height)
    return _Layout(left, width, height, positions, bounds, log, {row[0] for row in by_row}, rows, strips, bottoms, between,
                   corner, below_legend, top, turned)


def _y_title(title: str, height: float) -> list[str]:
    """Returns the lines of a y label. It wraps the label at the shortest share of the axis (0.6 to 1) that needs no more
    lines than the whole axis.
    """
    made = [ticks.wrapped(title, style.RC["axes.labelsize"], share * height) for share in (0.6, 0.7, 0.8, 0.9, 1)]
    return next(lines for lines in made if len(lines) == len(made[-1]))


def _set_axes(axes, x: Axis, positions: Sequence[float], layout: _Layout, look: Scale, title: str, lowest: bool) -> None:
    axes.grid(True, axis="both", which="major")
    axes.set_axisbelow(True)
    if x.words:
        axes.set_xlim(*layout.bounds)
        axes.grid(False, axis="x")
        for boundary in range(1, len(x.words)):
            axes.axvline(boundary - 0.5, color=style.RC["grid.color"], linewidth=style.RC["grid.linewidth"], zorder=0)
        axes.set_xticks(range(len(x.words)), x.words, **({"rotation": _SLANT, "ha": "right", "rotation_mode": "anchor"} if layout.turned else {}))
    else:
        ticks.set_x(axes, positions, layout.bounds, layout.log_x, layout.width, style.RC["xtick.labelsize"],
                    quantity.on_axis(x.setting, layout.positions))
    look.set_y(axes)
    if lowest:
        axes.set_xlabel(x.title, labelpad=2)
    if title:
        axes.set_ylabel("\n".join(_y_title(title, layout.height)), labelpad=3, linespacing=1.1)
    else:
        axes.tick_params(labelleft=False)


def _rise(word: str) -> float:
    """Returns how much farther down a turned word reaches than a horizontal one, in inches."""
    return ticks.text_width(word, style.RC["xtick.labelsize"]) * math.sin(math.radians(_SLANT))


def _draw_above(page: Page, layout: _Layout, index: int, panel: Panel) -> None:
    """Draws the strip of failed cells, the name of the panel above it, and the name of the row at the left end."""
    left, top = layout.panel_left(panel.column), layout.bottoms[panel.row] + layout.height
    strip = layout.strips[panel.row]
    if layout.rows[index]:
        axes = page.axes(left, top + _STRIP_GAP, layout.width, strip - _STRIP_GAP)
        failures.draw(axes, layout.rows[index], layout.bounds, layout.log_x, layout.width, named=index in layout.leftmost)
    names, row_name = _names_above(panel, layout.width + layout.between)
    page.figure.text(*page.point(left, top + strip + 0.04), "\n".join(names), fontsize=7.5, weight="bold", va="bottom", linespacing=1.1)
    if row_name and index in layout.leftmost:
        page.figure.text(*page.point(0, top + strip + 0.02 + _height_above(panel, layout.width + layout.between) - _NAME), row_name, fontsize=8,
                         weight="bold", va="bottom")


def _names_above(panel: Panel, room: float) -> tuple[list[str], str]:
    """Returns the lines of the panel's name, and the name of its row. A row of several panels has their common words as
    its name.
    """
    shared = ", ".join(text for text in (panel.row_name, panel.phase_name) if text)
    return ticks.wrapped(panel.name or shared, 7.5, room - 0.08, bold=True), shared if panel.name else ""


def _height_above(panel: Panel, room: float) -> float:
    lines, row_name = _names_above(panel, room)
    return (_NAME + _NAME_LINE * (len(lines) - 1) if lines else 0.0) + (_NAME if row_name else 0.0)
