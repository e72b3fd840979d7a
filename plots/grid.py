"""A table of words: drawn into a page and written as Markdown from the same rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Sequence

from plots import style, ticks
from plots.page import BODY_WIDTH, Heading, Page

_ROW = 0.2
_PADDING = 0.14


@dataclass
class Grid:
    """`muted` holds (row, column) of cells to print in grey: words that stand in place of a number."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""
    muted: set[tuple[int, int]] = field(default_factory=set)
    aligned_left: int = 1  # so many columns from the left hold text; the rest are numbers, flush right


def draw(heading: Heading, grids: Sequence[Grid]) -> Page:
    """Grids below each other on one page, in the largest type (at most 8 points) that fits the width."""
    heights = [_height(grid) for grid in grids]
    page = Page(heading, sum(heights) + 0.12 * (len(grids) - 1))
    points = min(8.0, *(_fitting_points(grid, BODY_WIDTH) for grid in grids))
    top = page.body_height
    for grid, height in zip(grids, heights):
        axes = page.axes(0, top - height, BODY_WIDTH, height)
        axes.set_axis_off()
        axes.set_xlim(0, BODY_WIDTH)
        axes.set_ylim(height, 0)
        _draw_grid(axes, grid, points, BODY_WIDTH)
        top -= height + 0.12
    return page


def markdown(grid: Grid) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

    rule = ["---" if column < grid.aligned_left else "---:" for column in range(len(grid.header))]
    lines = [f"### {grid.title}", ""] if grid.title else []
    lines += [line(grid.header), "|" + "|".join(rule) + "|"]
    return "\n".join(lines + [line(row) for row in grid.rows]) + "\n"


def _lines(row: Sequence[str]) -> int:
    return max(cell.count("\n") + 1 for cell in row)


def _height(grid: Grid) -> float:
    title = 0.24 if grid.title else 0
    return title + sum(_ROW + 0.13 * (_lines(row) - 1) for row in (grid.header, *grid.rows)) + 0.05


def _widths(grid: Grid, points: float) -> list[float]:
    columns = zip(grid.header, *grid.rows)
    return [max(ticks.text_width(line, points) for cell in column for line in cell.split("\n")) + _PADDING
            for column in columns]


def _fitting_points(grid: Grid, width: float) -> float:
    for points in (8.0, 7.5, 7.0, 6.5, 6.0, 5.5, 5.0):
        if sum(_widths(grid, points)) <= width:
            return points
    return 4.5


def _draw_grid(axes, grid: Grid, points: float, width: float) -> None:
    widths = _widths(grid, points)
    spare = max(0.0, width - sum(widths)) / len(widths)
    widths = [each + min(spare, 0.35) for each in widths]
    top = 0.0
    if grid.title:
        axes.text(0, 0.06, grid.title, fontsize=9, weight="bold", va="top")
        top = 0.24
    for index, row in enumerate((grid.header, *grid.rows)):
        height = _ROW + 0.13 * (_lines(row) - 1)
        if index > 0 and index % 2 == 0:
            axes.fill_between([0, sum(widths)], top, top + height, color="#f5f5f5", linewidth=0)
        left = 0.0
        for column, (cell, cell_width) in enumerate(zip(row, widths)):
            is_text = column < grid.aligned_left
            # Headings stand on the line below them, however many lines the tallest one has.
            place, side = (top + height - 0.05, "bottom") if index == 0 else (top + 0.1, "top" if "\n" in cell else "center")
            axes.text(left + (0.04 if is_text else cell_width - 0.08), place, cell, fontsize=points,
                      ha="left" if is_text else "right", va=side,
                      weight="bold" if index == 0 else "normal",
                      color=style.GREY if (index - 1, column) in grid.muted else style.BLACK)
            left += cell_width
        top += height
        if index == 0:
            axes.plot([0, sum(widths)], [top, top], color=style.GREY, linewidth=0.8)
