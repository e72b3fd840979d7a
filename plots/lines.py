"""Figure kind `lines`: one line per series against a swept axis, one panel per phase, metric and value of other axes.

The line is the median (or what the config's `statistic` asks for), the bars its 95 % bootstrap interval. Cells without a
value interrupt the line and appear in a strip above the panel. Where x sweeps words, there are marks beside each other and no
lines: nothing lies between two words. Where the config's `theory` has a formula for an allocator and metric, the line is the
formula's and the measured values are markers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Sequence

import matplotlib

from plots import caption, curves, failures, origin, quantity, stated, style, table, ticks
from plots.errors import NothingToDraw
from plots.page import BODY_WIDTH, Drawing, Page
from plots.results import Run
from plots.series import Panel, Series, panels_of, series_of, wanted_of, words_of

_HEIGHTS = {1: 3.5, 2: 2.6, 3: 2.2}  # of a panel, by the number of rows
_LEAST_HEIGHT = 1.7
_BELOW = 0.48        # x ticks and x label
_BETWEEN = 0.3       # between panels that share the y axis
_BETWEEN_AXES = 1.0  # between panels with an axis each
_LEFT = 0.78         # y ticks and y label
_LEGEND_HANDLE = 0.5
_STRIP_GAP = 0.03
_NAME = 0.24         # a line of names above panels
_SLANT = 40          # degrees by which words below the x axis are turned
_SPREAD = 0.8        # share of the room of a word that the marks of all series take


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
    words: list[str]    # that stand at the positions
    rows: list[list[failures.Row]]  # by panel
    strips: list[float]             # by row
    bottoms: list[float]            # of the axes, by row
    between: float
    total: float

    def panel_left(self, column: int) -> float:
        return self.left + column * (self.width + self.between)


def make(run: Run, stem: str) -> Drawing:
    plot = run.plot
    panels = panels_of(run)
    one_axis = max(len({panel.metric for panel in panels if panel.row == row.row}) for row in panels) == 1
    drawn = [series_of(panel.run, plot["x"], panel.phase, panel.metric) for panel in panels]
    if "y" in plot.get("log", ""):
        drawn = _without_zeros(panels, drawn)
    expected = [[curves.of_series(panel.run, each, plot["x"], panel.metric, "x" in plot.get("log", "")) for each in series]
                for panel, series in zip(panels, drawn)]
    if not any(each.drawn() for series in drawn for each in series):
        raise NothingToDraw(f"{run.folder}: no cell of this figure is ok; its status table says why.")

    with matplotlib.rc_context(style.RC):
        marks = [stated.marks(panel.run, plot["x"], panel.phase, panel.metric) for panel in panels]
        layout = _layout(panels, drawn, words_of(run, plot["x"]), "x" in plot.get("log", ""),
                         _BETWEEN if one_axis else _BETWEEN_AXES, [mark.source for panel in marks for mark in panel])
        page = Page(origin.heading(run, origin.title(run), caption.of_lines(run, wanted_of(panels), words_of(run, plot["x"]))), layout.total)
        for index, panel in enumerate(panels):
            axes = page.axes(layout.panel_left(panel.column), layout.bottoms[panel.row], layout.width, layout.height)
            alike = [i for i, other in enumerate(panels) if other.metric == panel.metric]  # share their limits
            numbers = _numbers([drawn[i] for i in alike]) + [mark.y for i in alike for mark in marks[i]]
            numbers += [y for i in alike for _, ys in expected[i] for y in ys]
            _set_axes(axes, run, layout, numbers, panel.metric, named=index in layout.leftmost or not one_axis,
                      lowest=not any(other.row > panel.row and other.column == panel.column for other in panels))
            _draw_series(axes, drawn[index], expected[index], bool(layout.words))
            for mark in marks[index]:
                colour = style.look(mark.allocator).colour if mark.allocator else style.BLACK
                axes.plot([mark.x], [mark.y], linestyle="none", marker="*", markersize=11, markerfacecolor="none",
                          color=colour, gid="stated", label=mark.source)
            _draw_above(page, layout, index, panel)
        _draw_legend(page, layout, 1 + max(panel.column for panel in panels))
    return Drawing(stem, page, table.markdown(run, plot["x"], panels))


def _without_zeros(panels: Sequence[Panel], drawn: Sequence[list[Series]]) -> list[list[Series]]:
    """A series that is zero everywhere, where others of the metric are not, has no place on a logarithmic axis: its cells
    go into the strip, with the number for a word."""
    def zero(metric: str, label: str) -> bool:
        values = [point.value.value for panel, all_series in zip(panels, drawn) if panel.metric == metric
                  for series in all_series if series.label == label for point in series.drawn()]
        return bool(values) and not any(values)

    made = []
    for panel, all_series in zip(panels, drawn):
        zeros = {series.label for series in all_series if zero(panel.metric, series.label)}
        if len(zeros) == len({series.label for series in all_series}):
            zeros = set()
        made.append([replace(series, points=tuple(replace(point, value=None, word=point.word or "0") for point in series.points))
                     if series.label in zeros else series for series in all_series])
    return made


def _layout(panels: Sequence[Panel], drawn: Sequence[Sequence[Series]], words: list[str], log: bool, between: float,
            sources: Sequence[str]) -> _Layout:
    all_series = [series for panel in drawn for series in panel]
    positions = [point.x for series in all_series for point in series.points]
    log = log and not words and min(positions) > 0
    below = _BELOW + max((_rise(word) for word in words), default=0.0)
    bounds = (-0.5, len(words) - 0.5) if words else ticks.limits(sorted(set(positions)), log, 0.04)
    left = max([_LEFT] + [ticks.text_width(series.label, failures.NAME_POINTS) + 0.1
                          for series in all_series if series.failed()])
    named = [series.label for series in all_series] + list(sources)
    legend = max(ticks.text_width(name, style.RC["legend.fontsize"]) for name in named) + _LEGEND_HANDLE
    columns = 1 + max(panel.column for panel in panels)
    width = (BODY_WIDTH - left - legend - between * (columns - 1)) / columns

    count = 1 + max(panel.row for panel in panels)
    by_row = [[i for i, panel in enumerate(panels) if panel.row == row] for row in range(count)]
    rows: list[list[failures.Row]] = [[] for _ in panels]
    for row in by_row:
        for i, strip in zip(row, failures.rows_of_panels([drawn[i] for i in row], bounds, log, width)):
            rows[i] = strip
    strips = [failures.height_of(rows[row[0]]) for row in by_row]
    height = _HEIGHTS.get(count, _LEAST_HEIGHT)
    bottoms, top = [], 0.0
    for row in reversed(range(count)):  # from the foot of the page
        bottoms.insert(0, top + below)
        names = [_NAME * _lines_above(panels[i]) for i in by_row[row]]
        top += below + height + strips[row] + max(0.05, *names)
    leftmost = {row[0] for row in by_row}
    return _Layout(left, width, height, positions, bounds, log, leftmost, words, rows, strips, bottoms, between, top)


def _numbers(panels: Sequence[Sequence[Series]]) -> list[float]:
    """Everything that the y axis must cover."""
    values = [point.value for series in panels for each in series for point in each.drawn()]
    return [number for value in values for number in (value.value, value.low, value.high) if number is not None]


def _set_axes(axes, run: Run, layout: _Layout, numbers: Sequence[float], metric: str, named: bool,
              lowest: bool) -> None:
    plot = run.plot
    unit = next((value.unit for cell in run.cells for (_, name), value in cell.values.items() if name == metric), "")
    # A count of zero has no place on a logarithmic axis, and a share is best seen against the whole.
    log_y = "y" in plot.get("log", "") and min(numbers, default=0) > 0 and not quantity.is_share(metric)
    axes.grid(True, axis="both", which="major")
    axes.set_axisbelow(True)
    if layout.words:
        axes.set_xlim(*layout.bounds)
        axes.grid(False, axis="x")
        for boundary in range(1, len(layout.words)):
            axes.axvline(boundary - 0.5, color=style.RC["grid.color"], linewidth=style.RC["grid.linewidth"], zorder=0)
        axes.set_xticks(range(len(layout.words)), layout.words, rotation=_SLANT, ha="right", rotation_mode="anchor")
    else:
        ticks.set_x(axes, layout.positions, layout.log_x, layout.width, style.RC["xtick.labelsize"],
                    quantity.on_axis(plot["x"]))
    ticks.set_y(axes, numbers, log_y, quantity.formatter(metric, unit), binary=unit in ("B", "B/s"))
    if lowest:
        axes.set_xlabel(plot.get("xlabel") or quantity.axis_name(plot["x"]))
    if named:
        axes.set_ylabel(plot.get("ylabel") or _y_label(run, metric, unit, log_y))
    else:
        axes.tick_params(labelleft=False)


def _rise(word: str) -> float:
    """How far a turned word reaches down further than an upright one, in inches."""
    return ticks.text_width(word, style.RC["xtick.labelsize"]) * math.sin(math.radians(_SLANT))


def _draw_series(axes, all_series: Sequence[Series], expected: Sequence[tuple[list[float], list[float]]],
                 words: bool) -> None:
    for index, (series, (curve_xs, curve_ys)) in enumerate(zip(all_series, expected)):
        look = series.look
        aside = _SPREAD * ((index + 0.5) / len(all_series) - 0.5) if words else 0.0
        xs = [point.x + aside for point in series.points]
        outline = {"markeredgecolor": "white", "markeredgewidth": 0.5} if look.fill == "full" else {"markeredgewidth": 1}
        ys = [point.value.value if point.value else math.nan for point in series.points]
        if curve_xs:
            axes.plot(curve_xs, curve_ys, color=look.colour, linestyle=look.dash, linewidth=1.2,
                      gid=f"theory {series.label}")
        axes.plot(xs, ys, color=look.colour, linestyle="none" if words or curve_xs else look.dash, marker=look.marker,
                  fillstyle=look.fill, markerfacecoloralt="white", label=series.label, gid=f"median {series.label}",
                  **outline)
        # Bars and not bands: wide intervals of many allocators would cover each other and the lines.
        bars = [(point.x + aside, point.value.low, point.value.high) for point in series.points
                if point.value and point.value.low is not None and point.value.high is not None]
        axes.vlines([x for x, _, _ in bars], [low for _, low, _ in bars], [high for _, _, high in bars],
                    color=look.colour, linewidth=1.6, alpha=0.5, zorder=1.8, gid=f"interval {series.label}")


def _draw_above(page: Page, layout: _Layout, index: int, panel: Panel) -> None:
    """The strip of failed cells, above it the name of the panel, and at the left end the name of its row."""
    left, top = layout.panel_left(panel.column), layout.bottoms[panel.row] + layout.height
    strip = layout.strips[panel.row]
    if layout.rows[index]:
        axes = page.axes(left, top + _STRIP_GAP, layout.width, strip - _STRIP_GAP)
        failures.draw(axes, layout.rows[index], layout.bounds, layout.log_x, layout.width, named=index in layout.leftmost)
    names, row_name = _names_above(panel)
    page.figure.text(*page.point(left, top + strip + 0.05), names, fontsize=9, weight="bold")
    if row_name and index in layout.leftmost:
        page.figure.text(*page.point(0, top + strip + 0.05 + (_NAME if names else 0)), row_name, fontsize=9,
                         weight="bold")


def _names_above(panel: Panel) -> tuple[str, str]:
    """Of a panel and of its row. A row of several panels bears what they share."""
    shared = ", ".join(text for text in (panel.row_name, panel.phase_name) if text)
    return (panel.name, shared) if panel.name else (shared, "")


def _lines_above(panel: Panel) -> int:
    return sum(1 for name in _names_above(panel) if name)


def _draw_legend(page: Page, layout: _Layout, columns: int) -> None:
    """One entry per label over all panels, in the order of the first; what papers state comes last. Series without a
    single value are named in the strip only."""
    handles = [(handle, label) for axes in page.figure.axes for handle, label in zip(*axes.get_legend_handles_labels())]
    handles.sort(key=lambda each: each[0].get_gid() == "stated")
    labels = dict.fromkeys(label for _, label in handles)
    shown = {label: handle for handle, label in reversed(handles) if any(not math.isnan(y) for y in handle.get_ydata())}
    entries = {label: shown[label] for label in labels if label in shown}
    right = layout.panel_left(columns) - layout.between
    page.figure.legend(list(entries.values()), list(entries), loc="upper left", borderaxespad=0, handlelength=2.6,
                       bbox_to_anchor=page.point(right + 0.12, layout.bottoms[0] + layout.height))


def _y_label(run: Run, metric: str, unit: str, log: bool) -> str:
    name = quantity.metric_name(metric)
    if metric.startswith("relative_"):
        return f"{name}, relative to {style.display_name(run.plot['reference'])}"
    if run.backend == "cpu" and unit in ("s", "op/s", "B/s"):
        name = f"{name} (CPU executor)"
    return f"{name}, log scale" if log else name
