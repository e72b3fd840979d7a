"""This module draws the figure kind `table`: series as rows, swept values as columns, and one block per panel. Every line figure
has this table too.
"""

from __future__ import annotations

import math
from dataclasses import replace

from allocbench.errors import NothingToDraw
from plots.figures.model import chart, choice
from plots.figures.model.chart import Chart
from plots.runs.results import Run
from plots.sheet import grid, provisional, quantity
from plots.sheet.page import Drawing, Heading


def make(run: Run, stem: str) -> Drawing:
    shown = chart.of(choice.shown(run))
    if not shown.has_value():
        raise NothingToDraw(f"{shown.source}: no cell of this table is ok; its status table says why.")
    return Drawing(stem, grid.draw(_heading(shown), grids_of(shown)), markdown(shown))


def _heading(shown: Chart) -> Heading:
    return replace(shown.heading, caption=tuple(shown.of_table))


def grids_of(shown: Chart) -> list[grid.Grid]:
    """Returns one grid per panel. A cell without a value has a word that says why."""
    made = []
    for panel in shown.panels:
        xs = sorted({position for each in panel.series for position in each.points["x"]})
        # The title says that these numbers are operations per second.
        write = quantity.formatter(panel.metric, panel.unit, padded=True) if panel.unit != "op/s" else lambda value: quantity.in_si(value, "", padded=True)
        rows, muted = [], set()
        for number, each in enumerate(panel.series):
            at = {point.x: point for point in each.points.itertuples()}
            written = [each.label]
            for column, position in enumerate(xs, start=1):
                point = at.get(position)
                if point is None or math.isnan(point.value):
                    muted.add((number, column))
                    written.append(point.word if point else "–")
                else:
                    text = quantity.with_interval(write(point.value), point.value, point.low, point.high)
                    written.append(provisional.marked(text, point.provisional))
            rows.append(written)
        title = ", ".join(text for text in (panel.row_name, panel.name,
                                            f"{quantity.phase_name(panel.phase)} {quantity.metric_name(panel.metric)}".strip()) if text)
        made.append(grid.Grid([shown.x.name, *(shown.x.written(position) for position in xs)], rows, title, muted))
    return made


def markdown(shown: Chart) -> str:
    """Returns the page as text. Every line figure has such a page beside its images."""
    return _heading(shown).markdown([grid.markdown(each) for each in grids_of(shown)], shown.assumed)
