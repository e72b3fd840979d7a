"""Figure kind `table`: series down, swept values across, one block per panel. Also the numbers behind every line figure."""

from __future__ import annotations

from typing import Sequence

import math

from allocbench.errors import NothingToDraw
from plots import caption, choice, grid, labels, origin, provisional, quantity
from plots.page import Drawing
from plots.results import Run
from plots.series import Panel, panels_of, series_of, wanted_of


def make(run: Run, stem: str) -> Drawing:
    run = choice.shown(run)
    x, panels = run.plot["x"], panels_of(run)
    grids = grids_of(run, x, panels)
    if not any(len(each.drawn()) for panel in panels for each in series_of(panel.run, x, panel.phase, panel.metric)):
        raise NothingToDraw(f"{run.folder}: no cell of this table is ok; its status table says why.")
    page = grid.draw(origin.heading(run, origin.title(run), caption.of_table(run, wanted_of(panels))), grids)
    return Drawing(stem, page, markdown(run, x, panels))


def grids_of(run: Run, x: str, panels: Sequence[Panel]) -> list[grid.Grid]:
    """One grid per panel. A cell without a value holds its status word."""
    made = []
    for panel in panels:
        metric = panel.metric
        all_series = series_of(panel.run, x, panel.phase, metric)
        xs = sorted({position for each in all_series for position in each.points["x"]})
        words = labels.words_of(run, x)
        write_x = (lambda position, words=words: labels.value_of(run, x, words[int(position)])) if words else quantity.formatter(x)
        unit = panel.run.unit_of(panel.phase, metric)
        # The title says that these are operations per second.
        write_y = quantity.formatter(metric, unit, padded=True) if unit != "op/s" else lambda value: quantity.in_si(value, "", padded=True)
        rows, muted = [], set()
        for number, each in enumerate(all_series):
            at = {point.x: point for point in each.points.itertuples()}
            written = [each.label]
            for column, position in enumerate(xs, start=1):
                point = at.get(position)
                if point is None or math.isnan(point.value):
                    muted.add((number, column))
                    written.append(point.word if point else "–")
                else:
                    text = quantity.with_interval(write_y(point.value), point.value, point.low, point.high)
                    written.append(provisional.marked(text, point.provisional))
            rows.append(written)
        title = ", ".join(text for text in (panel.row_name, panel.name,
                                            f"{panel.phase.replace('_', ' ')} {quantity.metric_name(metric)}".strip()) if text)
        made.append(grid.Grid([labels.setting_name(run, x), *(write_x(position) for position in xs)], rows, title, muted))
    return made


def markdown(run: Run, x: str, panels: Sequence[Panel]) -> str:
    """The whole page as text: what line figures write beside their images."""
    heading = origin.heading(run, origin.title(run), caption.of_table(run, wanted_of(panels)))
    parts = [f"# {heading.title}", heading.subtitle]
    if heading.banner:
        parts.append(f"**{heading.banner}**")
    parts += [grid.markdown(each) for each in grids_of(run, x, panels)]
    parts += list(heading.caption)
    assumed = run.config.get("assumed", [])
    if assumed:
        parts.append("Settings the paper does not print, chosen here:\n\n" + "\n".join(f"- {each}" for each in assumed))
    parts.append("  \n".join(heading.origin))
    return "\n\n".join(part.rstrip() for part in parts if part) + "\n"
