"""Figure kind `table`: series down, swept values across, one block per phase. Also the numbers behind every line figure."""

from __future__ import annotations

from typing import Sequence

from plots import caption, grid, origin, quantity
from plots.errors import NothingToDraw
from plots.page import Drawing
from plots.results import Run
from plots.series import series_of, wanted_of


def make(run: Run, stem: str) -> Drawing:
    plot = run.plot
    wanted = wanted_of(plot)
    grids = grids_of(run, plot["x"], wanted)
    if not any(point.value for phase, metric in wanted for each in series_of(run, plot["x"], phase, metric)
               for point in each.points):
        raise NothingToDraw(f"{run.folder}: no cell of this table is ok; its status table says why.")
    page = grid.draw(origin.heading(run, origin.title(run), caption.of_table(run, wanted)), grids)
    return Drawing(stem, page, markdown(run, plot["x"], wanted))


def grids_of(run: Run, x: str, wanted: Sequence[tuple[str, str]]) -> list[grid.Grid]:
    """One grid per (phase, metric). A cell without a value holds its status word."""
    made = []
    for phase, metric in wanted:
        all_series = series_of(run, x, phase, metric)
        xs = sorted({point.x for each in all_series for point in each.points})
        unit = next((point.value.unit for each in all_series for point in each.points if point.value), "")
        write_x, write_y = quantity.formatter(x), quantity.formatter(metric, unit, padded=True)
        rows, muted = [], set()
        for number, each in enumerate(all_series):
            at = {point.x: point for point in each.points}
            words = [each.label]
            for column, position in enumerate(xs, start=1):
                point = at.get(position)
                words.append(write_y(point.value.value) if point and point.value else point.word if point else "–")
                if not (point and point.value):
                    muted.add((number, column))
            rows.append(words)
        title = f"{phase} {metric}".strip()
        made.append(grid.Grid([quantity.axis_name(x), *(write_x(position) for position in xs)], rows, title, muted))
    return made


def markdown(run: Run, x: str, wanted: Sequence[tuple[str, str]]) -> str:
    """The whole page as text: what line figures write beside their images."""
    heading = origin.heading(run, origin.title(run), caption.of_table(run, wanted))
    parts = [f"# {heading.title}", heading.subtitle]
    if heading.banner:
        parts.append(f"**{heading.banner}**")
    parts += [grid.markdown(each) for each in grids_of(run, x, wanted)]
    parts += list(heading.caption)
    assumed = run.config.get("assumed", [])
    if assumed:
        parts.append("Settings the paper does not print, chosen here:\n\n" + "\n".join(f"- {each}" for each in assumed))
    parts.append("  \n".join(heading.origin))
    return "\n\n".join(part.rstrip() for part in parts if part) + "\n"
