"""Figure kind `lines`: one line per series against a swept axis, one panel per phase, metric and value of other axes.

The line is the median (or what the config's `statistic` asks for), the bars its 95 % interval. Cells without a
value interrupt the line and appear in a strip above the panel. Where x sweeps words, there are marks beside each other and no
lines: nothing lies between two words. Where the config's `theory` has a formula for an allocator and metric, the line is the
formula's and the measured values are markers.
"""

from __future__ import annotations

import itertools
import math
import statistics
from dataclasses import dataclass, replace
from typing import Sequence

import matplotlib

from allocbench.errors import NothingToDraw, UsageError
from plots import apart, caption, choice, curves, failures, labels, legend, origin, parts, quantity, samples, stated, style, table, ticks
from plots.page import BODY_WIDTH, Drawing, Page
from plots.panel import Content, Scale, draw_panel, noise_name
from plots.results import Run
from plots.series import Panel, Series, is_alone, panels_of, series_of, wanted_of

_HEIGHTS = {1: 2.6, 2: 1.9, 3: 1.45}  # of a panel, by the number of rows
_LEAST_HEIGHT = 1.35
_BELOW = 0.40        # x ticks and x label
_BETWEEN = 0.28      # between panels that share the y axis
_BETWEEN_AXES = 0.78  # between panels with an axis each
_LEFT = 0.6          # least room for y ticks and y label
_Y_LABEL = 0.26      # beside the labels of the ticks
_APART = 0.15        # between a panel and the y label of the next one
_MOST_BESIDE = 0.4   # share of the page that words beside a single column of panels may take
_STRIP_GAP = 0.03
_NAME = 0.18         # a line of names above panels
_NAME_LINE = 0.125   # each further line of one
_SLANT = 40          # degrees by which words below the x axis are turned


@dataclass(frozen=True)
class _Layout:
    """Widths and heights in inches. All panels have the same axes, and those of a row strips of the same height."""

    left: float
    width: float
    height: float
    positions: list[float]       # every x of the figure
    bounds: tuple[float, float]  # of the x axis
    log_x: bool
    leftmost: set[int]  # panels that bear the names of their row
    words: list[str]    # at the positions
    rows: list[list[failures.Row]]  # by panel
    strips: list[float]             # by row
    bottoms: list[float]            # of the axes, by row
    between: float
    legend: tuple[float, float]  # its upper left corner
    legend_below: bool
    total: float

    def panel_left(self, column: int) -> float:
        return self.left + column * (self.width + self.between)

    def spacing(self) -> float:
        """The usual distance of neighbouring positions, in points; a few may lie closer together."""
        scale = math.log if self.log_x else float
        places = sorted({scale(x) for x in self.positions})
        gaps = [after - before for before, after in itertools.pairwise(places)]
        return statistics.median(gaps) * 72 * self.width / (scale(self.bounds[1]) - scale(self.bounds[0])) if gaps else math.inf


def make(run: Run, stem: str) -> Drawing:
    run = choice.shown(run)
    plot, x = run.plot, run.plot["x"]
    panels = panels_of(run)
    drawn = [series_of(panel.run, x, panel.phase, panel.metric) for panel in panels]
    if "y" in plot.get("log", ""):
        drawn = _without_zeros(panels, drawn)
    log_x = "x" in plot.get("log", "")
    expected = [[curves.of_series(panel.run, each, x, panel.metric, log_x) for each in all_series]
                for panel, all_series in zip(panels, drawn)]
    if not any(len(each.drawn()) for all_series in drawn for each in all_series):
        raise NothingToDraw(f"{run.folder}: no cell of this figure is ok; its status table says why.")

    ringed = {(each.cell, each.phase) for each in samples.outliers(run, wanted_of(panels))}
    with matplotlib.rc_context(style.RC):
        contents = [Content(all_series, curves_of, stated.marks(panel.run, x, panel.phase, panel.metric),
                            stated.bands(panel.run, panel.phase, panel.metric, all_series),
                            stated.positions(panel.run, panel.phase, panel.metric),
                            {cell for cell, phase in ringed if phase == panel.phase})
                    for panel, all_series, curves_of in zip(panels, drawn, expected)]
        looks = []
        for panel in panels:
            alike = [i for i, other in enumerate(panels) if _shares_axis(panels, panel, other)]
            looks.append(Scale.of(run, panel.metric, [contents[i] for i in alike]))
        pictures = parts.of(drawn, plot.get("curves", parts.MOST), "paper" in run.config)
        pages = [_page(run, panels, [content.of(names) for content in contents], looks, parts.sentence(pictures, number))
                 for number, names in enumerate(pictures, 1)]
    more = tuple(Drawing(f"{stem}_{number}", page, "") for number, page in enumerate(pages[1:], 2))
    return Drawing(stem, pages[0], table.markdown(run, x, panels), more)


def _page(run: Run, panels: Sequence[Panel], contents: Sequence[Content], looks: Sequence[Scale], part: str) -> Page:
    """One picture of the figure; `part` says which."""
    plot = run.plot
    one_axis = max(len({panel.metric for panel in panels if panel.row == row.row}) for row in panels) == 1
    layout = _layout(run, panels, contents, looks, one_axis)
    sentences = [part] if part else []
    heading = origin.heading(run, origin.title(run), [])
    moves = [[apart.Move()] * len(content.series) if layout.words else look.moves(content, layout.height, layout.spacing(), plot.get("joined", True))
             for look, content in zip(looks, contents)]
    if any(move != apart.Move() for of_panel in moves for move in of_panel):
        sentences.append("Markers of curves that coincide stand beside each other, at their values.")
    sentences += [text for look in dict.fromkeys(looks) if (text := look.sentence())]
    heading = replace(heading, caption=tuple(caption.of_lines(run, wanted_of(panels), layout.words, sentences)))
    page = Page(heading, layout.total)
    for index, panel in enumerate(panels):
        axes = page.axes(layout.panel_left(panel.column), layout.bottoms[panel.row], layout.width, layout.height)
        lowest = not any(other.row > panel.row and other.column == panel.column for other in panels)
        _set_axes(axes, run, layout, looks[index], panel.metric, index in layout.leftmost or not one_axis, lowest)
        draw_panel(axes, run, contents[index], looks[index], bool(layout.words), moves[index])
        _draw_above(page, layout, index, panel)
    legend.draw(page, layout.legend, layout.legend_below, _legend_title(run, contents))
    return page


def _shares_axis(panels: Sequence[Panel], one: Panel, other: Panel) -> bool:
    """Panels of a row do, and rows of the same phases."""
    def phases(panel: Panel) -> set[str]:
        return {each.phase for each in panels if each.row == panel.row and each.metric == panel.metric}

    return one.metric == other.metric and phases(one) == phases(other)


def _without_zeros(panels: Sequence[Panel], drawn: Sequence[list[Series]]) -> list[list[Series]]:
    """A series that is zero everywhere, where others of the metric are not, has no place on a logarithmic axis: its cells
    go into the strip, with the number for a word."""
    def zero(metric: str, label: str) -> bool:
        values = [value for panel, all_series in zip(panels, drawn) if panel.metric == metric
                  for series in all_series if series.label == label for value in series.drawn()["value"]]
        return bool(values) and not any(values)

    made = []
    for panel, all_series in zip(panels, drawn):
        zeros = {series.label for series in all_series if zero(panel.metric, series.label)}
        if len(zeros) == len({series.label for series in all_series}):
            zeros = set()
        made.append([replace(series, points=series.points.assign(
            word=series.points["word"].where(series.points["word"] != "", "0"), value=math.nan, low=math.nan, high=math.nan))
            if series.label in zeros else series for series in all_series])
    return made


def _legend_title(run: Run, contents: Sequence[Content]) -> str:
    """The allocator, where its series are told apart by other things."""
    alone = is_alone(run) and len(contents[0].series) > 1
    return labels.allocator(run, run.allocators()[0]) if alone else ""


def _layout(run: Run, panels: Sequence[Panel], contents: Sequence[Content], looks: Sequence[Scale], one_axis: bool) -> _Layout:
    drawn = [content.series for content in contents]
    all_series = [series for panel in drawn for series in panel]
    positions = [x for series in all_series for x in series.points["x"]]
    words = [labels.value_of(run, run.plot["x"], word) for word in labels.words_of(run, run.plot["x"])]
    log = "x" in run.plot.get("log", "") and not words and min(positions) > 0
    between = _BETWEEN if one_axis else max(_BETWEEN_AXES, _APART + _Y_LABEL + max(look.label_width() for look in looks))
    below = _BELOW + max((_rise(word) for word in words), default=0.0)
    named_positions = {position.x for content in contents for position in content.positions}
    if words and named_positions:
        raise UsageError(f"{run.folder}: `positions` of the plot are numbers, and {quantity.axis_name(run.plot['x'])} has words.")
    bounds = (-0.5, len(words) - 0.5) if words else ticks.limits(sorted({*positions, *named_positions}), log, 0.04)
    left = max([_LEFT, _Y_LABEL + looks[0].label_width()] + [failures.width_of(series.label) + 0.08 for series in all_series if series.failed()])
    named = list(dict.fromkeys([series.label for series in all_series] + [name for content in contents for name in content.sources()]))
    if any(look.metric.startswith("relative_") for look in looks):
        named.append(noise_name(run))
    titled = bool(_legend_title(run, contents))
    columns = 1 + max(panel.column for panel in panels)
    below_legend = columns > 1 or left + legend.width_of(named) > _MOST_BESIDE * BODY_WIDTH
    legend_width = 0 if below_legend else legend.width_of(named) + 0.1
    width = (BODY_WIDTH - left - legend_width - between * (columns - 1) - 0.08) / columns

    count = 1 + max(panel.row for panel in panels)
    by_row = [[i for i, panel in enumerate(panels) if panel.row == row] for row in range(count)]
    rows: list[list[failures.Row]] = [[] for _ in panels]
    for row in by_row:
        for i, strip in zip(row, failures.rows_of_panels([drawn[i] for i in row], bounds, log, width)):
            rows[i] = strip
    strips = [failures.height_of(rows[row[0]]) for row in by_row]
    height = _HEIGHTS.get(count, _LEAST_HEIGHT)
    bottoms, top = [], legend.height_of(named, titled) if below_legend else 0.0
    foot = top
    for row in reversed(range(count)):  # from the foot of the page
        bottoms.insert(0, top + below)
        names = [_height_above(panels[i], width + between) for i in by_row[row]]
        top += below + height + strips[row] + max(0.05, *names)
    if not below_legend:  # a legend may be higher than its panels
        missing = max(0.0, 0.15 * (len(named) + titled) - (bottoms[0] + height))
        bottoms, top = [bottom + missing for bottom in bottoms], top + missing
    corner = (0.05, foot - 0.03) if below_legend else (left + width + 0.1, bottoms[0] + height)
    return _Layout(left, width, height, positions, bounds, log, {row[0] for row in by_row}, words, rows, strips, bottoms, between,
                   corner, below_legend, top)


def _set_axes(axes, run: Run, layout: _Layout, look: Scale, metric: str, named: bool, lowest: bool) -> None:
    plot = run.plot
    axes.grid(True, axis="both", which="major")
    axes.set_axisbelow(True)
    if layout.words:
        axes.set_xlim(*layout.bounds)
        axes.grid(False, axis="x")
        for boundary in range(1, len(layout.words)):
            axes.axvline(boundary - 0.5, color=style.RC["grid.color"], linewidth=style.RC["grid.linewidth"], zorder=0)
        axes.set_xticks(range(len(layout.words)), layout.words, rotation=_SLANT, ha="right", rotation_mode="anchor")
    else:
        ticks.set_x(axes, layout.positions, layout.bounds, layout.log_x, layout.width, style.RC["xtick.labelsize"],
                    quantity.on_axis(plot["x"]))
    look.set_y(axes)
    if lowest:
        axes.set_xlabel(plot.get("xlabel") or labels.setting_name(run, plot["x"]), labelpad=2)
    if named:
        axes.set_ylabel(y_label(run, metric, look.unit), labelpad=3)
    else:
        axes.tick_params(labelleft=False)


def _rise(word: str) -> float:
    """How far a turned word reaches down further than an upright one, in inches."""
    return ticks.text_width(word, style.RC["xtick.labelsize"]) * math.sin(math.radians(_SLANT))


def _draw_above(page: Page, layout: _Layout, index: int, panel: Panel) -> None:
    """The strip of failed cells, above it the name of the panel, and at the left end the name of its row."""
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
    """Of a panel, in lines, and of its row. A row of several panels bears what they share."""
    shared = ", ".join(text for text in (panel.row_name, panel.phase_name) if text)
    return ticks.wrapped(panel.name or shared, 7.5, room - 0.08, bold=True), shared if panel.name else ""


def _height_above(panel: Panel, room: float) -> float:
    lines, row_name = _names_above(panel, room)
    return (_NAME + _NAME_LINE * (len(lines) - 1) if lines else 0.0) + (_NAME if row_name else 0.0)


def y_label(run: Run, metric: str, unit: str) -> str:
    if given := run.plot.get("ylabel"):
        return given
    name = quantity.metric_name(metric)
    if metric.startswith("relative_"):
        reference = run.plot["reference"]
        return f"{name}, over that of {f'the {reference}' if reference in ('best', 'baseline', 'baselines') else labels.allocator(run, reference)}"
    if metric == "speed_up":
        return "speed-up over the first point"
    if run.backend == "cpu" and unit in ("s", "op/s", "B/s"):
        name = f"{name} (CPU executor)"
    return name
